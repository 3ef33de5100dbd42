"""Copies of modules keep what was there, whatever is replaced in the modules later."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from autograder.engine.student.frozen_modules import freeze

SOURCE = """
import contextlib, math, sys, torch
from functools import lru_cache, partial
import inner_of_test.part

def plain(x):
    return torch.nn.functional.relu(x), math.floor(2.5), inner_of_test.part.answer()

class Kept:
    @property
    def size(self):
        return [[one.numel() for one in group] for group in ()]

    @staticmethod
    @lru_cache
    def look():
        with contextlib.suppress(OSError):
            return sys.stdout

@contextlib.contextmanager
def entered():
    yield torch.Tensor.as_strided
"""


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module that measures, and one that it imports."""
    package, part = ModuleType("inner_of_test"), ModuleType("inner_of_test.part")
    vars(part)["answer"] = lambda: "as it was"
    vars(package)["part"] = part
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(sys.modules, part.__name__, part)
    made = ModuleType("measures")
    exec(SOURCE, vars(made))
    for value in vars(made).values():
        if getattr(value, "__module__", None) == "builtins":
            value.__module__ = "measures"
    return made


def test_what_is_replaced_later_does_not_reach_the_module(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    import math

    import torch

    real = math, torch.nn.functional, sys.modules["inner_of_test.part"]
    freeze([module])
    replaced: Any = lambda *args: "replaced"  # noqa: E731
    for one, name in zip(real, ("floor", "relu", "answer"), strict=True):
        monkeypatch.setattr(one, name, replaced)
    found = module.plain(torch.tensor([-1.0]))
    monkeypatch.undo()
    assert [str(one) for one in found] == ["tensor([0.])", "2", "as it was"]


def test_a_copy_has_what_comes_later_and_the_streams_of_now(
    module: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    freeze([module])
    part = sys.modules["inner_of_test.part"]
    vars(part)["later"] = 5
    assert vars(module)["inner_of_test"].part.later == 5
    assert module.Kept.look() is sys.stdout
    with pytest.raises(AttributeError, match="no_such"):
        _ = vars(module)["math"].no_such


def test_modules_that_measure_keep_each_other() -> None:
    one, other = ModuleType("one"), ModuleType("other")
    vars(one).update(other=other)
    assert freeze([one, other]) == [] and vars(one)["other"] is other
