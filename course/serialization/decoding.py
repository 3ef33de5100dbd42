"""Reading a document back, strictly (the form is described in `course.serialization`)."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from course.inspection.facts import TensorFacts, byte_range_of
from course.serialization.encoding import LIMITS, Buffers, WireError, torch_object
from course.serialization.garbage_collection import gc_paused
from course.serialization.received import Absent, Handle, SeenTensor
from course.serialization.text import visible

__all__ = ["AS_IT_IS", "decode", "tensor_over"]

_dtype_names = {
    str(value).removeprefix("torch."): value
    for value in vars(torch).values()
    if isinstance(value, torch.dtype)
}
_new_storage, _empty, _set = torch.UntypedStorage, torch.empty, torch.Tensor.set_
_data = vars(torch._C.TensorBase)["data"].__get__
_as_strided, _no_grad = torch.Tensor.as_strided, torch.no_grad
_detach = torch.Tensor.detach
_memmove, _memset = ctypes.memmove, ctypes.memset
AS_IT_IS = frozenset({type(None), bool, int, float, str})


class _Decoder:
    """Rebuilds one document; `live` makes real arguments, else seen values are made."""

    def __init__(
        self, storages: Any, buffers: Buffers, resolve: Callable[[str, Any], Any] | None
    ) -> None:
        self.buffers, self.resolve = buffers, resolve
        self.items = 0
        entries = _checked(storages, list)
        if sum(_whole(_checked(e, dict).get("nbytes")) for e in entries) > 4 * LIMITS.nbytes:
            # Storages are rebuilt whole, so that offsets stay true; a few bytes of a huge one
            # are not worth its size.
            entries = [{**e, "buffer": -1} for e in entries]
        self.storages = [self._storage(entry) for entry in entries]
        self.bases: dict[int, torch.Tensor] = {}

    def buffer(self, index: Any) -> bytes:
        if not 0 <= _whole(index) < len(self.buffers):
            raise WireError("a buffer that did not come")
        return self.buffers[index]

    def _storage(self, entry: dict[str, Any]) -> torch.UntypedStorage | None:
        if entry["buffer"] == -1:
            return None
        data, nbytes, start = self.buffer(entry["buffer"]), _whole(entry["nbytes"]), entry["start"]
        if _whole(start) < 0 or nbytes < 0 or start + len(data) > nbytes:
            raise WireError("a buffer does not fit into its storage")
        storage = _new_storage(nbytes)
        if nbytes:
            if len(data) < nbytes:
                _memset(storage.data_ptr(), 0, nbytes)
            _memmove(storage.data_ptr() + start, data, len(data))
        return storage

    def value(self, node: Any, depth: int = 0) -> Any:
        self.items += 1
        if depth > LIMITS.depth + 8 or self.items > 4 * LIMITS.items:
            raise WireError("a document nested too deeply or with too many items")
        if type(node) is list:
            return self.many(node, depth)
        if type(node) is not dict:
            if type(node) in AS_IT_IS:
                return node
            raise WireError("a dict was expected")
        reader = _READERS.get(node.get("t", ""))
        if reader is None:
            raise WireError("an unknown tag")
        return reader(self, node, depth)

    def many(self, nodes: Any, depth: int) -> list[Any]:
        if AS_IT_IS.issuperset(map(type, _checked(nodes, list))):  # most of what is ever sent
            self.items += len(nodes)
            return list(nodes)
        return [self.value(node, depth + 1) for node in nodes]

    def tensor(self, node: dict[str, Any], depth: int) -> Any:
        seen = _tensor_facts(node["facts"])
        index = _whole(node["storage"])
        storage = self.storages[index] if 0 <= index < len(self.storages) else None
        tensor = None
        if storage is not None:
            tensor = self._rebuild(seen, storage, index)
            for name in _checked(node["lazy"], list):
                tensor = tensor.conj() if name == "conj" else torch._neg_view(tensor)
        if self.resolve is None:
            return SeenTensor(seen, tensor)
        if tensor is None:
            raise WireError("a tensor argument came without its elements")
        return _with_grad(tensor, seen)

    def _rebuild(
        self, seen: TensorFacts, storage: torch.UntypedStorage, index: int
    ) -> torch.Tensor:
        if seen.numel and seen.byte_range[1] > storage.nbytes():
            raise WireError("a tensor reaches beyond its storage")
        dtype = _dtype_names[seen.dtype]
        layout = (seen.shape, seen.stride, seen.storage_offset)
        base = self.bases.get(index)
        if not seen.is_view or (base is not None and base.dtype is not dtype):
            made = tensor_over(storage, dtype, seen.storage_offset, seen.shape, seen.stride)
            self.bases.setdefault(index, made)
            return made
        if base is None:
            count = storage.nbytes() // seen.itemsize
            base = self.bases[index] = tensor_over(storage, dtype, 0, (count,), (1,))
        if base.requires_grad and not seen.requires_grad:
            base = _detach(base)  # a view of a leaf takes its flag over, even under no_grad
        # A view of one common base shares its version counter, as the original did.
        with _no_grad():
            return _as_strided(base, *layout)


def tensor_over(
    storage: torch.UntypedStorage,
    dtype: torch.dtype,
    offset: int,
    shape: tuple[int, ...],
    stride: tuple[int, ...],
) -> torch.Tensor:
    """A tensor of this layout over a storage, which nobody has written to.

    Args:
        storage: Where its elements are.
        dtype: Their dtype.
        offset: Elements before the first one.
        shape: The sizes of its dimensions.
        stride: Elements from one to the next, along each dimension.
    """
    # set_ counts as a change in place; `.data` starts a version counter of its own.
    return _data(_set(_empty(0, dtype=dtype), storage, offset, shape, stride))


def _with_grad(tensor: torch.Tensor, seen: TensorFacts) -> torch.Tensor:
    made = torch.nn.Parameter(tensor, seen.requires_grad) if seen.kind == "Parameter" else tensor
    return made.requires_grad_() if seen.requires_grad else made


def _tensor_facts(data: Any) -> TensorFacts:
    seen = TensorFacts.from_dict(_checked(data, dict))
    texts = (seen.dtype, seen.device, seen.kind, seen.layout, seen.grad_fn or "")
    flags = (seen.is_contiguous, seen.is_leaf, seen.requires_grad, seen.is_view)
    if any(type(t) is not str or len(t) > 200 for t in texts) or seen.dtype not in _dtype_names:
        raise WireError("a tensor with unknown names in its facts")
    if any(type(flag) is not bool for flag in flags) or type(seen.version) not in (int, type(None)):
        raise WireError("a tensor with wrong types in its facts")
    dtype = _dtype_names[seen.dtype]
    numbers = (*seen.shape, *seen.stride, seen.storage_offset, seen.storage_nbytes)
    if any(not 0 <= n < 2**62 for n in numbers) or seen.itemsize != dtype.itemsize:
        raise WireError("a tensor with impossible numbers in its facts")
    if seen.layout != "strided":
        return seen
    if len(seen.shape) != len(seen.stride) or len(seen.shape) > 64:
        raise WireError("a tensor with as many strides as sizes was expected")
    layout = (seen.shape, seen.stride, seen.storage_offset, seen.itemsize)
    # What follows from other facts is computed here and not believed.
    byte_range = byte_range_of(*layout)
    return seen if seen.byte_range == byte_range else replace(seen, byte_range=byte_range)


def _array(decoder: _Decoder, node: dict[str, Any], depth: int) -> np.ndarray:
    dtype = np.dtype(_checked(node["dtype"], str)[:8])
    shape = tuple(_whole(size) for size in _checked(node["shape"], list))
    data = decoder.buffer(node["buffer"])
    if dtype.kind not in "biufc" or math.prod(shape) * dtype.itemsize != len(data):
        raise WireError("an array whose bytes do not match its shape")
    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


def _handle(decoder: _Decoder, node: dict[str, Any], depth: int) -> Any:
    number = _whole(node["id"])
    if decoder.resolve is not None:
        return decoder.resolve("handle", number)
    about = {str(k): decoder.value(v, depth + 1) for k, v in _checked(node["about"], dict).items()}
    return Handle(_checked(node["kind"], str), visible(_checked(node["type"], str)), number, about)


def _answer(decoder: _Decoder, node: dict[str, Any], depth: int) -> Any:
    if decoder.resolve is None:
        raise WireError("an answer's name where a value was expected")
    return decoder.resolve("answer", _checked(node["v"], str))


def _torch(decoder: _Decoder, node: dict[str, Any], depth: int) -> Any:
    name = _checked(node["name"], str)
    if decoder.resolve is None:
        return Handle("function", name)
    found = torch_object(name) if name.startswith("torch.") else None
    if found is None:
        raise WireError(f"torch has no {name[:80]!r}")
    return found


def _dict(decoder: _Decoder, node: dict[str, Any], depth: int) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    value_of, below = decoder.value, depth + 1
    for pair in _checked(node["v"], list):
        first, second = _checked(pair, list)
        if type(first) is str:  # nearly all
            decoder.items += 1
            key = first
        else:
            key = _hashable(value_of(first, below))
        made[key] = value_of(second, below)
    return made


class _Unlike:
    """What stands for an object as a key: each is another one, as in the learner's dict."""

    def __init__(self, words: str) -> None:
        self._words = words

    def __repr__(self) -> str:
        return self._words


