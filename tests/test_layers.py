"""Who may import whom: the table reads as the architecture, from the ground up.

A module belongs to the row with the longest name that begins its own. It may import its own row,
and the rows that its line names; what stands under `if TYPE_CHECKING:` does not count.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

COURSE = {
    "course": {"course.lazy"},
    "course.lazy": set(),
    "course.notebook": set(),
    "course.hidden_lines": set(),
    "course.error_names": set(),
    "course.inspection": set(),
    "course.serialization": {"course.inspection"},
    "course.gpu.simulator": set(),
    "course.gpu": {"course.gpu.simulator"},
    "course.figures": {"course.lazy", "course.inspection"},
    "course.widgets": {"course.lazy", "course.notebook", "course.inspection", "course.figures"},
    "course.claims": {"course.lazy", "course.inspection", "course.widgets", "course.figures"},
    "course.testing": {"course.notebook", "course.hidden_lines", "course.inspection"}
    | {"course.error_names"}
    | {"course.serialization", "course.figures", "course.claims"},
    "course.guide": {"course.lazy", "course.widgets", "course.claims"},
    "course.practice": {"course.lazy", "course.inspection", "course.claims"},
    "course.probes": {
        "course.lazy",
        "course.hidden_lines",
        "course.inspection",
        "course.testing",
        "course.gpu",
    },
    # One row for all: no lesson's folder imports another's, which a test below holds.
    "course.lessons": {
        *("course.lazy", "course.hidden_lines", "course.notebook", "course.inspection"),
        *("course.gpu", "course.gpu.simulator", "course.figures", "course.widgets"),
        *("course.probes", "course.testing"),
    },
    "course.progress": {"course.lazy", "course.widgets", "course.claims", "course.testing"}
    | {"course.guide"},
}

GROUND = {
    "autograder.descendants",
    "autograder.errors",
    "autograder.environment",
    "autograder.fork_server",
    "autograder.import_speed",
    "autograder.kept_results",
    "autograder.console",
    "autograder.course_directory",
    "autograder.linux",
    "autograder.regular_files",
}
MEASURES = {
    *("course", "course.notebook", "course.inspection", "course.serialization"),
    "course.testing",
}
ENGINE = "autograder.engine"
BRIDGE = "autograder.nbgrader_bridge"
# In the engine a row is what runs in one process, or talks to it.
INSIDE = {
    f"{ENGINE}.limits": GROUND,
    f"{ENGINE}.loaded_ahead": set(),
    f"{ENGINE}.outcomes": set(),
    f"{ENGINE}.own_resources": GROUND | {f"{ENGINE}.limits"},
    f"{ENGINE}.protocol": GROUND,
    f"{ENGINE}.kernel": GROUND | {f"{ENGINE}.limits", "course.hidden_lines"},
    f"{ENGINE}.sandbox": GROUND | {f"{ENGINE}.limits", f"{ENGINE}.protocol"},
    f"{ENGINE}.student": {f"{ENGINE}.kernel", f"{ENGINE}.loaded_ahead", f"{ENGINE}.protocol"},
    f"{ENGINE}.forkserver": GROUND
    | {f"{ENGINE}.{name}" for name in ("limits", "kernel", "loaded_ahead", "sandbox", "student")},
}
# What is decided before and after a run knows no process.
DECISIONS = {
    f"{ENGINE}.plan": {"autograder.lessons"},
    f"{ENGINE}.scoring": {f"{ENGINE}.outcomes", f"{ENGINE}.plan"}
    | {"autograder.lessons", "autograder.records", "course.error_names"},
}
OUTSIDE = {
    f"{ENGINE}.checker": GROUND | MEASURES | {*INSIDE, "course.error_names"},
    f"{ENGINE}.worker": GROUND
    | {*INSIDE, *DECISIONS, f"{ENGINE}.checker", f"{ENGINE}.own_resources", "course.notebook"}
    | {"autograder.lessons", "autograder.records", "autograder.submissions"},
    f"{ENGINE}": GROUND
    | {*INSIDE, f"{ENGINE}.own_resources", f"{ENGINE}.worker"}
    | {"autograder.lessons", "autograder.records"},
}

AUTOGRADER = {
    "autograder": set(),
    **{name: set() for name in GROUND},
    "autograder.descendants": {"autograder.linux"},
    "autograder.fork_server": {"autograder.descendants"},
    "autograder.course_directory": GROUND,
    # nbgrader's rules and steps on plain notebooks, which lessons and submissions ask
    f"{BRIDGE}.cells": set(),
    f"{BRIDGE}.table_version": set(),
    f"{BRIDGE}.generation": {f"{BRIDGE}.table_version"},
    f"{BRIDGE}.known_sources": {"autograder.errors", f"{BRIDGE}.generation"},
    "autograder.records": GROUND,
    # course.testing: what a test cell writes is held against the checks that there are;
    # course.guide: the map that is released is the one that notebooks show
    "autograder.lessons": GROUND
    | {"autograder.records", "course.claims", "course.testing", "course.guide", "course.practice"}
    | {f"{BRIDGE}.generation", f"{BRIDGE}.known_sources", "course.hidden_lines"},
    "autograder.lms": GROUND | {"autograder.records"},
    "autograder.submissions.class_list": GROUND,
    "autograder.submissions": GROUND
    | {"autograder.records", "autograder.lessons", "autograder.lms", f"{BRIDGE}.cells"}
    | {"autograder.submissions.class_list", BRIDGE},
    **INSIDE,
    **DECISIONS,
    **OUTSIDE,
    BRIDGE: GROUND
    | {f"{BRIDGE}.generation", f"{BRIDGE}.table_version"}
    | {"autograder.records", "autograder.lessons", "autograder.submissions.class_list"},
    "autograder.runners": GROUND
    | {"autograder.records", "autograder.lessons", "autograder.submissions"}
    | {ENGINE, *INSIDE, BRIDGE, f"{BRIDGE}.cells", "course.error_names"},
    "autograder.grading": GROUND
    | {"autograder.records", "autograder.lessons", "autograder.submissions", "autograder.runners"}
    | {BRIDGE, "autograder.submissions.class_list"},
    "autograder.reporting": GROUND
    | {"autograder.records", "autograder.lessons", "autograder.submissions", "autograder.lms"}
    | {BRIDGE, "autograder.submissions.class_list"}
    | {"course.inspection", "course.testing", "course.claims"},
    "autograder.answer_bank": GROUND
    | {"autograder.records", "autograder.lessons", "autograder.runners", "course.figures"}
    | {"course.testing", "course.hidden_lines"}
    | {ENGINE, *INSIDE},
    "autograder.simulation": GROUND
    | {"autograder.records", "autograder.lessons", "autograder.submissions"}
    | {"autograder.answer_bank", "autograder.runners", *INSIDE}
    | {"course.claims", "course.figures", "course.gpu", "course.gpu.simulator"}
    | {"course.inspection"},
    # what nbgrader's configuration names: here nbgrader calls us
    f"{BRIDGE}.release_steps": {"*"},
    f"{BRIDGE}.feedback_steps": {"*"},
    f"{BRIDGE}.inert_html": {"*"},
    "autograder.formgrader": {"*"},
    "autograder.cli": {"*"},
    "autograder.__main__": {"*"},
}
# What only a developer runs looks at everything; no package imports it, as a wheel has none of it.
TOOLS = {"tools": {"*"}}
# Who imports nbgrader beside its bridge, and why.
KNOW_NBGRADER = {
    "autograder.formgrader",  # a part of nbgrader's server, whose handlers it extends
    "tools.contenders",  # measures nbgrader itself, with nothing of ours between
}
MAY_IMPORT: dict[str, set[str]] = COURSE | AUTOGRADER | TOOLS


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of packages and tools by its name; the banks of answers are data."""
    for package in ("course", "autograder", "tools"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if path.parent.name != "answers":
                name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
                yield name.removesuffix(".__init__"), path


NAMES = {name for name, _ in modules()}


def row_of(module: str) -> str:
    """The row of the table to which a module belongs."""
    fits = (row for row in MAY_IMPORT if module == row or module.startswith(f"{row}."))
    return max(fits, key=len)


def imports(path: Path) -> Iterator[str]:
    """The modules of ours that a file imports anywhere, but for its types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in (one for one in ast.walk(tree) if id(one) not in types):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in NAMES)
        elif isinstance(node, ast.ImportFrom) and node.module in NAMES:
            inner = {f"{node.module}.{one.name}" for one in node.names} & NAMES
            yield from inner or {str(node.module)}


def imports_nbgrader(path: Path) -> bool:
    """Whether a file names nbgrader in an import, for its types alone too."""
    names = [
        name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else [one.name for one in node.names]
        )
    ]
    return any(name.split(".")[0] == "nbgrader" for name in names)


def test_only_the_bridge_imports_nbgrader() -> None:
    knowing = {name for name, path in modules() if imports_nbgrader(path)}
    outside = {name for name in knowing if not name.startswith(f"{BRIDGE}.")}
    assert len(knowing) >= 8
    assert outside <= KNOW_NBGRADER


@pytest.mark.parametrize("row", MAY_IMPORT)
def test_a_package_imports_only_what_stands_below_it(row: str) -> None:
    allowed = MAY_IMPORT[row] | {row}
    reaching_up = [
        f"{name} imports {other}"
        for name, path in modules()
        if row_of(name) == row and "*" not in allowed
        for other in imports(path)
        if row_of(other) not in allowed
    ]
    assert reaching_up == []


def test_no_row_of_the_table_stands_on_itself() -> None:
    def below(row: str) -> set[str]:
        seen: set[str] = set()
        new = MAY_IMPORT[row] - {"*"}
        while new:
            seen |= new
            new = set().union(*(MAY_IMPORT[one] for one in new)) - seen - {"*"}
        return seen

    rows = [row for row in MAY_IMPORT if row not in GROUND]
    assert [row for row in rows if row in below(row)] == []


def test_every_row_has_modules() -> None:
    assert {row_of(name) for name in NAMES} == MAY_IMPORT.keys()


def test_no_lesson_needs_another_lessons_folder() -> None:
    def folder(module: str) -> str | None:
        parts = module.split(".")
        return parts[2] if module.startswith("course.lessons.") else None

    reaching = [
        f"{name} imports {other}"
        for name, path in modules()
        for other in imports(path)
        if folder(other) not in (None, folder(name))
    ]
    assert reaching == []
