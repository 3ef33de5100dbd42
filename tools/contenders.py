"""The commands that the benchmark compares, and the programs behind two of them.

python -m tools.contenders pool COURSE LESSON     a pool over NbGraderAPI
python -m tools.contenders cells COURSE LESSON   the cells alone; prints CPU s
python -m tools.contenders quickstart FOLDER N   nbgrader's own course, with N submissions
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

POOL_SIZE = 2
_PYTHON = sys.executable
_THIS = [_PYTHON, "-m", "tools.contenders"]
WARM_CELLS = [*_THIS, "cells"]
QUICKSTART = [*_THIS, "quickstart"]
QUICKSTARTS = "ps1"  # the assignment of the course that `nbgrader quickstart` makes


def _nbgrader(command: str) -> Callable[[Path, str], list[str]]:
    return lambda course, lesson: [
        *(_PYTHON, "-m", "nbgrader", command, lesson, "--force"),
        f"--course-dir={course}",
    ]


def _engine(course: Path, lesson: str) -> list[str]:
    jobs = str(len(os.sched_getaffinity(0)))
    return [
        *(_PYTHON, "-m", "autograder", "grade", lesson),
        *("--course", str(course), "--jobs", jobs, "--runner", "engine"),
    ]


CONTENDERS: dict[str, Callable[[Path, str], list[str]]] = {
    "prepare": _nbgrader("generate_assignment"),
    "nbgrader autograde": _nbgrader("autograde"),
    "pool over its API": lambda course, lesson: [*_THIS, "pool", str(course), lesson],
    "engine": _engine,
}


def points(course: Path, lesson: str) -> dict[tuple[str, str, str], float | None]:
    """The automatic points of every (student, notebook, test cell) in a course's gradebook."""
    from nbgrader.api import Gradebook

    from autograder.course_directory import load_course
    from autograder.environment import own_programs_first

    own_programs_first()
    here = load_course(course)
    with Gradebook(here.db_url, here.course_id) as gradebook:
        return {
            (submission.student_id, notebook.name, grade.name): grade.auto_score
            for submission in gradebook.assignment_submissions(lesson)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def _autograde(course: str, lesson: str, student: str) -> bool:
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    from autograder.course_directory import load_course

    config = Config(load_course(Path(course)).config)
    config.CourseDirectory.root = course
    result = NbGraderAPI(config=config).autograde(lesson, student, force=True, create=True)
    return bool(result["success"])


def _pool(course: str, lesson: str) -> None:
    students = sorted(path.name for path in Path(course, "submitted").iterdir())
    context = multiprocessing.get_context("spawn")
    with context.Pool(POOL_SIZE) as pool:
        pool.starmap(_autograde, [(course, lesson, student) for student in students], 1)


def _cells(course: str, lesson: str) -> None:
    """Run every submission in a fork of one warm process, and print the CPU seconds of all."""
    shell = _warm_shell()
    source = {path.name: _tests(path) for path in Path(course, "source", lesson).glob("*.ipynb")}
    paths = sorted(Path(course, "submitted").glob(f"*/{lesson}/*.ipynb"))
    fork_s = _cost_of(lambda: None)
    total = 0.0
    for path in paths:
        tests = source.get(path.name, {})
        sources = [tests.get(name or "", text) for name, text in _code(path)]
        total += _cost_of(partial(_run_all, shell, sources, path.parent)) - fork_s
    print(total)


def _warm_shell() -> Any:
    import torch
    from IPython.core.interactiveshell import InteractiveShell

    import course.claims.quiz  # noqa: F401 - loaded before the forks, as in the engine's fork server
    from course.figures import draw_nothing

    torch.set_num_threads(1)
    draw_nothing()  # as the engine does: the lesson's own figures are nobody's answer
    shell = InteractiveShell.instance()
    shell.run_cell("1 + 1", silent=True)
    return shell


def _tests(path: Path) -> dict[str, str]:
    """The test cells of a notebook, by their grade ids."""
    return {name: source for name, source in _code(path) if name is not None}


def _code(path: Path) -> list[tuple[str | None, str]]:
    """The code cells of a notebook, in their order, and of test cells the grade id."""
    import nbformat

    cells = nbformat.read(path, as_version=4).cells
    return [
        (marks["grade_id"] if marks.get("grade") else None, cell.source)
        for cell, marks in ((one, one.metadata.get("nbgrader", {})) for one in cells)
        if cell.cell_type == "code"
    ]


def _run_all(shell: Any, sources: list[str], folder: Path) -> None:
    os.chdir(folder)  # some cells write files
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    for source in sources:
        shell.run_cell(source, store_history=True)


def _cost_of(work: Callable[[], None]) -> float:
    """The CPU seconds of some work in a fork of this process."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    usage = os.wait4(pid, 0)[2]
    return usage.ru_utime + usage.ru_stime


def quickstart(folder: str, students: str) -> None:
    """Make the course of `nbgrader quickstart`.

    Args:
        folder: The course directory, in one that is there.
        students: How many hand in; they are the two of nbgrader's user guide, in turns.
    """
    import nbgrader

    course = Path(folder)
    command = [_PYTHON, "-m", "nbgrader", "quickstart", course.name]
    subprocess.run(command, cwd=course.parent, check=True)
    guide = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"
    handed_in = sorted(guide.glob(f"submitted/*/{QUICKSTARTS}"))
    for number in range(int(students)):
        target = course / "submitted" / f"student-{number + 1:03d}" / QUICKSTARTS
        shutil.copytree(handed_in[number % len(handed_in)], target)


if __name__ == "__main__":
    {"pool": _pool, "cells": _cells, "quickstart": quickstart}[sys.argv[1]](*sys.argv[2:])
