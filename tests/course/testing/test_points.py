"""Points are for the work: what an idle answer passes counts as far as work was shown elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from course import Check, answer, inputs
from course.testing import results
from course.testing.observe import observe
from course.testing.table import html_table, text_table
from tests.course.cells import learner, run_cell

X = torch.arange(4.0)


@pytest.fixture(autouse=True)
def _without_the_line_of_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here single checks are weighed; test_side_effects.py has the line that all tables have."""
    monkeypatch.setattr("course.testing.check_log._invariants", lambda outcomes: iter(()))


NAMES: dict[str, Any] = {"Check": Check, "answer": answer, "torch": torch}


def result_of(
    solve: Callable[..., Any], *checks: Callable[[Check, Any], None]
) -> results.TestResult:
    """What these checks give, of 10 points, where the answer `f` is `solve`."""
    check = Check("x")
    with learner({"f": solve}):
        seen = answer("f")(X)
    for one in checks:
        one(check, seen)
    return check.result(10)


def fails(check: Check, seen: Any) -> None:
    check.equal(seen.result, torch.tensor(123.0))


GUARDS: dict[str, Callable[[Check, Any], None]] = {
    "unchanged": lambda c, s: c.unchanged(s),
    "avoids": lambda c, s: c.avoids(s, "reshape"),
    "allocates": lambda c, s: c.allocates(s, 0),
    "saves": lambda c, s: c.saves(s, 0),
    "silent": lambda c, s: c.silent(s),
    "runs": lambda c, s: c.runs(s),
    "the flag as it was": lambda c, s: c.requires_grad(s.args_after[0], False),
    "the values as they were": lambda c, s: c.equal(s.args_after[0], X),
    "a condition said to be a guard": lambda c, s: c.that(lambda: s.ok, guard=True),
}


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_alone_gives_nothing(guard: str) -> None:
    result = result_of(lambda x: None, fails, GUARDS[guard])
    assert (result.score, [check.passed for check in result.checks]) == (0.0, [False, True])


IDLE: dict[str, tuple[Any, Callable[[Check, Any], None]]] = {
    "None": (None, lambda c, s: c.equal(s.result, None)),
    "True": (True, lambda c, s: c.equal(s.result, True)),
    "False": (False, lambda c, s: c.equal(s.result, False)),
    "zero": (0, lambda c, s: c.close(s.result, 0.0)),
    "one": (1, lambda c, s: c.equal(s.result, 1)),
    "a list of them": ([True, True], lambda c, s: c.equal([s.result[0].plain] * 2, [True, True])),
    "an empty list": ([], lambda c, s: c.equal(s.result, [])),
    "an empty tensor": (torch.empty(0), lambda c, s: c.shape(s.result, (0,))),
    "another storage": (torch.empty(0), lambda c, s: c.copies(s.result, s.args[0])),
    "the argument's values": (..., lambda c, s: c.equal(s.result, X)),
    "the argument's storage": (..., lambda c, s: c.shares_storage(s.result, s.args[0])),
    "the argument's layout": (..., lambda c, s: c.contiguous(s.result)),
    "the argument's element": (..., lambda c, s: c.equal(s.result[2], 2.0)),
}


@pytest.mark.parametrize("way", IDLE)
def test_a_constant_that_is_right_by_chance_gets_nothing(way: str) -> None:
    value, check = IDLE[way]
    result = result_of(lambda x: x if value is ... else value, fails, check)
    assert (result.score, result.checks[1].passed) == (0.0, True)


def test_always_raising_gets_nothing_for_a_refusal() -> None:
    result = result_of(lambda x: int("x"), lambda c, s: c.raises(s, ValueError), fails)
    assert (result.score, result.checks[0].passed) == (0.0, True)


def refuses(check: Check, seen: Any) -> None:
    check.raises(seen, ValueError, match="positive")


def test_nor_does_a_message_that_several_checks_ask_for_but_one_alone_does() -> None:
    def solve(x: torch.Tensor) -> None:
        raise ValueError("must be positive")

    assert result_of(solve, refuses, refuses, fails).score == 0.0
    assert result_of(solve, refuses, fails).score == 5.0


