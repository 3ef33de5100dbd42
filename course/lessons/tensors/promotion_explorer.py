"""The promotion explorer: choose two operands, predict the dtype, and see what torch says.

What an operation on two operands gives: its dtype or its error, as torch says when it runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import torch

from course.lessons.tensors.promotion_figure import picture_of, show_promotion
from course.lessons.tensors.type_promotion import (
    DTYPES,
    Agreement,
    Operand,
    agreement,
    dtype_name,
    kind,
)
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE, message_html

__all__ = [
    "ERROR",
    "OPERATIONS",
    "Outcome",
    "PromotionExplorer",
    "PromotionPanel",
    "explore_promotion",
    "outcome",
]

ERROR = "an error"
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "left + right": operator.add,
    "left / right": operator.truediv,
    "left // right": operator.floordiv,
    "left < right": operator.lt,
    "left += right": operator.iadd,
}


@dataclass(frozen=True)
class Outcome:
    """What came out: a dtype's name or `ERROR`, torch's message, and the reason in words."""

    operation: str
    found: Agreement
    answer: str
    message: str
    why: str


def outcome(operation: str, left: Operand, right: Operand) -> Outcome:
    """What the operation gives. ValueError where torch would not be asked at all."""
    found = agreement(left, right)
    if operation == "left += right" and left.rank == "number":
        raise ValueError("A Python number can't be changed in place: choose a tensor on the left.")
    try:
        result = OPERATIONS[operation](left.stand_in(), right.stand_in())
    except RuntimeError as error:
        message = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return Outcome(operation, found, ERROR, message, _refused(operation, found))
    return Outcome(operation, found, dtype_name(result.dtype), "", _why(operation, found, result))


def _why(operation: str, found: Agreement, result: torch.Tensor) -> str:
    if operation == "left < right":
        return "A comparison answers in bool, whatever it compares."
    if operation == "left / right" and kind(found.result) < 2:
        return (
            f"/ divides whole numbers as floats of the default dtype, {dtype_name(result.dtype)}."
        )
    if operation == "left += right" and result.dtype is not found.result:
        computed = dtype_name(found.result)
        return (
            f"It's computed in {computed} and stored in the left tensor, which keeps its dtype: "
            f"the kind isn't lower, so torch allows it. {found.why}"
        )
    return found.why


def _refused(operation: str, found: Agreement) -> str:
    if operation != "left += right":
        return f"torch has no such operation for {dtype_name(found.result)}."
    if kind(found.result) > kind(found.left.dtype):
        return (
            f"The result would be {dtype_name(found.result)}, and in place nothing is put into a "
            "dtype of a lower kind."
        )
    return "The result doesn't have the shape of the left tensor, and in place it has to."


_RANKS = {"tensor, shape (2,)": "dims", "0-d tensor": "0-d", "Python number": "number"}
_NUMBERS: dict[str, bool | int | float | complex] = {
    "True": True,
    "1": 1,
    "1.0": 1.0,
    "1j": 1j,
}
_BY_NAME = {dtype_name(dtype): dtype for dtype in DTYPES}
_OPEN = "choose …"


def explore_promotion(left: object = torch.uint8, right: object = torch.int8) -> PromotionExplorer:
    """An explorer that asks for the dtype of a result before it runs the operation.

    An operand to begin with is a dtype, a tensor or a Python number. In a live notebook both are
    chosen from lists. Anywhere else it is the figure of `show_promotion`.

    Args:
        left: The first operand to begin with.
        right: The second one.
    """
    return PromotionExplorer(Operand.of(left), Operand.of(right))


class PromotionExplorer(Explorer["PromotionPanel"]):
    """What `explore_promotion` shows: a panel of widgets, or the figure of its first operands."""

    def __init__(self, left: Operand, right: Operand) -> None:
        self._operands = left, right

    def _make_panel(self) -> PromotionPanel:
        return PromotionPanel(*self._operands)

    def __repr__(self) -> str:
        return repr(self._picture())

    def _repr_html_(self) -> str:
        return self._picture()._repr_html_()

    def _picture(self) -> Any:
        return show_promotion(*(operand.stand_in() for operand in self._operands))


class PromotionPanel:
    """The widgets of one explorer. Only what ipywidgets 7 and 8 both have is used.

    Every control has its label as text and is reached by Tab in the order in which it is read.
    """

    def __init__(self, left: Operand, right: Operand) -> None:
        from ipywidgets import HTML, Button, Dropdown, HBox, Layout, VBox

        self.asked = self.right_so_far = 0
        self.left_kind, self.left = _choices("left", left)
        self.right_kind, self.right = _choices("right", right)
        self.operation = Dropdown(options=list(OPERATIONS), **labelled("Operation:"))
        self.guess = Dropdown(options=[_OPEN, *_BY_NAME, ERROR], **labelled("The result is:"))
        self.run = Button(description="Run it", layout=Layout(width="auto"))
        self.result = HTML()
        rows = [
            (self.left_kind, self.left),
            (self.right_kind, self.right),
            (self.operation, self.guess, self.run),
        ]
        wrapped = [HBox(row, layout=Layout(flex_flow="row wrap")) for row in rows]
        self.box = VBox([*wrapped, self.result])
        self.run.on_click(lambda _: self._run())
        self.left_kind.observe(lambda _: _offer(self.left, self.left_kind.value), names="value")
        self.right_kind.observe(lambda _: _offer(self.right, self.right_kind.value), names="value")
        for control in (self.left_kind, self.left, self.right_kind, self.right, self.operation):
            control.observe(lambda _: self._ask(), names="value")
        self._ask()

    def _ask(self) -> None:
        """Begin a new prediction: what was predicted and shown is of other operands."""
        self.guess.value = _OPEN
        self.result.value = self._question("")

    def _question(self, note: str) -> str:
        """What is to be predicted, and the lattice to find it in."""
        sides = [
            (self.left, self.left_kind),
            (self.right, self.right_kind),
        ]
        left, right = (f"{choice.value}, a {kind.value}" for choice, kind in sides)
        asked = f"{note}Left: {left}. Right: {right}. Which dtype does {self.operation.value} have?"
        return message_html(asked) + show_promotion()._repr_html_()

    def _run(self) -> None:
        if self.guess.value == _OPEN:
            self.result.value = self._question("Predict first. ")
            return
        operands = [
            _operand(kind.value, choice.value)
            for kind, choice in ((self.left_kind, self.left), (self.right_kind, self.right))
        ]
        try:
            seen = outcome(self.operation.value, *operands)
        except ValueError as error:
            self.result.value = message_html(str(error))
            return
        self.asked += 1
        self.right_so_far += seen.answer == self.guess.value
        self.result.value = _page(seen, self.guess.value, self.right_so_far, self.asked)


def _page(seen: Outcome, guess: str, right: int, asked: int) -> str:
    """What came out beside what was predicted, why, and where the operands meet."""
    mark = "✓" if seen.answer == guess else "✗"
    said = [
        f"{mark} You predicted {guess}; it is {seen.answer}.",
        *([seen.message] if seen.message else []),
        seen.why,
        f"Right so far: {right} of {asked}.",
    ]
    items = "".join(f"<li>{escape(line)}</li>" for line in said)
    words = f'<div role="status" style="{PROSE}"><ul>{items}</ul></div>'
    return words + picture_of(seen.found, reason=False)._repr_html_()


def _operand(kind: str, choice: str) -> Operand:
    if _RANKS[kind] == "number":
        return Operand.of(_NUMBERS[choice])
    dtype = _BY_NAME[choice]
    return Operand.of(dtype if _RANKS[kind] == "dims" else torch.ones((), dtype=dtype))


def _choices(side: str, start: Operand) -> tuple[Any, Any]:
    """The two lists of one operand: what kind of thing it is, and which."""
    from ipywidgets import Dropdown

    kind = next(name for name, kind in _RANKS.items() if kind == start.rank)
    options = list(_NUMBERS if start.rank == "number" else _BY_NAME)
    number = repr(start.stand_in()) if start.rank == "number" else dtype_name(start.dtype)
    return (
        Dropdown(options=list(_RANKS), value=kind, **labelled(f"{side} is a:")),
        Dropdown(options=options, value=number, **labelled(f"{side}:")),
    )


def _offer(choice: Any, kind: str) -> None:
    """Offer dtypes for a tensor and numbers for a number."""
    options = list(_NUMBERS if _RANKS[kind] == "number" else _BY_NAME)
    if list(choice.options) != options:
        choice.options = options
        choice.value = options[1]  # not all releases of ipywidgets choose one of new options
