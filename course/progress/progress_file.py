"""Progress in a file: the best results of several lessons, as JSON that can be read by eye.

    {
     "format": "pytorch-measured progress",
     "version": 1,
     "lessons": {
      "04-memory-layout": {
       "flatten": {"score": 4.0, "max": 4.0, "attempts": 2, "answer": "def flatten(x): …"}
      }
     },
     "checks": {"05-autograd": {"leaves": {"held": 5, "of": 6}}},
     "predictions": {"reshape-always-copies": "false"}
    }

`lessons` is what a self-study notebook saves; `checks` are the visible checks of the notebooks
beside the start page, and `predictions` what was predicted on it. A file from elsewhere is data:
its answers are shown, never run.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from course.claims.schema import VERDICTS
from course.testing.attempts import Best, better

__all__ = ["FILE_NAME", "Checks", "Kept", "Lessons", "ProgressError", "merged", "read", "write"]

FORMAT, VERSION = "pytorch-measured progress", 1
FILE_NAME = "pytorch-measured-progress.json"
MOST_BYTES = 5_000_000  # a hundred times what all lessons together need
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

Lessons = dict[str, dict[str, Best]]
_One = TypeVar("_One")


class Checks(NamedTuple):
    """How many of an exercise's checks held when its table was shown last."""

    held: int
    of: int

    @property
    def share(self) -> float:
        """The checks that held as a share of all, 0 to 1."""
        return self.held / self.of if self.of else 0.0


@dataclass(frozen=True)
class Kept:
    """What a file holds: two kinds of results by lesson and exercise, and predictions by claim."""

    lessons: Lessons = field(default_factory=dict)
    checks: dict[str, dict[str, Checks]] = field(default_factory=dict)
    predictions: dict[str, str] = field(default_factory=dict)


class ProgressError(Exception):
    """A file that holds no progress; the message says what is wrong and what to do."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message, no calls."""
        return [str(self)]


def read(content: bytes, name: str = FILE_NAME) -> Kept:
    """What a file holds.

    Args:
        content: The bytes of the file.
        name: What messages call it.

    Raises:
        ProgressError: It is damaged, or something else; the message says what to do.
    """
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
    predictions = _table(found.get("predictions", {}), "predictions", name)
    return Kept(
        _by_exercise(found.get("lessons"), "lessons", name, _best),
        _by_exercise(found.get("checks", {}), "checks", name, _checks),
        {_slug(id, name): _verdict(one, id, name) for id, one in predictions.items()},
    )


def write(path: Path, kept: Kept) -> None:
    """Write to `path`; the old file stays until the new one is complete.

    Raises:
        OSError: The disk refuses.
    """
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "lessons": {
            slug: {name: vars(best) for name, best in sorted(results.items())}
            for slug, results in sorted(kept.lessons.items())
        },
    }
    if kept.checks:
        content["checks"] = {
            slug: {name: one._asdict() for name, one in sorted(results.items())}
            for slug, results in sorted(kept.checks.items())
        }
    if kept.predictions:
        content["predictions"] = dict(sorted(kept.predictions.items()))
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_bytes(text.encode("utf-8", "replace"))
    beside.replace(path)


def merged(one: Kept, other: Kept) -> Kept:
    """All of both; where both know an exercise the better result, else what `one` says."""
    return Kept(
        _both(one.lessons, other.lessons, better),
        _both(one.checks, other.checks, _more),
        {**other.predictions, **one.predictions},
    )


def _both(
    one: Mapping[str, Mapping[str, _One]],
    other: Mapping[str, Mapping[str, _One]],
    choose: Callable[[_One | None, _One], _One],
) -> dict[str, dict[str, _One]]:
    both = {slug: dict(results) for slug, results in one.items()}
    for slug, results in other.items():
        mine = both.setdefault(slug, {})
        for name, result in results.items():
            mine[name] = choose(mine.get(name), result)
    return both


def _more(mine: Checks | None, other: Checks) -> Checks:
    return other if mine is None or other.share > mine.share else mine


def _by_exercise(
    value: Any, where: str, name: str, reader: Callable[[Any, str, str], _One]
) -> dict[str, dict[str, _One]]:
    return {
        _slug(slug, name): {
            _slug(exercise, name): reader(about, f"{slug}, {exercise}", name)
            for exercise, about in _table(results, slug, name).items()
        }
        for slug, results in _table(value, where, name).items()
    }


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


def _checks(about: Any, where: str, name: str) -> Checks:
    match about:
        case {"held": int() as held, "of": int() as of} if 0 <= held <= of:
            return Checks(held, of)
    raise _damaged(name, where)


def _verdict(value: Any, where: str, name: str) -> str:
    if value not in VERDICTS:
        raise _damaged(name, where)
    return str(value)


def _damaged(name: str, where: str) -> ProgressError:
    return ProgressError(f"{name} is damaged at {where}. Take another copy of it.")
