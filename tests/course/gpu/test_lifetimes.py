"""Memory is in use exactly as long as something holds the storage."""

from __future__ import annotations

import gc
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from course import gpu
from course.gpu.simulator.devices import simulation

MIB = 1 << 20
Used = Callable[[], int]


def ones(device: torch.device, mib: int = 1) -> torch.Tensor:
    return torch.ones(mib * MIB // 4, device=device)


def test_del_frees_what_only_the_name_held(device: torch.device, used: Used) -> None:
    x = ones(device)
    assert used() == MIB
    del x
    assert used() == 0


def test_a_view_keeps_the_whole_storage(device: torch.device, used: Used) -> None:
    x = ones(device, 8)
    first = x[:1]
    del x
    assert used() == 8 * MIB
    del first
    assert used() == 0


def test_detach_shares_and_clone_does_not(device: torch.device, used: Used) -> None:
    x = ones(device)
    y = x.detach()
    assert used() == MIB
    z = x.clone()
    assert used() == 2 * MIB
    del x, y, z


def test_a_list_keeps_its_tensors(device: torch.device, used: Used) -> None:
    kept = [ones(device) for _ in range(3)]
    assert used() == 3 * MIB
    kept.clear()
    assert used() == 0


def test_the_graph_keeps_what_backward_needs(device: torch.device, used: Used) -> None:
    x = ones(device).requires_grad_()
    y = x.exp().sum()  # exp keeps its result
    assert used() == 2 * MIB + 512
    y.backward()
    assert used() == 2 * MIB + 512  # the gradient came, the result of exp went
    del x, y


def test_without_grad_nothing_is_kept_for_backward(device: torch.device, used: Used) -> None:
    x = ones(device).requires_grad_()
    with torch.no_grad():
        y = x.exp().sum()
    assert used() == MIB + 512
    del x, y


def test_a_sum_of_losses_keeps_every_graph_and_items_keep_none(
    device: torch.device, used: Used
) -> None:
    x = ones(device).requires_grad_()
    total = sum(x.exp().sum() for _ in range(3))
    assert used() > 4 * MIB
    total = sum(x.exp().sum().item() for _ in range(3))
    assert used() == MIB
    assert total > 0


def test_a_forward_hook_that_collects_keeps_what_it_collects(
    device: torch.device, used: Used
) -> None:
    kept: list[torch.Tensor] = []
    layer = nn.Identity()
    layer.register_forward_hook(lambda module, inputs, output: kept.append(output * 1))
    layer(ones(device))
    assert used() == MIB
    kept.clear()
    assert used() == 0


def test_the_traceback_of_an_error_keeps_the_frames_and_their_tensors(
    device: torch.device, used: Used
) -> None:
    def step() -> None:
        x = ones(device, 4)
        raise ValueError(x.shape)

    try:
        step()
    except ValueError as caught:
        error = caught
    assert used() == 4 * MIB
    del error
    assert used() == 0


def test_an_error_keeps_no_argument_that_the_caller_does_not_hold(
    device: torch.device, used: Used
) -> None:
    gpu.set_capacity(20 * MIB)
    with pytest.raises(gpu.OutOfMemoryError) as raised:
        ones(device, 4).expand(8, -1).exp()  # the argument has no name
    assert used() == 0
    assert raised.traceback


def test_a_reference_cycle_keeps_a_tensor_until_it_is_collected(
    device: torch.device, used: Used
) -> None:
    gc.disable()
    holder: list[object] = [ones(device)]
    holder.append(holder)
    del holder
    assert used() == MIB
    gc.enable()
    gc.collect()
    assert used() == 0


def test_a_step_of_adam_leaves_twice_the_parameters_behind(
    device: torch.device, used: Used
) -> None:
    model = nn.Linear(512, 512, bias=False).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 512, device=device)).sum().backward()
    before = used()
    optimizer.step()
    assert used() - before == 2 * MIB


def test_gradients_set_to_none_are_freed(device: torch.device, used: Used) -> None:
    model = nn.Linear(512, 512, bias=False).to(device)
    model(torch.ones(1, 512, device=device)).sum().backward()
    assert used() == 2 * MIB
    model.zero_grad(set_to_none=True)
    assert used() == MIB


def test_an_empty_tensor_takes_no_block(device: torch.device, used: Used) -> None:
    x = torch.empty(0, 5, device=device)
    assert (used(), x.device.type) == (0, device.type)


def test_swapping_a_tensor_for_its_copy_on_the_host_frees_it(
    device: torch.device, used: Used
) -> None:
    x = ones(device)
    x = x.cpu()
    assert used() == 0
    assert sys.getrefcount(x) == 2


def test_two_devices_have_books_of_their_own(two: tuple[torch.device, torch.device]) -> None:
    x = torch.ones(MIB // 4, device=two[1])
    assert (gpu.memory_allocated(0), gpu.memory_allocated(1)) == (0, MIB)
    del x


def test_an_out_of_memory_error_is_part_of_no_cycle(device: torch.device) -> None:
    def step() -> torch.Tensor:
        batch = torch.empty(40 * MIB, dtype=torch.uint8, device=device)
        return torch.empty_like(batch)

    gpu.set_capacity(gpu.memory_reserved() + 64 * MIB)
    before = gpu.memory_allocated()
    gc.disable()
    try:
        with pytest.raises(torch.OutOfMemoryError) as raised:
            step()
        del raised
        assert gpu.memory_allocated() == before
    finally:
        gc.enable()


@pytest.mark.exhaustive("programs on the simulated GPU")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells its size there")
@pytest.mark.skipif(torch.cuda.is_available(), reason="the memory of a real device is elsewhere")
def test_large_tensors_that_come_and_go_do_not_make_the_process_grow(
    run: Callable[..., str],
) -> None:
    script = """
        import random
        import torch
        from course import gpu

        def size():
            lines = open("/proc/self/status").read().splitlines()
            return int(next(line for line in lines if line.startswith("VmSize")).split()[1]) >> 10

        random.seed(1)
        device, large, small = gpu.device(), [], []
        torch.ones(1, device=device)
        before = size()
        for _ in range(200):
            nbytes = random.randint(9, 32) << 20
            large.append(torch.empty(nbytes, dtype=torch.uint8, device=device))
            small.append(torch.ones(1000, device=device))
            if len(large) > 6:
                del large[random.randrange(6)]
        del large
        print(size() - before)
    """
    assert int(run(script)) < 60  # MiB; hundreds where freed memory stays in the heap


SNAPSHOT = "course.gpu.simulator.allocator.snapshot"


@pytest.mark.parametrize(
    ("walk", "place"),
    [
        (gpu.memory_snapshot, f"{SNAPSHOT}._segment"),
        (gpu.snapshot, f"{SNAPSHOT}._entry"),
        (gpu.empty_cache, "course.gpu.simulator.allocator.caching.CachingAllocator.release_cached"),
    ],
)
def test_what_the_collector_frees_in_the_middle_of_a_walk_is_freed_after_it(
    walk: Callable[[], object], place: str, used: Used, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not gpu.is_simulated():
        pytest.skip("it looks into the simulation")
    kept, seen = [ones(gpu.device()) for _ in range(4)], list[int]()
    there = pkgutil.resolve_name(place)

    def step(*args: Any) -> Any:
        """Let a tensor go, as the collector may at any step, and go on."""
        kept.clear()
        seen.append(simulation().device(0).allocator.allocated)
        return there(*args)

    monkeypatch.setattr(place, step)
    walk()
    assert set(seen) == {4 * MIB}
    assert used() == 0
