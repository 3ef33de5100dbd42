"""Every call of an answer leaves its arguments and the process as they were, or says so."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from course import Check, answer, inputs, probe
from course.testing.results import CheckResult
from tests.course.cells import learner

LINE = "it leaves everything else as it was"


def line(
    mine: Callable[..., Any], *args: Any, watch: dict[str, bool] | None = None, **how: Any
) -> CheckResult:
    with learner({"f": mine}):
        check = Check("f")
        answer("f", **how).watch(**(watch or {}))(*args)
        check.equal(1, 1)
        (found,) = [one for one in check.result(1).checks if one.name == LINE]
        return found


def _listed(x: list[torch.Tensor]) -> None:
    x.append(torch.zeros(1))


def _with_grad(x: torch.Tensor) -> None:
    (x * 2).sum().backward()


def _unclear(x: torch.Tensor) -> torch.Tensor:
    x.data = x.t()
    return x


CHANGED: list[tuple[str, Callable[[Any], Any], Any]] = [
    ("its elements", lambda x: x.mul_(2), torch.ones(2, 3)),
    ("its elements", lambda x: x[0].mul_(2), torch.ones(2, 3)),
    ("it was written to in place", lambda x: x.add_(0), torch.ones(2, 3)),
    ("its shape or strides", lambda x: x.t_(), torch.ones(2, 3)),
    ("its place in the graph", lambda x: x.requires_grad_(), torch.ones(2, 3)),
    ("its `.grad`", _with_grad, torch.ones(2, 3, requires_grad=True)),
    ("its length", _listed, [torch.ones(1)]),
    ("its elements", lambda x: x[0].mul_(2), [torch.ones(1)]),
    ("its keys", lambda x: x.pop("a"), {"a": 1, "b": 2}),
    ("its value", lambda x: x.update(a=3), {"a": 1}),
]


@pytest.mark.parametrize(("told", "mine", "given"), CHANGED)
def test_an_argument_that_changed_is_told(
    told: str, mine: Callable[[Any], Any], given: Any
) -> None:
    found = line(mine, given)
    assert not found.passed
    assert told in found.message


HONEST: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: x * 2, torch.ones(2, 3)),
    (lambda x: x.view(-1), torch.ones(2, 3)),
    (lambda x: x, torch.tensor([float("nan")])),
    (lambda x: x.clone().mul_(2), torch.ones(2, requires_grad=False)),
    (lambda x: torch.autograd.grad((x * 2).sum(), x), torch.ones(2, requires_grad=True)),
    (lambda x: [*x, 1], [torch.ones(2)]),
    (lambda x: torch.rand(2, generator=torch.Generator()), 1),
    (lambda x: x(2), torch.nn.Identity),
]


@pytest.mark.parametrize(("mine", "given"), HONEST)
def test_honest_work_is_not_told(mine: Callable[[Any], Any], given: Any) -> None:
    assert line(mine, given).passed


def test_the_gradients_that_the_grader_takes_are_not_held_against_the_answer() -> None:
    x = torch.ones(3, requires_grad=True)
    assert line(lambda x: x * 2, x, watch={"backward": True}).passed


@pytest.mark.parametrize("changes", ["w", 0, ("w", "random state")])
def test_what_may_change_is_forgiven(changes: Any) -> None:
    def step(w: torch.Tensor, rate: float) -> None:
        w.sub_(rate)

    assert line(step, torch.ones(2), 0.1, changes=changes).passed


def test_only_what_may_change_is_forgiven() -> None:
    def step(w: torch.Tensor, gradient: torch.Tensor) -> None:
        w.sub_(gradient.mul_(2))

    found = line(step, torch.ones(2), torch.ones(2), changes="w")
    assert "its argument `gradient`" in found.message


def test_a_parameter_that_was_renamed_forgives_one_change() -> None:
    def step(weight: torch.Tensor, gradient: torch.Tensor) -> None:
        weight.sub_(gradient)

    assert line(step, torch.ones(2), torch.ones(2), changes="w").passed


@pytest.mark.parametrize("mode", ["random state", "grad mode", "hooks"])
def test_a_mode_that_may_change_forgives_no_argument(mode: str) -> None:
    def step(weight: torch.Tensor) -> None:
        weight.sub_(1)

    assert "its argument `weight`" in line(step, torch.ones(2), changes=mode).message


def test_a_mode_left_changed_is_told_and_put_back() -> None:
    found = line(lambda: torch.set_grad_enabled(False))
    assert "did not leave the grad mode as it was" in found.message
    assert torch.is_grad_enabled()


def test_a_number_drawn_from_the_global_generator_is_told_unless_allowed() -> None:
    assert not line(random.random).passed
    assert line(random.random, changes="random state").passed


@pytest.mark.parametrize(
    ("named", "expected"),
    [("writes", "writes"), ({"arguments": "writes"}, "writes"), ({"grad mode": "x"}, None)],
)
def test_the_misconception_is_the_one_of_the_kind(named: Any, expected: str | None) -> None:
    found = line(lambda x: x.mul_(2), torch.ones(2), misconception=named)
    assert found.misconception == expected


def test_the_calls_for_many_cases_are_looked_at_too() -> None:
    def careless(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1) if x.dim() != 1 else x.mul_(1)

    with learner({"f": careless}):
        check = Check("f")
        check.agrees(lambda x: x.reshape(-1), inputs.tensors((6,), sizes=False, scalar=False))
        found = check.result(1).checks[-1]
    assert found.name == LINE and not found.passed


def _into_the_past(x: torch.Tensor) -> torch.Tensor:
    (x * 2).sum().backward()
    return x * 2


def _kept(x: torch.Tensor) -> torch.Tensor:
    if x.requires_grad:
        x.retain_grad()
    return x * 2


@pytest.mark.parametrize("mine", [_into_the_past, _kept])
@pytest.mark.parametrize("compare", [("values",), ("values", "gradients")])
def test_a_gradient_that_arrives_at_an_intermediate_is_told(
    mine: Callable[[torch.Tensor], torch.Tensor], compare: tuple[str, ...]
) -> None:
    cases = [
        inputs.Case("an intermediate", (torch.ones(2, requires_grad=True),), intermediate=True)
    ]
    with learner({"f": mine}):
        check = Check("f")
        check.agrees(lambda x: x * 2, cases, of=answer("f"), compare=compare)
        found = check.result(1).checks
    assert [one.passed for one in found] == [True, False]
    assert "its `.grad`" in found[-1].message


def test_it_is_earned_only_with_the_values() -> None:
    with learner({"f": lambda x: None}):
        check = Check("f")
        check.equal(answer("f")(torch.ones(2)).result, torch.ones(2))
        assert check.result(4).score == 0


@probe
def _called_twice(fn: Callable[[], Any]) -> int:
    random.seed(1)  # the probe's own affair
    fn()
    random.seed(2)
    fn()
    return 2


def _line_of(check: Check) -> CheckResult:
    return next(one for one in check.result(1).checks if one.name == LINE)


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize(
    ("mine", "how", "kept"),
    [
        (lambda: None, {}, True),
        (lambda: random.seed(5), {}, False),
        (lambda: random.seed(5), {"changes": "random state"}, True),
        (lambda: random.seed(5), {"changes": "grad mode"}, False),
    ],
)
def test_what_an_answer_changes_while_a_probe_calls_it_is_told(
    mine: Callable[[], Any], how: dict[str, Any], kept: bool, each: bool
) -> None:
    with learner({"f": mine}):
        check, by = Check("f"), answer("f", misconception="draws", **how)
        if each:
            check.agrees(lambda: None, [inputs.Case("one", ())], of=_called_twice.through(by))
        else:
            check.equal(_called_twice(by).result, 2)
        found = _line_of(check)
    assert found.passed == kept
    assert found.misconception == (None if kept else "draws")
    assert kept or "`f` did not leave the random state as it was" in found.message


def test_a_probe_without_an_answer_is_not_looked_at() -> None:
    with learner({}):
        check = Check("f")
        check.equal(_drawn().result, 1)
        assert [one for one in check.result(1).checks if one.name == LINE] == []


@probe
def _drawn() -> int:
    random.random()
    return 1
