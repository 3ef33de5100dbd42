"""`autograder grade`, killed at random: the next run gives what an undisturbed one gives."""

from __future__ import annotations

import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.course_directory import load_course
from autograder.lessons.model import find_lesson
from autograder.records.journal import Journal
from autograder.simulation.simulate import simulate
from tests.autograder.classroom import SLUG, answered, classroom, hand_in
from tests.faults.warden import Plan, Report, watch

KILLS, SEED = 4, 4711
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
CLASS = {
    "ada": answered(),
    "bob": answered(flatten="def flatten(x):\n    return x.clone().reshape(-1)", double=STUB),
    "cleo": {**answered(), "cells": answered()["cells"][:5]},
    "dan": "no notebook at all",
}


def course(root: Path) -> Path:
    """A class with right, wrong, lost and unreadable work, handed in late and in time."""
    classroom(root)
    for number, (student, notebook) in enumerate(CLASS.items()):
        hand_in(root, student, notebook, f"2026-01-{10 + number} 12:00:00 UTC")
    return root


def grade(root: Path, *options: str, **plan: Any) -> Report:
    """What is left of a run of `autograder grade` with this plan."""
    command = [sys.executable, "-m", "autograder", "grade", "--course", str(root), "--jobs", "1"]
    (root.parent / "tmp").mkdir(exist_ok=True)
    return watch(Plan([*command, *options], {"TMPDIR": str(root.parent / "tmp")}, **plan))


def content(root: Path) -> dict[str, Any]:
    """All that a gradebook and the journal say, without the ids and times of the run."""
    where = load_course(root)
    with Gradebook(where.db_url, where.course_id) as gradebook:
        rows = {
            one.student_id: (
                one.timestamp,
                [n.late_submission_penalty for n in one.notebooks],
                {
                    row.name: (row.auto_score, row.needs_manual_grade)
                    for notebook in one.notebooks
                    for row in notebook.grades
                },
                {row.name: row.auto_comment for n in one.notebooks for row in n.comments},
            )
            for one in gradebook.assignment_submissions(SLUG)
        }
    records = Journal(where.state).records(SLUG)
    return {"rows": rows, "records": [{**one.to_json(), "seconds": 0} for one in records]}


def files_of(root: Path) -> set[str]:
    """Every file of a course directory, by its path."""
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A course that was graded in peace, and how long that took."""
    root = course(tmp_path_factory.mktemp("peace") / "course")
    found = grade(root, last=0)
    assert (found.status, found.survivors) == (1, []), found.output
    return root, found.seconds


@pytest.mark.exhaustive("runs that are killed at random")
def test_a_run_that_is_killed_again_and_again_ends_like_one_in_peace(
    tmp_path: Path, undisturbed: tuple[Path, float]
) -> None:
    moments, (peace, seconds) = random.Random(SEED), undisturbed
    root = course(tmp_path / "course")
    for number in range(KILLS):
        # Ctrl-C reaches the whole group of the terminal, a kill only the process that it names.
        last = signal.SIGINT if number % 2 else signal.SIGKILL
        after_s = moments.uniform(0, seconds)
        found = grade(root, "--regrade", last=last, to_group=bool(number % 2), after_s=after_s)
        assert found.survivors == [], (number, after_s)
    assert grade(root, last=0).status == 1  # dan's is no notebook
    assert content(root) == content(peace)
    assert files_of(root) == files_of(peace)
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.exhaustive("a class that is made twice")
def test_a_demo_made_twice_has_the_same_gradebook(tmp_path: Path) -> None:
    lessons, writer = (find_lesson(course(tmp_path / "course"), SLUG),), []
    for _ in range(2):
        out = tmp_path / "course" / "demo"
        simulate(tmp_path / "course", lessons, out=out, students=3, seed=1)
        assert grade(out, last=0).survivors == []
        writer.append(content(out))
    assert writer[0] == writer[1]
    assert len(writer[0]["rows"]) == 3
