"""What a learner put beside an answer that a person marks is in it, and nothing of it is lost."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from autograder.engine.outcomes import CellOutcome
from autograder.engine.plan import FormOfTests, plan
from autograder.engine.scoring import judge
from autograder.lessons.model import Exercise
from autograder.lessons.repair import Repaired, repair
from autograder.records.model import ExerciseRecord
from tests.autograder.engine.exam import Cell, code, notebook, words

MODEL = "### BEGIN SOLUTION\nBecause the storage is shared.\n### END SOLUTION"
STUB = "YOUR ANSWER HERE"
CODE_STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
WHY = Exercise("why", "Why", 3.0, "why", MODEL, "why", "", manual=True, words=True)
SHOW = Exercise("show", "Show", 2.0, "show", "x = 1", "show", "", manual=True)


def marked(id_: str, source: str, cell_type: str = "markdown") -> Cell:
    """An answer cell that a person marks."""
    about: dict[str, Any] = {"grade": True, "solution": True, "points": 3}
    cell = code(source, id_, **about)
    if cell_type == "markdown":
        del cell["outputs"], cell["execution_count"]
    return {**cell, "cell_type": cell_type}


SOURCE = [
    words("# Why?", "ask-why"),
    marked("why", MODEL),
    words("# Show it.", "ask-show"),
    marked("show", "x = 1", "code"),
    words("The end.", "end"),
]


def handed_in(why: str = STUB, show: str = CODE_STUB) -> list[Cell]:
    cells = copy.deepcopy(SOURCE)
    cells[1]["source"], cells[3]["source"] = why, show
    return cells


def again(cell: Cell, source: str) -> Cell:
    """What JupyterLab's "split cell" and "duplicate cell" make: the same metadata, a new id."""
    return {**copy.deepcopy(cell), "id": f"{cell['id']}-again", "source": source}


def below(cells: list[Cell], id_: str, *more: Cell) -> list[Cell]:
    at = next(n for n, cell in enumerate(cells) if cell["id"] == id_) + 1
    return [*cells[:at], *more, *cells[at:]]


def above(cells: list[Cell], id_: str, *more: Cell) -> list[Cell]:
    at = next(n for n, cell in enumerate(cells) if cell["id"] == id_)
    return [*cells[:at], *more, *cells[at:]]


def repaired(cells: list[Cell]) -> Repaired:
    return repair(SOURCE, notebook(cells))


def text_of(result: Repaired, id_: str) -> str:
    (found,) = [c for c in result.cells if c["metadata"].get("nbgrader", {}).get("grade_id") == id_]
    return str(found["source"])


def record(result: Repaired, exercise: Exercise = WHY) -> ExerciseRecord:
    steps = plan(result.cells, FormOfTests.of(result.cells))
    outcomes = {step.index: CellOutcome() for step in steps}
    return judge(exercise, steps, outcomes, result.missing, result.remarks)


def test_both_halves_of_a_split_answer_stand_in_one_cell_and_a_remark_says_so() -> None:
    cells = handed_in(why="The caller holds it,")
    result = repaired(below(cells, "why", again(cells[1], "so everybody sees the write.")))
    assert text_of(result, "why") == "The caller holds it,\n\nso everybody sees the write."
    assert len(result.cells) == len(SOURCE)
    assert result.notes == ("`why` was put together from 2 cells, its own and those beside it.",)
    assert record(result).notes == (
        "A person grades this answer.",
        "It was put together from 2 cells.",
    )


def test_an_answer_split_right_after_the_stub_is_an_answer() -> None:
    cells = handed_in()
    result = repaired(below(cells, "why", again(cells[1], "The caller holds it.")))
    assert text_of(result, "why") == "The caller holds it."
    assert record(result).attempted
    assert result.notes == ("An untouched copy of `why` stood there, too; it was left out.",)


def test_a_second_half_that_was_moved_away_is_found() -> None:
    cells = handed_in(why="First,")
    result = repaired([*cells, again(cells[1], "second.")])
    assert text_of(result, "why") == "First,\n\nsecond."


