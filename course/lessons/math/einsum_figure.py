"""The picture of an einsum: operands and result, and what one element is made of."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial

import torch

from course.figures.palette import INK, MUTED, REST, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    TEXT,
    WIDTH,
    Box,
    Item,
    Label,
    Scene,
    flow,
    heading,
    paint,
    stack,
    text_width,
)
from course.lessons.math.einsum_equation import Index, Product, given_operands, parse, product_of

__all__ = ["loops_of", "picture_of", "show_einsum", "sum_words"]

_BOX = 28.0  # px, the height of a box
_LEAST = 34.0  # px, the least width of a box
_MOST_TERMS = 6  # of a sum that is written out
_OPERANDS, _RESULT = (0, 1, 3), 2  # the numbers of their colours
_LETTERS = "Letters name dimensions; one that is missing on the right is summed over."
_COLOURED = (
    "Coloured: one element of the result, and the elements of the operands that it is made of."
)


def show_einsum(
    equation: str, *operands: torch.Tensor, element: Sequence[int] | None = None
) -> Picture:
    """A picture of an einsum: its loops, its operands, its result, and one element's sum.

    Args:
        equation: As `torch.einsum` takes it, with letters and without dots.
        operands: As many as the equation has; without any, small ones that count 1, 2, 3.
        element: An index of the result, one number a dimension; None for the first one.

    Raises:
        EquationError: The equation cannot be drawn, or the operands do not fit it.
        ValueError: `element` is not an index of the result.
    """
    read = parse(equation)
    product = product_of(read, operands or given_operands(read, {}))
    chosen = product.elements()[0] if element is None else tuple(element)
    if chosen not in product.elements():
        raise ValueError(
            f"element={chosen} is not an index of the result, whose shape is "
            f"{tuple(product.result.shape)}."
        )
    return picture_of(product, chosen)


def picture_of(product: Product, element: Index | None, *, loops: bool = True) -> Picture:
    """The picture of a product.

    Args:
        product: The equation with its operands.
        element: The index of the element that is explained; with None the result is not shown yet,
            only asked for.
        loops: Show the loops as well.
    """
    alt = _words(product, element)
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=alt)
    parts = [_loops_scene(product, asked=element is None)] if loops else []
    parts.append(_tensors_scene(product, element))
    if element is not None:
        words = sum_words(product, element)
        parts.append(Scene(text_width(words, TEXT), 22, (Label(0, 11, words, size=TEXT),)))
    caption = _LETTERS if element is None else f"{_COLOURED} {_LETTERS}"
    return Picture(partial(paint, stack(parts, gap=12)), alt=alt, caption=caption)


# --- in words -----------------------------------------------------------------------------------


def loops_of(product: Product, *, asked: bool = False) -> list[str]:
    r"""The loops that the equation stands for, as lines of Python.

    Args:
        product: The equation with its operands.
        asked: The result's shape is being asked for: a question mark stands for it.

    >>> print("\n".join(loops_of(product_of(parse("ij->j"), [torch.ones(2, 3)]))))
    out = torch.zeros(3)
    for j in range(3):
        for i in range(2):  # summed: i is not on the right
            out[j] += A[i, j]
    """
    equation = product.equation
    sizes = ", ".join(str(product.sizes[letter]) for letter in equation.result)
    lines = [f"out = torch.zeros({'?' if asked else sizes or '()'})"]
    for depth, letter in enumerate(equation.result + equation.summed):
        why = "" if letter in equation.result else f"  # summed: {letter} is not on the right"
        lines.append(f"{'    ' * depth}for {letter} in range({product.sizes[letter]}):{why}")
    named = zip(product.names, equation.operands, strict=True)
    factors = " * ".join(_at(name, letters) for name, letters in named)
    return [*lines, f"{'    ' * len(equation.letters)}{_at('out', equation.result)} += {factors}"]


def _at(name: str, index: Sequence[object]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def sum_words(product: Product, element: Index) -> str:
    """The sum that makes one element of the result, with the numbers put in."""
    terms = list(product.terms(element))
    written = [" · ".join(_factors(product, term)) for term in terms[:_MOST_TERMS]]
    if len(terms) > _MOST_TERMS:
        written.append(f"… ({len(terms) - _MOST_TERMS} more)")
    value = _number(product.result[element])
    sum_ = " + ".join(written)
    return f"{_at('out', element)} = {sum_}" + ("" if sum_ == value else f" = {value}")


def _factors(product: Product, term: tuple[Index, ...]) -> list[str]:
    numbers = [_number(t[index]) for t, index in zip(product.operands, term, strict=True)]
    return [f"({n})" if n.startswith("-") else n for n in numbers]


def _number(value: torch.Tensor) -> str:
    number = value.item()
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def _words(product: Product, element: Index | None) -> str:
    equation = product.equation
    shapes = [
        f"{name} has shape {tuple(t.shape)}"
        for name, t in zip(product.names, product.operands, strict=True)
    ]
    words = f"einsum {equation.text}: {', '.join(shapes)}. {roles_of(product)}"
    if element is None:
        return f"{words} The result is not shown yet."
    shape = tuple(product.result.shape)
    return f"{words} The result has shape {shape}; {sum_words(product, element)}."


def roles_of(product: Product) -> str:
    """Which letters stay and which are summed over, with their sizes."""
    kept = [f"{letter} ({product.sizes[letter]})" for letter in product.equation.result]
    gone = [f"{letter} ({product.sizes[letter]})" for letter in product.equation.summed]
    stay = f"On the right: {', '.join(kept)}." if kept else "No letter on the right: one number."
    return f"{stay} Summed over: {', '.join(gone) or 'nothing'}."


# --- the scene ----------------------------------------------------------------------------------


def _loops_scene(product: Product, *, asked: bool) -> Scene:
    """The loops, line by line, indented to scale."""
    items = []
    lines = loops_of(product, asked=asked)
    for number, line in enumerate(lines):
        code, _, why = line.partition("  # ")
        depth = len(code) - len(code.lstrip())
        x, y = depth * 7.0, 10 + number * 19.0
        items.append(Label(x, y, code.lstrip(), size=TEXT))
        if why:
            items.append(Label(x + text_width(code.lstrip(), TEXT) + 14, y, why, ink=MUTED))
    scene = Scene(0, len(lines) * 19.0, tuple(items))
    return Scene(scene.right, scene.height, scene.items)


def _tensors_scene(product: Product, element: Index | None) -> Scene:
    """Operands and result, the result without its numbers while it is being asked for."""
    used = list(product.terms(element)) if element is not None else []
    parts = [
        _tensor_scene(name, letters, tensor, {term[number] for term in used}, _OPERANDS[number])
        for number, (name, letters, tensor) in enumerate(
            zip(product.names, product.equation.operands, product.operands, strict=True)
        )
    ]
    letters = product.equation.result
    if element is None:
        words = f"{_at('out', letters)}   which shape?"
        parts.append(heading(words))
    else:
        parts.append(_tensor_scene("out", letters, product.result, {element}, _RESULT))
    return flow(parts, WIDTH, gap=36)


def _tensor_scene(
    name: str, letters: str, tensor: torch.Tensor, used: set[Index], colour: int
) -> Scene:
    """A tensor under its name: a grid for each index of what lies before the last two letters."""
    head = f"{_at(name, letters)}   {tuple(tensor.shape)}"
    outer = tuple(tensor.shape[:-2])
    width = max([_LEAST, *(text_width(_number(v)) + 10 for v in tensor.reshape(-1))])
    grids = [
        _grid(letters, tensor, before, used, fill(colour), width)
        for before in itertools.product(*map(range, outer))
    ]
    return stack([heading(head), flow(grids, WIDTH, gap=14)], gap=2)


def _grid(
    letters: str, tensor: torch.Tensor, before: Index, used: set[Index], colour: str, width: float
) -> Scene:
    part = tensor[before]
    rows = part.shape[0] if part.dim() == 2 else 1
    columns = part.shape[-1] if part.dim() else 1
    shape = tuple(part.shape)
    side = 24.0 if part.dim() == 2 else 0.0
    items: list[Item] = []
    if part.dim():
        items.append(Label(side + width / 2, 8, f"{letters[-1]} →", "center", MUTED))
    if part.dim() == 2:
        items.append(Label(side - 4, 18 + _BOX / 2, f"{letters[-2]} ↓", "right", MUTED))
    for row, column in itertools.product(range(rows), range(columns)):
        index = (*before, *((row, column)[2 - len(shape) :]))
        chosen = index in used
        x, y = side + column * width, 18 + row * _BOX
        fills = (colour if chosen else REST,)
        text = _number(tensor[index])
        items.append(Box(x, y, width, _BOX, text, fills, INK if chosen else RULE))
    words = ", ".join(f"{k} = {n}" for k, n in zip(letters, before, strict=False))
    inner = Scene(side + columns * width, 18 + rows * _BOX, tuple(items))
    if not words:
        return inner
    return stack([Scene(text_width(words), 16, (Label(side, 8, words, ink=MUTED),)), inner])
