"""Progress in a file: the best results of several lessons, as JSON that can be read by eye.

    {
     "format": "pytorch-measured progress",
     "version": 1,
     "lessons": {
      "04-memory-layout": {
       "flatten": {"score": 4.0, "max": 4.0, "attempts": 2, "answer": "def flatten(x): …"}
      }
     }
    }

A file from elsewhere is data: its answers are shown, never run.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course.testing.attempts import Best, better

__all__ = ["FILE_NAME", "Lessons", "ProgressError", "merged", "read", "write"]

FORMAT, VERSION = "pytorch-measured progress", 1
FILE_NAME = "pytorch-measured-progress.json"
MOST_BYTES = 5_000_000  # a hundred times what all lessons together need
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

Lessons = dict[str, dict[str, Best]]


class ProgressError(Exception):
    """A file that holds no progress; the message says what is wrong and what to do."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message, no calls."""
        return [str(self)]


def read(content: bytes, name: str = FILE_NAME) -> Lessons:
    """The results in a file, by lesson and exercise; raises `ProgressError`."""
    if len(content) > MOST_BYTES:
        raise ProgressError(f"{name} is too large to be your progress. Choose another file.")
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ProgressError(
            f"{name} is not JSON. Choose the file that “save” wrote, and do not edit it."
        ) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ProgressError(f"{name} is JSON, but not your progress. Choose {FILE_NAME}.")
    if found.get("version") != VERSION:
        raise ProgressError(
            f"{name} was written by another edition of the course (version "
            f"{str(found.get('version'))[:20]}; this one reads {VERSION}). Install that edition."
        )
    return {
        _slug(slug, name): {
            _slug(exercise, name): _best(about, f"{slug}, {exercise}", name)
            for exercise, about in _table(results, slug, name).items()
        }
        for slug, results in _table(found.get("lessons"), "lessons", name).items()
    }


def write(path: Path, lessons: Mapping[str, Mapping[str, Best]]) -> None:
    """Write the results to `path`; the old file stays until the new one is complete."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "lessons": {
            slug: {name: vars(best) for name, best in sorted(results.items())}
            for slug, results in sorted(lessons.items())
        },
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(text.encode("utf-8", "replace"))
    beside.replace(path)


def merged(
    one: Mapping[str, Mapping[str, Best]], other: Mapping[str, Mapping[str, Best]]
) -> Lessons:
    """All results of both; where both know an exercise, the better one, else that of `one`."""
    both: Lessons = {slug: dict(results) for slug, results in one.items()}
    for slug, results in other.items():
        mine = both.setdefault(slug, {})
        for name, best in results.items():
            mine[name] = better(mine.get(name), best)
    return both


def _table(value: Any, where: str, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _damaged(name, where)
    return value


def _slug(value: str, name: str) -> str:
    if not _SLUG.fullmatch(value):
        raise _damaged(name, value[:40])
    return value


def _best(about: Any, where: str, name: str) -> Best:
    match about:
        case {
            "score": int() | float() as score,
            "max": int() | float() as most,
            "attempts": int() as attempts,
            "answer": str() as answer,
        } if math.isfinite(most) and 0 <= score <= most and attempts >= 0:
            return Best(float(score), float(most), attempts, answer)
    raise _damaged(name, where)


def _damaged(name: str, where: str) -> ProgressError:
    return ProgressError(f"{name} is damaged at {where}. Take another copy of it.")
