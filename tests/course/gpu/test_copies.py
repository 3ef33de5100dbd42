"""What arrives where: copies to and from the device, pinned memory, files, loaders, workers."""

from __future__ import annotations

import copy
import io
import os
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from course import gpu

simulated = pytest.mark.skipif(torch.cuda.is_available(), reason="a race on a real device")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int64, torch.bool])
def test_a_round_trip_changes_nothing(dtype: torch.dtype, device: torch.device) -> None:
    x = torch.arange(6).view(2, 3).t().to(dtype)
    back = x.to(device).cpu()
    assert torch.equal(back, x)
    assert back.stride() == x.stride()


def test_to_the_same_device_is_the_same_tensor(device: torch.device) -> None:
    x = torch.ones(2, device=device)
    assert x.to(device) is x
    assert x.to(device, torch.float64).dtype is torch.float64


@simulated
def test_a_pinned_batch_is_read_when_the_device_gets_to_it(device: torch.device) -> None:
    batch = torch.ones(3).pin_memory()
    moved = batch.to(device, non_blocking=True)
    batch.zero_()  # too early: the copy has not begun
    assert moved.tolist() == [0, 0, 0]


def test_a_pageable_batch_is_read_at_once(device: torch.device) -> None:
    batch = torch.ones(3)
    moved = batch.to(device, non_blocking=True)
    batch.zero_()
    assert moved.tolist() == [1, 1, 1]


@simulated
def test_a_copy_to_the_host_that_nobody_waited_for_has_not_arrived(device: torch.device) -> None:
    back = torch.ones(3, device=device).to("cpu", non_blocking=True)
    assert not torch.equal(back, torch.ones(3))
    gpu.synchronize()
    assert torch.equal(back, torch.ones(3))


def test_a_copy_to_the_host_without_waiting_is_pinned(device: torch.device) -> None:
    back = torch.ones(3, device=device).to("cpu", non_blocking=True)
    gpu.synchronize()
    assert back.is_pinned()


def test_pinning_copies_and_only_the_copy_is_pinned(device: torch.device) -> None:
    x = torch.arange(6.0).view(2, 3).t()
    pinned = x.pin_memory()
    assert (pinned.is_pinned(), x.is_pinned()) == (True, False)
    assert torch.equal(pinned, x)
    assert pinned.pin_memory() is pinned


