"""Of what cannot travel, its kind and what is plain about it do."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, SequentialSampler, TensorDataset

from course.serialization.object_state import state_of


class Called:
    """An object that is called like a function."""

    def __call__(self) -> None: ...


class Shy(nn.Module):
    """A module that does not let itself be asked."""

    def named_parameters(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("not now")


class Own(torch.Tensor):
    """A tensor of a class of one's own."""


DATA = TensorDataset(torch.arange(4))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (nn.ReLU(), "module"),
        (torch.ones(1).as_subclass(Own), "tensor subclass"),
        (DataLoader(DATA), "loader"),
        (DATA, "dataset"),
        (SequentialSampler(DATA), "sampler"),
        (torch.optim.SGD([torch.ones(1)]), "optimizer"),
        (ValueError("x"), "exception"),
        (int, "class"),
        (lambda: None, "function"),
        (len, "function"),
        ([].append, "function"),
        (Called(), "function"),
        (iter([]), "iterator"),
        ((n for n in ()), "iterator"),
        (object(), "object"),
    ],
)
def test_the_kind_of_an_object(value: Any, kind: str) -> None:
    assert state_of(value)[0] == kind


def test_a_module_tells_its_parts_its_tensors_and_its_mode() -> None:
    net = nn.Sequential(nn.BatchNorm1d(2), nn.ReLU()).eval()
    _, about = state_of(net)
    assert (about["training"], about["modules"]) == (False, {"0": "BatchNorm1d", "1": "ReLU"})
    assert about["parameters"]["0.weight"] is net[0].weight
    assert set(about["buffers"]) == {"0.running_mean", "0.running_var", "0.num_batches_tracked"}


def test_a_loader_tells_its_options_and_the_classes_of_its_parts() -> None:
    assert state_of(DataLoader(DATA, 3, drop_last=True))[1] == {
        "batch_size": 3,
        "num_workers": 0,
        "drop_last": True,
        "pin_memory": False,
        "timeout": 0,
        "prefetch_factor": None,
        "persistent_workers": False,
        "dataset": "TensorDataset",
        "sampler": "SequentialSampler",
        "batch_sampler": "BatchSampler",
        "collate_fn": "function",
    }


def test_an_optimizer_tells_the_options_and_the_tensors_of_each_group() -> None:
    w, v = torch.ones(1), torch.ones(2)
    _, about = state_of(torch.optim.SGD([{"params": [w]}, {"params": [v], "lr": 2.0}], lr=0.5))
    assert [group["lr"] for group in about["groups"]] == [0.5, 2.0]
    assert all("params" not in group and "momentum" in group for group in about["groups"])
    assert [[id(t) for t in group] for group in about["parameters"]] == [[id(w)], [id(v)]]


def test_an_exception_tells_the_beginning_of_its_message() -> None:
    assert state_of(ValueError("x" * 5000)) == ("exception", {"message": "x" * 4000})


def test_what_cannot_be_asked_is_not_known() -> None:
    assert state_of(Shy()) == ("module", {})
