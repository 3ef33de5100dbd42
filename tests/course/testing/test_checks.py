"""A check never raises, says why it fails, and never lets a hidden input out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from course import Check, answer, inputs
from course.testing.observe import observe
from course.testing.table import html_table, text_table
from tests.course.cells import learner, run_cell

NAMES: dict[str, Any] = {"Check": Check, "answer": answer, "torch": torch}


def failed(check: Check) -> list[str]:
    return [c.message for c in check.result(1).checks if not c.passed]


def test_all_checks_give_all_points() -> None:
    check = Check("x")
    check.equal(3, 3)
    check.that(True)
    assert check.result(4).score == 4.0


@pytest.mark.parametrize("weight", [-1, math.nan, math.inf])
def test_a_weight_that_is_no_share_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="a check weighs 0 or more"):
        Check("one").equal(1, 1, weight=weight)


def test_weights_share_the_points() -> None:
    check = Check("x")
    check.equal(7, 7, weight=3)
    check.equal(1, 2)
    assert check.result(4).score == 3.0


def test_rounding_never_gives_the_last_point_away() -> None:
    check = Check("x")
    check.equal(7, 7, weight=1e6)
    check.equal(1, 2, weight=1e-6)
    assert check.result(4).score == 3.99


def test_a_copy_is_told_with_its_bytes() -> None:
    check = Check("x")
    seen = observe(lambda x: x.t().reshape(-1), torch.zeros(2, 3), name="flatten")
    check.shares_storage(seen.result, seen.args[0], message="Strides (1, 3) cannot merge.")
    assert failed(check) == [
        "the result of `flatten` has its own storage (24 bytes) and not that of "
        "argument[0]: the elements were copied. Strides (1, 3) cannot merge."
    ]


LAYOUT: list[tuple[Callable[[Check, Any], None], Callable[[torch.Tensor], Any]]] = [
    (lambda c, s: c.shares_storage(s.result, s.args[0]), lambda x: x.clone()),
    (lambda c, s: c.copies(s.result, s.args[0]), lambda x: x.view(-1)),
    (lambda c, s: c.disjoint(s.result[0], s.result[1]), lambda x: (x[:1], x)),
    (lambda c, s: c.contiguous(s.result), lambda x: x.t()),
    (lambda c, s: c.shape(s.result, (3, 2)), lambda x: x),
    (lambda c, s: c.dtype(s.result, torch.float32), lambda x: x.double()),
    (lambda c, s: c.requires_grad(s.result), lambda x: x),
    (lambda c, s: c.leaf(s.result, False), lambda x: x),
    (lambda c, s: c.equal(s.result, torch.ones(2, 3)), lambda x: x),
    (lambda c, s: c.close(s.result, torch.full((2, 3), 1e-3)), lambda x: x),
    (lambda c, s: c.unchanged(s), lambda x: x.add_(1)),
    (lambda c, s: c.uses(s, "view"), lambda x: x.reshape(-1)),
    (lambda c, s: c.avoids(s, "reshape"), lambda x: x.reshape(-1)),
    (lambda c, s: c.avoids(s, "aten::clone"), lambda x: x.clone()),
    (lambda c, s: c.avoids(s, "T"), lambda x: x.T),
    (lambda c, s: c.allocates(s, at_most=0), lambda x: x + 1),
    (lambda c, s: c.saves(s, at_most=0), lambda x: x.requires_grad_().exp()),
    (lambda c, s: c.silent(s), lambda x: print(x)),
    (lambda c, s: c.runs(s), lambda x: 1 / 0),
    (lambda c, s: c.raises(s, ValueError), lambda x: x),
    (lambda c, s: c.raises(s, ValueError, match="size"), lambda x: int("x")),
    (lambda c, s: c.that(lambda: s.result.plain.missing), lambda x: x),
]
HOLDS: list[tuple[Callable[[Check, Any], None], Callable[[torch.Tensor], Any]]] = [
    (LAYOUT[i][0], good)
    for i, good in enumerate(
        [
            lambda x: x.t(), lambda x: x.clone(), lambda x: (x[:1], x[1:]), lambda x: x,
            lambda x: x.t(), lambda x: x, lambda x: x.requires_grad_(),
            lambda x: x.requires_grad_() * 1, lambda x: x + 1, lambda x: x + 1e-3,
            lambda x: x + 1, lambda x: x.view(-1), lambda x: x.view(-1), lambda x: x,
            lambda x: x.t(), lambda x: x.t(), lambda x: x.requires_grad_() + 1, lambda x: x,
            lambda x: x, lambda x: int("x"), lambda x: (_ for _ in ()).throw(ValueError("Size!")),
            None,
        ]
    )
    if good is not None
]  # fmt: skip


@pytest.mark.parametrize(("make", "answer_"), LAYOUT)
def test_a_check_fails_where_it_should(make: Any, answer_: Any) -> None:
    check = Check("x")
    make(check, observe(answer_, torch.zeros(2, 3)))
    (result,) = check.result(1).checks
    assert not result.passed and result.message


@pytest.mark.parametrize(("make", "answer_"), HOLDS)
def test_a_check_holds_where_it_should(make: Any, answer_: Any) -> None:
    check = Check("x")
    make(check, observe(answer_, torch.zeros(2, 3)))
    assert failed(check) == []


@pytest.mark.parametrize("make", [make for make, _ in LAYOUT if make is not LAYOUT[-1][0]])
def test_every_check_of_an_untouched_stub_fails_as_not_attempted(make: Any) -> None:
    def stub(x: Any) -> Any:
        raise NotImplementedError()

    check = Check("x")
    make(check, observe(stub, torch.zeros(2, 3)))
    (result,) = check.result(1).checks
    assert not result.passed and not result.attempted


def test_an_exercise_that_was_not_attempted_scores_zero() -> None:
    with learner({}):
        check = Check("f")
        seen = answer("f")(1)
        check.equal(seen.result, 1)
        check.that(True)
        result = check.result(3)
    assert (result.status, result.score) == ("not attempted", 0.0)
    assert not any(check.passed or check.attempted for check in result.checks)


def test_a_crash_in_one_call_fails_its_checks_and_not_the_others() -> None:
    with learner({"f": lambda x: 12 // x}):
        check = Check("f")
        check.equal(answer("f")(4).result, 3)
        check.equal(answer("f")(0).result, 0)
        result = check.result(2)
    assert [c.passed for c in result.checks[:2]] == [True, False] and result.score == 1.33
    assert "ZeroDivisionError" in result.checks[1].message


@pytest.mark.parametrize(
    "use",
    [
        lambda plain: plain["classes"][0] == "cat",
        lambda plain: len(plain) == 3,
        lambda plain: plain.tolist() == [1],
        lambda plain: [1 for _ in plain] or plain > 2,
        lambda plain: abs(plain - 1.0) < 1e-6,
        lambda plain: 2 * plain == 4 and 3 in plain,
        lambda plain: plain != 3,
        lambda plain: plain is not None,
        lambda plain: 3 not in (plain, 4),
        lambda plain: type(plain) is not int,
    ],
)
def test_a_condition_on_what_is_not_there_says_why_it_is_not(use: Callable[[Any], bool]) -> None:
    seen = observe(lambda: 1 / 0, name="folder")
    check = Check("x")
    check.that(lambda: use(seen.result.plain), message="The classes are sorted.")
    (message,) = failed(check)
    assert message.startswith("`folder` ended with ZeroDivisionError: division by zero")


def test_a_condition_worked_out_beforehand_does_not_hold_of_what_is_not_there() -> None:
    seen = observe(lambda: 1 / 0, name="folder")
    check = Check("x")
    check.that(seen.result.plain is not None)
    check.that(len(seen.result) == 0)
    check.that(True)  # looked at nothing
    assert [one.passed for one in check.result(1).checks] == [False, False, True]


def test_who_asks_whether_something_is_there_gets_an_answer() -> None:
    seen = observe(lambda: 1 / 0)
    check = Check("x")
    check.that(lambda: not seen.ok and not seen.result.present)
    check.that(not seen.ok and not seen.result.present)
    assert failed(check) == []


def test_another_exercise_is_not_asked_for_what_this_one_lacks() -> None:
    seen = observe(lambda: 1 / 0)
    assert seen.result.plain is not None
    check = Check("another")
    check.that(True)
    assert failed(check) == []


@pytest.mark.parametrize("make", [torch.tensor, np.array])
def test_a_condition_without_elements_does_not_hold(make: Any) -> None:
    check = Check("x")
    check.that(lambda: make([]) == 4724)
    check.that(make([True, False]))
    check.that(make([True, True]))
    assert [one.passed for one in check.result(1).checks] == [False, False, True]


def test_a_condition_on_what_is_not_there_tells_beliefs_by_the_authors_own_condition() -> None:
    usual, seen = observe(lambda: 1), observe(lambda: 1 / 0)
    check = Check("x")
    about = {"only-here": lambda: usual.ok, "never": lambda: seen.result.plain[0] == 1}
    for name, wanted in (("only-here", "only-here"), ("never", None)):
        check.that(lambda: seen.result.plain[0] == 1, misconception={name: about[name]})
        assert check.result(1).checks[-1].misconception == wanted


def test_a_hidden_check_names_the_property_and_no_value() -> None:
    source = (
        "check = Check('f')\ncheck.equal(answer('f')(1).result, 1)\n"
        "### BEGIN HIDDEN TESTS\n"
        "check.equal(answer('f')(7771).result, 7772, message='one more', misconception='m')\n"
        "check.equal(answer('g')(7771).result, 7772, message='one more', misconception='m')\n"
        "### END HIDDEN TESTS\nresult = check.result(2)\n"
    )

    def g(x: int) -> None:
        raise ValueError(f"got {x}")

    with learner({"f": lambda x: 1, "g": g}):
        result = run_cell(source, dict(NAMES))["result"]
    assert [c.hidden for c in result.checks[:3]] == [False, True, True]
    assert result.checks[1].message == "one more" and result.checks[1].actual is None
    text = text_table(result) + html_table(result) + repr(result.to_dict())
    assert "7771" not in text and "7772" not in text


def test_what_is_called_from_the_hidden_part_or_after_it_is_hidden() -> None:
    source = (
        "check = Check('f')\ndef look(n):\n    check.equal(n, 0)\nlook(1)\n"
        "### BEGIN HIDDEN TESTS\nlook(2)\ncheck.that(lambda: look(3) or False)\n"
        "### END HIDDEN TESTS\nlook(4)\nresult = check.result(1)\n"
    )
    result = run_cell(source, dict(NAMES))["result"]
    assert [c.hidden for c in result.checks] == [False, True, True, True, True]


def test_a_mistyped_option_of_a_check_is_an_author_s_error() -> None:
    with pytest.raises(TypeError, match="takes name, message"):
        Check("x").equal(1, 1, mesage="typo")


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        (True, 1, "it is the bool True, not the int 1"),
        ([1, 2], [1, 3], "item 1: it is the int 2, not the int 3"),
        ({"a": 1}, {"b": 1}, "keys missing: ['b']"),
        (torch.ones(2), torch.ones(3), "its shape is (2,), not (3,)"),
        (torch.ones(2), torch.ones(2).int(), "its dtype is float32, not int32"),
        (None, torch.ones(2), "it is None, not a tensor"),
        (torch.tensor([1.0, 5.0]), torch.tensor([1.0, 2.0]), "first at index (1,): 5.0 instead"),
    ],
)
def test_a_difference_is_told_in_words(actual: Any, expected: Any, words: str) -> None:
    check = Check("x")
    check.equal(actual, expected)
    assert words in failed(check)[0]


def test_nan_equals_nan_and_a_list_a_tuple_where_the_check_says_so() -> None:
    check = Check("x")
    check.equal(torch.tensor([float("nan")]), torch.tensor([float("nan")]))
    check.equal([1, 2], (1, 2), allow="list or tuple")
    check.close([1.0], (1,), allow=("list or tuple", "int or float"))
    check.equal(float("nan"), float("nan"))
    assert failed(check) == []


def test_an_observed_object_equal_to_everything_does_not_pass() -> None:
    class Everything:
        def __eq__(self, other: object) -> bool:
            return True

    check = Check("x")
    check.equal(observe(Everything).result, 1)
    assert "an object of class Everything" in failed(check)[0]


def test_the_table_has_a_mark_a_word_and_a_text_twin() -> None:
    check = Check("flatten")
    check.equal(7, 7, name="the values are right")
    check.equal("<b>", 2, name="no markup")
    result = check.result(2)
    html, text = html_table(result), text_table(result)
    assert 'aria-label="does not hold"' in html and "&lt;b&gt;" in html and "<b>" not in html
    assert "✓ the values are right" in text and "✗ no markup" in text
    assert text.startswith("flatten: 1 of 2 visible checks hold")


def test_the_record_of_a_result_is_plain_data() -> None:
    import json

    check = Check("x")
    check.contiguous(observe(lambda x: x.t(), torch.zeros(2, 3)).result, misconception="m")
    record = json.loads(json.dumps(check.result(1).to_dict()))
    assert record["checks"][0]["misconception"] == "m"
    assert record["checks"][0]["layouts"][0]["stride"] == [1, 3]


@pytest.mark.parametrize(
    ("actual", "meant"),
    [((12, 4), "bytes"), ((1, 3), "columns"), ((7, 7), None), ((3, 1), "bytes")],
)
def test_of_several_misconceptions_the_one_that_fits_is_meant(actual: Any, meant: Any) -> None:
    check = Check("x")
    check.equal(actual, (3, 1), misconception={"bytes": (12, 4), "columns": (1, 3)})
    assert check.result(1).checks[0].misconception == meant


def test_a_misconception_may_lead_to_an_exception_or_a_condition() -> None:
    check = Check("x")
    seen = observe(lambda: [].index(1))
    check.equal(seen.result, 0, misconception={"a": IndexError, "b": ValueError})
    check.that(False, misconception={"a": lambda: False, "b": lambda: True})
    assert [c.misconception for c in check.result(1).checks] == ["b", "b"]


def test_a_run_that_was_lost_fits_no_value_and_no_condition() -> None:
    check = Check("x")
    seen = observe(lambda: 1 / 0)
    meant = {"none": None, "always": lambda: True, "division": ArithmeticError, "this": Exception}
    check.equal(seen.result, 0, misconception=meant)
    check.equal(seen.result, 0, misconception={**meant, "named": ZeroDivisionError})
    assert [c.misconception for c in check.result(1).checks] == [None, "named"]


def checked_of(mine: Callable[..., Any], ask: Callable[[Check], None]) -> list[Any]:
    with learner({"f": mine}):
        check = Check("f")
        ask(check)
        return [one for one in check.result(1).checks if one.misconception or not one.passed]


def test_a_missing_return_shows_nothing_of_what_somebody_believes() -> None:
    def ask(check: Check) -> None:
        seen = answer("f")(torch.zeros(3, 2))
        check.equal(seen.result, torch.zeros(1), message="No.", misconception="m")
        check.shape(seen.result[0], (1,), misconception={"m": None})
        check.agrees(lambda x: x, inputs.tensors(), of=answer("f"), misconception="m")
        check.that(False, misconception="of its author")

    *found, last = checked_of(lambda x: None, ask)
    assert [(one.passed, one.misconception) for one in found] == [(False, None)] * 3
    missing = "`f` gives None each time it is called. Is there a `return` missing?"
    assert {one.message for one in found} == {missing}
    assert last.misconception == "of its author"


@pytest.mark.parametrize(
    ("mine", "more"),
    [
        (lambda x: x if len(x) == 2 else None, [torch.zeros(2)]),
        (lambda x: x[:9] if x.dim() else None, []),
        (lambda x: None if len(x) == 3 else 1 / 0, [torch.zeros(2)]),
    ],
    ids=["another call gives something", "a case does", "another call ends with an error"],
)
def test_none_in_some_calls_may_be_a_belief(mine: Any, more: list[Any]) -> None:
    def ask(check: Check) -> None:
        for one in [*more, torch.zeros(3)]:
            seen = answer("f")(one)
        check.equal(seen.result, torch.ones(1), misconception="m")
        check.agrees(lambda x: x, inputs.tensors(), of=answer("f"), misconception="m")

    assert [one.misconception for one in checked_of(mine, ask)] == ["m", "m"]


def test_who_has_to_return_nothing_is_not_told_of_a_return() -> None:
    def double(x: torch.Tensor) -> None:
        x.mul_(2)

    def ask(check: Check) -> None:
        seen = answer("f", changes="x")(torch.ones(3))
        check.equal(seen.args_after[0], torch.full((3,), 2.0), misconception="m")
        check.equal(seen.result, None, misconception="holds")
        check.agrees(
            double,
            inputs.tensors(dtypes=(torch.float32,), layouts=("a contiguous tensor",), grad=False),
            of=answer("f", changes="x"),
            compare=("values", "arguments"),
            misconception="m",
        )

    found = checked_of(lambda x: None, ask)
    assert [one.misconception for one in found] == ["m", "holds", "m"]
    assert not any("`return` missing" in one.message for one in found)


def test_what_came_back_says_more_of_a_belief_than_that_a_check_failed() -> None:
    def ask(check: Check) -> None:
        seen = answer("f")(torch.ones(2))
        check.equal(seen.result, torch.ones(2), misconception="plain")
        check.equal(seen.result, torch.ones(2), misconception={"zeros": torch.zeros(2)})
        check.that(lambda: seen.ok, misconception="holds")

    plain, shown, held = checked_of(torch.zeros_like, ask)
    assert (plain.misconception, plain.suspected) == (None, "plain")
    assert (shown.misconception, shown.suspected) == ("zeros", None)
    assert held.misconception == "holds"


@pytest.mark.parametrize(
    "beliefs",
    [
        lambda seen: ("one", "another"),
        lambda seen: (
            {"one": torch.zeros(2)},
            {"another": lambda: seen.result[0].plain == 0},
        ),
        lambda seen: ({"one": lambda: seen.ok}, {"another": lambda: True}),
    ],
    ids=["no evidence", "evidence for both", "that it came back is no evidence"],
)
def test_of_two_beliefs_with_as_much_evidence_none_is_told(beliefs: Any) -> None:
    def ask(check: Check) -> None:
        seen = answer("f")(torch.ones(2))
        for one in beliefs(seen):
            check.equal(seen.result, torch.ones(2), misconception=one)

    found = checked_of(torch.zeros_like, ask)
    assert [one.misconception for one in found] == [None, None]
    assert [one.suspected for one in found] == ["one", "another"]


def test_a_computed_belief_says_more_than_a_kind_of_input_and_a_list_may_hold_several() -> None:
    def ask(check: Check) -> None:
        cases = inputs.tensors((3,), dtypes=(torch.float32,))
        beliefs = {
            "adds": [lambda x: x + 1, lambda x: x + 2],
            "contiguous": {one.kind for one in cases},
        }
        check.agrees(lambda x: x * 1, cases, of=answer("f"), misconception=beliefs)
        check.that(lambda: answer("f")(torch.ones(1)).result[0] == 1, misconception="plain")

    several, plain = checked_of(lambda x: x + 2, ask)
    assert (several.misconception, plain.misconception) == ("adds", None)


def test_a_check_that_holds_keeps_the_first_of_its_misconceptions_or_none() -> None:
    check = Check("x")
    check.that(True, misconception={"first": 1, "second": 2})
    check.that(True, misconception={})
    check.that(False, misconception={"broken": lambda: 1 / 0, "text": lambda: ""})
    assert [c.misconception for c in check.result(1).checks] == ["first", None, None]


def test_an_error_in_a_condition_is_told_up_to_300_characters() -> None:
    def condition() -> bool:
        raise RuntimeError("x" * 400)

    check = Check("x")
    check.that(condition)
    assert failed(check) == [f"this could not be checked: RuntimeError: {'x' * 300}"]


def test_a_call_that_ended_in_an_error_was_attempted() -> None:
    check = Check("x")
    check.unchanged(observe(lambda: 1 / 0))
    assert [(c.passed, c.attempted) for c in check.result(1).checks] == [(False, True)]
