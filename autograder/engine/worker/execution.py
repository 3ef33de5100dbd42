"""Executes the steps of one submission: cells beside the learner, test cells in the checker.

A cell that ends the process (or never ends) is left out and the cells before it run again in a
fresh process, so that it costs only what depends on it.

After all cells, the visible parts of all test cells run, and then their hidden tests.

Test cells that may look at one moment of the notebook ask one snapshot: see
`lessons.cell_dependencies.shared_snapshots`. A call that ends it, or leaves something behind for
the calls after it, has the cells run once more, and then each test cell that is left asks a
snapshot of its own.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from autograder.engine.kernel.shell import Part
from autograder.engine.limits import Limits
from autograder.engine.outcomes import TABLE_KEY, CellOutcome, Failure, FailureCause
from autograder.engine.plan import CellKind, Step
from autograder.engine.protocol.channel import Listener
from autograder.engine.worker.checker_client import (
    CellPart,
    Checker,
    CheckerFailed,
    CheckerStuck,
)
from autograder.engine.worker.deadline import Deadline
from autograder.engine.worker.fork_server_client import StudentForkServer
from autograder.engine.worker.known_tests import KnownTests, Replay
from autograder.engine.worker.outputs import Budget, Outputs
from autograder.engine.worker.student_client import (
    ENDED,
    CellReport,
    ProcessFailed,
    Snapshot,
    SnapshotConnection,
    StudentProcess,
)

_MOST_STARTS = 6
_MEMORY_WORDS = ("can't allocate memory", "not enough memory", "Cannot allocate memory")


@dataclass(frozen=True)
class Material:
    """What a submission is executed with: the set-up cell's text, the lesson's files and cells."""

    setup: str
    files: Mapping[str, bytes] = field(default_factory=dict)
    cells: tuple[str, ...] = ()  # of the lesson, as they were handed out; no answers


class Execution:
    """One submission on its way; `outcomes` holds what is known about each step."""

    def __init__(
        self,
        steps: tuple[Step, ...],
        material: Material,
        limits: Limits,
        *,
        fork_student: Callable[[], StudentProcess],
        fork_checker: Callable[[], Checker],
        snapshot_places: Mapping[int, int] | None = None,
        suspect: int | None = None,
        last_attempt: bool = False,
        shown: Mapping[int, CellOutcome] | None = None,
        known: KnownTests | None = None,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            steps: The cells of the notebook, and what each of them is.
            material: What the lesson gives to each submission.
            limits: What the submission may use.
            fork_student: Starts a student process.
            fork_checker: Starts a checker process.
            snapshot_places: For test cells the later one at whose place they may look at the
                notebook; those that it does not name look at it where they stand.
            suspect: The step whose test ended the checker when all of this was tried before.
            last_attempt: A checker that breaks costs only the exercise that it was at.
            shown: What cells showed when all of this was tried before, and tests had begun.
            known: What other submissions have shown of the lesson's test cells.
        """
        self._snapshot_places = {} if last_attempt else dict(snapshot_places or {})
        self._steps, self._material, self._limits = steps, material, limits
        self._fork_student, self._fork_checker = fork_student, fork_checker
        self._begun, self._ended_cpu_s = time.monotonic(), 0.0
        self._student: StudentProcess | None = None
        self._checker: Checker | None = None
        self._suspect, self._last_attempt = suspect, last_attempt
        self._known = known
        self._replays: dict[int, Replay | None] = {}  # of test cells that have begun
        tests = [step.index for step in steps if step.kind is CellKind.TEST]
        first = 2 if material.setup else 1  # after the set-up cell
        self._counts = {index: first + n for n, index in enumerate(tests)}
        self._lost_checker = False
        self._budget = Budget(limits.outputs_nbytes)
        self._own = frozenset(material.cells)
        self.outcomes: dict[int, CellOutcome] = dict(shown or {})
        self._has_asked = bool(shown)  # whether hidden tests may have begun
        self.put_back = frozenset[str]()  # modes that cells left on; no exercise was asked in them
        self.has_failed_later = False  # a cell, when cells ran once more after a hidden test

    def run(self) -> None:
        """Run everything; raises only for faults of the grader."""
        skipped, lost = set[int](), 0
        left = {step.index for step in self._steps if step.kind is CellKind.TEST}
        while lost < _MOST_STARTS:
            student = self._student = self._fork_student()
            try:
                snapshots, failed_step = self._run_cells(student, skipped, left)
                if failed_step is None:
                    if not self._has_asked:
                        self.put_back |= student.put_back
                    student.finish()
                    self._has_asked = True
                    left = self._run_tests(student, snapshots, left) - skipped
                    if not left:
                        return
                    self._snapshot_places.clear()  # each looks where it stands
                else:
                    lost += 1
                    skipped.add(failed_step)
                self._ended_cpu_s += student.cpu_s()
            finally:
                self._student = None
                student.end()
            if self._out_of_time():
                break
        self._mark_unreached(skipped)

    @property
    def shown(self) -> dict[int, CellOutcome]:
        """What cells have shown, where tests have begun since; nothing before."""
        code = [step.index for step in self._steps if step.kind is not CellKind.TEST]
        found = {index: self.outcomes[index] for index in code if index in self.outcomes}
        return found if self._has_asked else {}

    @property
    def own_cells(self) -> tuple[str, ...]:
        """The sources of the lesson's own cells."""
        return self._material.cells

    def close(self) -> None:
        """End the checker process."""
        if self._checker is not None:
            self._checker.close()
            self._checker = None

    def _run_cells(
        self, student: StudentProcess, skipped: set[int], tests: Collection[int]
    ) -> tuple[dict[int, Snapshot], int | None]:
        """The snapshots of these tests, and the number of the cell that ended the process, if any.

        A test that may wait for a later one, and finds other modes there, gets none.
        """
        snapshots: dict[int, Snapshot] = {}
        waiting: dict[int, str] = {}  # tests, with the modes where they stand
        self._budget = Budget(self._limits.outputs_nbytes)  # what was shown before is replaced
        step = self._steps[0] if self._steps else None
        try:
            student.prepare(
                self._material.setup,
                self._material.files,
                self._deadline(student.cpu_s),
                cells=self._material.cells,
            )
            for step in self._steps:
                if step.kind is CellKind.SHOWN:
                    student.draw(step.draws)
                if step.index in skipped or step.kind in (CellKind.TEXT, CellKind.SHOWN):
                    continue
                if step.kind is not CellKind.TEST:
                    if not self._run_cell(student, step):
                        return {}, step.index
                    continue
                if step.index in tests:
                    waiting[step.index] = student.modes
                if waiting and self._snapshot_places.get(step.index, step.index) == step.index:
                    snapshot = student.take_snapshot(self._deadline(student.cpu_s))
                    same = [n for n, modes in waiting.items() if modes == student.modes]
                    snapshots |= dict.fromkeys(same, snapshot)
                    waiting.clear()
        except ProcessFailed as failed:
            if step is None:
                return {}, None
            self._note(step, CellOutcome(failure=failed.failure))
            return {}, step.index
        return snapshots, None

    def _run_cell(self, student: StudentProcess, step: Step) -> bool:
        """Run a cell; False where the process cannot go on after it."""
        plain = step.kind is CellKind.PLAIN_TEST
        # The points of a plain test are read from its outputs: no other cell may use up its budget.
        outputs = Outputs(self._limits, None if plain else self._budget)
        try:
            until = self._deadline(student.cpu_s)
            own = plain or step.source in self._own
            end = student.run(step.source, outputs, until, plain=plain, own=own, name=step.name)
        except ProcessFailed as failed:
            failure = self._naming_the_limit(failed.failure)
            self._note(step, CellOutcome(tuple(outputs.as_list()), failure=failure))
            return False
        outputs.end_with(end.error, end.value)
        outputs.drop_metadata(TABLE_KEY)
        outcome = CellOutcome(
            tuple(outputs.as_list()), end.count, end.error, memory_error=_is_memory_error(end)
        )
        if outcome.memory_error and end.nbytes > 0.6 * self._limits.memory_nbytes:
            reason = "took more memory than a submission may and kept it"
            outcome = replace(outcome, failure=Failure(FailureCause.OUT_OF_MEMORY, reason))
        self._note(step, outcome)
        return outcome.failure is None

    def _note(self, step: Step, outcome: CellOutcome) -> None:
        """Keep what became of a cell.

        Cells that run once more after a hidden test has asked may have learnt from it, by the clock
        at least: what they show then is shown to nobody, nor how one ended. Of the learner's own
        cells, which may be many, not even which it was.
        """
        first = self.outcomes.get(step.index, CellOutcome())
        if not self._has_asked:
            self.outcomes[step.index] = outcome
        elif outcome.failure is not None and first.failure is None:
            self.has_failed_later = True
            if step.grade_id:
                self.outcomes[step.index] = replace(first, failure=_failed_later())

    def _run_tests(
        self, student: StudentProcess, snapshots: Mapping[int, Snapshot], tests: Collection[int]
    ) -> set[int]:
        """Run these tests; those that are to be tried once more, apart from the others.

        What a visible check finds is told in full. So the visible parts of all tests are run before
        any hidden one: then no answer has seen a hidden input that another could tell of.
        """
        run = _TestRun(set(tests) - snapshots.keys(), snapshots)
        for part in (Part.VISIBLE, Part.REST):
            for step in self._steps:
                snapshot = run.snapshot_for(step.index, part)
                if snapshot is None:
                    continue
                outcome = run.whole(step.index, self._test(student, step, snapshot, part))
                if self._lost_checker:  # and with it what they had bound
                    self._lost_checker = False
                    run.try_begun_again()
                if run.is_to_be_tried_again(step.index, outcome):
                    continue
                if outcome.has_rest:
                    run.begun[step.index] = outcome
                    continue
                if outcome.failure is not None:
                    failure = self._naming_the_limit(outcome.failure)
                    if part is Part.REST and failure.cause is FailureCause.CRASHED:
                        failure = replace(failure, reason=ENDED)  # an answer may choose how
                    outcome = replace(outcome, failure=failure)
                self.outcomes[step.index] = outcome
        return run.again

    def _test(
        self, student: StudentProcess, step: Step, snapshot: Snapshot, part: Part
    ) -> CellOutcome:
        if self._out_of_time():
            return CellOutcome(failure=self._out_of_time_failure())
        connection = student.connection(snapshot)
        until = self._deadline(lambda: student.cpu_s() + self._checker_cpu_s())
        test = CellPart(step.source, part, step.index, self._counts[step.index])
        replay = self._replay_of(test)
        if replay is not None:
            outcome = replay.follow(connection, until)
            if outcome is not None:
                return outcome
        try:
            return self._check(test, replay, connection, until)
        except CheckerStuck as stuck:
            self._lose_checker()
            return CellOutcome(failure=stuck.failure)
        except CheckerFailed as error:
            error.step = step.index
            if self._known is not None:
                self._known.give_up()
            if not self._last_attempt:
                raise
            self._lose_checker()
            return CellOutcome(failure=self._checker_failure(step, error))

    def _check(
        self,
        test: CellPart,
        replay: Replay | None,
        connection: SnapshotConnection,
        until: Deadline,
    ) -> CellOutcome:
        """Have the checker run a test, which goes on where `replay` has come to."""
        if self._checker is None:
            self._checker = self._fork_checker()
            self._checker.set_up(self._material.setup, self._deadline(self._checker.cpu_s))
        told = [] if replay is None else replay.told
        if replay is not None and replay.visible is not None:
            before = replace(test, part=Part.VISIBLE)
            self._checker.run(before, connection, until, replay.visible)
        self._replays[test.number] = None  # the rest is run there, too
        checked = self._checker.run(test, connection, until, told, connection.take_pending())
        if self._known is not None:
            self._known.learn(checked)
        return checked.outcome

    def _replay_of(self, test: CellPart) -> Replay | None:
        """The test as far as it is known from others, None where a checker has to run it."""
        if test.part is Part.REST:
            replay = self._replays.get(test.number)
            if replay is not None:
                replay.begin_rest()
            return replay
        self._replays[test.number] = None if self._known is None else self._known.begin(test)
        return self._replays[test.number]

    def _checker_cpu_s(self) -> float:
        return 0.0 if self._checker is None else self._checker.cpu_s()

    def _lose_checker(self) -> None:
        self.close()
        self._lost_checker = True

    def _checker_failure(self, step: Step, error: CheckerFailed) -> Failure:
        """An answer that ends the checker each time is to blame; what came once is our fault."""
        if step.index == self._suspect and error.died:
            return Failure(
                FailureCause.CRASHED, "ended the process that checks it, each time it was tried"
            )
        return Failure(FailureCause.INFRASTRUCTURE, f"could not be carried out: {error}")

    def _mark_unreached(self, skipped: set[int]) -> None:
        """Mark what was never reached."""
        reason = self._out_of_time_failure() if self._out_of_time() else _too_many_restarts()
        for step in self._steps:
            unseen = step.index not in self.outcomes
            if step.kind in (CellKind.TEST, CellKind.PLAIN_TEST) and unseen:
                self.outcomes[step.index] = CellOutcome(failure=reason)

    def _deadline(self, used: Callable[[], float]) -> Deadline:
        """That of a cell which begins now; `used` tells the processor time of who takes part."""
        limits = self._limits
        left = self._begun + limits.patience * limits.submission_s - time.monotonic()
        clock_s = 0.0 if self._out_of_time() else min(limits.patience * limits.cell_s, left)
        return Deadline(limits.cell_s, clock_s, used)

    def _out_of_time(self) -> bool:
        """Whether the whole submission has had its time."""
        limits, elapsed = self._limits, time.monotonic() - self._begun
        if elapsed < limits.submission_s:  # in most cases, and nobody has to be asked
            return False
        now = 0.0 if self._student is None else self._student.cpu_s()
        used = self._ended_cpu_s + now
        return used >= limits.submission_s or elapsed >= limits.patience * limits.submission_s

    def _out_of_time_failure(self) -> Failure:
        limit = f"{self._limits.submission_s:g} s"
        return Failure(FailureCause.TIMEOUT, f"was not reached within the {limit} of a submission")

    def _naming_the_limit(self, failure: Failure) -> Failure:
        """The same, saying so where it was the time of the whole submission."""
        if failure.cause is not FailureCause.TIMEOUT or not self._out_of_time():
            return failure
        limit = f"{self._limits.submission_s:g} s of the whole submission"
        return Failure(FailureCause.TIMEOUT, f"ran beyond the {limit} and was stopped")


