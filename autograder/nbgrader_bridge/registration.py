"""A lesson's cells in the gradebook, exactly as `nbgrader generate_assignment` would enter them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_grade, is_task

from autograder.course_directory import CourseDirectory
from autograder.lessons.autotests import with_autotests
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.generation import as_saved, put_tests, resources_of
from autograder.nbgrader_bridge.gradebook_errors import GradebookError, explained


def register(lesson: Lesson, course: CourseDirectory) -> None:
    """Enter the assignment, its notebooks and their cells; does nothing where all of it is there.

    Args:
        lesson: Its source is read anew, by nbgrader's own steps.
        course: Names the gradebook.

    Raises:
        GradebookError: Exercises came or went after the first submission, or the database refuses.
        LessonError: nbgrader cannot write out the lesson's automatic tests.
    """
    for part in lesson.notebooks:
        _register(lesson.slug, part, course)


def _register(assignment: str, part: Lesson, course: CourseDirectory) -> None:
    resources = resources_of(part.source, assignment, course.config)
    resources["nbgrader"] = {
        "notebook": part.notebook,
        "assignment": assignment,
        "db_url": course.db_url,
    }
    notebook = prepared(part, course, resources)
    with explained(course), Gradebook(course.db_url, course.course_id) as gradebook:
        if _is_registered(gradebook, assignment, part.notebook, notebook):
            return
        gradebook.update_or_create_assignment(assignment)
    save = SaveCells(config=course.config)
    save.log.setLevel(logging.ERROR)
    try:
        with explained(course):
            save.preprocess(notebook, resources)
    except RuntimeError as error:
        raise GradebookError(
            f"the exercises of {assignment} changed after submissions were entered",
            place=course.db_url,
            remedy="Give the cells their old grade ids back, or take the lesson out of the "
            f"gradebook with `nbgrader db assignment remove {assignment} --force`: points and "
            "comments by hand go with it, and its due date, so run `autograder backup` first.",
        ) from error


def prepared(
    lesson: Lesson, course: CourseDirectory, resources: Mapping[str, object]
) -> NotebookNode:
    """The source notebook after nbgrader's own steps, up to the one that saves its cells.

    Args:
        lesson: One notebook; its source is read anew, and its automatic tests are written out.
        course: Its configuration may name other steps.
        resources: What nbgrader's converters hand to their steps.
    """
    if lesson.prepared is not None:
        return nbformat.from_dict(json.loads(lesson.prepared.notebook))
    notebook = nbformat.read(lesson.source, as_version=4)
    put_tests(notebook, with_autotests(lesson).tests)
    return as_saved(notebook, course.config, resources)


def _is_registered(
    gradebook: Gradebook, assignment: str, name: str, notebook: NotebookNode
) -> bool:
    try:
        known = gradebook.find_notebook(name, assignment)
    except MissingEntry:
        return False
    have = {cell.name: cell.checksum for cell in known.source_cells}
    points = {one.name: one.max_score for one in (*known.grade_cells, *known.task_cells)}
    about = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
    want = {one.grade_id: one.checksum for one in about if "checksum" in one}
    graded = [one.metadata.nbgrader for one in notebook.cells if is_grade(one) or is_task(one)]
    return have == want and points == {one.grade_id: float(one.points) for one in graded}
