"""Any nbgrader course's assignments are found and read, and what cannot be graded is told."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.course_directory import load_course
from autograder.errors import UnknownLesson
from autograder.lessons.assignments import find_assignment, is_python, select_assignments
from autograder.lessons.model import find_lesson
from autograder.lessons.regions import HIDDEN, split_regions
from tests.autograder import foreign, tiny

SOLVED = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
ASSERTS = (
    "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(7) == 14\n### END HIDDEN TESTS"
)


def cells() -> list[dict[str, object]]:
    return [
        foreign.answer("double", SOLVED),
        foreign.test_of("doubles", ASSERTS, 2),
        foreign.by_hand("why", "Because.", 3),
    ]


def test_a_folder_with_a_notebook_of_any_name_is_an_assignment(tmp_path: Path) -> None:
    foreign.write(tmp_path / "source" / "Week 1", "my notebook", *cells())
    (tmp_path / "source" / "empty").mkdir()
    lesson = find_assignment(load_course(tmp_path), "Week 1")
    assert (lesson.slug, lesson.notebook, lesson.points) == ("Week 1", "my notebook", 5.0)
    assert [(one.name, one.answer_id) for one in lesson.exercises] == [
        ("doubles", "double"),
        ("why", "why"),
    ]


def test_what_learners_get_is_what_nbgrader_makes_of_it(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        "c.ClearSolutions.code_stub = {'python': '...  # yours'}\n"
        "c.ClearSolutions.begin_solution_delimeter = '(('\n"
        "c.ClearSolutions.end_solution_delimeter = '))'\n"
        "c.ClearHiddenTests.begin_test_delimeter = '[['\n"
        "c.ClearHiddenTests.end_test_delimeter = ']]'\n"
    )
    marked = SOLVED.replace("### BEGIN SOLUTION", "# ((").replace("### END SOLUTION", "# ))")
    hidden = "assert double(1) == 2\n# [[\nassert double(7) == 14\n# ]]"
    folder = tmp_path / "source" / "ps1"
    foreign.write(folder, "p", foreign.answer("double", marked), foreign.test_of("t", hidden, 1))
    lesson = find_assignment(load_course(tmp_path), "ps1")
    (exercise,) = lesson.exercises
    assert exercise.stub == "def double(x):\n    ...  # yours"
    assert exercise.given is not None
    assert exercise.given.tests == "assert double(1) == 2"
    assert exercise.test_source == hidden
    assert split_regions(exercise.test_source, HIDDEN, lesson.marks)[1] == [
        "assert double(7) == 14"
    ]


def test_with_marks_of_its_own_a_course_has_no_lesson_of_ours(tmp_path: Path) -> None:
    course = tiny.build(tmp_path)
    assert find_assignment(load_course(course), tiny.SLUG).prepared is None
    (course / "nbgrader_config.py").write_text(
        "c = get_config()\nc.ClearSolutions.begin_solution_delimeter = 'BEGIN S'\n"
    )
    assert find_assignment(load_course(course), tiny.SLUG).prepared is not None


def test_the_header_of_a_course_is_in_each_notebook(tmp_path: Path) -> None:
    config = "c = get_config()\nc.IncludeHeaderFooter.header = 'source/header.ipynb'\n"
    (tmp_path / "nbgrader_config.py").write_text(config)
    foreign.write(tmp_path / "source", "header", foreign.cell("top", "import math", locked=True))
    foreign.write(tmp_path / "source" / "ps1", "p", *cells())
    found = find_assignment(load_course(tmp_path), "ps1").cells()
    assert next(iter(found))["source"] == "import math"


def test_an_assignment_of_several_notebooks_names_exercises_by_them(tmp_path: Path) -> None:
    for name in ("part two", "one"):
        foreign.write(tmp_path / "source" / "ps1", name, *cells())
    lesson = find_assignment(load_course(tmp_path), "ps1")
    assert [part.notebook for part in lesson.notebooks] == ["one", "part two"]
    assert [one.test_id for one in lesson.exercises] == [
        *("one.doubles", "one.why", "part two.doubles", "part two.why")
    ]
    assert lesson.points == 10.0


def test_a_lesson_of_ours_beside_it_is_read_as_one(tmp_path: Path) -> None:
    tiny.build(tmp_path)
    foreign.write(tmp_path / "source" / "ps1", "p", *cells())
    found = select_assignments(load_course(tmp_path))
    assert [(one.slug, one.prepared is None) for one in found.lessons] == [
        (tiny.SLUG, True),
        ("ps1", False),
    ]
    assert find_assignment(load_course(tmp_path), "tiny").slug == tiny.SLUG


@pytest.mark.parametrize("slug", [tiny.SLUG, "ps1"])
def test_what_nbgrader_keeps_back_is_given_to_no_submission(tmp_path: Path, slug: str) -> None:
    tiny.build(tmp_path)
    folder = tmp_path / "source" / slug
    if slug == "ps1":
        foreign.write(folder, "p", *cells())
    for name in ("data.csv", "keys.csv", "notes.txt", "keys/more.csv", "more/data.csv"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("1")
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\n"
        "c.CourseDirectory.ignore.append('keys*')\n"
        "c.CourseDirectory.include = ['*.ipynb', '*.csv']\n"
    )
    read = [find_assignment(load_course(tmp_path), slug)]
    if slug == tiny.SLUG:
        read.append(find_lesson(tmp_path, slug))
    for lesson in read:
        names = {one.relative_to(folder).as_posix() for one in lesson.data_files}
        assert names == {"data.csv", "more/data.csv"}


REFUSED = {
    "test-v0-invalid": "cell 17",
    "too-new": "newer nbgrader",
    "blank-grade-id": "grade_id is empty",
    "blank-points": "'id1' does not have points",
    "duplicate-grade-ids": "Duplicate grade id: id1",
    "bad-markdown-cell-1": "'foo' is not marked as a solution cell",
}


def fixture(name: str) -> Path:
    found = [folder / f"{name}.ipynb" for folder in (foreign.FILES, foreign.MORE_FILES)]
    return next(path for path in found if path.is_file())


@pytest.mark.parametrize("name", REFUSED)
def test_a_source_that_nbgrader_refuses_stops_no_other(tmp_path: Path, name: str) -> None:
    foreign.write(tmp_path / "source" / "good", "p", *cells())
    (tmp_path / "source" / "bad").mkdir()
    shutil.copy(fixture(name), tmp_path / "source" / "bad")
    found = select_assignments(load_course(tmp_path))
    assert [one.slug for one in found.lessons] == ["good"]
    (error,) = found.refused
    assert REFUSED[name] in error.cause
    assert error.place is not None and error.place.endswith(f"{name}.ipynb")
    assert error.remedy


@pytest.mark.parametrize("version", ["v0", "v1", "v2"])
def test_older_metadata_are_brought_up_to_date_in_memory(tmp_path: Path, version: str) -> None:
    source = tmp_path / "source" / "ps1" / "p.ipynb"
    source.parent.mkdir(parents=True)
    shutil.copy(fixture(f"test-{version}"), source)
    before = source.read_bytes()
    assert find_assignment(load_course(tmp_path), "ps1").points == 6.0
    assert source.read_bytes() == before


def test_another_language_is_refused_with_what_grades_it(tmp_path: Path) -> None:
    kernel = {"display_name": "R", "language": "R", "name": "ir"}
    foreign.write(tmp_path / "source" / "ps1", "p", *cells(), kernelspec=kernel)
    course = load_course(tmp_path)
    (error,) = select_assignments(course).refused
    assert "its cells are in R" in error.cause
    assert error.remedy == "Grade it with `nbgrader autograde ps1`."
    assert not is_python(course, "ps1")


def test_a_kernel_of_another_name_is_python_all_the_same(tmp_path: Path) -> None:
    kernel = {"display_name": "Course", "language": "python", "name": "conda-env-course"}
    foreign.write(tmp_path / "source" / "ps1", "p", *cells(), kernelspec=kernel)
    assert is_python(load_course(tmp_path), "ps1")
    assert find_assignment(load_course(tmp_path), "ps1").points == 5.0


def test_a_name_that_no_assignment_has_is_answered_with_those_there_are(tmp_path: Path) -> None:
    foreign.write(tmp_path / "source" / "ps1", "p", *cells())
    (tmp_path / "source" / "ps2").mkdir()
    with pytest.raises(UnknownLesson, match="Did you mean ps1") as unknown:
        find_assignment(load_course(tmp_path), "ps11")
    assert unknown.value.remedy == "There are: ps1."
    with pytest.raises(UnknownLesson, match="it holds no notebook"):
        find_assignment(load_course(tmp_path), "ps2")


def test_a_course_without_assignments_is_told_where_they_belong(tmp_path: Path) -> None:
    with pytest.raises(UnknownLesson, match="there are no lessons") as absent:
        select_assignments(load_course(tmp_path))
    assert "course directory" in str(absent.value.remedy)
    (tmp_path / "source").mkdir()
    with pytest.raises(UnknownLesson, match="no folder with a notebook"):
        select_assignments(load_course(tmp_path))
