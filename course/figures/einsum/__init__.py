"""An einsum, from its letters to its loops to its result."""

from course.figures.einsum.equation import (
    EquationError,
    Product,
    given_operands,
    parse,
    product_of,
)
from course.figures.einsum.figure import loops_of, picture_of, show_einsum

__all__ = [
    "EquationError",
    "Product",
    "given_operands",
    "loops_of",
    "parse",
    "picture_of",
    "product_of",
    "show_einsum",
]
