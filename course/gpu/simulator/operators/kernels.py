"""Runs an operator of a simulated device: the CPU computes, the allocator model keeps the books.

Results are equal to the CPU's bit by bit, because they are the CPU's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import zip_longest
from typing import Any

import torch

from course.gpu.simulator import _backend
from course.gpu.simulator.devices import NAME, Holder, SimulatedDevice, simulation
from course.gpu.simulator.operators import device_assertions
from course.gpu.simulator.operators.composites import SUBSTITUTES
from course.gpu.simulator.operators.meta_tensors import as_meta
from course.gpu.simulator.operators.placement import common_device
from course.gpu.simulator.operators.schemas import Plan, plan_of
from course.gpu.simulator.pinned import as_pinned, is_pinned

_aten = torch.ops.aten
_CPU = torch.device("cpu")

# Above this many elements a result could be too large for the machine that simulates: its size
# is worked out on the meta device first, and refused before the CPU touches memory.
_PROBED_ELEMENTS = 1 << 24

# Looked at for each argument of each call: a tuple of classes is ready, and a union made anew.
_NUMBERS, _SEVERAL = (int, float, complex), (list, tuple)
_AS_THEY_ARE = frozenset({type(None), bool, int, float, complex, str, torch.dtype, torch.layout})
_NOTHING_DRAWN = nullcontext()
# What torch makes every result and every copy with: nothing is read, drawn or written.
_EMPTY = frozenset({_aten.empty.memory_format, _aten.empty_strided.default})


def run_operator(operator: _backend.Operator, /, *args: Any, **kwargs: Any) -> Any:
    """Run one operator; torch's dispatcher calls this for every tensor of a simulated device."""
    try:
        with torch._C.DisableTorchFunction(), torch._C._AutoDispatchBelowAutograd():
            return _run(operator, args, kwargs)
    except BaseException as raised:
        # Our frames would keep arguments alive for as long as the traceback lives; CUDA's
        # kernels, written in C++, do not.
        error = raised.with_traceback(None)
        error.__context__ = None
    del args, kwargs
    try:
        raise error
    finally:
        del error  # or this frame and the error would keep each other, and the caller's tensors


