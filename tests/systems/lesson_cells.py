"""Cells of a lesson, run one after another as a notebook would run them."""

from __future__ import annotations

from typing import Any

from tests.lessons.source import Source

__all__ = ["run_cells"]


def run_cells(slug: str, *ids: str, **changed: tuple[str, str]) -> dict[str, Any]:
    """What these cells of a lesson define.

    `changed` replaces text in a cell as a learner would, by the cell's id with `_` for `-`:
    `asked=("try_it = False", "try_it = True")`.
    """
    cells = Source(slug).cells()
    names: dict[str, Any] = {"__name__": "__main__"}
    for id_ in ids:
        text = str(cells[id_]["source"])
        if id_.replace("-", "_") in changed:
            old, new = changed[id_.replace("-", "_")]
            assert old in text, (id_, old)
            text = text.replace(old, new)
        exec(compile(text, id_, "exec"), names)
    return names
