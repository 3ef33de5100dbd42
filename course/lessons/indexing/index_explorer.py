"""The index explorer: say whether an expression gives a view or a copy, and of which shape."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from html import escape
from math import prod
from typing import Any

import torch

from course.figures.storage.descriptions import listed
from course.inspection.facts import positions
from course.lessons.indexing.index_expressions import Expression, ExpressionError, parse_expression
from course.lessons.indexing.selection_figure import (
    Selection,
    pictured,
    select,
    slot_words,
    unselected,
)
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE, message_html
from course.widgets.steps import StepError, parse_shape

__all__ = ["IndexExplorer", "IndexPanel", "explore_index", "judged", "reason", "writes"]

_OPEN = "predict …"  # the choice that is none yet
_GUESSES = {"a view": "view", "a copy": "copy", "an error": "error"}
_SHAPES = ((3, 4), (12,), (2, 3, 4), (4, 1), (1, 5), (6, 6))
_MOST = 48  # elements that are drawn
# Why a method copies. Those that are not here copy where no strides will do, as reshape does.
_COPYING = {
    "reshape": "no start and strides give the elements of x in this order, so they are copied",
    "clone": "clone is there to copy",
    "flip": "that takes a stride below 0, which torch does not have, so the elements are copied",
    "roll": "what leaves at one end comes in at the other, which takes a copy",
    "index_select": "it picks in any order, as a list does, so the elements are copied",
    "masked_select": "a mask picks any elements, so they are copied",
    **dict.fromkeys(
        ("repeat", "tile", "repeat_interleave"), "it writes each element out, as often as you say"
    ),
}


def explore_index(shape: Sequence[int] = (3, 4)) -> IndexExplorer:
    """An explorer that starts from `x`, a new tensor of this shape that counts from 0.

    In a live notebook you choose or type an expression of `x`, predict whether it gives a view, a
    copy or an error, and run it. Anywhere else it is a static page: three expressions and,
    folded, what they give.

    Args:
        shape: Sizes of `x`.
    """
    return IndexExplorer(tuple(shape))


class IndexExplorer(Explorer["IndexPanel"]):
    """What `explore_index` shows: a panel of widgets, or the same page without buttons."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._tensor = _counting(shape)

    def _make_panel(self) -> IndexPanel:
        return IndexPanel(self._shape)

    def _static(self) -> list[Selection]:
        first = {0: "x[None]", 1: "x[1:]"}.get(len(self._shape), "x[:, 0]")
        chosen = [first, "x[[0]]", "x[x > 5]"] if self._shape else [first]
        return [select(self._tensor, parse_expression(code)) for code in chosen]

    def __repr__(self) -> str:
        return f"x = {_made(self._shape)}\n{pictured(self._tensor, self._static(), 'x')!r}"

    def _repr_html_(self) -> str:
        found = self._static()
        codes = listed([one.code for one in found])
        page = pictured(self._tensor, found, "x")._repr_html_()
        return (
            f'<div style="{PROSE}"><pre style="margin:4px 0">x = {escape(_made(self._shape))}</pre>'
            f"</div><details><summary style='{PROSE}'>A view or a copy? Predict "
            f"{escape(codes)}, then unfold</summary>{page}</details>"
        )


def _counting(shape: tuple[int, ...]) -> torch.Tensor:
    """A new tensor that counts from 0, so that each value is also its own slot."""
    if any(size < 1 for size in shape) or prod(shape) > _MOST or len(shape) > 4:
        raise StepError(
            f"shape {shape} cannot be drawn; choose sizes from 1, at most {_MOST} elements "
            "and four dimensions."
        )
    return torch.arange(prod(shape)).view(shape)


def _made(shape: tuple[int, ...]) -> str:
    return f"torch.arange({prod(shape)}).view({', '.join(map(str, shape)) or '()'})"


def _suggested(shape: tuple[int, ...]) -> list[str]:
    """Expressions worth a prediction for a tensor of this shape, views and copies mixed."""
    rank = len(shape)
    if not rank:
        return ["x[None]", "x[...]", "x.expand(3)", "x.repeat(3)", "x[0]"]
    codes = [
        "x[0]",
        "x[1:]",
        "x[[0, 0]]",
        "x[x > 5]",
        "x[::2]",
        "x[..., None]",
        "x[::-1]",
    ]
    if rank > 1:
        codes[1:1] = ["x[:, 0]", "x[:, [0]]", "x[0, 0]"]
        codes += ["x.t()[0]" if rank == 2 else "x.transpose(0, 1)[0]", "x[[0]][0]", "x[0][[0]]"]
        codes += ["x.reshape(-1)", "x.mT.reshape(-1)", "x.unsqueeze(1)"]
    codes += ["x.flip(0)", "x.squeeze()", f"x.repeat({', '.join(['2'] + ['1'] * (rank - 1))})"]
    codes += [f"x.expand(2, {', '.join(map(str, shape))})", "x.masked_select(x % 2 == 0)"]
    return codes


