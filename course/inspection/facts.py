"""What is true of a tensor: the facts that PyTorch can be asked, as one frozen value.

Every function that asks torch something is captured when this module is imported. A notebook
that later replaces `torch.Tensor.stride` changes its own calls, not these facts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch

from course.inspection.storage_numbers import StorageNumbers

__all__ = ["TensorFacts", "facts", "overlap", "positions", "same_storage"]

_Tensor = torch.Tensor
_Base = torch._C.TensorBase
_no_override = torch._C.DisableTorchFunctionSubclass
_size, _stride, _offset = _Base.size, _Base.stride, _Base.storage_offset
_contiguous, _itemsize, _address = _Base.is_contiguous, _Base.element_size, _Base.data_ptr
_is_inference, _is_view, _untyped_storage = (
    _Base.is_inference,
    _Base._is_view,
    _Base.untyped_storage,
)


def _getter(name: str) -> Callable[[torch.Tensor], Any]:
    """The C function behind an attribute such as `grad_fn`."""
    return vars(_Base)[name].__get__


_get_version, _get_leaf, _get_requires = map(_getter, ("_version", "is_leaf", "requires_grad"))
_get_grad_fn, _get_grad, _get_retains = map(_getter, ("grad_fn", "grad", "retains_grad"))
_get_layout, _get_dtype, _get_device = map(_getter, ("layout", "dtype", "device"))
_strided = torch.strided

# The widest alignment that is asked for: torch's CPU allocator starts every storage at a
# multiple of 64 bytes, so a larger power of two would be luck.
_WIDEST_ALIGNMENT = 64


@dataclass(frozen=True)
class TensorFacts:
    """The facts of one tensor at one moment; they stay true of that moment when it is gone.

    `shape`, `stride` and `storage_offset` count elements; names ending in `nbytes`, and
    `byte_range`, count bytes. `storage` is a serial number: two tensors have the same number
    exactly when they live in the same storage, and a number is never used again. `memory` is the
    number of the storage whose bytes they are, 0 where nobody looked: another one's where NumPy,
    for example, has led to a second storage over the same memory.
    """

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    storage_offset: int
    dtype: str
    itemsize: int
    device: str
    storage: int
    storage_nbytes: int
    byte_range: tuple[int, int]
    is_contiguous: bool
    is_leaf: bool
    requires_grad: bool
    grad_fn: str | None
    version: int | None
    is_view: bool
    kind: str = "Tensor"
    layout: str = "strided"
    alignment: int = _WIDEST_ALIGNMENT
    grad: TensorFacts | None = None
    memory: int = 0

    @property
    def numel(self) -> int:
        """The number of elements, which may exceed the number of slots in the storage."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    def __repr__(self) -> str:
        start, stop = self.byte_range
        lines = [
            f"{self.kind} {self.shape} {self.dtype} on {self.device}",
            f"  stride {self.stride} · storage_offset {self.storage_offset}"
            f" · {'contiguous' if self.is_contiguous else 'not contiguous'}",
            f"  storage #{self.storage} ({self.storage_nbytes} bytes)"
            f" · bytes {start} to {stop} · {'view' if self.is_view else 'not a view'}",
            f"  {'leaf' if self.is_leaf else 'not a leaf'} · requires_grad {self.requires_grad}"
            f" · grad_fn {self.grad_fn} · version {self.version}",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The facts as plain data that JSON can hold."""
        values = dict(vars(self))
        for name in _SEQUENCES:
            values[name] = list(values[name])
        if self.grad is not None:
            values["grad"] = self.grad.to_dict()
        return values

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> TensorFacts:
        """The facts that `to_dict` wrote. Raises ValueError for anything else."""
        values = dict(data) if isinstance(data, dict) else {}
        if values.keys() != _NAMES:
            raise ValueError(f"not the facts of a tensor: fields {sorted(_NAMES ^ set(values))}")
        for name in _SEQUENCES:
            values[name] = tuple([_whole(number, name) for number in values[name]])
        for name in _NUMBERS:
            _whole(values[name], name)
        if values["grad"] is not None:
            values["grad"] = cls.from_dict(values["grad"])
        return _made(values)


def _made(values: dict[str, Any]) -> TensorFacts:
    """Facts of all these fields; the constructor of a frozen class takes four times as long."""
    made = object.__new__(TensorFacts)
    vars(made).update(values)
    return made


_NAMES = {field.name for field in fields(TensorFacts)}
_SEQUENCES = ("shape", "stride", "byte_range")
_NUMBERS = ("storage_offset", "itemsize", "storage", "storage_nbytes", "alignment", "memory")


def _whole(number: object, name: str) -> int:
    if type(number) is not int:
        raise ValueError(f"not the facts of a tensor: {name} holds {number!r}, not an int")
    return number


_storages = StorageNumbers()
_APART = 2**40  # no process gives so many storages a number


def number_apart() -> None:
    """From now on, give storages numbers that no other process gives, unless it called this too.

    For a process that holds facts of its own tensors beside those of another process: by the number
    alone, a tensor here would share its storage with one there.
    """
    _storages.count_from(_APART)


_number_of, _memory_of = _storages.number, _storages.memory


def storage_number(tensor: torch.Tensor) -> int:
    """The serial number of the storage that a strided tensor lives in."""
    with _no_override():
        return _number_of(_untyped_storage(tensor))


def memory_number(tensor: torch.Tensor) -> int:
    """The serial number of the storage whose bytes a strided tensor's are."""
    return _memory_of(storage_number(tensor))


def facts(tensor: torch.Tensor) -> TensorFacts:
    """What is true of a tensor now: shape, stride, storage, version, autograd.

    >>> facts(torch.zeros(2, 3).t()).stride
    (1, 3)

    Args:
        tensor: Any tensor, of any layout, on any device; it is read and not changed.

    Raises:
        TypeError: It is no tensor.
    """
    if not isinstance(tensor, _Tensor):
        raise TypeError(
            f"facts() asks a tensor; this is {_article(type(tensor).__name__)}. "
            "Turn it into a tensor first, for example with torch.as_tensor(...)."
        )
    with _no_override():
        return _read(tensor)


def _read(tensor: torch.Tensor) -> TensorFacts:
    if _get_layout(tensor) is not _strided:
        return _read_without_strides(tensor)
    shape, stride, offset = tuple(_size(tensor)), tuple(_stride(tensor)), int(_offset(tensor))
    itemsize, storage = _itemsize(tensor), _untyped_storage(tensor)
    number = _number_of(storage)
    return _made(
        {
            "shape": shape,
            "stride": stride,
            "storage_offset": offset,
            "itemsize": itemsize,
            "storage": number,
            "storage_nbytes": storage.nbytes(),
            "byte_range": byte_range_of(shape, stride, offset, itemsize),
            "is_contiguous": _contiguous(tensor),
            "layout": "strided",
            "alignment": _alignment(_address(tensor)),
            "memory": _memory_of(number),
            **_autograd_facts(tensor),
        }
    )


def _read_without_strides(tensor: torch.Tensor) -> TensorFacts:
    """The facts of a sparse or opaque tensor, which has no single storage and no strides."""
    return TensorFacts(
        shape=tuple(_size(tensor)),
        stride=(),
        storage_offset=0,
        itemsize=_itemsize(tensor),
        storage=0,
        storage_nbytes=0,
        byte_range=(0, 0),
        is_contiguous=False,
        layout=str(_get_layout(tensor)).removeprefix("torch."),
        **_autograd_facts(tensor),
    )


def _autograd_facts(tensor: torch.Tensor) -> dict[str, Any]:
    leaf, node = _get_leaf(tensor), _get_grad_fn(tensor)
    # Reading .grad of an intermediate that does not retain it would warn.
    grad = _get_grad(tensor) if leaf or _get_retains(tensor) else None
    return {
        "dtype": str(_get_dtype(tensor)).removeprefix("torch."),
        "device": str(_get_device(tensor)),
        "is_leaf": leaf,
        "requires_grad": _get_requires(tensor),
        "grad_fn": None if node is None else str(node.name()).rpartition("::")[2],
        "version": None if _is_inference(tensor) else _get_version(tensor),
        "is_view": _is_view(tensor),
        "kind": type(tensor).__name__,
        "grad": None if grad is None else facts(grad),
    }


def _alignment(address: int) -> int:
    return min(address & -address, _WIDEST_ALIGNMENT) if address else _WIDEST_ALIGNMENT


def byte_range_of(
    shape: tuple[int, ...], stride: tuple[int, ...], offset: int, itemsize: int
) -> tuple[int, int]:
    """The half-open range of bytes within the storage that a layout can reach."""
    first = offset * itemsize
    if 0 in shape:
        return first, first
    last = offset + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))
    return first, (last + 1) * itemsize


