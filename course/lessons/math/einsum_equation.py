"""An einsum equation as letters, sizes and sums; what it comes to is asked of torch."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import torch

__all__ = ["EquationError", "Product", "given_operands", "parse", "product_of"]

_NAMES = ("A", "B", "C")  # of the operands, in order
_WORDS = ("first", "second", "third")  # where the equation itself has one of those letters
_FORM = re.compile(r"[a-zA-Z]*(,[a-zA-Z]*){0,2}(->[a-zA-Z]*)?\Z")
_MOST_DIMS, _MOST_ELEMENTS, _MOST_SIZE = 4, 64, 12
Index = tuple[int, ...]


class EquationError(ValueError):
    """An equation that cannot be drawn: what was read, why not, what to write instead."""


@dataclass(frozen=True)
class Equation:
    """The letters of each operand, and those of the result."""

    operands: tuple[str, ...]
    result: str

    @property
    def letters(self) -> str:
        """Every letter once, in the order in which they appear."""
        return "".join(dict.fromkeys("".join(self.operands)))

    @property
    def summed(self) -> str:
        """The letters that are missing on the right."""
        return "".join(letter for letter in self.letters if letter not in self.result)

    @property
    def text(self) -> str:
        """The equation as einsum reads it, with its right side."""
        return f"{','.join(self.operands)}->{self.result}"


@dataclass(frozen=True)
class Product:
    """An equation with its operands, the size of each letter, and what torch makes of them.

    Attributes:
        equation: The letters of operands and result.
        operands: The tensors, without their graphs.
        sizes: How long the dimension of each letter is.
        result: What `torch.einsum` gives for them.
    """

    equation: Equation
    operands: tuple[torch.Tensor, ...]
    sizes: Mapping[str, int]
    result: torch.Tensor

    @property
    def names(self) -> tuple[str, ...]:
        """What the operands are called: A, B, C, or first, second, third; never like a letter."""
        return _names(self.equation)

    def elements(self) -> list[Index]:
        """The index of each element of the result, row by row."""
        return list(itertools.product(*(range(size) for size in self.result.shape)))

    def terms(self, element: Index) -> Iterator[tuple[Index, ...]]:
        """For each term of the sum that makes this element, the index into each operand."""
        fixed = dict(zip(self.equation.result, element, strict=True))
        summed = self.equation.summed
        for numbers in itertools.product(*(range(self.sizes[letter]) for letter in summed)):
            at = {**fixed, **dict(zip(summed, numbers, strict=True))}
            yield tuple(tuple(at[letter] for letter in one) for one in self.equation.operands)


def _names(equation: Equation) -> tuple[str, ...]:
    names = _WORDS if {*_NAMES} & {*equation.letters} else _NAMES
    return names[: len(equation.operands)]


def parse(text: str) -> Equation:
    """The letters of an equation; without `->` the result has those that appear once, as in torch.

    Args:
        text: One to three operands, with letters for dimensions; spaces do not count.

    Raises:
        EquationError: It is no equation, has dots, or more than four dimensions in one tensor.

    >>> parse("ij, jk").text
    'ij,jk->ik'
    """
    plain = re.sub(r"\s", "", text)
    if "." in plain:
        raise EquationError("Dots stand for any number of dimensions. Write their letters here.")
    if not _FORM.match(plain) or not plain:
        raise EquationError(
            f"{text.strip()!r} is not an equation of one to three operands. Write ij,jk->ik, say."
        )
    left, arrow, right = plain.partition("->")
    if not arrow:
        right = "".join(sorted(letter for letter in set(left) - {","} if left.count(letter) == 1))
    operands = tuple(left.split(","))
    _refuse_result(operands, right)
    if max(map(len, (*operands, right))) > _MOST_DIMS:
        raise EquationError(f"Tensors of more than {_MOST_DIMS} dimensions are not drawn.")
    return Equation(operands, right)


def _refuse_result(operands: Sequence[str], right: str) -> None:
    for letter in right:
        if letter not in "".join(operands):
            raise EquationError(f"{letter} stands on the right only, so it has no size.")
        if right.count(letter) > 1:
            raise EquationError(f"{letter} stands twice on the right. Each letter may stand once.")


def given_operands(equation: Equation, sizes: Mapping[str, int]) -> tuple[torch.Tensor, ...]:
    """Small tensors for the equation, counting 1, 2, 3, …; a letter without a size gets one.

    Args:
        equation: The equation that they are made for.
        sizes: 1 to 12 for some of the letters.

    Raises:
        EquationError: A size is out of these bounds, or a tensor gets too large to be drawn.
    """
    default = itertools.cycle((2, 3, 4) if len(equation.letters) <= 3 else (2, 3, 2, 2))
    known = {
        letter: sizes.get(letter, size)
        for letter, size in zip(equation.letters, default, strict=False)
    }
    for letter, size in known.items():
        if not 0 < size <= _MOST_SIZE:
            raise EquationError(
                f"{letter} has size {size}; sizes from 1 to {_MOST_SIZE} are drawn."
            )
    shapes = [[known[letter] for letter in one] for one in equation.operands]
    _refuse_large([*shapes, [known[letter] for letter in equation.result]])
    return tuple(torch.arange(1, prod(shape) + 1).view(shape) for shape in shapes)


def _refuse_large(shapes: Sequence[Sequence[int]]) -> None:
    for shape in shapes:
        if prod(shape) > _MOST_ELEMENTS:
            raise EquationError(
                f"A tensor of shape {tuple(shape)} is too large to draw; "
                f"up to {_MOST_ELEMENTS} elements fit."
            )


def product_of(equation: Equation, operands: Sequence[torch.Tensor]) -> Product:
    """The equation with these operands.

    Args:
        equation: What `parse` read.
        operands: As many as it has, with its dimensions, at most 64 elements each.

    Raises:
        EquationError: They do not fit it, are too large, or have no element.
    """
    if len(operands) != len(equation.operands):
        raise EquationError(
            f"{equation.text} has {len(equation.operands)} operands; {len(operands)} were given."
        )
    sizes: dict[str, int] = {}
    for name, letters, tensor in zip(_names(equation), equation.operands, operands, strict=True):
        if tensor.dim() != len(letters):
            raise EquationError(
                f"{letters!r} names {len(letters)} dimensions, but {name} has shape "
                f"{tuple(tensor.shape)}."
            )
        for letter, size in zip(letters, tensor.shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                raise EquationError(_sizes_differ(letter, sizes[letter], size))
    shapes = [tuple(tensor.shape) for tensor in operands]
    _refuse_large([*shapes, [sizes[letter] for letter in equation.result]])
    if 0 in sizes.values():
        raise EquationError("A size of 0 leaves nothing to draw.")
    plain = tuple(tensor.detach() for tensor in operands)
    return Product(equation, plain, sizes, torch.einsum(equation.text, *plain))


def _sizes_differ(letter: str, one: int, other: int) -> str:
    if 1 in (one, other):
        return (
            f"{letter} has sizes {one} and {other}: torch repeats the 1, which is not drawn here. "
            "Expand that tensor first."
        )
    return f"{letter} has sizes {one} and {other}; a letter has one size wherever it stands."
