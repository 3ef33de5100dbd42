"""Probes of modules: what one registers, computes and keeps is told as it is."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from course.lessons.modules.network_probes import classified, initialised, stacked, standardised


class Shift(nn.Module):
    """A layer that keeps the very tensor it is given, and learns one number for each column."""

    def __init__(self, mean: torch.Tensor, std: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean.detach())
        self.weight = nn.Parameter(std.detach().clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The shifted input, scaled."""
        (mean,) = self.buffers()
        return (x - mean) * self.weight


def test_a_layer_that_shares_its_buffer_is_seen_to_change() -> None:
    seen = standardised.here(Shift, torch.ones(2), torch.ones(2), torch.zeros(1, 2))
    assert seen["out"].tolist() == [[-1.0, -1.0]]
    assert seen["later"].tolist() == [[9.0, 9.0]]
    assert (seen["saved"], seen["buffers"]) == (["mean", "weight"], ["mean"])


def test_the_given_tensors_of_a_caller_are_not_overwritten() -> None:
    mean = torch.ones(2)
    standardised.here(Shift, mean, torch.ones(2), torch.zeros(1, 2))
    assert mean.tolist() == [1.0, 1.0]


def test_layers_that_two_stacks_share_are_counted_once() -> None:
    layer = nn.Linear(2, 2)

    def sharing(sizes: Sequence[int], activation: str) -> nn.Module:
        return nn.Sequential(layer, nn.ReLU())

    own = stacked.here(sharing, [2, 2], "relu")["own"]
    assert own == {"layers in one stack": 2, "layers in two": 3, "parameters in two": 2}


def test_a_classifier_that_leaves_a_layer_out_is_seen_not_to_learn_it() -> None:
    def forgetful(channels: int, classes: int, size: Sequence[int]) -> nn.Module:
        model = nn.Sequential(nn.Flatten(), nn.Linear(channels * size[0] * size[1], classes))
        model.extra = nn.Linear(2, 2)
        model.forward = lambda x: model[1](model[0](x))  # type: ignore[method-assign]
        return model

    seen = classified.here(forgetful, [1, 3, [2, 2]], 2, True)
    assert seen["learns"] == ["1.weight", "1.bias"]
    assert seen["out"].shape == (2, 3)


def test_an_initialisation_that_does_nothing_leaves_all_as_it_was() -> None:
    seen = initialised.here(lambda model, generator: None, 1)
    assert all(bool((one == 0.25).all()) for one in seen["weights"].values())
    assert all(seen["same"])


def test_a_new_parameter_is_told_from_the_old_one() -> None:
    def renew(model: nn.Module, generator: torch.Generator) -> None:
        layer = model.get_submodule("linear")
        layer.weight = nn.Parameter(torch.zeros(200, 300))

    assert initialised.here(renew, 1)["same"].count(False) == 1
