"""The gate through a runner: answers packed into submissions, as learners would hand them in.

Exercises do not depend on each other, so one submission carries one answer to each of them: a
lesson of ten exercises with fifteen answers to the longest takes fifteen submissions, not a
hundred.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autograder.faults import put, written
from autograder.judge import Case
from autograder.lessons import Lesson
from autograder.records import ExerciseRecord, Status
from autograder.release import class_editions
from autograder.runner import Job, Outcome, Runner
from autograder.trial import Ended, TrialResult

Pack = dict[str, Case]  # one case for each exercise, by its name


def run_packed(cases: Sequence[Case], runner: Runner) -> list[TrialResult]:
    """What each case came to, in their order."""
    lessons = {case.lesson.slug: case.lesson for case in cases}
    packs = {
        f"{slug}-{number:03d}": pack
        for slug in lessons
        for number, pack in enumerate(packed([one for one in cases if one.lesson.slug == slug]))
    }
    with tempfile.TemporaryDirectory(prefix="autograder-gate-") as folder:
        jobs = _jobs(packs, lessons, Path(folder))
        outcomes = {outcome.record.student: outcome for outcome in runner.run_many(jobs)}
    found = {
        id(case): result_of(case, outcomes.get(student))
        for student, pack in packs.items()
        for case in pack.values()
    }
    return [found[id(case)] for case in cases]


def packed(cases: Sequence[Case]) -> list[Pack]:
    """The cases of one lesson in as few submissions as hold them."""
    packs: list[Pack] = []
    place: dict[str, int] = defaultdict(int)
    for case in cases:
        name = case.exercise.name
        if place[name] == len(packs):
            packs.append({})
        packs[place[name]][name] = case
        place[name] += 1
    return packs


def result_of(case: Case, outcome: Outcome | None) -> TrialResult:
    """What the runner's outcome says of one case; a lost submission is a process that died."""
    record = outcome.record.exercise(case.exercise.name) if outcome else None
    if outcome is None or record is None:
        return TrialResult(ended="died", points=0.0, record=None)
    return TrialResult(
        ended=_ended(record),
        points=record.score,
        record=record,
        answer_error=_error_in(outcome.notebook, case.exercise.answer_id),
    )


def _jobs(packs: Mapping[str, Pack], lessons: Mapping[str, Lesson], folder: Path) -> list[Job]:
    released = {}
    for slug, lesson in lessons.items():
        editions = class_editions(lesson.source.parents[2], [lesson])
        released[slug] = editions[f"{slug}/{slug}.ipynb"]
    jobs = []
    for student, pack in packs.items():
        lesson = next(case.lesson for case in pack.values())
        notebook = json.loads(released[lesson.slug])
        for case in pack.values():
            put(notebook, case.exercise.answer_id, case.source)
        path = folder / student / f"{lesson.slug}.ipynb"
        path.parent.mkdir()
        path.write_bytes(written(notebook))
        for data in lesson.data_files:
            target = path.parent / data.relative_to(lesson.source.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data.read_bytes())
        jobs.append(Job(student, lesson, path, path.parent))
    return jobs


def _ended(record: ExerciseRecord) -> Ended:
    if record.status is Status.TIMEOUT:
        return "timeout"
    return "finished" if record.status is Status.GRADED else "died"


def _error_in(notebook: Mapping[str, Any] | None, cell_id: str) -> str | None:
    """Return how the answer's cell ended, `Type: message`, where it raised."""
    cells = notebook["cells"] if notebook is not None else []
    for cell in cells:
        if cell.get("metadata", {}).get("nbgrader", {}).get("grade_id") != cell_id:
            continue
        for output in cell.get("outputs", []):
            if output.get("output_type") == "error":
                return f"{output.get('ename')}: {output.get('evalue')}"
    return None
