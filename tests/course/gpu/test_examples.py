"""The examples in the docstrings of the simulation, run."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("module", ["sizes", "allocator", "autocast", "words"])
def test_examples_show_what_they_return(module: str) -> None:
    seen = doctest.testmod(import_module(f"course.gpu.{module}"))
    assert seen.failed == 0
    assert seen.attempted > 0
