"""The memory explorer: move through a recording and see the segments at each event."""

from __future__ import annotations

from html import escape

from course.gpu.simulator.allocator.sizes import format_size
from course.gpu.timeline import Timeline
from course.lessons.gpu_memory.memory_figure import segments_picture, show_timeline
from course.widgets.explorer import Explorer
from course.widgets.pages import PROSE

__all__ = ["MemoryExplorer", "MemoryPanel", "explore_memory"]

_LISTED = 8


def explore_memory(timeline: Timeline) -> MemoryExplorer:
    """An explorer of a recording: its timeline, and the segments at the event you choose.

    In a live notebook a slider chooses the event. Anywhere else the page shows the peak.

    Args:
        timeline: What a `gpu.Recorder` has recorded.
    """
    return MemoryExplorer(timeline)


class MemoryExplorer(Explorer["MemoryPanel"]):
    """What `explore_memory` shows: a panel with a slider, or the page of the peak."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def _make_panel(self) -> MemoryPanel:
        return MemoryPanel(self._timeline)

    def __repr__(self) -> str:
        at = self._timeline.peak.at
        pictures = (show_timeline(self._timeline), segments_picture(self._timeline, at))
        return "\n".join([moment_words(self._timeline, at), *map(repr, pictures)])

    def _repr_html_(self) -> str:
        return show_timeline(self._timeline)._repr_html_() + moment_html(
            self._timeline, self._timeline.peak.at
        )


class MemoryPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, timeline: Timeline) -> None:
        from ipywidgets import HTML, Button, HBox, IntSlider, Layout, VBox

        self._timeline = timeline
        last = len(timeline.moments) - 1
        self.event = IntSlider(
            value=timeline.peak.at,
            min=0,
            max=last,
            description="After event:",
            continuous_update=False,
            style={"description_width": "initial"},
            layout=Layout(width="70%"),
        )
        self.peak = Button(description="Go to the peak", layout=Layout(width="auto"))
        self.peak.on_click(lambda _: self.show(timeline.peak.at))
        self.overview, self.page = HTML(), HTML()
        self.event.observe(lambda change: self._draw(change["new"]), names="value")
        self.box = VBox([self.overview, HBox([self.event, self.peak]), self.page])
        self._draw(self.event.value)

    def show(self, at: int) -> None:
        """Go to an event."""
        self.event.value = at

    def _draw(self, at: int) -> None:
        self.page.value = moment_html(self._timeline, at)
        self.overview.value = show_timeline(self._timeline, at=at)._repr_html_()


def moment_words(timeline: Timeline, at: int) -> str:
    """What is in use after an event, in one sentence and the largest blocks."""
    moment = timeline.moments[at]
    words = (
        f"After event {at}: {format_size(moment.allocated)} in use, "
        f"{format_size(moment.reserved)} reserved."
    )
    largest = timeline.holders(at)[:_LISTED]
    listed = [
        f"{one.category}: {f'{one.name}, ' if one.name else ''}{format_size(one.nbytes)}"
        for one in largest
    ]
    return "\n".join([words, *listed])


def moment_html(timeline: Timeline, at: int) -> str:
    """The same with the segment map, as a page."""
    head, *rows = moment_words(timeline, at).split("\n")
    items = "".join(f"<li>{escape(row)}</li>" for row in rows)
    picture = segments_picture(timeline, at)
    return (
        f'<div style="{PROSE}"><p>{escape(head)} The largest blocks:</p><ul>{items}</ul></div>'
        f"{picture._repr_html_()}"
    )
