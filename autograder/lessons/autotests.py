"""Lessons that use nbgrader's automatic tests: `### AUTOTEST f(3)` in a test cell.

Where nbgrader releases a lesson, each such line becomes asserts whose values come from running the
lesson's own solutions, by the templates in autotests.yml.  Without that step the line is a comment
and the cell tests nothing.  So every runner, the gradebook's registration and the release take such
a lesson from here: with the cells that nbgrader's own InstantiateTests makes.  It starts a Jupyter
kernel, once a lesson and process, in a program of its own:

    python -m autograder.lessons.autotests SOURCE COURSE PID_OF_WHO_ASKS
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from autograder.descendants import end_with_parent
from autograder.errors import LessonError
from autograder.lessons.cells import read_notebook
from autograder.lessons.model import Lesson, autotest_templates

_LIMIT_S = 600.0
_LAST_CHARS = 600


def with_autotests(lesson: Lesson) -> Lesson:
    """The lesson with its automatic tests written out; `lesson` itself where it has none.

    Raises `LessonError` where nbgrader cannot write them.
    """
    if lesson.tests or not lesson.has_autotests:
        return lesson
    tests = instantiated(lesson.source, lesson.source.parents[2], lesson.digest)
    exercises = tuple(
        replace(one, test_source=tests.get(one.test_id, one.test_source))
        for one in lesson.exercises
    )
    return replace(lesson, tests=tests, exercises=exercises)


def copy_source(lesson: Lesson, folder: Path) -> None:
    """Copy the lesson's source to the new `folder`, its automatic tests written out.

    Raises:
        LessonError: nbgrader cannot write the tests out.
        OSError: `folder` is there already or cannot be written.
    """
    shutil.copytree(lesson.source.parent, folder)
    if lesson.prepared is not None:
        (folder / lesson.source.name).write_text(lesson.prepared.notebook, encoding="utf-8")
    elif lesson.has_autotests:
        notebook = read_notebook(lesson.source) | {"cells": with_autotests(lesson).cells()}
        (folder / lesson.source.name).write_text(json.dumps(notebook), encoding="utf-8")


@lru_cache(maxsize=100)
def instantiated(source: Path, course: Path, digest: str) -> dict[str, str]:
    """Grade id → source, of the graded cells of a notebook, their automatic tests written out.

    Args:
        source: The notebook.
        course: The root of its course directory.
        digest: Says which edition of the notebook it is.

    Raises:
        LessonError: nbgrader cannot write them out.
    """
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-P", "-m", "autograder.lessons.autotests"]
    command += [str(source), str(course), str(os.getpid())]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        raise _refused(source, f"its cells ran longer than {_LIMIT_S:g} s") from None
    if done.returncode != 0:
        raise _refused(source, done.stderr.strip()[-_LAST_CHARS:])
    found: dict[str, str] = json.loads(done.stdout)
    return found


def _refused(source: Path, why: str) -> LessonError:
    return LessonError(
        f"nbgrader cannot write out its automatic tests: {why}",
        place=str(source),
        remedy="Put autotests.yml beside the notebook or into the course directory, and see that "
        "`nbgrader generate_assignment` can release the lesson.",
    )


def main() -> None:
    """Print the graded cells of the notebook that is named, as nbgrader writes them out."""
    end_with_parent(int(sys.argv[3]), signal.SIGKILL)
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what nbgrader or a kernel prints must not mix with the answer
    source, course = map(Path, sys.argv[1:3])
    try:
        tests = _written_out(source, course)
    except Exception as error:  # whatever the solutions, the templates or the kernel raise
        sys.exit(f"{type(error).__name__}: {error}")
    answer.write(json.dumps(tests))
    answer.close()


def _written_out(source: Path, course: Path) -> dict[str, str]:
    from autograder.course_directory import load_course
    from autograder.nbgrader_bridge.generation import instantiated_tests

    config = load_course(course).config
    read_notebook(source)  # says in our words what is wrong with it
    return instantiated_tests(source, config, autotest_templates(source, course))


if __name__ == "__main__":
    main()
