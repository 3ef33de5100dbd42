"""What the probe of a search for nan sees: calls, hooks that stay, and every kind of layer."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.training_loop.nan_search_probes import modules_searched


def test_hooks_that_stay_are_counted_and_those_that_go_are_not() -> None:
    def leaving(model: nn.Module, x: torch.Tensor) -> None:
        model.register_forward_hook(lambda *_: None)
        model(x)

    def tidy(model: nn.Module, x: torch.Tensor) -> None:
        model.register_forward_hook(lambda *_: None).remove()
        model(x)

    counts = [
        len(modules_searched.procedure(search, ["tanh"], torch.zeros(2))["hooks"])
        for search in (tidy, leaving)
    ]
    assert counts[1] == counts[0] + 1


def test_calls_show_mode_and_recording_and_errors_are_told() -> None:
    def search(model: nn.Module, x: torch.Tensor) -> str:
        model(x)
        return "done"

    quiet = modules_searched.procedure(search, ["tanh"], torch.zeros(2), training=False)
    assert (quiet["calls"], quiet["results"], quiet["error"]) == ([[False, True]], ["done"], None)
    broken = modules_searched.procedure(search, ["broken"], torch.zeros(2))
    assert (broken["results"], broken["error"]) == ([], "this layer is broken")


@pytest.mark.parametrize(
    "layers",
    [
        *(["log"], ["tanh", "both", "first"], ["sizes"], ["total"]),
        *(["residual"], ["dropout"], ["block"], ["deep"]),
        *(["log_"], ["repaired"], ["huge"]),
    ],
)
def test_every_layer_can_be_called(layers: list[str]) -> None:
    seen = modules_searched.procedure(lambda model, x: model(x) is not None, layers, torch.ones(3))
    assert (seen["results"], seen["error"]) == ([True], None)


def test_shared_layers_are_one_module_and_one_alone_is_the_model() -> None:
    def count(model: nn.Module, x: torch.Tensor) -> int:
        return len(list(model.modules()))

    def counted(layers: list[str], **how: bool) -> Any:
        return modules_searched.procedure(count, layers, torch.ones(1), **how)["results"]

    assert counted(["tanh", "tanh"]) == [3]
    assert counted(["tanh", "tanh"], shared=True) == [2]
    assert counted(["tanh"], alone=True) == [1]


def test_layers_in_place_change_what_the_layer_before_returned() -> None:
    def outputs(model: nn.Module, x: torch.Tensor) -> list[list[float]]:
        seen: list[torch.Tensor] = []
        for layer in model.children():
            seen.append(layer(seen[-1] if seen else x))
        return [one.tolist() for one in seen]

    mended = modules_searched.procedure(outputs, ["log", "repaired"], torch.zeros(1))
    assert mended["results"] == [[[-1.0], [-1.0]]]


def test_large_numbers_are_finite_and_their_sum_is_not() -> None:
    def output(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = model(x)
        return found

    huge = modules_searched.procedure(output, ["huge"], torch.ones(2).double())["results"][0]
    assert bool(huge.isfinite().all())
    assert bool(huge.sum().isinf())
