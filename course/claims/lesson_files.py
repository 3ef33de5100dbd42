"""The TOML files beside each lesson's code: found by what stands in them, each read once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

__all__ = ["mentioning", "texts", "unknown"]

_LESSONS = Path(__file__).parents[1] / "lessons"


@cache
def texts(file: str) -> dict[str, str]:
    """The text of each lesson's file of this name, such as "predictions.toml", by its folder."""
    return {
        path.parent.name: path.read_text(encoding="utf-8")
        for path in sorted(_LESSONS.glob(f"*/{file}"))
    }


def mentioning(id: str, file: str) -> Iterable[tuple[str, str]]:
    """Folder and text of the files with this id in quotes: parsing all for one takes too long."""
    return ((folder, text) for folder, text in texts(file).items() if f'"{id}"' in text)


def unknown(kind: str, id: str, known: Iterable[str]) -> str:
    """What to say where nothing of this kind is called so: the nearest names."""
    known = list(known)
    near = [k for k in known if id and k.startswith(id)][:3]
    near += [k for k in difflib.get_close_matches(id, known, n=3, cutoff=0.5) if k not in near]
    if not near:
        return f"no {kind} {id!r}, and no {kind} has a similar name ({len(known)} exist)."
    return f"no {kind} {id!r}. Did you mean {' or '.join(map(repr, near[:3]))}?"
