"""What autograd recorded: the nodes behind a tensor and the tensors they save for backward."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from course.inspection.facts import facts
from course.inspection.parts import held_within, parts_of
from course.inspection.tree_leaves import tree_leaves

__all__ = ["Saved", "nodes_behind", "saved_by"]

# A graph larger than this is not a lesson's graph; the walk stops and the rest is not listed.
_NODE_LIMIT = 10_000


@dataclass(frozen=True)
class Saved:
    """A tensor that a node keeps for backward: `MulBackward0` keeps `self` and `other`.

    `nbytes` is the size of its storage. A tensor changed in place since it was saved cannot
    be read any more: then `stale` is True and `storage` and `nbytes` are 0.
    """

    node: str
    name: str
    shape: tuple[int, ...] = ()
    storage: int = 0
    nbytes: int = 0
    version: int | None = None
    stale: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(self.shape))


def nodes_behind(*tensors: torch.Tensor) -> list[Any]:
    """The autograd nodes that lead from the tensors to their leaves, nearest first."""
    found = [t.grad_fn for t in tensors if t.grad_fn is not None]
    seen = set(found)
    for node in found:
        for following, _ in node.next_functions:
            if following is not None and following not in seen and len(found) < _NODE_LIMIT:
                seen.add(following)
                found.append(following)
    return found


def saved_by(result: Any) -> tuple[Saved, ...]:
    """The tensors that the graph behind a result (nested or not) keeps for backward."""
    tensors = [
        leaf
        for leaf in tree_leaves(result)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    return tuple(saved for node in nodes_behind(*tensors) for saved in _saved(node))


def _saved(node: Any) -> Iterator[Saved]:
    name = str(node.name()).rpartition("::")[2]
    for attribute in dir(node):
        if attribute == "saved_tensors" or attribute.startswith("_saved_"):
            yield from _read(node, name, attribute)
    # A Function of one's own can also keep tensors as attributes of its ctx, which is the node:
    # in a list, in an object of any class or in what a function there closes over. The graph keeps
    # all of these alive, whatever holds them.
    for attribute, kept in getattr(node, "__dict__", {}).items():
        for one in held_within(kept, _parts_but_of_classes):
            if isinstance(one, torch.Tensor):
                yield _seen(name, attribute, one)


def _parts_but_of_classes(value: Any) -> Iterable[Any]:
    """A class outlives the graph, and its bases lead through all of torch."""
    return () if issubclass(type(value), type) else parts_of(value)


def _read(node: Any, name: str, attribute: str) -> Iterator[Saved]:
    label = attribute.removeprefix("_saved_")
    try:
        kept = getattr(node, attribute)
    except RuntimeError as error:
        # Reading checks the version as backward would; after backward the tensors are gone.
        if "inplace operation" in str(error):
            yield Saved(name, label, stale=True)
        return
    for tensor in kept if isinstance(kept, list | tuple) else [kept]:
        if isinstance(tensor, torch.Tensor):
            yield _seen(name, label, tensor)


def _seen(node: str, name: str, tensor: torch.Tensor) -> Saved:
    seen = facts(tensor)
    return Saved(node, name, seen.shape, seen.storage, seen.storage_nbytes, seen.version)
