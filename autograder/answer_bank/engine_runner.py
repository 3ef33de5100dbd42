"""The gate through a runner: several answers in each submission, as learners would hand them in.

Exercises do not depend on each other, so one submission carries one answer to each of them: a
lesson of ten exercises with fifteen answers to the longest takes fifteen submissions, not a
hundred.  What neither sets up, answers nor tests is left out of them: nobody looks at the figures.
A mutant's test ends at the first check that fails.  So an exercise that has no mutant left is
handed in as it was given out, which costs less than to prepare the lesson anew without it.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.answer_bank.expectations import Case
from autograder.answer_bank.notebook_runner import AnswerRunResult, Ended
from autograder.errors import LessonError
from autograder.lessons.cells import (
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

Batch = dict[str, Case]  # one case for each exercise, by its name
Done = Callable[[int], None]


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
    batches = [
        batch
        for slug in lessons
        for batch in batched([one for one in cases if one.lesson.slug == slug])
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
    mutants = any(case.kind == "mutant" for case in cases)
    others = cases if mutants and not alone else ()
    named = {f"answers-{number:04d}": batch for number, batch in enumerate(batches)}
    found: dict[int, AnswerRunResult] = {}
    with tempfile.TemporaryDirectory(prefix="autograder-gate-") as folder:
        for outcome in runner.run_many(_jobs(dict(named), Path(folder), others, all_cells)):
            for case in named.pop(outcome.record.student).values():
                found[id(case)] = result_of(case, outcome)
            done(len(found))
    return [found.get(id(case)) or result_of(case, None) for case in cases]


def batched(cases: Sequence[Case]) -> list[Batch]:
    """The cases of one lesson in as few submissions as hold them; constants come first."""
    cases = sorted(cases, key=lambda case: case.kind != "constant")
    batches: list[Batch] = []
    place: dict[str, int] = defaultdict(int)
    for case in cases:
        name = case.exercise.name
        if place[name] == len(batches):
            batches.append({})
        batches[place[name]][name] = case
        place[name] += 1
    return batches


def result_of(case: Case, outcome: Outcome | None) -> AnswerRunResult:
    """What the runner's outcome says of one case; a lost submission is a process that died."""
    record = outcome.record.exercise(case.exercise.name) if outcome else None
    if outcome is None or record is None:
        return AnswerRunResult(ended="died", points=0.0, record=None)
    return AnswerRunResult(
        ended=_ended(record),
        points=record.score,
        record=record if record.checks or not record.attempted else None,
        answer_error=_error_in(outcome.notebook, case.exercise.answer_id),
        test_error=_error_in(outcome.notebook, case.exercise.test_id),
    )


def _jobs(
    batches: Mapping[str, Batch], folder: Path, others: Iterable[Case], all_cells: bool
) -> Iterator[Job]:
    """The submissions, each with its lesson: the exercises of its batch, and of all `others`."""
    lessons: dict[tuple[str, ...], Lesson] = {}
    usual: dict[str, dict[str, Exercise]] = defaultdict(dict)
    for case in others:
        usual[case.lesson.slug].setdefault(case.exercise.name, case.exercise)
    for student, batch in batches.items():
        whole = next(case.lesson for case in batch.values())
        asked = {name: case.exercise for name, case in batch.items()}
        exercises = usual[whole.slug] | asked
        key = (whole.slug, *(one.test_source for one in exercises.values()))
        if key not in lessons:
            place = folder / f"source-{len(lessons)}"
            lessons[key] = _shortened(whole, exercises.values(), place, all_cells)
        lesson, path = lessons[key], folder / student / f"{whole.slug}.ipynb"
        _write(path, lesson, _submission(lesson, batch))
        yield Job(student, lesson, path, path.parent)


def _shortened(
    lesson: Lesson, exercises: Iterable[Exercise], folder: Path, all_cells: bool
) -> Lesson:
    """The lesson with nothing but its set-up cell and these exercises, written into `folder`.

    With `all_cells` nothing is taken out.
    """
    notebook = read_notebook(lesson.source)
    asking = (one.get("id") for one in cells_of(notebook) if declares_loopback([one]))
    kept = {SETUP, *asking}
    for one in exercises:
        kept |= {one.answer_id, one.test_id}
        put_source(notebook, one.test_id, one.test_source)
    cells = notebook["cells"]
    notebook["cells"] = [cell for cell in cells if all_cells or cell.get("id") in kept]
    path = folder / lesson.slug / f"{lesson.slug}.ipynb"
    _write(path, lesson, notebook)
    return read_lesson(path)


def _submission(lesson: Lesson, batch: Batch) -> dict[str, Any]:
    """What a learner hands in: their answers, and the test cells as they were given out."""
    notebook = read_notebook(lesson.source)
    for case in batch.values():
        visible, _ = split_regions(case.exercise.test_source, HIDDEN)
        put_source(notebook, case.exercise.test_id, "\n".join(visible))
        put_source(notebook, case.exercise.answer_id, case.source)
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
