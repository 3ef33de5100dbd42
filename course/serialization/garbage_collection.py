"""A pause of the garbage collector: its search takes a third of a document's time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["gc_paused"]

_is_on, _off, _on = gc.isenabled, gc.disable, gc.enable


@contextmanager
def gc_paused() -> Iterator[None]:
    """No search begins by itself while this lasts; `gc.collect()` works as ever.

    A document is many containers that live on, and each 700th would start a search.
    """
    if not _is_on():
        yield
        return
    _off()
    try:
        yield
    finally:
        _on()
