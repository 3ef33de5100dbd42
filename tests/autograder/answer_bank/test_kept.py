"""What was in order is not tried again until a cell, the bank or a module behind it changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autograder.answer_bank.gate import ExerciseGate, Gate, Miss, lesson_gate
from autograder.answer_bank.gate_runs import try_answers, try_mutants
from autograder.answer_bank.kept import KeptExercises, digests_of_gates, digests_of_plans
from autograder.answer_bank.mutants import plan_mutants
from autograder.kept_results import KeptResults
from autograder.lessons.model import find_lesson
from tests.autograder import tiny

Digests = dict[tuple[str, str], str]


def gate_of(course: Path) -> Gate:
    return lesson_gate(course, find_lesson(course, "1"))


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


@pytest.fixture
def before(tmp_path_factory: pytest.TempPathFactory) -> Digests:
    """What the exercises of the tiny lesson depend on."""
    return digests_of_gates([gate_of(tiny.build(tmp_path_factory.mktemp("plain")))], "engine")


def changed(course: Path, before: Digests) -> set[str]:
    """The exercises that depend on something else than they did."""
    after = digests_of_gates([gate_of(course)], "engine")
    return {key[1] for key, digest in after.items() if digest != before[key]}


@pytest.mark.exhaustive("whole runs of the gate")
def test_the_same_lesson_elsewhere_depends_on_the_same(course: Path, before: Digests) -> None:
    assert changed(course, before) == set()


def test_a_test_cell_changes_its_own_exercise(course: Path, before: Digests) -> None:
    notebook = tiny.notebook()
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    cells["test-double"]["source"] += "\n# looked through"
    tiny.write(course, notebook)
    assert changed(course, before) == {"double"}


def test_the_set_up_cell_changes_all(course: Path, before: Digests) -> None:
    notebook = tiny.notebook()
    next(cell for cell in notebook["cells"] if cell["id"] == "setup")["source"] += "\nimport math"
    tiny.write(course, notebook)
    assert changed(course, before) == {name for _, name in before}


def test_an_answer_more_changes_its_own_exercise(course: Path, before: Digests) -> None:
    path = course / "autograder/answers/01-tiny.py"
    path.write_text(
        path.read_text() + "\n# %% right double: so too\ndef double(x):\n    return x + x\n"
    )
    assert changed(course, before) == {"double"}


def test_a_module_behind_the_cells_changes_all(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digests_of_gates([gate_of(course)], "engine")
    monkeypatch.setattr("autograder.answer_bank.kept.modules_behind", lambda *_: {course / "probe"})
    (course / "probe").write_text("x = 1")
    one = digests_of_gates([gate_of(course)], "engine")
    (course / "probe").write_text("x = 2")
    other = digests_of_gates([gate_of(course)], "engine")
    assert all(len({before[key], one[key], other[key]}) == 3 for key in before)


def test_a_mutant_more_or_another_limit_is_another_question(course: Path) -> None:
    gate = gate_of(course)
    whole, half = (digests_of_plans(plan_mutants([gate], share=s), "4 s") for s in (1.0, 0.5))
    assert whole != half
    assert whole != digests_of_plans(plan_mutants([gate]), "5 s")


def test_what_misses_is_not_kept(tmp_path: Path) -> None:
    results, digests = KeptResults(tmp_path), {("01-tiny", "a"): "1", ("01-tiny", "b"): "2"}
    sound = ExerciseGate("01-tiny", "b", (3, 3), (8, 8), (), (0.1, "zero"))
    amiss = ExerciseGate("01-tiny", "a", (2, 3), (8, 8), (Miss("right", "t", "p", "r"),))
    first = KeptExercises(results, ExerciseGate, digests)
    assert first.completed([sound, amiss], keep=True) == (amiss, sound)
    again = KeptExercises(results, ExerciseGate, digests)
    assert again.known == {("01-tiny", "b"): sound}
    assert again.completed([amiss], keep=True) == (amiss, sound)


@pytest.mark.exhaustive("whole runs of the gate")
def test_a_second_time_nothing_runs_and_the_report_is_the_same(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates = [replace(gate_of(course), complete=False)]
    results = KeptResults(tmp_path / "kept")
    plans = plan_mutants(gates, exercise="double", most=2)
    first = [
        try_answers(course, gates, runner="notebook", results=results)[0],
        try_mutants(course, plans, runner="notebook", results=results)[0],
    ]
    heard: list[int] = []
    monkeypatch.setattr("autograder.answer_bank.gate.run_answers", lambda runs, **_: [*runs][:0])
    assert first == [
        try_answers(course, gates, runner="notebook", results=results, done=heard.append)[0],
        try_mutants(course, plans, runner="notebook", results=results)[0],
    ]
    assert heard[0] == len(gates[0].cases)
