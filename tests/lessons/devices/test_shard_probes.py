"""What the probes of shards see: calls of the model, what is left in `.grad`, who talks when."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.devices.shard_probes import accumulated, replica, shards_run

BATCH = torch.arange(8.0).double().view(4, 2), torch.ones(4, 1).double()


def gradients(model: nn.Module, loss_fn: nn.Module, x: Any, y: Any, sizes: list[int]) -> Any:
    """The gradients of one shard with the whole batch."""
    return torch.autograd.grad(loss_fn(model(x), y), list(model.parameters()))


def test_a_replica_is_that_of_its_seed_and_draws_nothing_from_the_global_stream() -> None:
    before = torch.get_rng_state()
    one, again, other = (next(replica("deep", seed).parameters()) for seed in (0, 0, 1))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert torch.equal(before, torch.get_rng_state())


def test_calls_and_leftovers_are_told() -> None:
    seen = shards_run.procedure(gradients, "linear", BATCH, [4], stale=2.0)
    assert seen["calls"] == [4]
    assert seen["same"] == [True, True]
    assert [g.unique().tolist() for g in seen["grads"]] == [[2.0], [2.0]]
    assert seen["recorded"] == [False, False]


def test_gradients_that_are_still_those_of_the_model_are_overwritten() -> None:
    def through_grad(model: nn.Module, loss_fn: nn.Module, x: Any, y: Any, _: Any) -> Any:
        loss_fn(model(x), y).backward()
        return [weight.grad for weight in model.parameters()]

    seen = shards_run.procedure(through_grad, "linear", BATCH, [4])
    assert [g.unique().tolist() for g in seen["result"]] == [[77.0], [77.0]]
    assert seen["same"] == [False, False]


@pytest.mark.parametrize(("forward_in", "talks"), [(True, False), (False, True)])
def test_the_flag_counts_when_the_forward_pass_runs(forward_in: bool, talks: bool) -> None:
    def step(model: Any, loss_fn: nn.Module, parts: Any, optimizer: Any) -> float:
        x, y = parts[0]
        if forward_in:
            with model.no_sync():
                said = model(x)
            loss_fn(said, y).backward()
        else:
            said = model(x)
            with model.no_sync():
                loss_fn(said, y).backward()
        optimizer.step()
        return 0.0

    seen = accumulated.procedure(step, "linear", [BATCH])
    assert (["all-reduce"] in seen["events"]) == talks
    assert seen["syncs again"]


def test_the_all_reduce_comes_at_the_end_of_backward() -> None:
    def step(model: Any, loss_fn: nn.Module, parts: Any, optimizer: Any) -> None:
        for x, y in parts:
            loss_fn(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()

    seen = accumulated.procedure(step, "tied", [BATCH], runs=2)
    once = [["forward", 4], ["backward", 4], ["all-reduce"], ["step"]]
    assert seen["events"] == once * 2


def plain_step(model: Any, loss_fn: nn.Module, parts: Any, optimizer: Any) -> float:
    """One step for all parts, each with its all-reduce."""
    optimizer.zero_grad()
    for x, y in parts:
        loss_fn(model(x), y).backward()
    optimizer.step()
    return 1.0


def test_another_rank_brings_gradients_into_the_mean() -> None:
    alone, both, start = (
        accumulated.procedure(plain_step, "linear", [BATCH], lr, other=other)["parameters"][0]
        for lr, other in ((1.0, None), (1.0, 3.0), (0.0, None))
    )
    assert torch.allclose(start - both, ((start - alone) + 3.0) / 2)


def test_a_block_that_stays_open_is_noticed() -> None:
    def by_hand(model: Any, loss_fn: nn.Module, parts: Any, optimizer: Any) -> None:
        model.require_backward_grad_sync = False
        plain_step(model, loss_fn, parts, optimizer)

    assert accumulated.procedure(plain_step, "linear", [BATCH])["syncs again"]
    assert not accumulated.procedure(by_hand, "linear", [BATCH])["syncs again"]


def test_one_pair_may_come_twice() -> None:
    def step(model: Any, loss_fn: nn.Module, parts: Any, optimizer: Any) -> list[bool]:
        return [part is parts[-1] for part in parts]

    seen = accumulated.procedure(step, "linear", [BATCH, BATCH[:]], order=[0, 1, 0])
    assert len(seen["result"]) == 3
    assert seen["result"][::2] == [True, True]


def test_a_state_dict_may_lack_buffers() -> None:
    model = replica("unsaved")
    assert len(list(model.buffers())) == 2
    assert list(model.state_dict()) == ["layer.weight", "layer.bias"]
