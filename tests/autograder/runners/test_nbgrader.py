"""The runner on stock nbgrader: its points, our checks, and one bad notebook costs only itself."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import LessonError
from autograder.lessons.model import find_lesson
from autograder.lessons.regions import stubbed
from autograder.records.model import Status, SubmissionRecord
from autograder.records.runner import Job
from autograder.runners.nbgrader import StockRunner, _explain
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, answered, classroom, graded, hand_in

pytestmark = pytest.mark.exhaustive("stock nbgrader underneath")

COPIES = "def flatten(x):\n    return x.clone().reshape(-1)"
STUB = stubbed(tiny.FLATTEN)


def repeated() -> dict[str, Any]:
    """A notebook in which the test cell of `flatten` stands twice."""
    notebook = answered()
    test = next(cell for cell in notebook["cells"] if cell["id"] == "test-flatten")
    notebook["cells"].append({**test, "id": "again"})
    return notebook


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> CourseDirectory:
    """A class of five, graded by stock nbgrader; a kernel takes two seconds."""
    course, _ = classroom(tmp_path_factory.mktemp("stock"))
    hand_in(course.root, "ada", answered(flatten=COPIES), "2026-01-10 12:00:00 UTC")
    hand_in(course.root, "bob", answered(flatten=STUB))
    hand_in(course.root, "cleo", answered(flatten="import os; os._exit(1)"))
    hand_in(course.root, "dan", "{ no json")
    hand_in(course.root, "eve", repeated())
    assert graded(course, StockRunner(jobs=2)).trouble is None  # type: ignore[arg-type]
    return course


def record_of(course: CourseDirectory, student: str) -> SubmissionRecord:
    """The journal's record of a student."""
    from autograder.records.journal import Journal

    entry = Journal(course.state).read(SLUG, student)
    assert entry is not None
    return entry.record


def test_partial_points_come_with_the_checks_behind_them(stock: CourseDirectory) -> None:
    found = record_of(stock, "ada")
    flatten, double = found.exercises
    assert (found.status, flatten.score, double.score) == (Status.GRADED, 3.2, 2.0)
    assert [one.misconception for one in flatten.failed] == ["reshape-always-copies"]
    assert [one.hidden for one in flatten.checks] == [False, False, True, True, False]
    assert flatten.checks[1].layouts


def test_it_says_that_nothing_was_isolated(stock: CourseDirectory) -> None:
    found = record_of(stock, "ada")
    assert (found.runner, found.sandboxed) == ("stock", False)
    assert not any(one.isolated for one in found.exercises)


def test_an_untouched_stub_is_not_attempted(stock: CourseDirectory) -> None:
    flatten, double = record_of(stock, "bob").exercises
    assert (flatten.score, flatten.attempted) == (0.0, False)
    assert (double.score, double.attempted) == (2.0, True)


@pytest.mark.parametrize(
    ("student", "status"),
    [
        ("cleo", Status.CRASHED),
        ("dan", Status.MALFORMED),
    ],
)
def test_a_broken_notebook_has_a_status_and_costs_nobody_else(
    stock: CourseDirectory, student: str, status: Status
) -> None:
    found = record_of(stock, student)
    assert found.status == status
    assert found.notes
    assert {one.status for one in found.exercises} == {status}


def test_a_repeated_test_cell_is_put_right_and_noted(stock: CourseDirectory) -> None:
    found = record_of(stock, "eve")  # nbgrader alone refuses the notebook (its issue 1083)
    assert (found.status, found.score, found.max) == (Status.GRADED, 6.0, 6.0)
    assert found.notes == ("`test-flatten` stood there more than once; the copy was left out.",)


def rows_of(course: CourseDirectory) -> dict[str, Any]:
    """What the gradebook says of `ada`."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        submission = gradebook.find_submission(SLUG, "ada")
        (notebook,) = submission.notebooks
        grades = [{**one.to_dict(), "id": 0} for one in notebook.grades]
        comments = [{**one.to_dict(), "id": 0} for one in notebook.comments]
        about = {**submission.to_dict(), "id": 0, "timestamp": submission.timestamp}
        by_name = {"key": lambda one: one["name"]}
        return about | {
            "grades": sorted(grades, **by_name),
            "comments": sorted(comments, **by_name),
        }


def test_our_rows_in_the_gradebook_are_those_of_nbgrader_autograde(
    stock: CourseDirectory, tmp_path: Path
) -> None:
    shutil.copytree(stock.root / "source", tmp_path / "source")
    shutil.copytree(stock.root / "submitted" / "ada", tmp_path / "submitted" / "ada")
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    theirs = NbGraderAPI(config=config)
    assert theirs.generate_assignment(SLUG)["success"]
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader's own, of SQLAlchemy
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
        assert theirs.autograde(SLUG, "ada")["success"]
    assert rows_of(stock) == rows_of(load_course(tmp_path))


def test_nbgrader_makes_its_own_feedback_from_our_notebooks(stock: CourseDirectory) -> None:
    config = Config()
    config.CourseDirectory.root = str(stock.root)
    config.CourseDirectory.feedback_directory = "their-feedback"
    config.CourseDirectory.db_url = stock.db_url
    answer = NbGraderAPI(config=config).generate_feedback(SLUG, "ada")
    assert answer["success"], answer.get("error") or answer.get("log")
    page = stock.root / "their-feedback" / "ada" / SLUG / f"{SLUG}.html"
    assert "Score: 5.2 / 6.0" in page.read_text()


def test_a_set_up_cell_that_fails_is_never_a_zero(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path)
    source, own = (
        json.dumps(one).replace("import torch\\n", "import no_such_module\\n", 1)
        for one in (tiny.notebook(), answered())
    )
    tiny.write(tmp_path, source)
    hand_in(tmp_path, "ada", json.loads(own))
    done = graded(course, StockRunner())  # type: ignore[arg-type]
    assert done.records[0].status is Status.INFRASTRUCTURE
    assert "setup failed: ModuleNotFoundError" in done.records[0].notes[0]


def test_a_lesson_that_nbgrader_cannot_release_is_an_error_of_the_lesson(tmp_path: Path) -> None:
    classroom(tmp_path, "ada")
    tiny.write(tmp_path, json.dumps(tiny.notebook()).replace("### END SOLUTION", "###"))
    job = Job("ada", find_lesson(tmp_path, SLUG), tmp_path, tmp_path)
    with pytest.raises(LessonError, match="nbgrader cannot release it"):
        list(StockRunner().run_many([job]))


def test_the_grader_itself_stays_in_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread of it reads files by relative paths while the first lesson is prepared."""
    classroom(tmp_path, "ada")
    went: list[object] = []
    monkeypatch.setattr("os.chdir", went.append)
    job = Job("ada", find_lesson(tmp_path, SLUG), tmp_path, tmp_path)
    assert [one.record.student for one in StockRunner().run_many([job])] == ["ada"]
    assert went == []


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("nbclient.exceptions.DeadKernelError: Kernel died", Status.CRASHED),
        ("UnresponsiveKernelError", Status.TIMEOUT),
        ("OSError: No space left on device", Status.INFRASTRUCTURE),
    ],
)
def test_a_failure_of_nbgrader_becomes_a_status(text: str, status: Status) -> None:
    assert _explain(text)[0] is status
