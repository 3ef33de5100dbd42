"""A share of the answers is tried: always the same ones, and what was left out is counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.answer_bank.bank import parse_bank
from autograder.answer_bank.expectations import Case
from autograder.answer_bank.gate import Gate, lesson_gate, run_gates
from autograder.answer_bank.mutants import plan_mutants, run_mutants
from autograder.answer_bank.notebook_runner import AnswerRunResult
from autograder.answer_bank.share import LeftOut, is_in_share, left_out_line
from autograder.lessons.model import find_lesson
from tests.autograder import tiny


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    course = tiny.build(tmp_path)
    return lesson_gate(course, find_lesson(course, "1"))


def died(cases: list[Case]) -> list[AnswerRunResult]:
    return [AnswerRunResult("died", 0.0, None) for _ in cases]


def test_a_tenth_is_about_a_tenth_and_always_the_same() -> None:
    drawn = [n for n in range(2000) if is_in_share(0.1, "wrong", str(n))]
    assert 160 <= len(drawn) <= 240
    assert drawn == [n for n in range(2000) if is_in_share(0.1, "wrong", str(n))]
    assert set(drawn) <= {n for n in range(2000) if is_in_share(0.2, "wrong", str(n))}


def test_each_value_of_draw_draws_others(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = set[int]()
    for value in map(str, range(20)):
        monkeypatch.setenv("DRAW", value)
        some = {n for n in range(300) if is_in_share(0.34, "wrong", str(n))}
        assert some == {n for n in range(300) if is_in_share(0.34, "wrong", str(n))}
        drawn |= some
    assert len(drawn) > 290


def test_all_of_them_and_none_of_them_are_shares() -> None:
    assert all(is_in_share(1.0, str(n)) for n in range(100))
    assert not any(is_in_share(0.0, str(n)) for n in range(100))


def test_what_must_be_accepted_is_tried_whatever_the_share(gate: Gate) -> None:
    kinds = {case.kind for case in replace(gate, share=0.0).cases}
    assert kinds == {"solution", "stub"}


def test_three_times_as_many_right_answers_are_tried_as_wrong_ones(gate: Gate) -> None:
    more = "\n\n".join(f"# %% right double: number {n}\nx = {n}" for n in range(100))
    many = replace(gate, answers=(*gate.answers, *parse_bank(more, Path("bank.py"))))
    tried = [case for case in replace(many, share=0.1).cases if case.title.startswith("number")]
    assert 20 < len(tried) < 40
    every = [case for case in replace(many, share=0.34).cases if case.title.startswith("number")]
    assert len(every) == 100


def test_an_answer_more_in_the_bank_changes_nothing_for_the_others(gate: Gate) -> None:
    more = parse_bank("# %% wrong double: one more -> twice-too-much\nx = 1\n", Path("bank.py"))
    half = replace(gate, share=0.5)
    longer = replace(half, answers=(*more, *half.answers))
    drawn = [
        case.title for case in longer.cases if case.kind == "wrong" and case.title != "one more"
    ]
    assert drawn == [case.title for case in half.cases if case.kind == "wrong"]


def test_the_report_counts_what_was_left_out(gate: Gate) -> None:
    report = run_gates([replace(gate, share=0.0)], died)
    wrong = sum(case.kind == "wrong" for case in gate.cases)
    assert report.left_out[1] == LeftOut("wrong answers", wrong, 0)
    assert report.to_json()["left_out"][1]["every"] == wrong
    assert not any("are needed" in miss.reason for one in report.exercises for miss in one.misses)


def test_the_line_has_the_counts_and_is_empty_where_all_were_tried() -> None:
    parts = [LeftOut("wrong answers", 2673, 263), LeftOut("mutants", 9, 9)]
    assert left_out_line(parts) == "left out: 2,410 of 2,673 wrong answers"
    assert left_out_line(parts[1:]) == ""


def test_mutants_are_drawn_too_and_an_exercise_without_any_runs_nothing(gate: Gate) -> None:
    every, none = plan_mutants([gate]), plan_mutants([gate], share=0.0)
    report = run_mutants(none, died)
    assert [plan.cases for plan in none] == [()] * len(every)
    assert (report.ok, report.closing) == (True, "mutants killed 0/0 · same 0")
    assert report.left_out == (LeftOut("mutants", sum(len(plan.tried) for plan in every), 0),)
    half = plan_mutants([gate], share=0.5)
    assert 0 < sum(len(plan.tried) for plan in half) < sum(len(plan.tried) for plan in every)
