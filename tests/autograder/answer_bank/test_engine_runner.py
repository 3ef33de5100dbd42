"""Answers reach a runner as submissions, one answer to each exercise, and come back one by one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.answer_bank.engine_runner import batched, result_of, run_alone, run_batched
from autograder.answer_bank.expectations import Case
from autograder.answer_bank.gate import lesson_gate, run_as_notebook, run_gates
from autograder.answer_bank.notebook_runner import AnswerRunResult
from autograder.lessons.model import find_lesson
from autograder.records.model import CheckRecord, ExerciseRecord, Status, SubmissionRecord
from autograder.records.runner import Job, Outcome
from tests.autograder import tiny


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def cases(course: Path) -> tuple[Case, ...]:
    found = lesson_gate(course, find_lesson(course, "1")).cases
    return tuple(case for case in found if case.kind != "constant")


FLATTEN = ExerciseRecord("flatten", Status.GRADED, 0.0, 4.0)


def outcome(*exercises: ExerciseRecord, raised: str = "", cell: str = "flatten") -> Outcome:
    record = SubmissionRecord(
        *("01-tiny-000", "01-tiny", Status.GRADED, 0.0, 6.0, 0.1, exercises), "engine", True
    )
    shown = new_code_cell("…", metadata={"nbgrader": {"grade_id": cell}})
    if raised:
        shown.outputs = [new_output("error", ename=raised, evalue="no", traceback=[])]
    return Outcome(record, new_notebook(cells=[shown]))


class Reader:
    """A runner that grades by looking at the text: the wrong answers are those it is told of."""

    def __init__(self, wrong: dict[str, str]) -> None:
        self.wrong, self.jobs = wrong, 0

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        for job in jobs:
            self.jobs += 1
            cells = {one["id"]: "".join(one["source"]) for one in _cells(job)}
            names = [id_.removeprefix("test-") for id_ in cells if id_.startswith("test-")]
            found = [self._grade(name, cells[name]) for name in names]
            record = outcome(*found).record
            yield Outcome(replace(record, student=job.student))

    def _grade(self, name: str, source: str) -> ExerciseRecord:
        most = {"flatten": 4.0, "double": 2.0}[name.partition("-")[0]]
        if "YOUR CODE HERE" in source:
            return ExerciseRecord(name, Status.GRADED, 0.0, most, attempted=False)
        id_ = self.wrong.get(source.strip())
        checks = (CheckRecord("a check", passed=id_ is None, misconception=id_),)
        return ExerciseRecord(name, Status.GRADED, 0.0 if id_ else most, most, checks)


def _cells(job: Job) -> list[dict[str, str]]:
    return list(json.loads(job.notebook.read_text())["cells"])


def test_a_submission_carries_an_answer_to_each_exercise(cases: tuple[Case, ...]) -> None:
    batches = batched(cases, most=1)
    assert len(batches) == 13  # three right, eight wrong, the stub and the solution of each
    assert all(set(batch) == {"flatten", "double"} for batch in batches)
    assert sum(map(len, batches)) == len(cases)


def test_a_submission_is_filled_with_more_answers_to_an_exercise(cases: tuple[Case, ...]) -> None:
    of_one = [case for case in cases if case.exercise.name == "flatten"]
    double = next(case for case in cases if case.exercise.name == "double")
    first, *others = batched([*of_one, double], most=5)
    again = [f"flatten-again-{copy}" for copy in range(1, 5)]
    assert list(first) == ["flatten", *again, "double"]
    assert [len(batch) for batch in others] == [5, 3]
    placed = [id(case) for batch in (first, *others) for case in batch.values()]
    assert sorted(placed) == sorted(id(case) for case in (*of_one, double))


def test_every_case_gets_the_result_of_its_own_answer(cases: tuple[Case, ...]) -> None:
    wrong = {one.source.strip(): str(one.misconception) for one in cases if one.kind == "wrong"}
    runner = Reader(wrong)
    results = run_batched(cases, runner)
    assert runner.jobs == 2
    assert {one.record.id for one in results if one.record} == {"flatten", "double"}
    full = [
        result.points == case.exercise.points for case, result in zip(cases, results, strict=True)
    ]
    assert full == [case.kind in ("right", "solution") for case in cases]


class Keeper(Reader):
    """A reader that keeps the cells of each submission, and of the lesson it belongs to."""

    def __init__(self) -> None:
        super().__init__({})
        self.submissions: list[dict[str, str]] = []
        self.lessons: list[list[str]] = []

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        for job in jobs:
            self.submissions.append({one["id"]: "".join(one["source"]) for one in _cells(job)})
            self.lessons.append([cell["id"] for cell in job.lesson.cells()])
            yield Outcome(replace(outcome().record, student=job.student))


def test_a_submission_holds_what_a_learner_would_hand_in(cases: tuple[Case, ...]) -> None:
    runner = Keeper()
    run_batched(cases, runner)
    again = {name: [f"-again-{copy}" for copy in range(1, 7)] for name in ("flatten", "double")}
    ids = ["setup"]
    for name, suffixes in again.items():
        ids += [part + name + one for one in ("", *suffixes) for part in ("", "test-")]
    assert [list(one) for one in runner.submissions] == [ids] * 2
    assert "hidden_seen" not in runner.submissions[0]["test-flatten-again-6"]
    assert runner.submissions[0]["flatten-again-2"].strip() == cases[2].source.strip()
    assert "hidden_seen" not in runner.submissions[0]["test-flatten"]
    assert runner.submissions[0]["flatten"].strip() == cases[0].source.strip()


def test_an_exercise_with_no_mutant_left_is_handed_in_as_it_was_given_out(
    cases: tuple[Case, ...],
) -> None:
    mutants = [dataclasses.replace(case, kind="mutant") for case in cases]
    of_one = [case for case in mutants if case.exercise.name == "flatten"]
    double = next(case for case in mutants if case.exercise.name == "double")
    runner = Keeper()
    run_batched([*of_one, *of_one, double], runner)
    first, *others = (one["double"].strip() for one in runner.submissions)
    assert others
    assert first == double.source.strip()
    assert set(others) == {double.exercise.stub.strip()}
    assert len({tuple(one) for one in runner.lessons}) == 1  # it is prepared once


def test_alone_an_answer_has_a_submission_and_a_lesson_of_its_own(
    cases: tuple[Case, ...],
) -> None:
    runner = Keeper()
    run_alone(cases[:2], runner)
    assert runner.lessons == [["setup", "flatten", "test-flatten"]] * 2


def test_a_title_that_asks_for_a_network_stays_where_its_lesson_is_shortened(
    cases: tuple[Case, ...], tmp_path: Path
) -> None:
    notebook = json.loads(cases[0].lesson.source.read_text())
    notebook["cells"][0]["metadata"]["course"]["loopback"] = True
    path = tmp_path / "01-tiny" / "01-tiny.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps(notebook))
    runner = Keeper()
    lesson = dataclasses.replace(cases[0].lesson, source=path)
    run_alone([dataclasses.replace(cases[0], lesson=lesson)], runner)
    assert runner.lessons == [["title", "setup", "flatten", "test-flatten"]]


def test_what_is_through_is_counted_in_answers(cases: tuple[Case, ...]) -> None:
    counted: list[int] = []
    run_batched(cases, Reader({}), done=counted.append)
    assert counted == [14, 26]


def test_the_gate_says_the_same_of_a_runner_that_grades_alike(course: Path) -> None:
    gate = lesson_gate(course, find_lesson(course, "1"))
    wrong = {one.source.strip(): str(one.misconception) for one in gate.answers}
    wrong = {source: id_ for source, id_ in wrong.items() if id_ != "None"}
    wrong |= {c.source.strip(): "dtype-is-float" for c in gate.cases if c.kind == "constant"}
    report = run_gates([gate], lambda cases: run_batched(cases, Reader(wrong)))
    assert report.closing == "exercises 2 · right accepted 6/6 · wrong rejected 16/16"
    assert report.ok


@pytest.mark.parametrize(
    ("status", "ended"),
    [
        (Status.GRADED, "finished"),
        (Status.TIMEOUT, "timeout"),
        (Status.CRASHED, "died"),
        (Status.OUT_OF_MEMORY, "died"),
    ],
)
def test_a_status_says_how_the_trial_ended(
    cases: tuple[Case, ...], status: Status, ended: str
) -> None:
    found = result_of(cases[0], outcome(ExerciseRecord("flatten", status, 0.0, 4.0)))
    assert found.ended == ended


def test_a_submission_that_is_lost_is_no_pass(cases: tuple[Case, ...]) -> None:
    assert result_of(cases[0], None).ended == "died"
    assert result_of(cases[0], outcome()).ended == "died"


def test_an_answer_cell_that_raised_is_seen_in_the_outputs(cases: tuple[Case, ...]) -> None:
    record = ExerciseRecord("flatten", Status.GRADED, 0.0, 4.0)
    assert result_of(cases[0], outcome(record, raised="NameError")).answer_error == "NameError: no"
    assert result_of(cases[0], outcome(record)).answer_error is None


def test_a_test_cell_that_raised_is_seen_in_the_outputs(cases: tuple[Case, ...]) -> None:
    found = result_of(cases[0], outcome(FLATTEN, raised="NameError", cell="test-flatten"))
    assert (found.test_error, found.answer_error) == ("NameError: no", None)


def test_a_test_cell_without_a_table_is_no_result(cases: tuple[Case, ...]) -> None:
    assert result_of(cases[0], outcome(FLATTEN)).record is None


@pytest.mark.needs("sandbox")
@pytest.mark.exhaustive("answers in the engine and in a notebook")
def test_the_engine_and_a_notebook_find_the_same(cases: tuple[Case, ...]) -> None:
    from autograder.engine import EngineRunner

    as_notebook, in_engine = run_as_notebook(cases), run_batched(cases, EngineRunner(jobs=2))
    for case, one, other in zip(cases, as_notebook, in_engine, strict=True):
        assert _said(one) == _said(other), (case.exercise.name, case.title)


def _said(result: AnswerRunResult) -> tuple[object, ...]:
    assert result.record is not None
    checks = [(one.name, one.passed, one.misconception) for one in result.record.checks]
    return result.ended, result.points, result.record.attempted, checks