@pytest.mark.parametrize("left", ["", STUB, " \n"])
@pytest.mark.parametrize("cell_type", ["markdown", "raw"])
def test_words_below_an_emptied_answer_are_the_answer(left: str, cell_type: str) -> None:
    own = {**words("It is the caller's.", "own"), "cell_type": cell_type}
    result = repaired(below(handed_in(why=left), "why", own))
    assert text_of(result, "why") == "It is the caller's."
    assert (record(result).attempted, record(result).manual) == (True, True)
    assert [cell["id"] for cell in result.cells] == [cell["id"] for cell in SOURCE]


def test_words_typed_into_a_code_cell_below_are_shown_and_stay() -> None:
    result = repaired(below(handed_in(), "why", code("It is the caller's.", "own")))
    assert text_of(result, "why") == "```python\nIt is the caller's.\n```"
    assert "own" in [cell["id"] for cell in result.cells]
    assert record(result).attempted


def test_words_above_an_untouched_answer_are_the_answer() -> None:
    result = repaired(above(handed_in(), "why", words("It is the caller's.", "own")))
    assert text_of(result, "why") == "It is the caller's."


def test_words_above_a_given_answer_stay_where_they_are() -> None:
    result = repaired(above(handed_in(why="Mine."), "why", words("My notes.", "own")))
    assert text_of(result, "why") == "Mine."
    assert [cell["id"] for cell in result.cells][1] == "own"


def test_code_below_a_given_answer_in_words_is_no_part_of_it() -> None:
    result = repaired(below(handed_in(why="Mine."), "why", code("x = 1", "own")))
    assert (text_of(result, "why"), result.notes) == ("Mine.", ())


def test_what_stands_below_the_next_cell_of_the_lesson_belongs_to_that() -> None:
    result = repaired(below(handed_in(), "ask-show", words("About showing.", "own")))
    assert text_of(result, "why") == STUB
    assert not record(result).attempted


def test_a_stub_copied_below_an_answer_leaves_it_an_answer() -> None:
    cells = handed_in(why="Mine.", show="x = 2")
    cells = below(cells, "why", again(cells[1], STUB))
    result = repaired(below(cells, "show", again(cells[-2], CODE_STUB)))
    assert (text_of(result, "why"), text_of(result, "show")) == ("Mine.", "x = 2")
    assert record(result).attempted
    assert record(result, SHOW).attempted
    assert len(result.cells) == len(SOURCE)


def test_pictures_of_all_parts_are_kept_under_names_of_their_own() -> None:
    cells = handed_in(why="![a](attachment:a.png)")
    cells[1]["attachments"] = {"a.png": {"image/png": "AAAA"}}
    half = again(cells[1], "![a](attachment:a.png)")
    half["attachments"] = {"a.png": {"image/png": "BBBB"}}
    result = repaired(below(cells, "why", half))
    cell = result.cells[1]
    assert cell["source"] == "![a](attachment:a.png)\n\n![a](attachment:1-a.png)"
    assert cell["attachments"] == {
        "a.png": {"image/png": "AAAA"},
        "1-a.png": {"image/png": "BBBB"},
    }


def test_what_has_not_the_form_of_a_picture_is_left_out() -> None:
    good = {"a.png": {"image/png": ["AA", "AA"]}}
    odd = {"b.png": 5, "c.png": {"image/png": {"x": 1}}, "d.png": {"image/png": ["A", 7]}, "": None}
    cells = handed_in(why="![a](attachment:a.png)")
    cells[1]["attachments"] = good | odd
    own = {**words("![z](attachment:z)", "own"), "attachments": odd}
    result = repaired([*cells, own])
    assert (result.cells[1]["attachments"], result.cells[-1]["attachments"]) == (good, {})


def test_an_answer_is_put_together_from_a_hundred_cells_and_the_rest_is_counted() -> None:
    many = [words(f"part {n}", f"part-{n}") for n in range(2_000)]
    result = repaired(below(handed_in(why="Mine."), "why", *many))
    assert text_of(result, "why").endswith("\n\npart 98")
    assert len(result.cells) == len(SOURCE) + 2_000 - 99
    assert "from 100 cells. 1,901 more cells beside it, too many" in record(result).notes[1]


def test_a_part_with_more_pictures_than_an_answer_takes_stays_where_it_is() -> None:
    own = words("So:", "own")
    own["attachments"] = {f"{n}.png": {"image/png": "AAAA"} for n in range(101)}
    result = repaired(below(handed_in(why="Mine."), "why", own))
    assert (text_of(result, "why"), len(result.cells)) == ("Mine.", len(SOURCE) + 1)
    assert "1 more cell" in result.notes[0]


