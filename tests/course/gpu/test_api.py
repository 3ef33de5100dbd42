"""The public words: torch.cuda's where there is a GPU, the simulation's elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from course import gpu

simulated = pytest.mark.skipif(torch.cuda.is_available(), reason="the device here is a real one")
SHARED = [
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "synchronize",
    "manual_seed",
    "device_count",
]


@pytest.mark.parametrize("name", SHARED)
def test_a_word_means_torch_cudas_function_where_there_is_a_gpu(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, name, lambda *args: asked.append(args) or {})
    word = getattr(gpu, name)
    needed = [p for p in inspect.signature(word).parameters.values() if p.default is p.empty]
    word(*(1 for _ in needed))
    assert len(asked) == 1


def test_the_device_is_cuda_where_there_is_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert (gpu.device(), gpu.device(1)) == (torch.device("cuda"), torch.device("cuda:1"))
    assert not gpu.is_simulated()


def test_every_public_name_exists_and_says_what_it_is_for() -> None:
    assert sorted(gpu.__all__) == gpu.__all__
    for name in gpu.__all__:
        assert hasattr(gpu, name), name
    functions = [getattr(gpu, name) for name in gpu.__all__ if callable(getattr(gpu, name))]
    assert all(function.__doc__ for function in functions)


@simulated
def test_a_linear_layer_takes_what_it_takes_on_cuda(device: torch.device) -> None:
    model = nn.Linear(1000, 1000).to(device)
    assert gpu.memory_allocated() == 4_000_256 + 4096  # weight and bias, rounded up
    assert gpu.memory_reserved() == (20 + 2) * (1 << 20)
    assert model.weight.device == torch.device("sim", 0)


def test_peaks_stay_and_can_be_reset(device: torch.device) -> None:
    torch.ones(1 << 20, device=device)
    assert (gpu.memory_allocated(), gpu.max_memory_allocated()) == (0, 4 << 20)
    gpu.reset_peak_memory_stats()
    assert gpu.max_memory_allocated() == 0
    assert gpu.max_memory_reserved() == 20 << 20


@simulated
def test_free_memory_of_the_device_falls_with_what_is_reserved(device: torch.device) -> None:
    free, total = gpu.mem_get_info()
    x = torch.ones(10, device=device)
    assert gpu.mem_get_info() == (free - (2 << 20), total)
    assert total - free > 0  # the driver's part
    del x


def test_a_snapshot_shows_the_tensor_at_its_address(device: torch.device) -> None:
    x = torch.ones(1000, device=device)
    used = [b for s in gpu.memory_snapshot() for b in s["blocks"] if b["state"] != "inactive"]
    found = {b["address"]: b for b in used}[x.data_ptr()]
    assert (found["size"], found["requested_size"]) == (4096, 4000)


def test_history_names_who_asked(device: torch.device) -> None:
    gpu.record_memory_history()
    x = torch.ones(1000, device=device)
    entry = [e for e in gpu.snapshot()["device_traces"][0] if e["action"] == "alloc"][-1]
    assert any(frame["name"] == "test_history_names_who_asked" for frame in entry["frames"])
    gpu.record_memory_history(False)
    del x


def test_a_device_has_random_numbers_of_its_own(device: torch.device) -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    torch.rand(3, device=device)
    nn.functional.dropout(torch.ones(9, device=device))
    assert torch.equal(torch.rand(3), expected)


def test_the_same_seed_gives_the_same_numbers(device: torch.device) -> None:
    draws = []
    for _ in range(2):
        gpu.manual_seed(5)
        draws.append(nn.functional.dropout(torch.rand(9, device=device)).tolist())
    assert draws[0] == draws[1]


def test_a_generator_of_ones_own_leaves_the_devices_alone(device: torch.device) -> None:
    gpu.manual_seed(1)
    first = torch.rand(3, device=device)
    gpu.manual_seed(1)
    torch.rand(3, device=device, generator=gpu.Generator(device).manual_seed(7))
    assert torch.equal(torch.rand(3, device=device), first)


@simulated
def test_simulated_devices_come_and_go_but_not_with_memory_in_use(
    two: tuple[torch.device, torch.device],
) -> None:
    assert gpu.device_count() == 2
    x = torch.ones(1, device=two[1])
    with pytest.raises(ValueError, match=r"cannot have 1 devices: memory is in use on \[1\]"):
        gpu.set_device_count(1)
    del x
    gpu.set_device_count(1)
    assert gpu.device_count() == 1


@simulated
def test_one_device_lets_torch_fork_its_generators_in_silence(device: torch.device) -> None:
    gpu.manual_seed(3)
    # Older versions fork CUDA's generators unless another device is named.
    takes_any = inspect.signature(torch.random.fork_rng).parameters["device_type"].default is None
    with torch.random.fork_rng(**({} if takes_any else {"device_type": device.type})):
        torch.rand(3, device=device)
    inside = torch.rand(3, device=device)
    gpu.manual_seed(3)
    assert torch.equal(torch.rand(3, device=device), inside)


@simulated
def test_torch_accelerator_knows_the_device(device: torch.device) -> None:
    x = torch.ones(10, device=device)
    assert torch.accelerator.current_accelerator() == torch.device("sim")
    assert torch.accelerator.device_count() == gpu.device_count()
    assert torch.accelerator.memory_allocated() == gpu.memory_allocated() == 512
    torch.accelerator.synchronize()
    del x


@simulated
def test_launch_blocking_is_for_the_environment_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(RuntimeError, match="Set it to 1 in the environment"):
        gpu.set_launch_blocking(True)
    with pytest.raises(RuntimeError, match="restart the kernel"):
        gpu.restart()


@pytest.mark.exhaustive("programs on the simulated GPU")
@simulated
def test_nothing_in_torch_changes_before_the_device_is_asked_for(run: Callable[..., str]) -> None:
    script = """
        import torch
        before = [dict(vars(torch)), dict(vars(torch.accelerator)), dict(vars(torch.Tensor))]
        import course
        from course import gpu
        gpu.memory_allocated(), gpu.is_simulated()
        after = [dict(vars(torch)), dict(vars(torch.accelerator)), dict(vars(torch.Tensor))]
        print([{k for k in b if b[k] is not a.get(k, a)} for a, b in zip(before, after)])
        print(torch.accelerator.is_available(), torch._C._get_privateuse1_backend_name())
    """
    assert run(script).split("\n")[:2] == ["[set(), set(), set()]", "False privateuseone"]


@pytest.mark.exhaustive("programs on the simulated GPU")
@simulated
def test_the_script_of_the_readme_runs_out_of_memory_and_recovers(run: Callable[..., str]) -> None:
    script = """
        import torch
        from torch import nn
        from course import gpu

        device = gpu.device()
        gpu.set_capacity(256 << 20)
        model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 10)).to(device)
        optimizer = torch.optim.Adam(model.parameters())

        def step(size):
            batch, labels = torch.randn(size, 256), torch.randint(10, (size,))
            loss = nn.functional.cross_entropy(model(batch.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item()

        size = 1 << 17
        while True:
            try:
                print(size, step(size) > 0)
                break
            except gpu.OutOfMemoryError as error:
                print(str(error)[:19])
            gpu.empty_cache()
            size //= 2
    """
    lines = run(script).strip().split("\n")
    assert lines[0] == "CUDA out of memory."
    assert lines[-1].endswith("True")
