"""The runner that drives stock nbgrader: slow, and with answer and tests in one process.

It serves systems without the engine's sandbox.  Each submission gets a temporary course directory
of its own, so that one broken notebook costs only itself; the points are those of nbgrader, the
checks come from the tables in the executed notebook.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for_any
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.engine.outcomes import TABLE_KEY
from autograder.errors import LessonError
from autograder.lessons.autotests import copy_source, with_autotests
from autograder.lessons.model import Exercise, Lesson
from autograder.lessons.repair import Malformed, read_submission, repair
from autograder.nbgrader_bridge.cells import automatic_points
from autograder.nbgrader_bridge.stock import StockCourse
from autograder.records.model import (
    ExerciseRecord,
    RecordError,
    Status,
    joined,
)
from autograder.records.points import points_of, why_no_points
from autograder.records.runner import (
    ANSWER_TO_MARK,
    HANDED_IN_EMPTY,
    Job,
    Outcome,
    record_of,
    task_record,
    unrun,
)
from autograder.submissions.discovery import NOTEBOOK_LIMIT_NBYTES
from autograder.submissions.folder import look_through, not_readable, read_start, shown_name
from course.error_names import error_name

_STUDENT = "learner"
_CODE: dict[str, Any] = {
    "execution_count": None,
    "outputs": [],
}  # what nbformat wants of every code cell


@dataclass(frozen=True)
class StockRunner:
    """Grades with nbgrader's own autograde, `jobs` submissions at a time."""

    jobs: int = 1
    cell_limit_s: int = 30

    def close(self) -> None:
        """Nothing stays open between two runs."""

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """One outcome a job, as soon as it is there."""
        with (
            tempfile.TemporaryDirectory(prefix="stock-") as scratch,
            ProcessPoolExecutor(self.jobs, get_context("spawn"), _begin_worker, (scratch,)) as pool,
        ):
            running: dict[Future[Outcome], Job] = {}
            for job in (replace(one, lesson=with_autotests(one.lesson)) for one in jobs):
                while len(running) > self.jobs:
                    yield from _finished(running)
                # Not in this process: nbgrader changes the directory in which it works, and this
                # process is reading files by relative paths meanwhile, in another thread.
                template = pool.submit(_template, job.lesson, Path(scratch)).result()
                work = _Work(job, template, scratch, self.cell_limit_s)
                running[pool.submit(grade_one, work)] = job
            while running:
                yield from _finished(running)


@dataclass(frozen=True)
class _Work:
    job: Job
    template: Path  # a course directory in which the lesson is registered
    scratch: str  # where to write
    cell_limit_s: int


def grade_one(work: _Work) -> Outcome:
    """The outcome of one job, graded in this process by nbgrader's own steps."""
    begun = time.monotonic()
    job = work.job
    try:
        notebook, notes, remarks = _repaired(job)
    except Malformed as error:
        return _unrun(job, Status.MALFORMED, begun, str(error))
    except OSError as error:
        found, reason = not_readable(shown_name(job.notebook.name), error)
        return _unrun(job, Status(found), begun, reason)
    with tempfile.TemporaryDirectory(prefix="submission-", dir=work.scratch) as folder:
        root = Path(folder) / "course"
        shutil.copytree(work.template, root)
        _hand_in(job, notebook, root)
        answer = StockCourse(root, work.cell_limit_s).autograde(job.lesson.slug, _STUDENT)
        graded = root / "autograded" / _STUDENT / job.lesson.slug / f"{job.lesson.slug}.ipynb"
        if not answer.success or not graded.is_file():
            status, note = _explain(f"{answer.error}\n{answer.log}")
            return _unrun(job, status, begun, *notes, note)
        notebook = nbformat.read(graded, as_version=4)
    broken = _broken_setup(notebook)
    if broken:
        failed = _unrun(job, Status.INFRASTRUCTURE, begun, *notes, broken)
        return replace(failed, notebook=notebook)
    exercises = tuple(
        _exercise(one, notebook, remarks.get(one.answer_id)) for one in job.lesson.exercises
    )
    troubles = [one.status for one in exercises if one.status is not Status.GRADED]
    status = troubles[0] if troubles else Status.GRADED
    seconds = time.monotonic() - begun
    record = record_of(
        job, status, exercises, seconds, sandboxed=False, notes=notes, runner="stock"
    )
    return Outcome(record, notebook)


