"""What the probe of stages sees: places, memory, and what stays behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.devices.stage_probes import staged


class Staged(nn.Module):
    """Two stages, each on its device."""

    def __init__(self, first: nn.Module, second: nn.Module, devices: Any) -> None:
        super().__init__()
        self.devices = devices
        self.first, self.second = first.to(devices[0]), second.to(devices[1])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The result of both."""
        found: torch.Tensor = self.second(self.first(x.to(self.devices[0])).to(self.devices[1]))
        return found


@pytest.mark.parametrize("where", [(0, 1), (1, 0), (1, 1)])
def test_places_are_numbers_of_devices(where: tuple[int, int]) -> None:
    seen = staged.procedure(Staged, "norm", where, rows=(2, 3))
    assert [set(places) for places in seen["places"]] == [{where[0]}, {where[1]}]
    assert seen["said on"] == [where[1]] * 2
    assert seen["grads on"][-2:] == [-1, -1]
    assert seen["same"] == [True, True]
    assert sum(seen["held"]) > 0


@pytest.mark.parametrize("kind", ["masked", "bare", "twice", "frozen"])
def test_every_kind_runs_in_eval_mode_from_either_device(kind: str) -> None:
    seen = staged.procedure(Staged, kind, (0, 1), start=1, training=False)
    assert len(seen["said"]) == 1
    assert seen["modes"] == [False] * len(seen["modes"])


def test_a_batch_without_grad_and_later_moves_are_told() -> None:
    class Moving(Staged):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.second.to(self.devices[1])
            with torch.set_grad_enabled(x.requires_grad):
                return super().forward(x)

    seen, moving = (staged.procedure(kind, "frozen") for kind in (Staged, Moving))
    assert [one is None for one in seen["plain grads"]] == [True, True, False, False]
    assert moving["plain grads"] == [None] * 4
    assert (seen["moves"], moving["moves"]) == (0, 2)
