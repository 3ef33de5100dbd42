"""Where the engine's CPU time goes, a submission: `autograder bench --profile`.

One worker grades a simulated class in this process. What it waits for runs in other processes
meanwhile, so what a clock over all of them counts between two moments belongs to what was asked.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from autograder.engine.limits import Limits
from autograder.engine.plan import Step
from autograder.engine.sandbox.bubblewrap import ONE_THREAD
from autograder.engine.worker import execution
from autograder.engine.worker.checker_client import CellPart, Checker
from autograder.engine.worker.fork_server_client import StudentForkServers
from autograder.engine.worker.grader import Grader, prepared_shell
from autograder.engine.worker.known_tests import Replay
from autograder.engine.worker.student_client import StudentProcess
from autograder.lessons.autotests import with_autotests
from autograder.lessons.model import Lesson, read_lesson
from autograder.records.runner import Job
from autograder.simulation.simulate import simulate
from tools.task_clock import TaskClock

_REQUESTS = "requests, beside the answer"
_PARTS: tuple[tuple[type, str, str], ...] = (
    (StudentProcess, "__init__", "starting the student process"),
    (StudentProcess, "prepare", "starting the student process"),
    (StudentProcess, "take_snapshot", "forking snapshots"),
    (StudentProcess, "finish", "ending the student process"),
    (StudentProcess, "end", "ending the student process"),
    (Checker, "__init__", "starting the checker"),
    (Checker, "set_up", "starting the checker"),
    (Checker, "close", "ending the checker"),
    (Replay, "follow", _REQUESTS),
)
_WORKER = "the worker: reading, repairing, listening, recording"
Clock = Callable[[], float]


@dataclass(frozen=True)
class Profile:
    """CPU seconds a submission by part, and the cells that took most of it."""

    lesson: str
    students: int
    parts: dict[str, float]
    cells: dict[str, float]

    def lines(self) -> list[str]:
        """The table, most expensive parts first."""
        total = sum(self.parts.values())
        found = [f"{self.lesson}: {total:.3f} s of CPU a submission, of {self.students}"]
        for name, cost in _largest(self.parts):
            found.append(f"  {1000 * cost:8.1f} ms  {100 * cost / total:5.1f} %  {name}")
        found.append("  the most expensive cells:")
        found += [f"  {1000 * cost:8.1f} ms  {name}" for name, cost in _largest(self.cells)[:8]]
        return found


def _largest(costs: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(costs.items(), key=lambda one: -one[1])


def profile(course: Path, lesson: Lesson, students: int) -> Profile:
    """Grade a simulated class of `lesson` and say what took how much CPU time.

    It changes the engine's classes in this process, which is of no other use afterwards.

    Raises:
        OSError: The kernel offers no clock over processes.
    """
    os.environ.update(ONE_THREAD | {"NBGRADER_EXECUTION": "autograde", "MPLBACKEND": "agg"})
    clock = TaskClock()
    meter = _Meter(clock.seconds)
    with tempfile.TemporaryDirectory(prefix="profile-") as folder:
        room = Path(folder, "class")
        simulate(course, (lesson,), students=students, seed=1, out=room)
        jobs = _jobs(room, read_lesson(room / "source" / lesson.slug / f"{lesson.slug}.ipynb"))
        servers = StudentForkServers(Limits(), hide=(room,))
        try:
            shell = prepared_shell()
            grader = Grader(Limits(), shell, servers.servers[0], hide=(room,))
            grader.grade(jobs[0])  # loads the lesson
            meter.watch()
            before = clock.seconds()
            for job in jobs:
                grader.grade(job)
            total = clock.seconds() - before
            grader.close()
        finally:
            servers.close()
            clock.close()
    meter.parts[_WORKER] += total - sum(meter.parts.values())
    parts = {name: cost / students for name, cost in meter.parts.items()}
    cells = {name: cost / students for name, cost in meter.cells.items()}
    return Profile(lesson.slug, students, parts, cells)


def _jobs(room: Path, lesson: Lesson) -> list[Job]:
    graded = with_autotests(lesson)
    folders = [path / lesson.slug for path in sorted((room / "submitted").iterdir())]
    return [Job(one.parent.name, graded, one / f"{lesson.slug}.ipynb", one) for one in folders]


class _Meter:
    """Adds up what each part costs, without what the worker does itself."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.parts: defaultdict[str, float] = defaultdict(float)
        self.cells: defaultdict[str, float] = defaultdict(float)

    def watch(self) -> None:
        """Measure from now on."""
        for owner, method, part in _PARTS:
            setattr(owner, method, self._timed(getattr(owner, method), lambda *_, p=part: p))
        run_cell, test = execution.Execution._run_cell, Checker.run
        execution.Execution._run_cell = self._timed(run_cell, _kind_of)  # type: ignore[method-assign]
        Checker.run = self._split(test)  # type: ignore[method-assign]

    def _timed(self, call: Callable[..., Any], name: Callable[..., str]) -> Callable[..., Any]:
        @wraps(call)
        def timed(*args: Any, **kwargs: Any) -> Any:
            all_before, own_before = self._clock(), time.process_time()
            try:
                return call(*args, **kwargs)
            finally:
                own = time.process_time() - own_before
                cost, part = self._clock() - all_before - own, name(*args)
                self.parts[part] += cost
                if len(args) > 2 and isinstance(args[2], Step):
                    self.cells[_first_line(args[2].source)] += cost

        return timed

    def _split(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """A test: what the checker process used, and the rest, which its requests cost."""

        @wraps(call)
        def timed(checker: Checker, test: CellPart, *args: Any) -> Any:
            before = self._clock(), time.process_time(), _used_by(checker)
            try:
                return call(checker, test, *args)
            finally:
                own = time.process_time() - before[1]
                checking = _used_by(checker) - before[2]
                total = self._clock() - before[0] - own
                self.parts["test cells, in the checker"] += checking
                self.parts[_REQUESTS] += total - checking
                self.cells[f"test: {_first_line(test.source)}"] += total

        return timed


def _kind_of(run: execution.Execution, student: object, step: Step) -> str:
    return "the lesson's own cells" if step.source in run.own_cells else "the learner's cells"


def _used_by(checker: Checker) -> float:
    """The CPU seconds of a checker process, to the nanosecond."""
    text = Path(f"/proc/{checker.pid}/schedstat").read_text()
    return int(text.split()[0]) / 1e9


def _first_line(source: str) -> str:
    lines = (line for line in source.split("\n") if line.strip() and "import" not in line)
    return next(lines, "")[:70]
