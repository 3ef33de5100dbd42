"""A gradebook file that is broken: the message says how to go on, and what going on costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from autograder.cli import main
from autograder.course_directory import CourseDirectory
from autograder.lessons.model import find_lesson
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_errors import GradebookError
from tests.autograder.classroom import SLUG, classroom, graded, record, tiny_lesson

REMEDY = (
    "Bring back your last backup: `autograder backup --restore FILE --force`. Without one, move "
    "the file away and run `autograder grade`: the journal brings back what was graded by machine; "
    "points and comments by hand, due dates and extensions are lost, unless the file can be mended."
)
DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "text": (lambda raw: b"these are the grades\n" * 500, "file is not a database"),
    "zeros": (lambda raw: bytes(len(raw)), "file is not a database"),
    "half": (lambda raw: raw[: len(raw) // 2], "database disk image is malformed"),
    "one page": (lambda raw: raw[:4096], "database disk image is malformed"),
    "50 bytes": (lambda raw: raw[:50], "database disk image is malformed"),
    "overwritten": (
        lambda raw: raw[:8192] + b"\xff" * (len(raw) - 8192),
        "database disk image is malformed",
    ),
    "no bytes": (lambda raw: b"", r"the file is empty \(0 bytes\), and the journal says"),
}


@pytest.fixture
def course(tmp_path: Path) -> CourseDirectory:
    course, _ = classroom(tmp_path, "ada", "bob")
    graded(course)
    return course


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_gradebook_says_how_to_go_on_and_what_it_costs(
    course: CourseDirectory, damage: str
) -> None:
    spoil, cause = DAMAGES[damage]
    path = course.root / "gradebook.db"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(GradebookError, match=cause) as caught, GradebookWriter(course) as writer:
        writer.write(record("ada"), find_lesson(course.root, SLUG))
    assert (caught.value.remedy, caught.value.place) == (REMEDY, f"sqlite:///{path}")


def test_nothing_is_promised_as_kept_that_is_lost(course: CourseDirectory) -> None:
    (course.root / "gradebook.db").write_bytes(b"no database")
    with pytest.raises(GradebookError) as caught:
        GradebookWriter(course)
    assert "Nothing is lost" not in str(caught.value)


def test_moved_away_it_is_made_again_from_the_journal(course: CourseDirectory) -> None:
    path = course.root / "gradebook.db"
    path.write_bytes(b"no database")
    path.rename(course.root / "broken.db")
    assert graded(course).trouble is None
    with GradebookWriter(course) as writer:
        assert {name: one.score for name, one in writer.entries(tiny_lesson()).items()} == {
            "ada": 6.0,
            "bob": 6.0,
        }


def test_an_empty_file_in_a_new_course_is_a_new_gradebook(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    (tmp_path / "gradebook.db").write_bytes(b"")
    assert graded(course).trouble is None


def test_a_gradebook_that_could_not_be_made_leaves_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(url: str, _: str) -> None:
        Path(url.removeprefix("sqlite:///")).touch()
        raise OperationalError("CREATE", {}, Exception("database or disk is full"))

    course, _ = classroom(tmp_path, "ada")
    (tmp_path / "gradebook.db").unlink()
    monkeypatch.setattr("autograder.nbgrader_bridge.gradebook.Gradebook", full)
    assert "Make room on the disk" in str(graded(course).trouble)
    assert not (tmp_path / "gradebook.db").exists()


def test_the_command_shows_it_and_leaves_the_file_alone(
    course: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = course.root / "gradebook.db"
    path.write_bytes(b"")
    assert main.main(["export", "--course", str(course.root), "--out", "-"]) == 1
    assert REMEDY in capsys.readouterr().err
    assert path.read_bytes() == b""
