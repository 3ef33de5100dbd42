"""Every check has a name, and a failure says what was found, what was expected, and why."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

from course import Check
from course.testing.observe import Observation, observe
from course.testing.recording import OUR_FAULT
from course.testing.results import _without_values
from course.testing.tolerance import Tolerance

Make = Callable[[Check, Observation], None]
Answer = Callable[[torch.Tensor], Any]


def failed(make: Make, *args: Any, answer: Any, **kwargs: Any) -> bool:
    """Whether the check fails on what this answer did."""
    check = Check("x")
    make(check, observe(answer, *args, name="f", **kwargs))
    return not check.result(1).checks[0].passed


def without_line(text: str | None) -> str | None:
    """The text without the line of an answer in this file."""
    return text and re.sub(r" \(line \d+: `.*`\)", "", text)


# The check, an answer that fails it, and of the failure: name, message, actual, expected, and how
# many layouts are drawn beside it.
TOLD: list[tuple[Make, Answer, str, str, str | None, str | None, int]] = [
    (
        lambda c, s: c.equal(s.result, torch.ones(2, 3)),
        lambda x: x,
        "the values are right",
        "the result of `f`: 6 of 6 elements differ, first at index (0, 0): 0.0 instead of 1.0",
        "float32 (2, 3) [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]",
        "float32 (2, 3) [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]",
        0,
    ),
    (
        lambda c, s: c.close(s.result, torch.ones(2, 3)),
        lambda x: x,
        "the values are right, up to rounding",
        "the result of `f`: 6 of 6 elements differ, first at index (0, 0): 0.0 instead of 1.0",
        "float32 (2, 3) [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]",
        "float32 (2, 3) [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]",
        0,
    ),
    (
        lambda c, s: c.that(False),
        lambda x: x,
        "the condition holds",
        "this does not hold",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.that(lambda: torch.tensor([True, False])),
        lambda x: x,
        "the condition holds",
        "this does not hold",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.that(lambda: 1 / 0),
        lambda x: x,
        "the condition holds",
        "this could not be checked: ZeroDivisionError: division by zero",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.that(lambda: sorted(s.result.plain) == [1, 2]),
        lambda x: 0,
        "the condition holds",
        "the result of `f` is an int, which isn't what the check expects here"
        " (TypeError: 'int' object is not iterable)",
        "0",
        None,
        0,
    ),
    (
        lambda c, s: c.that(lambda: s.result.plain.keys() == {"a"}),
        lambda x: x,
        "the condition holds",
        "the result of `f` is a tensor, which isn't what the check expects here"
        " (AttributeError: 'Tensor' object has no attribute 'keys')",
        "float32 (2, 3) [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]",
        None,
        0,
    ),
    (
        lambda c, s: c.shape(s.result, [3, 2]),
        lambda x: x,
        "the shape is right",
        "the result of `f` has shape (2, 3); (3, 2) was expected",
        "(2, 3)",
        "(3, 2)",
        0,
    ),
    (
        lambda c, s: c.dtype(s.result, torch.float32),
        lambda x: x.double(),
        "the dtype is right",
        "the result of `f` has dtype float64; float32 was expected",
        "float64",
        "float32",
        0,
    ),
    (
        lambda c, s: c.contiguous(s.result),
        lambda x: x.t(),
        "it is contiguous",
        "the result of `f` has is_contiguous False; True was expected",
        "False",
        "True",
        1,
    ),
    (
        lambda c, s: c.requires_grad(s.result),
        lambda x: x,
        "requires_grad is right",
        "the result of `f` has requires_grad False; True was expected",
        "False",
        "True",
        0,
    ),
    (
        lambda c, s: c.requires_grad(s.result, False),
        lambda x: x.requires_grad_(),
        "requires_grad is right",
        "the result of `f` has requires_grad True; False was expected",
        "True",
        "False",
        0,
    ),
    (
        lambda c, s: c.leaf(s.result),
        lambda x: x.requires_grad_() * 1,
        "is_leaf is right",
        "the result of `f` has is_leaf False; True was expected",
        "False",
        "True",
        0,
    ),
    (
        lambda c, s: c.leaf(s.result, False),
        lambda x: x,
        "is_leaf is right",
        "the result of `f` has is_leaf True; False was expected",
        "True",
        "False",
        0,
    ),
    (
        lambda c, s: c.shares_storage(s.result, s.args[0]),
        lambda x: x.clone(),
        "it lives in the same storage",
        "the result of `f` has its own storage (24 bytes) and not that of argument[0]: "
        "the elements were copied",
        "another storage",
        "the same storage",
        2,
    ),
    (
        lambda c, s: c.copies(s.result, s.args[0]),
        lambda x: x.view(-1),
        "it has a storage of its own",
        "the result of `f` still lives in the storage of argument[0]",
        "the same storage",
        "a storage of its own",
        2,
    ),
    (
        lambda c, s: c.disjoint(s.result[0], s.result[1]),
        lambda x: (x[:1], x),
        "the two do not overlap in memory",
        "the result of `f`[0] and the result of `f`[1] have elements of memory in common",
        "a common element",
        "no common element",
        2,
    ),
    (
        lambda c, s: c.runs(s),
        lambda x: 1 / 0,
        "it runs without an error",
        "`f` ended with ZeroDivisionError: division by zero",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.raises(s, ValueError),
        lambda x: x,
        "it raises ValueError",
        "`f` raised nothing",
        "no error",
        "ValueError",
        0,
    ),
    (
        lambda c, s: c.raises(s, ValueError, match="size"),
        lambda x: int("x"),
        "it raises ValueError",
        "`f` ended with ValueError: invalid literal for int() with base 10: 'x'",
        "ValueError: invalid literal for int() with base 10: 'x'",
        "ValueError mentioning 'size'",
        0,
    ),
    (
        lambda c, s: c.raises(s, ValueError),
        lambda x: 1 / 0,
        "it raises ValueError",
        "`f` ended with ZeroDivisionError: division by zero",
        "ZeroDivisionError: division by zero",
        "ValueError",
        0,
    ),
    (
        lambda c, s: c.unchanged(s),
        lambda x: x.add_(1),
        "the arguments are left unchanged",
        "`f` changed its argument 0 in place",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.uses(s, "view", "aten::view"),
        lambda x: x + 1,
        "it uses `view` or `aten::view`",
        "`f` never calls `view` or `aten::view`",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.avoids(s, "reshape", "view", "aten::clone"),
        lambda x: x.t().reshape(-1),
        "it does not use `reshape` or `view` or `aten::clone`",
        "`f` calls `reshape` or `aten::clone`",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.allocates(s),
        lambda x: x + 1,
        "it allocates nothing",
        "`f` made 24 bytes of new storages",
        "24 bytes",
        "at most 0 bytes",
        0,
    ),
    (
        lambda c, s: c.allocates(s, at_most=23),
        lambda x: x + 1,
        "it allocates at most 23 bytes",
        "`f` made 24 bytes of new storages",
        "24 bytes",
        "at most 23 bytes",
        0,
    ),
    (
        lambda c, s: c.saves(s, at_most=23),
        lambda x: x.requires_grad_().exp(),
        "it keeps at most 23 bytes for backward",
        "the graph of `f` keeps 24 bytes for backward",
        "24 bytes",
        "at most 23 bytes",
        0,
    ),
    (
        lambda c, s: c.silent(s),
        lambda x: print("abc"),
        "it prints nothing and does not warn",
        "`f` printed 4 characters",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.silent(s),
        lambda x: warnings.warn("careful", stacklevel=1),
        "it prints nothing and does not warn",
        "`f` warned: careful",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.shape(3, (1,)),
        lambda x: x,
        "the shape is right",
        "the value is the int 3, not a tensor",
        None,
        None,
        0,
    ),
    (
        lambda c, s: c.shape(s.result, (1,)),
        lambda x: [x],
        "the shape is right",
        "the result of `f` is a list of 1, not a tensor",
        "[tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])]",
        None,
        0,
    ),
]


@pytest.mark.parametrize(("make", "answer", "name", "words", "actual", "expected", "drawn"), TOLD)
def test_a_failure_tells_name_reason_and_both_values(
    make: Make,
    answer: Answer,
    name: str,
    words: str,
    actual: str | None,
    expected: str | None,
    drawn: int,
) -> None:
    check = Check("x")
    make(check, observe(answer, torch.zeros(2, 3), name="f"))
    (one,) = check.result(1).checks
    assert (one.passed, one.attempted, one.hidden) == (False, True, False)
    assert (one.name, without_line(one.message)) == (name, words)
    assert (without_line(one.actual), one.expected, len(one.layouts)) == (actual, expected, drawn)


def test_the_name_message_and_weight_of_the_author_take_the_place_of_our_own() -> None:
    check = Check("x")
    check.equal(1, 2, name="one is two", message="It is not.", misconception="m", weight=2)
    check.equal(7, 7, name="one is one", message="never told")
    one, other = check.result(1).checks
    assert (one.name, one.misconception, one.weight) == ("one is two", "m", 2.0)
    assert one.message == "the value: it is the int 1, not the int 2. It is not."
    assert (other.name, other.message, other.misconception, other.weight) == (
        "one is one", "", None, 1.0,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rounding", [1, 10])
def test_close_allows_so_many_times_the_usual_rounding(dtype: torch.dtype, rounding: int) -> None:
    one = torch.tensor(1.0, dtype=dtype)
    unit, _ = Tolerance(rounding).of(dtype)
    for part, fails in ((0.9, False), (2.1, True), (-2.1, True)):

        def close(c: Check, s: Observation) -> None:
            c.close(s.result, one, rounding=rounding)

        assert failed(close, answer=lambda part=part: one * (1 + part * unit)) is fails


@pytest.mark.parametrize("holds", [True, 1, torch.tensor([True, True]), lambda: True, lambda: [0]])
def test_a_condition_holds_when_it_is_true_or_true_in_every_element(holds: Any) -> None:
    assert not failed(lambda c, s: c.that(holds), answer=lambda: None)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.add_(0),  # the same values, but written
        lambda x: x.t_(),
        lambda x: x.resize_(1, 2),
        lambda x: x.set_(torch.zeros(2, 2)),
        lambda x: x.fill_(1),
    ],
)
def test_a_tensor_is_changed_by_its_values_its_layout_or_a_write(change: Any) -> None:
    assert failed(lambda c, s: c.unchanged(s), torch.zeros(2, 2), answer=change)


def test_one_argument_or_any_of_them_is_looked_at() -> None:
    def answer(a: Any, b: list[int], *, k: dict[str, int], m: Any) -> None:
        b.append(1)
        k["new"] = 1

    for index, changed in [(None, True), (0, False), (1, True), ("k", True), ("m", False)]:
        args, kwargs = (torch.zeros(1), [0]), {"k": {"a": 1}, "m": torch.zeros(1)}
        assert changed is failed(
            lambda c, s, index=index: c.unchanged(s, index), *args, answer=answer, **kwargs
        )


def test_a_changed_keyword_argument_is_found_without_its_name() -> None:
    def answer(*, k: torch.Tensor) -> None:
        k.add_(1)

    assert failed(lambda c, s: c.unchanged(s), answer=answer, k=torch.zeros(1))
    assert not failed(lambda c, s: c.unchanged(s), answer=lambda k: None, k=torch.zeros(1))


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("reshape", True),
        ("Tensor.reshape", True),
        ("torch.Tensor.reshape", True),
        ("shape", False),
        ("torch.reshape", False),
        ("T", True),
        ("Tensor.T", True),
        ("grad", True),
        ("aten::clone", True),
        ("clone", False),
        ("aten::reshape", True),
        ("aten::view", False),
    ],
)
def test_a_function_is_known_by_the_end_of_its_name_and_an_operator_by_all_of_it(
    name: str, called: bool
) -> None:
    def answer(x: torch.Tensor) -> torch.Tensor:
        x.grad = None
        return x.T.reshape(-1)

    x = torch.zeros(2, 3)
    assert failed(lambda c, s: c.uses(s, name), x, answer=answer) is not called
    assert failed(lambda c, s: c.avoids(s, name), x, answer=answer) is called
    assert failed(lambda c, s: c.uses(s, "no_such", name), x, answer=answer) is not called


def test_what_is_allowed_at_most_is_allowed() -> None:
    x = torch.zeros(2, 3)
    assert not failed(lambda c, s: c.allocates(s, 24), x, answer=lambda x: x + 1)
    grown = x.clone().requires_grad_()
    assert not failed(lambda c, s: c.saves(s, 24), grown, answer=lambda x: x.exp())
    assert failed(lambda c, s: c.saves(s, 23), grown, answer=lambda x: x.exp())


@pytest.mark.parametrize(
    ("error", "match", "holds"),
    [
        (LookupError, "", True),
        (KeyError, "GONE", True),
        (KeyError, "here", False),
        (IndexError, "", False),
        (Exception, "gone", True),
    ],
)
def test_an_exception_is_known_by_its_bases_and_a_part_of_its_message(
    error: type[BaseException], match: str, holds: bool
) -> None:
    def answer() -> None:
        raise KeyError("it is gone")

    assert failed(lambda c, s: c.raises(s, error, match), answer=answer) is not holds


ERRORS = [ValueError, IndexError, TypeError, KeyError, RuntimeError, ZeroDivisionError]


def faked() -> type[BaseException]:
    made: type[BaseException] = Exception
    for one in ERRORS:
        made = type(one.__name__, (made,), {"__module__": "builtins"})
    return made


class Shifting(type):
    """A metaclass whose classes say another base and module than they have, and equal any other."""

    __base__ = property(lambda _: ERRORS[1])  # type: ignore[assignment]
    __module__ = property(lambda _: "builtins")  # type: ignore[assignment]
    __hash__ = type.__hash__

    def __eq__(cls, other: object) -> bool:
        return True


@pytest.mark.parametrize(
    ("raised", "accepted"),
    [
        (type("Refused", (ValueError,), {}), [ValueError]),
        (type("Refused", (type("Ours", (KeyError,), {}),), {}), [KeyError]),
        (type("Refused", (type("Mixin", (), {}), TypeError), {}), [TypeError]),
        (type("ValueError", (ValueError,), {}), [ValueError]),
        (type("Refused", tuple(ERRORS), {}), [ValueError]),
        (type("IndexError", (ValueError,), {"__module__": "builtins"}), [ValueError]),
        (faked(), []),
        (Shifting("IndexError", (ValueError,), {}), [ValueError]),
    ],
)  # fmt: skip
def test_an_exception_of_ones_own_is_what_its_main_base_is(
    raised: type[BaseException], accepted: list[type[BaseException]]
) -> None:
    def answer() -> None:
        raise raised("no")

    found = [one for one in ERRORS if not failed(lambda c, s: c.raises(s, one), answer=answer)]  # noqa: B023
    assert found == accepted


def test_a_name_that_an_answer_puts_among_pythons_own_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, made = BufferError, type("BufferError", (Exception,), {"__module__": "builtins"})

    def answer() -> None:
        raise made("no")

    monkeypatch.setattr("builtins.BufferError", made)
    assert failed(lambda c, s: c.raises(s, real), answer=answer)


@pytest.mark.parametrize("error", [torch.cuda.OutOfMemoryError, torch.linalg.LinAlgError])
def test_an_exception_of_torch_is_known(error: type[BaseException]) -> None:
    def answer() -> None:
        raise type("Refused", (error,), {})

    assert not failed(lambda c, s: c.raises(s, error), answer=answer)
    assert not failed(lambda c, s: c.raises(s, RuntimeError), answer=answer)


@pytest.mark.parametrize(
    ("message", "match", "holds"),
    [
        ("dimension 2 of 3 does not merge", "dimension 2", True),
        ("dimension 1 and dimension 2 do not merge", "dimension 2", True),
        ("dimension 2.", "dimension 2", True),
        ("dimension 20 does not merge", "dimension 2", False),
        ("dimension 2.5", "dimension 2", False),
        ("dimension 1, dimension 2, dimension 3, dimension 4", "dimension 2", False),
        ("shape (2, 3, 4, 5), strides (60, 20, 5, 1): 0 and 1", "0 and 1", True),
        ("-0 and 1", "0 and 1", False),
        ("0 and 1 and 2 and 3 and 4", "0 and 1", False),
        ("expected 3 columns: (2, 4, 5), strides (20, 5, 1)", "3", True),
        ("-3 columns", "3", False),
        ("not 1.3", "3", False),
        ("a 2-3 split", "3", True),
        (", ".join(map(str, range(20))), "3", False),
        ("no " * 100 + "leaf Variable", "leaf Variable", False),
        ("a leaf Variable" + " no" * 100, "leaf Variable", True),
    ],
)
def test_a_message_says_what_is_wanted_early_and_nothing_like_it(
    message: str, match: str, holds: bool
) -> None:
    def answer() -> None:
        raise ValueError(message)

    assert failed(lambda c, s: c.raises(s, ValueError, match), answer=answer) is not holds


def test_plain_arguments_that_stay_are_unchanged() -> None:
    def answer(numbers: list[int], *, table: dict[str, int]) -> None: ...

    arguments: dict[str, Any] = {"answer": answer, "table": {"a": 1}}
    assert not failed(lambda c, s: c.unchanged(s), [1, 2], **arguments)
    assert not failed(lambda c, s: c.unchanged(s, "table"), [1, 2], **arguments)


def test_only_the_argument_that_is_named_has_to_stay() -> None:
    def answer(x: torch.Tensor, y: torch.Tensor) -> None:
        x.add_(1)

    tensors = torch.zeros(1), torch.zeros(1)
    assert failed(lambda c, s: c.unchanged(s, 0), *tensors, answer=answer)
    assert not failed(lambda c, s: c.unchanged(s, 1), *tensors, answer=answer)


def test_a_fact_leads_to_the_misconception_of_its_value() -> None:
    check = Check("x")
    seen = observe(lambda x: x.t(), torch.zeros(2, 3))
    check.shape(seen.result, (2, 3), misconception={"flat": (6,), "columns": (3, 2)})
    assert check.result(1).checks[0].misconception == "columns"


def test_facts_and_tensors_may_be_looked_at_themselves_and_other_things_not() -> None:
    check, x = Check("x"), torch.zeros(2, 3)
    seen = observe(lambda: x).result
    for subject in (x, seen, seen.node, seen.facts):
        check.shape(subject, (2, 3))
    check.shares_storage(3, x)
    check.copies(x, "text")
    found = check.result(1).checks
    assert [one.passed for one in found] == [True] * 4 + [False] * 2
    assert found[4].message == "the value is the int 3, not a tensor"
    assert found[5].message == "the value is the str 'text', not a tensor"


TELLS = f"{OUR_FAULT.format(torch='5_8_4711')} no gradients were asked for"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (f"an object of class {TELLS[:-28]}", "what this check looks at is not there"),
        (f"`total` ended with !: {TELLS}", "`total` ended with an exception of its own class"),
        (f"backward failed: !: {TELLS}", "backward failed: an exception of its own class"),
        ("`total` ended with KeyError: 4711", "`total` ended with KeyError"),
        (f"item 4711: {TELLS}", "no gradients were asked for"),
    ],
)
def test_the_reason_of_a_hidden_check_quotes_nothing_of_a_learners(words: str, told: str) -> None:
    assert _without_values(words) == told
