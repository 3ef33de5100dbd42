"""The graph behind a tensor as plain values: its nodes, its leaves, and what each node keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from course.inspection.facts import TensorFacts, facts
from course.inspection.graph import nodes_behind

__all__ = ["History", "Kept", "Node", "history_of"]

_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")


@dataclass(frozen=True)
class Kept:
    """A tensor that a node saves for backward, under the node's own name for it.

    `of` is what the reader calls that tensor, "" where no name is known. `version` is the one it
    was saved at, `now` its version today: they differ when it was changed in place since. After
    backward the tensor is gone and `freed` is True.
    """

    name: str
    of: str = ""
    shape: tuple[int, ...] = ()
    version: int | None = None
    now: int | None = None
    freed: bool = False

    @property
    def stale(self) -> bool:
        """Whether backward will refuse the tensor, because it was changed since it was saved."""
        return self.version != self.now


@dataclass(frozen=True)
class Node:
    """One step of the way back: the result, an operation's node, or a leaf.

    `leads_to` holds the numbers of the nodes that receive gradients from it, in the order of its
    inputs; None stands for an input that asked for no gradient.
    """

    kind: str  # "result", "operation" or "leaf"
    title: str
    facts: TensorFacts | None = None
    made: str = ""
    leads_to: tuple[int | None, ...] = ()
    kept: tuple[Kept, ...] = ()


@dataclass(frozen=True)
class History:
    """All nodes behind a tensor, the tensor itself as number 0; `left_out` were not listed."""

    nodes: tuple[Node, ...]
    left_out: int = 0


def history_of(
    tensor: torch.Tensor, names: Mapping[str, object] | None = None, *, most: int = 16
) -> History:
    """The graph behind a tensor. Tensors in `names` are called by these names."""
    known = {
        name: value
        for name, value in (names or {}).items()
        if isinstance(value, torch.Tensor) and not name.startswith("_")
    }
    found = nodes_behind(tensor)
    numbers = {node: number for number, node in enumerate(found[:most], 1)}
    first = Node(
        "result" if found else "leaf",
        _name_of(tensor, known) or "result",
        facts(tensor),
        leads_to=(1,) if found else (),
    )
    nodes = (first, *(_node(node, numbers, known) for node in numbers))
    return History(nodes, left_out=max(0, len(found) - most))


def _node(node: Any, numbers: dict[Any, int], known: Mapping[str, torch.Tensor]) -> Node:
    leaf = getattr(node, "variable", None)
    if isinstance(leaf, torch.Tensor):
        return Node("leaf", _name_of(leaf, known) or "unnamed leaf", facts(leaf))
    made = [name for name, value in known.items() if value.grad_fn is node]
    return Node(
        "operation",
        _title(node),
        made=made[0] if made else "",
        leads_to=tuple(
            numbers.get(following)
            for following, _ in node.next_functions
            if following is None or following in numbers
        ),
        kept=tuple(_kept(node, known)),
    )


def _title(node: Any) -> str:
    return str(node.name()).rpartition("::")[2]


def _name_of(tensor: torch.Tensor, known: Mapping[str, torch.Tensor]) -> str:
    """What the reader calls this very tensor, or one that describes the same elements."""
    for name, value in known.items():
        if value is tensor:
            return name
    return ""


def _kept(node: Any, known: Mapping[str, torch.Tensor]) -> Iterator[Kept]:
    for attribute in dir(node):
        if attribute == "saved_tensors" or attribute.startswith("_saved_"):
            yield from _read(node, attribute, known)


def _read(node: Any, attribute: str, known: Mapping[str, torch.Tensor]) -> Iterator[Kept]:
    label = attribute.removeprefix("_saved_")
    try:
        saved = getattr(node, attribute)
    except RuntimeError as error:
        # Reading a saved tensor asks what backward would ask, and is refused as backward would be.
        versions = _VERSIONS.search(str(error))
        if versions is not None:
            yield Kept(label, version=int(versions[2]), now=int(versions[1]))
        elif "second time" in str(error) or "been freed" in str(error):
            yield Kept(label, freed=True)
        return
    several = isinstance(saved, list | tuple)
    for number, one in enumerate(saved if several else [saved]):
        if isinstance(one, torch.Tensor):
            seen = facts(one)
            name = f"{label}[{number}]" if several else label
            called = _name_of(one, known) or _called_like(seen, known)
            yield Kept(name, called, seen.shape, seen.version, seen.version)


def _called_like(seen: TensorFacts, known: Mapping[str, torch.Tensor]) -> str:
    """The name of a tensor with the same elements: a saved result comes back as a new object."""
    layout = (seen.storage, seen.shape, seen.stride, seen.storage_offset)
    for name, value in known.items():
        if value.layout is not torch.strided:
            continue
        other = facts(value)
        if layout == (other.storage, other.shape, other.stride, other.storage_offset):
            return name
    return ""
