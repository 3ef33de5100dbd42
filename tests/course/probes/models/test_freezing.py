"""Probes of freezing: who trains, who is woken, what moves, what a call teaches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from course.probes.models.freezing import freezing_seen, moves_told, passed_through, thawed

ROWS = torch.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 1.0]])


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
    assert seen["gradients"]["body.0.weight"] is None
    assert seen["gradients"]["stem.weight"] is not None and seen["behind"] is not None
    assert seen["buffers"]["body.1.running_mean"].abs().sum() > 0


@pytest.mark.parametrize("part", ["", "body", "stem", "head"])
def test_only_the_named_part_is_handed_over(part: str) -> None:
    seen = freezing_seen.here(_flags_only, "plain", part)
    frozen = {name for name, learns in seen["flags"].items() if not learns}
    assert frozen == {name for name in seen["flags"] if name.startswith(part)}
    assert seen["returned"] == [True] and all(seen["itself"])


def test_a_gradient_from_before_is_there_and_is_told() -> None:
    assert all(freezing_seen.here(_flags_only, "own", stale=True)["left"].values())
    assert not any(freezing_seen.here(_flags_only, "own")["left"].values())


def _told(read: Callable[[Any, nn.Parameter], Any]) -> Callable[..., Any]:
    def tell(model: nn.Module, optimizer: Any, step: Callable[[], None]) -> Any:
        step()
        return {name: {"fact": read(optimizer, p)} for name, p in model.named_parameters()}

    return tell


def test_asking_the_state_of_an_optimizer_leaves_entries() -> None:
    groups = [("stem body head", 0.1, 0.0)]
    asking = _told(lambda optimizer, p: bool(optimizer.state[p]))
    looking = _told(lambda optimizer, p: p in optimizer.state)
    assert moves_told.here(asking, "plain", groups)["entries"] > 0
    assert moves_told.here(looking, "plain", groups)["entries"] == 0


@pytest.mark.parametrize("kind", ["plain", "frozen", "leftover", "asleep", "own", "tied", "nan"])
def test_a_step_moves_only_what_has_a_gradient(kind: str) -> None:
    groups = [("stem body head", 0.5, 0.9)]
    tell = _told(lambda optimizer, p: p.grad is not None)
    still = moves_told.here(tell, kind, groups, step="nothing")
    moved = moves_told.here(tell, kind, groups)
    changed = [
        not torch.equal(one.nan_to_num(), other.nan_to_num())
        for one, other in zip(still["values"], moved["values"], strict=True)
    ]
    graded = [grad is not None for grad in moved["grads"]]
    assert all(grad for change, grad in zip(changed, graded, strict=True) if change)
    assert any(changed) or kind == "nan"
    assert moved["calls"] == [True]


def test_an_error_of_the_step_is_told() -> None:
    tell = _told(lambda optimizer, p: None)
    assert moves_told.here(tell, "plain", [], step="fails")["error"] == "this step fails"


def test_a_plain_call_teaches_input_and_parameters() -> None:
    x = ROWS.clone().requires_grad_()
    seen = passed_through.here(lambda layer, x: layer(x), "norm", x)
    assert seen["behind"] is not None and seen["calls"] == 1
    assert all(grad is not None for grad in seen["gradients"].values())


def test_a_call_beside_it_teaches_whatever_the_other_does() -> None:
    def silent(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
        return layer(x).detach()  # type: ignore[no-any-return]

    alone = passed_through.here(silent, "plain", ROWS)
    both = passed_through.here(silent, "plain", ROWS, also="after")
    assert alone["gradients"]["0.weight"] is None
    assert both["gradients"]["0.weight"] is not None and both["calls"] == 2


def test_flags_that_an_error_leaves_behind_are_seen() -> None:
    def careless(layer: nn.Module, x: torch.Tensor) -> Any:
        return layer.requires_grad_(False)(x)

    seen = passed_through.here(careless, "fails", ROWS)
    assert seen["error"] == "this layer fails" and not any(seen["flags"].values())


def test_stages_are_told_epoch_by_epoch() -> None:
    def thaw(stages: list[nn.Module], epoch: int, every: int) -> list[nn.Parameter]:
        return list(stages[-1].requires_grad_(True).train().parameters())

    rows = thawed.here(thaw, "layers", 2, 1, [0, 1], stale=True)
    assert [row["told"] for row in rows] == [[2, 3], [2, 3]]
    assert rows[0]["flags"]["1.weight"] and not rows[0]["flags"]["0.weight"]
    assert all(rows[0]["left"].values())


def test_a_shared_weight_has_one_number() -> None:
    def thaw(stages: list[nn.Module], epoch: int, every: int) -> list[nn.Parameter]:
        return [p for stage in stages for p in stage.parameters()]

    told = thawed.here(thaw, "tied", 2, 1, [0])[0]["told"]
    assert told.count(0) == 2
