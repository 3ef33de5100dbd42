"""The precision explorer: type a number, predict what a dtype makes of it, and see its bits."""

from __future__ import annotations

from html import escape

import torch

from course.lessons.tensors.bits_figure import show_bits
from course.lessons.tensors.stored_numbers import STORABLE, Number, stored
from course.lessons.tensors.type_promotion import dtype_name
from course.lessons.tensors.typed_numbers import (
    WAYS_STORED,
    NumberError,
    neighbour,
    parse_number,
    way_stored,
)
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE, message_html

__all__ = ["BitsExplorer", "BitsPanel", "explore_bits"]

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
        mark = "✓" if met == self.guess.value else "✗"
        self._show(number, f"{mark} You predicted “{self.guess.value}”; it holds {met}.")

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
    words = message_html(f"What will {dtype_name(dtype)} hold of {number!r}?")
    return words + (show_bits(number, first)._repr_html_() if others else "")


def _shown(number: Number, dtype: torch.dtype) -> tuple[torch.dtype, ...]:
    """The dtype in which Python's number comes, and the one asked for."""
    if isinstance(number, bool):
        first = torch.bool
    else:
        first = torch.int64 if isinstance(number, int) else torch.float64
    return tuple(dict.fromkeys((first, dtype)))
