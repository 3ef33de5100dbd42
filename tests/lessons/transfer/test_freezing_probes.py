"""Probes of freezing: who trains, who is woken, what moves."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.transfer.freezing_probes import freezing_seen, packed, updates_reported


def _flags_only(module: nn.Module) -> nn.Module:
    return module.requires_grad_(False)


def _eval_only(module: nn.Module) -> nn.Module:
    return module.eval()


def test_a_call_of_train_wakes_what_only_eval_has_put_to_rest() -> None:
    modes = freezing_seen.here(_eval_only, "norm")["modes"]
    assert modes[0]["body.1"] is False and modes[0]["head.0"] is True
    assert modes[1]["body.1"] is True


def test_frozen_parameters_get_no_gradient_and_statistics_move() -> None:
    seen = freezing_seen.here(_flags_only, "norm")
    names, _ = seen["gradients"]
    assert "stem.weight" in names and "body.0.weight" not in names
    assert seen["behind"] is not None and any(seen["buffers"]["body.1.running_mean"])


@pytest.mark.parametrize("part", ["", "body", "stem", "head"])
def test_only_the_named_part_is_handed_over(part: str) -> None:
    seen = freezing_seen.here(_flags_only, "plain", part)
    frozen = {name for name, learns in seen["flags"].items() if not learns}
    assert frozen == {name for name in seen["flags"] if name.startswith(part)}
    assert seen["returned"] and all(seen["itself"])


def test_a_gradient_from_before_is_there_and_is_told() -> None:
    assert all(freezing_seen.here(_flags_only, "own", stale=True)["left"].values())
    assert not any(freezing_seen.here(_flags_only, "own")["left"].values())


def _told(read: Callable[[Any, nn.Parameter], Any]) -> Callable[..., Any]:
    def tell(model: nn.Module, optimizer: Any, step: Callable[[], None]) -> Any:
        step()
        return {name: {"fact": read(optimizer, p)} for name, p in model.named_parameters()}

    return tell


def _parts(packed: list[Any]) -> list[torch.Tensor]:
    numbers, kinds = packed
    sizes = [math.prod(json.loads(kind[kind.index("[") :])) for kind in kinds]
    return list(numbers.split(sizes))


def test_packed_tensors_keep_their_numbers_dtypes_and_shapes() -> None:
    numbers, kinds = packed([torch.ones(2, 1), None, torch.tensor(3)])
    assert numbers.tolist() == [1, 1, 3] and numbers.dtype is torch.float64
    assert kinds == ["torch.float32 [2, 1]", "", "torch.int64 []"]
    assert packed([])[0].numel() == 0


@pytest.mark.parametrize("kind", ["plain", "frozen", "leftover", "asleep", "own", "tied"])
def test_a_step_moves_only_what_has_a_gradient(kind: str) -> None:
    groups = [("stem body head", 0.5, 0.9)]
    tell = _told(lambda optimizer, p: p.grad is not None)
    still = updates_reported.here(tell, kind, groups, step="nothing")
    moved = updates_reported.here(tell, kind, groups)
    changed = [
        not torch.equal(one, other)
        for one, other in zip(_parts(still["values"]), _parts(moved["values"]), strict=True)
    ]
    graded = [kind != "" for kind in moved["grads"][1]]
    assert all(grad for change, grad in zip(changed, graded, strict=True) if change)
    assert any(changed)
    assert moved["calls"] == [True]


def test_a_part_can_be_closed_before() -> None:
    met: list[list[bool]] = []

    def freeze(module: nn.Module) -> nn.Module:
        met.append([one.requires_grad for one in module.parameters()])
        return module

    freezing_seen.here(freeze, "norm", shut=True)
    assert met == [[False] * 4]


def test_modules_can_be_in_different_modes_before() -> None:
    (modes, *_) = freezing_seen.here(_flags_only, "norm", mixed=True)["modes"]
    assert set(modes.values()) == {True, False} and modes["body"] and not modes["body.0"]
