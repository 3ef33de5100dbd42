"""Several devices: each keeps its own books, and DataParallel runs on them as it is."""

from __future__ import annotations

import copy
import gc
import threading
import warnings
from collections.abc import Callable

import pytest
import torch
from torch import nn

from course import gpu
from course.gpu.simulator.operators import data_parallel

simulated = pytest.mark.skipif(torch.cuda.is_available(), reason="the devices here are real")
Two = tuple[torch.device, torch.device]


def test_devices_gives_that_many_each_with_its_index(device: torch.device, two: Two) -> None:
    assert gpu.devices(2) == two
    assert [one.index for one in gpu.devices(1)] == [0]
    with pytest.raises(ValueError, match=r"devices\(0\): ask for one or more"):
        gpu.devices(0)


@simulated
def test_a_block_over_devices_gives_the_others_back(device: torch.device) -> None:
    with gpu.devices(3) as (_, _, third):
        x = torch.ones(2, device=third)
        assert (gpu.device_count(), x.device.index) == (3, 2)
        del x
    assert gpu.device_count() == 1
    with pytest.raises(torch.AcceleratorError, match="invalid device ordinal"):
        torch.ones(2, device="sim:2")


@simulated
def test_a_device_with_tensors_stays_after_the_block(device: torch.device) -> None:
    with gpu.devices(2) as (_, second):
        x = torch.ones(2, device=second)
    assert gpu.device_count() == 2
    assert x.tolist() == [1, 1]


def no_driver(*args: object) -> None:
    """What these functions are of a CUDA build without a GPU."""
    raise RuntimeError("Found no NVIDIA driver on your system")


@simulated
def test_data_parallel_runs_on_a_cuda_build_without_a_gpu(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("_broadcast_coalesced", "_gather", "_scatter"):
        monkeypatch.setattr(torch._C, name, no_driver)
    data_parallel.register()
    model = nn.DataParallel(nn.Linear(1, 1).to(two[0]), device_ids=[0, 1])
    assert model(torch.ones(3, 1, device=two[0])).shape == (3, 1)


def test_a_real_gpus_own_functions_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch._C, "_scatter", no_driver, raising=False)
    data_parallel.register()
    assert torch._C._scatter is no_driver


def test_too_few_real_devices_are_an_error_that_counts_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(RuntimeError, match="2 devices are asked for, 1 are here"):
        gpu.devices(2)
    with gpu.devices(1) as found:
        assert found == (torch.device("cuda:0"),)


def test_real_devices_are_the_first_ones_and_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    with gpu.devices(2) as found:
        assert found == (torch.device("cuda:0"), torch.device("cuda:1"))
    assert gpu.device_count() == 4


def test_each_device_counts_its_own_memory(two: Two) -> None:
    before = [gpu.memory_allocated(one) for one in two]
    x = torch.ones(1 << 20, device=two[1])
    assert gpu.memory_allocated(two[1]) - before[1] == 4 << 20
    assert gpu.memory_allocated(two[0]) == before[0]
    gpu.reset_peak_memory_stats(two[0])
    assert gpu.max_memory_allocated(two[1]) >= 4 << 20
    del x
    assert gpu.memory_allocated(1) == before[1]


@simulated
def test_each_device_has_a_capacity_of_its_own(two: Two) -> None:
    gpu.set_capacity(2 << 20, two[1])
    x = torch.ones(1 << 20, device=two[0])
    with pytest.raises(gpu.OutOfMemoryError, match="GPU 1 has a total capacity"):
        x.to(two[1])
    assert x.device == two[0]


def test_use_makes_a_device_current_and_gives_it_back(two: Two) -> None:
    assert gpu.current_device() == 0
    with gpu.use(two[1]):
        assert gpu.current_device() == 1
        x = torch.ones(1, device=gpu.device())
        with gpu.use(0):
            assert torch.ones(1, device=gpu.device()).device == two[0]
    assert x.device == two[1]
    assert gpu.current_device() == 0
    with pytest.raises(RuntimeError, match="invalid device ordinal"), gpu.use(99):
        pass
    assert gpu.current_device() == 0


def test_each_thread_has_a_current_device(two: Two) -> None:
    seen: list[int] = []

    def other() -> None:
        seen.append(gpu.current_device())

    with gpu.use(1):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [0]


OPERATORS: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "add": lambda a, b: a + b,
    "add_": lambda a, b: a.add_(b),
    "cat": lambda a, b: torch.cat([a, b]),
    "mm": lambda a, b: a @ b,
    "linear": lambda a, b: nn.functional.linear(a, b, b[0]),
    "where": lambda a, b: torch.where(a > 0, a, b),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_tensors_of_two_devices_do_not_meet(name: str, two: Two) -> None:
    a, b = torch.ones(3, 3, device=two[0]), torch.ones(3, 3, device=two[1])
    kind = two[0].type
    with pytest.raises(
        RuntimeError, match="Expected all tensors to be on the same device, but"
    ) as told:
        OPERATORS[name](a, b)
    assert f"{kind}:1" in str(told.value)
    assert f"{kind}:0" in str(told.value)
    OPERATORS[name](a, b.to(two[0]))


