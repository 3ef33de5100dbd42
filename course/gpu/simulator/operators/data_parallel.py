"""What `torch.nn.DataParallel` asks of torch's CUDA build, for simulated devices.

`torch.nn.parallel` is Python, down to five functions of `torch._C` that a build without CUDA does
not have, and that one with CUDA ends in "Found no NVIDIA driver" where there is no GPU. They are
put there, so the real DataParallel scatters, replicates and gathers. What they
allocate is what torch/csrc/cuda/comm.cpp allocates: a batch's part that is on its device already is
a view, parameters travel flattened in buckets, and a result is gathered into one new tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import _utils

from course.gpu.simulator.devices import NAME, simulation

Tensors = list[torch.Tensor]


def register() -> None:
    """Put the functions into `torch._C` where its own are missing, or of no use without a GPU."""
    of_use = torch.cuda.is_available()
    for name, function in _FUNCTIONS.items():
        if not (of_use and hasattr(torch._C, name)):
            setattr(torch._C, name, function)


def scatter(
    tensor: torch.Tensor,
    devices: Sequence[int],
    chunk_sizes: Sequence[int] | None = None,
    dim: int = 0,
    streams: object = None,
) -> Tensors:
    """Return the parts of a tensor, each on its device.

    Args:
        tensor: On the host or any device.
        devices: The indices of the devices; with fewer rows than devices the last get nothing.
        chunk_sizes: The sizes of the parts along `dim`; equal ones by default.
        dim: The dimension that is cut.
        streams: Ignored: a simulated device has one stream.
    """
    if chunk_sizes is None:
        parts = tensor.chunk(len(devices), dim)
    else:
        parts = tensor.split_with_sizes(list(chunk_sizes), dim)
    pairs = zip(parts, devices, strict=False)
    return [part.to(_device(index), non_blocking=True) for part, index in pairs]


def gather(
    tensors: Sequence[torch.Tensor], dim: int, destination: int | None = None
) -> torch.Tensor:
    """Return tensors of several devices joined along `dim`, in one new tensor.

    Args:
        tensors: They agree in all other dimensions.
        dim: The dimension along which they are joined.
        destination: The index of the device; -1 is the host, None the current device.
    """
    dim %= tensors[0].dim()
    lengths = [tensor.size(dim) for tensor in tensors]
    size = list(tensors[0].size())
    size[dim] = sum(lengths)
    joined = torch.empty(size, dtype=tensors[0].dtype, device=_device(destination))
    for part, tensor in zip(joined.split_with_sizes(lengths, dim), tensors, strict=True):
        part.copy_(tensor)
    return joined


def broadcast(tensor: torch.Tensor, devices: Sequence[int]) -> Tensors:
    """Return the tensor on each device; where it is there already, itself."""
    return [tensor.to(_device(index), non_blocking=True) for index in devices]


def broadcast_coalesced(
    tensors: Sequence[torch.Tensor], devices: Sequence[int], buffer_size: int
) -> list[Tensors]:
    """Return the tensors on each device: themselves on the first, elsewhere views of few buffers.

    Args:
        tensors: All on the first of the devices.
        devices: The indices of the devices.
        buffer_size: The bytes that travel together at most, unless one tensor has more.

    Raises:
        RuntimeError: A tensor is elsewhere.
    """
    first = _device(devices[0])
    if any(tensor.device != first for tensor in tensors):
        raise RuntimeError(f"all tensors must be on devices[0]: {devices[0]}")
    buckets = list(_utils._take_tensors(tensors, buffer_size))
    flattened = [_utils._flatten_dense_tensors(bucket) for bucket in buckets]
    copies = [_copied(tensors, buckets, flattened, index) for index in devices[1:]]
    return [list(tensors), *copies]


def _copied(
    tensors: Sequence[torch.Tensor],
    buckets: Sequence[Sequence[torch.Tensor]],
    flattened: Sequence[torch.Tensor],
    index: int,
) -> Tensors:
    """The tensors on the device `index`, in their order; each has a version counter of its own."""
    found: Tensors = []
    for bucket, flat in zip(buckets, flattened, strict=True):
        there = flat.to(_device(index), non_blocking=True)
        found += [one.data for one in _utils._unflatten_dense_tensors(there, bucket)]
    return list(_utils._reorder_tensors_as(found, tensors))


def _no_nccl(*args: object) -> NoReturn:
    """Stand where torch looks whether it was built with NCCL, which it then asks of CUDA only."""
    raise RuntimeError("NCCL is for CUDA devices")


def _device(index: int | None) -> torch.device:
    if index == -1:
        return torch.device("cpu")
    return torch.device(NAME, simulation().current if index is None else index)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_broadcast": broadcast,
    "_broadcast_coalesced": broadcast_coalesced,
    "_gather": gather,
    "_nccl_all_reduce": _no_nccl,
    "_scatter": scatter,
}
