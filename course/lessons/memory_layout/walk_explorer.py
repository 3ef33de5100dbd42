"""The walk explorer: a slider that reads tensors row by row and shows where that leads."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import torch

from course.inspection.facts import facts, positions
from course.lessons.memory_layout.walk_figure import indices_of, show_walk
from course.widgets.explorer import Explorer
from course.widgets.pages import PROSE

__all__ = ["WalkExplorer", "WalkPanel", "explore_walk", "step_words"]


def explore_walk(*tensors: torch.Tensor, names: Sequence[str]) -> WalkExplorer:
    """An explorer of the row-major walk through small tensors of the same number of elements.

    In a live notebook a slider chooses the element. Anywhere else it is a picture of the whole
    walk.

    Args:
        tensors: The tensors to walk through.
        names: What each of them is called, in their order.

    Raises:
        ValueError: Their numbers of elements differ, or there is not a name for each.
    """
    return WalkExplorer(tensors, names)


class WalkExplorer(Explorer["WalkPanel"]):
    """What `explore_walk` shows: a panel with a slider, or the picture of the whole walk."""

    def __init__(self, tensors: Sequence[torch.Tensor], names: Sequence[str]) -> None:
        if len({tensor.numel() for tensor in tensors}) != 1 or len(tensors) != len(names):
            raise ValueError(
                "explore_walk() takes tensors of one number of elements, and a name for each."
            )
        self._tensors, self._names = tuple(tensors), tuple(names)
        self._whole = show_walk(*tensors, names=names)

    def _make_panel(self) -> WalkPanel:
        return WalkPanel(self._tensors, self._names)

    def __repr__(self) -> str:
        return repr(self._whole)

    def _repr_html_(self) -> str:
        return self._whole._repr_html_()


class WalkPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, tensors: Sequence[torch.Tensor], names: Sequence[str]) -> None:
        from ipywidgets import HTML, IntSlider, Layout, VBox

        self._tensors, self._names = tensors, names
        self.element = IntSlider(
            value=1,
            min=1,
            max=tensors[0].numel(),
            description="Elements read:",
            style={"description_width": "initial"},
            layout=Layout(width="70%"),
        )
        self.page = HTML()
        self.element.observe(lambda change: self._draw(change["new"]), names="value")
        self.box = VBox([self.element, self.page])
        self._draw(self.element.value)

    def _draw(self, steps: int) -> None:
        pairs = zip(self._tensors, self._names, strict=True)
        words = "".join(f"<li>{escape(step_words(t, name, steps))}</li>" for t, name in pairs)
        picture = show_walk(*self._tensors, names=self._names, steps=steps)
        self.page.value = (
            f'<div role="status" style="{PROSE}"><ul>{words}</ul></div>{picture._repr_html_()}'
        )


def step_words(tensor: torch.Tensor, name: str, steps: int) -> str:
    """Where the walk stands after so many elements, as a sum, and how far it came in one step.

    >>> step_words(torch.arange(6).view(2, 3).t(), "t", 3)
    't[1, 0] lies at 0 + 1 · 1 + 0 · 3 = 1, 2 places back.'
    """
    seen, walk = facts(tensor), positions(tensor)
    index = indices_of(tensor)[steps - 1]
    terms = [f"{i} · {step}" for i, step in zip(index, seen.stride, strict=True)]
    total = " + ".join([str(seen.storage_offset), *terms])
    place = f"{name}[{', '.join(map(str, index))}] lies at {total} = {walk[steps - 1]}"
    return f"{place}{_since(walk, steps)}."


def _since(walk: Sequence[int], steps: int) -> str:
    if steps < 2:
        return ", where the walk begins"
    moved = walk[steps - 1] - walk[steps - 2]
    if moved == 0:
        return ", the same place again"
    places = "1 place" if abs(moved) == 1 else f"{abs(moved)} places"
    return f", {places} {'further' if moved > 0 else 'back'}"