def test_a_picture_larger_than_other_cells_may_have_is_kept_in_an_answer() -> None:
    cells = handed_in(why="![a](attachment:a.png)")
    cells[1]["attachments"] = {"a.png": {"image/png": "A" * 20_000_000}}
    result = repaired(cells)
    assert (result.cells[1]["attachments"], result.notes) == (cells[1]["attachments"], ())


def test_pictures_beyond_the_limit_are_left_out_and_noted() -> None:
    cells = handed_in(why="![a](attachment:a.png)")
    cells[1]["attachments"] = {"a.png": {"image/png": "A" * 40_000_000}}
    result = repaired(cells)
    assert "attachments" not in result.cells[1]
    assert result.notes[0].startswith("Pictures or other data of a cell")


def test_the_model_answers_own_picture_is_never_the_learners() -> None:
    source = copy.deepcopy(SOURCE)
    source[1]["attachments"] = {"m.png": {"image/png": "AAAA"}}
    assert "attachments" not in repair(source, notebook(handed_in(why="Mine."))).cells[1]


# Code that a person marks.


def test_code_below_an_emptied_answer_is_the_answer_and_text_a_comment() -> None:
    cells = below(handed_in(show=""), "show", words("So:\nlook.", "text"), code("x = 2", "own"))
    result = repaired(cells)
    assert text_of(result, "show") == "# So:\n# look.\n\nx = 2"
    assert record(result, SHOW).attempted
    assert [cell["id"] for cell in result.cells][-3:] == ["show", "text", "end"]


def test_a_split_code_answer_is_whole_again_in_its_order() -> None:
    cells = handed_in(show="x = 2")
    result = repaired(below(cells, "show", code("y = x", "own"), again(cells[3], "z = y")))
    assert text_of(result, "show") == "x = 2\n\ny = x\n\nz = y"


def test_other_code_below_a_given_answer_stays_its_own_cell() -> None:
    result = repaired(below(handed_in(show="x = 2"), "show", code("y = x", "own")))
    assert text_of(result, "show") == "x = 2"
    assert [cell["id"] for cell in result.cells][-2] == "own"


@pytest.mark.parametrize(("left", "attempted"), [("", True), (CODE_STUB, False), ("x = 2", True)])
def test_an_emptied_cell_is_no_stub(left: str, attempted: bool) -> None:
    found = record(repaired(handed_in(show=left)), SHOW)
    assert (found.attempted, found.manual, found.score) == (attempted, True, 0.0)
    assert ("The cell was handed in empty." in " ".join(found.notes)) is (left == "")


# Code that tests grade: a copy of the stub must not undo the answer.

TOTAL = "def total(x):\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION"
TOTAL_STUB = "def total(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
TESTED = [code(TOTAL, "total", solution=True), code("assert total(1)", "test-total", grade=True)]
MINE = "def total(x):\n    return 2"


@pytest.mark.parametrize("with_id", [True, False])
def test_a_copied_stub_below_an_answer_that_tests_grade_is_left_out(with_id: bool) -> None:
    cells = copy.deepcopy(TESTED)
    cells[0]["source"] = MINE
    stray = again(cells[0], TOTAL_STUB) if with_id else code(TOTAL_STUB, "own")
    result = repair(TESTED, notebook(below(cells, "total", stray)))
    assert [cell["source"] for cell in result.cells] == [MINE, "assert total(1)"]
    assert result.notes == ("An untouched copy of `total` stood there, too; it was left out.",)


def test_of_two_copies_the_one_with_an_answer_counts() -> None:
    cells = copy.deepcopy(TESTED)
    cells[0]["source"] = TOTAL_STUB
    result = repair(TESTED, notebook(below(cells, "total", again(cells[0], MINE))))
    assert [cell["source"] for cell in result.cells] == [MINE, "assert total(1)"]


def test_a_stub_above_the_answer_changes_nothing() -> None:
    cells = copy.deepcopy(TESTED)
    cells[0]["source"] = MINE
    result = repair(TESTED, notebook(above(cells, "total", code(TOTAL_STUB, "own"))))
    assert [cell["source"] for cell in result.cells] == [TOTAL_STUB, MINE, "assert total(1)"]
