"""The explorer of ranks: step through scatter, backward, all_reduce and step."""

from __future__ import annotations

from html import escape
from typing import Any

from course.figures.picture import drawing
from course.lessons.devices.ranks_pictures import ranks_picture
from course.lessons.devices.ranks_run import (
    MOST_RANKS,
    MOST_SAMPLES,
    PHASES,
    PLAIN,
    WAYS,
    Settings,
    alone,
    run,
)
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

__all__ = ["RanksExplorer", "RanksPanel", "explore_ranks"]

_LAST = len(PHASES) - 1
_SAME = 1e-9


def explore_ranks(
    ranks: int = 2, samples: int = 5, way: str = PLAIN, alike: bool = True
) -> RanksExplorer:
    """An explorer of one training step of several ranks, which starts from these settings.

    In a live notebook it has controls, and a slider for the phases of the step; anywhere else it
    is a static page of the whole step.

    Args:
        ranks: 1 to 4.
        samples: 1 to 12, dealt out as evenly as can be.
        way: "weighed by samples", "plain mean", "sum" or "nothing".
        alike: Whether all ranks start with the same weight.
    """
    return RanksExplorer(Settings(ranks, samples, way, alike))


class RanksExplorer(Explorer["RanksPanel"]):
    """What `explore_ranks` shows: a panel of widgets, or the same page without controls."""

    def __init__(self, start: Settings) -> None:
        self._start = start

    def _make_panel(self) -> RanksPanel:
        return RanksPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(words_of(self._start, _LAST))

    def _repr_html_(self) -> str:
        return page_html(self._start, _LAST)


class RanksPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: Settings) -> None:
        from ipywidgets import HTML, Checkbox, Dropdown, HBox, Layout, Play, VBox, link

        self.ranks = _slider("Ranks:", start.ranks, 1, MOST_RANKS)
        self.samples = _slider("Samples:", start.samples, 1, MOST_SAMPLES)
        self.way = Dropdown(options=WAYS, value=start.way, **labelled("all_reduce gives:"))
        self.alike = Checkbox(value=start.alike, **labelled("They start alike"))
        self.phase = _slider("Phase:", 0, 0, _LAST)
        self.play = Play(value=0, min=0, max=_LAST, interval=900)
        link((self.play, "value"), (self.phase, "value"))
        self.page = HTML()
        rows = [(self.ranks, self.samples), (self.way, self.alike), (self.play, self.phase)]
        wrapped = Layout(flex_flow="row wrap")
        self.box = VBox([*(HBox(row, layout=wrapped) for row in rows), self.page])
        for control in (*self._controls(), self.phase):
            control.observe(lambda _: self._draw(), names="value")
        self._draw()

    def _controls(self) -> tuple[Any, ...]:
        return self.ranks, self.samples, self.way, self.alike

    @property
    def settings(self) -> Settings:
        """What the controls say now."""
        return Settings(*(control.value for control in self._controls()))

    def _draw(self) -> None:
        self.page.value = page_html(self.settings, self.phase.value)


def _slider(label: str, value: int, least: int, most: int) -> Any:
    from ipywidgets import IntSlider, Layout

    layout = Layout(width="340px")
    return IntSlider(value, least, most, continuous_update=False, layout=layout, **labelled(label))


def page_html(settings: Settings, phase: int) -> str:
    """The ranks up to this phase as a picture, and what happens in it, in words.

    Args:
        settings: What the controls say.
        phase: An index into PHASES.
    """
    words = "".join(f"<p>{escape(line)}</p>" for line in words_of(settings, phase))
    picture = ranks_picture(run(settings), phase)._repr_html_() if drawing() else ""
    return f"{picture}<div style='{PROSE}'>{words}</div>"


def words_of(settings: Settings, phase: int) -> list[str]:
    """What happens in this phase, and after the last one what became of it.

    Args:
        settings: What the controls say.
        phase: An index into PHASES.
    """
    told = {
        "start": f"Each rank has a model of one weight. Samples in the batch: {settings.samples}.",
        "scatter": "Each rank takes its own samples.",
        "backward": "Each rank computes the gradient of the mean loss over its samples.",
        "all_reduce": f"What all ranks read then: {settings.way}.",
        "step": "Each rank takes a step with a rate of 0.01.",
    }[PHASES[phase]]
    if settings.way == WAYS[-1] and PHASES[phase] == "all_reduce":
        told = "Nobody asks the others: each rank reads its own gradient."
    lines = [f"Phase {phase} of {_LAST}, {PHASES[phase]}. {told}"]
    return [*lines, _outcome(settings)] if phase == _LAST else lines


def _outcome(settings: Settings) -> str:
    after, single = [rank.after for rank in run(settings)], alone(settings)
    if max(after) - min(after) > _SAME:
        return "The ranks have different weights now, and no later step will tell you."
    if abs(after[0] - single) > _SAME:
        return (
            f"All ranks have the weight {after[0]:.4f}; a single process with all samples would "
            f"have {single:.4f}."
        )
    return f"All ranks have the weight {single:.4f}, as a single process with all samples would."
