"""The freezing explorer: a switch for each block, with what it does to gradient and memory."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from course.figures.picture import drawing
from course.lessons.transfer.freezing_pictures import step_picture
from course.lessons.transfer.freezing_step import FROZEN, HIDDEN, MODES, TRAINS, checked, measure
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

__all__ = ["FreezingExplorer", "FreezingPanel", "explore_freezing", "page_html", "words_of"]


def explore_freezing(
    first: str = FROZEN, second: str = FROZEN, third: str = TRAINS, fourth: str = TRAINS
) -> FreezingExplorer:
    """An explorer of one training step through four blocks, each with a switch.

    In a live notebook each block has a menu; anywhere else it is a static page of these settings.

    Args:
        first: "trains", "frozen" or "under no_grad".
        second: The same for the second block.
        third: The same for the third block.
        fourth: The same for the last block.

    Returns:
        The explorer; a notebook shows it as the last value of a cell.

    Raises:
        ValueError: One of them is another word.
    """
    return FreezingExplorer(checked((first, second, third, fourth)))


class FreezingExplorer(Explorer["FreezingPanel"]):
    """What `explore_freezing` shows: a panel of widgets, or the same page without menus."""

    def __init__(self, start: Sequence[str]) -> None:
        self._start = tuple(start)

    def _make_panel(self) -> FreezingPanel:
        return FreezingPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(words_of(self._start))

    def _repr_html_(self) -> str:
        return page_html(self._start)


class FreezingPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: Sequence[str]) -> None:
        from ipywidgets import HTML, Dropdown, HBox, Layout, VBox

        self.menus = [
            Dropdown(
                options=MODES, value=mode, layout=Layout(width="200px"), **labelled(f"Block {n}:")
            )
            for n, mode in enumerate(start, 1)
        ]
        self.page = HTML()
        self.box = VBox([HBox(self.menus, layout=Layout(flex_flow="row wrap")), self.page])
        for menu in self.menus:
            menu.observe(lambda _: self._draw(), names="value")
        self._draw()

    @property
    def modes(self) -> tuple[str, ...]:
        """What the menus say now."""
        return tuple(menu.value for menu in self.menus)

    def _draw(self) -> None:
        self.page.value = page_html(self.modes)


def page_html(modes: Sequence[str]) -> str:
    """The picture of these settings, and what they do in words."""
    words = "".join(f"<p>{escape(line)}</p>" for line in words_of(modes))
    picture = step_picture(measure(modes))._repr_html_() if drawing() else ""
    return f"{picture}<div style='{PROSE}'>{words}</div>"


def words_of(modes: Sequence[str]) -> list[str]:
    """What this step costs, and what stands in its way."""
    step, all_train = measure(modes), measure((TRAINS,) * len(modes))
    if not step.ran:
        return ["backward raises an error: nothing that leads to the loss requires grad."]
    share = 100 * step.bytes / all_train.bytes
    told = [
        f"Beyond the parameters, this step needs {step.bytes / 1024:.0f} kB: {share:.0f} % of "
        f"what it takes when all blocks train."
    ]
    cut = [n for n, one in enumerate(step.blocks, 1) if one.mode == TRAINS and not one.moved]
    if cut:
        named = " and ".join(map(str, cut))
        wall = max(n for n, one in enumerate(step.blocks, 1) if one.mode == HIDDEN)
        told.append(
            f"Block {named} should train and can't: block {wall} runs under no_grad, and no "
            "gradient comes through it."
        )
    kept = [n for n, one in enumerate(step.blocks, 1) if one.mode == FROZEN and one.saved]
    if kept:
        named = " and ".join(map(str, kept))
        told.append(
            f"Block {named} is frozen and still keeps activations: a gradient has to come "
            "through to what trains in front of it."
        )
    return told
