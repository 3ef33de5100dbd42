"""The gate through a runner: several answers in each submission, as learners would hand them in.

Exercises do not depend on each other, so one submission carries answers to all of them. To start
one costs as much as to test six answers, so each is filled: where an exercise has more answers than
others, it stands in the lesson several times, each time with an answer and the same test. What
neither sets up, answers nor tests is left out of them: nobody looks at the figures. A place that
has no answer left is handed in as it was given out: that costs less than to prepare the lesson anew
without it, and far less than to put its solution to every check once more.

A second answer to an exercise finds the names of the first. What the gate does not accept is
therefore tried once more alone.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from autograder.answer_bank.expectations import Case
from autograder.answer_bank.notebook_runner import AnswerRunResult, Ended
from autograder.errors import LessonError
from autograder.lessons.cells import (
    RawCell,
    cells_of,
    declares_loopback,
    put_source,
    read_notebook,
    saved_notebook,
)
from autograder.lessons.lint.lesson import SETUP
from autograder.lessons.model import Exercise, Lesson, read_lesson
from autograder.lessons.regions import HIDDEN, split_regions
from autograder.records.model import ExerciseRecord, Status
from autograder.records.runner import Job, Outcome, Runner

Batch = dict[str, Case]  # the case at each place of a submission, by the name of the place
Done = Callable[[int], None]

_FULL = 16  # answers in a submission: one that ends its process has the others run again


def run_batched(
    cases: Sequence[Case],
    runner: Runner,
    *,
    done: Done = lambda count: None,
    all_cells: bool = False,
) -> list[AnswerRunResult]:
    """What each case came to, in their order; `done` hears how many are through.

    With `all_cells` nothing of the lesson is left out of the submissions.
    """
    lessons = dict.fromkeys(case.lesson.slug for case in cases)
    most = 1 if all_cells else _FULL  # a whole lesson has each exercise once
    batches = [
        batch
        for slug in lessons
        for batch in batched([one for one in cases if one.lesson.slug == slug], most)
    ]
    return _run(cases, batches, runner, done, all_cells)


def run_with_all_cells(
    cases: Sequence[Case], runner: Runner, every: Runner, *, done: Done = lambda count: None
) -> list[AnswerRunResult]:
    """What each case comes to in whole lessons, once with and once without what only shows.

    Args:
        cases: Of any lessons.
        runner: Leaves cells out that only show.
        every: Runs every cell.
        done: Hears how many cases are through.

    Raises:
        LessonError: A case comes to something else where every cell runs.
    """
    found = run_batched(cases, runner, done=done, all_cells=True)
    other = run_batched(cases, every, done=done, all_cells=True)
    differing = [
        f"{case.lesson.slug}, {case.exercise.name}: {one.points:g} points, and {two.points:g} "
        f"where every cell runs ({case.title})"
        for case, one, two in zip(cases, found, other, strict=True)
        if (one.points, one.ended) != (two.points, two.ended)
    ]
    if differing:
        raise LessonError(
            "cells that only show change what an answer comes to:\n" + "\n".join(differing),
            remedy="Take `shows` from the cells whose effect it is, and mend what proves it.",
        )
    return found


def run_alone(cases: Sequence[Case], runner: Runner) -> list[AnswerRunResult]:
    """What each case comes to in a submission of its own, where no other answer can disturb it."""
    batches = [{case.exercise.name: case} for case in cases]
    return _run(cases, batches, runner, lambda count: None, alone=True)


def _run(
    cases: Sequence[Case],
    batches: Sequence[Batch],
    runner: Runner,
    done: Done,
    all_cells: bool = False,
    alone: bool = False,
) -> list[AnswerRunResult]:
    others = () if alone else cases
    named = {f"answers-{number:04d}": batch for number, batch in enumerate(batches)}
    found: dict[int, AnswerRunResult] = {}
    with tempfile.TemporaryDirectory(prefix="autograder-gate-") as folder:
        for outcome in runner.run_many(_jobs(dict(named), Path(folder), others, all_cells)):
            for place, case in named.pop(outcome.record.student).items():
                found[id(case)] = result_of(case, outcome, place)
            done(len(found))
    return [found.get(id(case)) or result_of(case, None) for case in cases]


def batched(cases: Sequence[Case], most: int = _FULL) -> list[Batch]:
    """The cases of one lesson in as few submissions as hold them; constants come first.

    Constants stand apart: the tests that they are put to name no beliefs, so it's another lesson.

    Args:
        cases: All of one lesson.
        most: About how many answers a submission may hold, and at least one to each exercise.
    """
    constants = [case for case in cases if case.kind == "constant"]
    others = [case for case in cases if case.kind != "constant"]
    return [*_filled(constants, most), *_filled(others, most)]


def _filled(cases: Sequence[Case], most: int) -> list[Batch]:
    numbers = Counter(case.exercise.name for case in cases)
    longest = max(numbers.values(), default=0)
    wanted = min(longest, -(-len(cases) // most)) if most > 1 else longest
    batches: list[Batch] = [{} for _ in range(wanted)]
    seen = Counter[str]()
    for case in cases:
        name = case.exercise.name
        number, copy = divmod(seen[name], -(-numbers[name] // wanted))
        batches[number][_place(name, copy)] = case
        seen[name] += 1
    return [batch for batch in batches if batch]


def _place(name: str, copy: int) -> str:
    """What an exercise is called where it stands in the lesson for the `copy`-th time."""
    return f"{name}-again-{copy}" if copy else name


def result_of(case: Case, outcome: Outcome | None, place: str = "") -> AnswerRunResult:
    """What the runner's outcome says of one case; a lost submission is a process that died.

    `place` is the exercise's name in the submission, where it is not its own.
    """
    own = case.exercise.name
    record = outcome.record.exercise(place or own) if outcome else None
    if outcome is None or record is None:
        return AnswerRunResult(ended="died", points=0.0, record=None)
    again = (place or own).removeprefix(own)
    return AnswerRunResult(
        ended=_ended(record),
        points=record.score,
        record=replace(record, id=own) if record.checks or not record.attempted else None,
        answer_error=_error_in(outcome.notebook, case.exercise.answer_id + again),
        test_error=_error_in(outcome.notebook, case.exercise.test_id + again),
    )


def _jobs(
    batches: Mapping[str, Batch], folder: Path, others: Iterable[Case], all_cells: bool
) -> Iterator[Job]:
    """The submissions, each with its lesson: the exercises of its batch, and of all `others`."""
    lessons: dict[tuple[object, ...], Lesson] = {}
    usual: dict[tuple[str, bool], dict[str, Exercise]] = defaultdict(dict)
    for case in others:
        usual[_kept_apart(case)].setdefault(case.exercise.name, case.exercise)
    copies: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for batch in batches.values():
        copies[_kept_apart(_first(batch))] |= Counter(one.exercise.name for one in batch.values())
    for student, batch in batches.items():
        first = _first(batch)
        whole = first.lesson
        asked = {case.exercise.name: case.exercise for case in batch.values()}
        exercises = usual[_kept_apart(first)] | asked
        key = (whole.slug, *(one.test_source for one in exercises.values()))
        if key not in lessons:
            place = folder / f"source-{len(lessons)}"
            numbers = {one: copies[_kept_apart(first)][one.name] for one in exercises.values()}
            lessons[key] = _shortened(whole, numbers, place, all_cells)
        lesson, path = lessons[key], folder / student / f"{whole.slug}.ipynb"
        _write(path, lesson, _submission(lesson, batch, solved=all_cells))
        yield Job(student, lesson, path, path.parent)


def _first(batch: Batch) -> Case:
    return next(iter(batch.values()))


def _kept_apart(case: Case) -> tuple[str, bool]:
    """The lesson that a case is put to, and whether without its beliefs."""
    return case.lesson.slug, case.kind == "constant"


def _shortened(
    lesson: Lesson, copies: Mapping[Exercise, int], folder: Path, all_cells: bool
) -> Lesson:
    """The lesson with nothing but its set-up cell and these exercises, written into `folder`.

    With `all_cells` nothing is taken out. Each exercise stands there as often as `copies` says.
    """
    notebook = read_notebook(lesson.source)
    asking = (one.get("id") for one in cells_of(notebook) if declares_loopback([one]))
    kept = {SETUP, *asking}
    for one in copies:
        kept |= {one.answer_id, one.test_id}
        put_source(notebook, one.test_id, one.test_source)
    cells = notebook["cells"]
    notebook["cells"] = [cell for cell in cells if all_cells or cell.get("id") in kept]
    for one, count in copies.items():
        _repeat(notebook["cells"], one, count)
    path = folder / lesson.slug / f"{lesson.slug}.ipynb"
    _write(path, lesson, notebook)
    return read_lesson(path)


def _repeat(cells: list[RawCell], one: Exercise, count: int) -> None:
    """Have the cells of an exercise stand `count` times in a notebook, one after the other."""
    ids = [cell.get("id") for cell in cells]
    own = [cells[ids.index(id_)] for id_ in dict.fromkeys((one.answer_id, one.test_id))]
    end = ids.index(one.test_id) + 1
    copies = [_again(cell, copy) for copy in range(1, count) for cell in own]
    cells[end:end] = copies


def _again(cell: RawCell, copy: int) -> RawCell:
    again = deepcopy(cell)
    again["id"] = _place(cell["id"], copy)
    about = again["metadata"]["nbgrader"]
    about["grade_id"] = _place(about["grade_id"], copy)
    return again


def _submission(lesson: Lesson, batch: Batch, *, solved: bool) -> dict[str, Any]:
    """What a learner hands in: their answers, and the test cells as they were given out.

    What the batch does not answer is `solved`, for cells that show it, or else untouched.
    """
    notebook = read_notebook(lesson.source)
    for one in () if solved else lesson.exercises:
        if not one.manual:
            put_source(notebook, one.answer_id, one.stub)
    for place, case in batch.items():
        again = place.removeprefix(case.exercise.name)
        visible, _ = split_regions(case.exercise.test_source, HIDDEN)
        put_source(notebook, case.exercise.test_id + again, "\n".join(visible))
        put_source(notebook, case.exercise.answer_id + again, case.source)
    return notebook


def _write(path: Path, lesson: Lesson, notebook: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(saved_notebook(notebook))
    for data in lesson.data_files:
        target = path.parent / data.relative_to(lesson.source.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.read_bytes())


def _ended(record: ExerciseRecord) -> Ended:
    if record.status is Status.TIMEOUT:
        return "timeout"
    return "finished" if record.status is Status.GRADED else "died"


def _error_in(notebook: Mapping[str, Any] | None, cell_id: str) -> str | None:
    """Return how a cell ended, `Type: message`, where it raised."""
    cells = notebook["cells"] if notebook is not None else []
    for cell in cells:
        if cell.get("metadata", {}).get("nbgrader", {}).get("grade_id") != cell_id:
            continue
        for output in cell.get("outputs", []):
            if output.get("output_type") == "error":
                return f"{output.get('ename')}: {output.get('evalue')}"
    return None