def _unrun(job: Job, status: Status, begun: float, *reasons: str) -> Outcome:
    seconds = time.monotonic() - begun
    return unrun(job, status, *reasons, seconds=seconds, sandboxed=False, runner="stock")


def _begin_worker(scratch: str) -> None:
    """Let kernels import this `course`, and silence them: what matters is returned."""
    os.environ["TMPDIR"] = tempfile.tempdir = scratch  # of kernels, too: all of it is removed
    threading.Thread(target=_end_with_parent, args=(scratch,), daemon=True).start()
    packages = str(Path(__file__).resolve().parents[2])
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [packages, path]))
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 2)
    os.close(sink)


def _end_with_parent(scratch: str) -> None:
    """End this process, and what it wrote, where the one that hands out the work was killed.

    The queue of a pool never says so: each worker holds both of its ends.  Kernels see for
    themselves that this process is gone.
    """
    parent = parent_process()
    if parent is not None:
        wait_for_any([parent.sentinel])
        shutil.rmtree(scratch, ignore_errors=True)
        os._exit(1)


def _finished(running: dict[Future[Outcome], Job]) -> Iterator[Outcome]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        job = running.pop(future)
        try:
            yield future.result()
        except Exception as error:  # the pool itself broke: the grader's fault, not the learner's
            note = f"The grading worker stopped: {type(error).__name__}: {error}"
            yield _unrun(job, Status.INFRASTRUCTURE, time.monotonic(), note)


def _template(lesson: Lesson, scratch: Path) -> Path:
    root = scratch / f"{lesson.slug}-{lesson.digest[:12]}"
    if not root.is_dir():
        copy_source(lesson, root / "source" / lesson.slug)
        _keep_one_notebook(lesson, root / "source" / lesson.slug)
        course = StockCourse(root, is_prepared=lesson.prepared is not None)
        answer = course.generate_assignment(lesson.slug)
        if not answer.success:
            raise LessonError(
                f"nbgrader cannot release it: {answer.log[-400:]}",
                place=str(lesson.source),
                remedy="Run `nbgrader generate_assignment` on it and mend what it names.",
            )
    return root


def _keep_one_notebook(lesson: Lesson, folder: Path) -> None:
    """Leave the lesson's notebook alone in `folder`, named as nbgrader is asked for it."""
    for path in folder.glob("*.ipynb"):
        if path.name != lesson.source.name:
            path.unlink()
    (folder / lesson.source.name).rename(folder / f"{lesson.slug}.ipynb")


def _repaired(job: Job) -> tuple[NotebookNode, tuple[str, ...], Mapping[str, str]]:
    """The notebook with the lesson's own cells as they should be; what was put right; remarks."""
    raw = read_start(job.notebook, NOTEBOOK_LIMIT_NBYTES)
    prepared = job.lesson.prepared
    handed_out = prepared.handed_out if prepared else None
    repaired = repair(job.lesson.cells(), read_submission(raw), handed_out)
    cells = [_CODE | cell if cell["cell_type"] == "code" else cell for cell in repaired.cells]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = nbformat.from_dict(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    )
    try:
        nbformat.validate(notebook)
    except nbformat.ValidationError as error:
        reason = str(error).splitlines()[0]
        raise Malformed(f"The file breaks the form of a notebook: {reason:.200}") from error
    return notebook, repaired.notes, repaired.remarks


def _hand_in(job: Job, notebook: NotebookNode, root: Path) -> None:
    target = root / "submitted" / _STUDENT / job.lesson.slug
    target.mkdir(parents=True)
    for one in look_through(job.directory).files:
        if one.is_regular and one.name != "timestamp.txt" and not one.name.endswith(".ipynb"):
            (target / one.name).parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):  # nobody may read it; a lesson's own files come from nbgrader
                shutil.copyfile(one.path, target / one.name)
    nbformat.write(notebook, target / f"{job.lesson.slug}.ipynb")


