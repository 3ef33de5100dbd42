"""Steps of real ranks: each starts from weights of its own, and one launch has many jobs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import distributed, nn

from course.lessons.devices.process_probes import trained_alone, trained_by_ranks

PAIR = torch.ones(2, 2).double(), torch.zeros(2, 1).double()


def count(model: nn.Module, loss_fn: nn.Module, x: Any, y: Any, lr: float) -> Any:
    """The samples of all ranks."""
    total = torch.tensor(float(len(x)))
    distributed.all_reduce(total)
    return total


def test_jobs_run_in_one_group_and_ranks_have_weights_of_their_own() -> None:
    jobs = [("linear", [PAIR, PAIR], 0.1), ("scaled", [PAIR, PAIR], 0.1)]
    seen = trained_by_ranks.procedure(count, jobs, runs=2)
    assert [one["ended"] for one in seen] == ["finished"] * 2
    assert [job["results"] for job in seen[0]["result"]] == [[4.0, 4.0]] * 2
    assert seen[0]["result"][0]["types"] == ["Tensor"] * 2
    first, second = (one["result"][0]["parameters"][0] for one in seen)
    assert not torch.equal(first, second)
    alone = trained_alone.procedure(lambda *_: 0.0, "linear", PAIR, 0.1)
    assert torch.equal(first, alone["parameters"][0])


def test_a_stub_is_no_answer() -> None:
    def stub(*_: Any) -> None:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        trained_by_ranks.procedure(stub, [("linear", [PAIR, PAIR], 0.1)])


def test_a_wrapped_model_is_an_error() -> None:
    def wrapping(model: nn.Module, loss_fn: nn.Module, x: Any, y: Any, lr: float) -> Any:
        return nn.parallel.DistributedDataParallel(model)

    seen = trained_by_ranks.procedure(wrapping, [("linear", [PAIR, PAIR], 0.1)])
    assert all("isn't to be wrapped" in one["error"] for one in seen)
