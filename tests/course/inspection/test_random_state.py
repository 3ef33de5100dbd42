"""torch's random state after a block, on the CPU and on several devices."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from course.inspection.random_state import random_state_kept


def test_the_next_draw_is_the_same_as_without_the_block() -> None:
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    with random_state_kept():
        inside = torch.rand(2)
        torch.manual_seed(99)
    assert torch.equal(torch.rand(2), expected)
    assert torch.equal(inside, expected)


def test_an_error_gives_it_back_too() -> None:
    before = torch.get_rng_state()
    try:
        with random_state_kept():
            torch.rand(2)
            raise KeyError
    except KeyError:
        pass
    assert torch.equal(torch.get_rng_state(), before)


# In a process of its own: torch warns of several devices once, and simulated ones stay.
TWO_DEVICES = """\
import pytest
import torch
from torch import nn
from course import gpu
from course.claims import claim, prove
from course.lessons.modules.layer_calls import run_of
from course.inspection.random_state import random_state_kept
from course.lessons.modules.module_explorer import built

_, device = gpu.devices(2)
state = torch.get_device_module(device).get_rng_state
before = state(1)
with random_state_kept():
    torch.rand(3, device=device)
    inside = state(1)
print(torch.equal(before, state(1)), torch.equal(before, inside))
print(prove(claim("contiguous-always-copies")).holds)
print(len(run_of(nn.Linear(1, 1), (torch.ones(1, 1),)).calls))
print(type(built("model = nn.Linear(1, 1)")).__name__)
"""


@pytest.mark.exhaustive("programs that start anew")
def test_the_state_of_a_second_device_is_kept_and_no_warning_is_told_of_it() -> None:
    command = [sys.executable, "-W", "always::UserWarning", "-c", TWO_DEVICES]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.splitlines() == ["True False", "True", "1", "Linear"]
    assert "fork_rng" not in done.stderr
