"""Calling one function with many inputs and recording each call; it runs beside the answer.

The reference is run by the same code, in the process of the test cell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from course.inspection.global_state import GlobalState, restore_modes
from course.inspection.tree_leaves import tree_leaves
from course.testing.recording import error_facts

__all__ = ["run_cases"]

_enabled, _inference = torch.enable_grad, torch.inference_mode
_no_grad, _grad = torch.no_grad, torch.autograd.grad
_mul, _sum = torch.mul, torch.sum
_MODES: dict[str, Callable[[], Any]] = {
    "": _enabled,
    "no_grad": _no_grad,
    "inference_mode": _inference,
}


class _Intermediate(torch.autograd.Function):
    """An operator whose result is the given tensor, in its layout and over its storage."""

    @staticmethod
    def forward(ctx: Any, anchor: torch.Tensor, given: list[torch.Tensor]) -> torch.Tensor:
        return given[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return torch.zeros(()), None


def run_cases(
    function: Callable[..., Any], cases: Mapping[str, Sequence[Any]], gradients: bool = False
) -> dict[str, list[Any]]:
    """What `function` returned, or how it ended, for each case.

    Args:
        function: Called once a case.
        cases: A sequence for each attribute of the cases. `args` and `kwargs`, which may be empty,
            are the arguments, behind those that are `first` in every call. `under` is the grad mode
            that the call runs under: "" for the usual one, "no_grad" or "inference_mode". Where
            `intermediate` is true, tensors that require grad come as results of an operator; a
            gradient that the call brought there, or into the past behind it, is `.grad` of the
            case's own tensor afterwards.
        gradients: The gradients of these tensors are taken, in two passes through the same graph,
            with weights that differ for each element of the result.

    Returns:
        A list for each attribute of the outcomes: `result`, `same` (the position of the argument
        that is the result itself, or None), the facts of the `error` that ended the call, `grads`.
        Modes that a call has changed are put back.
    """
    before, first = GlobalState(), cases["first"]
    named = cases["kwargs"] or [{}] * len(cases["args"])
    found: dict[str, list[Any]] = {"result": [], "same": [], "error": [], "grads": []}
    each = zip(cases["args"], named, cases["intermediate"], cases["under"], strict=True)
    for args, kwargs, intermediate, under in each:
        outcome = _run(function, (first, args, kwargs), intermediate, under, gradients)
        for column, one in zip(found.values(), outcome, strict=True):
            column.append(one)
        restore_modes(before)
    return found


def _run(
    function: Callable[..., Any],
    arguments: tuple[Sequence[Any], Sequence[Any], Mapping[str, Any]],
    intermediate: bool,
    under: str,
    gradients: bool,
) -> tuple[Any, int | None, dict[str, Any] | None, Any]:
    first, given, kwargs = arguments
    anchors = [_anchor(one) if intermediate else None for one in given]
    args = [_made(*pair) for pair in zip(given, anchors, strict=True)]
    result, error, grads = None, None, None
    try:
        with _MODES[under]():
            result = function(*first, *args, **kwargs)
        if gradients and not under:
            grads = _gradients(result, args)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        error = vars(error_facts(raised))
        raised.__traceback__ = None
    _note_gradients(given, args, anchors)
    same = next((i for i, one in enumerate(args) if one is result), None)
    return result, same, error, grads


def _anchor(value: Any) -> torch.Tensor | None:
    """The leaf behind the intermediate that takes the place of a tensor which requires grad."""
    asks = isinstance(value, torch.Tensor) and value.requires_grad
    return torch.zeros((), requires_grad=True) if asks else None


def _made(value: Any, anchor: torch.Tensor | None) -> Any:
    return value if anchor is None else _Intermediate.apply(anchor, [value.detach()])


def _note_gradients(given: Sequence[Any], made: Sequence[Any], anchors: Sequence[Any]) -> None:
    """Give each tensor a `.grad` whose intermediate keeps one, or let one go on behind it."""
    for one, intermediate, anchor in zip(given, made, anchors, strict=True):
        if anchor is not None and (anchor.grad is not None or intermediate.retains_grad):
            one.grad = one.detach()


def _gradients(result: Any, args: Sequence[Any]) -> Any:
    """The gradients of the tensors among the arguments, None where nothing leads back to one.

    Those of a first pass, and behind them those of a second one.
    """
    wanted = [one for one in args if isinstance(one, torch.Tensor) and one.requires_grad]
    outputs = [
        one for one in tree_leaves(result) if isinstance(one, torch.Tensor) and one.requires_grad
    ]
    if not wanted or not outputs:
        return [None] * 2 * len(wanted)
    weights = [torch.linspace(1, 2, o.numel(), dtype=o.dtype).view(o.shape) for o in outputs]
    if any(one.is_complex() for one in outputs):  # no sum of them has a gradient by itself
        passes = [_grad(outputs, wanted, weights, more, allow_unused=True) for more in (True, None)]
        return [*passes[0], *passes[1]]
    # The same gradients as with `grad_outputs`, for which torch would import SymPy: seconds.
    sums = [_sum(_mul(one, weight)) for one, weight in zip(outputs, weights, strict=True)]
    passes = [_grad(sums, wanted, retain_graph=more, allow_unused=True) for more in (True, None)]
    return [*passes[0], *passes[1]]
