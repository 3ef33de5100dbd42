"""The warm-ups of the lessons: what each asks, its hint, and how its right answer is found.

They stand in `course/lessons/<name>/warm_ups.toml`, so that no answer stands on the screen:

    [[warm_up]]
    id = "transposed-strides"       # its name in warm_up("…"); no other lesson has the same
    asks = "…"                      # the task, with code between backticks
    code = '''…'''                  # optional: what has to run before the right answer is found
    right = "…"                     # the expression that finds it, with the notebook's names
    hint = "…"                      # optional: folded until a wrong answer was given
    unanswered = "…"                # optional: what to do, where the cell has no `...` to replace
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from course.claims.errors import MalformedClaims, UnknownId
from course.claims.lesson_files import mentioning, texts, unknown
from course.claims.toml_tables import check_keys, only_entries

__all__ = ["WARM_UPS", "Task", "parse_warm_ups", "task", "tasks"]

WARM_UPS = "warm_ups.toml"
_KIND = "warm_up"


@dataclass(frozen=True)
class Task:
    """What a warm-up asks, and how its right answer is found.

    Attributes:
        id: Its name, which no other warm-up has.
        asks: The task, with code between backticks.
        right: The expression of the right answer.
        code: Lines that run before it is evaluated.
        hint: What helps; empty where nothing does.
        unanswered: What to do to answer; empty where an answer goes in place of the dots.
    """

    id: str
    asks: str
    right: str
    code: str = ""
    hint: str = ""
    unanswered: str = ""


def parse_warm_ups(text: str, file: str) -> tuple[Task, ...]:
    """The warm-ups of one file's text.

    Args:
        text: What is in the file.
        file: What an error calls it.

    Raises:
        MalformedClaims: It breaks the form above.
    """
    return tuple(_task(*one) for one in only_entries(text, _KIND, file))


def _task(entry: Mapping[str, str], where: str) -> Task:
    check_keys(entry, ("id", "asks", "right"), ("code", "hint", "unanswered"), where)
    for key, mode in (("code", "exec"), ("right", "eval")):
        try:
            compile(entry.get(key, "0"), where, mode)
        except SyntaxError as error:
            raise MalformedClaims(f"{where}: {key} is no Python: {error.msg}. Mend it.") from None
    return Task(**entry)


@cache
def _load(folder: str) -> tuple[Task, ...]:
    return parse_warm_ups(texts(WARM_UPS)[folder], f"{folder}/{WARM_UPS}")


def task(id: str) -> Task:
    """The warm-up with that id.

    Raises:
        UnknownId: None has it; the message names the nearest ones.
        MalformedClaims: A file breaks its form.
    """
    for folder, _ in mentioning(id, WARM_UPS):
        for one in _load(folder):
            if one.id == id:
                return one
    raise UnknownId(unknown("warm-up", id, (one.id for one in tasks())))


def tasks(folder: str | None = None) -> tuple[Task, ...]:
    """The warm-ups of one lesson's folder, such as "memory_layout", or of all lessons."""
    folders = texts(WARM_UPS) if folder is None else [folder]
    return tuple(one for name in folders if name in texts(WARM_UPS) for one in _load(name))
