"""The stride explorer without its buttons: a shape, the steps taken, and what follows from them.

Everything here is a value; the widget only holds the current one and shows it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import torch

from course.inspection.facts import TensorFacts, facts, same_storage
from course.inspection.strides import complete_shape, row_major_strides, view_strides
from course.widgets.steps import MOST_ELEMENTS, Step, StepError, parse_steps, suggested_steps

__all__ = ["Attempt", "Exploration", "Forecast", "attempt", "forecast"]


@dataclass(frozen=True)
class Exploration:
    """A new tensor of this shape and the steps that were applied to it, one after another."""

    shape: tuple[int, ...] = (3, 4)
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        if any(type(size) is not int or size < 0 for size in self.shape):
            raise StepError(f"shape {self.shape} is not a shape. Sizes are whole numbers from 0.")
        if prod(self.shape) > MOST_ELEMENTS or len(self.shape) > 6:
            raise StepError(
                f"shape {self.shape} is too large to look at; "
                f"the explorer stops at {MOST_ELEMENTS} elements and 6 dimensions."
            )

    def tensor(self) -> torch.Tensor:
        """The tensor after all steps, made anew."""
        tensor = torch.arange(prod(self.shape)).view(self.shape)
        for step in self.steps:
            tensor = step.of(tensor)
        return tensor

    def facts(self) -> TensorFacts:
        """The facts of that tensor."""
        return facts(self.tensor())

    def after(self, text: str) -> Exploration:
        """The exploration with the steps in this text taken. Raises StepError where one fails."""
        further = replace(self, steps=(*self.steps, *parse_steps(text)))
        further.tensor()
        return further

    def undone(self) -> Exploration:
        """The exploration without its last step."""
        return replace(self, steps=self.steps[:-1])

    def reset(self) -> Exploration:
        """The exploration before its first step."""
        return replace(self, steps=())

    def suggestions(self) -> list[str]:
        """Steps to choose from, as code."""
        return [step.code for step in suggested_steps(self.facts())]

    @property
    def code(self) -> str:
        """What you would type to get this tensor."""
        sizes = ", ".join(map(str, self.shape)) or "()"
        made = f"torch.arange({prod(self.shape)}).view({sizes})"
        return f"a = {made}" + (f"\nb = a{self.chain}" if self.steps else "")

    @property
    def chain(self) -> str:
        """The steps as code, without the tensor they start from."""
        return "".join(step.code for step in self.steps)

    @property
    def name(self) -> str:
        """What the tensor is called in the code."""
        return "b" if self.steps else "a"


@dataclass(frozen=True)
class Forecast:
    """What view and reshape will do with a target shape, decided from strides alone."""

    target: tuple[int, ...]
    view: str  # "view" or "error"
    reshape: str  # "view", "copy" or "error"
    reason: str


def forecast(seen: TensorFacts, target: tuple[int, ...]) -> Forecast:
    """What will happen, and why, before anything is run."""
    try:
        shape = complete_shape(seen.numel, target)
    except ValueError as error:
        return Forecast(target, "error", "error", f"{error}.")
    strides = view_strides(seen.shape, seen.stride, shape)
    if strides is not None:
        reason = f"stride {strides} reaches the elements in the same order, in the same storage."
        return Forecast(target, "view", "view", reason)
    reason = (
        f"no stride for shape {shape} reaches the elements of shape {seen.shape}, "
        f"stride {seen.stride} in their order. A copy has {seen.numel * seen.itemsize} bytes "
        f"and stride {row_major_strides(shape)}."
    )
    return Forecast(target, "error", "copy", reason)


@dataclass(frozen=True)
class Attempt:
    """What view or reshape did: "view", "copy" or "error", PyTorch's message, the result."""

    call: str
    outcome: str
    message: str = ""
    result: torch.Tensor | None = None


def attempt(tensor: torch.Tensor, method: str, target: tuple[int, ...]) -> Attempt:
    """What `tensor.view(target)` or `tensor.reshape(target)` does when it is run."""
    call = f"{method}({', '.join(map(str, target)) or '()'})"
    try:
        result = getattr(tensor, method)(target)
    except (RuntimeError, TypeError) as error:  # TypeError: a size beyond 64 bits
        return Attempt(call, "error", f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return Attempt(call, "view" if same_storage(tensor, result) else "copy", result=result)