GIVEN_BACK: dict[str, tuple[Callable[..., Any], Callable[[Any], Any]]] = {
    "by name": (lambda x, y: x, lambda f: f(x=X, y=2)),
    "the second": (lambda x, y: y, lambda f: f(2, X)),
    "the second, by name": (lambda x, y: y, lambda f: f(2, y=X)),
    "a list": (lambda x: x, lambda f: f(X.tolist())),
}


@pytest.mark.parametrize("way", GIVEN_BACK)
def test_giving_back_whichever_argument_gets_nothing(way: str) -> None:
    solve, asked = GIVEN_BACK[way]
    check = Check("x")
    expected = X.tolist() if way == "a list" else X
    with learner({"f": solve}):
        for wanted in (expected, expected, 123):
            check.equal(asked(answer("f")).result, wanted)
    result = check.result(10)
    assert [one.passed for one in result.checks] == [True, True, False]
    assert result.score == 0.0


def test_nor_does_a_second_argument_that_one_check_alone_expects() -> None:
    check = Check("x")
    with learner({"f": lambda x, y: y}):
        f = answer("f")
        for args, wanted in (((2, X), X), ((3, X), 4), ((3, X), 5)):
            check.equal(f(*args).result, wanted)
    assert check.result(10).score == 0.0


SAID = {
    "a tuple": ((True, ""), (False, "long")),
    "a tuple with None": ((-1, None), (3, None)),
    "tuples in it": ((1, (2, 1j)), (2, (3, 1j))),
    "a tensor": (torch.tensor(7), torch.tensor(8)),
}


@pytest.mark.parametrize("kind", SAID)
def test_nor_does_a_tuple_or_a_number_as_a_tensor_that_several_expect(kind: str) -> None:
    often, seldom = SAID[kind]
    said = [lambda c, s, w=w: c.equal(s.result, w) for w in (often, often, seldom)]
    assert result_of(lambda x: often, *said).score == 0.0
    assert result_of(lambda x: often, *said[1:]).score == 5.0


def test_one_result_that_is_asked_for_twice_is_work() -> None:
    twice = [lambda c, s: c.equal(s.result, X * 2)] * 2
    assert result_of(lambda x: x * 2, *twice, fails).score == pytest.approx(6.66)


def test_a_word_that_several_checks_expect_gets_nothing_for_being_said_always() -> None:
    said = [lambda c, s, w=word: c.equal("view", w) for word in ("view", "view", "graph", "list")]
    assert result_of(lambda x: "view", *said).score == 0.0
    once = [lambda c, s, w=word: c.equal("view", w) for word in ("view", "graph", "list")]
    assert result_of(lambda x: "view", *once).score == pytest.approx(3.33)


def test_guards_count_in_full_once_half_of_the_work_is_shown() -> None:
    right = lambda c, s: c.equal(s.result, torch.tensor(6.0))  # noqa: E731 - one of a list
    guard = GUARDS["unchanged"]
    assert result_of(torch.sum, right, fails, guard, guard).score == 7.5
    assert result_of(torch.sum, right, fails, fails, fails, guard).score == 3.0


def test_an_answer_that_is_right_but_for_a_guard_loses_that_guard_alone() -> None:
    right = lambda c, s: c.equal(s.result, torch.tensor(6.0))  # noqa: E731 - one of a list
    result = result_of(lambda x: x.add_(0).sum(), right, right, right, GUARDS["unchanged"])
    assert result.score == 7.5


def test_both_answers_of_a_yes_or_no_question_are_work_for_who_tells_them_apart() -> None:
    said = [
        lambda c, s, w=w, e=e: c.equal(w, e)
        for w, e in ((True, True), (False, False), (True, False))
    ]
    assert result_of(lambda x: x, *said).score == pytest.approx(6.66)


def test_guards_alone_give_their_points_where_there_is_nothing_else() -> None:
    assert result_of(lambda x: x, GUARDS["unchanged"], GUARDS["runs"]).score == 10.0


