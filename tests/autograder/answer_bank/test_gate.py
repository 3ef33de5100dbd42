"""The gate accepts right answers, rejects wrong ones for their reason, and names every miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from autograder import fork_server
from autograder.answer_bank.expectations import Case, judge
from autograder.answer_bank.gate import (
    Gate,
    GateReport,
    answer_run_of,
    bank_gate,
    lesson_gate,
    only_exercise,
    run_as_notebook,
    run_gates,
)
from autograder.answer_bank.notebook_runner import AnswerRunResult, run_answers
from autograder.errors import BankError, UsageError
from autograder.lessons.model import find_lesson, read_lesson
from autograder.lessons.regions import stubbed
from autograder.records.model import CheckRecord, ExerciseRecord, Status
from tests.autograder import tiny

KNOWN = {"reshape-always-copies", "order-of-memory", "in-place-is-free", "dtype-is-float"}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build(tmp_path_factory.mktemp("course"))


@pytest.fixture
def own_course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


def table(score: float = 4.0, *failed: str, attempted: bool = True) -> ExerciseRecord:
    """The check table of `flatten`, with these misconceptions among the failed checks."""
    checks = tuple(CheckRecord(f"not {id_}", False, misconception=id_) for id_ in failed)
    return ExerciseRecord("flatten", Status.GRADED, score, 4.0, checks, attempted=attempted)


def came_to(record: ExerciseRecord | None, **more: object) -> AnswerRunResult:
    points = record.score if record else 0.0
    return AnswerRunResult(**({"ended": "finished", "points": points, "record": record} | more))  # type: ignore[arg-type]


def case(course: Path, kind: str, misconception: str | None = None) -> Case:
    lesson = find_lesson(course, "1")
    one = lesson.exercise("flatten")
    return Case(lesson, one, kind, "title", "bank.py:1", "pass", misconception)  # type: ignore[arg-type]


# What a result means.


def test_a_right_answer_with_all_points_is_accepted(course: Path) -> None:
    assert judge(case(course, "right"), came_to(table(4.0)), KNOWN) == ""


def test_a_right_answer_that_loses_points_is_a_miss_naming_the_checks(course: Path) -> None:
    reason = judge(case(course, "right"), came_to(table(3.0, "order-of-memory")), KNOWN)
    assert reason == "it gets 3 of 4: not order-of-memory"


def test_what_the_bank_calls_the_same_must_get_all_points(course: Path) -> None:
    same = case(course, "same")
    assert judge(same, came_to(table(4.0)), KNOWN) == ""
    assert judge(same, came_to(table(3.0, "order-of-memory")), KNOWN).startswith("it gets 3 of 4")


def test_a_mutant_is_a_miss_only_with_all_points(course: Path) -> None:
    mutant = case(course, "mutant")
    assert judge(mutant, came_to(table(4.0)), ()) == "it gets all 4 points"
    for killed in (came_to(table(3.5)), came_to(None, ended="timeout"), came_to(None)):
        assert judge(mutant, killed, ()) == ""


def test_the_gate_tries_what_the_bank_calls_the_same(own_course: Path) -> None:
    path = own_course / "autograder/answers/01-tiny.py"
    path.write_text(tiny.BANK + "\n# %% same double: why not\ndef double(x):\n    return x / 1\n")
    gate = lesson_gate(own_course, find_lesson(own_course, "1"))
    assert [one.title for one in gate.cases if one.kind == "same"] == ["why not"]
    with_one, without = (
        run_gates([one], lambda cases: [came_to(None) for _ in cases])
        for one in (gate, replace(gate, answers=gate.answers[:-1]))
    )
    assert with_one.closing == without.closing  # `mutants` alone counts them


def test_a_wrong_answer_is_rejected_for_its_misconception(course: Path) -> None:
    wrong = case(course, "wrong", "order-of-memory")
    assert judge(wrong, came_to(table(3.0, "order-of-memory")), KNOWN) == ""


def test_a_wrong_answer_with_all_points_is_a_miss(course: Path) -> None:
    wrong = case(course, "wrong", "order-of-memory")
    assert judge(wrong, came_to(table(4.0)), KNOWN) == "it gets all 4 points"


def test_a_wrong_answer_that_fails_for_another_reason_is_a_miss(course: Path) -> None:
    wrong = case(course, "wrong", "order-of-memory")
    reason = judge(wrong, came_to(table(3.0, "reshape-always-copies")), KNOWN)
    assert reason == "'order-of-memory' is not among the failed checks: reshape-always-copies"


def test_the_main_misconception_fails_a_check_that_learners_see(course: Path) -> None:
    wrong = replace(case(course, "wrong", "order-of-memory"), first=True)
    caught = CheckRecord("rows first", False, misconception="order-of-memory", hidden=True)
    graded = "flatten", Status.GRADED, 3.0, 4.0
    unseen = ExerciseRecord(*graded, (CheckRecord("a", True), caught))
    reason = judge(wrong, came_to(unseen), KNOWN)
    assert reason.startswith("all 1 visible checks hold, though the first wrong answer")
    assert "'order-of-memory': let a visible check of 'flatten' catch it" in reason
    assert judge(replace(wrong, first=False), came_to(unseen), KNOWN) == ""
    seen = ExerciseRecord(*graded, (CheckRecord("a", False), caught))
    assert judge(wrong, came_to(seen), KNOWN) == ""


def test_the_first_wrong_answer_of_each_exercise_is_the_main_one(course: Path) -> None:
    gate = lesson_gate(course, find_lesson(course, "1"))
    assert [one.title for one in gate.cases if one.first] == ["always copies", "in place"]
    assert not any(one.first for one in replace(gate, complete=False).cases)


def test_a_wrong_answer_that_does_not_run_shows_nothing(course: Path) -> None:
    wrong = case(course, "wrong", "order-of-memory")
    result = came_to(table(0.0, "order-of-memory"), answer_error="SyntaxError: no")
    assert "does not even run (SyntaxError: no)" in judge(wrong, result, KNOWN)
    assert judge(wrong, result, KNOWN, complete=False) == ""


def test_a_stub_must_count_as_not_attempted(course: Path) -> None:
    stub = case(course, "stub")
    assert judge(stub, came_to(table(0.0, attempted=False)), KNOWN) == ""
    assert judge(stub, came_to(table(0.0)), KNOWN) == "it counts as attempted"
    assert judge(stub, came_to(table(1.0)), KNOWN) == "it gets 1 of 4"


def test_an_untouched_cell_has_to_run(course: Path) -> None:
    raised = came_to(table(0.0, attempted=False), answer_error="NameError: x")
    reason = "its cell raises before anybody has written anything: NameError: x"
    assert judge(case(course, "stub"), raised, KNOWN) == reason


@pytest.mark.parametrize("kind", ["right", "solution"])
def test_an_answer_that_defines_nothing_says_what_its_cell_raised(course: Path, kind: str) -> None:
    raised = came_to(table(0.0, attempted=False), answer_error="SyntaxError: no")
    reason = "it counts as not attempted (the cell raised SyntaxError: no)"
    assert judge(case(course, kind), raised, KNOWN) == reason


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (came_to(None, ended="timeout"), "it ran past the time limit"),
        (came_to(None, ended="died"), "its process died"),
        (came_to(None, setup_error="ImportError: x"), "the set-up cell raised ImportError: x"),
        (came_to(None, test_error="NameError: x"), "the test cell raised NameError: x"),
        (came_to(None), "the test cell showed no check table"),
        (came_to(table(4.0), points=0.0), "stock nbgrader would read 0"),
        (came_to(table(4.0, "no-such-id")), "names unknown misconceptions: no-such-id"),
    ],
)
def test_a_result_that_says_nothing_is_a_miss_for_every_kind(
    course: Path, result: AnswerRunResult, reason: str
) -> None:
    for kind in ("right", "wrong", "stub", "solution"):
        assert reason in judge(case(course, kind, "order-of-memory"), result, KNOWN)


def test_a_table_of_another_exercise_is_a_miss(course: Path) -> None:
    other = ExerciseRecord("double", Status.GRADED, 4.0, 4.0)
    assert "is for 'double' and 4 points" in judge(case(course, "right"), came_to(other), KNOWN)


def test_a_solution_is_put_to_enough_checks(course: Path) -> None:
    one = case(course, "solution")
    strict = replace(one, exercise=replace(one.exercise, few_checks=""))
    reason = judge(strict, came_to(table(4.0)), KNOWN)
    assert reason.startswith("it is put to 0 checks, 0 of them hidden; 8 and 3 are needed")
    checks = tuple(CheckRecord(f"{n}", True, hidden=n < 3) for n in range(8))
    full = came_to(ExerciseRecord("flatten", Status.GRADED, 4.0, 4.0, checks))
    assert judge(strict, full, KNOWN) == ""
    assert judge(one, came_to(table(4.0)), KNOWN) == ""


# From bank to report.


def perfect(cases: Sequence[Case]) -> list[AnswerRunResult]:
    """A runner that finds everything right."""
    full = [(case.exercise.name, case.exercise.points) for case in cases]
    records = [ExerciseRecord(name, Status.GRADED, most, most) for name, most in full]
    return [AnswerRunResult("finished", record.score, record) for record in records]


def report_of(gate: Gate) -> GateReport:
    return run_gates([gate], perfect)


def test_the_closing_line_counts_the_answers_of_the_bank_alone(course: Path) -> None:
    report = report_of(lesson_gate(course, find_lesson(course, "1")))
    assert report.closing == "exercises 2 · right accepted 6/6 · wrong rejected 0/16"
    assert not report.ok


def test_every_miss_names_its_line(course: Path) -> None:
    report = report_of(lesson_gate(course, find_lesson(course, "1")))
    miss = report.exercises[0].misses[0]
    assert miss.place == f"{course}/autograder/answers/01-tiny.py:13"
    assert (miss.title, miss.reason) == ("always copies", "it gets all 4 points")


def test_a_lesson_needs_three_right_and_eight_wrong_answers_an_exercise(own_course: Path) -> None:
    bank = own_course / "autograder/answers/01-tiny.py"
    bank.write_text("# %% right flatten: one\nx = 1\n")
    report = report_of(lesson_gate(own_course, find_lesson(own_course, "1")))
    reasons = [miss.reason for one in report.exercises for miss in one.misses]
    assert "it has 1 right answers, 3 are needed" in reasons
    assert "it has 0 wrong answers, 8 are needed" in reasons
    assert len(report.exercises) == 2


def broken(cases: Sequence[Case]) -> list[AnswerRunResult]:
    """A runner that finds the test cell of `flatten` broken, and all else right."""
    error = came_to(None, test_error="NameError: name 'chek' is not defined")
    found = zip(cases, perfect(cases), strict=True)
    return [error if case.exercise.name == "flatten" else result for case, result in found]


def test_a_broken_test_cell_is_one_miss_and_not_one_an_answer(course: Path) -> None:
    lesson = find_lesson(course, "1")
    (miss,) = run_gates([lesson_gate(course, lesson)], broken).exercises[0].misses
    assert (miss.kind, miss.title) == ("test", "all 13 answers")
    assert miss.place == f"{lesson.source}, cell test-flatten"
    assert miss.reason == "the test cell raised NameError: name 'chek' is not defined"


def test_a_misspelt_answer_is_one_miss_that_says_what_its_cell_defines(own_course: Path) -> None:
    notebook = tiny.notebook()
    test = next(cell for cell in notebook["cells"] if cell["id"] == "test-flatten")
    test["source"] = test["source"].replace('answer("flatten")', 'answer("flaten")')
    gate = lesson_gate(own_course, read_lesson(tiny.write(own_course, notebook)))
    (miss,) = run_gates([gate], untouched).exercises[0].misses
    assert (
        miss.reason == "the test cell asks for answer('flaten'), but cell flatten defines flatten"
    )


def untouched(cases: Sequence[Case]) -> list[AnswerRunResult]:
    """A runner that finds nothing attempted."""
    names = [(case.exercise.name, case.exercise.points) for case in cases]
    return [came_to(ExerciseRecord(n, Status.GRADED, 0.0, p, attempted=False)) for n, p in names]


def test_what_misses_is_tried_once_more_alone(course: Path) -> None:
    tried: list[str] = []

    def spoiled(cases: Sequence[Case]) -> list[AnswerRunResult]:
        first = [came_to(table(0.0, "order-of-memory")), *perfect(cases)[1:]]
        return first

    def alone(cases: Sequence[Case]) -> list[AnswerRunResult]:
        tried.extend(case.title for case in cases if case.kind == "right")
        return perfect(cases)

    report = run_gates([lesson_gate(course, find_lesson(course, "1"))], spoiled, run_alone=alone)
    assert tried == ["reshape to minus one"]
    assert report.exercises[0].right == (3, 3)


def test_where_no_answer_passes_none_is_tried_again(course: Path) -> None:
    def alone(cases: Sequence[Case]) -> list[AnswerRunResult]:
        assert "flatten" not in {case.exercise.name for case in cases}
        return perfect(cases)

    run_gates([lesson_gate(course, find_lesson(course, "1"))], broken, run_alone=alone)


def test_a_lesson_without_exercises_needs_no_answers(own_course: Path) -> None:
    path = tiny.write(own_course, tiny.notebook_of(tiny.notebook()["cells"][:3]), "02-empty")
    assert lesson_gate(own_course, read_lesson(path)).cases == ()


def test_an_answer_that_was_never_written_is_refused(own_course: Path) -> None:
    bank = own_course / "autograder/answers/01-tiny.py"
    bank.write_text("# %% right flatten: ✎ how it does it\nx = 1\n")
    with pytest.raises(BankError, match=r"py:1: the right answer .* is not written yet"):
        lesson_gate(own_course, find_lesson(own_course, "1"))


def test_a_lesson_without_a_bank_says_where_it_belongs(own_course: Path) -> None:
    (own_course / "autograder/answers/01-tiny.py").unlink()
    with pytest.raises(BankError, match=r"answers/01-tiny\.py: 01-tiny has"):
        lesson_gate(own_course, find_lesson(own_course, "1"))


def outside_bank(tmp_path: Path, name: str = "mine.py", exercise: str = "flatten") -> Path:
    path = tmp_path / name
    path.write_text(f"# %% right {exercise}: one\nx = 1\n")
    return path


def test_one_exercise_can_be_tried_alone(course: Path) -> None:
    gate = lesson_gate(course, find_lesson(course, "1"))
    (alone,) = only_exercise([gate], "flatten")
    assert {one.exercise.name for one in alone.cases} == {"flatten"}
    assert alone.cases == tuple(one for one in gate.cases if one.exercise.name == "flatten")
    with pytest.raises(UsageError, match=r"no exercise 'flaten' here.*Did you mean flatten"):
        only_exercise([gate], "flaten")


def test_an_outside_bank_may_hold_one_answer_to_one_exercise(course: Path, tmp_path: Path) -> None:
    report = report_of(bank_gate(course, outside_bank(tmp_path)))
    assert [one.exercise for one in report.exercises] == ["flatten"]
    assert report.closing == "exercises 1 · right accepted 1/1 · wrong rejected 0/0"


def test_an_outside_bank_is_matched_by_name_or_by_its_exercises(own_course: Path) -> None:
    tiny.build(own_course, "02-tiny")
    named = bank_gate(own_course, outside_bank(own_course, "02-tiny.py"))
    assert named.lesson.slug == "02-tiny"
    with pytest.raises(UsageError, match="01-tiny and 02-tiny would fit"):
        bank_gate(own_course, outside_bank(own_course))
    assert bank_gate(own_course, outside_bank(own_course), ["1"]).lesson.slug == "01-tiny"


def test_an_outside_bank_takes_one_lesson(course: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--bank takes one lesson"):
        bank_gate(course, outside_bank(tmp_path), ["1", "2"])


# With real processes: each case below is one run of a single run.

_ODD = {
    "loops": "while True:\n    pass",
    "leaves": "import os\nos._exit(3)",
    "raises": "1 / 0",
    "undefined": "pass",
    "wrong type": "flatten = 3",
    "returns None": "def flatten(x):\n    return None",
    "mutates": "def flatten(x):\n    x.zero_()\n    return x.reshape(-1)",
    "prints a megabyte": "def flatten(x):\n    print('x' * 1_000_000)\n    return x.reshape(-1)",
    "warns": "import warnings\n\ndef flatten(x):\n    warnings.warn('careful')\n"
    "    return x.reshape(-1)",
    "raises SystemExit": "def flatten(x):\n    raise SystemExit(0)",
    "equal to everything": "class Same:\n    def __eq__(self, other):\n        return True\n\n"
    "def flatten(x):\n    return Same()",
    "leaves a child": "import os, time\nif os.fork() == 0:\n    time.sleep(60)\n"
    "def flatten(x):\n    return x.reshape(-1)",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    (folder / "data.txt").write_text("4")
    return folder


@pytest.fixture(scope="module")
def odd(course: Path, data: Path) -> dict[str, AnswerRunResult]:
    run = answer_run_of(case(course, "right"), 2.0)
    stub = stubbed(case(course, "stub").exercise.answer_source)
    answers = {**_ODD, "stub": stub}
    runs = {name: replace(run, answer=source) for name, source in answers.items()}
    reads = "open('made', 'w').close()\nfloat(open('data.txt').read())"
    runs["data"] = replace(run, test=reads, data=str(data))
    return dict(zip(runs, run_answers(list(runs.values())), strict=True))


def test_the_tiny_lesson_passes_the_gate_in_real_processes(course: Path) -> None:
    report = run_gates([lesson_gate(course, find_lesson(course, "1"))], run_as_notebook)
    assert report.ok, [miss for one in report.exercises for miss in one.misses]
    assert report.closing == "exercises 2 · right accepted 6/6 · wrong rejected 16/16"


def test_an_answer_that_loops_is_stopped_and_nothing_else_is_lost(
    odd: dict[str, AnswerRunResult],
) -> None:
    assert (odd["loops"].ended, odd["leaves"].ended) == ("timeout", "died")
    assert odd["stub"].ended == "finished"


@pytest.mark.parametrize("name", ["undefined", "raises", "stub"])
def test_an_answer_that_is_not_there_was_not_attempted(
    odd: dict[str, AnswerRunResult], name: str
) -> None:
    record = odd[name].record
    assert record is not None
    assert (record.score, record.attempted) == (0.0, False)


@pytest.mark.parametrize(
    "name", ["wrong type", "returns None", "raises SystemExit", "equal to everything"]
)
def test_an_answer_that_gives_no_tensor_gets_nothing(
    odd: dict[str, AnswerRunResult], name: str
) -> None:
    assert (odd[name].ended, odd[name].points, odd[name].test_error) == ("finished", 0.0, None)


@pytest.mark.parametrize("name", ["prints a megabyte", "warns", "leaves a child"])
def test_a_right_answer_keeps_its_points_whatever_else_it_does(
    odd: dict[str, AnswerRunResult], name: str
) -> None:
    assert odd[name].points == 4.0


def test_an_answer_that_changes_its_input_does_not_change_what_is_expected(
    odd: dict[str, AnswerRunResult],
) -> None:
    assert 0.0 < odd["mutates"].points < 4.0


def test_a_cell_that_raises_is_reported_with_its_error(odd: dict[str, AnswerRunResult]) -> None:
    assert odd["raises"].answer_error == "ZeroDivisionError: division by zero"


def test_a_run_lies_beside_its_data_files_and_leaves_them_alone(
    odd: dict[str, AnswerRunResult], data: Path
) -> None:
    assert (odd["data"].points, odd["data"].record) == (4.0, None)
    assert [path.name for path in data.iterdir()] == ["data.txt"]


@pytest.mark.exhaustive("a gate's process that does not end")
def test_a_process_that_does_not_end_when_asked_is_ended(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fork_server, "_END_S", 0.2)
    before = set(psutil.Process().children(recursive=True))

    def stop_all(count: int) -> None:
        for process in set(psutil.Process().children()) - before:
            process.suspend()  # SIGTERM has to wait, as it may be lost

    run_answers([answer_run_of(case(course, "right"), 60.0)], done=stop_all)
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.exhaustive("a gate that is interrupted")
def test_an_interrupted_run_leaves_no_process_behind(course: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    quick = answer_run_of(case(course, "right"), 60.0)
    endless = replace(quick, answer="while True:\n    pass")

    def interrupt(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_answers([quick, endless, endless], done=interrupt)
    assert set(psutil.Process().children(recursive=True)) <= before
