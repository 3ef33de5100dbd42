"""The checkpoint explorer: two checkpoints side by side, entry by entry."""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path
from typing import Any

import torch

from course.lessons.checkpoints.comparison import KINDS, SAME, Row, compared, entries_of
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

__all__ = ["ALL", "CheckpointExplorer", "CheckpointPanel", "explore_checkpoints", "page_html"]

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
