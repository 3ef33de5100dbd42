"""The marked regions of a source cell: the solution, the hidden tests, and what is left of them.

The markers are nbgrader's, or those that a course's configuration names instead: a line is one if
the words stand anywhere in it.  `### BEGIN SOLUTION` … `### END SOLUTION` becomes a stub in the
class edition, `### BEGIN HIDDEN TESTS` … `### END HIDDEN TESTS` disappears.  A model answer in
words is a solution like any other; what is left of it is nbgrader's text stub.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from course import hidden_lines

SOLUTION = "SOLUTION"
HIDDEN = hidden_lines.BEGIN.removeprefix("BEGIN ")
MARK_SCHEME = "MARK SCHEME"  # of nbgrader's task cells
STUB = ("# YOUR CODE HERE", "raise NotImplementedError()")
WORDS_STUB = ("YOUR ANSWER HERE",)


# What begins and what ends the regions of each name.
Marks = Mapping[str, tuple[str, str]]
USUAL_MARKS: Marks = {
    name: (f"BEGIN {name}", f"END {name}") for name in (SOLUTION, HIDDEN, MARK_SCHEME)
}
_SETTINGS = {
    SOLUTION: ("ClearSolutions", "solution"),
    HIDDEN: ("ClearHiddenTests", "test"),
    MARK_SCHEME: ("ClearMarkScheme", "mark_scheme"),
}


def marks_of(config: Mapping[str, Any]) -> Marks:
    """The marks that a course's nbgrader_config.py names, and the usual ones where it is silent.

    Args:
        config: The course's configuration, as nbgrader reads it.
    """
    found = {}
    for name, (begin, end) in USUAL_MARKS.items():
        step, word = _SETTINGS[name]
        given = config.get(step, {})
        begin = given.get(f"begin_{word}_delimeter") or begin  # nbgrader spells it so
        end = given.get(f"end_{word}_delimeter") or end
        found[name] = (str(begin), str(end))
    return found


def with_usual_marks(source: str, name: str, marks: Marks) -> str:
    """The cell with nbgrader's own words in each line that is a mark of the course; no line more.

    Args:
        source: The text of a cell of code.
        name: `SOLUTION`, `HIDDEN` or `MARK_SCHEME`.
        marks: The course's.
    """
    if marks[name] == USUAL_MARKS[name]:
        return source
    meant = tuple(zip(marks[name], USUAL_MARKS[name], strict=True))
    lines = []
    for line in source.split("\n"):
        usual = next((f"  # {word}" for mark, word in meant if mark in line), "")
        lines.append(line + usual)
    return "\n".join(lines)


class RegionError(ValueError):
    """A marker without its partner; the message names the line of the cell."""


def split_regions(
    source: str, name: str, marks: Marks = USUAL_MARKS
) -> tuple[list[str], list[str]]:
    """The lines outside and the lines inside the regions called `name`, without the markers.

    Args:
        source: The text of a cell.
        name: `SOLUTION`, `HIDDEN` or `MARK_SCHEME`.
        marks: The course's, where they are not the usual ones.

    Raises:
        RegionError: A region is begun twice, ended without a beginning, or never ended.
    """
    outside: list[str] = []
    inside: list[str] = []
    opened = 0
    begin, end = marks[name]
    for number, line in enumerate(source.split("\n"), 1):
        if begin in line:
            if opened:
                raise RegionError(f"line {number} begins {name} inside the one of line {opened}")
            opened = number
        elif end in line:
            if not opened:
                raise RegionError(f"line {number} ends {name}, but none was begun")
            opened = 0
        else:
            (inside if opened else outside).append(line)
    if opened:
        raise RegionError(f"{name} begun in line {opened} is never ended")
    return outside, inside


def stubbed(source: str, *, words: bool = False) -> str:
    r"""The answer cell as a learner gets it: what nbgrader's ClearSolutions leaves.

    `words` says that it is a text cell.

    >>> print(stubbed("def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"))
    def f():
        # YOUR CODE HERE
        raise NotImplementedError()
    """
    stub = WORDS_STUB if words else STUB
    if f"BEGIN {SOLUTION}" not in source:
        return "\n".join(stub)
    lines: list[str] = []
    within = False
    for line in source.split("\n"):
        if f"BEGIN {SOLUTION}" in line:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + one for one in stub]
            within = True
        elif f"END {SOLUTION}" in line:
            within = False
        elif not within:
            lines.append(line)
    return "\n".join(lines)


def is_untouched(answer: str, stub: str) -> bool:
    r"""Whether an answer is nothing, or still what the learner got; spaces count for nothing.

    >>> is_untouched(" \n", "..."), is_untouched("YOUR ANSWER  HERE", ""), is_untouched("2", "...")
    (True, True, False)
    """
    return " ".join(answer.split()) in {" ".join(one.split()) for one in (stub, *WORDS_STUB, "")}


def without_markers(source: str) -> str:
    """The cell with everything in it, its markers taken out."""
    marks = [f"{edge} {name}" for edge in ("BEGIN", "END") for name in (SOLUTION, HIDDEN)]
    kept = [line for line in source.split("\n") if not any(mark in line for mark in marks)]
    return "\n".join(kept)


def secrets(sources: Iterable[str]) -> list[str]:
    """The lines of solutions and hidden tests that a learner sees nowhere in these cells.

    None of them may be a line of the class edition.  A line that stands in a visible part as well,
    or that the stub brings, is no secret.
    """
    visible, hidden = [*STUB, *WORDS_STUB], []
    for source in sources:
        for name in (SOLUTION, HIDDEN):
            source, inside = _without(source, name)
            hidden += inside
        visible += source.split("\n")
    shown = {line.strip() for line in visible}
    return [line for line in dict.fromkeys(map(str.strip, hidden)) if line and line not in shown]


def _without(source: str, name: str) -> tuple[str, list[str]]:
    outside, inside = split_regions(source, name)
    return "\n".join(outside), inside