def _as_facts(subject: torch.Tensor | TensorFacts) -> TensorFacts:
    return subject if isinstance(subject, TensorFacts) else facts(subject)


def same_storage(a: torch.Tensor | TensorFacts, b: torch.Tensor | TensorFacts) -> bool:
    """Whether two tensors live in one storage (they need not share any element of it).

    Args:
        a: A tensor, or the facts of one.
        b: The other one.
    """
    first, second = _storage_of(a), _storage_of(b)
    return first == second and first != 0


def same_memory(a: TensorFacts, b: TensorFacts) -> bool:
    """Whether two tensors live in the same memory, be it through one storage or through two."""
    return (a.memory or a.storage) == (b.memory or b.storage) != 0


def _storage_of(subject: torch.Tensor | TensorFacts) -> int:
    if type(subject) is _Tensor and _get_layout(subject) is _strided:
        return storage_number(subject)  # a tenth of the time that all facts take
    return _as_facts(subject).storage


def positions(subject: torch.Tensor | TensorFacts) -> list[int]:
    """The storage position of every element, in elements, in row-major order of the index.

    Args:
        subject: A strided tensor, or the facts of one.

    Returns:
        One number an element, counted from the storage's beginning; repeated elements repeat
        theirs.

    >>> positions(torch.arange(6).view(2, 3).t())
    [0, 3, 1, 4, 2, 5]
    """
    seen = _as_facts(subject)
    if 0 in seen.shape:  # its other sizes may be as large as anybody likes
        return []
    where = np.full(seen.shape, seen.storage_offset, dtype=np.int64)
    for axis, (size, step) in enumerate(zip(seen.shape, seen.stride, strict=True)):
        along = np.arange(size, dtype=np.int64) * step
        where += along.reshape([-1 if i == axis else 1 for i in range(len(seen.shape))])
    return [int(position) for position in where.reshape(-1)]


