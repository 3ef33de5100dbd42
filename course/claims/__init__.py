"""What people say about PyTorch: claims with a verdict, a fact and a proof that runs.

One TOML file a lesson, `course/lessons/<name>/claims.toml`; its form is described in
`course.claims.schema`. Reading claims does not load torch; running their proofs does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.claims.errors import ClaimError, MalformedClaims, UnknownId
    from course.claims.proofs import Proof, prove
    from course.claims.reader import claim, claims, lessons, misconception, misconceptions
    from course.claims.schema import VERDICTS, Claim, Misconception

__all__, __getattr__ = lazy_names(globals())