def _run(operator: _backend.Operator, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    plan = plan_of(operator)
    if plan.only_metadata:
        return _backend.write_metadata(operator, args, kwargs)
    if operator is _aten._copy_from.default:
        return copy_between(*args, **kwargs)
    if operator is _aten._to_copy.default:
        return convert(*args, **kwargs)
    if kwargs.get("pin_memory"):
        raise RuntimeError("Only dense CPU tensors can be pinned")  # at::detail::empty_cuda
    if operator in _EMPTY:
        return _empty(plan, args, kwargs)
    device = simulation().device(common_device(plan, args, kwargs))
    device.check(synchronizes=plan.waits)
    lowered = _Lowered(device)
    low_args = [lowered.argument(plan, place, value) for place, value in enumerate(args)]
    low_kwargs = {name: lowered.argument(plan, name, value) for name, value in kwargs.items()}
    if plan.may_be_huge:
        _refuse_the_impossible(device, plan, low_args, low_kwargs)
    with _drawing(device, plan, low_args, low_kwargs) if plan.is_random else _NOTHING_DRAWN:
        try:
            found = SUBSTITUTES.get(plan.name, operator)(*low_args, **low_kwargs)
        except (IndexError, RuntimeError) as error:
            found = device_assertions.result_after(
                error, device, plan, operator, low_args, low_kwargs
            )
    for place in plan.written:
        _follow(_argument(place, args, kwargs), _argument(place, low_args, low_kwargs), device)
    return _raised(found, plan, lowered, args, kwargs)


def _empty(plan: Plan, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return a new tensor: what the way of all others does, for the operators that run most."""
    device = simulation().device(kwargs["device"].index if kwargs.get("device") else None)
    device.check(synchronizes=False)
    _refuse_the_impossible(device, plan, args, kwargs)
    return device_tensor(plan.operator(*args, **{**kwargs, "device": _CPU}), device)


class _Lowered:
    """The CPU tensors that stand for the arguments of one call."""

    def __init__(self, device: SimulatedDevice) -> None:
        self.device = device
        self.origin: dict[int, torch.Tensor] = {}

    def argument(self, plan: Plan, place: int | str, value: Any) -> Any:
        """Return an argument as the CPU's kernel takes it at this place."""
        if plan.needs_tensors and place in plan.needs_tensors and isinstance(value, _NUMBERS):
            return torch.tensor(value)
        return self.value(value)

    def value(self, value: Any) -> Any:
        """Return a value as the CPU's kernel takes it."""
        if type(value) in _AS_THEY_ARE:
            return value
        if isinstance(value, torch.Tensor):
            return value if value.is_cpu or value.device.type != NAME else self.tensor(value)
        if isinstance(value, torch.device):
            return _CPU if value.type == NAME else value
        if isinstance(value, _SEVERAL):
            if all(map(_AS_THEY_ARE.__contains__, map(type, value))):
                return value
            return type(value)(map(self.value, value))
        return value

    def tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the CPU tensor over the same bytes."""
        low = host_tensor(tensor)
        self.origin[low.untyped_storage().data_ptr()] = tensor
        return low

    def upper(self, low: torch.Tensor) -> torch.Tensor:
        """Return the device's tensor for a result: a view of an argument, or a new block."""
        storage = low.untyped_storage()
        origin = self.origin.get(storage.data_ptr()) if storage.nbytes() else None
        if origin is not None and origin.dtype == low.dtype:
            return _backend.view_in(origin, low.size(), low.stride(), int(low.storage_offset()))
        return device_tensor(low, self.device)


def host_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """Return the CPU tensor over the bytes of a simulated device's tensor."""
    storage = tensor.untyped_storage()
    if storage.nbytes() == 0:
        return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    device = simulation().devices[tensor.device.index]
    host = device.host_of(storage.data_ptr())
    return torch.empty(0, dtype=tensor.dtype).set_(
        host, tensor.storage_offset(), tensor.size(), tensor.stride()
    )


def device_tensor(host: torch.Tensor, device: SimulatedDevice) -> torch.Tensor:
    """Return a tensor of the device for a CPU tensor's bytes, in a block of its own."""
    storage = host.untyped_storage()
    nbytes = storage.nbytes()
    address = device.take(storage) if nbytes else 0  # CUDA's allocator has no block for 0 bytes
    found = _backend.tensor_at(address, host, device.index) if nbytes == host.nbytes else None
    if found is None:
        flat = _backend.storage_at(address, nbytes, device.index)
        shape = (host.dtype, host.size(), host.stride(), int(host.storage_offset()))
        found = _backend.tensor_in(flat, *shape)
    if nbytes:
        _backend.hold(found, Holder(device, address))
    return found


def convert(tensor: torch.Tensor, **options: Any) -> torch.Tensor:
    """Return a copy with another dtype, device or memory format (`_to_copy`)."""
    target = options.get("device")
    if not (options.get("non_blocking") and target is not None and target.type == "cpu"):
        return _backend.convert(tensor, options)
    # Without waiting for the device a copy goes to pinned memory. torch would ask a device written
    # in C++ for that.
    dtype, form = options.get("dtype"), options.get("memory_format") or torch.preserve_format
    empty = torch.empty_like(host_tensor(tensor), dtype=dtype, memory_format=form)
    return copy_between(tensor, as_pinned(empty), non_blocking=True)


def copy_between(
    source: torch.Tensor, target: torch.Tensor, non_blocking: bool = False
) -> torch.Tensor:
    """Copy elements between the host and devices, or from device to device; return `target`.

    With `non_blocking` and pinned memory the host does not wait: what it reads or writes there
    before it synchronizes is not what was copied.
    """
    away, home = source.device.type == NAME, target.device.type != NAME
    device = simulation().device((source if away else target).device.index)
    low_source = _with_bits(host_tensor(source), source) if away else source
    low_target = target if home else _with_bits(host_tensor(target), target)
    later = non_blocking and (is_pinned(target) if home else not away and is_pinned(source))
    device.check(synchronizes=home and not later)
    if not later:
        low_target.copy_(low_source)
    elif home:
        device.copies_out.append(partial(low_target.copy_, low_source.clone()))
    else:
        device.copies_in.append(partial(low_target.copy_, low_source))
    return target


def _with_bits(low: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """Return the stand-in as the same lazy conjugate or negative that the tensor is."""
    low = low.conj() if tensor.is_conj() else low
    return torch._neg_view(low) if tensor.is_neg() else low


def _argument(place: int | str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    if isinstance(place, str):
        return kwargs.get(place)
    return args[place] if place < len(args) else None


def _follow(upper: Any, low: Any, device: SimulatedDevice) -> None:
    """Give an argument that was written to the size that the CPU's kernel gave its stand-in."""
    if isinstance(upper, list | tuple):
        for one, other in zip(upper, low, strict=True):
            _follow(one, other, device)
    if not isinstance(upper, torch.Tensor) or upper.device.type != NAME:
        return
    if upper.size() == low.size() and upper.stride() == low.stride():
        return
    if low.untyped_storage().nbytes() <= upper.untyped_storage().nbytes():
        moved = _backend.view_in(upper, low.size(), low.stride(), low.storage_offset())
    else:
        moved = device_tensor(low.clone(), device)
    _backend.move_into(upper, moved)


def _raised(
    found: Any,
    plan: Plan,
    lowered: _Lowered,
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> Any:
    """Return the results of the CPU's kernel as results of the device."""
    if not plan.returned:
        return None
    if len(plan.returned) == 1 and isinstance(found, torch.Tensor):
        place = plan.returned[0]
        return lowered.upper(found) if place is None else _argument(place, args, kwargs)
    values = found if isinstance(found, tuple) and len(plan.returned) > 1 else (found,)
    results = tuple(
        _argument(place, args, kwargs) if place is not None else _lifted(value, lowered.upper)
        for value, place in zip(values, plan.returned, strict=True)
    )
    return results if len(results) > 1 else results[0]


def _lifted(value: Any, upper: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return upper(value)
    if isinstance(value, _SEVERAL):
        return type(value)(_lifted(item, upper) for item in value)
    return value


def _refuse_the_impossible(
    device: SimulatedDevice, plan: Plan, args: Sequence[Any], kwargs: dict[str, Any]
) -> None:
    """Raise OutOfMemoryError for a result that the device cannot hold, before computing it."""
    values = (*args, *kwargs.values())
    most = _most_together(values) if plan.pointwise else math.prod(map(_extent, values))
    if most < _PROBED_ELEMENTS:
        return
    try:
        found = plan.operator(
            *map(as_meta, args), **{name: as_meta(v) for name, v in kwargs.items()}
        )
    except Exception:  # no meta kernel, or arguments that the CPU's kernel will refuse in words
        return
    nbytes = sum(_new_nbytes(value) for value in (found if isinstance(found, tuple) else (found,)))
    allocator, alone = device.settled(), len(plan.returned) == 1
    if nbytes > allocator.total_nbytes or (alone and nbytes and not allocator.can_serve(nbytes)):
        device.take(torch.UntypedStorage(nbytes, device="meta"))


def _most_together(values: Sequence[Any]) -> int:
    """The elements that tensors have at most when they are broadcast together."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    shapes = {tensor.size() for tensor in tensors}
    if len(shapes) == 1:
        return tensors[0].numel()
    along = zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    return math.prod(map(max, along))


def _extent(value: Any) -> int:
    if type(value) in _AS_THEY_ARE:
        return 1
    if isinstance(value, torch.Tensor):
        return max(1, value.numel())
    if isinstance(value, _SEVERAL) and all(isinstance(item, int) for item in value):
        return max(1, math.prod(abs(item) for item in value))
    return 1


def _new_nbytes(value: Any) -> int:
    return value.untyped_storage().nbytes() if isinstance(value, torch.Tensor) else 0


@contextmanager
def _drawing(
    device: SimulatedDevice, plan: Plan, args: list[Any], kwargs: dict[str, Any]
) -> Iterator[None]:
    """Let an operator draw from the device's generator, as on CUDA, and leave the CPU's alone.

    An operator with an argument for a generator gets the device's, unless the caller named one.
    """
    if isinstance(plan.generator, int) and plan.generator < len(args):
        args[plan.generator] = args[plan.generator] or device.generator
    elif plan.generator is not None:
        name = plan.generator if isinstance(plan.generator, str) else "generator"
        kwargs[name] = kwargs.get(name) or device.generator
    if not plan.draws:
        yield
        return
    cpu = torch.default_generator
    before = cpu.get_state()
    cpu.set_state(device.generator.get_state())
    try:
        yield
    finally:
        device.generator.set_state(cpu.get_state())
        cpu.set_state(before)
