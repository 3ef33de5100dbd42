"""Formgrader's buttons Autograde and Generate Feedback, on the grading engine.

    jupyter lab --ServerApp.jpserver_extensions=autograder.formgrader=True

nbgrader's own configuration cannot do it: `NbGraderAPI.autograde` names the class `Autograde` in
its body (nbgrader 0.9.6, apps/api.py), and the preprocessors that can be configured are those of
`nbgrader autograde` too, which stays stock.  Jupyter can: it loads extensions in the order of their
names, and the first to claim an address gets its requests.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.server_extensions.formgrader import base
from nbgrader.server_extensions.formgrader.apihandlers import (
    AutogradeHandler,
    GenerateAllFeedbackHandler,
)

from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import AutograderError, LessonError
from autograder.grading.pipeline import grade
from autograder.lessons.assignments import find_assignment, is_python
from autograder.nbgrader_bridge.exchange import accompany_pages
from autograder.records.model import Status, SubmissionRecord
from autograder.records.runner import Runner
from autograder.reporting.feedback import write_pages
from autograder.runners.choice import choose_runner
from autograder.submissions.discovery import find_submissions

_AUTOGRADE = r"/formgrader/api/submission/([^/]+)/([^/]+)/autograde"
_FEEDBACK = r"/formgrader/api/assignment/([^/]+)(?:/([^/]+))?/generate_feedback"
_SERVICE = "autograder_service"
_IDLE_S = 300.0

Answer = dict[str, Any]  # what formgrader's page expects: success, and a log or an error


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "autograder.formgrader"}]


def _load_jupyter_server_extension(app: Any) -> None:
    settings = app.web_app.settings
    settings[_SERVICE] = GradingService()
    base_url = settings["base_url"].rstrip("/")
    handlers = {_AUTOGRADE: EngineAutogradeHandler, _FEEDBACK: OurFeedbackHandler}
    app.web_app.add_handlers(".*$", [(base_url + path, one) for path, one in handlers.items()])


class EngineAutogradeHandler(AutogradeHandler):
    """Grades with the engine what has a source in Python; any other assignment is nbgrader's."""

    @base.web.authenticated
    @base.check_xsrf
    @base.check_notebook_dir
    async def post(self, assignment_id: str, student_id: str) -> None:
        """Grade one submission anew and say how that went."""
        root = Path(self.coursedir.root)
        if sys.platform != "linux" or not _is_ours(root, assignment_id):
            super().post(assignment_id, student_id)
            return
        service, db = self.settings[_SERVICE], self.coursedir.db_url
        self.write(json.dumps(await service.autograde(root, db, assignment_id, student_id)))


class OurFeedbackHandler(GenerateAllFeedbackHandler):
    """Writes our pages for what the engine grades; the feedback on others is nbgrader's."""

    @base.web.authenticated
    @base.check_xsrf
    @base.check_notebook_dir
    async def post(self, assignment_id: str, student_id: str | None = None) -> None:
        """Write the pages of one student, or of everyone who was graded."""
        root = Path(self.coursedir.root)
        if not _is_ours(root, assignment_id):
            answer = self.api.generate_feedback(assignment_id, student_id)
        else:
            service, db = self.settings[_SERVICE], self.coursedir.db_url
            answer = await service.feedback(root, db, assignment_id, student_id)
        self.write(json.dumps(answer))


class GradingService:
    """Grades one submission after the other; its engine stays warm between two presses."""

    def __init__(
        self, new_runner: Callable[[Path], Runner] | None = None, idle_s: float = _IDLE_S
    ) -> None:
        """`new_runner` starts an engine for a course directory; it ends after `idle_s` seconds."""
        self._new_runner, self._idle_s = new_runner or _engine, idle_s
        self._turn = asyncio.Lock()
        self._runners: dict[Path, Runner] = {}
        self._end: asyncio.TimerHandle | None = None

    async def autograde(self, root: Path, db: str, lesson: str, student: str) -> Answer:
        """Grade what `student` handed in for `lesson`; the server goes on meanwhile."""
        async with self._turn:
            if self._end is not None:
                self._end.cancel()
            try:
                return await asyncio.to_thread(self._autograde, root, db, lesson, student)
            except AutograderError as error:
                return {"success": False, "error": str(error)}
            finally:
                self._end = asyncio.get_running_loop().call_later(self._idle_s, self.close)

    async def feedback(self, root: Path, db: str, lesson: str, student: str | None) -> Answer:
        """Write our pages; of whom nbgrader alone graded, a page has the points."""
        async with self._turn:
            try:
                return await asyncio.to_thread(
                    _write_feedback, load_course(root, db=db), lesson, student
                )
            except AutograderError as error:
                return {"success": False, "error": str(error)}

    def close(self) -> None:
        """End the engine; the next press starts a new one."""
        while self._runners:
            self._runners.popitem()[1].close()

    def _autograde(self, root: Path, db: str, lesson: str, student: str) -> Answer:
        course = load_course(root, db=db, by_person=False)
        submissions = find_submissions(course, (find_assignment(course, lesson),), student)
        if root not in self._runners:
            self._runners[root] = self._new_runner(course.root)
        graded = grade(course, submissions, self._runners[root], regrade=True)
        if graded.trouble is not None:
            raise graded.trouble
        return _answer(graded.records[0])


def _is_ours(root: Path, assignment: str) -> bool:
    """Whether the engine grades it; one whose source is broken is ours, and is told so."""
    try:
        return is_python(load_course(root), assignment)
    except LessonError:
        return True


def _write_feedback(course: CourseDirectory, slug: str, student: str | None) -> Answer:
    lesson = find_assignment(course, slug)
    pages = write_pages(course, lesson, student)
    accompany_pages(course, lesson, student)
    if not pages:
        who = "Nobody" if student is None else student
        return {"success": False, "error": f"{who} has no grade in {slug}: press Autograde first."}
    return {"success": True, "log": "\n".join(["Written:", *map(str, pages)])}


def _engine(root: Path) -> Runner:
    hide = load_course(root).private
    return choose_runner("engine", jobs=1, sandbox=True, scheduler=None, hide=hide)


def _answer(record: SubmissionRecord) -> Answer:
    """A learner's fault is a success of the grader; only its own is none."""
    summary = f"{record.status}: {record.score:g} of {record.max:g} points, by the grading engine"
    log = "\n".join([summary, *record.notes])
    if record.status is Status.INFRASTRUCTURE:
        return {"success": False, "error": log}
    return {"success": True, "log": log}
