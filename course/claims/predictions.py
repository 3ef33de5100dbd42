"""The predictions that a learner has made, kept beside the notebook: a restart forgets none.

    {"format": "pytorch-measured predictions", "version": 1,
     "predictions": {"reshape-always-copies": "false", "first-stride": "(3, 1)"}}

The file is written at each answer. Where it cannot be, answers last as long as the kernel.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

__all__ = ["FILE_NAME", "forget", "keep", "prediction_of"]

FILE_NAME = ".pytorch-measured-predictions.json"
_FORMAT, _VERSION = "pytorch-measured predictions", 1
_MOST_BYTES, _MOST_CHARACTERS = 1_000_000, 1000

# What this kernel was told; it wins over the file, which another kernel may have written.
_told: dict[str, str | None] = {}


def prediction_of(id: str) -> str | None:
    """What was predicted of this claim (its verdict) or in this prediction (a text), or None."""
    return _told[id] if id in _told else _read(Path(FILE_NAME)).get(id)


def keep(id: str, predicted: str) -> None:
    """Keep what was predicted under this id."""
    _told[id] = predicted[:_MOST_CHARACTERS]
    _write(Path(FILE_NAME))


def forget(id: str) -> None:
    """Take back what was predicted under this id."""
    _told[id] = None
    _write(Path(FILE_NAME))


def _read(path: Path) -> dict[str, str]:
    """The predictions in the file; none where it is not there or not ours."""
    try:
        content = path.read_bytes() if path.stat().st_size <= _MOST_BYTES else b""
        found = json.loads(content)
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        return {}
    kept = found.get("predictions")
    entries = kept.items() if isinstance(kept, dict) else ()
    return {
        id: said for id, said in entries if isinstance(said, str) and len(said) <= _MOST_CHARACTERS
    }


def _write(path: Path) -> None:
    """Write what is kept and what this kernel was told; the old file stays until it is complete."""
    together = {**_read(path), **_told}
    kept = {id: said for id, said in sorted(together.items()) if said is not None}
    content = {"format": _FORMAT, "version": _VERSION, "predictions": kept}
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):
        beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        beside.replace(path)
