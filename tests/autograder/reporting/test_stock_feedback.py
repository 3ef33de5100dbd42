"""The pages of `nbgrader generate_feedback` hold no hidden line, and the step before them none."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbconvert.filters import strip_ansi
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.model import Lesson, all_lessons, find_lesson
from autograder.nbgrader_bridge.feedback_steps import WithholdHiddenTests
from autograder.nbgrader_bridge.registration import register
from autograder.reporting.feedback import hidden_in_tests

ROOT = Path(__file__).parents[3]
LESSONS = all_lessons(ROOT)


@pytest.fixture
def course(tmp_path: Path) -> CourseDirectory:
    """A course directory with our configuration and a gradebook."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    return load_course(tmp_path)


def autograded(lesson: Lesson) -> dict[str, Any]:
    """A notebook that was graded, with a traceback through each test cell."""
    content: dict[str, Any] = json.loads(lesson.source.read_text())
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["metadata"].get("nbgrader", {}).get("grade") and cell["cell_type"] == "code":
            cell["outputs"] = [quoting(cell["source"])]
    return content


def write_autograded(course: CourseDirectory, lesson: Lesson) -> None:
    """Put Ada's submission where nbgrader finds it graded."""
    register(lesson, course)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission(lesson.slug, "ada")
    folder = course.autograded("ada", lesson.slug)
    folder.mkdir(parents=True)
    (folder / f"{lesson.slug}.ipynb").write_text(json.dumps(autograded(lesson)))


def quoting(source: str) -> dict[str, Any]:
    """What a cell shows that was interrupted: a traceback that quotes it, with line numbers."""
    lines = [f"\x1b[32m{n:>6}\x1b[39m {line}" for n, line in enumerate(source.split("\n"), 1)]
    about = {"ename": "KeyboardInterrupt", "evalue": "", "traceback": ["\n".join(lines)]}
    return {"output_type": "error", **about}


def secrets_of(lesson: Lesson) -> list[str]:
    """Hidden lines that nobody was given, neither in the class edition nor as their own answer."""
    edition = ROOT / "release" / lesson.slug / f"{lesson.slug}.ipynb"
    everybody = "\n".join("".join(c["source"]) for c in json.loads(edition.read_text())["cells"])
    everybody += everybody.replace("`", "")  # as a page shows a task's words
    everybody += "".join(one.answer_source for one in lesson.exercises)  # Ada's own
    lines = [line for one in lesson.exercises for line in hidden_in_tests(one).lines]
    return [line for line in lines if line not in everybody]


@pytest.mark.exhaustive("pages of whole lessons")
@pytest.mark.filterwarnings("ignore:Object of type <Submitted")  # nbgrader's own
def test_no_page_of_nbgraders_holds_a_hidden_line(course: CourseDirectory) -> None:
    lesson = find_lesson(ROOT, "04-memory-layout")
    write_autograded(course, lesson)
    answer = NbGraderAPI(config=course.config).generate_feedback(lesson.slug, "ada")
    assert answer["success"], answer
    page = (course.feedback("ada", lesson.slug) / f"{lesson.slug}.html").read_text()
    text, secret = unescape(re.sub("<[^>]*>", "", page)), secrets_of(lesson)
    assert (len(secret) >= 3, [line for line in secret if line in text]) == (True, [])


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_the_step_before_the_page_takes_every_hidden_line_out(lesson: Lesson) -> None:
    notebook = nbformat.from_dict(autograded(lesson))
    shown, _ = WithholdHiddenTests().preprocess(notebook, {})
    text = "\n".join([cell.source + printed(cell.get("outputs", [])) for cell in shown.cells])
    secret = secrets_of(lesson)
    assert (len(secret) >= 3, [line for line in secret if line in text]) == (True, [])


def printed(outputs: list[Any]) -> str:
    """What the tracebacks of a cell say, without their colours."""
    return "\n".join(strip_ansi("\n".join(one["traceback"])) for one in outputs)