def _explain(text: str) -> tuple[Status, str]:
    """The status behind a failure of nbgrader, from its log and traceback."""
    if "DeadKernelError" in text:
        return Status.CRASHED, "The kernel died while the notebook ran; no cell after it counts."
    if "UnresponsiveKernelError" in text or "CellTimeoutError" in text:
        return Status.TIMEOUT, "A cell ran too long and could not be interrupted."
    last = [line for line in text.strip().splitlines() if line.strip()][-1:]
    return Status.INFRASTRUCTURE, f"nbgrader stopped: {''.join(last):.200}"


def _broken_setup(notebook: NotebookNode) -> str | None:
    """Why a locked cell without points failed: that is never the learner's fault."""
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if not about.get("locked") or about.get("grade") or cell.cell_type != "code":
            continue
        for output in cell.outputs:
            if output.output_type == "error":
                error = f"{output.ename}: {output.evalue}"
                return f"The locked cell {about.get('grade_id')} failed: {error:.200}"
    return None


def _exercise(exercise: Exercise, notebook: NotebookNode, remark: str | None) -> ExerciseRecord:
    cell = _cell(notebook, exercise.test_id)
    if cell is None:
        note = "The test cell is missing; stock nbgrader does not put it back."
        status = Status.TAMPERED
        return ExerciseRecord(exercise.name, status, 0.0, exercise.points, notes=(note,))
    if exercise.is_task:
        return task_record(exercise)
    if exercise.manual:
        return _manual(exercise, cell, remark)
    if _timed_out(cell) or _timed_out(_cell(notebook, exercise.answer_id)):
        note = "A cell of this exercise ran too long and was stopped."
        return ExerciseRecord(exercise.name, Status.TIMEOUT, 0.0, exercise.points, notes=(note,))
    points = points_of(cell.outputs, exercise.points)
    table, notes = _table(exercise, cell)
    if not notes and (why := why_no_points(cell.outputs)):
        notes = (f"Its test cell {why}.",)
    return ExerciseRecord(
        id=exercise.name,
        status=Status.GRADED,
        score=points,
        max=exercise.points,
        checks=table.checks if table else (),
        notes=notes,
        attempted=table.attempted if table else True,
        isolated=False,
    )


def _manual(exercise: Exercise, cell: NotebookNode, remark: str | None) -> ExerciseRecord:
    points = automatic_points(cell)
    notes = tuple(filter(None, (ANSWER_TO_MARK, remark)))
    if not cell.source.strip():
        notes = (HANDED_IN_EMPTY,)
    return ExerciseRecord(
        id=exercise.name,
        status=Status.GRADED,
        score=0.0,
        max=exercise.points,
        notes=notes if points is None else (),
        attempted=points is None,
        manual=True,
    )


def _table(exercise: Exercise, cell: NotebookNode) -> tuple[ExerciseRecord | None, tuple[str, ...]]:
    tables = [o.metadata[TABLE_KEY] for o in cell.outputs if TABLE_KEY in o.get("metadata", {})]
    if not tables:
        failed = [o for o in cell.outputs if o.output_type == "error"]
        told = (f"The test cell ended in {error_name(one.ename)}." for one in failed[:1])
        return None, tuple(told)
    try:
        plain = json.loads(json.dumps(tables))  # nbformat's nodes are no plain dictionaries
        return joined([ExerciseRecord.from_table(one, isolated=False) for one in plain]), ()
    except RecordError as error:
        return None, (f"The check table of {exercise.name} cannot be read: {error}",)


def _timed_out(cell: NotebookNode | None) -> bool:
    errors = [one for one in cell.outputs if one.output_type == "error"] if cell else []
    return any(one.ename == "CellTimeoutError" for one in errors)


def _cell(notebook: NotebookNode, grade_id: str) -> NotebookNode | None:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id:
            return cell
    return None
