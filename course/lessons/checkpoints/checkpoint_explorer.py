"""The checkpoint explorer: two checkpoints side by side, entry by entry.

Two checkpoints compared, entry by entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import torch

from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

__all__ = [
    "ALL",
    "CHANGED",
    "KINDS",
    "NEW",
    "OLD",
    "OTHER",
    "SAME",
    "CheckpointExplorer",
    "CheckpointPanel",
    "Row",
    "compared",
    "entries_of",
    "explore_checkpoints",
    "page_html",
]

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


ALL, BUT_SAME = "all entries", "all that differ"
_MOST = 40  # rows of the table; what is beyond is counted
_CELL = "text-align:left;padding:2px 14px 2px 0"


def explore_checkpoints(first: object, second: object, prefix: str = "") -> CheckpointExplorer:
    """An explorer of what differs between two checkpoints: dicts, or paths of files.

    Files are loaded with `weights_only=True`, so none of them runs code. In a live notebook there
    are a list of what to show and a field for the prefix; anywhere else it is a static table.

    Args:
        first: A checkpoint, or the path of its file.
        second: The one it is compared with.
        prefix: Taken off the names of both: "module." for a checkpoint of DataParallel.

    Raises:
        pickle.UnpicklingError: a file holds more than weights.
    """
    return CheckpointExplorer(_loaded(first), _loaded(second), prefix)


def _loaded(given: object) -> object:
    if isinstance(given, str | Path):
        return torch.load(given, map_location="cpu", weights_only=True)
    return given


class CheckpointExplorer(Explorer["CheckpointPanel"]):
    """What `explore_checkpoints` shows: a panel of widgets, or the same table without them."""

    def __init__(self, first: object, second: object, prefix: str) -> None:
        self._both, self._prefix = (first, second), prefix

    def _make_panel(self) -> CheckpointPanel:
        return CheckpointPanel(*self._both, self._prefix)

    def __repr__(self) -> str:
        rows = rows_of(*self._both, self._prefix)
        lines = [f"{row.name}: {row.kind} {row.note}".rstrip() for row in rows]
        return "\n".join([summary(rows), *lines])

    def _repr_html_(self) -> str:
        return page_html(rows_of(*self._both, self._prefix), ALL)


class CheckpointPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, first: object, second: object, prefix: str) -> None:
        from ipywidgets import HTML, Dropdown, HBox, Layout, Text, VBox

        self._both = first, second
        options = (ALL, BUT_SAME, *KINDS)
        self.shown = Dropdown(options=options, value=ALL, **labelled("Show:"))
        self.prefix = Text(
            value=prefix, continuous_update=False, **labelled("Prefix to take off the names:")
        )
        self.page = HTML()
        row = HBox([self.shown, self.prefix], layout=Layout(flex_flow="row wrap"))
        self.box = VBox([row, self.page])
        for control in (self.shown, self.prefix):
            control.observe(lambda _: self._draw(), names="value")
        self._draw()

    def _draw(self) -> None:
        rows = rows_of(*self._both, self.prefix.value)
        self.page.value = page_html(rows, self.shown.value)


def rows_of(first: object, second: object, prefix: str) -> list[Row]:
    """The rows of both checkpoints, with this prefix taken off their names."""
    return compared(entries_of(first, prefix), entries_of(second, prefix))


def summary(rows: list[Row]) -> str:
    """How many entries there are of each kind."""
    counted = Counter(row.kind for row in rows)
    told = ", ".join(f"{counted[kind]} {kind}" for kind in KINDS if counted[kind])
    return f"{len(rows)} entries: {told}." if rows else "No entries."


def page_html(rows: list[Row], shown: str) -> str:
    """The table of the rows of this kind, under a line that counts them all."""
    asked = [row for row in rows if _is_shown(row, shown)]
    names = ("entry", "first", "second", "what became of it")
    head = "".join(f'<th scope="col" style="{_CELL}">{name}</th>' for name in names)
    body = "".join(_row_html(row) for row in asked[:_MOST])
    more = f"<p>and {len(asked) - _MOST} more</p>" if len(asked) > _MOST else ""
    table = f"<table><tr>{head}</tr>{body}</table>{more}" if asked else "<p>None of them.</p>"
    return f'<div style="{PROSE}"><p>{escape(summary(rows))}</p>{table}</div>'


def _is_shown(row: Row, shown: str) -> bool:
    if shown == BUT_SAME:
        return row.kind != SAME
    return shown in (ALL, row.kind)


def _row_html(row: Row) -> str:
    what = f"{row.kind}: {row.note}" if row.note else row.kind
    cells: list[Any] = [f"<code>{escape(text)}</code>" for text in (row.first, row.second)]
    told = escape(what) if row.kind == SAME else f"<b>{escape(what)}</b>"
    rest = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in (*cells, told))
    dotted = escape(row.name).replace(".", ".<wbr>")  # long names break where the cell is narrow
    name = f'<th scope="row" style="{_CELL}"><code>{dotted}</code></th>'
    return f"<tr>{name}{rest}</tr>"
