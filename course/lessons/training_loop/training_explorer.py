"""The training explorer: learning rate, batch size and accumulation, update by update."""

from __future__ import annotations

from html import escape
from typing import Any

from course.figures.picture import drawing
from course.lessons.training_loop.training_pictures import gradient_picture, path_picture
from course.lessons.training_loop.training_run import (
    SCALINGS,
    UPDATES,
    Settings,
    Update,
    best,
    loss_at,
    train,
)
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

__all__ = ["TrainingExplorer", "TrainingPanel", "explore_training"]

_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1)


def explore_training(
    lr: float = 0.1, batch: int = 4, accumulate: int = 1, scaling: str = SCALINGS[0]
) -> TrainingExplorer:
    """An explorer of a training of one weight, which starts from these settings.

    In a live notebook it has sliders for the rate, the batches and the update; anywhere else it is
    a static page of all the updates.

    Args:
        lr: The learning rate, above 0.
        batch: Examples a batch, 1 to 22.
        accumulate: Batches whose gradients add up for one update.
        scaling: "as it is", "divide by accumulation" or "weigh by examples".

    Raises:
        ValueError: A setting is out of range; the message has the ranges.
    """
    return TrainingExplorer(Settings(lr, batch, accumulate, scaling))


class TrainingExplorer(Explorer["TrainingPanel"]):
    """What `explore_training` shows: a panel of widgets, or the same page without sliders."""

    def __init__(self, start: Settings) -> None:
        self._start = start

    def _make_panel(self) -> TrainingPanel:
        return TrainingPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(words_of(self._start, UPDATES))

    def _repr_html_(self) -> str:
        return page_html(self._start, UPDATES)


class TrainingPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: Settings) -> None:
        from ipywidgets import HTML, Dropdown, HBox, Layout, Play, SelectionSlider, VBox, link

        rates = sorted({*_RATES, start.lr})
        self.lr = SelectionSlider(options=rates, value=start.lr, **_quiet("lr:"))
        self.batch = _slider("Batch size:", start.batch, 22)
        self.accumulate = _slider("Batches for one step:", start.accumulate, 6)
        label = labelled("Each batch's mean loss:")
        wide = Layout(width="auto")
        self.scaling = Dropdown(options=SCALINGS, value=start.scaling, layout=wide, **label)
        self.update = _slider("Update:", UPDATES, UPDATES)
        self.play = Play(value=UPDATES, min=1, max=UPDATES, interval=500)
        link((self.play, "value"), (self.update, "value"))
        self.page = HTML()
        rows = [(self.lr, self.batch), (self.accumulate, self.scaling), (self.play, self.update)]
        wrapped = Layout(flex_flow="row wrap")
        self.box = VBox([*(HBox(row, layout=wrapped) for row in rows), self.page])
        for control in (*self._controls(), self.update):
            control.observe(lambda _: self._draw(), names="value")
        self._draw()

    def _controls(self) -> tuple[Any, ...]:
        return self.lr, self.batch, self.accumulate, self.scaling

    @property
    def settings(self) -> Settings:
        """What the controls say now."""
        return Settings(*(control.value for control in self._controls()))

    def _draw(self) -> None:
        self.page.value = page_html(self.settings, self.update.value)


def _quiet(label: str) -> dict[str, Any]:
    """What a slider is made with that draws when it is let go."""
    from ipywidgets import Layout

    return {"continuous_update": False, "layout": Layout(width="400px"), **labelled(label)}


def _slider(label: str, value: int, most: int) -> Any:
    from ipywidgets import IntSlider

    return IntSlider(value, 1, max(most, value), **_quiet(label))


def page_html(settings: Settings, at: int) -> str:
    """The way of the weight up to this update, the update's gradient, and both in words."""
    words = "".join(f"<p>{escape(line)}</p>" for line in words_of(settings, at))
    pictures = ""
    if drawing():
        updates, full = train(settings), train(Settings(settings.lr, batch=22))
        shown = (path_picture(updates, full, at), gradient_picture(updates[at - 1]))
        pictures = "".join(picture._repr_html_() for picture in shown)
    return f"{pictures}<div style='{PROSE}'>{words}</div>"


def words_of(settings: Settings, at: int) -> list[str]:
    """What this update did, and what becomes of the training."""
    updates = train(settings)
    update = updates[at - 1]
    return [
        f"Update {at} of {len(updates)}: the weight goes from {update.before:.3g} to "
        f"{update.after:.3g}. {_reading(update)}",
        _outcome(updates),
    ]


def _reading(update: Update) -> str:
    examples = "its 1 example" if update.examples == 1 else f"its {update.examples} examples"
    wanted = f"the gradient of the mean loss over {examples}"
    if abs(update.grad - update.wanted) <= 1e-9 * max(1.0, abs(update.wanted)):
        return f"step() reads {wanted}, as one large batch would give it."
    return f"step() reads {update.grad / update.wanted:.3g} times {wanted}."


def _outcome(updates: list[Update]) -> str:
    first, last, least = loss_at(updates[0].before), loss_at(updates[-1].after), loss_at(best())
    told = (
        f"After {len(updates)} updates the loss is {last:.3g}; the least possible is {least:.3g}."
    )
    if last > first:
        return f"{told} It grows: each step leaps over the valley and lands higher than before."
    swings = sum((a.after - best()) * (a.before - best()) < 0 for a in updates)
    if swings > len(updates) // 2:
        return f"{told} The weight swings from one side of the valley to the other."
    return told
