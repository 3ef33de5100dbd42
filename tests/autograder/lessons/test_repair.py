"""Whatever was done to a notebook's cells: the lesson's run as they are, the answers as written."""

from __future__ import annotations

import ast
import contextlib
import json
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.engine.plan import CellKind, FormOfTests, plan, setup_source
from autograder.lessons.cell_dependencies.cell_names import read_code
from autograder.lessons.definitions import defined, may_be_parsed
from autograder.lessons.model import Lesson, all_lessons
from autograder.lessons.repair import Malformed, Repaired, read_submission, repair
from tests.autograder.engine.exam import (
    SECRET,
    TOTAL,
    TWICE,
    Cell,
    code,
    exam_cells,
    notebook,
    words,
)

SOURCE = exam_cells(
    total="def total(x):\n    ### BEGIN SOLUTION\n    return x.sum()\n    ### END SOLUTION",
    twice="def twice(x):\n    ### BEGIN SOLUTION\n    return x * 2\n    ### END SOLUTION",
)
MINE = "def total(x):\n    return sum(x)"


def handed_in() -> list[Cell]:
    """The class edition with both answers given: hidden tests are not in it."""
    cells = json.loads(json.dumps(exam_cells(total=MINE)))
    for cell in cells:
        head, _, tail = cell["source"].partition("### BEGIN HIDDEN TESTS\n")
        cell["source"] = head + tail.partition("### END HIDDEN TESTS\n")[2] if tail else head
    return cells


def repaired(cells: list[Cell]) -> Repaired:
    return repair(SOURCE, notebook(cells))


def sources(result: Repaired) -> dict[str, str]:
    return {cell["id"]: cell["source"] for cell in result.cells}


def test_an_untouched_lesson_gives_no_notes_and_its_hidden_tests_back() -> None:
    result = repaired(handed_in())
    assert result.notes == ()
    assert [cell["id"] for cell in result.cells] == [cell["id"] for cell in SOURCE]
    assert sources(result)["total"] == MINE
    assert SECRET in sources(result)["test-total"]


def change(id_: str, **changes: Any) -> Callable[[list[Cell]], list[Cell]]:
    def apply(cells: list[Cell]) -> list[Cell]:
        return [{**cell, **changes} if cell["id"] == id_ else cell for cell in cells]

    return apply


def without(*ids: str) -> Callable[[list[Cell]], list[Cell]]:
    return lambda cells: [cell for cell in cells if cell["id"] not in ids]


def renamed(cells: list[Cell]) -> list[Cell]:
    for cell in cells:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["grade_id"] += "-2"
    return cells


def stripped(cells: list[Cell]) -> list[Cell]:
    return [{**cell, "metadata": {}} for cell in cells]


def anonymous(cells: list[Cell]) -> list[Cell]:
    return [{k: v for k, v in {**cell, "metadata": {}}.items() if k != "id"} for cell in cells]


