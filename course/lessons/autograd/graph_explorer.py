"""The graph explorer: type an expression, see what autograd records for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import torch

from course.figures.graph.figure import show_graph
from course.figures.picture import Picture
from course.lessons.autograd.programs import Program, ProgramError, run_program
from course.notebook import notebook_names
from course.widgets.explorer import Explorer, at_most
from course.widgets.pages import message_html

__all__ = ["GraphExplorer", "GraphPanel", "explore_graph"]

_EXAMPLES = {
    "one product": "(w * x + b).sum()",
    "a leaf used twice": "(w * w).sum()",
    "a named intermediate": "h = w * x\nh.exp().sum()",
    "a saved result, changed in place": "h = w.exp()\nloss = h.sum()\nh.mul_(2)\nloss",
    "a saved input, changed in place": "h = w * x\nloss = (h * h).sum()\nh += 1\nloss",
    "changed, but not saved": "h = w + x\nloss = h.sum()\nh.mul_(2)\nloss",
    "cut by detach": "h = (w * x).detach()\n(h * b).sum()",
    "a block without recording": "with torch.no_grad():\n    h = w * x\n(h * b).sum()",
}


def _small_tensors() -> dict[str, object]:
    """What w, x and b are where the notebook has no tensors of these names."""
    return {
        "w": torch.tensor([1.0, 2.0], requires_grad=True),
        "x": torch.tensor([3.0, 4.0]),
        "b": torch.tensor([0.5, -0.5], requires_grad=True),
    }


def explore_graph(
    expression: str = "(w * x + b).sum()", names: Mapping[str, object] | None = None
) -> GraphExplorer:
    """An explorer that draws the graph of an expression, and of any that you type after it.

    The tensors are those of the notebook, or of `names`; without any, w and b require grad and x
    does not. The expression runs on copies, so yours stay as they are. In a live notebook there is
    a field to type in. Anywhere else it is a static figure.

    Args:
        expression: One expression of Python over tensors.
        names: The tensors by the names that the expression has for them.
    """
    return GraphExplorer(expression, names)


class GraphExplorer(Explorer["GraphPanel"]):
    """What `explore_graph` shows: a panel of widgets, or the graph of the first expression."""

    def __init__(self, expression: str, names: Mapping[str, object] | None) -> None:
        self._expression, self._names = expression, names

    def _make_panel(self) -> GraphPanel:
        return GraphPanel(self._expression, self._names)

    def __repr__(self) -> str:
        try:
            return f"{self._expression}\n{_picture(_ran(self._expression, self._names))!r}"
        except ProgramError as error:
            return f"{self._expression}\n{error}"

    def _repr_html_(self) -> str:
        code = f'<pre style="margin:4px 0">{escape(self._expression)}</pre>'
        try:
            return code + _picture(_ran(self._expression, self._names))._repr_html_()
        except ProgramError as error:
            return code + message_html(str(error))


def _ran(text: str, names: Mapping[str, object] | None) -> Program:
    """The program after its run, over the notebook's tensors where it has some."""
    own = notebook_names() if names is None else names
    found = {name: value for name, value in own.items() if isinstance(value, torch.Tensor)}
    return run_program(text, {**_small_tensors(), **found})


def _picture(program: Program) -> Picture:
    return show_graph(program.result, program.names)


def _after_backward(program: Program) -> str:
    """What backward did: the gradients of the leaves, or PyTorch's own words."""
    try:
        program.result.sum().backward()
    except RuntimeError as error:
        return f"backward() raised {type(error).__name__}: {str(error).splitlines()[0]}"
    grads = [
        f"{name}.grad = {_rounded(value.grad)}"
        for name, value in program.names.items()
        if isinstance(value, torch.Tensor) and value.is_leaf and value.grad is not None
    ]
    return "backward() ran. " + ("; ".join(grads) or "No leaf received a gradient") + "."


def _rounded(grad: torch.Tensor) -> str:
    if grad.numel() > 12:
        return f"a tensor of shape {tuple(grad.shape)}"
    return str(torch.round(grad.detach(), decimals=4).tolist())


class GraphPanel:
    """The widgets of one explorer: the code, two buttons, and what came of it.

    Only what ipywidgets 7 and 8 both have is used. Every control has its label as text and is
    reached by the Tab key in the order in which it is read.
    """

    def __init__(self, expression: str, names: Mapping[str, object] | None) -> None:
        from ipywidgets import HTML, Dropdown, HBox, Layout, Textarea, VBox

        self._names = names
        label = {"style": {"description_width": "initial"}}
        wide, examples = Layout(width="auto"), ["your own", *_EXAMPLES]
        self.example = Dropdown(options=examples, description="Example:", layout=wide, **label)
        self.code = Textarea(
            value=expression, description="Code:", rows=4, layout=at_most("60ch"), **label
        )
        self.draw = self._button("Draw the graph", self._draw)
        self.backward = self._button("Draw it after backward()", self._draw_after_backward)
        self.message, self.picture = HTML(), HTML()
        rows = [(self.example,), (self.code,), (self.draw, self.backward)]
        wrapped = [HBox(row, layout=Layout(flex_flow="row wrap")) for row in rows]
        self.box = VBox([*wrapped, self.message, self.picture])
        self.example.observe(lambda _: self._take_example(), names="value")
        self._do(self._draw)

    def _button(self, label: str, action: Callable[[], None]) -> Any:
        from ipywidgets import Button, Layout

        button = Button(description=label, layout=Layout(width="auto"))
        button.on_click(lambda _: self._do(action))
        return button

    def _do(self, action: Callable[[], None]) -> None:
        """Run one reaction to the reader; what cannot be run becomes a sentence."""
        self.message.value = message_html("")
        try:
            action()
        except ProgramError as error:
            self.picture.value = ""
            self.message.value = message_html(str(error))

    def _take_example(self) -> None:
        if self.example.value in _EXAMPLES:
            self.code.value = _EXAMPLES[self.example.value]
            self._do(self._draw)

    def _draw(self) -> None:
        self.picture.value = _picture(_ran(self.code.value, self._names))._repr_html_()

    def _draw_after_backward(self) -> None:
        program = _ran(self.code.value, self._names)
        self.message.value = message_html(_after_backward(program))
        self.picture.value = _picture(program)._repr_html_()
