"""Grades submissions one after another in this process, with a fork server of its own.

Import it only in a process that has nothing else to do: it loads torch and the course, and forks.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from nbformat import NotebookNode

from autograder import linux
from autograder.engine.checker.template import CheckerTemplate
from autograder.engine.kernel.shell import Shell, new_shell, warm_up
from autograder.engine.limits import Limits
from autograder.engine.loaded_ahead import load_modules, load_offered, warm_up_torch
from autograder.engine.outcomes import CellOutcome
from autograder.engine.plan import (
    CellKind,
    FormOfTests,
    Step,
    plan,
    setup_source,
    snapshot_places_of,
)
from autograder.engine.protocol.channel import Listener
from autograder.engine.sandbox.bubblewrap import SandboxError, is_shown
from autograder.engine.scoring import FAILED_LATER, judge, modes_note, notes_of, submission_status
from autograder.engine.worker.checker_client import (
    Checker,
    CheckerFailed,
    CheckerMaterial,
    read_ahead,
)
from autograder.engine.worker.execution import Execution, Material, student_forker
from autograder.engine.worker.fork_server_client import (
    ForkServerError,
    StudentForkServer,
    StudentForkServers,
)
from autograder.engine.worker.known_tests import KnownTests
from autograder.engine.worker.lesson_folder import LessonFolder
from autograder.engine.worker.siblings import Siblings
from autograder.lessons.asking import reads_a_clock
from autograder.lessons.cell_dependencies.unneeded_cells import ShownCells
from autograder.lessons.cells import RawCell, declares_loopback, declares_rehearsal, is_answer
from autograder.lessons.imported_modules import modules_needed
from autograder.lessons.model import Lesson, is_covered
from autograder.lessons.repair import Malformed, Repaired, read_submission, repair
from autograder.records.model import Status, SubmissionRecord
from autograder.records.runner import Job, Outcome, record_of, unrun
from autograder.submissions.folder import (
    look_through,
    not_readable,
    read_start,
    shown_name,
    taken_along,
)

_ATTEMPTS = 2
_NAME_NBYTES = 255


@dataclass(frozen=True)
class _PreparedLesson:
    """A lesson as it is used for each of its submissions."""

    cells: tuple[RawCell, ...]
    metadata: dict[str, object]
    material: Material
    folder: LessonFolder
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    common_sources: tuple[str, ...]  # cells that are the same for every learner
    loopback: bool  # each submission gets a network of its own
    known: KnownTests  # what tests do next, from other submissions
    shown: ShownCells | None  # cells that only show; None: every cell runs
    handed_out: Mapping[str, str] | None  # of an assignment that nbgrader prepared
    form: FormOfTests
    rehearsed: tuple[str, ...]  # test cells that are run once for what their references give


def prepared_shell(modules: Iterable[str] = ()) -> Shell:
    """Load what checkers use, and `modules`; the shell, ready to be forked, for test cells."""
    torch.set_num_threads(1)
    shell = new_shell()
    load_offered()
    load_modules(modules)
    gc.freeze()  # `warm_up` collects garbage: 0.1 s over all that torch imports
    warm_up(shell)
    warm_up_torch()
    gc.collect()
    gc.freeze()
    linux.retire_free_memory()
    linux.use_huge_pages()
    return shell


class Grader:
    """Turns jobs into outcomes; never raises for anything that a submission contains."""

    def __init__(
        self,
        limits: Limits,
        shell: Shell,
        fork_server: StudentForkServer,
        *,
        sandbox: bool = True,
        hide: Iterable[Path] = (),
        scratch: Path | None = None,
        every_cell: bool = False,
        siblings: Siblings | None = None,
    ) -> None:
        """Wait for the fork server.

        Args:
            limits: What each submission may use.
            shell: A prepared shell, for test cells.
            fork_server: Forks the student processes; it may still be starting.
            sandbox: Whether student processes are isolated.
            hide: Directories that no submission may see.
            scratch: A directory that somebody removes even where this process is killed.
            every_cell: Run those cells of a lesson, too, that only show.
            siblings: The other workers of the run.

        Raises:
            SandboxError: The fork server cannot start here.
            ForkServerError: It does not answer in time.
        """
        self._scratch = tempfile.mkdtemp(prefix="grader-", dir=scratch)
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = self._scratch  # torch makes one where it is loaded
        self._limits, self._sandbox, self._hide = limits, sandbox, tuple(hide)
        self._every_cell, self._siblings = every_cell, siblings
        self.listener = Listener()
        self._shell, self._fork_server = shell, fork_server
        self._own: StudentForkServers | None = None  # replaces one that failed
        self._lessons: dict[str, _PreparedLesson] = {}
        self._template: CheckerTemplate | None = None
        self._templated: _PreparedLesson | None = None  # the lesson that it is for
        fork_server.wait()

    def close(self) -> None:
        """End all processes and remove what was written."""
        self._end_template()
        self._fork_server.close()
        if self._own is not None:
            self._own.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def grade(self, job: Job) -> Outcome:
        """The outcome of one submission."""
        begun = time.monotonic()
        prepared = self._lesson(job.lesson)
        name = shown_name(job.notebook.name)
        try:
            repaired = _repaired(prepared, job.notebook, self._limits.notebook_nbytes)
        except FileNotFoundError:
            return self._unrun(job, Status.MISSING, f"{name} is not there.", begun)
        except OSError as error:
            status, reason = not_readable(name, error)
            return self._unrun(job, Status(status), reason, begun)
        except Malformed as error:
            return self._unrun(job, Status.MALFORMED, str(error), begun)
        return self._grade(job, repaired, begun)

    def _grade(self, job: Job, repaired: Repaired, begun: float) -> Outcome:
        reasons: list[str] = []
        suspect: int | None = None
        shown: dict[int, CellOutcome] = {}
        for attempt in range(_ATTEMPTS):
            try:
                last = attempt + 1 == _ATTEMPTS
                return self._execute(
                    job, repaired, begun, shown, suspect=suspect, last_attempt=last
                )
            except (ForkServerError, SandboxError, CheckerFailed, OSError) as error:
                reasons.append(str(error))
                suspect = error.step if isinstance(error, CheckerFailed) else None
                self._replace_fork_server()
        reason = f"The grader failed: {'; '.join(reasons)}"
        return self._unrun(job, Status.INFRASTRUCTURE, reason, begun)

    def _unrun(self, job: Job, status: Status, reason: str, begun: float) -> Outcome:
        seconds = time.monotonic() - begun
        return unrun(job, status, reason, seconds=seconds, sandboxed=self._sandbox)

    def _execute(
        self,
        job: Job,
        repaired: Repaired,
        begun: float,
        shown: dict[int, CellOutcome],
        *,
        suspect: int | None,
        last_attempt: bool,
    ) -> Outcome:
        prepared = self._lesson(job.lesson)
        steps = plan(repaired.cells, prepared.form, prepared.shown)
        self._fork_server.load(prepared.modules, prepared.common_sources)
        prepared.folder.lay_out()
        loopback = prepared.loopback
        limits = self._limits.with_loopback() if loopback else self._limits
        listener = self.listener
        compares = prepared.known.is_usable
        checkers = CheckerMaterial(self._shell, prepared.folder, limits, compares)
        template = None if last_attempt else self._template_of(prepared, checkers)
        execution = Execution(
            steps,
            _with_own_files(prepared.material, job),
            limits,
            fork_student=student_forker(self._fork_server, limits, listener, loopback=loopback),
            fork_checker=lambda: Checker(checkers, listener, template),
            snapshot_places=snapshot_places_of(steps, prepared.shown),
            suspect=suspect,
            last_attempt=last_attempt,
            shown=shown,
            known=None if last_attempt else prepared.known,
        )
        try:
            execution.run()
        finally:
            shown.update(execution.shown)
            execution.close()
        record = _record(job, steps, execution, repaired, begun, self._sandbox)
        return Outcome(record, _notebook(repaired.cells, prepared, steps, execution.outcomes))

    def _template_of(
        self, prepared: _PreparedLesson, checkers: CheckerMaterial
    ) -> CheckerTemplate | None:
        """What checkers of the lesson are forked from; None where that does not pay, or not yet."""
        if self._templated is not prepared:  # its first submission may be its last
            self._end_template()
            self._templated = prepared
        elif self._template is None:
            self._template = checkers.template(prepared.material.setup, prepared.rehearsed)
        elif self._template.is_ready:
            return self._template
        return None

    def _end_template(self) -> None:
        if self._template is not None:
            self._template.close()
            self._template = None

    def _lesson(self, lesson: Lesson) -> _PreparedLesson:
        key = f"{lesson.source}\0{lesson.digest}"
        if key not in self._lessons:
            self._refuse_visible(lesson)
            known = KnownTests(key, self._siblings)
            folder = Path(self._scratch, str(len(self._lessons)))
            prepared = _prepare_lesson(lesson, folder, known)
            of_the_moment = any(map(reads_a_clock, (prepared.material.setup, *prepared.tests)))
            if of_the_moment or not declares_rehearsal(prepared.cells):
                known.give_up()  # what a test cell finds may follow from more than the answer
            read_ahead(self._shell, prepared.tests)
            if self._every_cell:
                prepared = replace(prepared, shown=None)
            if self._fork_server.load(prepared.modules, prepared.common_sources):
                load_modules(prepared.modules)
            else:  # each submission has to import them itself, in a cell that may only show
                prepared = replace(prepared, modules=(), shown=None)
                self._replace_fork_server()
            gc.collect()
            gc.freeze()
            self._lessons[key] = prepared
        return self._lessons[key]

    def _refuse_visible(self, lesson: Lesson) -> None:
        hidden = any(lesson.source.resolve().is_relative_to(one.resolve()) for one in self._hide)
        if self._sandbox and is_shown(lesson.source) and not hidden:
            raise SandboxError(
                f"{lesson.source} lies in a directory that every submission can read",
                remedy="Keep the course directory outside of Python's own directories.",
            )

    def _replace_fork_server(self) -> None:
        self._fork_server.close()
        if self._own is not None:
            self._own.close()
        self._own = StudentForkServers(
            self._limits, sandbox=self._sandbox, hide=self._hide, scratch=self._scratch
        )
        (self._fork_server,) = self._own.servers


def _prepare_lesson(lesson: Lesson, folder: Path, known: KnownTests) -> _PreparedLesson:
    notebook = lesson.read()
    cells = tuple(lesson.cells())
    root = lesson.source.parent
    names = {path.relative_to(root).as_posix(): path for path in lesson.data_files}
    files = {name: path.read_bytes() for name, path in names.items()}
    modules = modules_needed(cell["source"] for cell in cells if cell["cell_type"] == "code")
    form = FormOfTests.of(cells, lesson.marks)
    steps = plan(cells, form)
    tests = tuple(step.source for step in steps if step.kind is CellKind.TEST)
    common_sources = tuple(
        step.source
        for step, cell in zip(steps, cells, strict=True)
        if step.kind is CellKind.RUN and not is_answer(cell)
    )
    material = Material(setup_source(cells), files, common_sources)
    about = dict(notebook.get("metadata", {}))
    return _PreparedLesson(
        *(cells, about, material, LessonFolder(folder, names), modules, tests, common_sources),
        declares_loopback(cells),
        known,
        ShownCells(cells),
        lesson.prepared.handed_out if lesson.prepared else None,
        form,
        tests if declares_rehearsal(cells) else (),
    )


def _with_own_files(material: Material, job: Job) -> Material:
    """The material with what came along; only lessons of our own are whole without it."""
    if job.lesson.prepared is None:
        return material
    own = {}
    for one in taken_along(look_through(job.directory).files):
        if _can_travel(one.name) and not is_covered(one.name, job.lesson):
            with suppress(OSError):  # nobody may read it; the submission's notes say so
                own[one.name] = read_start(one.path, one.size)
    return replace(material, files={**material.files, **own})


def _can_travel(name: str) -> bool:
    """Whether the file system of a submission takes a file of that name."""
    try:
        return all(len(part) <= _NAME_NBYTES for part in name.encode().split(b"/"))
    except UnicodeEncodeError:
        return False


def _repaired(prepared: _PreparedLesson, path: Path, limit: int) -> Repaired:
    """The notebook at `path` in the form of its lesson; raises `OSError` or `Malformed`."""
    raw = read_start(path, limit + 1)
    if len(raw) > limit:
        raise Malformed(f"The file has more than {limit // 2**20} MB; clear its outputs.")
    try:
        return repair(prepared.cells, read_submission(raw), prepared.handed_out)
    except (Malformed, OSError):
        raise
    except Exception as error:  # a fault of this file: the same code reads every valid notebook
        name = type(error).__name__
        raise Malformed(
            f"The file breaks the form of a notebook ({name}). Open it in JupyterLab, save it and "
            "hand it in again."
        ) from error


def _record(
    job: Job,
    steps: tuple[Step, ...],
    execution: Execution,
    repaired: Repaired,
    begun: float,
    sandboxed: bool,
) -> SubmissionRecord:
    outcomes = execution.outcomes
    exercises = tuple(
        judge(exercise, steps, outcomes, repaired.missing, repaired.remarks)
        for exercise in job.lesson.exercises
    )
    status = submission_status(exercises, outcomes.values())
    later = (FAILED_LATER,) if execution.has_failed_later else ()
    ran = (*modes_note(execution.put_back), *notes_of(steps, outcomes), *later)
    notes = (*repaired.notes, *ran)
    seconds = time.monotonic() - begun
    return record_of(job, status, exercises, seconds, sandboxed=sandboxed, notes=notes)


def _notebook(
    cells: tuple[RawCell, ...],
    prepared: _PreparedLesson,
    steps: tuple[Step, ...],
    outcomes: dict[int, CellOutcome],
) -> NotebookNode:
    """The executed notebook: the repaired cells with the outputs that they showed here."""
    done = [_executed(cells[s.index], outcomes.get(s.index, CellOutcome()), s.kind) for s in steps]
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": prepared.metadata, "cells": done}
    return as_node(notebook, depth=_NODE_DEPTH)


_NODE_DEPTH = 6  # notebook, cells, cell, outputs, output, data: below, plain values do


def as_node(value: Any, depth: int) -> Any:
    """Like `nbformat.from_dict`, to a depth: check tables are large, and nobody walks them so."""
    if depth and isinstance(value, dict):
        return NotebookNode({key: as_node(one, depth - 1) for key, one in value.items()})
    if depth and isinstance(value, list):
        return [as_node(one, depth - 1) for one in value]
    return value


def _executed(cell: RawCell, outcome: CellOutcome, kind: CellKind) -> RawCell:
    if cell["cell_type"] != "code":
        return cell
    if kind is CellKind.SHOWN:
        return {"outputs": [], "execution_count": None, **cell}
    # The source's times of an earlier run would make a page take this for Jupyter's run.
    metadata = {key: one for key, one in cell["metadata"].items() if key != "execution"}
    cell = {**cell, "metadata": metadata}
    outputs = list(outcome.outputs)
    if outcome.failure is not None:
        text = f"This cell {outcome.failure.reason}."
        name = {"output_type": "error", "ename": outcome.failure.cause.value, "evalue": text}
        outputs.append({**name, "traceback": [text]})
    return {**cell, "outputs": outputs, "execution_count": outcome.count}
