"""An answer held against a reference over many inputs, and what else it changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from course import Check, answer, inputs
from course.probes import probe
from course.testing.inputs import Case
from course.testing.results import CheckResult
from tests.course.cells import learner, run_cell

Function = Callable[..., Any]


def flat(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1)


def judged(
    mine: Function, reference: Function = flat, cases: Sequence[Case] | None = None, **how: Any
) -> CheckResult:
    """The line of the table for `mine`, held against `reference`."""
    with learner({"f": mine}):
        check = Check("f")
        check.agrees(reference, inputs.tensors() if cases is None else cases, **how)
        return check.result(1).checks[0]


def test_the_reference_agrees_with_itself_in_everything() -> None:
    every = ("values", "exact graph", "layout", "offset", "memory", "identity", "gradients")
    assert judged(flat, compare=(*every, "arguments")).passed


WRONG: list[tuple[str, Function, tuple[str, ...], str]] = [
    ("values", lambda x: x.t().reshape(-1) if x.dim() == 2 else flat(x), (), "another result"),
    ("no copy", lambda x: x.view(-1), (), "it ends with RuntimeError"),
    ("no error", lambda x: 1 // 0, (), "it ends with ZeroDivisionError"),
    ("detached", lambda x: flat(x.detach()), (), "the graph is cut"),
    ("copied", lambda x: flat(x).clone(), ("memory",), "shared or copied"),
    ("dtype", lambda x: flat(x).float(), (), "another result"),
    ("scaled", lambda x: flat(x) + (flat(x) - flat(x).detach()), ("gradients",), "the gradients"),
]


@pytest.mark.parametrize(
    ("mine", "how", "passes"),
    [
        (lambda x: list(x.shape), {}, False),
        (lambda x: list(x.shape), {"allow": "list or tuple"}, True),
        (lambda x: x.shape, {}, True),
        (lambda x: tuple(map(float, x.shape)), {}, False),
        (lambda x: tuple(map(float, x.shape)), {"allow": "int or float"}, True),
    ],
)
def test_a_result_is_of_the_class_of_the_reference_unless_the_check_allows_another(
    mine: Function, how: dict[str, Any], passes: bool
) -> None:
    assert judged(mine, lambda x: tuple(x.shape), **how).passed is passes


def test_arguments_given_by_name_are_compared_too() -> None:
    cases = [Case("by name", (), {"x": torch.arange(3.0) + n}) for n in range(40)]

    def doubled(x: torch.Tensor) -> None:
        x.mul_(2)

    aspects = ("values", "arguments")
    assert judged(doubled, doubled, cases, compare=aspects).passed
    assert (
        "the arguments afterwards"
        in judged(lambda x: None, doubled, cases, compare=aspects).message
    )
    view, copy = (lambda x: x[1:]), (lambda x: x[1:].clone())
    assert judged(view, view, cases, compare=("memory",)).passed
    assert not judged(copy, view, cases, compare=("memory",)).passed


def test_a_sparse_result_has_no_strides_to_agree() -> None:
    cases = [Case("sparse", (torch.eye(3) + n,)) for n in range(40)]
    assert not judged(torch.Tensor.to_sparse, lambda x: x, cases, compare=("layout",)).passed


@pytest.mark.parametrize("wrong", [lambda x: x.conj().resolve_conj(), lambda x: x.real + 0j])
def test_complex_inputs_have_two_parts(wrong: Function) -> None:
    cases = inputs.tensors(dtypes=[torch.complex64, torch.complex128])
    assert judged(lambda x: x.clone(), lambda x: x.clone(), cases).passed
    assert not judged(wrong, lambda x: x.clone(), cases).passed


def test_in_each_case_the_tolerance_follows_the_dtype_of_the_reference() -> None:
    cases = inputs.tensors(dtypes=[torch.float32, torch.float64], special=False)
    off = {torch.float32: 2e-7, torch.float64: 2e-16}
    close = judged(lambda x: x + x * off[x.dtype], lambda x: x * 1, cases, rounding=1)
    assert close.passed
    careless = judged(lambda x: x + x * 2e-7, lambda x: x * 1, cases, rounding=1)
    assert not careless.passed and "elements of float64: another result" in careless.message
    exact = judged(lambda x: x + x * off[x.dtype], lambda x: x * 1, cases)
    assert not exact.passed


@pytest.mark.parametrize(("name", "mine", "more", "told"), WRONG, ids=[row[0] for row in WRONG])
def test_what_differs_is_told_without_a_value(
    name: str, mine: Function, more: tuple[str, ...], told: str
) -> None:
    found = judged(mine, compare=("values", "graph", *more))
    assert not found.passed
    assert told in found.message


def test_a_view_of_the_argument_is_not_the_argument_itself() -> None:
    found = judged(lambda x: x.view_as(x), lambda x: x, compare=("values", "identity"))
    assert "the tensor itself, or another one" in found.message
    assert judged(lambda x: x.view_as(x), lambda x: x).passed


def test_the_intermediate_is_no_leaf_and_has_the_layout_of_the_input() -> None:
    seen: list[tuple[bool, str | None, tuple[int, ...]]] = []

    def mine(x: torch.Tensor) -> torch.Tensor:
        seen.append((x.is_leaf, x.grad_fn and x.grad_fn.name(), x.stride()))
        return flat(x)

    x = torch.arange(6.0).view(2, 3).t().clone().requires_grad_()
    case = Case("an intermediate", (x,), intermediate=True)
    assert judged(mine, cases=[case], compare=("values", "gradients")).passed
    assert seen == [(False, "_IntermediateBackward", (1, 3))]


def test_an_error_of_the_reference_is_wanted_of_the_answer() -> None:
    def refuses(x: torch.Tensor) -> torch.Tensor:
        if not x.numel():
            raise ValueError("empty")
        return flat(x)

    assert judged(refuses, refuses).passed
    assert "no ValueError is raised" in judged(flat, refuses).message
    assert not judged(lambda x: refuses(x) if x.numel() else x.missing, refuses).passed


@pytest.mark.parametrize(
    ("bases", "holds"), [((ValueError,), True), ((KeyError, ValueError), False)]
)
def test_an_exception_of_ones_own_agrees_by_its_main_base(
    bases: tuple[type[BaseException], ...], holds: bool
) -> None:
    def refuses(x: torch.Tensor, error: type[BaseException] = ValueError) -> torch.Tensor:
        if not x.numel():
            raise error("empty")
        return flat(x)

    own = type("Empty", bases, {})
    assert judged(lambda x: refuses(x, own), refuses).passed is holds


def test_the_belief_whose_results_it_gives_is_named() -> None:
    beliefs = {
        "crashes": RuntimeError,
        "copies": lambda x: x.reshape(-1).clone(),
        "sizes": ("a dimension of size 0", "a dimension of size 1"),
    }
    how: dict[str, Any] = {"misconception": beliefs, "compare": ("values", "memory")}
    assert judged(lambda x: flat(x).clone(), **how).misconception == "copies"
    assert judged(lambda x: x.view(-1), **how).misconception == "crashes"
    wrong = judged(lambda x: flat(x) if x.numel() and 1 not in x.shape else None, **how)
    assert wrong.misconception == "sizes"
    assert judged(lambda x: None, **how).misconception is None


def test_what_one_call_switches_off_is_on_for_the_next() -> None:
    def careless(x: torch.Tensor) -> torch.Tensor:
        y = flat(x)
        torch.set_grad_enabled(False)
        return y

    found = judged(careless)
    assert found.passed and torch.is_grad_enabled()


def test_a_constant_that_agrees_everywhere_is_known_as_idle() -> None:
    found = judged(lambda x: True, lambda x: True)
    assert found.idle_ways == {"returning True"}
    assert judged(lambda x: x, lambda x: x, cases=inputs.tensors()[:3]).idle_ways == {
        "returning the argument"
    }


def test_an_unwritten_answer_is_not_attempted() -> None:
    def stub(x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError()

    with learner({"f": stub}):
        check = Check("f")
        check.agrees(flat, inputs.tensors())
        assert check.result(1).status == "not attempted"


def test_a_hidden_line_names_kinds_of_input_and_no_value() -> None:
    source = """
