"""One database for every command: none is made by reading, and none is taken for another."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course_directory import CourseDirectory, load_course
from autograder.formgrader import GradingService
from autograder.nbgrader_bridge.database_address import OtherGradebook, address_of, remembered
from autograder.nbgrader_bridge.gradebook import GradebookReader
from autograder.nbgrader_bridge.gradebook_errors import NoGradebook
from tests.autograder.classroom import SLUG, FakeRunner, classroom, empty_gradebook, graded

READING = ["feedback", "report", "export"]
Captured = pytest.CaptureFixture[str]


def elsewhere(root: Path) -> str:
    """The address of a second gradebook, beside the course."""
    file = root.parent / f"{root.name}-other.db"
    file.write_bytes(empty_gradebook())
    return f"sqlite:///{file}"


def graded_elsewhere(root: Path) -> str:
    """Grade into a gradebook that only `--db` names; its address."""
    classroom(root, "ada")
    (root / "gradebook.db").unlink()
    graded(load_course(root, db=(url := elsewhere(root))))
    return url


def configured(root: Path, url: str) -> None:
    """Write the address into the course's configuration."""
    text = f"c = get_config()\nc.CourseDirectory.db_url = {url!r}\n"
    (root / "nbgrader_config.py").write_text(text)


def run(*words: object) -> int:
    return main.main([str(word) for word in words])


@pytest.mark.parametrize("command", READING)
def test_reading_makes_no_gradebook(tmp_path: Path, command: str, capsys: Captured) -> None:
    course, _ = classroom(tmp_path, "ada")
    graded(course)
    (tmp_path / "gradebook.db").unlink()
    assert run(command, "--course", tmp_path) == 1
    printed = capsys.readouterr().err
    assert f"{tmp_path / 'gradebook.db'}: there is no gradebook here\n" in printed
    assert "Run `autograder grade`, which makes it, also anew from the journal." in printed
    assert not (tmp_path / "gradebook.db").exists()


@pytest.mark.parametrize("command", READING)
def test_reading_makes_no_tables(tmp_path: Path, command: str) -> None:
    classroom(tmp_path, "ada")
    (tmp_path / "gradebook.db").write_bytes(b"")
    assert run(command, "--course", tmp_path) == 1
    assert (tmp_path / "gradebook.db").read_bytes() == b""


@pytest.mark.exhaustive("nbgrader's own commands")
@pytest.mark.parametrize("command", READING)
def test_reading_changes_no_byte_of_the_gradebook(tmp_path: Path, command: str) -> None:
    course, _ = classroom(tmp_path, "ada")
    graded(course)
    (tmp_path / "gradebook.db").chmod(0o444)
    before = (tmp_path / "gradebook.db").read_bytes()
    assert run(command, "--course", tmp_path) == 0
    assert (tmp_path / "gradebook.db").read_bytes() == before


@pytest.mark.parametrize("command", [*READING, "grade"])
def test_a_command_without_the_address_says_where_the_grades_are(
    tmp_path: Path, command: str, capsys: Captured
) -> None:
    url = graded_elsewhere(tmp_path)
    assert run(command, "--course", tmp_path) == 2
    printed = capsys.readouterr().err
    assert f"the grades of this course are in {url}, and this command would use" in printed
    assert f"Add --db {url}, or write c.CourseDirectory.db_url into nbgrader_config.py" in printed
    assert not (tmp_path / "gradebook.db").exists()


@pytest.mark.parametrize("command", READING)
def test_every_command_takes_the_address(tmp_path: Path, command: str) -> None:
    url = graded_elsewhere(tmp_path)
    assert run(command, "--course", tmp_path, "--db", url) == 0
    assert not (tmp_path / "gradebook.db").exists()


@pytest.mark.parametrize("command", READING)
def test_an_address_in_the_configuration_holds_for_every_command(
    tmp_path: Path, command: str
) -> None:
    configured(tmp_path, graded_elsewhere(tmp_path))
    assert run(command, "--course", tmp_path) == 0
    assert not (tmp_path / "gradebook.db").exists()


def test_collect_reads_names_from_the_same_gradebook(tmp_path: Path, capsys: Captured) -> None:
    url = graded_elsewhere(tmp_path)
    with sqlite3.connect(url.removeprefix("sqlite:///")) as book:
        book.execute("UPDATE student SET first_name = 'Ada', last_name = 'Lovelace'")
    archive = tmp_path / "handed-in.zip"
    notebook = tmp_path / "submitted/ada" / SLUG / f"{SLUG}.ipynb"
    name = f"Ada Lovelace_7_assignsubmission_file/{SLUG}.ipynb"
    import zipfile

    with zipfile.ZipFile(archive, "w") as file:
        file.write(notebook, name)
    assert run("collect", archive, "--course", tmp_path) == 2
    assert "the grades of this course are in" in capsys.readouterr().err
    assert run("collect", archive, "--course", tmp_path, "--db", url) == 0


def test_a_course_moves_to_another_gradebook_when_told_to(tmp_path: Path) -> None:
    graded(classroom(tmp_path, "ada")[0])
    moved = load_course(tmp_path, db=elsewhere(tmp_path))
    result = graded(moved, runner := FakeRunner())
    assert (result.trouble, runner.ran) == (None, [])
    assert remembered(moved) == address_of(moved)
    with pytest.raises(OtherGradebook):
        GradebookReader(load_course(tmp_path))


def test_a_course_directory_can_be_moved(tmp_path: Path) -> None:
    graded(classroom(tmp_path / "here", "ada")[0])
    shutil.move(tmp_path / "here", tmp_path / "there")
    assert remembered(load_course(tmp_path / "there")) == "sqlite:///gradebook.db"
    assert run("report", "--course", tmp_path / "there") == 0


def test_the_password_is_never_written_down(tmp_path: Path) -> None:
    course = CourseDirectory(
        tmp_path, load_course(tmp_path, db="postgresql://me:secret@host/x?password=two").config
    )
    assert address_of(course) == "postgresql://me@host/x"


def test_driver_and_password_make_no_other_address(tmp_path: Path) -> None:
    urls = ("postgresql://me@host/x", "postgres://me:pw@host/x", "postgresql+psycopg://me@host/x")
    assert len({address_of(load_course(tmp_path, db=url)) for url in urls}) == 1


def test_a_file_that_the_configuration_names_lies_in_the_course(tmp_path: Path) -> None:
    configured(tmp_path, "sqlite:///grades.db")
    assert load_course(tmp_path).db_url == f"sqlite:///{tmp_path / 'grades.db'}"


def test_formgrader_with_another_gradebook_is_told_so(tmp_path: Path) -> None:
    graded_elsewhere(tmp_path)
    service = GradingService(lambda _: FakeRunner())
    default = f"sqlite:///{tmp_path / 'gradebook.db'}"
    answer = asyncio.run(service.autograde(tmp_path, default, SLUG, "ada"))
    assert answer["success"] is False
    assert "the grades of this course are in" in answer["error"]
    assert not (tmp_path / "gradebook.db").exists()


def test_a_gradebook_that_is_a_directory_is_explained_when_read(tmp_path: Path) -> None:
    classroom(tmp_path)
    (tmp_path / "gradebook.db").unlink()
    (tmp_path / "gradebook.db").mkdir()
    with pytest.raises(Exception, match=r"(?s)unable to open.*permission") as caught:
        GradebookReader(load_course(tmp_path))
    assert not isinstance(caught.value, NoGradebook)