def overlap(a: torch.Tensor | TensorFacts, b: torch.Tensor | TensorFacts) -> bool:
    """Whether two tensors have a byte of memory in common, decided exactly.

    Of two storages over the same bytes, as NumPy makes them, nobody knows which are common: yes.
    Sharing a storage is not overlapping:

    >>> a = torch.zeros(4)
    >>> same_storage(a[:2], a[2:]), overlap(a[:2], a[2:])
    (True, False)

    Args:
        a: A tensor, or the facts of one.
        b: The other one; of any dtype.
    """
    first, second = _as_facts(a), _as_facts(b)
    if 0 in first.shape or 0 in second.shape or not same_memory(first, second):
        return False
    if not same_storage(first, second):
        return True
    if first.byte_range[1] <= second.byte_range[0] or second.byte_range[1] <= first.byte_range[0]:
        return False
    one, other = _windows(first, second)
    return np.shares_memory(one, other)


def _windows(*layouts: TensorFacts) -> list[np.ndarray]:
    """NumPy arrays laid out alike over one shared buffer whose pages are never touched."""
    buffer = np.empty(max(seen.byte_range[1] for seen in layouts), dtype=np.uint8)
    return [
        np.ndarray(
            seen.shape,
            dtype=f"V{seen.itemsize}",
            buffer=buffer,
            offset=seen.byte_range[0],
            strides=[step * seen.itemsize for step in seen.stride],
        )
        for seen in layouts
    ]


def _article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
