"""What a reader finds folded, and what a table is told in the editions."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.lessons.editions.reading import ahead_of, for_readers, is_deep_dive
from autograder.nbgrader_bridge.generation import STEPS
from autograder.nbgrader_bridge.release_steps import ForReaders

ROOT = Path(__file__).parents[4]
TEST = {"grade": True, "solution": False, "locked": True, "points": 2}


def task(name: str) -> dict[str, object]:
    about = {"course": {"role": "exercise", "exercise": name}}
    return new_markdown_cell(f"### Exercise: {name}", id=f"{name}-task", metadata=about)


def checks_of(name: str) -> dict[str, object]:
    about = {"nbgrader": {**TEST, "grade_id": f"test-{name}"}}
    source = f'check = Check("{name}")\ncheck.score(2)'
    return new_code_cell(source, id=f"test-{name}", metadata=about)


CELLS = [
    task("rows"),
    new_code_cell("def rows(): ...", id="rows"),
    checks_of("rows"),
    new_markdown_cell("no heading", id="text"),
    new_markdown_cell("## Deep dive: `expand`", id="deep"),
    task("columns"),
    checks_of("columns"),
]


def test_a_table_is_told_its_place_and_the_heading_that_follows() -> None:
    assert ahead_of(CELLS) == {
        "test-rows": {"place": (1, 2), "then": "Deep dive: expand"},
        "test-columns": {"place": (2, 2), "then": ""},
    }


def test_a_question_in_words_has_no_number() -> None:
    words = new_markdown_cell("### In words: why", metadata=task("why")["metadata"])
    assert ahead_of([words, *CELLS])["test-rows"]["place"] == (1, 2)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("check.score(2)", "check.score(2, place=(1, 2))"),
        ('check.score(2, why="é")', 'check.score(2, place=(1, 2), why="é")'),
        (
            'check.score(\n    2,\n    why="é",\n)',
            'check.score(\n    2, place=(1, 2),\n    why="é",\n)',
        ),
        ("check.score(2, place=(3, 3))", "check.score(2, place=(3, 3))"),
        ("assert half(2) == 1", "assert half(2) == 1"),
        ("half(", "half("),
    ],
)
def test_what_is_told_stands_in_the_last_call_and_nothing_else_changes(
    source: str, told: str
) -> None:
    page = for_readers(f"x = 1\n{source}", "rows", {"place": (1, 2), "then": ""})
    assert page == f'#@title Checks: rows {{ display-mode: "form" }}\nx = 1\n{told}'


@pytest.fixture
def folded() -> dict[str, SimpleNamespace]:
    notebook = new_notebook(cells=[new_markdown_cell("# A"), *map(dict, CELLS)])
    notebook.cells = [type(notebook)(cell) for cell in notebook.cells]
    ForReaders().preprocess(notebook, {})
    return {cell.get("id", ""): cell for cell in notebook.cells}


def test_the_class_edition_folds_test_cells_and_no_others(folded: dict[str, dict]) -> None:
    hidden = [id for id, one in folded.items() if one["metadata"].get("jupyter")]
    assert hidden == ["test-rows", "test-columns"]
    assert folded["test-rows"]["metadata"]["cellView"] == "form"
    assert folded["test-rows"]["source"].startswith("#@title Checks: rows")


def test_the_heading_of_a_deep_dive_is_folded(folded: dict[str, dict]) -> None:
    key = "jp-MarkdownHeadingCollapsed"
    assert [id for id, one in folded.items() if one["metadata"].get(key)] == ["deep"]


@pytest.mark.parametrize(
    ("source", "is_one"),
    [("### Deep dive: x", True), ("A deep dive: x", False), ("## Strides", False)],
)
def test_a_deep_dive_is_known_by_its_heading(source: str, is_one: bool) -> None:
    assert is_deep_dive(new_markdown_cell(source)) == is_one


def test_nbgrader_takes_the_same_steps_as_the_release() -> None:
    class Config(dict):
        def __getattr__(self, name: str) -> Config:
            return self.setdefault(name, Config())

        def __setattr__(self, name: str, value: object) -> None:
            self[name] = value

    config = Config()
    names = {"get_config": lambda: config, "load_subconfig": lambda *words: None}
    runpy.run_path(str(ROOT / "nbgrader_config.py"), names)
    assert config.GenerateAssignment.preprocessors == STEPS
