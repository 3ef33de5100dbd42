"""The gradebook on a real PostgreSQL: Debian's, started for the test and stopped after it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import create_engine, inspect

from autograder.cli import main
from autograder.course_directory import CourseDirectory, load_course
from autograder.grading.backup import back_up
from autograder.grading.restore import restore
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_errors import GradebookError
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    classroom,
    flatten,
    graded,
    record,
    tiny_lesson,
)
from tests.machine import postgresql

pytest.importorskip("psycopg", reason="pip install 'psycopg[binary]'")
pytestmark = pytest.mark.needs("postgresql")


def owner() -> str | None:
    """Whom to run the server as: it refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """The directory with the socket of a running server."""
    bin_, user = postgresql(), owner()
    assert bin_ is not None
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has 107 bytes
    if user:
        shutil.chown(folder, user)
    data = str(folder / "data")

    def run(*command: str) -> None:
        subprocess.run(command, user=user, check=True, capture_output=True, cwd=folder, timeout=120)

    run(str(bin_ / "initdb"), "-D", data, "-A", "trust", "-U", "teacher", "-E", "UTF8", "-N")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    log = str(folder / "log")
    run(str(bin_ / "pg_ctl"), "-D", data, "-l", log, "-w", "-o", options, "start")
    try:
        yield folder
    finally:
        run(str(bin_ / "pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder)


@pytest.fixture
def course(server: Path, tmp_path: Path) -> CourseDirectory:
    """A course directory whose gradebook is an empty schema of that server."""
    import psycopg

    name = f"book{abs(hash(tmp_path)):x}"
    with psycopg.connect(f"host={server} user=teacher dbname=postgres", autocommit=True) as link:
        link.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
    classroom(tmp_path, "ada", "bob")
    (tmp_path / "gradebook.db").unlink()
    return load_course(tmp_path, db=f"postgresql://teacher@/{name}?host={server}")


@pytest.mark.exhaustive("nbgrader's own commands")
def test_a_class_is_graded_into_postgresql(course: CourseDirectory) -> None:
    runner = FakeRunner(lambda job: record(job.student, flatten(3.0)))
    assert graded(course, runner).trouble is None
    with GradebookWriter(course) as writer:
        found = writer.entries(tiny_lesson())
    assert {name: one.score for name, one in found.items()} == {"ada": 3.0, "bob": 3.0}
    assert found["ada"].submitted_at == "2026-01-10T12:00:00"
    assert not (course.root / "gradebook.db").exists()


def test_a_regrade_on_postgresql_replaces_points_and_runs_twice_alike(
    course: CourseDirectory,
) -> None:
    graded(course, FakeRunner(lambda job: record(job.student, flatten(1.0))))
    graded(course, FakeRunner(), regrade=True)
    assert graded(course).trouble is None
    with GradebookWriter(course) as writer:
        assert writer.entries(tiny_lesson())["bob"].score == 6.0


def test_a_broken_transaction_on_postgresql_leaves_nothing(
    course: CourseDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    graded(course)
    monkeypatch.setattr(GradebookWriter, "_penalise", lambda *_: 1 / 0)
    with GradebookWriter(course) as writer:
        with pytest.raises(ZeroDivisionError):
            writer.write(record("cleo"), classroom(course.root)[1])
        assert "cleo" not in writer.names()


def test_penalties_on_postgresql_follow_the_due_date_and_are_not_rounded(
    course: CourseDirectory,
) -> None:
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    third = FakeRunner(lambda job: record(job.student, flatten(10 / 3)))
    graded(course, third)
    for due, move in (
        ("2026-01-09", "ada 0 → 3.33, bob 0 → 3.33"),
        ("2026-01-11", "ada 3.33 → 0"),
    ):
        with Gradebook(course.db_url, course.course_id) as gradebook:
            gradebook.update_or_create_assignment(SLUG, duedate=due)
        (news,) = graded(course, third).news
        assert move in news
        assert graded(course, third).news == ()
    assert third.ran == ["ada", "bob"]


def test_an_extension_on_postgresql_is_honoured(course: CourseDirectory) -> None:
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    (course.root / "students.csv").write_text("id,extension_1\nada,3 days\n")
    graded(course)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.update_or_create_assignment(SLUG, duedate="2026-01-09")
    graded(course)
    with GradebookWriter(course) as writer:
        found = writer.entries(tiny_lesson())
    assert (found["ada"].score, found["bob"].score) == (6.0, 0.0)


@pytest.mark.parametrize("command", ["feedback", "report", "export"])
def test_reading_an_empty_database_makes_no_tables(course: CourseDirectory, command: str) -> None:
    words = [command, "--course", str(course.root), "--db", course.db_url]
    assert main.main(words) == 1
    engine = create_engine(course.db_url)
    assert inspect(engine).get_table_names() == []
    engine.dispose()


@pytest.mark.parametrize("command", ["feedback", "report", "export"])
def test_every_command_reads_postgresql_and_none_takes_a_file_for_it(
    course: CourseDirectory, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    graded(course)
    words = [command, "--course", str(course.root)]
    assert main.main(words) == 2
    assert "the grades of this course are in postgresql://teacher@" in capsys.readouterr().err
    assert main.main([*words, "--db", course.db_url]) == 0
    assert not (course.root / "gradebook.db").exists()


def test_a_server_that_is_not_there_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    classroom(tmp_path)
    nowhere = load_course(tmp_path, db=f"postgresql+psycopg://teacher@/x?host={tmp_path}")
    with pytest.raises(GradebookError, match=r"(?s)connection.*server is running"):
        GradebookWriter(nowhere)


def test_points_by_hand_in_postgresql_come_back_from_a_backup(
    course: CourseDirectory, tmp_path: Path
) -> None:
    graded(course)
    with GradebookWriter(course) as writer, writer._transaction() as gradebook:
        gradebook.update_or_create_assignment(SLUG, duedate="2026-01-09 12:00:00 UTC")
        gradebook.grant_extension(SLUG, "ada", days=2)
        gradebook.find_grade("test-flatten", SLUG, SLUG, "ada").manual_score = 3.5
    with GradebookWriter(course) as writer:
        before = writer.entries(tiny_lesson())
    back_up(course, tmp_path / "kept.zip")
    with GradebookWriter(course) as writer, writer._transaction() as gradebook:
        gradebook.find_grade("test-flatten", SLUG, SLUG, "ada").manual_score = 0.0
    restore(course, tmp_path / "kept.zip", force=True)
    into_a_file = load_course(course.root, db=f"sqlite:///{tmp_path / 'other.db'}")
    restore(into_a_file, tmp_path / "kept.zip", force=True)
    for where in (course, into_a_file):
        with GradebookWriter(where) as writer:
            assert writer.entries(tiny_lesson()) == before
    assert before["ada"].points["test-flatten"] == 3.5
