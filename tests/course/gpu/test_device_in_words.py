"""A notebook says in one sentence which device it runs on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from course.gpu import device_in_words


def test_without_cuda_it_says_that_the_device_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_in_words().startswith("This notebook runs on a simulated device: PyTorch sees no")


def test_with_cuda_it_names_the_gpu_and_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Tesla T4")
    about = SimpleNamespace(total_memory=15 * 2**30)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: about)
    assert device_in_words() == ("This notebook runs on cuda: Tesla T4 with 15 GiB of memory.")


@pytest.mark.cuda
def test_on_a_gpu_it_names_this_one() -> None:
    assert torch.cuda.get_device_name() in device_in_words()
