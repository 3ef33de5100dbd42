"""Cell by cell the points of stock `nbgrader autograde`, over all assignments that come with it."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from autograder.course_directory import CourseDirectory, load_course
from autograder.environment import own_programs_first
from autograder.errors import LessonError
from autograder.grading.pipeline import grade
from autograder.lessons.assignments import find_assignment, select_assignments
from autograder.nbgrader_bridge.table_version import table_version_in_process
from autograder.submissions.discovery import find_submissions
from tests.autograder import foreign
from tests.autograder.engine.exam import engine

pytestmark = [
    pytest.mark.exhaustive("stock nbgrader beside ours, over its own assignments"),
    pytest.mark.needs("sandbox"),
    pytest.mark.timeout(1800),  # some 25 kernels, one after the other
    pytest.mark.filterwarnings(  # nbgrader leaves its kernels to Python
        "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]
ENDLESS = ("infinite-loop", "infinite-loop-with-output")
OLD = ("test-v0", "test-v1", "test-v2")  # stock asks for `nbgrader update`
SINGLE = "submitted-unchanged"  # the source of what else is called submitted-…
AUTOTESTS = ("autotest-hashed", "autotest-hidden")  # nbgrader's own suite has the others
Cells = dict[tuple[str, str], tuple[float | None, bool, float]]


def fixtures() -> dict[str, Path]:
    """Notebooks of nbgrader, by a name of their own with a blank in it; some have their own course.

    Those of automatic tests, and those that are handed in for one of them, are graded as that.
    """
    paths = [*foreign.FILES.glob("*.ipynb"), *foreign.MORE_FILES.glob("*.ipynb")]
    found = {f"{one.parents[1].name} {one.stem}": one for one in sorted(paths)}
    return {
        name: one
        for name, one in found.items()
        if not one.stem.startswith(("autotest-", "submitted-")) and one.stem not in (*ENDLESS, *OLD)
    }


def put(source: Path, *folders: Path, name: str) -> None:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, folder / f"{name}.ipynb")


def assignments_in(folder: Path) -> dict[str, Path]:
    """Those fixtures that are an assignment by themselves: they are taken, and have points."""
    found = {}
    for name, path in fixtures().items():
        put(path, folder / "source" / name, name=name)
    shutil.copy(foreign.FILES / "autotests.yml", folder)
    for lesson in select_assignments(load_course(folder)).lessons:
        if lesson.exercises:
            found[lesson.slug] = fixtures()[lesson.slug]
    return found


def build(root: Path, chosen: dict[str, Path]) -> list[tuple[str, str]]:
    """A course of four assignments; who handed in which of them."""
    shutil.copy(foreign.FILES / "autotests.yml", root)
    for name in ("source", "submitted"):
        shutil.copytree(foreign.USER_GUIDE / name, root / name)
    source, submitted = root / "source", root / "submitted"
    for name, path in chosen.items():
        put(path, source / "each", submitted / "itself" / "each", name=name)
    put(foreign.FILES / f"{SINGLE}.ipynb", source / "single", name="p")
    for path in foreign.FILES.glob("submitted-*.ipynb"):
        put(path, submitted / path.stem / "single", name="p")
    for name in AUTOTESTS:
        put(foreign.FILES / f"{name}.ipynb", source / "tests", name=name)
        for ending in ("unchanged", "changed", "changed-right", "changed-wrong"):
            handed_in = foreign.FILES / f"{name}-{ending}.ipynb"
            if handed_in.is_file():
                put(handed_in, submitted / ending / "tests", name=name)
    return sorted((one.parent.name, one.name) for one in submitted.glob("*/*"))


def stock(root: Path, handed_in: list[tuple[str, str]]) -> None:
    config = Config()
    config.CourseDirectory.root = str(root)
    api = NbGraderAPI(config=config)
    before = Path.cwd()
    os.chdir(root)  # where nbgrader looks for the templates of automatic tests
    try:
        with warnings.catch_warnings(), table_version_in_process():
            warnings.simplefilter("ignore")  # nbgrader's own, of SQLAlchemy
            for assignment in sorted({one for _, one in handed_in}):
                made = api.generate_assignment(assignment)
                assert made["success"], made["log"]
            for student, assignment in handed_in:
                assert api.autograde(assignment, student)["success"], (student, assignment)
    finally:
        os.chdir(before)


def cells_of(course: CourseDirectory, student: str, assignment: str) -> Cells:
    with Gradebook(course.db_url, course.course_id) as gradebook:
        return {
            (notebook.name, one.name): (one.auto_score, one.needs_manual_grade, one.max_score)
            for notebook in gradebook.find_submission(assignment, student).notebooks
            for one in notebook.grades
        }


def test_every_cell_has_the_points_of_stock_autograde(tmp_path: Path) -> None:
    own_programs_first()
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, tmp_path / "alone"):
        folder.mkdir()
    chosen = assignments_in(tmp_path / "alone")
    assert len(chosen) >= 10
    handed_in = build(ours, chosen)
    shutil.copytree(ours, theirs)

    course = load_course(ours)
    lessons = tuple(find_assignment(course, one) for one in sorted({one for _, one in handed_in}))
    assert grade(course, find_submissions(course, lessons), engine(patient=True)).trouble is None
    stock(theirs, handed_in)

    differing = {}
    for student, assignment in handed_in:
        mine, other = (cells_of(load_course(one), student, assignment) for one in (ours, theirs))
        if mine != other:
            differing[student, assignment] = {
                key: (mine.get(key), other.get(key))
                for key in sorted(mine.keys() | other)
                if mine.get(key) != other.get(key)
            }
    assert differing == {}


def test_what_ours_refuses_nbgrader_refuses_too(tmp_path: Path) -> None:
    """All but the notebooks in another language, which are none of the fixtures."""
    own_programs_first()
    shutil.copy(foreign.FILES / "autotests.yml", tmp_path)
    for name, path in fixtures().items():
        put(path, tmp_path / "source" / name, name=name)
    refused = select_assignments(load_course(tmp_path)).refused
    config = Config()
    config.CourseDirectory.root = str(tmp_path)
    api = NbGraderAPI(config=config)
    for error in refused:
        assert isinstance(error, LessonError) and error.place
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert not api.generate_assignment(Path(error.place).parent.name)["success"]
