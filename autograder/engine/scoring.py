"""Turns what became of the cells into the record of a submission; pure decisions.

    what happened                                        status          points
    a test cell ran to its end                           graded          what its checks give
    an endless loop, also one that swallows exceptions   timeout         none; others are graded
    more memory than allowed, also in child processes    out-of-memory   none; others are graded
    os._exit, a segmentation fault, a signal             crashed         none; others are graded
    frames that are none, facts that contradict          tampered        none; others are graded
    exit(), quit(), sys.exit(), input(), any exception   graded          of what was defined before
    a file that is no notebook                           malformed       none
    no file                                              missing         none
    a result that the checker cannot come to an end with timeout         none; others are graded
    a result that ends the checker, each time            crashed         none; others are graded
    a fault of the grader itself, twice in a row         infrastructure  none; it is due again

An answer cell that ends the process is left out, and its exercise keeps the status even where
another cell defines the answer.  A submission has the gravest status of its cells and exercises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from autograder.engine.outcomes import TABLE_KEY, CellOutcome, Failure, Output
from autograder.engine.plan import CellKind, Step
from autograder.lessons.model import Exercise
from autograder.lessons.regions import is_untouched
from autograder.records.model import ExerciseRecord, RecordError, Status, joined
from autograder.records.points import PointsRefused, points_of, why_no_points
from autograder.records.runner import ANSWER_TO_MARK, HANDED_IN_EMPTY, task_record
from course.error_names import error_name

# A submission is called after the first of these that one of its cells or exercises got.
_GRAVEST_FIRST = (
    Status.INFRASTRUCTURE,
    Status.TAMPERED,
    Status.TIMEOUT,
    Status.OUT_OF_MEMORY,
    Status.CRASHED,
)
FAILED_LATER = (
    "Cells ran once more for some of the tests, and one of them did not run to its end then; "
    "what depends on it was tested without it."
)


def judge(
    exercise: Exercise,
    steps: Iterable[Step],
    outcomes: Mapping[int, CellOutcome],
    missing: frozenset[str],
    remarks: Mapping[str, str] = MappingProxyType({}),
) -> ExerciseRecord:
    """The record of one exercise.

    Args:
        exercise: The exercise, as the source notebook defines it.
        steps: The steps of the notebook.
        outcomes: What became of each cell, by `Step.index`; a cell that was not reached is absent.
        missing: Grade ids of the cells that the submission lacked.
        remarks: By the grade id of an answer, what whoever marks it has to know.

    Returns:
        Status, points (0 to `exercise.points`), checks and notes.
    """
    by_id = {step.grade_id: step for step in steps if step.grade_id}
    answer, test = by_id.get(exercise.answer_id), by_id.get(exercise.test_id)
    at_answer = outcomes.get(answer.index, CellOutcome()) if answer else CellOutcome()
    if exercise.manual:
        return _manual(exercise, answer, at_answer, remarks.get(exercise.answer_id))
    if test is None or test.index not in outcomes:
        note = "Its test cell was not reached."
        status = Status(at_answer.failure.cause) if at_answer.failure else Status.INFRASTRUCTURE
        isolated = test is None or test.kind is CellKind.TEST
        return ExerciseRecord(
            exercise.name, status, 0.0, exercise.points, notes=(note,), isolated=isolated
        )
    record = _tested(exercise, test, outcomes[test.index])
    record = _with_answer(record, answer, at_answer, exercise.answer_id in missing)
    if test.kind is CellKind.PLAIN_TEST and answer is not None and _is_stub(exercise, answer):
        return replace(record, attempted=False)
    return replace(record, attempted=True) if _failed(exercise, answer, at_answer) else record


def submission_status(
    exercises: Iterable[ExerciseRecord], outcomes: Iterable[CellOutcome]
) -> Status:
    """The one status of a submission: the gravest of its exercises and cells.

    Args:
        exercises: The records that `judge` gave.
        outcomes: What became of each cell.
    """
    found = {one.status for one in exercises}
    found |= {Status(one.failure.cause) for one in outcomes if one.failure}
    return next((status for status in _GRAVEST_FIRST if status in found), Status.GRADED)


def notes_of(steps: Iterable[Step], outcomes: Mapping[int, CellOutcome]) -> tuple[str, ...]:
    """One sentence for each cell that belongs to no exercise and came to no good end."""
    return tuple(
        f"{step.name} {failure.reason}; what follows ran without it."
        for step in steps
        if step.kind is CellKind.RUN
        and (failure := outcomes.get(step.index, CellOutcome()).failure)
    )


def modes_note(names: Iterable[str]) -> tuple[str, ...]:
    """One sentence on the modes that cells had left on and no exercise was asked in.

    Args:
        names: As in "grad mode"; none, and there is no note.
    """
    modes = [f"the {name}" for name in sorted(names)]
    if not modes:
        return ()
    listed = " and ".join(filter(None, (", ".join(modes[:-1]), modes[-1])))
    was = "was" if len(modes) == 1 else "were"
    return (f"Your cells changed {listed}, which {was} put back before each exercise was run.",)


def _tested(exercise: Exercise, test: Step, outcome: CellOutcome) -> ExerciseRecord:
    isolated = test.kind is CellKind.TEST
    if outcome.failure is not None:
        return _without_points(exercise, outcome.failure, isolated=isolated)
    try:
        points = points_of(outcome.outputs, exercise.points)
    except PointsRefused as refusal:
        return _by_hand(exercise, refusal, isolated=isolated)
    table, notes = _table(outcome.outputs, exercise)
    if outcome.error and table is None:
        # Other classes are the learner's, or of hidden lines: their names may say anything.
        notes = (*notes, f"The test cell ended in {error_name(outcome.error)}.")
    elif why := why_no_points(outcome.outputs):
        notes = (*notes, f"Its test cell {why}.")
    status = Status.GRADED
    if outcome.memory_error and points < exercise.points:
        status = Status.OUT_OF_MEMORY
        notes = (*notes, "A call asked for more memory than a submission may take.")
    return ExerciseRecord(
        id=exercise.name,
        status=status,
        score=points,
        max=exercise.points,
        checks=table.checks if table else (),
        notes=notes,
        attempted=table.attempted if table else True,
        isolated=isolated,
    )


def _by_hand(exercise: Exercise, refusal: PointsRefused, *, isolated: bool) -> ExerciseRecord:
    """The record of an exercise whose test cell gave no points that can be entered."""
    note = f"Its test cell {refusal}. A person gives the points."
    return ExerciseRecord(
        id=exercise.name,
        status=Status.GRADED,
        score=0.0,
        max=exercise.points,
        notes=(note,),
        isolated=isolated,
        manual=True,
    )


def _without_points(exercise: Exercise, failure: Failure, *, isolated: bool) -> ExerciseRecord:
    status, note = Status(failure.cause), f"Its test {failure.reason}."
    return ExerciseRecord(
        exercise.name, status, 0.0, exercise.points, notes=(note,), isolated=isolated
    )


def _with_answer(
    record: ExerciseRecord, answer: Step | None, outcome: CellOutcome, missing: bool
) -> ExerciseRecord:
    """The record, with what became of the answer cell itself."""
    status, notes, attempted = record.status, record.notes, record.attempted
    if answer is not None and outcome.failure is not None:
        status = Status(outcome.failure.cause) if status is Status.GRADED else status
        notes = (f"Your cell {outcome.failure.reason}, so it was left out.", *notes)
        attempted = True
    elif outcome.memory_error and record.score < record.max and status is Status.GRADED:
        status = Status.OUT_OF_MEMORY
        notes = ("Your cell asked for more memory than a submission may take.", *notes)
    if missing:
        attempted = False
    return replace(record, status=status, notes=notes, attempted=attempted)


def _failed(exercise: Exercise, answer: Step | None, outcome: CellOutcome) -> bool:
    """Whether somebody wrote an answer whose cell ended in an error, as for bad syntax.

    The test finds no name then, which alone would look like an exercise that was left out.
    """
    if answer is None or outcome.error in (None, "NotImplementedError"):
        return False
    return not _is_stub(exercise, answer)


def _is_stub(exercise: Exercise, answer: Step) -> bool:
    return _bare(answer.source) == _bare(exercise.stub)


def _manual(
    exercise: Exercise, answer: Step | None, outcome: CellOutcome, remark: str | None
) -> ExerciseRecord:
    if exercise.is_task:
        return task_record(exercise)
    # The model answer itself is an answer.
    source = exercise.stub if answer is None else answer.source
    emptied = not source.strip() and bool(exercise.stub.strip())
    untouched = answer is not None and is_untouched(source, exercise.stub) and not emptied
    status = Status(outcome.failure.cause) if outcome.failure else Status.GRADED
    notes = () if untouched else tuple(filter(None, (ANSWER_TO_MARK, remark)))
    if emptied:
        notes = (HANDED_IN_EMPTY,)
    if outcome.failure:
        notes = (f"Your cell {outcome.failure.reason}.", *notes)
    return ExerciseRecord(
        id=exercise.name,
        status=status,
        score=0.0,
        max=exercise.points,
        notes=notes,
        attempted=not untouched,
        manual=True,
    )


def _bare(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _table(
    outputs: Iterable[Output], exercise: Exercise
) -> tuple[ExerciseRecord | None, tuple[str, ...]]:
    tables = [o["metadata"][TABLE_KEY] for o in outputs if TABLE_KEY in o.get("metadata", {})]
    if not tables:
        return None, ()
    try:
        return joined([ExerciseRecord.from_table(one) for one in tables]), ()
    except RecordError as error:
        return None, (f"The check table of {exercise.name} cannot be read: {error}",)
