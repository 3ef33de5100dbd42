"""How a lesson lies before its reader: test cells and deep dives folded, tables that know the way.

Test cells are more than half of all code, and nobody learns from them: JupyterLab hides their
source, and Colab shows the title of a form. In `check.score(4)` stands what a table cannot find
out by itself: which exercise of how many it is, and what follows.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from autograder.lessons.cells import (
    FOLDED,
    RawCell,
    grade_id,
    grader,
    headings,
    is_test,
    pictures_not_shown,
    role,
    without_pictures,
)

__all__ = ["FOLDED_TEST", "ahead_of", "for_readers", "is_deep_dive", "lay_out"]

FOLDED_TEST = {"cellView": "form", "jupyter": {"source_hidden": True}}
_TASK = "exercise"
_NUMBERED = re.compile(r"^### Exercise\b", re.M)
_DEEP_DIVE = re.compile(r"^#+ Deep dive\b", re.I)


def lay_out(cells: Sequence[RawCell]) -> None:
    """Fold the test cells and deep dives of a class edition, and tell its tables where they are.

    A picture that a model answer or a marking scheme alone has shown goes with it.

    Args:
        cells: All of the notebook's, changed in place; hidden tests are gone from them.
    """
    told = ahead_of(cells)
    for cell in cells:
        without_pictures(cell, pictures_not_shown(cell))
        cell["metadata"].get("course", {}).pop("shows", None)  # it tells the grader alone
        name = grade_id(cell)
        if name in told:
            exercise = name.removeprefix("test-")
            cell["source"] = for_readers(cell["source"], exercise, told[name])
            cell["metadata"].update(FOLDED_TEST)
        elif is_deep_dive(cell):
            cell["metadata"][FOLDED] = True


def is_deep_dive(cell: RawCell) -> bool:
    """Whether a cell is the heading of a deep dive."""
    return cell["cell_type"] == "markdown" and bool(_DEEP_DIVE.match(cell["source"]))


def ahead_of(cells: Sequence[RawCell]) -> dict[str, dict[str, object]]:
    """By the grade id of a test cell what its table may say: its place, and what follows."""
    tasks = [cell for cell in cells if role(cell).get("role") == _TASK]
    # Headings number what a table judges, and not the questions in words.
    numbered = [cell for cell in tasks if _NUMBERED.search(cell["source"])] or tasks
    names = [str(role(cell).get("exercise")) for cell in numbered]
    found: dict[str, dict[str, object]] = {}
    for n, cell in enumerate(cells):
        name = grade_id(cell).removeprefix("test-")
        if is_test(cell) and cell["cell_type"] == "code":
            place = (names.index(name) + 1, len(names)) if name in names else None
            after = next(filter(None, map(_first_title, cells[n + 1 :])), "")
            found[str(grader(cell)["grade_id"])] = {"place": place, "then": after}
    return found


def _first_title(cell: RawCell) -> str:
    titles = [text for _, text in headings(cell)]
    return re.sub(r"`", "", titles[0]) if titles else ""


def for_readers(source: str, name: str, about: Mapping[str, object]) -> str:
    r"""The source of a test cell under a title, whose table is told `about` itself.

    >>> print(for_readers("check = Check('a')\ncheck.score(2)", "a", {"place": (1, 6)}))
    #@title Checks: a { display-mode: "form" }
    check = Check('a')
    check.score(2, place=(1, 6))
    """
    title = f'#@title Checks: {name} {{ display-mode: "form" }}'
    given = tuple((key, repr(value)) for key, value in about.items() if value)
    return f"{title}\n{_with_arguments(source, given)}"


@lru_cache(maxsize=1_000)  # a lesson's test cells are looked for in each submission
def _with_arguments(source: str, about: tuple[tuple[str, str], ...]) -> str:
    """The source with these words in its last line's `check.score(…)`; as it is without one."""
    try:
        last = ast.parse(source).body[-1:]
    except SyntaxError:
        return source
    match last:
        case [ast.Expr(ast.Call(ast.Attribute(attr="score"), [points], keywords))]:
            given = {word.arg for word in keywords}
        case _:
            return source
    words = "".join(f", {key}={value}" for key, value in about if key not in given)
    lines = source.split("\n")
    row, column = (points.end_lineno or 1) - 1, points.end_col_offset or 0
    line = lines[row].encode()  # columns are counted in bytes
    lines[row] = f"{line[:column].decode()}{words}{line[column:].decode()}"
    return "\n".join(lines)
