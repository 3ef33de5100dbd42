"""How the memory of two tensors lies to each other, and what to say where it should not.

Each takes the facts of both and what they are called, and gives None where the relation holds.
"""

from __future__ import annotations

from collections.abc import Callable

from course.inspection.facts import TensorFacts, overlap, same_memory, same_storage
from course.testing.results import Failure

__all__ = ["Relation", "copied", "disjoint", "overlapping", "same_layout", "sharing_storage"]

Relation = Callable[[TensorFacts, TensorFacts, str, str], Failure | None]


def sharing_storage(one: TensorFacts, other: TensorFacts, a: str, b: str) -> Failure | None:
    """Both live in one storage."""
    if same_storage(one, other):
        return None
    words = (
        f"{a} has its own storage ({one.storage_nbytes} bytes) and not that of {b}: "
        "the elements were copied"
    )
    return Failure(words, "another storage", "the same storage", (one, other))


def copied(one: TensorFacts, other: TensorFacts, a: str, b: str) -> Failure | None:
    """They live in different storages, which lie over different memory."""
    if not same_memory(one, other):
        return None
    same = "storage" if same_storage(one, other) else "memory"
    words = f"{a} still lives in the {same} of {b}"
    return Failure(words, f"the same {same}", "a storage of its own", (one, other))


def overlapping(one: TensorFacts, other: TensorFacts, a: str, b: str) -> Failure | None:
    """They have a byte of memory in common."""
    if overlap(one, other):
        return None
    words = f"{a} and {b} have no element of memory in common"
    return Failure(words, "no common element", "a common element", (one, other))


def disjoint(one: TensorFacts, other: TensorFacts, a: str, b: str) -> Failure | None:
    """They have no byte of memory in common."""
    if not overlap(one, other):
        return None
    words = f"{a} and {b} have elements of memory in common"
    return Failure(words, "a common element", "no common element", (one, other))


def same_layout(one: TensorFacts, other: TensorFacts, a: str, b: str) -> Failure | None:
    """They have the same shape, strides and storage offset; only `a` is named."""
    layouts = [(f.shape, f.stride, f.storage_offset) for f in (one, other)]
    if layouts[0] == layouts[1]:
        return None
    shown = [f"shape {s}, stride {t}, offset {o}" for s, t, o in layouts]
    words = f"{a} has {shown[0]}; expected was {shown[1]}"
    return Failure(words, shown[0], shown[1], (one, other))
