"""The halving explorer: how many trials, how strict, from when on; rung by rung."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from course.figures.picture import drawing
from course.lessons.experiments.rungs_figure import rungs_picture
from course.lessons.experiments.successive_halving import Rung, halving_plan
from course.lessons.experiments.trials import EPOCHS, MOST, rates, trial_losses
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

__all__ = ["HalvingExplorer", "HalvingPanel", "Settings", "explore_halving"]

_ETAS = (2, 3, 4)


@dataclass(frozen=True)
class Settings:
    """What the controls say: trials, which part of them goes on, and epochs to the first rung."""

    trials: int = 9
    eta: int = 3
    low: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.trials <= MOST or self.eta not in _ETAS or not 1 <= self.low <= EPOCHS:
            raise ValueError(
                f"trials is from 1 to {MOST}, eta one of {_ETAS}, low from 1 to {EPOCHS}; "
                f"got {self.trials}, {self.eta} and {self.low}."
            )

    def losses(self) -> list[tuple[float, ...]]:
        """The losses of each trial, epoch by epoch."""
        return list(trial_losses()[: self.trials])

    def rungs(self) -> tuple[Rung, ...]:
        """The comparisons that these settings lead to."""
        return halving_plan(self.losses(), self.low, EPOCHS, self.eta)


def explore_halving(trials: int = 9, eta: int = 3, low: int = 1) -> HalvingExplorer:
    """An explorer of successive halving over real trainings of 27 epochs at most.

    In a live notebook it has sliders for the settings and the rung. Anywhere else it is a static
    page of all rungs.

    Args:
        trials: How many start.
        eta: One trial in `eta` goes on at each rung.
        low: Epochs up to the first rung.

    Raises:
        ValueError: A setting is out of range; the message has the ranges.
    """
    return HalvingExplorer(Settings(trials, eta, low))


class HalvingExplorer(Explorer["HalvingPanel"]):
    """What `explore_halving` shows: a panel of widgets, or the same page without sliders."""

    def __init__(self, start: Settings) -> None:
        self._start = start

    def _make_panel(self) -> HalvingPanel:
        return HalvingPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(words_of(self._start, len(self._start.rungs())))

    def _repr_html_(self) -> str:
        return page_html(self._start, len(self._start.rungs()))


class HalvingPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: Settings) -> None:
        from ipywidgets import HTML, Dropdown, HBox, Layout, VBox

        self.trials = _slider("Trials:", start.trials, MOST)
        self.eta = Dropdown(options=_ETAS, value=start.eta, **labelled("One goes on of:"))
        self.low = _slider("Epochs to the first rung:", start.low, EPOCHS)
        self.rung = _slider("Rung:", 1, len(start.rungs()))
        self.page = HTML()
        wrapped = Layout(flex_flow="row wrap")
        rows = [(self.trials, self.eta), (self.low, self.rung)]
        self.box = VBox([*(HBox(row, layout=wrapped) for row in rows), self.page])
        for control in self._controls():
            control.observe(lambda _: self._begin(), names="value")
        self.rung.observe(lambda _: self._draw(), names="value")
        self._draw()

    def _controls(self) -> tuple[Any, ...]:
        return self.trials, self.eta, self.low

    @property
    def settings(self) -> Settings:
        """What the controls say now."""
        return Settings(*(control.value for control in self._controls()))

    def _begin(self) -> None:
        """With other settings there are other rungs; the slider cannot stand behind the last."""
        self.rung.max = len(self.settings.rungs())
        self._draw()

    def _draw(self) -> None:
        self.page.value = page_html(self.settings, self.rung.value)


def _slider(label: str, value: int, most: int) -> Any:
    from ipywidgets import IntSlider, Layout

    quiet = {"continuous_update": False, "layout": Layout(width="400px")}
    return IntSlider(value, 1, most, **quiet, **labelled(label))


def page_html(settings: Settings, at: int) -> str:
    """The curves up to this rung, and what happened there in words."""
    words = "".join(f"<p>{escape(line)}</p>" for line in words_of(settings, at))
    picture = ""
    if drawing():
        picture = rungs_picture(settings.losses(), settings.rungs()[:at])._repr_html_()
    return f"{picture}<div style='{PROSE}'>{words}</div>"


def words_of(settings: Settings, at: int) -> list[str]:
    """What happens at this rung; at the last one, what the search found and what it cost."""
    rungs, chosen = settings.rungs(), rates()
    rung = rungs[at - 1]
    found = rung.ranking[0]
    told = [
        f"Rung {at} of {len(rungs)}, after {rung.epochs} {_epochs(rung.epochs)}: "
        f"{_count(len(rung.ranking), 'trial')} reached it. The best one so far is trial {found}, "
        f"lr {chosen[found]:.3g}, with loss {rung.losses[0]:.3g}."
    ]
    if rung.kept:
        going = ", ".join(map(str, rung.kept))
        told.append(f"Goes on: {going}. Spent so far: {_count(rung.spent, 'epoch')}.")
        return told
    finals = [losses[-1] for losses in settings.losses()]
    best = min(range(len(finals)), key=finals.__getitem__)
    told.append(
        f"The search ends. It spent {_count(rung.spent, 'epoch')}; all trials to the end would "
        f"have taken {settings.trials * EPOCHS}. {_verdict(rungs, found, best, finals[best])}"
    )
    return told


def _verdict(rungs: tuple[Rung, ...], found: int, best: int, loss: float) -> str:
    """Whether the best trial of all survived, and where it was stopped if not."""
    if found == best:
        return f"Trial {best} would have been the best of them, too."
    stopped = next(rung for rung in rungs if best in rung.ranking and best not in rung.kept)
    return (
        f"The best after {EPOCHS} epochs would have been trial {best}, with loss {loss:.3g}: it "
        f"was stopped after {stopped.epochs}."
    )


def _epochs(count: int) -> str:
    return "epoch" if count == 1 else "epochs"


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