def _hashable(key: Any) -> Any:
    if isinstance(key, SeenTensor | Handle | torch.Tensor):
        return _Unlike(f"<{type(key).__name__}>")
    try:
        hash(key)
    except TypeError:
        return repr(key)
    return key


def _device(name: str) -> torch.device | Absent:
    """The device of this name; the simulated one has a name only where it was asked for."""
    try:
        return torch.device(name)
    except RuntimeError:
        return Absent(f"the device {name[:40]!r}, which is not known here")


def _absent(decoder: _Decoder, node: dict[str, Any], depth: int) -> Absent:
    why = str(node["why"])[:2000]
    if why.startswith("`"):  # those that tell how a call ended are made where checks run
        raise WireError("an absent value with a reason that is not its own")
    return Absent(why, bool(node["attempted"]))


_READERS: dict[str, Callable[[_Decoder, dict[str, Any], int], Any]] = {
    "tuple": lambda d, n, depth: tuple(d.many(n["v"], depth)),
    "set": lambda d, n, depth: {_hashable(v) for v in d.many(n["v"], depth)},
    "frozenset": lambda d, n, depth: frozenset(_hashable(v) for v in d.many(n["v"], depth)),
    "dict": _dict,
    "size": lambda d, n, depth: torch.Size([_whole(v) for v in _checked(n["v"], list)]),
    "range": lambda d, n, depth: range(*(_whole(v) for v in _checked(n["v"], list))),
    "slice": lambda d, n, depth: slice(*d.many(n["v"], depth)[:3]),
    "float": lambda d, n, depth: float(_checked(n["v"], str)[:8]),
    "complex": lambda d, n, depth: complex(*(float(str(v)[:40]) for v in n["v"][:2])),
    "bytes": lambda d, n, depth: bytes.fromhex(_checked(n["v"], str)),
    "ellipsis": lambda d, n, depth: ...,
    "dtype": lambda d, n, depth: _dtype_names[_checked(n["v"], str)],
    "device": lambda d, n, depth: _device(_checked(n["v"], str)),
    "array": _array,
    "absent": _absent,
    "answer": _answer,
    "torch": _torch,
    "handle": _handle,
    "tensor": lambda d, n, depth: d.tensor(n, depth),
}


def decode(
    document: Any, buffers: Buffers, *, resolve: Callable[[str, Any], Any] | None = None
) -> Any:
    """The value of a document: seen values, or with `resolve` real arguments for an answer.

    Args:
        document: What `encode` returned first, or JSON of it read again.
        buffers: What `encode` returned second, in the same order.
        resolve: Returns live objects, for `resolve("handle", number)` and `resolve("answer",
            name)`.

    Raises:
        WireError: Anything that `encode` would not have written.
    """
    try:
        with gc_paused():
            decoder = _Decoder(document["storages"], buffers, resolve)
            return decoder.value(document["value"])
    except WireError:
        raise
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError, OverflowError):
        raise WireError("not a document of this course") from None


def _checked(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise WireError(f"a {kind.__name__} was expected")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise WireError("a whole number was expected")
    return value