def test_a_copy_may_cross_and_gradients_come_back(two: Two) -> None:
    x = torch.arange(3.0, device=two[0], requires_grad=True)
    hidden = (x * 2).to(two[1])
    weight = torch.full((3,), 5.0, device=two[1], requires_grad=True)
    (hidden * weight).sum().backward()
    assert x.grad is not None
    assert weight.grad is not None
    assert (x.grad.device, weight.grad.device) == two
    assert x.grad.tolist() == [10, 10, 10]
    other = torch.zeros(3, device=two[0]).copy_(weight)
    assert (other.device, other.tolist()) == (two[0], [5, 5, 5])


def _model() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))


class _Seen(nn.Module):
    """Takes down where it runs and how much of the batch it gets."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner, self.rows = inner, dict[int, int]()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert gpu.current_device() == x.device.index
        self.rows[x.device.index] = len(x)  # replicas share the dict
        found: torch.Tensor = self.inner(x)
        assert not list(self.inner.parameters()) or x.device.index == 0 or found.is_leaf is False
        return found


@pytest.mark.parametrize("on_host", [True, False])
def test_data_parallel_gives_what_one_device_gives(on_host: bool, two: Two) -> None:
    batch, plain = torch.randn(7, 4), _model()
    seen = _Seen(copy.deepcopy(plain).to(two[0]))
    parallel = nn.DataParallel(seen, device_ids=[0, 1])
    x = (batch if on_host else batch.to(two[0])).clone().requires_grad_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Using -1 to represent CPU", FutureWarning)
        out = parallel(x)
        out.square().sum().backward()
    expected_x = batch.clone().requires_grad_()
    plain(expected_x).square().sum().backward()
    assert (out.device, seen.rows) == (two[0], {0: 4, 1: 3})
    assert x.grad is not None
    torch.testing.assert_close(x.grad.cpu(), expected_x.grad)
    for mine, theirs in zip(seen.parameters(), plain.parameters(), strict=True):
        assert mine.grad is not None
        assert mine.grad.device == two[0]
        torch.testing.assert_close(mine.grad.cpu(), theirs.grad)


def test_a_replica_lives_for_one_forward_pass(two: Two) -> None:
    parallel = nn.DataParallel(_model().to(two[0]), device_ids=[0, 1])
    with torch.no_grad():
        parallel(torch.randn(4, 4))
        gc.collect()
        before = gpu.memory_allocated(two[1])
        gpu.reset_peak_memory_stats(two[1])
        parallel(torch.randn(4, 4))
    gc.collect()
    assert gpu.memory_allocated(two[1]) == before
    assert gpu.max_memory_allocated(two[1]) > before


def test_fewer_rows_than_devices_leave_one_idle(two: Two) -> None:
    seen = _Seen(_model().to(two[0]))
    out = nn.DataParallel(seen, device_ids=[0, 1])(torch.randn(1, 4))
    assert (out.shape, seen.rows) == ((1, 2), {0: 1})


def test_a_model_that_is_not_on_the_first_device_is_refused(two: Two) -> None:
    parallel = nn.DataParallel(_model(), device_ids=[0, 1])
    with pytest.raises(RuntimeError, match="module must have its parameters and buffers on device"):
        parallel(torch.randn(4, 4))


def test_an_error_in_a_replica_names_its_device(two: Two) -> None:
    parallel = nn.DataParallel(_model().to(two[0]), device_ids=[0, 1])
    with pytest.raises(RuntimeError, match="Caught RuntimeError in replica 0 on device 0"):
        parallel(torch.randn(4, 5))


def test_scatter_and_gather_are_each_others_way_back(two: Two) -> None:
    x = torch.arange(10.0).view(5, 2).to(two[0])
    parts = nn.parallel.comm.scatter(x, [0, 1], chunk_sizes=[2, 3])
    assert [(one.device, len(one)) for one in parts] == [(two[0], 2), (two[1], 3)]
    assert parts[0].data_ptr() == x.data_ptr()  # it was there already: a view
    for destination in (0, 1, "cpu"):
        back = nn.parallel.comm.gather(parts, destination=destination)
        assert back.tolist() == x.tolist()
    sideways = nn.parallel.comm.scatter(x, [0, 1], dim=1)
    assert nn.parallel.comm.gather(sideways, dim=-1).tolist() == x.tolist()


def test_broadcast_brings_parameters_in_one_buffer(two: Two) -> None:
    tensors = [torch.full((3,), float(i), device=two[0]) for i in range(3)]
    here, there = nn.parallel.comm.broadcast_coalesced(tensors, [0, 1])
    assert here[0] is tensors[0]
    assert [one.tolist() for one in there] == [one.tolist() for one in tensors]
    assert len({one.untyped_storage().data_ptr() for one in there}) == 1
    (own, copied) = nn.parallel.comm.broadcast(tensors[1], [0, 1])
    assert (own.device, copied.device) == two


@simulated
def test_what_is_broadcast_starts_on_the_first_device(two: Two) -> None:
    with pytest.raises(RuntimeError, match=r"all tensors must be on devices\[0\]: 1"):
        nn.parallel.comm.broadcast_coalesced([torch.ones(1, device=two[0])], [1, 0])
    with pytest.raises(RuntimeError, match="NCCL is for CUDA devices"):
        torch._C._nccl_all_reduce()  # type: ignore[attr-defined]
