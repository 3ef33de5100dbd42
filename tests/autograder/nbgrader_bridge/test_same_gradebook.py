"""Learners who merge, move or lose cells get from the engine what nbgrader autograde gives."""

from __future__ import annotations

import copy
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from autograder.course_directory import CourseDirectory, load_course
from autograder.environment import own_programs_first
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, answered, empty_gradebook, graded, hand_in
from tests.autograder.engine.exam import engine

pytestmark = pytest.mark.exhaustive("a gradebook beside that of nbgrader")
MODEL = "The caller's own tensor changes."  # no region: nbgrader clears the whole cell
Notebook = dict[str, Any]


def source() -> Notebook:
    """The tiny lesson with two questions in words."""
    found = tiny.notebook()
    found["cells"][-1:-1] = [*tiny.words("why", MODEL), *tiny.words("who", MODEL)]
    return found


def solved(**answers: str) -> Notebook:
    """The lesson with its own solutions, the stubs of nbgrader in the questions in words."""
    found = source()
    usual = {c["id"]: c["source"] for c in answered()["cells"]}
    usual |= {"why": "YOUR ANSWER HERE", "who": "YOUR ANSWER HERE"} | answers
    for cell in found["cells"]:
        cell["source"] = usual.get(cell["id"], cell["source"])
    return found


def without(notebook: Notebook, *ids: str) -> Notebook:
    return {**notebook, "cells": [one for one in notebook["cells"] if one["id"] not in ids]}


def stripped(notebook: Notebook, id_: str) -> Notebook:
    found = copy.deepcopy(notebook)
    for cell in found["cells"]:
        cell["metadata"] = {} if cell["id"] == id_ else cell["metadata"]
    return found


CLASS: dict[str, Callable[[], Notebook]] = {
    "merged": lambda: without(solved(flatten=f"{tiny.FLATTEN}\n\n{tiny.DOUBLE}"), "double"),
    "deleted": lambda: without(solved(), "double", "why"),
    "words": lambda: stripped(solved(why="Because it is shared."), "why"),
    "model": lambda: solved(why=MODEL),
}


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, Any]]]:
    """What was entered: student → cell → points, and whether a person is asked."""
    own_programs_first()
    ours = tiny.build(tmp_path_factory.mktemp("ours"))
    (ours / "gradebook.db").write_bytes(empty_gradebook())
    tiny.write(ours, source())
    for student, notebook in CLASS.items():
        hand_in(ours, student, notebook())
    theirs = tmp_path_factory.mktemp("theirs")
    for name in ("source", "submitted"):
        shutil.copytree(ours / name, theirs / name)
    assert graded(load_course(ours), engine(patient=True)).trouble is None  # type: ignore[arg-type]
    _autograde(theirs)
    return {"ours": _rows(load_course(ours)), "theirs": _rows(load_course(theirs))}


def _autograde(root: Path) -> None:
    config = Config()
    config.CourseDirectory.root = str(root)
    config.OverwriteCells.add_missing_cells = True  # as nbgrader_config.py has it
    api = NbGraderAPI(config=config)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader's own, of SQLAlchemy
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
        assert api.generate_assignment(SLUG)["success"]
        for student in CLASS:
            assert api.autograde(SLUG, student)["success"]


def _rows(course: CourseDirectory) -> dict[str, dict[str, Any]]:
    with Gradebook(course.db_url, course.course_id) as gradebook:
        return {
            one.student_id: {
                grade.name: (grade.auto_score, grade.needs_manual_grade)
                for notebook in one.notebooks
                for grade in notebook.grades
            }
            for one in gradebook.assignment_submissions(SLUG)
        }


@pytest.mark.parametrize("student", CLASS)
def test_a_learner_gets_the_points_of_nbgrader(writer: dict[str, Any], student: str) -> None:
    assert writer["ours"][student] == writer["theirs"][student]


def test_the_cases_are_those_that_were_graded_wrongly(writer: dict[str, Any]) -> None:
    found = writer["theirs"]
    assert found["merged"]["test-double"] == (2.0, False)
    assert found["deleted"]["why"] == found["words"]["why"] == (None, True)
    assert found["model"] == {
        "test-flatten": (4.0, False),
        "test-double": (2.0, False),
        "why": (None, True),
        "who": (0.0, False),
    }
