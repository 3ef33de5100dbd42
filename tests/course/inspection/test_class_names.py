"""Only the class that a name stands for is told by that name alone."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from course.inspection.class_names import class_name

Pair = namedtuple("Pair", "a b")
Forged = type("list", (set,), {"__module__": "builtins", "__qualname__": "list"})
Renamed = type("type", (type,), {"__name__": "list"})("Own", (set,), {})


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ([], "list"),
        (True, "bool"),
        (None, "NoneType"),
        (KeyError(), "KeyError"),
        (torch.ones(1), "Tensor"),
        (nn.Parameter(torch.ones(1)), "Parameter"),
        (nn.Linear(1, 1), "Linear"),
        (torch.device("cpu"), "device"),
        (OrderedDict(), "OrderedDict"),
        (np.ones(1), "ndarray"),
        (Pair(1, 2), "Pair"),
    ],
)
def test_usual_classes_and_those_of_ones_own(value: Any, name: str) -> None:
    assert class_name(value) == name


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (type("Linear", (nn.Module,), {"__module__": "mine"})(), "mine.Linear"),
        (type("list", (set,), {"__module__": "mine"})(), "mine.list"),
        (Forged(), "builtins.list"),
        (Renamed(), "Own"),
        (np.True_, "numpy.bool"),
    ],
)
def test_another_class_of_that_name_is_told_with_its_module(value: Any, name: str) -> None:
    assert class_name(value) == name
