"""Probes of partly frozen models: what one call teaches, which stages are open."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course.lessons.transfer.thawing_probes import passed_through, thawed

ROWS = torch.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 1.0]])


def test_a_plain_call_teaches_input_and_parameters() -> None:
    x = ROWS.clone().requires_grad_()
    seen = passed_through.here(lambda layer, x: layer(x), "norm", x)
    assert seen["behind"] is not None and seen["calls"] == [True]
    assert all(grad is not None for grad in seen["gradients"].values())


def test_a_call_beside_it_teaches_whatever_the_other_does() -> None:
    def silent(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = layer(x)
        return found.detach()

    alone = passed_through.here(silent, "plain", ROWS)
    both = passed_through.here(silent, "plain", ROWS, also="after")
    assert alone["gradients"]["0.weight"] is None
    assert both["gradients"]["0.weight"] is not None and both["calls"] == [None, None]


def test_flags_that_stay_off_are_seen() -> None:
    def careless(layer: nn.Module, x: torch.Tensor) -> Any:
        return layer.requires_grad_(False)(x)

    assert not any(passed_through.here(careless, "plain", ROWS)["flags"].values())


def test_a_parameter_that_is_exchanged_is_seen() -> None:
    def exchanged(layer: Any, x: torch.Tensor) -> Any:
        layer[0].weight = nn.Parameter(layer[0].weight.detach())
        return layer(x)

    assert passed_through.here(exchanged, "plain", ROWS)["same"] == [False, True, True, True]
    assert all(passed_through.here(lambda layer, x: layer(x), "plain", ROWS)["same"])


def test_stages_are_told_epoch_by_epoch() -> None:
    def thaw(stages: list[nn.Module], epoch: int, every: int) -> list[nn.Parameter]:
        return list(stages[-1].requires_grad_(True).train().parameters())

    rows = thawed.here(thaw, "layers", 2, 1, [0, 1], stale=True)
    assert [row["told"] for row in rows] == [[2, 3], [2, 3]]
    assert rows[0]["flags"]["1.weight"] and not rows[0]["flags"]["0.weight"]
    assert all(rows[0]["left"].values())


def test_every_third_mode_or_flag_is_turned_before_each_call() -> None:
    def still(stages: list[nn.Module], epoch: int, every: int) -> list[nn.Parameter]:
        return []

    modes = thawed.here(still, "layers", 4, 1, [0, 1], upset="modes")
    assert [list(row["modes"].values()) for row in modes] == [
        [False, False, True, False],
        [False] * 4,
    ]
    (flags,) = thawed.here(still, "nested stages", 1, 1, [0], upset="flags")
    assert list(flags["flags"].values()) == [number % 3 == 0 for number in range(7)]
