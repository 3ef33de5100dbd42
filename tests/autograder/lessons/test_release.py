"""Both editions are built from the source alone, and nothing secret is in the class edition."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pytest
from nbgrader.preprocessors import ClearSolutions

from autograder.errors import LessonError, ReleaseError
from autograder.lessons.model import Lesson, find_lesson, lesson_paths, read_lesson
from autograder.lessons.regions import RegionError, secrets, split_regions, stubbed, without_markers
from autograder.lessons.release import (
    build_release,
    check_release,
    class_editions,
    refuse_leaks,
    refuse_unsound,
    stable_bytes,
    write_release,
)
from autograder.lessons.self_study import self_study_edition
from tests.autograder import tiny

REPOSITORY = Path(__file__).parents[3]
CLASS, SELF_STUDY = "01-tiny/01-tiny.ipynb", "self-study/01-tiny.ipynb"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tiny.build(tmp_path_factory.mktemp("course"))
    (course / "source/01-tiny/data").mkdir()
    (course / "source/01-tiny/data/numbers.csv").write_text("1,2\n")
    return course


@pytest.fixture(scope="module")
def lesson(course: Path) -> Lesson:
    return find_lesson(course, "1")


@pytest.fixture(scope="module")
def built(course: Path, lesson: Lesson) -> dict[str, bytes]:
    return build_release(course, [lesson])


@pytest.fixture
def own_course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


def cells(notebook: bytes | dict[str, Any]) -> dict[str, dict[str, Any]]:
    content = json.loads(notebook) if isinstance(notebook, bytes) else notebook
    return {one["id"]: {**one, "source": "".join(one["source"])} for one in content["cells"]}


# The class edition.


def test_the_class_edition_holds_stubs_and_visible_tests(built: dict[str, bytes]) -> None:
    found = cells(built[CLASS])
    assert found["double"]["source"].endswith("# YOUR CODE HERE\n    raise NotImplementedError()")
    assert "check.unchanged" in found["test-double"]["source"]
    assert "check.dtype" not in found["test-double"]["source"]


def test_no_secret_line_is_in_the_bytes_of_the_class_edition(
    lesson: Lesson, built: dict[str, bytes]
) -> None:
    hidden = secrets(cell["source"] for cell in lesson.cells())
    assert "secret_of_flatten = x.numel()" in hidden
    assert 'misconception="order-of-memory",' in hidden
    published = {
        line.strip() for one in cells(built[CLASS]).values() for line in one["source"].split("\n")
    }
    assert not published & set(hidden)
    for word in (b"secret_of_flatten", b"hidden_seen", b"order-of-memory", b"dtype-is-float"):
        assert word not in built[CLASS]


@pytest.mark.parametrize("slug", lesson_paths(REPOSITORY))
def test_no_secret_line_of_the_course_is_in_its_committed_class_edition(slug: str) -> None:
    lesson = read_lesson(lesson_paths(REPOSITORY)[slug])
    released = REPOSITORY / "release" / slug / f"{slug}.ipynb"
    refuse_leaks(lesson, released.read_bytes())


@pytest.mark.parametrize("where", ["source", "metadata", "id"])
def test_a_secret_line_that_is_published_stops_the_release(
    lesson: Lesson, built: dict[str, bytes], where: str
) -> None:
    notebook = json.loads(built[CLASS])
    line = "secret_of_flatten = x.numel()"
    notebook["cells"][0][where] = {"source": [line], "metadata": {"course": line}, "id": line}[
        where
    ]
    with pytest.raises(ReleaseError, match="would publish a line"):
        refuse_leaks(lesson, stable_bytes(notebook))


def test_the_same_source_gives_the_same_bytes(
    course: Path, lesson: Lesson, built: dict[str, bytes]
) -> None:
    assert class_editions(course, [lesson])[CLASS] == built[CLASS]
    text = built[CLASS].decode()
    assert text.endswith("}\n")
    assert text == json.dumps(json.loads(text), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_released_cells_keep_their_ids_and_hold_no_outputs(
    lesson: Lesson, built: dict[str, bytes]
) -> None:
    found = cells(built[CLASS])
    assert list(found) == [cell["id"] for cell in lesson.cells()]
    assert not any(one.get("outputs") or one.get("execution_count") for one in found.values())


def test_nothing_of_a_run_reaches_the_release() -> None:
    run = tiny.notebook()
    run["metadata"]["widgets"] = {"state": {"7": {"state": {"value": "x"}}}}
    run["metadata"]["language_info"]["version"] = "3.12.1"
    for one in run["cells"]:
        one["metadata"] |= {"execution": {"shell.execute_reply": "now"}, "scrolled": True}
        if one["cell_type"] == "code":
            one.update(outputs=[{"output_type": "stream"}], execution_count=3)
    assert stable_bytes(run) == stable_bytes(tiny.notebook())


def test_a_build_leaves_no_gradebook_behind(course: Path, built: dict[str, bytes]) -> None:
    assert not list(course.rglob("*.db"))


def test_data_files_go_with_both_editions(built: dict[str, bytes]) -> None:
    assert built["01-tiny/data/numbers.csv"] == built["self-study/data/numbers.csv"] == b"1,2\n"


@pytest.mark.parametrize(
    "source",
    [
        tiny.FLATTEN,
        "def f():\n    pass",
        "### BEGIN SOLUTION\nx = 1\n### END SOLUTION",
        "a = 1\n  ### BEGIN SOLUTION\n  b = 2\n  ### END SOLUTION\nc = 3\n"
        "### BEGIN SOLUTION\n### END SOLUTION",
    ],
)
def test_a_stub_is_what_nbgrader_makes_of_the_cell(source: str) -> None:
    from nbformat.v4 import new_code_cell

    cell = new_code_cell(source, metadata={"nbgrader": {"solution": True}})
    ClearSolutions().preprocess_cell(cell, {"language": "python"}, 0)
    assert stubbed(source) == cell.source


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("a\n### BEGIN SOLUTION", "SOLUTION begun in line 2 is never ended"),
        ("### END SOLUTION", "line 1 ends SOLUTION, but none was begun"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION", "line 2 begins SOLUTION inside"),
    ],
)
def test_a_marker_without_its_partner_is_named(source: str, cause: str) -> None:
    with pytest.raises(RegionError, match=cause):
        split_regions(source, "SOLUTION")


def test_a_notebook_that_breaks_the_form_is_not_released(own_course: Path) -> None:
    notebook = tiny.notebook()
    notebook["cells"][0]["id"] = "setup"
    lesson = read_lesson(tiny.write(own_course, notebook))
    with pytest.raises(LessonError, match="2 cells have the id 'setup'"):
        build_release(own_course, [lesson])


def test_what_is_wrong_in_several_lessons_is_told_at_once(own_course: Path) -> None:
    notebook = tiny.notebook()
    notebook["cells"][0]["id"] = "setup"
    lesson = read_lesson(tiny.write(own_course, notebook))
    read: list[str] = []
    with pytest.raises(LessonError) as refused:
        refuse_unsound(own_course, [lesson, lesson], done=read.append)
    assert str(refused.value).count("2 cells have the id 'setup'") == 2
    assert read == [lesson.slug, lesson.slug]


def test_what_nbgrader_refuses_is_passed_on(own_course: Path) -> None:
    notebook = tiny.notebook()
    setup = next(cell for cell in notebook["cells"] if cell["id"] == "setup")
    setup["source"] += "\n### BEGIN SOLUTION\n### END SOLUTION"
    lesson = read_lesson(tiny.write(own_course, notebook))
    with pytest.raises(ReleaseError, match="Solution region detected in a non-solution cell"):
        class_editions(own_course, [lesson])


# Drift.


def test_a_release_that_was_just_written_has_not_drifted(
    course: Path, built: dict[str, bytes]
) -> None:
    assert set(write_release(course, built)) == {f"release/{name}" for name in built}
    assert write_release(course, built) == []
    assert check_release(course, built) == []


def test_drift_names_changed_missing_and_stray_files(
    own_course: Path, built: dict[str, bytes]
) -> None:
    write_release(own_course, built)
    (own_course / "release" / CLASS).write_text("{}")
    (own_course / "release" / SELF_STUDY).unlink()
    (own_course / "release/01-tiny/notes.txt").write_text("mine")
    for name in ("course/lessons/gone/claims.toml", "autograder/answers/02-gone.py"):
        (own_course / name).parent.mkdir(parents=True, exist_ok=True)
        (own_course / name).touch()
    found = {one.path: one.kind for one in check_release(own_course, built)}
    assert found == {
        f"release/{CLASS}": "changed",
        f"release/{SELF_STUDY}": "missing",
        "release/01-tiny/notes.txt": "stray",
        "autograder/answers/02-gone.py": "stray",
        "course/lessons/gone": "stray",
    }


def test_lessons_that_were_not_built_are_not_stray(
    own_course: Path, built: dict[str, bytes]
) -> None:
    tiny.build(own_course, "02-tiny")
    write_release(own_course, {**built, "02-tiny/02-tiny.ipynb": b"{}"})
    (own_course / "source/01-tiny/data").mkdir()
    (own_course / "source/01-tiny/data/numbers.csv").write_text("1,2\n")
    assert check_release(own_course, built) == []


# The self-study edition.


def test_all_tests_are_there_unmarked_and_folded(built: dict[str, bytes]) -> None:
    test = cells(built[SELF_STUDY])["test-double"]
    assert test["source"].startswith('#@title Checks: double { display-mode: "form" }\n')
    assert "check.dtype(whole.result, torch.int64" in test["source"]
    assert test["metadata"]["jupyter"] == {"source_hidden": True}
    assert test["metadata"]["cellView"] == "form"


def test_no_marker_and_no_nbgrader_metadata_is_left(built: dict[str, bytes]) -> None:
    text = built[SELF_STUDY].decode()
    assert "### " not in text.replace("### Flatten a tensor", "").replace("### Double a tensor", "")
    assert "nbgrader" not in text


def test_a_folded_solution_follows_the_tests_of_its_exercise(built: dict[str, bytes]) -> None:
    found = cells(built[SELF_STUDY])
    ids = list(found)
    assert ids[ids.index("test-double") + 1] == "double-solution"
    solution = found["double-solution"]["source"]
    assert solution.startswith("<details><summary>A solution of double</summary>\n\n```python\n")
    assert "    return x * 2\n```\n\n</details>" in solution


def test_a_test_cell_is_the_sources_own_under_a_title(lesson: Lesson) -> None:
    source = cells(self_study_edition(lesson))["test-double"]["source"]
    own = without_markers(lesson.exercise("double").test_source)
    told = "check.score(2, place=(2, 2), then='Summary', complete=True)"
    assert source.split("\n")[1:] == own.replace("check.score(2)", told).split("\n")


def test_the_class_edition_counts_checks_and_knows_its_place(course: Path, lesson: Lesson) -> None:
    notebook = json.loads(class_editions(course, [lesson])["01-tiny/01-tiny.ipynb"])
    test = cells(notebook)["test-double"]
    assert "check.score(2, place=(2, 2), then='Summary')" in "".join(test["source"])
    assert test["metadata"]["jupyter"] == {"source_hidden": True}


def test_the_last_cell_knows_every_exercise_with_its_points(lesson: Lesson) -> None:
    notebook = self_study_edition(lesson)
    assert notebook["cells"][-1]["id"] == "your-progress"
    called: dict[str, Any] = {}
    exec(
        notebook["cells"][-1]["source"],
        {"__builtins__": {**vars(builtins), "__import__": lambda *asked: Recorder(called)}},
    )
    assert called == {
        "lesson": "01-tiny",
        "points": {"flatten": 4, "double": 2},
        "action": "show",
    }


class Recorder:
    """Stands for the module that the last cell imports from."""

    def __init__(self, called: dict[str, Any]) -> None:
        self.called = called

    def lesson_progress(self, lesson: str, points: dict[str, float], **more: Any) -> None:
        self.called.update(lesson=lesson, points=points, **more)