check = Check("f")
answer("f")
### BEGIN HIDDEN TESTS
check.agrees(lambda x: x * 2, inputs.tensors(), name="doubled")
### END HIDDEN TESTS
result = check.result(1)
"""
    with learner({"f": lambda x: x * 3}):
        names = {"Check": Check, "answer": answer, "inputs": inputs, "torch": torch}
        found = run_cell(source, names)["result"].checks[0]
    assert found.hidden and not found.passed
    assert found.message.startswith("Not as it should be with a contiguous tensor: another result;")
    assert "elements differ" not in found.message and found.actual is None


@probe
def twice(f: Function, x: torch.Tensor) -> Any:
    return f(f(x))


def test_a_probe_is_called_with_the_answer_and_with_the_reference() -> None:
    with learner({"f": lambda x: x + 1}):
        check = Check("f")
        cases, called = inputs.tensors(dtypes=[torch.float32]), twice.through(answer("f"))
        check.agrees(lambda x: x + 1, cases, of=called)
        check.agrees(lambda x: x + 2, cases, of=called)
        assert [one.passed for one in check.result(1).checks] == [True, False, True]


@pytest.mark.parametrize(
    ("cases", "compare", "said"),
    [([], ("values",), "needs cases"), (inputs.tensors()[:1], ("vlaues",), "not 'vlaues'")],
)
def test_a_mistake_of_the_author_is_an_error(
    cases: list[Case], compare: tuple[str, ...], said: str
) -> None:
    with learner({"f": flat}), pytest.raises(ValueError, match=said):
        Check("f").agrees(flat, cases, compare=compare)


def test_a_gradient_that_is_right_in_one_pass_only_is_seen() -> None:
    def once(x: torch.Tensor) -> torch.Tensor:
        y = x.view_as(x)
        passes = iter([3.0])
        y.register_hook(lambda g: g * next(passes, 1.0))
        return y

    def always(x: torch.Tensor) -> torch.Tensor:
        return x.detach() + 3 * (x - x.detach())

    cases = [Case("a leaf", (torch.ones(3, requires_grad=True),))]
    with learner({"once": once, "always": always}):
        for name, passes in (("always", True), ("once", False)):
            check = Check(name)
            check.agrees(
                lambda x: x.detach() + 3 * (x - x.detach()),
                cases,
                of=answer(name),
                compare=("values", "gradients"),
            )
            assert check.result(1).checks[0].passed == passes


@pytest.mark.exhaustive("programs that start anew")
def test_gradients_are_taken_without_importing_sympy() -> None:
    script = """