FACTORIES: dict[str, Callable[..., torch.Tensor]] = {
    "arange": lambda **how: torch.arange(4.0, **how),
    "empty": lambda **how: torch.empty(2, 3, **how),
    "empty_like": lambda **how: torch.empty_like(torch.ones(2), **how),
    "empty_permuted": lambda **how: torch.empty_permuted((2, 3), (1, 0), **how),
    "empty_strided": lambda **how: torch.empty_strided((2,), (2,), **how),
    "eye": lambda **how: torch.eye(2, **how),
    "full": lambda **how: torch.full((2,), 1.0, **how),
    "hann_window": lambda **how: torch.hann_window(4, **how),
    "linspace": lambda **how: torch.linspace(0, 1, 3, **how),
    "new_empty": lambda **how: torch.ones(2).new_empty(3, **how),
    "new_zeros": lambda **how: torch.ones(2).new_zeros(3, **how),
    "ones": lambda **how: torch.ones(2, **how),
    "rand": lambda **how: torch.rand(2, **how),
    "randn_like": lambda **how: torch.randn_like(torch.ones(2), **how),
    "tensor": lambda **how: torch.tensor([1.0, 2.0], **how),
    "zeros": lambda **how: torch.zeros(2, dtype=torch.float64, **how),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_every_function_that_makes_tensors_makes_pinned_ones(
    device: torch.device, name: str
) -> None:
    plain, pinned = (FACTORIES[name](pin_memory=pin, requires_grad=True) for pin in (False, True))
    assert (plain.is_pinned(), pinned.is_pinned()) == (False, True)
    assert (pinned.requires_grad, pinned.is_leaf, pinned.grad_fn) == (True, True, None)
    assert (pinned.dtype, pinned.stride()) == (plain.dtype, plain.stride())
    if name not in ("rand", "randn_like") and "empty" not in name:
        assert torch.equal(pinned, plain)


def test_a_buffer_made_pinned_takes_a_copy_that_comes_later(device: torch.device) -> None:
    buffer = torch.zeros(3, pin_memory=True)
    buffer.copy_(torch.ones(3, device=device), non_blocking=True)
    before = buffer.tolist()
    gpu.synchronize()
    assert buffer.tolist() == [1, 1, 1]
    if gpu.is_simulated():  # on a real device it is a race
        assert before == [0, 0, 0]


def test_functions_that_make_tensors_stay_what_torch_and_pickle_take_them_for(
    device: torch.device,
) -> None:
    assert pickle.loads(pickle.dumps(torch.zeros)) is torch.zeros
    assert torch.empty.__name__ == "empty"
    with torch.device("meta"):
        assert torch.ones(2).device.type == "meta"
        assert torch.ones(2).new_zeros(2).device.type == "meta"


def test_only_tensors_of_the_host_can_be_pinned(device: torch.device) -> None:
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.ones(2, device=device).pin_memory()


def test_a_tensor_cannot_be_made_pinned_on_the_device(device: torch.device) -> None:
    for make in (torch.empty, torch.ones):
        with pytest.raises(RuntimeError, match="Only dense CPU tensors can be pinned"):
            make(2, device=device, pin_memory=True)


@pytest.mark.parametrize("pin", [False, True])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_gives_pinned_batches_when_told_to(
    pin: bool, workers: int, device: torch.device
) -> None:
    loader = DataLoader(torch.arange(4.0), batch_size=2, pin_memory=pin, num_workers=workers)
    batches = list(loader)
    assert [batch.is_pinned() for batch in batches] == [pin, pin]
    assert torch.cat([batch.to(device) for batch in batches]).tolist() == [0, 1, 2, 3]


class OnDevice(torch.utils.data.Dataset[torch.Tensor]):
    def __init__(self, device: torch.device) -> None:
        self.device = device

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.ones(2, device=self.device)


@pytest.mark.exhaustive("programs on the simulated GPU")
def test_a_forked_worker_cannot_use_the_device(device: torch.device) -> None:
    torch.ones(1, device=device)
    loader = DataLoader(OnDevice(device), num_workers=1, multiprocessing_context="fork")
    with pytest.raises(RuntimeError, match="Cannot re-initialize CUDA in forked subprocess"):
        next(iter(loader))


@simulated
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_plain_fork_carries_the_device_and_its_backward_pass_along(device: torch.device) -> None:
    w = torch.ones(3, device=device, requires_grad=True)
    (w * w).sum().backward()  # the parent has run backward before
    child = os.fork()
    if child == 0:
        w.grad = None
        (w * w).sum().backward()
        os._exit(0 if w.grad is not None and w.grad.tolist() == [2, 2, 2] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def saved(state: object) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return file


def test_a_saved_state_comes_back_to_the_device(device: torch.device) -> None:
    model = nn.Linear(3, 2).to(device)
    state = torch.load(saved(model.state_dict()))
    assert state["weight"].device == model.weight.device
    assert torch.equal(state["weight"], model.weight)


def test_map_location_brings_a_saved_state_to_the_host(device: torch.device) -> None:
    model = nn.Linear(3, 2).to(device)
    state = torch.load(saved(model.state_dict()), map_location="cpu")
    assert state["weight"].device.type == "cpu"
    assert torch.equal(state["weight"], model.weight.cpu())


def test_map_location_brings_a_state_of_the_host_to_the_device(device: torch.device) -> None:
    state = torch.load(saved(nn.Linear(3, 2).state_dict()), map_location=device)
    assert state["weight"].device.type == device.type


@simulated
def test_where_the_device_is_unknown_a_saved_state_needs_map_location(
    device: torch.device, run: Callable[..., str], tmp_path: object
) -> None:
    path = f"{tmp_path}/state.pt"
    torch.save(torch.ones(2, device=device), path)
    script = f"""
        import torch
        try: torch.load({path!r})
        except RuntimeError as error: print("tagged with sim:0" in str(error))
        print(torch.load({path!r}, map_location="cpu").tolist())
    """
    assert run(script).split("\n")[:2] == ["True", "[1.0, 1.0]"]


def test_a_view_saved_with_its_base_shares_storage_when_loaded(device: torch.device) -> None:
    x = torch.arange(4.0, device=device)
    base, view = torch.load(saved([x, x[2:]]))
    base.zero_()
    assert view.tolist() == [0, 0]


def test_a_storage_can_be_made_and_cloned_on_the_device(device: torch.device) -> None:
    storage = torch.UntypedStorage(8, device=device)
    assert (storage.device.type, storage.nbytes()) == (device.type, 8)
    clone = torch.ones(2, device=device).untyped_storage().clone()
    assert torch.empty(0, device=device).set_(clone, 0, (2,)).tolist() == [1, 1]


def test_copying_and_pickling_a_model_keep_it_on_the_device(device: torch.device) -> None:
    model = nn.Linear(3, 2).to(device)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert torch.equal(other.weight, model.weight)
        assert other.weight.data_ptr() != model.weight.data_ptr()


def test_out_grows_to_the_size_of_the_result(device: torch.device) -> None:
    out = torch.empty(0, device=device)
    torch.add(torch.ones(3, device=device), 1, out=out)
    assert out.tolist() == [2, 2, 2]


def test_a_lazy_conjugate_is_resolved_on_the_way(device: torch.device) -> None:
    x = torch.tensor([1 + 2j])
    assert x.to(device).conj().cpu().tolist() == x.conj().to(device).tolist() == [1 - 2j]
    assert x.to(device).conj().imag.tolist() == [-2]


def test_a_number_where_a_tensor_is_wanted(device: torch.device) -> None:
    x = torch.arange(4, device=device)
    assert (x.remainder(3).tolist(), torch.take_along_dim(x, x % 2).tolist()) == (
        [0, 1, 2, 0],
        [0, 1, 0, 1],
    )


def test_a_view_is_written_through(device: torch.device) -> None:
    x = torch.zeros(2, 3, device=device)
    x.t()[1].add_(1)
    x[0, :2] = 5
    assert x.tolist() == [[5, 5, 0], [0, 1, 0]]
    assert x._version == 2


def test_an_address_is_a_multiple_of_512(device: torch.device) -> None:
    kept = [torch.ones(n, device=device) for n in (1, 3, 1000)]
    assert [x.data_ptr() % 512 for x in kept] == [0, 0, 0]


def test_copies_between_devices(two: tuple[torch.device, torch.device]) -> None:
    x = torch.arange(3.0, device=two[0])
    y = x.to(two[1])
    assert (y.device.index, y.tolist()) == (1, [0, 1, 2])
