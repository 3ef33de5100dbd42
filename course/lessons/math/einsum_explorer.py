"""The einsum explorer: type an equation, say the result's shape, walk through its elements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape

import torch

from course.lessons.math.einsum_equation import (
    EquationError,
    Product,
    given_operands,
    parse,
    product_of,
)
from course.lessons.math.einsum_figure import loops_of, picture_of, show_einsum
from course.widgets.explorer import Explorer
from course.widgets.pages import PROSE, message_html
from course.widgets.steps import StepError, parse_shape

__all__ = ["EinsumExplorer", "EinsumPanel", "explore_einsum", "judged", "sizes_in"]

_OWN = "the one in the cell"
_EXAMPLES = {
    "matrix product": "ij,jk->ik",
    "dot product": "i,i->",
    "outer product": "i,j->ij",
    "sum of each column": "ij->j",
    "transpose": "ij->ji",
    "diagonal": "ii->i",
    "trace": "ii->",
    "row with row": "ij,ij->i",
    "a batch of products": "bij,bjk->bik",
    "attention scores": "bqd,bkd->bqk",
}
_SIZE = re.compile(r"\s*([a-zA-Z])\s*=\s*(\d{1,9})\s*\Z")


def explore_einsum(equation: str = "ij,jk->ik", *operands: torch.Tensor) -> EinsumExplorer:
    """An explorer of einsum equations: it asks for the result's shape before it shows the result.

    Then a slider walks through the result and shows what each element is made of. Without
    operands it makes small ones. Outside of a live notebook it is the figure of `show_einsum`.

    Args:
        equation: As `torch.einsum` takes it.
        operands: The tensors that it is about.
    """
    return EinsumExplorer(equation, operands)


class EinsumExplorer(Explorer["EinsumPanel"]):
    """What `explore_einsum` shows: a panel of widgets, or the figure of the equation.

    Args:
        equation: As `torch.einsum` takes it.
        operands: The tensors that it is about; small ones are made if there are none.
    """

    def __init__(self, equation: str, operands: Sequence[torch.Tensor]) -> None:
        self._equation, self._operands = equation, tuple(operands)
        self._picture = show_einsum(equation, *operands)

    def _make_panel(self) -> EinsumPanel:
        return EinsumPanel(self._equation, self._operands)

    def __repr__(self) -> str:
        return repr(self._picture)

    def _repr_html_(self) -> str:
        return self._picture._repr_html_()


class EinsumPanel:
    """The widgets of one explorer. Every control has its label as text.

    Args:
        equation: What the fields begin with, and "the one in the cell" goes back to.
        operands: The tensors of that equation.
    """

    def __init__(self, equation: str, operands: Sequence[torch.Tensor]) -> None:
        from ipywidgets import HTML, Button, Dropdown, HBox, IntSlider, Layout, Text, VBox

        self._given = equation, tuple(operands)
        label = {"style": {"description_width": "initial"}}
        field = {"continuous_update": False, "layout": Layout(width="30ch"), **label}
        self.example = Dropdown(options=[_OWN, *_EXAMPLES], description="Product:", **label)
        self.equation = Text(value=equation, description="Equation:", **field)
        self.sizes = Text(value="", description="Sizes:", **field)
        self.guess = Text(value="", description="Shape of the result:", **field)
        self.reveal = Button(description="Show the result", layout=Layout(width="auto"))
        self.element = IntSlider(
            value=1, min=1, max=1, description="Element of the result:", **label
        )
        self.element.layout = Layout(width="70%")
        self.message, self.page, self.walk = HTML(), HTML(), VBox()
        row = Layout(flex_flow="row wrap")
        self.box = VBox(
            [
                HBox([self.example, self.equation, self.sizes], layout=row),
                HBox([self.guess, self.reveal], layout=row),
                *(self.message, self.walk, self.page),
            ]
        )
        self._busy = False
        self.example.observe(lambda change: self._take(change["new"]), names="value")
        self.equation.observe(lambda _: self._start(), names="value")
        self.sizes.observe(lambda _: self._start(), names="value")
        self.guess.observe(lambda change: self._judge(change["new"]), names="value")
        self.reveal.on_click(lambda _: self._show(""))
        self.element.observe(lambda _: self._draw(), names="value")
        self._start(operands)

    def _take(self, name: str) -> None:
        """Begin with an example, or with what the cell gave."""
        self._busy = True  # the three fields change together
        self.equation.value = _EXAMPLES.get(name, self._given[0])
        self.sizes.value = ""
        self._busy = False
        self._start(self._given[1] if name == _OWN else ())

    def _start(self, operands: Sequence[torch.Tensor] = ()) -> None:
        """Read the fields; the result stays hidden until its shape is said."""
        if self._busy:
            return
        self._product: Product | None = None
        try:
            read = parse(self.equation.value)
            tensors = operands or given_operands(read, sizes_in(self.sizes.value, read.letters))
            self._product = product_of(read, tensors)
        except EquationError as error:
            self._hide(str(error))
            return
        self._busy = True
        self.sizes.value = ", ".join(f"{k}={n}" for k, n in self._product.sizes.items())
        self._busy = False
        self._hide("Which shape does the result have? Type it and press Enter.")

    def _hide(self, words: str) -> None:
        self._busy = True
        self.guess.value = ""
        self.element.value, self.element.max = 1, 1
        self._busy = False
        self.walk.children = ()  # there is no result to walk through yet
        self.message.value = message_html(words)
        self._draw()

    def _judge(self, text: str) -> None:
        """Compare the shape in the field with torch's."""
        if self._busy or self._product is None or not text.strip():
            return
        try:
            right, words = judged(self._product, parse_shape(text))
        except StepError as error:
            right, words = False, str(error)
        if right:
            self._show(words)
        else:
            self.message.value = message_html(words)

    def _show(self, words: str) -> None:
        """Show the result from its first element on."""
        if self._product is None:
            return
        self.element.max = len(self._product.elements())
        self.walk.children = (self.element,)
        shape = tuple(self._product.result.shape)
        told = words or f"The result has shape {shape}."
        self.message.value = message_html(f"{told} Move the slider to see each element's sum.")
        self._draw()

    def _draw(self) -> None:
        if self._busy:
            return
        if self._product is None:
            self.page.value = ""
            return
        element = self._product.elements()[self.element.value - 1] if self.walk.children else None
        loops = escape("\n".join(loops_of(self._product, asked=element is None)))
        picture = picture_of(self._product, element, loops=False)
        self.page.value = (
            f'<div style="{PROSE}"><pre style="margin:4px 0">{loops}</pre></div>'
            f"{picture._repr_html_()}"
        )


def sizes_in(text: str, letters: str) -> Mapping[str, int]:
    """The sizes in a text such as `i=2, j=3`; those of other letters are passed over.

    >>> sizes_in("i=2, j=3", "ij")
    {'i': 2, 'j': 3}
    """
    sizes = {}
    for part in filter(str.strip, text.split(",")):
        found = _SIZE.match(part)
        if found is None:
            raise EquationError(f"{part.strip()!r} is not a size. Write i=2, j=3, say.")
        sizes[found[1]] = int(found[2])
    return {letter: size for letter, size in sizes.items() if letter in letters}


def judged(product: Product, said: tuple[int, ...]) -> tuple[bool, str]:
    """Whether that is the result's shape, and why or where to look."""
    right = product.equation.result
    if said == tuple(product.result.shape):
        if not right:
            return True, "✓ Right: no letter on the right, so it's one number without dimensions."
        named = ", ".join(f"{letter} = {product.sizes[letter]}" for letter in right)
        return True, f"✓ Right: the letters on the right are {named}."
    if len(said) != len(right):
        return False, f"✗ Not {said}: it has one dimension for each letter on the right, no more."
    return False, f"✗ Not {said}. Look up the size of each letter on the right, in their order."
