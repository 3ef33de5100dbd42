"""Formgrader's Autograde button, on the grading engine: a Jupyter server extension.

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
from nbgrader.server_extensions.formgrader.apihandlers import AutogradeHandler

from autograder.errors import AutograderError
from autograder.grade import choose_runner, grade
from autograder.intake import find_submissions
from autograder.lessons import find_lesson, lesson_paths
from autograder.place import place
from autograder.records import Status, SubmissionRecord
from autograder.runner import Runner

_ADDRESS = r"/formgrader/api/submission/([^/]+)/([^/]+)/autograde"
_DESK = "autograder_desk"
_IDLE_S = 300.0

Answer = dict[str, Any]  # what formgrader's page expects: success, and a log or an error


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "autograder.formgrader"}]


def _load_jupyter_server_extension(app: Any) -> None:
    settings = app.web_app.settings
    settings[_DESK] = Desk()
    address = settings["base_url"].rstrip("/") + _ADDRESS
    app.web_app.add_handlers(".*$", [(address, EngineAutogradeHandler)])


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


def _engine(root: Path) -> Runner:
    return choose_runner("engine", jobs=1, sandbox=True, scheduler=None, hide=(root,))


def _answer(record: SubmissionRecord) -> Answer:
    """A learner's fault is a success of the grader; only its own is none."""
    told = f"{record.status}: {record.score:g} of {record.max:g} points, by the grading engine"
    log = "\n".join([told, *record.notes])
    if record.status is Status.INFRASTRUCTURE:
        return {"success": False, "error": log}
    return {"success": True, "log": log}
