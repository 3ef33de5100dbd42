"""Executes the steps of one submission: cells beside the learner, test cells in the checker.

A cell that ends the process (or never ends) is left out and the cells before it run again in a
fresh process, so that it costs only what depends on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from autograder.engine.checker.client import Checker, CheckerBroken, Stuck, TestRun
from autograder.engine.forkserver.client import Zygote
from autograder.engine.limits import Limits
from autograder.engine.outputs import TABLE_KEY, Budget, Output, Outputs
from autograder.engine.plan import Part, Step
from autograder.engine.protocol.channel import Listener
from autograder.engine.student.client import CellEnd, Fate, Life, Lost, Twin

_MOST_LIVES = 6
_MEMORY_WORDS = ("can't allocate memory", "not enough memory", "Cannot allocate memory")


@dataclass(frozen=True)
class Material:
    """What a submission is executed with: the set-up cell's text and the lesson's files."""

    setup: str
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass
class Shown:
    """What became of one cell."""

    outputs: tuple[Output, ...] = ()
    count: int | None = None
    error: str | None = None
    lost: Lost | None = None
    memory_error: bool = False


class Execution:
    """One submission on its way; `shown` holds what is known about each step."""

    def __init__(
        self,
        steps: tuple[Step, ...],
        material: Material,
        limits: Limits,
        *,
        fork_student: Callable[[], Life],
        fork_checker: Callable[[], Checker],
        suspect: int | None = None,
        confined: bool = False,
    ) -> None:
        """Prepare; the two functions start processes.

        `suspect` is the step whose test ended the checker when all of this was tried before;
        where it is `confined`, a checker that breaks costs only the exercise that it was at.
        """
        self._steps, self._material, self._limits = steps, material, limits
        self._fork_student, self._fork_checker = fork_student, fork_checker
        self._until = time.monotonic() + limits.submission_s
        self._checker: Checker | None = None
        self._suspect, self._confined = suspect, confined
        self._budget = Budget(limits.outputs_nbytes)
        self.shown: dict[int, Shown] = {}

    def carry_out(self) -> None:
        """Run everything; raises only for faults of the grader."""
        left_out: set[int] = set()
        for _ in range(_MOST_LIVES):
            life = self._fork_student()
            try:
                twins, culprit = self._run_cells(life, left_out)
                if culprit is None:
                    life.finish()
                    self._run_tests(life, twins)
                    return
            finally:
                life.end()
            left_out.add(culprit)
            if self._out_of_time():
                break
        self._give_up(left_out)

    def close(self) -> None:
        """End the checker process."""
        if self._checker is not None:
            self._checker.close()
            self._checker = None

    def _run_cells(self, life: Life, left_out: set[int]) -> tuple[dict[int, Twin], int | None]:
        """The twins by step, and the number of the cell that ended the process, if one did."""
        twins: dict[int, Twin] = {}
        self._budget = Budget(self._limits.outputs_nbytes)  # what was shown before is replaced
        step = self._steps[0] if self._steps else None
        try:
            life.begin(self._material.setup, self._material.files, self._deadline())
            for step in self._steps:
                if step.index in left_out or step.part is Part.TEXT:
                    continue
                if step.part is Part.TEST:
                    twins[step.index] = life.park(self._deadline())
                elif not self._run_cell(life, step):
                    return {}, step.index
        except Lost as lost:
            if step is None:
                return {}, None
            self.shown[step.index] = Shown(lost=lost)
            return {}, step.index
        return twins, None

    def _run_cell(self, life: Life, step: Step) -> bool:
        """Run a cell; False where the process cannot go on after it."""
        plain = step.part is Part.PLAIN_TEST
        # The points of a plain test are read from its outputs: no other cell may use up its room.
        outputs = Outputs(self._limits, None if plain else self._budget)
        shown = self.shown[step.index] = Shown()
        try:
            end = life.run(step.source, outputs, self._deadline(), plain=plain)
        except Lost as lost:
            shown.outputs, shown.lost = tuple(outputs.as_list()), self._about_time(lost)
            return False
        outputs.end_with(end.error, end.value)
        outputs.drop_metadata(TABLE_KEY)
        shown.outputs, shown.count = tuple(outputs.as_list()), end.count
        shown.error, shown.memory_error = end.error, _is_memory_error(end)
        if shown.memory_error and end.nbytes > 0.6 * self._limits.memory_nbytes:
            reason = "took more memory than a submission may and kept it"
            shown.lost = Lost(Fate.OUT_OF_MEMORY, reason)
            return False
        return True

    def _run_tests(self, life: Life, twins: Mapping[int, Twin]) -> None:
        for step in self._steps:
            if step.part is Part.TEST and step.index in twins:
                run = self._test(life, step, twins[step.index])
                lost = None if run.lost is None else self._about_time(run.lost)
                self.shown[step.index] = Shown(
                    run.outputs, run.count, run.error, lost, run.memory_error
                )

    def _test(self, life: Life, step: Step, twin: Twin) -> TestRun:
        if self._out_of_time():
            return TestRun((), lost=self._no_time())
        if self._checker is None:
            self._checker = self._fork_checker()
            self._checker.set_up(self._material.setup, self._deadline())
        try:
            return self._checker.run(step.source, life.line(twin), self._deadline())
        except Stuck as stuck:
            self.close()
            return TestRun((), lost=stuck.lost)
        except CheckerBroken as error:
            error.step = step.index
            if not self._confined:
                raise
            self.close()
            return TestRun((), lost=self._about_break(step, error))

    def _about_break(self, step: Step, error: CheckerBroken) -> Lost:
        """An answer that ends the checker each time is to blame; what came once is our fault."""
        if step.index == self._suspect and error.died:
            return Lost(Fate.CRASHED, "ended the process that checks it, each time it was tried")
        return Lost(Fate.INFRASTRUCTURE, f"could not be carried out: {error}")

    def _give_up(self, left_out: set[int]) -> None:
        """Mark what was never reached."""
        reason = self._no_time() if self._out_of_time() else _too_often()
        for step in self._steps:
            unseen = step.index not in self.shown
            if step.part in (Part.TEST, Part.PLAIN_TEST) and unseen:
                self.shown[step.index] = Shown(lost=reason)

    def _deadline(self) -> float:
        return min(time.monotonic() + self._limits.cell_s, self._until)

    def _out_of_time(self) -> bool:
        return time.monotonic() >= self._until

    def _no_time(self) -> Lost:
        limit = f"{self._limits.submission_s:g} s"
        return Lost(Fate.TIMEOUT, f"was not reached within the {limit} of a submission")

    def _about_time(self, lost: Lost) -> Lost:
        """The same, saying which of the two limits was reached."""
        if lost.fate is not Fate.TIMEOUT:
            return lost
        if self._out_of_time():
            limit = f"{self._limits.submission_s:g} s of the whole submission"
        else:
            limit = f"{self._limits.cell_s:g} s of a cell"
        return Lost(Fate.TIMEOUT, f"ran longer than the {limit} and was stopped")


def student_forker(zygote: Zygote, limits: Limits, listener: Listener) -> Callable[[], Life]:
    """A function that starts a student process of `zygote`."""
    return lambda: Life(zygote, limits, listener)


def _is_memory_error(end: CellEnd) -> bool:
    words = any(word in end.value for word in _MEMORY_WORDS)
    return end.error == "MemoryError" or (end.error in ("RuntimeError", "OSError") and words)


def _too_often() -> Lost:
    return Lost(Fate.CRASHED, "was not reached: too many cells before it ended the process")