import sys, torch
from course.testing.agreement import running
x = torch.ones(3, requires_grad=True)
cases = {"first": [], "args": [[x]], "kwargs": [], "under": [""], "intermediate": [False]}
found = running.run_cases(lambda x: x * 3, cases, True)
print([one.tolist() for one in found["grads"][0]] == [[3.0, 4.5, 6.0]] * 2, "sympy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_what_cannot_be_called_is_told_as_its_calls_show() -> None:
    with learner({"f": 3}):
        check = Check("f")
        check.agrees(flat, inputs.tensors(), of=answer("f"))
        found = check.result(1).checks[0]
    assert not found.passed and "it ends with TypeError" in found.message


def test_a_belief_is_tried_on_some_of_many_cases_from_first_to_last() -> None:
    tried: list[int] = []

    def copies(x: torch.Tensor) -> torch.Tensor:
        tried.append(int(x.sum()))
        return flat(x).clone()

    cases = [inputs.Case("some", (torch.tensor([n]),)) for n in range(160)]
    how: dict[str, Any] = {"misconception": {"copies": copies}, "compare": ("values", "memory")}
    assert judged(lambda x: flat(x).clone(), cases=cases, **how).misconception == "copies"
    rest = [n for n in range(0, 160, 10) if n % 40]
    assert tried == [*range(0, 160, 40), *rest]  # none of them twice
    tried.clear()
    assert judged(lambda x: flat(x) + 1, cases=cases, **how).misconception is None
    assert tried == [*range(0, 160, 40)]  # it explains none of them, and is tried no further


def test_all_cases_decide_between_beliefs_that_explain_some_of_them_alike() -> None:
    def rare(x: torch.Tensor) -> torch.Tensor:
        return flat(x) if int(x.sum()) == 5 else flat(x).clone()

    cases = [inputs.Case("some", (torch.tensor([n]),)) for n in range(160)]
    beliefs = {"rare": rare, "copies": lambda x: flat(x).clone()}
    how: dict[str, Any] = {"misconception": beliefs, "compare": ("values", "memory")}
    assert judged(lambda x: flat(x).clone(), cases=cases, **how).misconception == "copies"


def share_of(mine: Function, reference: Function = flat, **how: Any) -> float | None:
    """How much came out right of what a comparison tried."""
    return judged(mine, reference, **how).right_share


def test_it_is_known_how_much_came_out_right() -> None:
    assert share_of(flat) == 1.0
    assert share_of(lambda x: "no") == 0.0
    some = share_of(lambda x: flat(x) if x.dim() == 2 else None)
    assert some is not None and 0 < some < 1
    assert share_of(lambda x: flat(x.detach()), compare=("values", "graph")) == 1.0


def test_what_one_result_or_the_argument_would_give_does_not_count_as_right() -> None:
    big = lambda x: x.numel() > 6  # noqa: E731 - a reference
    assert share_of(lambda x: True, big) == share_of(lambda x: False, big) == 0.0
    assert share_of(big, big) == 1.0
    assert share_of(lambda x: x) == 0.0  # right for one dimension
    assert share_of(lambda x: None, lambda x: None) is None
    assert share_of(lambda x: None, compare=("graph",)) is None