def test_the_author_may_say_that_a_guard_is_the_work() -> None:
    mine = lambda c, s: c.silent(s, guard=False)  # noqa: E731 - one of a list
    assert result_of(lambda x: None, fails, mine).score == 5.0


def test_the_table_says_in_a_phrase_why_a_check_that_holds_gives_nothing() -> None:
    result = result_of(lambda x: None, fails, GUARDS["silent"], IDLE["None"][1])
    phrases = [check.message for check in result.checks[1:]]
    assert phrases == [
        "Passes, but so would an empty answer; full credit once the others pass.",
        "Passes, but so would returning None; full credit once the others pass.",
    ]
    for table in (text_table(result), html_table(result)):
        assert all(phrase in table for phrase in phrases)


CELL = """\
check = Check("x")
seen = answer("f")(torch.zeros(2))
check.equal(seen.result, 123)
### BEGIN HIDDEN TESTS
check.equal(seen.result, False)
### END HIDDEN TESTS
result = check.result(1)
"""


def test_a_hidden_check_does_not_say_which_answer_would_pass_it() -> None:
    with learner({"f": lambda x: False}):
        _, hidden = run_cell(CELL, dict(NAMES))["result"].checks
    assert hidden.passed and "an answer that does no work" in hidden.message
    assert "False" not in hidden.message


def test_what_was_not_attempted_says_nothing_of_points() -> None:
    with learner({}):
        checks = run_cell(CELL, dict(NAMES))["result"].checks
    assert not any("points" in check.message for check in checks)


def test_the_record_of_a_check_keeps_its_form() -> None:
    record = results.CheckResult(
        "a", True, True, False, None, "", idle_ways=frozenset({"x"})
    ).to_dict()
    assert "idle_ways" not in record


PAIRS = ["0 and 1", "0 and 2", "1 and 2"]


@pytest.mark.parametrize(
    ("message", "holds"),
    [
        ("dimensions 0 and 1 cannot be merged", True),
        ("0 and 1, 0 and 2, 1 and 2", False),
        ("0 and 12", False),
        ("10 and 1", False),
        ("1 and 2", False),
    ],
)
def test_an_error_names_one_possibility_and_no_other(message: str, holds: bool) -> None:
    def refuse() -> None:
        raise ValueError(message)

    check = Check("x")
    check.raises(observe(refuse), ValueError, match="0 and 1", among=PAIRS)
    assert check.result(1).checks[0].passed is holds


SHOWN = """\
check = Check("x")
f = answer("f")
for n in (2, 3, 4):
    check.equal(f(n).result, n * n, name=f"{n} squared")
check.silent(f(2))
### BEGIN HIDDEN TESTS
cases = [inputs.Case("a number", (n,)) for n in range(5, 60)]
check.agrees(lambda n: n * n, cases, of=f, weight=4)
### END HIDDEN TESTS
result = check.result(10)
"""
ONE_BY_ONE = SHOWN.replace(
    "check.agrees(lambda n: n * n, cases, of=f, weight=4)",
    "for n in (5, 6, 7, 8):\n    check.equal(f(n).result, n * n)",
)
TABLE = {2: 4, 3: 9, 4: 16}
NOTE = "with other inputs hardly anything came out right"


def graded(cell: str, solve: Callable[..., Any]) -> results.TestResult:
    with learner({"f": solve}):
        found = run_cell(cell, {**NAMES, "inputs": inputs})["result"]
    assert isinstance(found, results.TestResult)
    return found


@pytest.mark.parametrize("cell", [SHOWN, ONE_BY_ONE], ids=["many cases", "one by one"])
def test_a_table_of_what_is_shown_gets_what_a_constant_may_get(cell: str) -> None:
    result = graded(cell, TABLE.get)
    assert result.score == 2.0
    assert str(text_table(result)).count(NOTE) == 1 == html_table(result).count(NOTE)
    assert "right_share" not in result.checks[-1].to_dict()


