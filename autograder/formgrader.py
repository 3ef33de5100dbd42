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

from autograder.course_directory import Place, place
from autograder.errors import AutograderError
from autograder.grading.gradebook import GradebookWriter
from autograder.grading.pipeline import grade
from autograder.lessons.model import find_lesson, lesson_paths
from autograder.records.model import Status, SubmissionRecord
from autograder.records.runner import Runner
from autograder.reporting.exchange import accompany_pages
from autograder.reporting.feedback import write_pages
from autograder.runners.choice import choose_runner
from autograder.submissions.discovery import find_submissions

_AUTOGRADE = r"/formgrader/api/submission/([^/]+)/([^/]+)/autograde"
_FEEDBACK = r"/formgrader/api/assignment/([^/]+)(?:/([^/]+))?/generate_feedback"
_DESK = "autograder_desk"
_IDLE_S = 300.0

Answer = dict[str, Any]  # what formgrader's page expects: success, and a log or an error


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "autograder.formgrader"}]


def _load_jupyter_server_extension(app: Any) -> None:
    settings = app.web_app.settings
    settings[_DESK] = Desk()
    base_url = settings["base_url"].rstrip("/")
    handlers = {_AUTOGRADE: EngineAutogradeHandler, _FEEDBACK: OurFeedbackHandler}
    app.web_app.add_handlers(".*$", [(base_url + path, one) for path, one in handlers.items()])


class EngineAutogradeHandler(AutogradeHandler):
    """Grades lessons of the course with the engine; any other assignment is nbgrader's."""

    @base.web.authenticated
    @base.check_xsrf
    @base.check_notebook_dir
    async def post(self, assignment_id: str, student_id: str) -> None:
        """Grade one submission anew and say how that went."""
        root = Path(self.coursedir.root)
        if sys.platform != "linux" or assignment_id not in lesson_paths(root):
            super().post(assignment_id, student_id)
            return
        desk, db = self.settings[_DESK], self.coursedir.db_url
        self.write(json.dumps(await desk.autograde(root, db, assignment_id, student_id)))


class OurFeedbackHandler(GenerateAllFeedbackHandler):
    """Writes our pages for lessons of the course; the feedback of others is nbgrader's."""

    @base.web.authenticated
    @base.check_xsrf
    @base.check_notebook_dir
    async def post(self, assignment_id: str, student_id: str | None = None) -> None:
        """Write the pages of one student, or of everyone who was graded."""
        root, api = Path(self.coursedir.root), self.api
        if assignment_id not in lesson_paths(root):
            answer = api.generate_feedback(assignment_id, student_id)
        else:
            desk, db = self.settings[_DESK], self.coursedir.db_url
            answer = await desk.feedback(root, db, assignment_id, student_id)
            # Who was graded by nbgrader alone is in no journal, and gets nbgrader's page.
            for one in answer.pop("others", ()):
                answer = _joined(answer, api.generate_feedback(assignment_id, one), one)
        self.write(json.dumps(answer))


class Desk:
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
        """Write our pages; under "others" stands who has a grade, but none of the engine's."""
        async with self._turn:
            try:
                return await asyncio.to_thread(_write_feedback, place(root, db=db), lesson, student)
            except AutograderError as error:
                return {"success": False, "error": str(error)}

    def close(self) -> None:
        """End the engine; the next press starts a new one."""
        while self._runners:
            self._runners.popitem()[1].close()

    def _autograde(self, root: Path, db: str, lesson: str, student: str) -> Answer:
        course = place(root, db=db, told=False)
        submissions = find_submissions(course, (find_lesson(root, lesson),), student)
        if root not in self._runners:
            self._runners[root] = self._new_runner(course.root)
        graded = grade(course, submissions, self._runners[root], regrade=True)
        if graded.trouble is not None:
            raise graded.trouble
        return _answer(graded.records[0])


def _write_feedback(course: Place, slug: str, student: str | None) -> Answer:
    lesson = find_lesson(course.root, slug)
    pages = write_pages(course, lesson, student)
    accompany_pages(course, lesson, student)
    written = {page.parent for page in pages}
    with GradebookWriter(course) as gradebook:
        known = [one for one in gradebook.standings(slug) if student in (None, one)]
    graded = [one for one in sorted(known) if course.autograded(one, slug).is_dir()]
    others = [one for one in graded if course.feedback(one, slug) not in written]
    if not pages and not others:
        who = "Nobody" if student is None else student
        return {"success": False, "error": f"{who} has no grade in {slug}: press Autograde first."}
    log = "\n".join(["Written from what the grading engine found:", *map(str, pages)])
    return {"success": True, "log": log if pages else "", "others": others}


def _joined(ours: Answer, stock: Answer, student: str) -> Answer:
    """One answer of two: a failure of either is one."""
    log = f"{ours.get('log', '')}\n{student} was graded by nbgrader alone and gets its page:\n"
    joined = {**ours, "log": (log + stock.get("log", "")).strip()}
    if not stock["success"]:
        joined |= {"success": False, "error": f"{student}: {stock.get('error', '')}"}
    return joined


def _engine(root: Path) -> Runner:
    return choose_runner("engine", jobs=1, sandbox=True, scheduler=None, hide=(root,))


def _answer(record: SubmissionRecord) -> Answer:
    """A learner's fault is a success of the grader; only its own is none."""
    told = f"{record.status}: {record.score:g} of {record.max:g} points, by the grading engine"
    log = "\n".join([told, *record.notes])
    if record.status is Status.INFRASTRUCTURE:
        return {"success": False, "error": log}
    return {"success": True, "log": log}
