"""The precision explorer: type a number, predict what a dtype makes of it, and see its bits.

Numbers as one types them, and what a dtype makes of each: itself, a neighbour or another.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from html import escape

import torch

from course.lessons.tensors.bits_figure import show_bits
from course.lessons.tensors.stored_numbers import STORABLE, Number, Stored, stored
from course.lessons.tensors.type_promotion import dtype_name
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE, message_html

__all__ = [
    "WAYS_STORED",
    "BitsExplorer",
    "BitsPanel",
    "NumberError",
    "explore_bits",
    "neighbour",
    "parse_number",
    "way_stored",
]

EXACT, ROUNDED, OTHER = WAYS_STORED = (
    "exactly this number",
    "the number, rounded or cut off",
    "something else altogether",
)
_NAMES: dict[str, Number] = {
    "inf": math.inf,
    "nan": math.nan,
    "True": True,
    "False": False,
}
_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_MOST_POWER, _MOST_BASE = 1100, 2**64


class NumberError(ValueError):
    """What was typed is no number that can be looked at; the message says why."""


def parse_number(text: str) -> Number:
    """The number that stands in the text: digits, `inf`, `nan`, or a sum such as `2**24 + 1`.

    >>> parse_number("2**24 + 1")
    16777217
    """
    try:
        number = _value(ast.parse(text.strip(), mode="eval").body)
        stored(number, torch.float64)
    except NumberError:
        raise
    except (SyntaxError, ArithmeticError, ValueError, TypeError, RecursionError) as error:
        known = isinstance(error, ArithmeticError | ValueError)
        reason = f": {str(error).rstrip('.')}" if known else ""
        raise NumberError(
            f"{text.strip()!r} can't be stored{reason}. "
            "Type for example 0.1, 300, -1, 2**24 + 1, inf or nan."
        ) from None
    return number


def _value(node: ast.expr) -> Number:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        return node.value
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _combined(type(node.op), _value(node.left), _value(node.right))
    raise SyntaxError


def _combined(kind: type[ast.operator], left: Number, right: Number) -> Number:
    if kind is ast.Pow and (abs(right) > _MOST_POWER or abs(left) > _MOST_BASE):
        raise NumberError("That power is too large to look at.")
    value = _BINARY[kind](left, right)
    if not isinstance(value, int | float):  # a root of a negative number
        raise SyntaxError
    return value


def way_stored(number: Number, seen: Stored) -> str:
    """Which of `WAYS_STORED` the number is in `seen`."""
    value = seen.value
    if value is None:
        return OTHER
    if value == number or (math.isnan(value) and math.isnan(number)):
        return EXACT if "off by" not in seen.note else ROUNDED
    if seen.dtype.is_floating_point:
        return ROUNDED if math.isfinite(value) else OTHER
    return ROUNDED if seen.dtype is not torch.bool and abs(value - number) < 1 else OTHER


def neighbour(seen: Stored, step: int) -> Number:
    """The next number up (1) or down (-1) that the dtype has; the same one at its end."""
    value = seen.value
    if value is None or math.isnan(value):
        raise NumberError("What is stored has no neighbours.")
    if seen.dtype is torch.bool:
        return step > 0
    if not seen.dtype.is_floating_point:
        info = torch.iinfo(seen.dtype)
        return min(max(int(value) + step, info.min), info.max)
    here = torch.tensor(value, dtype=seen.dtype)
    return torch.nextafter(here, torch.tensor(step * math.inf, dtype=seen.dtype)).item()


_BY_NAME = {dtype_name(dtype): dtype for dtype in STORABLE}
_OPEN = "choose …"


def explore_bits(number: Number = 0.1, dtype: torch.dtype = torch.float32) -> BitsExplorer:
    """An explorer of what is stored for a number in a dtype, bit by bit.

    In a live notebook you type a number, choose a dtype, predict what becomes of it, and step to
    the neighbours that the dtype has. Anywhere else it is the figure of `show_bits`.

    Args:
        number: The number to begin with.
        dtype: The dtype that stores it at first.
    """
    stored(number, dtype)
    return BitsExplorer(number, dtype)


class BitsExplorer(Explorer["BitsPanel"]):
    """What `explore_bits` shows: a panel of widgets, or the figure of its first number."""

    def __init__(self, number: Number, dtype: torch.dtype) -> None:
        self._number, self._dtype = number, dtype

    def _make_panel(self) -> BitsPanel:
        return BitsPanel(self._number, self._dtype)

    def __repr__(self) -> str:
        return repr(show_bits(self._number, *_shown(self._number, self._dtype)))

    def _repr_html_(self) -> str:
        return show_bits(self._number, *_shown(self._number, self._dtype))._repr_html_()


class BitsPanel:
    """The widgets of one explorer. Only what ipywidgets 7 and 8 both have is used.

    Every control has its label as text and is reached by Tab in the order in which it is read.
    """

    def __init__(self, number: Number, dtype: torch.dtype) -> None:
        from ipywidgets import HTML, Button, Dropdown, HBox, Layout, Text, VBox

        wide = Layout(width="auto")
        self.number = Text(value=repr(number), continuous_update=False, **labelled("Number:"))
        self.dtype = Dropdown(
            options=list(_BY_NAME), value=dtype_name(dtype), **labelled("stored as:")
        )
        label = labelled("It will hold:")
        self.guess = Dropdown(options=[_OPEN, *WAYS_STORED], layout=wide, **label)
        self.store = Button(description="Store it", layout=wide)
        self.down = Button(description="Next number down", layout=wide)
        self.up = Button(description="Next number up", layout=wide)
        self.result = HTML()
        rows = [(self.number, self.dtype), (self.guess, self.store), (self.down, self.up)]
        wrapped = [HBox(row, layout=Layout(flex_flow="row wrap")) for row in rows]
        self.box = VBox([*wrapped[:2], self.result, wrapped[2]])
        for control in (self.number, self.dtype):
            control.observe(lambda _: self._ask(), names="value")
        self.store.on_click(lambda _: self._store())
        self.down.on_click(lambda _: self._step(-1))
        self.up.on_click(lambda _: self._step(1))
        self._ask()

    def _ask(self) -> None:
        """Begin a new prediction: what was predicted and shown is of another number or dtype."""
        self.guess.value = _OPEN
        self.up.disabled = self.down.disabled = True
        number = self._typed()
        if number is not None:
            self.result.value = _question(number, _BY_NAME[self.dtype.value])

    def _typed(self) -> Number | None:
        """The number in the field; None, and the reason told, where there is none."""
        try:
            return parse_number(self.number.value)
        except NumberError as error:
            self.result.value = message_html(str(error))
            return None

    def _store(self) -> None:
        number = self._typed()
        if number is None:
            return
        if self.guess.value == _OPEN:
            self.result.value = message_html("Predict first: choose what it will hold.")
            return
        seen = stored(number, _BY_NAME[self.dtype.value])
        met = way_stored(number, seen)
        if met == self.guess.value:
            self._show(number, f"✓ As you predicted, it holds {met}.")
        else:
            self._show(number, f"✗ You predicted “{self.guess.value}”; it holds {met}.")

    def _step(self, step: int) -> None:
        """Go to a neighbour of what is stored; it is stored exactly, so nothing is asked."""
        dtype = _BY_NAME[self.dtype.value]
        before = stored(parse_number(self.number.value), dtype)
        try:
            number = neighbour(before, step)
        except NumberError as error:
            self.result.value = message_html(str(error))
            return
        if number == before.value:
            self._show(number, f"{number!r} is the last number that {dtype_name(dtype)} has.")
            return
        self.number.value = repr(number)
        self._show(number, f"The next number {'up' if step > 0 else 'down'} is {number!r}.")

    def _show(self, number: Number, words: str) -> None:
        dtype = _BY_NAME[self.dtype.value]
        picture = show_bits(number, *_shown(number, dtype))
        said = f'<div role="status" style="{PROSE}">{escape(words)}</div>'
        self.result.value = said + picture._repr_html_()
        self.up.disabled = self.down.disabled = stored(number, dtype).value is None


def _question(number: Number, dtype: torch.dtype) -> str:
    """What is to be predicted, and the bits in which Python's number comes."""
    first, *others = _shown(number, dtype)
    asked = f"What will {dtype_name(dtype)} hold of {number!r}?"
    if not others:
        return message_html(asked)
    words = message_html(f"{asked} These are the bits that Python has, in {dtype_name(first)}:")
    return words + show_bits(number, first)._repr_html_()


def _shown(number: Number, dtype: torch.dtype) -> tuple[torch.dtype, ...]:
    """The dtype in which Python's number comes, and the one asked for."""
    if isinstance(number, bool):
        first = torch.bool
    else:
        first = torch.int64 if isinstance(number, int) else torch.float64
    return tuple(dict.fromkeys((first, dtype)))
