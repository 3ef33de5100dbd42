"""Lessons are found, chosen and read; a notebook that breaks the form is named with its cell."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import LessonError, UnknownLesson
from autograder.lessons.cells import anchor, headings
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.model import ExerciseGiven, find_lesson, read_lesson, select_lessons
from tests.autograder import tiny


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


def cell(notebook: dict[str, Any], id_: str) -> dict[str, Any]:
    return next(one for one in notebook["cells"] if one["id"] == id_)


def causes(course: Path, notebook: dict[str, Any]) -> list[str]:
    lesson = read_lesson(tiny.write(course, notebook))
    return [finding.cause for finding in lint_lesson(course, lesson)]


@pytest.mark.parametrize("word", ["1", "01", "tiny", "01-tiny"])
def test_a_lesson_is_found_by_its_number_its_name_or_both(course: Path, word: str) -> None:
    assert find_lesson(course, word).slug == "01-tiny"


def test_a_lesson_knows_its_exercises_in_order(course: Path) -> None:
    lesson = find_lesson(course, "1")
    assert [(one.name, one.points) for one in lesson.exercises] == [("flatten", 4), ("double", 2)]
    assert lesson.points == 6


def test_an_exercise_carries_what_its_cells_and_their_metadata_say(course: Path) -> None:
    one = find_lesson(course, "1").exercise("flatten")
    assert (one.title, one.section, one.difficulty, one.minutes) == (
        "Flatten a tensor",
        "flattening",
        1,
        5,
    )
    assert (one.answer_id, one.test_id, len(one.hints)) == ("flatten", "test-flatten", 1)
    assert "secret_of_flatten" in one.answer_source


def test_a_learner_has_seen_only_the_names_of_visible_lines(course: Path) -> None:
    one = find_lesson(course, "1").exercise("flatten")
    hidden = '### BEGIN HIDDEN TESTS\nanswer("helper")\n### END HIDDEN TESTS'
    solved = "### BEGIN SOLUTION\n    return x\n    ### END SOLUTION"
    one = replace(one, answer_source="", test_source=f'answer("flatten")\n{hidden}')
    assert (one.asked, one.asked_visibly) == (("flatten", "helper"), ("flatten",))
    one = replace(one, answer_source=f"def helper(x):\n    {solved}")
    assert one.asked_visibly == ("flatten", "helper")
    one = replace(one, answer_source="", given=ExerciseGiven("", 'answer("flatten")'))
    assert one.asked_visibly == ("flatten",)


def test_an_exercise_without_a_section_of_its_own_stands_in_the_one_above_it(course: Path) -> None:
    notebook = tiny.notebook()
    del cell(notebook, "double-task")["metadata"]["course"]["section"]
    assert read_lesson(tiny.write(course, notebook)).exercise("double").section == "doubling"


def test_a_chosen_lesson_is_given_once_and_in_order(course: Path) -> None:
    tiny.write(course, tiny.notebook(), "02-more")
    chosen = select_lessons(course, ["more", "1", "02"])
    assert [lesson.slug for lesson in chosen] == ["01-tiny", "02-more"]


@pytest.mark.parametrize("words", [(), ("all",), ("1", "all")])
def test_no_word_and_all_choose_every_lesson(course: Path, words: tuple[str, ...]) -> None:
    assert [lesson.slug for lesson in select_lessons(course, words)] == ["01-tiny"]


def test_an_unknown_lesson_is_answered_with_those_that_exist(course: Path) -> None:
    with pytest.raises(UnknownLesson) as caught:
        select_lessons(course, ["tinny"])
    assert "there is no lesson 'tinny'" in str(caught.value)
    assert "Did you mean tiny?" in str(caught.value)
    assert "There are: 01-tiny." in str(caught.value)


def test_a_directory_without_lessons_says_how_to_name_another(tmp_path: Path) -> None:
    with pytest.raises(UnknownLesson, match="--course DIR"):
        select_lessons(tmp_path)


def test_the_form_of_other_assignments_is_left_alone_and_told(course: Path) -> None:
    other = course / "source" / "ps1"
    other.mkdir()
    (other / "problem1.ipynb").write_text("no notebook, even")
    assert [lesson.slug for lesson in select_lessons(course)] == [tiny.SLUG]
    for words in (["ps1"], [tiny.SLUG, "ps1"]):
        with pytest.raises(UnknownLesson, match="for lessons called NN-name, which ps1 is not"):
            select_lessons(course, words)
    shutil.rmtree(course / "source" / tiny.SLUG)
    with pytest.raises(UnknownLesson, match=r"`autograder grade`, .* take every assignment"):
        select_lessons(course)


def test_a_notebook_that_is_not_json_is_named_with_line_and_remedy(course: Path) -> None:
    path = tiny.write(course, '{"cells": [,]}')
    with pytest.raises(LessonError) as caught:
        read_lesson(path)
    assert str(caught.value).startswith(f"{path}: is not JSON: ")
    assert "line 1 column 12" in str(caught.value)
    assert "Restore it from git" in str(caught.value)


@pytest.mark.parametrize("text", ["[]", "{}", '{"cells": 3}', "null"])
def test_json_that_is_no_notebook_is_refused(course: Path, text: str) -> None:
    with pytest.raises(LessonError, match="no notebook"):
        read_lesson(tiny.write(course, text))


def test_a_broken_notebook_does_not_stop_another_lesson(course: Path) -> None:
    tiny.write(course, "{", "02-broken")
    assert find_lesson(course, "1").slug == "01-tiny"


def test_the_digest_follows_the_notebook_and_its_data_files(course: Path) -> None:
    before = find_lesson(course, "1").digest
    assert find_lesson(course, "1").digest == before
    (course / "source/01-tiny/data.csv").write_text("1,2\n")
    with_data = find_lesson(course, "1").digest
    (course / "source/01-tiny/data.csv").write_text("1,3\n")
    assert len({before, with_data, find_lesson(course, "1").digest}) == 3


def test_the_data_files_of_a_lesson_are_those_beside_its_notebook(course: Path) -> None:
    folder = course / "source/01-tiny"
    for name in ("data/a.csv", ".ipynb_checkpoints/old.csv", "__pycache__/x.pyc", "other.ipynb"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    found = find_lesson(course, "1").data_files
    assert [path.relative_to(folder).as_posix() for path in found] == ["data/a.csv"]


@pytest.mark.parametrize(
    "name", ["01-tiny.ipynb~", "01-tiny.ipynb.bak", ".01-tiny.ipynb.swp", "notes~", ".~lock.x#"]
)
def test_what_an_editor_keeps_is_handed_to_nobody(course: Path, name: str) -> None:
    (course / "source/01-tiny" / name).write_text("")
    assert find_lesson(course, "1").data_files == ()


@pytest.mark.parametrize("mark", ["BEGIN HIDDEN TESTS", "BEGIN SOLUTION"])
def test_a_file_with_a_region_in_it_is_handed_to_nobody(course: Path, mark: str) -> None:
    (course / "source/01-tiny/01-tiny.py").write_text(f"# %%\n### {mark}\nassert x == 4711\n")
    (course / "source/01-tiny/data.csv").write_text("1,2\n")
    assert [path.name for path in find_lesson(course, "1").data_files] == ["data.csv"]


def test_a_heading_inside_a_code_fence_is_none() -> None:
    source = "## Real\n\n```python\n# not a heading\n```\n"
    assert headings(tiny.text("t", source)) == [(2, "Real")]


def test_an_anchor_keeps_words_and_joins_them_with_hyphens() -> None:
    assert anchor("Strides, and `view`: a rule") == "strides-and-view-a-rule"


# The form of a source notebook.


def test_a_sound_notebook_has_no_findings(course: Path) -> None:
    assert causes(course, tiny.notebook()) == []


def test_a_finding_names_file_cell_cause_and_remedy(course: Path) -> None:
    notebook = tiny.notebook()
    cell(notebook, "test-double")["metadata"]["nbgrader"]["points"] = 3
    lesson = read_lesson(tiny.write(course, notebook))
    (finding,) = lint_lesson(course, lesson)
    assert str(finding) == (
        f"{lesson.source}, cell test-double: its last line does not give its points\n"
        "  End with check.score(3)."
    )


@pytest.mark.parametrize(
    ("id_", "old", "new", "cause"),
    [
        ("test-double", 'answer("double")', 'globals()["double"]', "it does not use answer()"),
        ("test-double", "### BEGIN HIDDEN TESTS\n", "", "none was begun"),
        ("test-double", "### END HIDDEN TESTS\n", "", "is never ended"),
        ("test-double", "torch.tensor", "np.array", "it uses 'np'"),
        ("test-double", "dtype-is-float", "dtype-is-flat", "Did you mean dtype-is-float?"),
        ("test-double", '"dtype-is-float"', '{"flat": 1}', "no misconception is called 'flat'"),
        ("test-double", "check.score(2)", "check.score(", "cannot be read"),
        ("double", "    ### END SOLUTION", "", "is never ended"),
        ("double", "    return x * 2\n", "", "it has no solution"),
        ("summary", "Views", "### BEGIN SOLUTION", "it holds a SOLUTION region"),
    ],
)
def test_a_slip_in_a_cell_is_found(course: Path, id_: str, old: str, new: str, cause: str) -> None:
    notebook = tiny.notebook()
    assert old in cell(notebook, id_)["source"]
    cell(notebook, id_)["source"] = cell(notebook, id_)["source"].replace(old, new)
    assert any(cause in one for one in causes(course, notebook))


def test_an_answer_that_is_no_python_is_found_with_its_line(course: Path) -> None:
    notebook = tiny.notebook()
    cell = next(one for one in notebook["cells"] if one["id"] == "flatten")
    cell["source"] = cell["source"].replace("x.numel()", "x.numel(")
    (cause,) = causes(course, notebook)
    assert cause == "it cannot be read: '(' was never closed (line 4)"


def test_a_probe_in_the_hidden_part_is_found(course: Path) -> None:
    notebook = tiny.notebook()
    probe = "### BEGIN HIDDEN TESTS\n@probe\ndef twice(f): ...\n"
    test = cell(notebook, "test-double")
    test["source"] = test["source"].replace("### BEGIN HIDDEN TESTS\n", probe)
    assert "a @probe is defined in the hidden part" in causes(course, notebook)


@pytest.mark.parametrize("missing", ["double-task", "double"])
def test_an_exercise_without_one_of_its_cells_is_found(course: Path, missing: str) -> None:
    notebook = tiny.notebook()
    notebook["cells"] = [one for one in notebook["cells"] if one["id"] != missing]
    what = {"double-task": "task", "double": "answer"}[missing]
    assert causes(course, notebook) == [f"it has no {what} cell"]


def test_an_answer_without_a_test_cell_is_found(course: Path) -> None:
    notebook = tiny.notebook()
    notebook["cells"] = [one for one in notebook["cells"] if one["id"] != "test-double"]
    assert "it belongs to the exercise 'double', which has no test cell." in causes(
        course, notebook
    )


@pytest.mark.parametrize(
    ("key", "value", "cause"),
    [
        ("difficulty", 4, "its difficulty is not 1, 2 or 3"),
        ("minutes", "long", "it does not say how many minutes it takes"),
        ("section", "dubling", "Did you mean doubling?"),
    ],
)
def test_wrong_metadata_of_a_task_is_found(
    course: Path, key: str, value: object, cause: str
) -> None:
    notebook = tiny.notebook()
    cell(notebook, "double-task")["metadata"]["course"][key] = value
    (found,) = causes(course, notebook)
    assert cause in found


def test_an_id_used_twice_is_found(course: Path) -> None:
    notebook = tiny.notebook()
    cell(notebook, "doubling")["id"] = "flattening"
    assert causes(course, notebook) == ["2 cells have the id 'flattening'"]


def test_a_grade_id_unlike_its_id_is_found(course: Path) -> None:
    notebook = tiny.notebook()
    cell(notebook, "double")["id"] = "doubles"
    assert causes(course, notebook) == ["its grade_id is 'double'"]


def test_a_first_code_cell_that_is_not_the_set_up_is_found(course: Path) -> None:
    notebook = tiny.notebook()
    notebook["cells"].insert(1, tiny.code("demo", "1 + 1", {"course": {"role": "measure"}}))
    assert causes(course, notebook) == ["it is not the set-up cell"]


def test_a_scene_runs_before_the_set_up(course: Path) -> None:
    notebook = tiny.notebook()
    scene = tiny.code("scene", "1 + 1")
    scene["metadata"]["course"] = {"role": "scene"}
    notebook["cells"].insert(1, scene)
    assert causes(course, notebook) == []


def test_a_heading_may_be_folded(course: Path) -> None:
    notebook = tiny.notebook()
    cell(notebook, "doubling")["metadata"]["jp-MarkdownHeadingCollapsed"] = True
    assert causes(course, notebook) == []


def test_outputs_in_the_source_are_found(course: Path) -> None:
    notebook = tiny.notebook()
    cell(notebook, "setup")["execution_count"] = 1
    assert causes(course, notebook) == ["it holds outputs"]


def test_what_a_run_leaves_in_the_metadata_is_found(course: Path) -> None:
    notebook = tiny.notebook()
    notebook["metadata"]["widgets"] = {"state": {}}
    cell(notebook, "setup")["metadata"]["execution"] = {"iopub.status.idle": "2026-01-10"}
    assert causes(course, notebook) == [
        "its metadata hold more than a plain kernelspec and language_info",
        "its metadata hold 'execution'",
    ]


def test_cells_out_of_order_are_found(course: Path) -> None:
    notebook = tiny.notebook()
    cells = notebook["cells"]
    cells.append(cells.pop(cells.index(cell(notebook, "double"))))
    assert causes(course, notebook) == ["its cells are out of order"]
