"""Two checkpoints compared, entry by entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

__all__ = ["CHANGED", "KINDS", "NEW", "OLD", "OTHER", "SAME", "Row", "compared", "entries_of"]

SAME, CHANGED, OTHER = "the same", "changed", "another shape, dtype or type"
OLD, NEW = "only in the first", "only in the second"
KINDS = (SAME, CHANGED, OTHER, OLD, NEW)


@dataclass(frozen=True)
class Row:
    """An entry: its name, what became of it (one of `KINDS`), and both sides in words."""

    name: str
    kind: str
    first: str
    second: str
    note: str = ""


def entries_of(checkpoint: object, prefix: str = "") -> dict[str, Any]:
    """The entries of nested dicts, lists and tuples, by the path of keys that leads to each.

    A `prefix` is taken off where it begins a name, also within a nested dict: of "module.",
    "model.module.weight" becomes "model.weight".
    """
    return {_without(prefix, name): value for name, value in _walked(checkpoint, "")}


def _without(prefix: str, name: str) -> str:
    return f".{name}".replace(f".{prefix}", ".", 1)[1:] if prefix else name


def _walked(value: object, name: str) -> Iterator[tuple[str, Any]]:
    inside: Iterator[tuple[Any, Any]] | None = None
    if isinstance(value, Mapping):
        inside = iter(value.items())
    elif isinstance(value, list | tuple) and any(_has_entries(one) for one in value):
        inside = iter(enumerate(value))
    if inside is None or not value:
        yield name or "(the object)", value
        return
    for key, one in inside:
        yield from _walked(one, f"{name}.{key}" if name else str(key))


def _has_entries(value: object) -> bool:
    return isinstance(value, Mapping | torch.Tensor | list | tuple)


def compared(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Row]:
    """A row for each entry of one or the other, in the order of the first, then the second."""
    names = [*first, *(name for name in second if name not in first)]
    return [_row(name, first, second) for name in names]


def _row(name: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> Row:
    if name not in second:
        return Row(name, OLD, _words(first[name]), "–")
    if name not in first:
        return Row(name, NEW, "–", _words(second[name]))
    one, other = first[name], second[name]
    kind, note = _judged(one, other)
    return Row(name, kind, _words(one), _words(other), note)


def _judged(one: Any, other: Any) -> tuple[str, str]:
    """What became of an entry that both have."""
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor)):
        if type(one) is not type(other):
            return OTHER, ""
        equal = one == other  # of arrays, an array
        same = equal if isinstance(equal, bool) else repr(one) == repr(other)
        return (SAME if same else CHANGED), ""
    if one.shape != other.shape or one.dtype != other.dtype:
        return OTHER, ""
    one, other = one.detach().cpu(), other.detach().cpu()
    equal = (one == other) | ((one != one) & (other != other))  # nan is what it was
    if bool(equal.all()):
        return SAME, ""
    wide = torch.complex128 if one.is_complex() else torch.float64
    apart = (one.to(wide) - other.to(wide)).abs()[~equal]
    share = f"{int((~equal).sum())} of {one.numel()}"
    return CHANGED, f"{share}, by up to {float(apart.max()):.3g}"


def _words(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        only = f" = {value.item():.4g}" if value.dim() == 0 and not value.is_complex() else ""
        return f"{dtype} {tuple(value.shape)}{only}"
    told = repr(value)
    return told if len(told) <= 40 else f"{told[:37]}…"