class _TestRun:
    """Which of some tests have begun, and which are to be tried once more, apart from the others.

    Attributes:
        again: Those that are to be tried once more.
        begun: Those whose visible part has run, with what became of it.
    """

    def __init__(self, again: set[int], snapshots: Mapping[int, Snapshot]) -> None:
        self.again, self.begun = again, dict[int, CellOutcome]()
        self._snapshots, self._spoilt_by = snapshots, dict[int, int]()
        self._asked_by = Counter(id(one) for one in snapshots.values())

    def snapshot_for(self, number: int, part: Part) -> Snapshot | None:
        """The snapshot that this part of a test asks now; None where it does not run now."""
        snapshot = self._snapshots.get(number)
        is_due = part is not Part.REST or number in self.begun
        if snapshot is None or number in self.again or not is_due:
            return None
        if self._spoilt_by.get(id(snapshot), number) != number:
            self.again.add(number)
            return None
        return snapshot

    def whole(self, number: int, outcome: CellOutcome) -> CellOutcome:
        """The outcome together with that of the visible part, where that came before."""
        before = self.begun.pop(number, None)
        return outcome if before is None else before.followed_by(outcome)

    def try_begun_again(self) -> None:
        """Have those that have begun tried once more."""
        self.again |= self.begun.keys()
        self.begun.clear()

    def is_to_be_tried_again(self, number: int, outcome: CellOutcome) -> bool:
        """Whether an outcome does not count, as it may be what other answers did.

        Who never ends would do so once more. Tests that ask the same snapshot later are to be tried
        again, too, where this one ended it or left something behind.
        """
        snapshot = id(self._snapshots[number])
        failed = outcome.failure is not None or outcome.memory_error
        if self._asked_by[snapshot] == 1 or not (failed or outcome.leaves_something):
            return False
        self._spoilt_by.setdefault(snapshot, number)
        again = failed and not _is_timeout(outcome.failure)
        if again:
            self.again.add(number)
        return again


def student_forker(
    fork_server: StudentForkServer, limits: Limits, listener: Listener, *, loopback: bool = False
) -> Callable[[], StudentProcess]:
    """A function that starts a student process; its arguments are those of `StudentProcess`."""
    return lambda: StudentProcess(fork_server, limits, listener, loopback=loopback)


def _is_memory_error(end: CellReport) -> bool:
    words = any(word in end.value for word in _MEMORY_WORDS)
    return end.error == "MemoryError" or (end.error in ("RuntimeError", "OSError") and words)


def _is_timeout(failure: Failure | None) -> bool:
    return failure is not None and failure.cause is FailureCause.TIMEOUT


def _failed_later() -> Failure:
    return Failure(
        FailureCause.CRASHED, "did not run to its end when cells ran once more for the tests"
    )


def _too_many_restarts() -> Failure:
    return Failure(
        FailureCause.CRASHED, "was not reached: too many cells before it ended the process"
    )