@pytest.mark.parametrize("cell", [SHOWN, ONE_BY_ONE], ids=["many cases", "one by one"])
def test_who_gets_other_inputs_right_keeps_what_is_shown(cell: str) -> None:
    assert graded(cell, lambda n: n * n).score == 10.0
    some = graded(cell, lambda n: n * n if n < 6 or n > 50 else 0)
    assert some.score > 4.0 and NOTE not in text_table(some)


def test_who_is_off_by_the_last_digits_everywhere_keeps_what_is_shown() -> None:
    rough = SHOWN.replace("n * n", "n / 3").replace("equal", "close")
    rough = rough.replace("name=", "rtol=0.01, name=")
    result = graded(rough, lambda n: round(n / 3, 3))
    assert result.score > 4.0 and NOTE not in text_table(result)


SHOWN_AGAIN = SHOWN.replace(
    "check.agrees(",
    """\
check.equal(f(2).result, 4, weight=4)
check.that(lambda: seen.result.plain == 9, weight=4)
check.agrees(""",
).replace("check.silent", "seen = f(3)\ncheck.silent")
ONE_BY_ONE_AGAIN = ONE_BY_ONE.replace("in (5, 6, 7, 8)", "in (2, 3, 4, 2, 3, 4, 5)")


@pytest.mark.parametrize("cell", [SHOWN_AGAIN, ONE_BY_ONE_AGAIN], ids=["many cases", "one by one"])
def test_a_hidden_check_that_asks_what_a_visible_one_asks_counts_as_shown(cell: str) -> None:
    assert graded(cell, TABLE.get).score == 2.0
    assert graded(cell, lambda n: n * n).score == 10.0


def test_who_gets_one_other_input_right_keeps_what_is_shown_twice() -> None:
    assert graded(ONE_BY_ONE_AGAIN, {**TABLE, 5: 25}.get).score == 10.0
    assert graded(ONE_BY_ONE_AGAIN, {**TABLE, 2: 5, 5: 25}.get).score > 5.0


def test_one_that_asks_with_other_tensors_of_the_same_shape_does_not() -> None:
    cell = """\
check, f = Check("x"), answer("f")
check.equal(f(torch.zeros(2)).result, 0.0)
check.equal(f(torch.ones(2)).result, 2.0)
### BEGIN HIDDEN TESTS
check.equal(f(torch.zeros(2)).result, 0.0)
check.equal(f(torch.ones(2) * 2).result, 4.0)
check.equal(f(torch.ones(2)[:1]).result, 1.0)
### END HIDDEN TESTS
result = check.result(10)
"""
    sums = graded(cell, lambda x: x.sum().item())
    assert [one.shown for one in sums.checks] == [True, True, True, False, False]


YES_OR_NO = SHOWN.replace("n * n", "n % 3 == 0")


def test_one_answer_for_all_other_inputs_is_not_work() -> None:
    always = graded(YES_OR_NO, lambda n: TABLE.get(n, 0) == 9)
    assert always.score == 2.0
    knows_some = graded(YES_OR_NO, lambda n: n % 3 == 0 and n < 40)
    assert knows_some.score > 2.0 and NOTE not in text_table(knows_some)


def test_without_hidden_checks_all_stays_as_it_was() -> None:
    shown = SHOWN.partition("### BEGIN")[0] + "result = check.result(10)\n"
    assert graded(shown, TABLE.get).score == 10.0
    assert graded(shown, {2: 4}.get).score == pytest.approx(4.16)


NUMBERS = """\
check = Check("x")
seen = answer("f")(torch.zeros(2))
check.allocates(seen, at_most=8)
check.saves(seen, at_most=123)
### BEGIN HIDDEN TESTS
check.allocates(seen, at_most=8)
check.saves(seen, at_most=123)
### END HIDDEN TESTS
result = check.result(1)
"""


def test_a_hidden_check_that_nobody_named_tells_no_number() -> None:
    with learner({"f": lambda x: x}):
        names = [one.name for one in run_cell(NUMBERS, dict(NAMES))["result"].checks]
    assert names == [
        "it allocates at most 8 bytes",
        "it keeps at most 123 bytes for backward",
        "it allocates no more than it may",
        "it keeps no more for backward than it may",
    ]
