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


@pytest.mark.parametrize("training", [True, False])
def test_a_head_can_be_in_another_mode_than_its_model(training: bool) -> None:
    seen = head_swapped.here(_swapped, "fc", 2, training=training, contrary=True)
    assert seen["modes"][""] is training and seen["modes"]["fc"] is not training


@pytest.mark.parametrize(("to", "place"), [("float64", "cpu torch.float64"), ("meta", "meta ")])
def test_a_model_is_moved_before(to: str, place: str) -> None:
    (found,) = head_swapped.here(_same, "fc", 2, to=to)["places"]
    assert found.startswith(place)


def test_an_error_of_a_swap_is_told_and_a_stub_is_not_caught() -> None:
    def failing(model: nn.Module, classes: int) -> nn.Module:
        raise ValueError

    def stub(model: nn.Module, classes: int) -> nn.Module:
        raise NotImplementedError

    assert head_swapped.here(failing, "headless", 2)["error"] == "ValueError"
    with pytest.raises(NotImplementedError):
        head_swapped.here(stub, "headless", 2)


def test_the_last_layer_of_both_kinds_is_told_with_all_that_it_was_made_with() -> None:
    def swap(model: nn.Module, classes: int) -> nn.Module:
        last = [one for one in model.modules() if isinstance(one, nn.Conv2d)][-1]
        for name, one in model.named_modules():
            if one is last:
                model.set_submodule(name, nn.Conv2d(4, classes, 3, padding="same", dilation=2))
        return model

    ((_, kinds, plan, bias),) = head_swapped.here(swap, "same padding", 5)["fresh"]
    assert kinds == ["Conv2d"] and bias
    assert ["padding", "same"] in plan and ["dilation", (2, 2)] in plan and ["groups", 1] in plan