FAULTS = {
    "deleted test": (without("test-total"), "`test-total` was missing and was put back"),
    "deleted set-up": (without("setup"), "`setup` was missing and was put back"),
    "doubled test": (lambda cells: [*cells, cells[3]], "`test-total` stood there more than once"),
    "edited test": (change("test-total", source="3.0"), "`test-total` was changed"),
    "retyped test": (change("test-total", cell_type="markdown"), "had become a markdown cell"),
    "retyped answer": (change("total", cell_type="raw"), "`total` had become a raw cell"),
    "reversed": (lambda cells: cells[::-1], "Cells were moved"),
    "moved test": (lambda cells: [*cells[:3], *cells[4:], cells[3]], "Cells were moved"),
    "renamed": (renamed, "`total` had lost its grade id"),
    "stripped": (stripped, "`total` had lost its grade id"),
    "anonymous": (anonymous, "`total` had lost its grade id"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_put_right_and_named(fault: str) -> None:
    apply, note = FAULTS[fault]
    result = repaired(apply(handed_in()))
    order = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in result.cells]
    wanted = ["setup", "total", "test-total", "twice", "test-twice"]
    assert [name for name in order if name] == wanted
    by_id = {c["metadata"]["nbgrader"]["grade_id"]: c for c in result.cells if c["metadata"]}
    assert by_id["total"]["source"] == MINE
    assert by_id["total"]["cell_type"] == "code"
    assert by_id["test-total"]["source"] == SOURCE[3]["source"]
    assert any(note in one for one in result.notes)


def test_who_guesses_the_hidden_lines_is_told_as_much_as_who_does_not() -> None:
    hidden = "### BEGIN HIDDEN TESTS\nassert total({}) == 225\n### END HIDDEN TESTS\n"
    source = [*SOURCE]
    source[3] = {**SOURCE[3], "source": hidden.format(15) + SOURCE[3]["source"]}
    for guess in (14, 15):
        text = hidden.format(guess) + SOURCE[3]["source"]
        cells = change("test-total", source=text)(handed_in())
        (note,) = repair(source, notebook(cells)).notes
        assert note.startswith("`test-total` was changed")


def test_a_deleted_answer_counts_as_untouched_and_never_becomes_the_solution() -> None:
    result = repaired(without("total")(handed_in()))
    assert result.missing == {"total"}
    assert "raise NotImplementedError()" in sources(result)["total"]
    assert "x.sum()" not in sources(result)["total"]


def test_a_doubled_answer_runs_twice_and_counts_once() -> None:
    cells = handed_in()
    again = {**cells[2], "source": TOTAL, "id": "again"}
    result = repaired([*cells[:3], again, *cells[3:]])
    assert sources(result)["total"] == MINE
    assert sources(result)["again"] == TOTAL
    assert sum("nbgrader" in cell["metadata"] for cell in result.cells) == 5


def test_the_learners_own_cells_stay_where_they_were() -> None:
    cells = handed_in()
    cells.insert(3, code("helper = 1", "mine"))
    ids = [cell["id"] for cell in repaired(cells).cells]
    assert ids[2:5] == ["total", "mine", "test-total"]


def test_an_answer_without_any_mark_is_known_by_what_it_defines() -> None:
    cells = handed_in()
    cells[2] = code("print('a try')", "other")
    cells.insert(3, code(MINE, "another"))
    assert sources(repaired(cells))["total"] == MINE


def test_a_cell_that_claims_to_be_graded_is_an_ordinary_cell() -> None:
    fake = code("100", "fake", grade=True, points=100)
    result = repaired([*handed_in(), fake])
    assert "nbgrader" not in result.cells[-1]["metadata"]
    assert "`fake` is marked as graded" in result.notes[0]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "The file is empty"),
        (b"{", "The file is not JSON"),
        ('{"cells": ["é"]}'.encode("latin-1"), r"not UTF-8 text \(byte 0xe9 at position 12\)"),
        (b"[]", "no list of cells"),
        (b'{"cells": {}}', "no list of cells"),
        (b'{"worksheets": []}', r"old format \(nbformat 3\)\. Open it in JupyterLab"),
        (b'{"cells": [], "x": ' + b"1" * 5_000 + b"}", "more digits than Python reads"),
        (b'{"cells": [3]}', "Cell 1 of the notebook is not a code, markdown or raw cell"),
        (b'{"cells": [{"cell_type": "code", "source": [1]}]}', "Cell 1 of the notebook has no"),
        (b"[" * 200_000, "nested too deeply"),
        (b"[" + b"[]," * 500_000 + b"[]]", "too many values"),
        (b"[" + b"0," * 5_000_000 + b"0]", "too many values"),
    ],
)
def test_a_file_that_is_no_notebook_says_why(raw: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        read_submission(raw)


@given(st.lists(st.integers(0, 6), max_size=12), st.data())
def test_no_shuffling_of_cells_changes_what_is_tested(
    order: list[int], data: st.DataObject
) -> None:
    cells = handed_in()
    chosen = [json.loads(json.dumps(cells[number])) for number in order]
    for cell in chosen:
        if data.draw(st.booleans()):
            cell["metadata"] = {}
        if data.draw(st.booleans()):
            cell["source"] = data.draw(st.sampled_from(["", "x = 1", TWICE, cell["source"]]))
    result = repaired(chosen)
    tests = [
        step
        for step in plan(result.cells, FormOfTests.of(result.cells))
        if step.kind is CellKind.TEST
    ]
    assert [step.source for step in tests] == [SOURCE[3]["source"], SOURCE[6]["source"]]
    assert setup_source(result.cells) == SOURCE[1]["source"]
    assert len({cell["id"] for cell in result.cells}) == len(result.cells)
    text = json.dumps([c["source"] for c in result.cells if c["id"] in ("total", "twice")])
    assert "BEGIN SOLUTION" not in text


# Whatever stands in the file.

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
KEYS = ("id", "cell_type", "metadata", "source", "attachments", "outputs")


@pytest.mark.exhaustive("whole assignments")
@settings(max_examples=400)
@given(st.integers(0, 6), st.sampled_from(KEYS), ANYTHING, st.booleans())
def test_any_value_in_a_cell_is_repaired_or_malformed(
    index: int, key: str, value: object, in_nbgrader: bool
) -> None:
    cells = handed_in()
    target = cells[index]["metadata"].get("nbgrader") if in_nbgrader else cells[index]
    (cells[index] if target is None else target)[key if target is None else "grade_id"] = value
    with contextlib.suppress(Malformed):
        result = repair(SOURCE, read_submission(json.dumps(notebook(cells)).encode()))
        pickle.dumps(result.cells)
        json.dumps(result.cells, allow_nan=False)
        plan(result.cells, FormOfTests.of(result.cells))


def nested(depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _ in range(depth):
        found = {"deep": found}
    return found


def test_metadata_nested_too_deeply_to_travel_are_left_out_and_noted() -> None:
    result = repaired([*handed_in(), {**code("1", "own"), "metadata": nested(900)}])
    assert result.cells[-1]["metadata"] == {}
    assert result.notes == (
        "Pictures or other data of a cell were more than can be kept; left out.",
    )


def test_pictures_are_kept_up_to_a_limit_for_all_cells_together() -> None:
    picture = {"a.png": {"image/png": "x" * 5_000_000}}
    cells = [{**words("![a](attachment:a.png)", f"own-{n}"), "attachments": picture} for n in "12"]
    result = repaired([*handed_in(), *cells])
    assert [cell["attachments"] for cell in result.cells[-2:]] == [picture, {}]


def test_a_mark_at_the_beginning_of_the_file_is_no_fault() -> None:
    raw = b"\xef\xbb\xbf" + json.dumps(notebook(handed_in())).encode()
    assert repair(SOURCE, read_submission(raw)).notes == ()


@pytest.mark.parametrize("text", ["[" * 500_000, "," * 5_000_000, '["\\\\' * 200_000])
def test_brackets_and_commas_in_a_text_are_no_values(text: str) -> None:
    shown = {"output_type": "stream", "name": "stdout", "text": text}
    cells = handed_in()
    cells[2]["outputs"] = [shown]
    assert repair(SOURCE, read_submission(json.dumps(notebook(cells)).encode())).notes == ()


@pytest.mark.parametrize(
    "raw",
    [
        b'["' + b'\\"' * 1_000_000 + b"{" * 500_000,  # a text that never ends
        b"[" + b'"[",' * 5_000_000 + b'""]',
        b'{"a": "' + b"[" * 500_000 + b'", "b": [' + b"[]," * 500_000 + b"[]]}",
    ],
)
def test_values_are_counted_outside_of_texts_and_quickly(raw: bytes) -> None:
    with pytest.raises(Malformed, match=r"too many values|not JSON"):
        read_submission(raw)


def test_cells_with_more_text_than_anyone_writes_are_malformed() -> None:
    cells = [*handed_in(), code("#" * 9_000_000, "own")]
    with pytest.raises(Malformed, match="hold 9 MB of text, more than the 8 MB"):
        read_submission(json.dumps(notebook(cells)).encode())


def test_a_cell_id_that_is_a_list_is_replaced() -> None:
    cells = handed_in()
    cells[2]["id"] = ["total"]
    result = repair(SOURCE, read_submission(json.dumps(notebook(cells)).encode()))
    assert sources(result)["total"] == MINE


# An answer that stands in another cell.


@pytest.mark.parametrize(
    "elsewhere",
    [
        f"{MINE}\n\n{TWICE}",
        f"{MINE}\nif True:\n    twice = lambda x: x * 2",
        f"{MINE}\nfrom mine import double as twice",
        f"%matplotlib inline\n{MINE}\n(twice, more) = (lambda x: 2 * x), 3",
    ],
    ids=["merged", "nested", "imported", "unpacked"],
)
def test_no_stub_overwrites_what_another_cell_of_the_learner_defines(elsewhere: str) -> None:
    cells = change("total", source=elsewhere)(without("twice")(handed_in()))
    result = repaired(cells)
    assert result.missing == frozenset()
    assert sources(result)["twice"].startswith("# This cell was missing")
    assert "NotImplementedError" not in sources(result)["twice"]
    assert result.notes == ("`twice` is missing; what your other cells define counts.",)


def test_cells_beyond_measure_give_fifty_notes_and_their_number() -> None:
    about = {"nbgrader": {"grade": True, "grade_id": "none"}}
    many = [{**words("", f"own-{n}"), "metadata": about} for n in range(2_000)]
    notes = repaired([*handed_in(), *many]).notes
    assert (len(notes), notes[-1]) == (51, "And 1,950 more notes of this kind.")


def test_more_cells_than_anybody_writes_are_not_read() -> None:
    many = [words("", f"own-{n}") for n in range(10_000)]
    assert len(read_submission(json.dumps(notebook(many)).encode())["cells"]) == 10_000
    with pytest.raises(Malformed, match="has 10,001 cells, more than the 10,000 that are read"):
        read_submission(json.dumps(notebook([*many, words("", "more")])).encode())


def test_text_that_nobody_writes_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = list[int]()
    real = ast.parse
    monkeypatch.setattr(ast, "parse", lambda text: parsed.append(len(text)) or real(text))
    large = ["a = 0\n" * 50_000 + TWICE, *(f"b{n} = 0\n" * 20_000 for n in range(10))]
    cells = [
        *without("twice")(handed_in()),
        *(code(one, f"own-{n}") for n, one in enumerate(large)),
    ]
    assert repaired(cells).notes == ("`twice` is missing; what your other cells define counts.",)
    result = repaired([cell for cell in cells if cell["id"] != "own-0"])
    assert result.missing == {"twice"}
    assert sum(parsed) <= 800_000


def test_blank_lines_take_no_time_to_read() -> None:
    begun = time.process_time()
    defined("\n" * 150_000 + "x(")
    read_code("\n" * 150_000 + "x(")
    assert time.process_time() - begun < 5  # it took minutes


def test_a_name_that_only_the_lesson_or_the_inside_of_a_function_binds_is_no_answer() -> None:
    example = code("def twice(x):\n    return 'as an example'", "example")
    inside = f"{MINE}\ndef other():\n    twice = 2"
    cells = change("total", source=inside)(without("twice")([*handed_in(), example]))
    result = repair([*SOURCE, example], notebook(cells))
    assert result.missing == {"twice"}
    assert "NotImplementedError" in sources(result)["twice"]


ABOUT = {"grade_id": "why", "grade": True, "solution": True, "locked": False, "points": 2}
WHY = {**words("YOUR ANSWER HERE", "why"), "metadata": {"nbgrader": ABOUT}}


@pytest.mark.parametrize("lose", [without("why"), lambda cells: anonymous(without("why")(cells))])
def test_a_question_in_words_that_is_missing_never_looks_untouched(
    lose: Callable[[list[Cell]], list[Cell]],
) -> None:
    result = repair([*SOURCE, WHY], notebook(lose([*handed_in(), WHY])))
    text = result.cells[-1]["source"]
    assert text.startswith("*This cell was missing.")
    assert "`why` is missing; a person looks for the answer." in result.notes
    assert "why" not in result.missing


def test_words_without_any_mark_are_found_between_the_texts_of_the_lesson() -> None:
    task, mine = words("### Why?", "why-task"), {**WHY, "source": "Because it is shared."}
    end = words("## Summary", "summary")
    cells = anonymous([*handed_in(), task, mine, end])
    result = repair([*SOURCE, task, WHY, end], notebook(cells))
    found = [c for c in result.cells if c["metadata"].get("nbgrader", {}).get("grade_id") == "why"]
    assert [cell["source"] for cell in found] == ["Because it is shared."]


COURSE = Path(__file__).parents[3]


@pytest.mark.parametrize("lesson", all_lessons(COURSE), ids=lambda lesson: lesson.slug)
def test_what_was_handed_out_has_nothing_to_repair(lesson: Lesson) -> None:
    raw = (COURSE / "release" / lesson.slug / f"{lesson.slug}.ipynb").read_bytes()
    assert repair(lesson.cells(), read_submission(raw)).notes == ()


@pytest.mark.parametrize("marks", ["\u0301\u0323", "\u0334\uff9e", "\u0334\uff9f"])
def test_a_name_of_many_marks_is_not_parsed(marks: str) -> None:
    assert not may_be_parsed("a" + marks * 20 + " = 1")
    assert may_be_parsed("a" + marks + " = 1")
