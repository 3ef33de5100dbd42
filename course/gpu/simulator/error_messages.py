"""CUDA's error messages, word for word, with the numbers of the simulated device.

Each function names where torch writes the message. The words are those of torch 2.13.0 for CUDA 13:
they were compared with the texts inside its libraries.
"""

from __future__ import annotations

import torch

from course.gpu.simulator.allocator.blocks import Shortage
from course.gpu.simulator.allocator.sizes import format_size


def out_of_memory(shortage: Shortage, index: int) -> str:
    """Return the message of `DeviceCachingAllocator::malloc` in CUDACachingAllocator.cpp."""
    allowed = shortage.limit_nbytes
    return (
        f"CUDA out of memory. Tried to allocate {format_size(shortage.tried_nbytes)}. GPU {index} "
        f"has a total capacity of {format_size(shortage.total_nbytes)} of which "
        f"{format_size(shortage.free_nbytes)} is free. Including non-PyTorch memory, this process "
        f"has {format_size(shortage.used_nbytes)} memory in use. "
        + (f"{format_size(allowed)} allowed; " if allowed is not None else "")
        + f"Of the allocated memory {format_size(shortage.allocated_nbytes)} is allocated by "
        f"PyTorch, and {format_size(shortage.reserved_nbytes - shortage.allocated_nbytes)} is "
        "reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
        "setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See "
        "documentation for Memory Management  (https://docs.pytorch.org/docs/stable/notes/cuda.html"
        "#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
    )


def device_assert(*, blocking: bool = False) -> str:
    """Return the message of a failed assertion in a kernel (c10/cuda/CUDAException.cpp).

    With blocking launches the traceback is right, and the sentences that doubt it are left out.
    """
    doubt = (
        "CUDA kernel errors might be asynchronously reported at some other API call, so the "
        "stacktrace below might be incorrect.\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
    )
    return (
        "CUDA error: device-side assert triggered\n"
        "Search for `cudaErrorAssert' in https://docs.nvidia.com/cuda/cuda-runtime-api/"
        f"group__CUDART__TYPES.html for more information.\n{'' if blocking else doubt}"
    )


def bad_fork() -> str:
    """Return the message of `_lazy_init` in torch/cuda/__init__.py."""
    return (
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
        "multiprocessing, you must use the 'spawn' start method"
    )


def invalid_ordinal() -> str:
    """Return the message for a device that is not there (c10/cuda/CUDAException.cpp)."""
    return (
        "CUDA error: invalid device ordinal\n"
        "GPU device may be out of range, do you have enough GPUs?\n"
        "For more detailed error information, run with CUDA_LOG_FILE=stderr\n"
    )


def two_devices(first: torch.device, second: torch.device) -> str:
    """Return the message of `TensorIteratorBase::compute_types` in TensorIterator.cpp."""
    return (
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{first} and {second}!"
    )


def other_device(name: str, odd: torch.device, common: torch.device, operator: str) -> str:
    """Return the message of `common_device_check_failure` (ATen/core/op_registration)."""
    return (
        f"Expected all tensors to be on the same device, but got {name} is on {odd}, different "
        f"from other tensors on {common} (when checking argument in method {_method(operator)})"
    )


def index_elsewhere(indexed: torch.device) -> str:
    """Return the message of `index` for indices on a device (TensorAdvancedIndexing.cpp)."""
    return (
        f"indices should be either on cpu or on the same device as the indexed tensor ({indexed})"
    )


def _method(operator: str) -> str:
    """Return what torchgen calls the wrapper of a kernel (torchgen/dest/register_dispatch_key.py).

    A structured kernel, which reaches a device as its `out` overload, is named after the operator
    alone, every other one after overload and operator: `wrapper_CUDA_addmm`,
    `wrapper_CUDA__index_select`.
    """
    name, _, overload = operator.partition(".")
    if overload == "out":
        return f"wrapper_CUDA_{name}"
    if overload.endswith("_out"):
        return f"wrapper_CUDA_{name}_{overload.removesuffix('_out')}"
    return f"wrapper_CUDA_{'' if overload == 'default' else overload}_{name}"
