"""Settings of nbgrader's that say who is graded, what comes along and whose the files are."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from autograder.cli import grade as command
from autograder.course_directory import CourseDirectory, CourseDirectoryError, load_course
from tests.autograder import foreign
from tests.autograder.classroom import SLUG, FakeRunner, classroom, graded


def configured(root: Path, *lines: str) -> CourseDirectory:
    """The course at `root` with these settings."""
    text = "\n".join(["c = get_config()", *(f"c.{one}" for one in lines)])
    (root / "nbgrader_config.py").write_text(text)
    return load_course(root)


def commanded(root: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[str]]:
    """What `grade` ends with, and whom it ran."""
    runner = FakeRunner()
    monkeypatch.setattr(command, "choose_runner", lambda *_, **__: runner)
    _, lesson = load_course(root), classroom(root)[1]
    return command.run(root, (lesson,)), runner.ran


@pytest.mark.parametrize(
    ("setting", "ran", "left_out"),
    [
        ("student_id_exclude = 'bob,cy'", ["ada"], "bob, cy"),
        ("student_id = '[ab]*'", ["ada", "bob"], "cy"),
    ],
)
def test_whom_the_configuration_leaves_out_is_not_graded_and_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    setting: str,
    ran: list[str],
    left_out: str,
) -> None:
    classroom(tmp_path, "ada", "bob", "cy")
    configured(tmp_path, f"CourseDirectory.{setting}")
    assert commanded(tmp_path, monkeypatch) == (0, ran)
    assert f"left out, as nbgrader_config.py says: {left_out}\n" in capsys.readouterr().err


def test_where_students_are_not_created_only_those_who_are_known_are_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    classroom(tmp_path, "ada", "bob")
    (tmp_path / "students.csv").write_text("id,first_name,last_name,email\nada,,,\n")
    configured(tmp_path, "Autograde.create_student = False")
    assert commanded(tmp_path, monkeypatch) == (1, ["ada"])
    said = capsys.readouterr().err
    assert "neither gradebook nor students.csv knows them: bob" in said

    configured(tmp_path, "Autograde.create_student = True")
    assert commanded(tmp_path, monkeypatch) == (0, ["bob"])


@pytest.mark.parametrize(
    ("settings", "file", "folder"),
    [
        ((), 0o444, None),
        (("CourseDirectory.groupshared = True",), 0o664, 0o2770),
        (("AutogradeApp.permissions = 640",), 0o640, None),
        (("Autograde.permissions = 600",), 0o600, None),
    ],
)
def test_files_in_autograded_have_the_permissions_that_nbgrader_gives_them(
    tmp_path: Path, settings: tuple[str, ...], file: int, folder: int | None
) -> None:
    course, _ = classroom(tmp_path, "ada")
    (course.submitted("ada", SLUG) / "more").mkdir()
    (course.submitted("ada", SLUG) / "more" / "data.txt").write_text("1")
    course = configured(tmp_path, *settings)
    graded(course)
    graded(course, regrade=True)  # the folder of before can be replaced
    found = course.autograded("ada", SLUG)
    paths = [path for path in found.rglob("*") if path.is_file()]
    assert {path.name for path in paths} == {f"{SLUG}.ipynb", "data.txt", "timestamp.txt"}
    assert {path.stat().st_mode & 0o777 for path in paths} == {file}
    if folder is not None:
        folders = (found, found / "more", found.parent, course.root / "autograded")
        assert [one.stat().st_mode & folder for one in folders] == [folder] * 4


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ((), {"data.txt"}),
        (("CourseDirectory.ignore.append('*.txt')",), set()),
        (("CourseDirectory.ignore = ['deep']",), {"data.txt", "old.pyc", "page.html"}),
    ],
)
def test_files_that_nbgrader_ignores_do_not_come_along(
    tmp_path: Path, settings: tuple[str, ...], kept: set[str]
) -> None:
    course, _ = classroom(tmp_path, "ada")
    folder = course.submitted("ada", SLUG)
    (folder / "timestamp.txt").unlink()
    for name in ("data.txt", "old.pyc", "feedback/page.html"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("1")
    course = configured(tmp_path, *settings)
    graded(course)
    names = {path.name for path in course.autograded("ada", SLUG).rglob("*") if path.is_file()}
    assert names - {f"{SLUG}.ipynb"} == kept


def test_executed_notebooks_that_somebody_deleted_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    graded(course)
    shutil.rmtree(course.autograded("ada", SLUG))
    assert commanded(tmp_path, monkeypatch) == (0, [])
    said = capsys.readouterr().err
    assert "no longer in autograded/: ada; `autograder grade 01-tiny --regrade` makes" in said


def test_files_of_a_source_that_nbgrader_ignores_are_none_of_the_assignments(
    tmp_path: Path,
) -> None:
    from autograder.lessons.assignments import find_assignment

    folder = tmp_path / "source" / "ps1"
    foreign.write(folder, "p", foreign.test_of("t", "assert True", 1))
    for name in ("data.csv", "old.pyc"):
        (folder / name).write_text("1")
    found = find_assignment(load_course(tmp_path), "ps1")
    assert [path.name for path in found.data_files] == ["data.csv"]


def test_the_users_own_configuration_holds_and_the_courses_wins(tmp_path: Path) -> None:
    own = Path(os.environ["JUPYTER_CONFIG_DIR"]) / "nbgrader_config.py"
    own.parent.mkdir(parents=True, exist_ok=True)
    lines = ("course_id = 'mine'", "db_url = 'sqlite:////somewhere/book.db'")
    own.write_text("\n".join(["c = get_config()", *(f"c.CourseDirectory.{one}" for one in lines)]))
    try:
        course = configured(tmp_path, "CourseDirectory.course_id = 'the course'")
        assert course.course_id == "the course"
        assert course.db_url == "sqlite:////somewhere/book.db"
        (tmp_path / "nbgrader_config.py").unlink()
        assert load_course(tmp_path).course_id == "mine"

        own.write_text(f"{own.read_text()}\nc.CourseDirectory.root = '/another/course'")
        assert load_course(tmp_path).db_url == f"sqlite:///{tmp_path}/gradebook.db"
        course = configured(tmp_path, "CourseDirectory.db_url = 'sqlite:///own.db'")
        assert course.db_url == f"sqlite:///{tmp_path}/own.db"
        (tmp_path / "nbgrader_config.py").unlink()
        own.write_text("c = get_config()\nc.X = 1 / 0")
        with pytest.raises(Exception, match=r"nbgrader_config\.py: cannot be run"):
            load_course(tmp_path)
    finally:
        own.unlink()


def test_a_configuration_that_names_its_course_leads_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, below = tmp_path / "course", tmp_path / "below"
    for folder in (course, below):
        folder.mkdir()
    configured(course, "CourseDirectory.course_id = 'the course'")
    (below / "nbgrader_config.py").write_text("c.CourseDirectory.root = '../course'")
    monkeypatch.chdir(below)
    found = load_course(Path())
    assert (found.root, found.course_id) == (course, "the course")
    assert found.db_url == f"sqlite:///{course}/gradebook.db"
    assert load_course(below).root == below  # a person named it

    (below / "nbgrader_config.py").write_text("c.CourseDirectory.root = '/no/course'")
    with pytest.raises(CourseDirectoryError, match=r"/no/course: .* names it"):
        load_course(Path())


def test_steps_of_a_courses_own_are_not_run_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    classroom(tmp_path, "ada")
    configured(
        tmp_path,
        "Autograde.sanitize_preprocessors = ['nbgrader.preprocessors.ClearOutput', 'own.Strip']",
        "Autograde.autograde_preprocessors.append('own.AddBonus')",
    )
    assert commanded(tmp_path, monkeypatch) == (0, ["ada"])
    said = capsys.readouterr().err
    assert "not run: Strip, AddBonus, which nbgrader_config.py adds to autograde" in said
