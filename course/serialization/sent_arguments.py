"""Arguments held against the document that they were made of, without writing a second one.

Nearly all are what was sent, before the call and after it.

Writing tensors as a document takes three times as long as holding each against the node that it was
made of. What is no plain tensor in a list, tuple or dict is not looked at here; its arguments are
written down, see `delta_encoding`.
"""

from __future__ import annotations

import ctypes
import marshal
from dataclasses import fields
from operator import itemgetter
from typing import Any

import torch

from course.inspection.facts import TensorFacts, facts
from course.serialization.encoding import Buffers

__all__ = ["MARKED", "SentArguments", "as_sent"]

Document = dict[str, Any]

MARKED = ("storage", "memory", "version", "alignment")  # a tensor rebuilt elsewhere has its own
_LISTED = ("shape", "stride", "byte_range")
_AS_SENT = tuple(
    field.name for field in fields(TensorFacts) if field.name not in (*MARKED, *_LISTED)
)
_as_sent_of, _listed_of = itemgetter(*_AS_SENT), itemgetter(*_LISTED)
_Tensor, _SCALARS = torch.Tensor, frozenset({type(None), bool, int, float, str})
_is_conj, _is_neg = torch.Tensor.is_conj, torch.Tensor.is_neg
_storage_of = torch._C.TensorBase.untyped_storage
_address_of, _nbytes_of = torch.UntypedStorage.data_ptr, torch.UntypedStorage.nbytes
_string_at, _dumps = ctypes.string_at, marshal.dumps


class SentArguments:
    """What arguments were like when they were first looked at, just as they were sent."""

    def __init__(self, sent: Document, buffers: Buffers) -> None:
        """Look at nothing yet; `sent` is the document that the arguments were made of."""
        self._sent, self._buffers = sent, buffers
        self._seen: list[TensorFacts] = []  # in the order of the document
        self._hosts: list[torch.Tensor] = []  # the first tensor of each storage
        self._order: dict[int, int] = {}
        self._again: list[TensorFacts] | None = None  # at the second look, those still to come

    def marks(self) -> list[Any]:
        """What tells the tensors from the ones that were sent."""
        return [getattr(one, name) for one in self._seen for name in MARKED]

    def is_as_sent(self, given: Any) -> bool:
        """Whether `given` is what was sent, and nothing but what this looks at."""
        whole = all(entry["buffer"] != -1 for entry in self._sent["storages"])
        return whole and self._fits(given, self._sent["value"])

    def is_unchanged(self, given: Any) -> bool:
        """Whether a second look at them finds nothing different, also in where they live."""
        self._again = self._seen[::-1]
        same = self._fits(given, self._sent["value"])
        return same and not self._again and self._holds_the_same()

    def _fits(self, value: Any, node: Any) -> bool:
        if type(node) is list:
            return type(value) is list and self._fit(value, node)
        if type(node) is not dict:
            return _is_same(value, node)
        tag = node["t"]
        if tag == "tensor":
            return type(value) is _Tensor and self._tensor_fits(value, node)
        if tag == "tuple":
            return type(value) is tuple and self._fit(value, node["v"])
        if tag == "dict" and type(value) is dict and len(value) == len(node["v"]):
            pairs = zip(value.items(), node["v"], strict=True)
            return all(
                type(key) is str and key == name and self._fits(one, below)
                for (key, one), (name, below) in pairs
            )
        return False

    def _fit(self, values: Any, nodes: list[Any]) -> bool:
        if len(values) != len(nodes):
            return False
        if _SCALARS.issuperset(map(type, nodes)):
            return _is_same(list(values), nodes)
        return all(map(self._fits, values, nodes))

    def _tensor_fits(self, tensor: torch.Tensor, node: dict[str, Any]) -> bool:
        if node["lazy"] or _is_conj(tensor) or _is_neg(tensor):
            return False
        found = facts(tensor)
        if self._again is not None:
            return bool(self._again) and vars(self._again.pop()) == vars(found)
        index = self._order.setdefault(found.storage, len(self._order))
        if index == len(self._hosts):
            self._hosts.append(tensor)
        self._seen.append(found)
        return index == node["storage"] and _is_what_was_sent(found, node["facts"])

    def _holds_the_same(self) -> bool:
        """Whether the storages hold the bytes that were sent; what may have gone is not read."""
        for host, entry in zip(self._hosts, self._sent["storages"], strict=True):
            storage, content = _storage_of(host), self._buffers[entry["buffer"]]
            start, size = entry["start"], len(content)
            if start + size > _nbytes_of(storage):
                return False
            if size and _string_at(_address_of(storage) + start, size) != content:
                return False
        return True


def as_sent(given: Any, sent: tuple[Document, Buffers]) -> SentArguments | None:
    """A look at arguments; None where they are not as they were sent, or not all of them plain.

    Args:
        given: The arguments, which were just made.
        sent: The document that they were made of, with its buffers.
    """
    look = SentArguments(*sent)
    return look if look.is_as_sent(given) else None


def _is_what_was_sent(found: TensorFacts, sent: dict[str, Any]) -> bool:
    """Whether facts are those of the node, up to where a tensor lives; a grad is not looked at."""
    seen = vars(found)
    if found.grad is not None or found.device != "cpu" or found.layout != "strided":
        return False
    if _as_sent_of(seen) != _as_sent_of(sent):
        return False
    return [list(one) for one in _listed_of(seen)] == [*_listed_of(sent)]


def _is_same(value: Any, node: Any) -> bool:
    # To the byte: in a list True is not 1, and 0.0 not -0.0.
    return type(value) is type(node) and _dumps(value, 2) == _dumps(node, 2)
