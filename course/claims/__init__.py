"""What people say about PyTorch: claims with a verdict, a fact and a proof that runs.

One TOML file a lesson, `course/claims/NN-slug.toml`; its form is described in
`course.claims.schema`. Reading claims does not load torch; running their proofs does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.claims.proofs import Proof, prove
    from course.claims.reader import claim, claims, lessons, misconception, misconceptions
    from course.claims.schema import (
        VERDICTS,
        Claim,
        ClaimError,
        MalformedClaims,
        Misconception,
        UnknownId,
    )

__all__ = [
    "VERDICTS",
    "Claim",
    "ClaimError",
    "MalformedClaims",
    "Misconception",
    "Proof",
    "UnknownId",
    "claim",
    "claims",
    "lessons",
    "misconception",
    "misconceptions",
    "prove",
]

__getattr__ = loading(
    globals(),
    {
        "VERDICTS": "course.claims.schema",
        "Claim": "course.claims.schema",
        "ClaimError": "course.claims.schema",
        "MalformedClaims": "course.claims.schema",
        "Misconception": "course.claims.schema",
        "Proof": "course.claims.proofs",
        "UnknownId": "course.claims.schema",
        "claim": "course.claims.reader",
        "claims": "course.claims.reader",
        "lessons": "course.claims.reader",
        "misconception": "course.claims.reader",
        "misconceptions": "course.claims.reader",
        "prove": "course.claims.proofs",
    },
)
