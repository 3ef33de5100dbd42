"""Writing a value as a document and buffers (the form is described in `course.serialization`)."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import torch

from course.inspection import facts as _facts
from course.inspection.facts import TensorFacts
from course.serialization.garbage_collection import gc_paused
from course.serialization.object_state import state_of
from course.serialization.received import Absent, Handle, SeenTensor, Value

__all__ = ["LIMITS", "AnswerRef", "EncodingLimits", "WireError", "digest_of", "encode"]

# Numbers that tell where in this process a tensor lives, not what it is.
_PLACES = re.compile(rb'"storage":\d+,"storage_nbytes"|"alignment":\d+,"memory":\d+')
Buffers = list[bytes]
Keep = Callable[[object], int]


class WireError(ValueError):
    """A value that cannot travel, or a document that is not one that `encode` writes."""


@dataclass(frozen=True)
class EncodingLimits:
    """How much of a value travels; what exceeds it becomes `Absent` and says so.

    Attributes:
        nbytes: Bytes of all tensors and arrays together.
        items: Values, those inside containers included; of an outermost dict, each entry has as
            many.
        depth: Containers inside each other.
        text: Characters of one string.
        buffers: Storages and arrays; two documents and a signature fit into one frame.
    """

    nbytes: int = 64 * 2**20
    items: int = 200_000
    depth: int = 32
    text: int = 2**20
    buffers: int = 30_000

    def in_words(self) -> str:
        """What tensors and arrays may take together."""
        return f"tensors of at most {self.nbytes >> 20} MB together, in {self.buffers:,} storages"


LIMITS = EncodingLimits()


def digest_of(asked: bytes) -> bytes:
    """What tells a request apart from every other, wherever its tensors live.

    Args:
        asked: The header, as JSON without spaces, and the buffers.
    """
    return blake2b(_PLACES.sub(b"", asked), digest_size=16).digest()


@dataclass(frozen=True)
class AnswerRef:
    """Stands for the learner's object of this name in the arguments of a probe.

    Attributes:
        name: The name that the exercise asks the learner to define.
    """

    name: str


_DICTS = (dict, OrderedDict, defaultdict, Counter)
_EXACT = (type(None), bool, str)
_SCALARS = frozenset({*_EXACT, int, float})
_SHORT = 2**63
_string_at = ctypes.string_at
_no_override = torch._C.DisableTorchFunctionSubclass


class _Encoder:
    """Collects one document; tensors are grouped by storage, bytes are read in `finish`."""

    def __init__(
        self,
        keep: Keep | None,
        strict: bool,
        limits: EncodingLimits,
        after_foreign: Callable[[], None] | None,
    ) -> None:
        self.keep, self.strict, self.limits = keep, strict, limits
        self.after_foreign = after_foreign or _nobody_asks
        self.items = 0
        self.buffers: Buffers = []
        self.nbytes = 0
        self.order: dict[int, int] = {}
        self.hosts: list[tuple[torch.Tensor | None, int, int, int]] = []

    def node(self, value: Any, depth: int = 0) -> Any:
        self.items += 1
        if depth > self.limits.depth or self.items > self.limits.items:
            return self.refuse(f"nested deeper than {self.limits.depth} or too many items")
        kind = type(value)
        if kind is _Tensor:
            return self.tensor(value)
        writer = None
        if type(kind) is type:  # a metaclass may run code of its own when its class is compared
            if kind in _EXACT:
                return self.text(value) if kind is str else value
            if kind is int:
                short = value.bit_length() <= 1024
                return value if short else self.refuse("an int above 1024 bits")
            if kind is float:
                return value if math.isfinite(value) else {"t": "float", "v": repr(value)}
            writer = _WRITERS.get(kind)
        return self.other(value, depth) if writer is None else writer(self, value, depth)

    def refuse(self, reason: str) -> Any:
        if self.strict:
            raise WireError(f"an argument cannot travel: {reason}")
        return {"t": "absent", "why": reason, "attempted": True}

    def text(self, value: str) -> Any:
        if len(value) <= self.limits.text:
            return value
        return self.refuse(f"a text of {len(value)} characters; at most {self.limits.text}")

    def other(self, value: Any, depth: int) -> Any:
        """The node of what may run code of its own whenever it is looked at."""
        look = self.after_foreign
        is_tensor = isinstance(value, _Tensor) and type(value) in _OF_TORCH
        is_named_tuple = isinstance(value, tuple) and hasattr(type(value), "_fields")
        look()
        if is_tensor:
            return self.tensor(value)
        if is_named_tuple:
            return {"t": "tuple", "v": [self.node(v, depth + 1) for v in tuple.__iter__(value)]}
        name = _torch_name(value)
        look()
        if name is not None:
            return {"t": "torch", "name": name}
        if self.strict:
            raise WireError(
                f"an argument of class {type(value).__name__} has no plain form. Pass tensors "
                "and plain data, and build the rest in a @probe beside the answer."
            )
        kind, about = state_of(value)
        class_name = type(value).__name__[:200]
        look()
        form = {
            "t": "handle",
            "id": 0 if self.keep is None else self.keep(value),
            "kind": kind,
            "type": class_name,
            "about": {str(k): self.node(v, depth + 1) for k, v in about.items()},
        }
        look()
        return form

    def tensor(self, value: torch.Tensor) -> Any:
        if value.is_quantized:  # torch itself compares no two of them
            return self.refuse("a quantized tensor")
        try:
            seen = _facts.facts(value)
        except RuntimeError:  # a nested one has no sizes and no strides
            return self.refuse("a tensor without one shape")
        node = {"t": "tensor", "facts": seen.to_dict(), "storage": -1, "lazy": []}
        if seen.layout == "strided" and seen.device != "meta":
            with _no_override():
                node["lazy"] = [
                    name for name, on in (("conj", value.is_conj()), ("neg", value.is_neg())) if on
                ]
            node["storage"] = self.storage(seen, value)
        return node

    def storage(self, seen: TensorFacts, host: torch.Tensor) -> int:
        index = self.order.setdefault(seen.storage, len(self.order))
        # A tensor without elements may lie behind its storage: nothing of it is there to be read.
        start, stop = (
            min(end, seen.storage_nbytes) if not seen.numel else end for end in seen.byte_range
        )
        if index == len(self.hosts):
            self.hosts.append((host, start, stop, seen.storage_nbytes))
        else:
            first, begin, end, nbytes = self.hosts[index]
            self.hosts[index] = (first, min(begin, start), max(end, stop), nbytes)
        return index

    def range(self, value: range, depth: int) -> Any:
        ends = [self.node(int(one), depth + 1) for one in (value.start, value.stop, value.step)]
        refused = [one for one in ends if type(one) is not int]
        return refused[0] if refused else {"t": "range", "v": ends}

    def array(self, value: np.ndarray) -> Any:
        if value.dtype.kind not in "biufc":
            return self.refuse(f"a NumPy array of dtype {value.dtype}")
        if not self.has_room(value.nbytes):
            return self.refuse(f"an array of {value.nbytes} bytes")
        self.nbytes += value.nbytes
        native = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("="))
        self.buffers.append(native.tobytes())
        return {
            "t": "array",
            "dtype": native.dtype.str,
            "shape": list(value.shape),
            "buffer": len(self.buffers) - 1,
        }

    def has_room(self, nbytes: int) -> bool:
        """Whether one more buffer of this size may travel."""
        limits = self.limits
        return self.nbytes + nbytes <= limits.nbytes and len(self.buffers) < limits.buffers

    def finish(self) -> list[dict[str, int]]:
        return [self._read(*entry) for entry in self.hosts]

    def _read(
        self, host: torch.Tensor | None, start: int, stop: int, nbytes: int
    ) -> dict[str, int]:
        entry = {"nbytes": nbytes, "start": start, "buffer": -1}
        if host is None:
            return entry
        if not self.has_room(stop - start):
            if self.strict:
                raise WireError(f"arguments cannot travel: {self.limits.in_words()}")
            return entry
        with _no_override():
            storage = host.untyped_storage()
            on_host = storage if storage.device.type == "cpu" else storage.cpu()
        if stop > on_host.nbytes():
            return entry
        try:
            address = on_host.data_ptr() + start
        except RuntimeError:  # the zeros of forward-mode autograd have no memory
            return entry
        self.nbytes += stop - start
        self.buffers.append(_string_at(address, stop - start) if stop > start else b"")
        return {**entry, "buffer": len(self.buffers) - 1}


def _nobody_asks() -> None:
    pass


_Tensor = torch.Tensor
_OF_TORCH = (torch.Tensor, torch.nn.Parameter, getattr(torch.nn, "Buffer", torch.Tensor))


def _torch_name(value: Any) -> str | None:
    """The dotted name of a function or class that torch itself offers, such as torch.relu."""
    if not callable(value):
        return None
    module, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    for path in (f"{module}.{name}", f"torch.{name}", f"torch.nn.functional.{name}"):
        if path.startswith("torch.") and torch_object(path) is value:
            return path
    return None


def torch_object(path: str) -> Any:
    """What torch offers under a dotted name such as torch.nn.Linear, or None."""
    found: Any = torch
    for part in path.split(".")[1:]:
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
        if found is None:
            return None
    return found


def _items(encoder: _Encoder, value: Any, depth: int) -> Any:
    """The nodes of a list, or of what has as many items."""
    if encoder.items + len(value) > encoder.limits.items:
        name = type(value).__name__
        return encoder.refuse(f"a {name} of {len(value)} items is more than is looked at")
    items = list(value)
    if depth < encoder.limits.depth and _are_plain(
        items, encoder.limits.text
    ):  # as in shapes, strides and indices
        encoder.items += len(items)
        return items
    node, depth = encoder.node, depth + 1
    return [node(item, depth) for item in items]


def _are_plain(items: list[Any], most: int) -> bool:
    """Whether all are what JSON has: short ints, finite floats, texts of `most` characters."""
    kinds = {*map(type, items)}
    if not kinds <= _SCALARS:
        return False
    if int in kinds and not all(-_SHORT < one < _SHORT for one in items if type(one) is int):
        return False
    if float in kinds and not all(math.isfinite(one) for one in items if type(one) is float):
        return False
    return str not in kinds or all(len(one) <= most for one in items if type(one) is str)


def _tagged(tag: str) -> Callable[[_Encoder, Any, int], Any]:
    def write(encoder: _Encoder, value: Any, depth: int) -> Any:
        found = _items(encoder, value, depth)
        return {"t": tag, "v": found} if type(found) is list else found

    return write


def _mapping(encoder: _Encoder, value: Any, depth: int) -> Any:
    if encoder.items + 2 * len(value) > encoder.limits.items:
        return encoder.refuse(f"a dict of {len(value)} items is more than is looked at")
    pairs, node, below, limits = [], encoder.node, depth + 1, encoder.limits
    for k, v in dict.items(value):
        # Result and arguments of an observation: a result of too many items hides no argument.
        encoder.items = encoder.items if depth else 0
        if type(k) is str and len(k) <= limits.text and below <= limits.depth:  # nearly all
            encoder.items += 1
            key = k if encoder.items <= limits.items else node(k, below)
        else:
            key = node(k, below)
        if v is None and below <= limits.depth and encoder.items < limits.items:
            encoder.items += 1
            pairs.append([key, None])
        else:
            pairs.append([key, node(v, below)])
    return {"t": "dict", "v": pairs}


def _scalar(tag: str, text: Callable[[Any], Any]) -> Callable[[_Encoder, Any, int], Any]:
    return lambda encoder, value, depth: {"t": tag, "v": text(value)}


# What `x.max(0)` and `x.topk(2)` give: tuples with names for their items.
_RETURN_TYPES = [
    one
    for one in vars(torch.return_types).values()
    if isinstance(one, type) and one.__bases__ == (tuple,)
]
_WRITERS: dict[type, Callable[[_Encoder, Any, int], Any]] = {
    list: _items,
    tuple: _tagged("tuple"),
    set: _tagged("set"),
    frozenset: _tagged("frozenset"),
    **dict.fromkeys(_DICTS, _mapping),
    torch.Size: _scalar("size", list),
    range: lambda e, r, d: e.range(r, d),
    slice: lambda e, s, d: {
        "t": "slice",
        "v": [e.node(p, d + 1) for p in (s.start, s.stop, s.step)],
    },
    **dict.fromkeys(_RETURN_TYPES, _tagged("tuple")),
    # Subclasses of Python's own classes, and used as these.
    np.float64: lambda e, v, d: e.node(float(v), d),
    np.complex128: lambda e, v, d: e.node(complex(v), d),
    np.str_: lambda e, v, d: e.node(str(v), d),
    complex: _scalar("complex", lambda z: [repr(z.real), repr(z.imag)]),
    bytes: lambda e, b, d: (
        {"t": "bytes", "v": b.hex()}
        if len(b) <= e.limits.text
        else e.refuse(f"bytes, {len(b)} of them")
    ),
    type(...): _scalar("ellipsis", lambda _: None),
    torch.dtype: _scalar("dtype", lambda d: str(d).removeprefix("torch.")),
    torch.device: _scalar("device", str),
    np.ndarray: lambda encoder, value, depth: encoder.array(value),
    Absent: lambda e, a, d: {"t": "absent", "why": a.reason, "attempted": a.attempted},
    AnswerRef: _scalar("answer", lambda ref: ref.name),
    SeenTensor: lambda e, s, d: (
        e.node(s.tensor, d) if s.tensor is not None else e.refuse("no elements")
    ),
    Value: lambda encoder, value, depth: encoder.node(value.node, depth),
    Handle: lambda e, h, d: {
        "t": "handle",
        "id": h.number,
        "kind": h.kind,
        "type": h.type_name,
        "about": {} if e.strict else {k: e.node(v, d + 1) for k, v in h.about.items()},
    },
}


def encode(
    value: Any,
    *,
    keep: Keep | None = None,
    strict: bool = False,
    limits: EncodingLimits = LIMITS,
    after_foreign: Callable[[], None] | None = None,
) -> tuple[dict[str, Any], Buffers]:
    """The document and the buffers of a value.

    `keep` is given every object without a plain form and returns the number of its handle; looking
    at such an object may run code of its class, and `after_foreign` is called after it.
    With `strict` (arguments on their way to an answer) such an object is an error.
    Raises WireError only with `strict`.

    Args:
        value: Anything; what has no plain form becomes a handle or a description.
        keep: Given every object without a plain form, it returns the number of the object's handle.
        strict: Such an object is an error, and so is what exceeds `limits`: for arguments on their
            way to an answer.
        limits: How much may travel; what exceeds it becomes `Absent`.
        after_foreign: Called after each look at an object whose class may run code of its own.

    Returns:
        The document, which JSON can hold, and the bytes of its storages.

    Raises:
        WireError: Only with `strict`.
    """
    encoder = _Encoder(keep, strict, limits, after_foreign)
    with gc_paused():
        node = encoder.node(value)
        return {"value": node, "storages": encoder.finish()}, encoder.buffers
