"""The examples in the docstrings of figures, widgets and stride rules, run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    ("module", "least"),
    [
        ("course.figures.indexing.broadcast", 1),
        ("course.figures.indexing.expressions", 1),
        ("course.figures.indexing.pieces", 2),
        ("course.figures.indexing.selection", 2),
        ("course.figures.dtypes.bits", 1),
        ("course.figures.dtypes.lattice", 1),
        ("course.figures.dtypes.stored", 2),
        ("course.figures.modules.gradients", 1),
        ("course.figures.modules.parts", 1),
        ("course.figures.modules.shapes", 1),
        ("course.figures.modules.spread", 1),
        ("course.figures.storage.layouts", 1),
        ("course.figures.picture", 1),
        ("course.figures.storage.steps", 1),
        ("course.figures.storage.figure", 1),
        ("course.inspection.strides", 3),
        ("course.widgets.dtypes.numbers", 1),
        ("course.widgets.steps", 2),
    ],
)
def test_examples_show_what_they_return(module: str, least: int) -> None:
    seen = doctest.testmod(import_module(module))
    assert seen.failed == 0
    assert seen.attempted >= least
