"""What Jupyter's packages import and this program never uses."""

from __future__ import annotations

import sys


def skip_unused_grammar() -> None:
    """Keep `jsonschema` from building a grammar of international addresses: 0.9 s a process.

    nbformat imports jsonschema to validate notebooks; their schema has no such addresses.
    jsonschema takes the package for not installed, and checks all else as before.  Call it before
    nbformat is imported; afterwards it changes nothing.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
