"""How to import Jupyter's packages in less time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def skip_unused_grammar() -> None:
    """Keep `jsonschema` from building a grammar of international addresses: 0.9 s a process.

    nbformat imports jsonschema to validate notebooks; their schema has no such addresses.
    jsonschema takes the package for not installed, and checks all else as before.  Call it before
    nbformat is imported; afterwards it changes nothing.
    """
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


@contextmanager
def importing(name: str) -> Iterator[None]:
    """Where a large module is imported first: look for no garbage in it, now or later.

    It saves 0.3 s for nbgrader. A program that has the module already goes on as it did.
    """
    if name in sys.modules:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
