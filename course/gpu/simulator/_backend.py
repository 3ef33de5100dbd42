"""The only module that touches torch's experimental backend API.

It knows four things about torch, and `tests/course/gpu/simulator/test_backend.py` tries each:

1. `_setup_privateuseone_for_python_backend` registers a device type under a name of our choice.
2. A fallback for the dispatch key PrivateUse1 receives every operator on such a device.
3. DLPack makes a tensor of that device over any address, so its *storage* belongs to torch: views,
   autograd and saved tensors share it, and torch itself knows when the last of them is gone.
4. The kernels that only write sizes and strides (`as_strided`, `view`, `set_`) do not care about
   the device: the CPU's are called by redispatching.

The address of a simulated tensor is a number of the allocator model; nothing lies behind it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.utils import backend_registration

from course.gpu.simulator._guard import stop_calling_python

aten = torch.ops.aten
Operator = torch._ops.OpOverload
Kernel = Callable[..., Any]

_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_KEY = "PrivateUse1"

# What these write is the tensor's size, stride and offset, never its elements.
METADATA_ONLY = frozenset(
    {
        aten.as_strided.default,
        aten.view.default,
        aten._reshape_alias.default,
        aten.unfold.default,
        aten.view_as_real.default,
        aten.view_as_complex.default,
        aten.set_.source_Storage_storage_offset,
        aten.set_.source_Storage,
        aten.set_.source_Tensor,
    }
)


class _DLDevice(ctypes.Structure):
    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class _DLDataType(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", _DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _DLManagedTensor(ctypes.Structure):
    """`DLManagedTensor` of DLPack 0.8, without a deleter: the storage's holder does that work."""

    _fields_ = (
        ("dl_tensor", _DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


_EXTENSION_DEVICE = 12  # kDLExtDev, which torch maps to PrivateUse1
_BYTES = (1, 8)  # unsigned integers of 8 bits

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)

# torch copies address and sizes out of this structure, but keeps its address and looks for a
# deleter there when the storage goes. One structure for all, which is never freed, serves that.
_shape, _stride = (ctypes.c_int64 * 1)(0), (ctypes.c_int64 * 1)(1)
_managed = _DLManagedTensor(
    _DLTensor(0, _DLDevice(_EXTENSION_DEVICE, 0), 1, _DLDataType(*_BYTES, 1), _shape, _stride, 0)
)
_managed_at = ctypes.addressof(_managed)  # once: to ask for an address is audited
_managed_lock = threading.Lock()

# The same for whole tensors: their kind of number and bits in DLPack, and room for their sizes.
_NUMBERS: dict[torch.dtype, tuple[int, int]] = {
    torch.uint8: (1, 8),
    torch.bool: (6, 8),
    torch.int8: (0, 8),
    torch.int16: (0, 16),
    torch.int32: (0, 32),
    torch.int64: (0, 64),
    torch.float16: (2, 16),
    torch.float32: (2, 32),
    torch.float64: (2, 64),
}
_MOST_DIMS = 8
_sizes, _strides = (ctypes.c_int64 * _MOST_DIMS)(), (ctypes.c_int64 * _MOST_DIMS)()
_managed_tensor = _DLManagedTensor(
    _DLTensor(0, _DLDevice(_EXTENSION_DEVICE, 0), 0, _DLDataType(0, 0, 1), _sizes, _strides, 0)
)
_managed_tensor_at = ctypes.addressof(_managed_tensor)


class Hooks(torch._C._acc.PrivateUse1Hooks):
    """What torch asks about the device type before it uses it."""

    def is_available(self) -> bool:
        """Return True: a simulation needs no hardware."""
        return True

    def is_built(self) -> bool:
        """Return True: a simulation needs no compiled part."""
        return True

    def has_primary_context(self, device_index: int) -> bool:
        """Return True: there is no context to create first."""
        return True


class Guard(torch._C._acc.DeviceGuard):
    """Tells torch which kind of device this is."""

    def type_(self) -> Any:
        """Return the kind."""
        return torch._C._autograd.DeviceType.PrivateUse1


def register(
    name: str, module: object, kernel: Kernel, named: Sequence[str]
) -> list[torch.library.Library]:
    """Register the device type `name`; `kernel(operator, *args, **kwargs)` runs its operators.

    The operators `named` have a kernel for every device, which the fallback would not replace.
    The libraries returned must be kept: torch withdraws the kernels with them.
    """
    # The engine starts a thread for each device at the first backward pass of a process, and no
    # fork of a process with such threads can run backward; the grader forks submissions. So let
    # the first backward pass come before there is a device.
    torch.zeros((), requires_grad=True).backward()
    backend_registration._setup_privateuseone_for_python_backend(
        name, backend_module=module, hook=Hooks(), device_guard=(guard := Guard())
    )
    stop_calling_python(guard)
    # Run the backward pass in the thread that asked for it, as on the CPU.
    torch._C._set_multithreading_enabled(False)
    # Build `torch.tensor(data, device=…)` on the CPU and copy it then. Otherwise torch makes the
    # copy where modes are excluded, and under a TorchDispatchMode (`observe`) finds no kernel.
    torch._C._set_only_lift_cpu_tensors(True)
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(kernel, _KEY)
    explicit = torch.library.Library("aten", "IMPL", _KEY)
    for operator in map(operator_named, named):
        explicit.impl(operator, partial(kernel, operator))
    return [everything, explicit, *(_copies_below(key) for key in ("Conjugate", "Negative"))]


def _copies_below(key: str) -> torch.library.Library:
    """Keep copies from a dispatch key that resolves lazy tensors by copying, without end."""
    library = torch.library.Library("aten", "IMPL", key)
    library.impl("_copy_from", torch.library.fallthrough_kernel)
    return library


def operator_named(name: str) -> Operator:
    """Return the operator of a name such as `"addr"` or `"addr.out"`."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(aten, packet), overload or "default")


def make_storages_with(empty: Callable[[int, torch.device], torch.Tensor], name: str) -> None:
    """Let `torch.UntypedStorage(n, device=name)` be the storage of `empty(n, device)`.

    Left alone, torch would call an allocator in C++ that is not there, and the process would end.
    """

    def new(kind: type[torch.UntypedStorage], *args: Any, **kwargs: Any) -> torch.UntypedStorage:
        device = torch.device(kwargs.get("device") or "cpu")
        if device.type != name:
            return torch._C.StorageBase.__new__(kind, *args, **kwargs)
        return empty(int(args[0]) if args else 0, device).untyped_storage()

    torch.UntypedStorage.__new__ = new  # type: ignore[method-assign, assignment]


def override_on_cpu(operator: str, kernel: Kernel) -> torch.library.Library:
    """Let `kernel` run an operator of CPU tensors that has no CPU kernel of its own.

    `_pin_memory` and `is_pinned` are such: torch asks the registered device for pinned memory,
    and a device written in Python has none to give.
    """
    library = torch.library.Library("aten", "IMPL", "CPU")
    library.impl(operator, kernel)
    return library


def storage_at(address: int, nbytes: int, index: int) -> torch.Tensor:
    """Return a flat uint8 tensor of device `index` whose new storage starts at `address`."""
    with _managed_lock:
        _shape[0] = nbytes
        _managed.dl_tensor.data = address
        _managed.dl_tensor.device.device_id = index
        capsule = _new_capsule(_managed_at, b"dltensor", None)
        return torch._C._from_dlpack(capsule)


def tensor_at(address: int, host: torch.Tensor, index: int) -> torch.Tensor | None:
    """Return a tensor like `host` of device `index`, whose new storage starts at `address`.

    None for what `storage_at` and `tensor_in` have to make: `host` is not dense, or of a dtype
    that is seldom used. It begins where its storage begins and fills it.
    """
    kind, dim = _NUMBERS.get(host.dtype), host.dim()
    if kind is None or dim > _MOST_DIMS or not host.is_contiguous():
        return None
    with _managed_lock:
        to = _managed_tensor.dl_tensor
        to.data, to.ndim, to.device.device_id = address, dim, index
        to.dtype.code, to.dtype.bits = kind
        _sizes[:dim], _strides[:dim] = list(host.size()), list(host.stride())
        capsule = _new_capsule(_managed_tensor_at, b"dltensor", None)
        return torch._C._from_dlpack(capsule)


def tensor_in(
    flat: torch.Tensor, dtype: torch.dtype, size: Sequence[int], stride: Sequence[int], offset: int
) -> torch.Tensor:
    """Return a tensor in the storage of `flat` (a uint8 tensor that covers all of it)."""
    if dtype is not torch.uint8:
        flat = aten.view.dtype(flat, dtype)
    return aten.as_strided.default.redispatch(_CPU, flat, size, stride, offset)


def view_in(
    tensor: torch.Tensor, size: Sequence[int], stride: Sequence[int], offset: int
) -> torch.Tensor:
    """Return a tensor in the storage of `tensor`, of the same dtype."""
    return aten.as_strided.default.redispatch(_CPU, tensor, size, stride, offset)


def write_metadata(operator: Operator, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Run one of METADATA_ONLY on tensors of the device."""
    return operator.redispatch(_CPU, *args, **kwargs)


def convert(tensor: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
    """Run torch's own `_to_copy`: an empty tensor with the options, then a copy."""
    return aten._to_copy.default.redispatch(_CPU, tensor, **options)


def move_into(tensor: torch.Tensor, other: torch.Tensor) -> None:
    """Let `tensor` have the storage, size and stride of `other`."""
    aten.set_.source_Storage_storage_offset.redispatch(
        _CPU, tensor, other.untyped_storage(), other.storage_offset(), other.size(), other.stride()
    )


def hold(tensor: torch.Tensor, holder: object) -> None:
    """Let `holder` live exactly as long as the storage of `tensor`.

    The storage's Python object, and with it its attributes, lives as long as the storage, no
    matter who in C++ keeps it. (A DLPack deleter written in Python would not do: torch may call it
    while an exception is on its way, and calling Python then replaces that exception.)
    """
    tensor.untyped_storage().course_gpu_holder = holder  # type: ignore[attr-defined]


def holder_of(tensor: torch.Tensor) -> object | None:
    """Return what `hold` was given for the storage of `tensor`."""
    return getattr(tensor.untyped_storage(), "course_gpu_holder", None)
