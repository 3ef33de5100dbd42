"""What a database says becomes a cause, a place and a remedy; nothing needs a database for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import InvalidEntry
from sqlalchemy.exc import ArgumentError, OperationalError, ProgrammingError

from autograder.course_directory import load_course
from autograder.nbgrader_bridge.gradebook import GradebookReader, enrolled
from autograder.nbgrader_bridge.gradebook_errors import GradebookError, NoGradebook, explained
from tests.autograder import tiny
from tests.autograder.classroom import classroom

HOLDS = "Another program holds it; close it (formgrader, a database browser)."
ROOM = "Make room on the disk."
PERMISSION = "Give yourself the permission to write to the file and its directory."
UPGRADE = "It is of another nbgrader: back it up and run `nbgrader db upgrade`."
SERVER = "See that the server is running and that the address and the password are right."
KEPT = "Nothing is lost: the journal keeps what was graded, the next `grade` enters it."


def explanation(root: Path, error: Exception, db: str | None = None) -> GradebookError:
    """What a user is told where the database raises `error`."""
    course = load_course(tiny.build(root), db=db)
    with pytest.raises(GradebookError) as caught, explained(course):
        raise error
    return caught.value


def refusal(words: str, kind: type[OperationalError] = OperationalError) -> Exception:
    """What SQLAlchemy raises where the database answers with `words`."""
    return kind("SELECT", {}, Exception(words))


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        ("database is LOCKED", HOLDS),
        ("database or disk is full", ROOM),
        ("disk I/O error", ROOM),
        ("attempt to write a readonly database", PERMISSION),
        ("/srv: Read-Only file system", PERMISSION),
        ("unable to open database file", PERMISSION),
        ("no such column: grade.x", UPGRADE),
        ("no such table: grade", UPGRADE),
        ("connection refused", SERVER),
    ],
)
def test_what_a_database_refuses_has_a_remedy(tmp_path: Path, words: str, remedy: str) -> None:
    said = explanation(tmp_path, refusal(f"{words}\nand more"))
    assert said.cause == f"the gradebook refused: {words}"
    assert said.place == f"sqlite:///{tmp_path / 'gradebook.db'}"
    assert said.remedy == f"{remedy} {KEPT}"


@pytest.mark.parametrize(
    ("error", "cause", "remedy"),
    [
        (
            ModuleNotFoundError("No module named 'psycopg'"),
            "No module named 'psycopg'",
            "Install the database's driver, for PostgreSQL `pip install 'psycopg[binary]'`.",
        ),
        (
            ArgumentError("Could not parse URL"),
            "Could not parse URL",
            "Write --db sqlite:///FILE or postgresql://USER@HOST/NAME.",
        ),
        (ProgrammingError("SELECT", {}, Exception("odd")), "odd", "See the cause above."),
        (InvalidEntry(""), "InvalidEntry", "See the cause above."),
    ],
    ids=["driver", "address", "other", "without words"],
)
def test_an_error_that_is_none_of_the_database_has_a_remedy(
    tmp_path: Path, error: Exception, cause: str, remedy: str
) -> None:
    said = explanation(tmp_path, error)
    assert said.cause == f"the gradebook refused: {cause}"
    assert said.remedy == f"{remedy} {KEPT}"


def test_an_address_is_named_without_its_password(tmp_path: Path) -> None:
    said = explanation(tmp_path, refusal("gone"), db="postgresql://me:secret@host/x")
    assert said.place == "postgresql+psycopg://me:***@host/x"


@pytest.mark.parametrize("name", ["gradebook.db", "nowhere/gradebook.db"])
def test_where_there_is_no_gradebook_a_reader_says_what_makes_one_and_makes_none(
    tmp_path: Path, name: str
) -> None:
    course = load_course(tiny.build(tmp_path), db=f"sqlite:///{tmp_path / name}")
    with pytest.raises(NoGradebook) as caught:
        GradebookReader(course)
    assert caught.value.cause == "there is no gradebook here"
    assert caught.value.place == f"sqlite:///{tmp_path / name}"
    assert caught.value.remedy == (
        "Run `autograder grade`, which makes it, also anew from the journal. If the grades are "
        "elsewhere, add --db URL."
    )
    assert enrolled(course) == {}
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("reads", ["names", "entries"])
def test_a_database_that_fails_while_it_is_read_is_explained(tmp_path: Path, reads: str) -> None:
    course, lesson = classroom(tmp_path)
    with GradebookReader(course) as reader:
        (tmp_path / "gradebook.db").write_bytes(b"something else entirely" * 100)
        with pytest.raises(GradebookError, match="file is not a database"):
            reader.names() if reads == "names" else reader.entries(lesson)
