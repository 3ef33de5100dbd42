"""Every fixture notebook of nbgrader that stock nbgrader can grade gets the same points from us."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import nbgrader
import pytest

from autograder.environment import own_programs_first
from autograder.lessons.model import Lesson, read_lesson
from autograder.records.model import Status, SubmissionRecord
from autograder.records.runner import Job
from autograder.runners.nbgrader import StockRunner
from tests.autograder.engine.exam import engine

FILES = Path(nbgrader.__file__).parent / "tests"
APPS, PREPROCESSORS = FILES / "apps" / "files", FILES / "preprocessors" / "files"
pytestmark = pytest.mark.exhaustive("nbgrader's own fixtures, graded by it and by us")

SMALL = ("submitted-unchanged", "submitted-changed", "submitted-grade-cell-changed")
# source: what was handed in for it
PAIRS = {
    APPS / "submitted-unchanged": [
        *(APPS / name for name in (*SMALL, "submitted-locked-cell-changed")),
        APPS / "submitted-cheat-attempt",
        APPS / "submitted-cheat-attempt-alternative",
        PREPROCESSORS / "submitted-answer-cell-type-changed",
        PREPROCESSORS / "submitted-grade-cell-type-changed",
    ],
    APPS / "test": [APPS / "test", APPS / "test-with-output"],
    APPS / "test-hidden-tests": [APPS / "test-hidden-tests"],
    APPS / "open_relative_file": [APPS / "open_relative_file"],
    APPS / "validation-zero-points": [APPS / "validation-zero-points"],
    APPS / "validating-environment-variable": [APPS / "validating-environment-variable"],
    PREPROCESSORS / "manually-graded-code-cell": [PREPROCESSORS / "manually-graded-code-cell"],
    PREPROCESSORS / "test_taskcell": [PREPROCESSORS / "test_taskcell"],
    APPS / "autotest-simple": [
        APPS / "autotest-simple-changed",
        APPS / "autotest-simple-unchanged",
    ],
    APPS / "autotest-multi": [APPS / "autotest-multi-changed", APPS / "autotest-multi-unchanged"],
    APPS / "autotest-hidden": [
        APPS / "autotest-hidden-changed-right",
        APPS / "autotest-hidden-changed-wrong",
        APPS / "autotest-hidden-unchanged",
    ],
}

Records = dict[str, list[SubmissionRecord]]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Records]:
    own_programs_first()
    root = tmp_path_factory.mktemp("fixtures")
    lessons = {path: _lesson(root, number, path) for number, path in enumerate(PAIRS, 1)}
    jobs = [_job(lessons[path], one) for path, pair in PAIRS.items() for one in pair]
    runs = (StockRunner(2).run_many(jobs), engine().run_many(jobs))
    found: Records = {job.student: [] for job in jobs}
    for run in runs:
        for outcome in run:
            found[outcome.record.student].append(outcome.record)
    yield found


def _lesson(root: Path, number: int, source: Path) -> Lesson:
    slug = f"{number:02d}-fixture"
    folder = root / "source" / slug
    folder.mkdir(parents=True)
    shutil.copy(APPS / "data.txt", folder)
    shutil.copy(APPS / "autotests.yml", folder)
    notebook = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    notebook.metadata.kernelspec = {"display_name": "", "language": "python", "name": "python3"}
    path = folder / f"{slug}.ipynb"
    nbformat.write(notebook, path)
    return read_lesson(path)


def _job(lesson: Lesson, handed_in: Path) -> Job:
    path = handed_in.with_suffix(".ipynb")
    return Job(f"{handed_in.parent.parent.name} {handed_in.name}", lesson, path, path.parent)


NAMES = [f"{path.parent.parent.name} {path.name}" for pair in PAIRS.values() for path in pair]


@pytest.mark.parametrize("name", NAMES)
def test_a_fixture_gets_the_points_of_stock_nbgrader(records: Records, name: str) -> None:
    stock, ours = records[name]
    assert ours.status is Status.GRADED
    if stock.status is Status.GRADED:
        assert [(e.id, e.score, e.max, e.manual) for e in ours.exercises] == [
            (e.id, e.score, e.max, e.manual) for e in stock.exercises
        ]


def test_stock_nbgrader_can_grade_nearly_all_fixtures(records: Records) -> None:
    graded = [name for name in NAMES if records[name][0].status is Status.GRADED]
    assert len(graded) >= 18
