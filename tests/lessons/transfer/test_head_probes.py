"""Probes of new heads."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.transfer.head_probes import head_swapped


def _same(model: nn.Module, classes: int) -> nn.Module:
    return model


def _with_fc(model: nn.Module, classes: int) -> nn.Module:
    model.fc = nn.Linear(5, classes)
    return model


def test_only_what_is_new_counts_as_fresh() -> None:
    assert head_swapped.here(_same, "long classifier", 2)["fresh"] == []
    fresh = head_swapped.here(_with_fc, "fc", 2)["fresh"]
    assert [row[0] for row in fresh] == ["fc"]
    assert ["out_features", 2] in fresh[0][2]


def test_numbers_of_a_head_are_told_when_asked_for() -> None:
    assert head_swapped.here(_with_fc, "fc", 2)["drawn"] == []
    (weight, bias) = head_swapped.here(_with_fc, "fc", 2, drawn=True)["drawn"]
    assert weight[2:] == [10, 10] and bias[2] == 2


def _swapped(model: Any, classes: int, *, keep: bool = False, seed: bool = False) -> Any:
    """A new `fc`, perhaps with rows of the old one, or with the same numbers each time."""
    if seed:
        torch.manual_seed(3)
    new = nn.Linear(5, classes)
    if keep:
        new.weight.data[:] = model.fc.weight.data[:classes]
    model.fc = new.train(model.fc.training)
    return model


def test_numbers_that_are_not_drawn_anew_are_counted() -> None:
    def seen(**how: bool) -> list[int]:
        told = head_swapped.here(lambda *args: _swapped(*args, **how), "fc", 2, drawn=True)
        return [told["as before"], told["repeated"]]

    assert seen() == [0, 0]
    assert seen(keep=True) == [10, 10] and seen(seed=True) == [0, 12]


def test_a_head_is_moved_alone() -> None:
    places = head_swapped.here(_same, "fc", 2, to="head float64")["places"]
    assert places == ["cpu torch.float32", "cpu torch.float64"]


def test_all_beside_the_new_layer_is_looked_at() -> None:
    def others(after: Any, **how: bool) -> Any:
        seen = head_swapped.here(lambda *args: after(_with_fc(*args)), "fc", 2, **how)
        return seen["others"]

    plain, used = others(lambda model: model), others(lambda model: model, used=True)
    assert "fc" not in plain["modes"] and "fc.weight" not in plain["dtypes"]
    assert plain["gradients"][0] == [None] * 7 and None not in used["gradients"][0][:4]
    trained = others(lambda model: model.train(), used=True)
    assert trained["modes"] != used["modes"]
    assert trained["gradients"][0] == used["gradients"][0]
    cleared = others(lambda model: model.zero_grad() or model, used=True)
    assert cleared["gradients"][0] == [None] * 7


@pytest.mark.parametrize(("to", "place"), [("float64", "cpu torch.float64"), ("meta", "meta ")])
def test_a_model_is_moved_before(to: str, place: str) -> None:
    (found,) = head_swapped.here(_same, "fc", 2, to=to)["places"]
    assert found.startswith(place)
