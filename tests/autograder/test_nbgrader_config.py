"""What nbgrader_config.py sets, and who wins: the command line, then you and your site, then we."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from nbgrader.apps import NbGrader
from traitlets.config import Config

from autograder.course_directory import load_course

ROOT = Path(__file__).parents[2]
HERE = (ROOT / "nbgrader_config.py").read_text()


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course directory with our configuration, for somebody who has none of their own."""
    monkeypatch.delenv("PYTORCH_MEASURED_COURSE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "mine"))
    monkeypatch.setattr("jupyter_core.paths.SYSTEM_CONFIG_PATH", [str(tmp_path / "site")])
    for name in ("course", "mine", "site"):
        (tmp_path / name).mkdir()
    (tmp_path / "course" / "nbgrader_config.py").write_text(HERE)
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path / "course"


def settings(*words: str) -> Config:
    """What a command of nbgrader works with when these words follow it."""
    app = NbGrader()
    app.initialize(list(words))
    app.config.CourseDirectory.db_url = app.coursedir.db_url
    found: Config = app.config
    return found


def say(folder: Path, *lines: str) -> None:
    (folder / "nbgrader_config.py").write_text("\n".join(["c = get_config()", *lines]))


def test_alone_the_course_has_a_name_a_gradebook_and_a_limit(course: Path) -> None:
    found = settings()
    assert found.CourseDirectory.course_id == "pytorch-measured"
    assert found.CourseDirectory.db_url == f"sqlite:///{course}/gradebook.db"
    assert found.Execute.timeout == 30


def test_the_gradebook_moves_with_the_course_directory(course: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    found = settings(f"--course-dir={elsewhere}").CourseDirectory
    assert (found.root, found.db_url) == (str(elsewhere), f"sqlite:///{elsewhere}/gradebook.db")


def test_the_command_line_names_another_gradebook(course: Path) -> None:
    assert settings("--db=sqlite:////tmp/x.db").CourseDirectory.db_url == "sqlite:////tmp/x.db"


@pytest.mark.parametrize("who", ["mine", "site"])
def test_what_the_site_or_the_user_sets_wins(course: Path, tmp_path: Path, who: str) -> None:
    course_id, db, limit = "phys101", "postgresql://db/grades", 90
    lines = [f"c.CourseDirectory.course_id = {course_id!r}", f"c.CourseDirectory.db_url = {db!r}"]
    say(tmp_path / who, *lines, f"c.Execute.timeout = {limit}")
    found = settings()
    assert (found.CourseDirectory.course_id, found.CourseDirectory.db_url) == (course_id, db)
    assert found.Execute.timeout == limit


def test_the_user_wins_over_the_site(course: Path, tmp_path: Path) -> None:
    say(tmp_path / "site", "c.CourseDirectory.course_id = 'site'")
    say(tmp_path / "mine", "c.CourseDirectory.course_id = 'mine'")
    assert settings().CourseDirectory.course_id == "mine"


def test_our_own_commands_work_in_the_gradebook_that_nbgrader_uses(
    course: Path, tmp_path: Path
) -> None:
    say(tmp_path / "site", "c.CourseDirectory.db_url = 'sqlite:////srv/grades.db'")
    assert (
        load_course(course).db_url
        == settings().CourseDirectory.db_url
        == "sqlite:////srv/grades.db"
    )


def test_a_site_cannot_publish_hidden_tests_or_move_the_course(
    course: Path, tmp_path: Path
) -> None:
    say(
        tmp_path / "site",
        "c.GenerateFeedback.preprocessors = ['nbgrader.preprocessors.GetGrades']",
        "c.CourseDirectory.root = '/srv/another'",
    )
    found = settings()
    assert (
        "autograder.nbgrader_bridge.feedback_steps.WithholdHiddenTests"
        in found.GenerateFeedback.preprocessors
    )
    assert found.CourseDirectory.root == str(course)


def test_a_copy_of_it_in_the_users_folder_does_not_read_itself(
    course: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine" / "nbgrader_config.py").write_text(HERE)
    assert settings().CourseDirectory.root == str(course)


def test_nbgrader_is_as_talkative_as_anywhere(course: Path) -> None:
    assert "log_level" not in settings().Application


def test_what_nbgrader_logs_does_not_rewrite_the_terminal(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = NbGrader()
    app.initialize([])
    try:
        app.log.warning("Copying %s -> %s\n  in two lines", "a\x1b[2Jb", "c\rd")
        try:
            raise ValueError("e\x1b[2Jf")
        except ValueError:
            app.log.exception("There was an error")
    finally:
        for handler in list(app.log.handlers):  # it writes to what is captured in this test
            app.log.removeHandler(handler)
    said = capsys.readouterr().err
    assert "a\N{REPLACEMENT CHARACTER}[2Jb" in said and "d\n" in said and "[2Jf" in said
    assert "in two lines" in said and not {"\x1b", "\r"} & set(said)


@pytest.mark.parametrize("folder", ["", "docs", "source/04-memory-layout"])
@pytest.mark.parametrize(
    "name", ["gradebook.db", "gradebook.db-journal", "submitted/ada/x", "autograded/ada/x"]
)
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_ignores_what_nbgrader_leaves_wherever_it_was_started(
    folder: str, name: str, tmp_path: Path
) -> None:
    # A repository of its own: a course that was downloaded as an archive is none.
    shutil.copy(ROOT / ".gitignore", tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    path = os.path.join(folder, name)
    assert subprocess.run(["git", "check-ignore", "-q", path], cwd=tmp_path).returncode == 0