def judged(guess: str, shape: tuple[int, ...] | None, found: Selection, why: str = "") -> list[str]:
    """Whether the prediction came true: of the kind, and of the shape where one was given.

    `why` it is of that kind is told where the prediction was another.
    """
    told = next(words for words, kind in _GUESSES.items() if kind == found.kind)
    right = _GUESSES[guess] == found.kind
    missed = f"✗ You predicted {guess}; it is {told}. {why}".rstrip()
    words = [f"✓ Right: {told}." if right else missed]
    if found.error:
        return [*words, found.error]
    assert found.result is not None
    actual = tuple(found.result.shape)
    if shape is not None:
        same = shape == actual
        words.append(
            f"✓ The shape is {actual}." if same else f"✗ The shape is {actual}, not {shape}."
        )
    return words


def reason(tensor: torch.Tensor, expression: Expression, found: Selection) -> str:
    """Why it is a view or a copy, in a sentence; empty for an error, which says it itself.

    >>> x = torch.arange(12).view(3, 4)
    >>> code = parse_expression("x[[0]][0]")
    >>> reason(x, code, select(x, code))
    'x[[0]] picks by a list or a mask, in any order, so the elements are copied.'
    """
    if found.kind == "error":
        return ""
    if found.kind == "view":
        return "A start and strides can describe these elements where they lie, in the memory of x."
    part = next(one for one in expression.parts() if select(tensor, one).kind == "copy")
    if not isinstance(part.tree, ast.Call):
        return f"{part.code} picks by a list or a mask, in any order, so the elements are copied."
    assert isinstance(part.tree.func, ast.Attribute)
    name = part.tree.func.attr
    return f"{part.code}: {_COPYING.get(name, _COPYING['reshape'])}."


def writes(tensor: torch.Tensor, expression: Expression) -> str:
    """What `expression = -1` would write into the tensor, in a sentence; empty where it cannot."""
    if not expression.assignable:
        return ""
    try:
        mask = expression.written(tensor)
    except ExpressionError:
        return ""
    where = torch.tensor(positions(tensor)).view(tensor.shape)[mask].tolist()
    return f"{expression.code} = -1 would write into {slot_words(where)} of x."


class IndexPanel:
    """The widgets of one explorer. Every control has its label as text, in the order of reading."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        from ipywidgets import HTML, Button, Dropdown, HBox, Layout, VBox

        shapes = [str(one) for one in dict.fromkeys((shape, *_SHAPES))]
        self.shape = Dropdown(options=shapes, **labelled("Shape of x:"))
        wide, label = Layout(width="auto"), labelled("Expression:")
        self.expression = Dropdown(options=_suggested(shape), layout=wide, **label)
        self.own = _text("or type one:", "for example x[1:, ::2]")
        self.own.on_msg(self._entered)
        self.guess = Dropdown(options=[_OPEN, *_GUESSES], **labelled("It gives:"))
        self.size = _text("of shape (if you like):", "for example 2, 3")
        self.size.on_msg(self._entered)
        self.run = Button(description="Run it", layout=wide)
        self.code, self.result = HTML(), HTML()
        rows = [(self.shape, self.expression, self.own), (self.guess, self.size, self.run)]
        wrapped = [HBox(row, layout=Layout(flex_flow="row wrap")) for row in rows]
        self.box = VBox([self.code, *wrapped, self.result])
        self._listen(self.shape, self._take_shape)
        self._listen(self.expression, self._ask)
        self._listen(self.own, self._ask)
        self.run.on_click(lambda _: self._do(self._run))
        self._take_shape()

    def _listen(self, control: Any, action: Callable[[], None]) -> None:
        control.observe(lambda _: self._do(action), names="value")

    def _entered(self, _: Any, content: object, __: object) -> None:
        """Run when Enter is pressed in a field; ipywidgets 8 deprecates `on_submit` for it."""
        if isinstance(content, dict) and content.get("event") == "submit":
            self._do(self._run)

    def _do(self, action: Callable[[], None]) -> None:
        try:
            action()
        except (StepError, ExpressionError) as error:
            self.result.value = message_html(str(error)) + self._plain

    def _take_shape(self) -> None:
        """Begin with a new tensor; what was typed stays, as it may fit this one, too."""
        shape = parse_shape(self.shape.value)
        self.tensor = _counting(shape)
        self._plain = unselected(self.tensor, "x")._repr_html_()  # once, not at every key
        self.code.value = f'<pre style="{PROSE};margin:4px 0">x = {escape(_made(shape))}</pre>'
        self.expression.options = _suggested(shape)
        self.expression.index = 0  # not all releases of ipywidgets choose the first of new options
        self._ask()

    def _ask(self) -> None:
        """Begin a new prediction: what was predicted and shown is of another expression."""
        self.guess.value, self.size.value = _OPEN, ""
        self.result.value = self._plain

    def _run(self) -> None:
        expression = parse_expression(self.own.value.strip() or self.expression.value)
        if self.guess.value == _OPEN:
            raise StepError(f"Predict first: is {expression.code} a view, a copy or an error?")
        shape = parse_shape(self.size.value) if self.size.value.strip() else None
        found = select(self.tensor, expression)
        why = reason(self.tensor, expression, found)
        lines = [*judged(self.guess.value, shape, found, why), writes(self.tensor, expression)]
        items = "".join(f"<li>{escape(words)}</li>" for words in lines if words)
        page = f'<div role="status" style="{PROSE}"><ul>{items}</ul></div>'
        self.result.value = page + pictured(self.tensor, [found], "x")._repr_html_()


def _text(label: str, placeholder: str) -> Any:
    """A field whose value is here at every key, so that Enter finds it."""
    from ipywidgets import Text

    return Text(placeholder=placeholder, **labelled(label))
