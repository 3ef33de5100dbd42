"""What the tests of training in several processes need: one launch for many small steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course.inspection.class_names import class_name
from course.lessons.devices.rank_launch import launch
from course.lessons.devices.shard_probes import LOSSES, Pair, replica
from course.probes.decorator import probe

__all__ = ["trained_alone", "trained_by_ranks"]


@probe
def trained_by_ranks(
    procedure: Callable[..., Any],
    jobs: Sequence[tuple[str, Sequence[Pair], float]],
    ranks: int = 2,
    *,
    runs: int = 1,
    loss: str = "square",
    timeout_s: float = 20.0,
) -> list[dict[str, Any]]:
    """What became of each rank that called `procedure(model, loss_fn, x, y, lr)` for each job.

    Each rank has a model with weights of its own at first. All jobs run in one launch, in a process
    group over gloo; a rank's "result" is a list of what `_one` returns, one for each job. Whoever
    wraps the model gets an error.

    Args:
        procedure: The answer.
        jobs: Triples: a kind of model, the samples of each rank, and a learning rate.
        ranks: The number of processes.
        runs: How often it is called for each job.
        loss: A name in LOSSES.
        timeout_s: Seconds until the ranks that are left are ended.

    Raises:
        NotImplementedError: There is no answer yet.
    """
    args = procedure, jobs, runs, loss
    found = launch(_all_jobs, ranks, args=args, timeout_s=timeout_s)
    _refuse_stub(found)
    return found


def _refuse_stub(found: Sequence[dict[str, Any]]) -> None:
    """An exercise as it was handed out counts as not attempted, in other processes too."""
    if any(one["error"].startswith("NotImplementedError") for one in found):
        raise NotImplementedError()


@probe
def trained_alone(
    procedure: Callable[..., Any],
    kind: str,
    batch: Pair,
    lr: float,
    runs: int = 1,
    loss: str = "square",
) -> dict[str, Any]:
    """What becomes of one call of `procedure` in one process, without a group.

    Args:
        procedure: Called with `(model, loss_fn, x, y, lr)`; the weights are those of rank 0.
        kind: The model, a key of `_MODELS` in `shards`.
        batch: Inputs and labels.
        lr: The learning rate.
        runs: How often it is called.
        loss: A name in LOSSES.
    """
    return _one(procedure, replica(kind), batch, lr, (runs, loss))


def _all_jobs(
    rank: int,
    procedure: Callable[..., Any],
    jobs: Sequence[tuple[str, Sequence[Pair], float]],
    runs: int,
    loss: str,
) -> list[dict[str, Any]]:
    for wrapper in (nn.parallel.DistributedDataParallel, nn.DataParallel):
        wrapper.__init__ = _refuse_to_wrap  # type: ignore[method-assign]
    found = []
    for kind, batches, lr in jobs:
        found.append(_one(procedure, replica(kind, rank), batches[rank], lr, (runs, loss)))
    return found


def _refuse_to_wrap(self: nn.Module, *given: Any, **options: Any) -> None:
    raise TypeError(f"the model isn't to be wrapped: no {type(self).__name__} here")


def _one(
    procedure: Callable[..., Any],
    model: nn.Module,
    batch: Pair,
    lr: float,
    steps: tuple[int, str],
) -> dict[str, Any]:
    """The results of so many steps with this loss, and the model's tensors afterwards."""
    runs, loss = steps
    results = [procedure(model, LOSSES[loss], *batch, lr) for _ in range(runs)]
    return {
        "results": [one.item() if isinstance(one, torch.Tensor) else one for one in results],
        "types": [class_name(one) for one in results],
        "parameters": [weight.detach().clone() for weight in model.parameters()],
        "buffers": [buffer.clone() for buffer in model.buffers()],
    }
