"""A lesson's cells in the gradebook, exactly as `nbgrader generate_assignment` would enter them."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors import SaveCells
from nbgrader.utils import is_grade

from autograder.course_directory import CourseDirectory
from autograder.lessons.autotests import with_autotests
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.generation import as_saved
from autograder.nbgrader_bridge.gradebook_errors import GradebookError, explained


def register(lesson: Lesson, course: CourseDirectory) -> None:
    """Enter the assignment, its notebook and its cells; does nothing where all of it is there.

    Args:
        lesson: Its source is read anew, by nbgrader's own steps.
        course: Names the gradebook.

    Raises:
        GradebookError: Exercises came or went after the first submission, or the database refuses.
        LessonError: nbgrader cannot write out the lesson's automatic tests.
    """
    resources = {
        "nbgrader": {"notebook": lesson.slug, "assignment": lesson.slug, "db_url": course.db_url},
        "unique_key": lesson.slug,
        "metadata": {"path": str(lesson.source.parent), "name": lesson.slug},
    }
    notebook = prepared(lesson, course, resources)
    with explained(course), Gradebook(course.db_url, course.course_id) as gradebook:
        if _is_registered(gradebook, lesson, notebook):
            return
        gradebook.update_or_create_assignment(lesson.slug)
    save = SaveCells(config=course.config)
    save.log.setLevel(logging.ERROR)
    try:
        with explained(course):
            save.preprocess(notebook, resources)
    except RuntimeError as error:
        raise GradebookError(
            f"the exercises of {lesson.slug} changed after submissions were entered",
            place=course.db_url,
            remedy="Give the cells their old grade ids back, or take the lesson out of the "
            f"gradebook with `nbgrader db assignment remove {lesson.slug} --force`.",
        ) from error


def prepared(
    lesson: Lesson, course: CourseDirectory, resources: Mapping[str, object]
) -> NotebookNode:
    """The source notebook after nbgrader's own steps, up to the one that saves its cells.

    Args:
        lesson: Its source is read anew, and its automatic tests are written out.
        course: Its configuration may name other steps.
        resources: What nbgrader's converters hand to their steps.
    """
    notebook = nbformat.read(lesson.source, as_version=4)
    tests = with_autotests(lesson).tests
    for cell in notebook.cells if tests else ():
        cell.source = tests.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    return as_saved(notebook, course.config, resources)


def _is_registered(gradebook: Gradebook, lesson: Lesson, notebook: NotebookNode) -> bool:
    try:
        known = gradebook.find_notebook(lesson.slug, lesson.slug)
    except MissingEntry:
        return False
    have = {cell.name: cell.checksum for cell in known.source_cells}
    points = {cell.name: cell.max_score for cell in known.grade_cells}
    about = [cell.metadata.nbgrader for cell in notebook.cells if "nbgrader" in cell.metadata]
    want = {one.grade_id: one.checksum for one in about if "checksum" in one}
    graded = [cell.metadata.nbgrader for cell in notebook.cells if is_grade(cell)]
    return have == want and points == {one.grade_id: float(one.points) for one in graded}
