"""The pages of `nbgrader generate_feedback` hold no hidden line, for every lesson."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.model import Lesson, all_lessons
from autograder.nbgrader_bridge.registration import register
from autograder.reporting.feedback import hidden_lines

ROOT = Path(__file__).parents[3]
LESSONS = all_lessons(ROOT)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> CourseDirectory:
    """A course directory with our configuration and a gradebook."""
    root = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "nbgrader_config.py", root)
    return load_course(root)


def autograded(course: CourseDirectory, lesson: Lesson) -> None:
    """Put a submission where nbgrader finds it graded, with a traceback through each test cell."""
    register(lesson, course)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission(lesson.slug, "ada")
    content = json.loads(lesson.source.read_text())
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade") and cell["cell_type"] == "code":
            cell["outputs"] = [quoting("".join(cell["source"]))]
    folder = course.autograded("ada", lesson.slug)
    folder.mkdir(parents=True)
    (folder / f"{lesson.slug}.ipynb").write_text(json.dumps(content))


def quoting(source: str) -> dict[str, Any]:
    """What a cell shows that was interrupted: a traceback that quotes it, with line numbers."""
    lines = [f"\x1b[32m{n:>6}\x1b[39m {line}" for n, line in enumerate(source.split("\n"), 1)]
    about = {"ename": "KeyboardInterrupt", "evalue": "", "traceback": ["\n".join(lines)]}
    return {"output_type": "error", **about}


@pytest.mark.filterwarnings("ignore:Object of type <Submitted")  # nbgrader's own
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.slug)
def test_no_page_of_nbgraders_holds_a_hidden_line(course: CourseDirectory, lesson: Lesson) -> None:
    autograded(course, lesson)
    answer = NbGraderAPI(config=course.config).generate_feedback(lesson.slug, "ada")
    assert answer["success"], answer
    page = (course.feedback("ada", lesson.slug) / f"{lesson.slug}.html").read_text()
    text = unescape(re.sub("<[^>]*>", "", page))
    edition = ROOT / "release" / lesson.slug / f"{lesson.slug}.ipynb"
    everybody = "\n".join("".join(c["source"]) for c in json.loads(edition.read_text())["cells"])
    everybody += everybody.replace("`", "")  # as a page shows a task's words
    everybody += "".join(one.answer_source for one in lesson.exercises)  # Ada's own
    lines = [line for one in lesson.exercises for line in hidden_lines(one)]
    secret = [line for line in lines if line not in everybody]
    assert (len(secret) >= 3, [line for line in secret if line in text]) == (True, [])
