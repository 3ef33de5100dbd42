"""A lesson goes through nbgrader's exchange and comes back with our feedback.

Two users with homes, Jupyter directories and configurations of their own, and one exchange between
them.  Every step is the real command, in a process of its own:

    instructor  generate_assignment, release_assignment    →  learner     fetch_assignment
    learner     solves one of two exercises, submit        →  instructor  collect
    instructor  autograder grade, autograder feedback, release_feedback
    learner     fetch_feedback
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.nbgrader_bridge.exchange import TOKENS
from tests.autograder import tiny
from tests.autograder.tiny import SLUG

pytestmark = [pytest.mark.needs("sandbox"), pytest.mark.exhaustive("nbgrader's exchange")]

ROOT = Path(__file__).parents[2]
COURSE_ID = "pytorch-measured"
ANSWER = "def flatten(x):\n    return x.reshape(-1)"
SECRET_OF_THE_SOURCE = ("secret_of_flatten", "hidden_seen", "order-of-memory")


@dataclass(frozen=True)
class User:
    """Somebody with a home, a working directory and an environment of their own."""

    home: Path
    work: Path

    def run(self, module: str, *words: str) -> str:
        """What the command prints; a command that fails fails the test with its words."""
        command = [sys.executable, "-m", module, *words]
        done = subprocess.run(
            command, cwd=self.work, env=self._environment(), capture_output=True, text=True
        )
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def _environment(self) -> dict[str, str]:
        own = {
            "HOME": str(self.home),
            "JUPYTER_CONFIG_DIR": str(self.home / "config"),
            "JUPYTER_DATA_DIR": str(self.home / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.home / "runtime"),
            "IPYTHONDIR": str(self.home / "ipython"),
            "PYTHONPATH": str(ROOT),
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "OMP_NUM_THREADS": "1",
        }
        return own


@dataclass(frozen=True)
class Exchanged:
    """The two users after everything has gone through."""

    instructor: User
    learner: User
    exchange: Path

    @property
    def fetched(self) -> Path:
        """The notebook in the learner's directory."""
        return self.learner.work / SLUG / f"{SLUG}.ipynb"

    @property
    def page(self) -> Path:
        """The feedback page that the learner fetched."""
        (page,) = (self.learner.work / SLUG / "feedback").rglob("*.html")
        return page


def user(home: Path, work: Path, exchange: Path, more: str = "") -> User:
    """A user whose own nbgrader configuration names the exchange."""
    (home / "config").mkdir(parents=True)
    work.mkdir(exist_ok=True)
    settings = f"c = get_config()\nc.Exchange.root = {str(exchange)!r}\n{more}"
    (home / "config" / "nbgrader_config.py").write_text(settings)
    return User(home, work)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Exchanged:
    """Everything, once."""
    root = tmp_path_factory.mktemp("exchange")
    exchange = root / "exchange"
    exchange.mkdir()
    course = tiny.build(root / "course")
    shutil.copy(ROOT / "nbgrader_config.py", course)
    # Both are the same user of the operating system here, which nbgrader would take for cheating.
    same_owner = "c.ExchangeCollect.check_owner = False\n"
    ada = f"c.CourseDirectory.student_id = 'ada'\nc.CourseDirectory.course_id = '{COURSE_ID}'\n"
    instructor = user(root / "instructor", course, exchange, same_owner)
    learner = user(root / "ada", root / "ada" / "work", exchange, ada)
    both = Exchanged(instructor, learner, exchange)
    go_through(both)
    return both


def go_through(both: Exchanged) -> None:
    instructor, learner = both.instructor, both.learner
    instructor.run("nbgrader", "generate_assignment", SLUG)
    instructor.run("nbgrader", "release_assignment", SLUG)
    learner.run("nbgrader", "fetch_assignment", SLUG)
    shutil.copy(both.fetched, learner.home / "as-fetched.ipynb")
    solve(both.fetched)
    learner.run("nbgrader", "submit", SLUG)
    instructor.run("nbgrader", "collect", SLUG)
    instructor.run("autograder", "grade", SLUG, "--jobs", "1")
    instructor.run("autograder", "feedback", SLUG)
    instructor.run("nbgrader", "release_feedback", SLUG)
    learner.run("nbgrader", "fetch_feedback", SLUG)


def solve(notebook: Path) -> None:
    """Answer the first of the two exercises."""
    content = json.loads(notebook.read_text())
    (cell,) = [cell for cell in content["cells"] if cell["id"] == "flatten"]
    cell["source"] = ANSWER
    notebook.write_text(json.dumps(content))


def test_the_learner_fetches_no_solution_and_no_hidden_test(done: Exchanged) -> None:
    fetched = (done.learner.home / "as-fetched.ipynb").read_text()
    assert "raise NotImplementedError()" in fetched
    assert [word for word in SECRET_OF_THE_SOURCE if word in fetched] == []


def test_the_submission_arrives_with_its_time_and_its_secret(done: Exchanged) -> None:
    submitted = done.instructor.work / "submitted" / "ada" / SLUG
    assert json.loads((submitted / f"{SLUG}.ipynb").read_text())["cells"][5]["source"] == ANSWER
    assert all((submitted / name).is_file() for name in TOKENS)


def test_the_engine_grades_what_was_collected(done: Exchanged) -> None:
    entry = done.instructor.work / ".autograder" / "journal" / SLUG / "ada.json"
    record = json.loads(entry.read_text())["record"]
    assert (record["status"], record["runner"], record["score"]) == ("graded", "engine", 4.0)
    assert [one["attempted"] for one in record["exercises"]] == [True, False]


def test_the_gradebook_that_nbgrader_made_holds_the_points(done: Exchanged) -> None:
    with sqlite3.connect(done.instructor.work / "gradebook.db") as gradebook:
        points = gradebook.execute("select auto_score from grade").fetchall()
    gradebook.close()
    assert sorted(points) == [(0.0,), (4.0,)]


def test_the_learner_fetches_the_page_that_we_wrote(done: Exchanged) -> None:
    ours = done.instructor.work / "feedback" / "ada" / SLUG / f"{SLUG}.html"
    assert done.page.read_bytes() == ours.read_bytes()
    assert "Flatten a tensor" in done.page.read_text()


def test_the_page_shows_the_learners_answer_and_nothing_hidden(done: Exchanged) -> None:
    page = done.page.read_text()
    assert "return x.reshape(-1)" in page
    assert [word for word in SECRET_OF_THE_SOURCE[:2] if word in page] == []


def test_nobody_can_guess_where_the_page_lies(done: Exchanged) -> None:
    (released,) = (done.exchange / COURSE_ID / "feedback").iterdir()
    secret = (done.instructor.work / "submitted/ada" / SLUG / "submission_secret.txt").read_text()
    assert len(secret) == 128
    assert "ada" not in released.name
    assert len(released.stem) >= 32
