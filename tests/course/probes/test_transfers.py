"""Probes of copies to a device: what arrived, from where, and when."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from course import gpu
from course.probes.transfers import copies_asked, delivered, fetched, pinned_batches


def moved(batch: Any, device: torch.device) -> Any:
    """Dicts and lists of tensors, without waiting."""
    if isinstance(batch, dict):
        return {key: moved(one, device) for key, one in batch.items()}
    if isinstance(batch, list):
        return [moved(one, device) for one in batch]
    return batch.to(device, non_blocking=True) if isinstance(batch, torch.Tensor) else batch


def waiting(batch: list[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
    """Copies that are waited for, from clones."""
    return [one.clone().to(device) for one in batch]


class Padded:
    """A batch that can be pinned."""

    def __init__(self, tokens: torch.Tensor, lengths: torch.Tensor) -> None:
        self.tokens, self.lengths = tokens, lengths

    def pin_memory(self) -> Padded:
        """A pinned copy."""
        return Padded(self.tokens.pin_memory(), self.lengths.pin_memory())


class Forgetful(Padded):
    """A batch whose `pin_memory` returns nothing."""

    def pin_memory(self) -> None:  # type: ignore[override]
        """Nothing."""


def test_each_tensor_is_told_with_its_place_and_values_in_its_containers() -> None:
    seen = delivered.here(moved, {"x": torch.ones(2), "more": [torch.zeros(1), "a"]})
    assert seen["moved"] == [{"x": "device [1.0, 1.0]", "more": ["list", "device [0.0]", "a"]}]
    assert seen["passed"] == [{"x": "cpu [1.0, 1.0]", "more": ["list", "cpu [0.0]", "a"]}]


def test_a_loader_pins_what_it_delivers() -> None:
    rows = [{"x": torch.full((1,), float(n))} for n in range(3)]
    seen = delivered.here(moved, rows, loader=True)
    assert seen["moved"] == [{"x": "device [[0.0], [1.0]]"}, {"x": "device [[2.0]]"}]
    assert seen["pinned"] == [True, True]


def test_a_named_batch_keeps_its_class() -> None:
    seen = delivered.here(lambda batch, _: batch, [torch.ones(1), "b"], named=True)
    assert seen["moved"] == [["Pair", "cpu [1.0]", "b"]]


def test_something_with_a_method_to_may_stand_beside_the_batch() -> None:
    seen = delivered.here(moved, torch.ones(1), movable=True)
    assert seen["moved"] == [["list", "device [1.0]", "left alone"]]
    asked_all = delivered.here(
        lambda batch, _: [one.to("cpu") for one in batch], torch.ones(1), movable=True
    )
    assert asked_all["moved"] == [["list", "cpu [1.0]", "moved"]]


def test_a_copy_that_is_under_way_reads_what_is_written_later() -> None:
    late = copies_asked.here(moved, 2)
    assert (late["pinned"], late["without waiting"]) == ([True, True], [True, True])
    if gpu.is_simulated():
        assert late["last"] == [-1.0] * 3
    early = copies_asked.here(waiting, 2)
    assert (early["pinned"], early["without waiting"]) == ([False, False], [False, False])
    assert early["last"] == [2.0] * 3


def test_what_is_fetched_is_told_with_how_each_copy_was_asked() -> None:
    def late(tensors: list[torch.Tensor], synchronize: Any) -> list[torch.Tensor]:
        copies = [one.to("cpu", non_blocking=True) for one in tensors]
        synchronize()
        return copies

    def into_buffers(tensors: list[torch.Tensor], synchronize: Any) -> list[torch.Tensor]:
        return [torch.empty(one.shape, pin_memory=True).copy_(one) for one in tensors]

    def told(fetch: Any) -> dict[str, Any]:
        seen = fetched.here(fetch, [torch.tensor([3, 4]), torch.ones(4)])
        return {**seen, "arrived": [[one.dtype, *one.tolist()] for one in seen["arrived"]]}

    pinned = {"class": "list", "kinds": [["cpu", True]] * 2}
    values = [torch.int64, 3, 4], [torch.float32, *[1.0] * 4]
    arrived = {**pinned, "arrived": [*values]}
    assert told(late) == {**arrived, "waits": 1, "without waiting": [True, True]}
    waited = {**pinned, "arrived": [[torch.float32, 3.0, 4.0], values[1]]}
    assert told(into_buffers) == {**waited, "waits": 0, "without waiting": [False, False]}


def pinning(batch: list[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
    """The batch by way of pinned copies that nobody asked for."""
    return [x.pin_memory().to(device, non_blocking=True) for x in batch]


def test_copies_of_other_tensors_than_those_given_are_told() -> None:
    asked = copies_asked.here(moved, 2, pinned=False)
    assert (asked["given"], asked["pinned"]) == ([True, True], [False, False])
    asked = copies_asked.here(pinning, 2, pinned=False)
    assert (asked["given"], asked["pinned"]) == ([False, False], [True, True])


def test_what_a_pinning_loader_makes_of_batches_is_told() -> None:
    seen = pinned_batches.here(Padded, 3)
    assert seen["pinned"] == [[True, True]] * 2
    assert seen["own"] == [[False, False]] * 2
    assert seen["values"] == [[[[0] * 3, [1] * 3], [0, 1]], [[[2] * 3], [2]]]
    assert seen["classes"] == [["Padded"] * 2] * 2


def test_a_batch_that_pins_to_nothing_is_told() -> None:
    assert pinned_batches.here(Forgetful, 2) == {"pinned": "nothing"}


@pytest.mark.exhaustive("programs that start anew")
def test_noting_copies_does_not_load_a_compiler() -> None:
    code = (
        "import sys; from course.probes.transfers import copies_asked; "
        "copies_asked.here(lambda batch, device: [x.to(device) for x in batch], 1); "
        "print('torch._dynamo' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
