"""The loader explorer: set times, workers and prefetch, and see where the epoch's time goes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from course.lessons.dataloader.simulator import LoaderPlan, LoaderRun, run_loader
from course.lessons.dataloader.timeline_figure import (
    format_seconds,
    moment_words,
    plan_words,
    show_loader_timeline,
)
from course.widgets.explorer import Explorer
from course.widgets.pages import PROSE

__all__ = ["LoaderExplorer", "LoaderPanel", "LoaderSettings", "explore_loader"]

_BATCHES = 12
_FRAMES = 60  # moments of an epoch at which the clock stops while it plays


@dataclass(frozen=True)
class LoaderSettings:
    """What the sliders say; times in milliseconds. Every `slow_every`-th batch takes 4 × longer."""

    load_ms: int = 30
    compute_ms: int = 10
    workers: int = 2
    prefetch: int = 2
    slow_every: int = 0
    in_order: bool = True

    def plan(self) -> LoaderPlan:
        """The plan that these settings mean."""
        loads = [self.load_ms / 1000] * _BATCHES
        if self.slow_every:
            loads[:: self.slow_every] = [4 * time for time in loads[:: self.slow_every]]
        compute = self.compute_ms / 1000
        return LoaderPlan(tuple(loads), compute, self.workers, self.prefetch, self.in_order)


def explore_loader(
    load_ms: int = 30, compute_ms: int = 10, workers: int = 2, prefetch: int = 2
) -> LoaderExplorer:
    """An explorer that starts from these times per batch and this number of workers.

    In a live notebook it has sliders, and the epoch can be played and paused. Anywhere else it is
    a static page: the timeline without workers and with them.

    Args:
        load_ms: Milliseconds that a batch takes to load.
        compute_ms: Milliseconds that the training step takes with it.
        workers: Worker processes; 0 loads in the training process.
        prefetch: Batches that each worker holds ready, the loader's `prefetch_factor`.
    """
    return LoaderExplorer(LoaderSettings(load_ms, compute_ms, workers, prefetch))


class LoaderExplorer(Explorer["LoaderPanel"]):
    """What `explore_loader` shows: a panel of widgets, or the same page without sliders."""

    def __init__(self, start: LoaderSettings) -> None:
        start.plan()  # settings that make no sense are refused here, not when they are drawn
        self._start = start

    def _make_panel(self) -> LoaderPanel:
        return LoaderPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(verdict_words(self._start))

    def _repr_html_(self) -> str:
        return page_html(self._start)


class LoaderPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: LoaderSettings) -> None:
        from ipywidgets import HTML, Checkbox, HBox, Layout, Play, VBox, link

        self.load = _slider("Load a batch, ms:", start.load_ms, 0, 100)
        self.compute = _slider("Training step, ms:", start.compute_ms, 0, 100)
        self.workers = _slider("num_workers:", start.workers, 0, 6)
        self.prefetch = _slider("prefetch_factor:", start.prefetch, 1, 6)
        self.slow = _slider("One slow batch in (0: none):", start.slow_every, 0, 6)
        self.in_order = Checkbox(value=start.in_order, description="in_order", indent=False)
        self.clock = _slider("Time, in sixtieths of the epoch:", _FRAMES, 0, _FRAMES)
        self.play = Play(value=_FRAMES, min=0, max=_FRAMES, interval=250)
        link((self.play, "value"), (self.clock, "value"))
        self.page = HTML()
        controls = [(self.load, self.compute), (self.workers, self.prefetch)]
        rows = [HBox(row, layout=Layout(flex_flow="row wrap")) for row in controls]
        last = HBox((self.slow, self.in_order), layout=Layout(flex_flow="row wrap"))
        self.box = VBox([*rows, last, HBox((self.play, self.clock)), self.page])
        for control in (*self._controls(), self.clock):
            control.observe(lambda _: self._draw(), names="value")
        self._draw()

    def _controls(self) -> tuple[Any, ...]:
        return self.load, self.compute, self.workers, self.prefetch, self.slow, self.in_order

    @property
    def settings(self) -> LoaderSettings:
        """What the controls say now."""
        return LoaderSettings(*(control.value for control in self._controls()))

    def _draw(self) -> None:
        self.prefetch.disabled = self.in_order.disabled = self.workers.value == 0
        self.page.value = page_html(self.settings, self.clock.value / _FRAMES)


def _slider(label: str, value: int, least: int, most: int) -> Any:
    from ipywidgets import IntSlider, Layout

    return IntSlider(
        value=value,
        min=least,
        max=max(most, value),
        description=label,
        continuous_update=False,
        style={"description_width": "initial"},
        layout=Layout(width="400px"),
    )


def page_html(settings: LoaderSettings, share: float = 1.0) -> str:
    """The timelines of these settings and what they show, as a page.

    Where `share` is less than 1, the clock stands at that share of the longest epoch.
    """
    plans = _compared(settings)
    at = None if share >= 1 else share * max(run_loader(plan).seconds for plan in plans)
    lines = verdict_words(settings) if at is None else moment_words(run_loader(plans[-1]), at)
    words = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return f"{show_loader_timeline(*plans, at=at)._repr_html_()}<div style='{PROSE}'>{words}</div>"


def verdict_words(settings: LoaderSettings) -> list[str]:
    """What comes out, and what the epoch waits for."""
    runs = [run_loader(plan) for plan in _compared(settings)]
    words = [f"{plan_words(run)}." for run in runs]
    if len(runs) == 2 and runs[1].seconds:
        words.append(f"That is {runs[0].seconds / runs[1].seconds:.2f} times as fast.")
    return [*words, _bottleneck(runs[-1])]


def _compared(settings: LoaderSettings) -> list[LoaderPlan]:
    """The plan, after the same one without workers."""
    plan = settings.plan()
    alone = LoaderPlan(plan.loads, plan.compute, workers=0)
    return [alone, plan] if plan.workers else [alone]


def _bottleneck(run: LoaderRun) -> str:
    plan = run.plan
    loading = sum(plan.loads) / max(len(plan.loads), 1)
    if not plan.workers:
        return "Without workers nothing overlaps: the two times add up."
    supply = loading / plan.workers
    each = "1 worker delivers" if plan.workers == 1 else f"{plan.workers} workers deliver"
    each += f" a batch every {format_seconds(supply)} on average"
    step = format_seconds(plan.compute)
    if supply > plan.compute:
        return f"{each}, a step takes {step}: the epoch waits for loading."
    return f"{each}, a step takes {step}: the epoch waits for computing."
