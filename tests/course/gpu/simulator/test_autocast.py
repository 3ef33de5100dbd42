"""Autocast on the device follows CUDA's lists."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course.gpu.simulator.autocast import listed


def test_the_lists_in_the_installed_header_are_read() -> None:
    assert ("linear", "default") in listed("LOWER_PRECISION_FP")
    assert ("nll_loss", "default") in listed("FP32")
    assert ("softmax", "int") in listed("FP32_SET_OPT_DTYPE")
    assert ("addcmul", "default") in listed("PROMOTE")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_products_are_narrow_and_sums_are_wide(dtype: torch.dtype, device: torch.device) -> None:
    model, batch = nn.Linear(4, 4).to(device), torch.ones(2, 4, device=device)
    with torch.autocast(device.type, dtype=dtype):
        found = model(batch)
        assert (found.dtype, (found + 1).dtype) == (dtype, dtype)
        assert (found.softmax(1).dtype, found.sum().dtype) == (torch.float32, torch.float32)
    assert model(batch).dtype is torch.float32


def test_gradients_of_parameters_stay_wide(device: torch.device) -> None:
    model, batch = nn.Linear(4, 4).to(device), torch.ones(2, 4, device=device)
    with torch.autocast(device.type, dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(batch), torch.zeros(2, 4, device=device))
    loss.backward()
    assert (loss.dtype, model.weight.grad.dtype) == (torch.float32, torch.float32)


def test_mixed_arguments_meet_in_the_widest(device: torch.device) -> None:
    wide, narrow = torch.ones(2, device=device), torch.ones(2, device=device).half()
    with torch.autocast(device.type, dtype=torch.float16):
        assert torch.addcmul(wide, narrow, narrow).dtype is torch.float32


def test_the_unsafe_loss_is_refused(device: torch.device) -> None:
    probability = torch.full((2,), 0.5, device=device)
    with (
        torch.autocast(device.type, dtype=torch.float16),
        pytest.raises(RuntimeError, match="are unsafe to autocast"),
    ):
        nn.functional.binary_cross_entropy(probability, probability)


def test_scaled_gradients_are_unscaled_before_the_step(device: torch.device) -> None:
    model, batch = nn.Linear(4, 1).to(device), torch.ones(2, 4, device=device)
    optimizer, scaler = (
        torch.optim.SGD(model.parameters(), 0.0),
        torch.amp.GradScaler(device.type, 8.0),
    )
    with torch.autocast(device.type, dtype=torch.float16):
        loss = model(batch).sum()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    assert model.weight.grad.tolist() == [[2, 2, 2, 2]]
    scaler.step(optimizer)
    scaler.update()
