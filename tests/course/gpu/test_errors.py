"""CUDA's words where CUDA refuses: wrong device, no memory, no numpy, a failed kernel."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from course import gpu
from course.gpu import api

simulated = pytest.mark.skipif(torch.cuda.is_available(), reason="set on the simulated device only")
MIB = 1 << 20
ASSERTED = "CUDA error: device-side assert triggered\nSearch for `cudaErrorAssert' in https://"


def both(device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.ones(3, 3, device=device), torch.ones(3, 3)


def test_adding_across_devices_names_both(device: torch.device) -> None:
    here, there = both(device)
    words = f"found at least two devices, {device.type}:0 and cpu!"
    with pytest.raises(RuntimeError, match=words):
        here + there
    with pytest.raises(RuntimeError, match=words):
        there + here


def test_multiplying_across_devices_names_the_argument(device: torch.device) -> None:
    here, there = both(device)
    words = (
        f"Expected all tensors to be on the same device, but got mat2 is on cpu, different from "
        f"other tensors on {device.type}:0 (when checking argument in method wrapper_CUDA_mm)"
    )
    with pytest.raises(RuntimeError, match=re.escape(words)):
        here @ there


def test_a_model_on_the_device_refuses_a_batch_on_the_host(device: torch.device) -> None:
    model = nn.Linear(3, 2).to(device)
    with pytest.raises(RuntimeError, match="got mat1 is on cpu, different from other tensors"):
        model(torch.ones(1, 3))


def test_two_devices_do_not_mix(two: tuple[torch.device, torch.device]) -> None:
    one, other = (torch.ones(2, device=device) for device in two)
    words = f"devices, {two[0]} and {two[1]}!"
    with pytest.raises(RuntimeError, match=words):
        one + other


def test_a_number_on_the_host_mixes_with_anything(device: torch.device) -> None:
    here = torch.ones(3, device=device)
    assert (here * torch.tensor(2.0)).tolist() == [2, 2, 2]


def test_indices_on_the_host_are_welcome_but_not_the_other_way_round(device: torch.device) -> None:
    here, there = torch.arange(3.0, device=device), torch.arange(3.0)
    assert here[torch.tensor([2, 0])].tolist() == [2, 0]
    words = "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
    with pytest.raises(RuntimeError, match=re.escape(words)):
        there[torch.tensor([2, 0], device=device)]


@pytest.mark.parametrize("turn", [torch.Tensor.numpy, np.asarray])
def test_numpy_needs_a_copy_on_the_host(
    turn: Callable[[torch.Tensor], object], device: torch.device
) -> None:
    words = (
        f"can't convert {device.type}:0 device type tensor to numpy. Use Tensor.cpu() to copy the "
        "tensor to host memory first."
    )
    with pytest.raises(TypeError, match=re.escape(words)):
        turn(torch.ones(2, device=device))


def test_tolist_item_and_cpu_copy_by_themselves(device: torch.device) -> None:
    x = torch.arange(2.0, device=device)
    assert (x.tolist(), x[1].item(), x.cpu().numpy().tolist()) == ([0, 1], 1, [0, 1])


def test_a_tensor_is_printed_with_its_device(device: torch.device) -> None:
    text = f"tensor([1., 1.], device='{device.type}:0')"
    assert repr(torch.ones(2, device=device)) == text


def test_running_out_of_memory_says_cudas_words(device: torch.device) -> None:
    gpu.set_capacity(20 * MIB)
    kept = torch.ones(2 * MIB // 4, device=device)
    with pytest.raises(gpu.OutOfMemoryError) as raised:
        torch.ones(30 * MIB // 4, device=device)
    words = str(raised.value)
    assert words.startswith("CUDA out of memory. Tried to allocate 30.00 MiB. GPU 0 has a total")
    assert "20.00 MiB allowed; Of the allocated memory 2.00 MiB is allocated by PyTorch" in words
    assert "18.00 MiB is reserved by PyTorch but unallocated." in words
    del kept


def test_memory_comes_back_after_running_out_of_it(device: torch.device) -> None:
    gpu.set_capacity(20 * MIB)
    with pytest.raises(gpu.OutOfMemoryError):
        torch.ones(30 * MIB // 4, device=device)
    assert torch.ones(15 * MIB // 4, device=device).sum().item() == 15 * MIB / 4
    assert gpu.memory_stats()["num_ooms"] >= 1


@simulated
def test_a_result_larger_than_the_device_is_refused_before_it_is_computed(
    device: torch.device,
) -> None:
    column = torch.ones(1 << 20, 1, device=device)
    with pytest.raises(gpu.OutOfMemoryError, match=r"Tried to allocate 4096\.00 GiB"):
        column - column.view(-1)


@simulated
def test_a_result_larger_than_what_is_left_is_refused_before_it_is_computed(
    device: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    from course.gpu.simulator.operators.composites import SUBSTITUTES

    gpu.set_capacity(64 * MIB)
    column = torch.ones(1 << 14, 1, device=device)
    monkeypatch.setitem(SUBSTITUTES, "sub", lambda *_, **__: pytest.fail("it was computed"))
    with pytest.raises(gpu.OutOfMemoryError, match=r"Tried to allocate 1024\.00 MiB"):
        column - column.view(-1)


def test_a_capacity_above_the_devices_memory_is_refused(device: torch.device) -> None:
    total = gpu.mem_get_info()[1]
    with pytest.raises(ValueError, match=f"the device has {total} bytes"):
        gpu.set_capacity(total + 1)


@pytest.mark.parametrize("nbytes", [1, 64 * MIB, 64 * MIB + 512, 1_000_000_007])
def test_the_limit_is_the_capacity_to_the_byte(nbytes: int) -> None:
    for total in (4 << 30, 150_110_011_392, 15_828_320_256):
        assert int(api._fraction(nbytes, total) * total) == nbytes


@simulated
@pytest.mark.parametrize(
    "launch",
    [
        lambda d: nn.functional.cross_entropy(
            torch.zeros(2, 3, device=d), torch.tensor([0, 3], device=d)
        ),
        lambda d: torch.zeros(3, device=d)[torch.tensor([5], device=d)],
        lambda d: nn.Embedding(3, 2).to(d)(torch.tensor([3], device=d)),
        lambda d: torch.zeros(2, 3, device=d).gather(1, torch.tensor([[4]], device=d)),
        lambda d: nn.functional.binary_cross_entropy(
            torch.tensor([1.5], device=d), torch.tensor([1.0], device=d)
        ),
    ],
    ids=["label", "index", "embedding", "gather", "probability"],
)
def test_a_failed_kernel_is_reported_by_the_next_call_that_waits(
    launch: Callable[[torch.device], torch.Tensor], device: torch.device
) -> None:
    result = launch(device)  # no error here
    result = result + 1  # nor here
    with pytest.raises(torch.AcceleratorError, match=re.escape(ASSERTED)):
        result.cpu()
    assert gpu.failed_assertion() is not None


@simulated
def test_the_loss_of_a_failed_kernel_has_a_backward_that_does_not_wait(
    device: torch.device,
) -> None:
    logits = torch.zeros(2, 3, device=device, requires_grad=True)
    loss = nn.functional.cross_entropy(logits, torch.tensor([0, 3], device=device))
    loss.backward()
    with pytest.raises(torch.AcceleratorError):
        gpu.synchronize()


@simulated
def test_launch_blocking_reports_a_failed_kernel_where_it_is(device: torch.device) -> None:
    gpu.set_launch_blocking(True)
    with pytest.raises(torch.AcceleratorError, match="device-side assert") as raised:
        torch.zeros(3, device=device)[torch.tensor([5], device=device)]
    assert "stacktrace below might be incorrect" not in str(raised.value)


@simulated
def test_a_device_with_a_failed_kernel_is_lost_until_the_process_ends(
    device: torch.device,
) -> None:
    torch.zeros(3, device=device)[torch.tensor([5], device=device)]
    with pytest.raises(torch.AcceleratorError):
        gpu.synchronize()
    with pytest.raises(torch.AcceleratorError):
        torch.ones(1, device=device)
    gpu.restart()
    assert torch.ones(1, device=device).item() == 1


def test_a_wrong_shape_is_refused_at_once(device: torch.device) -> None:
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        torch.ones(3, device=device) + torch.ones(4, device=device)


@simulated
def test_a_device_that_is_not_there_is_refused(device: torch.device) -> None:
    with pytest.raises(torch.AcceleratorError, match="CUDA error: invalid device ordinal"):
        torch.ones(1, device="sim:7")
