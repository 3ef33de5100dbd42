"""The answers of a lesson, right and wrong, as a learner would type them.

A bank is a file of percent cells:

    # %% right flatten: view when strides allow
    def flatten(x): ...

    # %% wrong flatten: always copies -> reshape-always-copies
    def flatten(x): ...

    # %% same flatten: why this small change to the solution changes nothing that matters
    def flatten(x): ...

    # %% constant flatten: why an answer that does no work may get more than a fifth of the points

Reading is strict: an answer that was skipped because of a slip in its heading would make the gate
weaker without a word.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from autograder.errors import BankError, did_you_mean
from autograder.lessons.claims import folder_name
from autograder.lessons.lint.thresholds import TO_WRITE
from autograder.lessons.model import Lesson, beside_course

Kind = Literal["right", "wrong", "same", "constant"]
_KINDS: tuple[Kind, ...] = get_args(Kind)

_FORM = (
    "Write `# %% right EXERCISE: title` or `# %% wrong EXERCISE: title -> misconception-id`; "
    "`# %% same EXERCISE: why` is a mutant that must be accepted, and "
    "`# %% constant EXERCISE: why` makes an exception for answers that do no work."
)
_HEADING = re.compile(r"# %% (?P<kind>\S+)(?: +(?P<exercise>[^\s:]+))? *(?P<colon>:?)(?P<rest>.*)")
# A comment that was meant as a heading: a percent sign, or its first words.
_NEARLY = re.compile(r"\s*#+\s*%|#+\s*(?:right|wrong|same|constant)\s+[\w-]+\s*:", re.IGNORECASE)


@dataclass(frozen=True)
class BankAnswer:
    """One answer: what stands in the cell, and what the gate demands of it.

    The kind "same" is a mutant of the solution that must be accepted, and "constant" an exception:
    no answer. The title of either is the reason.
    """

    kind: Kind
    exercise: str
    title: str
    misconception: str | None
    source: str
    path: Path
    line: int

    @property
    def place(self) -> str:
        """File and line of the heading."""
        return f"{self.path}:{self.line}"


def bank_path(course: Path, slug: str) -> Path | None:
    """The bank of a lesson, None where it has none yet."""
    return beside_course(course, "autograder.answers", f"{slug}.py")


def read_bank(path: Path) -> tuple[BankAnswer, ...]:
    """The answers in the file at `path`, in their order; raises `BankError` at the first slip."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BankError(
            f"cannot be read: {error.strerror}", place=str(path), remedy="Check path and rights."
        ) from error
    except UnicodeDecodeError as error:
        raise BankError(
            f"is not UTF-8: {error}", place=str(path), remedy="Save it as UTF-8."
        ) from error
    return parse_bank(text, path)


def parse_bank(text: str, path: Path) -> tuple[BankAnswer, ...]:
    """The answers in `text`; `path` stands in messages and in each answer's place."""
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if _is_heading(line, f"{path}:{n + 1}")]
    _check_preamble("\n".join(lines[: starts[0] if starts else None]), path, bool(starts))
    ends = [*starts[1:], len(lines)]
    return tuple(
        _answer(lines[start], "\n".join(lines[start + 1 : end]), path, start + 1)
        for start, end in zip(starts, ends, strict=True)
    )


def check_bank(
    answers: Iterable[BankAnswer], lesson: Lesson, misconceptions: Collection[str]
) -> None:
    """Raise `BankError` where the answers do not fit the lesson.

    That is: an exercise or a misconception that does not exist, one title given twice, or an
    answer that was never written.
    """
    names = [one.name for one in lesson.exercises]
    seen: dict[tuple[str, str], BankAnswer] = {}
    for one in answers:
        if one.exercise not in names:
            raise BankError(
                f"{lesson.slug} has no exercise '{one.exercise}'."
                + did_you_mean(one.exercise, names),
                place=one.place,
                remedy=f"It has: {', '.join(names) or 'none'}.",
            )
        if one.misconception is not None and one.misconception not in misconceptions:
            raise BankError(
                f"no misconception is called '{one.misconception}'."
                + did_you_mean(one.misconception, misconceptions),
                place=one.place,
                remedy=f"Add it to course/lessons/{folder_name(lesson.slug)}/claims.toml, "
                "or name one that is there.",
            )
        if TO_WRITE in one.title + one.source:
            raise BankError(
                f"the {one.kind} answer '{one.title}' to '{one.exercise}' is not written yet",
                place=one.place,
                remedy=f"Write it, and take every {TO_WRITE} out; or remove its heading.",
            )
        first = seen.setdefault((one.exercise, one.title), one)
        if first is not one:
            raise BankError(
                f"two answers to '{one.exercise}' have the title '{one.title}'",
                place=one.place,
                remedy=f"Say what is different in this one; the first is in line {first.line}.",
            )


def _is_heading(line: str, place: str) -> bool:
    if re.match(r"# %%( |$)", line):
        return True
    if _NEARLY.match(line):
        raise BankError(
            f"looks like a heading, but is none: {line.strip()}", place=place, remedy=_FORM
        )
    return False


def _check_preamble(text: str, path: Path, has_answers: bool) -> None:
    if not has_answers:
        raise BankError("has no answers", place=str(path), remedy=_FORM)
    try:
        body = ast.parse(text).body
    except SyntaxError:
        body = [ast.Pass()]
    if any(not _is_docstring(statement) for statement in body):
        raise BankError(
            "has code above its first answer",
            place=f"{path}:1",
            remedy=f"Put it into the answers that need it. {_FORM}",
        )


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _answer(heading: str, source: str, path: Path, line: int) -> BankAnswer:
    place = f"{path}:{line}"
    kind, exercise, title, misconception = _parts(heading, place)
    code = [text for text in source.splitlines() if text.strip() and text.strip()[0] != "#"]
    if kind == "constant":
        if code:
            raise BankError(f"the exception for '{exercise}' holds code", place=place, remedy=_FORM)
        return BankAnswer(kind, exercise, title, None, "", path, line)
    if not code:
        raise BankError(
            f"the {kind} answer '{title}' to '{exercise}' is empty",
            place=place,
            remedy="Write the answer below its heading, or remove the heading.",
        )
    return BankAnswer(kind, exercise, title, misconception, source.strip("\n"), path, line)


def _parts(heading: str, place: str) -> tuple[Kind, str, str, str | None]:
    found = _HEADING.fullmatch(heading.rstrip())
    if found is None:
        raise BankError(f"the heading says nothing: {heading}", place=place, remedy=_FORM)
    kind, exercise, rest = found["kind"], found["exercise"], found["rest"].strip()
    if kind not in _KINDS:
        raise BankError(
            f"an answer is right or wrong, not '{kind}'.{did_you_mean(kind, _KINDS)}",
            place=place,
            remedy=_FORM,
        )
    if not exercise or not found["colon"] or not rest:
        lacks = "exercise" if not exercise else "colon" if not found["colon"] else "title"
        raise BankError(f"the heading has no {lacks}: {heading}", place=place, remedy=_FORM)
    if kind != "wrong":
        _refuse_arrow(rest, kind, place)
        return kind, exercise, rest, None
    title, arrow, misconception = (part.strip() for part in rest.rpartition("->"))
    if not arrow or not title or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", misconception):
        raise BankError(
            f"a wrong answer names its misconception: {heading}", place=place, remedy=_FORM
        )
    return "wrong", exercise, title, misconception


def _refuse_arrow(rest: str, kind: Kind, place: str) -> None:
    if "->" in rest:
        raise BankError(f"a {kind} answer names no misconception", place=place, remedy=_FORM)
