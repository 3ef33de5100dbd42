"""The timeline of a loader: what each worker loads, what lies ready, when the loop computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import ceil, log10

from course.figures.palette import CARD, FAULT, INK, LINE, MUTED, REST, RULE, fill
from course.figures.picture import Picture
from course.figures.scene import SMALL, Box, Item, Label, Scene, paint, stack, text_width
from course.lessons.dataloader.simulator import LOOP, LoaderPlan, LoaderRun, Span, run_loader

__all__ = ["WIDTH", "format_seconds", "moment_words", "plan_words", "show_loader_timeline"]

WIDTH = 850.0  # px of a whole figure
_LEFT = 78.0  # px for the names of the lanes
_LANE = 26.0  # px from one lane to the next
_BAR = 20.0  # px, the height of a bar
_TICKS = 6  # at most so many steps on the time axis
_LOAD, _STEP = fill(0), fill(1)


def show_loader_timeline(*plans: LoaderPlan, at: float | None = None) -> Picture:
    """The epochs of these plans under each other, on one time axis.

    A bar bears the number of its batch. Dashed bars are waiting; the lane "ready" counts the
    batches that are loaded and not yet taken: ×2 are two of them.

    Args:
        plans: What decides how long each epoch takes; without any, one of eight batches.
        at: A second at which the clock stands, so that what is still to come is pale; None for the
            end.
    """
    runs = [run_loader(plan) for plan in plans or (LoaderPlan((0.02,) * 8, 0.01),)]
    longest = max(run.seconds for run in runs) or 1.0
    scale = (WIDTH - _LEFT - 24) / longest
    scenes = [_run_scene(run, scale, at) for run in runs]
    scene = stack([*scenes, _axis(longest, scale)], gap=10)
    words = [_alt(run) for run in runs]
    words += [] if at is None else moment_words(runs[-1], at)
    return Picture(partial(paint, scene), alt=" ".join(words), caption=_caption(runs))


def moment_words(run: LoaderRun, at: float) -> list[str]:
    """What everybody does at this second of the epoch, a sentence each.

    >>> moment_words(run_loader(LoaderPlan((2.0,), 1.0, workers=1)), 0.5)
    ['At 500 ms: worker 0 loads batch 0; the loop waits for batch 0; ready: none.']
    """
    busy = {span.lane: span for span in run.spans if span.start <= at < span.end}
    told = [_doing(lane, busy.get(lane), over=at >= run.seconds) for lane in run.lanes]
    if run.plan.workers:
        number = run.queued(at)
        told.append(f"ready: {number or 'none'}")
    return [f"At {format_seconds(at)}: {'; '.join(told)}."]


def _doing(lane: str, span: Span | None, *, over: bool) -> str:
    name = "the loop" if lane == LOOP else lane
    if span is None:
        return f"{name} is done" if over else f"{name} has nothing to do"
    verb = {"load": "loads", "step": "trains on", "wait": "waits for"}.get(span.kind)
    return f"{name} {verb} batch {span.batch}" if verb else f"{name} starts"


def plan_words(run: LoaderRun) -> str:
    """The plan and what came of it, in one line."""
    plan = run.plan
    if not plan.workers:
        who = "no workers: the loop loads"
    else:
        plural = "s" if plan.workers > 1 else ""
        who = f"{plan.workers} worker{plural}, prefetch_factor {plan.prefetch}"
        who += "" if plan.in_order else ", in_order=False"
    took, waited = format_seconds(run.seconds), format_seconds(run.waiting)
    return f"{who}. Epoch: {took}, of which not computing: {waited}"


def format_seconds(seconds: float) -> str:
    """A duration in the unit in which it is easy to read.

    >>> format_seconds(0.0125), format_seconds(2.5), format_seconds(0)
    ('12.5 ms', '2.5 s', '0 ms')
    """
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1000:.3g} ms"


def _run_scene(run: LoaderRun, scale: float, at: float | None) -> Scene:
    lanes = list(run.lanes)
    if run.plan.workers:
        lanes.insert(-1, "ready")
    rows = {lane: 22 + number * _LANE for number, lane in enumerate(lanes)}
    items: list[Item] = [Label(0, 8, plan_words(run), bold=True)]
    items += [Label(_LEFT - 8, y + _BAR / 2, lane, "right", MUTED) for lane, y in rows.items()]
    items += [_bar(span, rows[span.lane], scale) for span in run.spans if span.seconds]
    if run.plan.workers:
        items += _queue(run, rows["ready"], scale)
    if at is not None:
        x, height = _LEFT + min(at, run.seconds) * scale, len(rows) * _LANE
        items = [
            _pale(item) if isinstance(item, Box) and item.x > x + 1e-6 else item for item in items
        ]
        items.append(Box(x, 18, 0, height, edge=FAULT))
    return Scene(WIDTH, 22 + len(rows) * _LANE, tuple(items))


def _bar(span: Span, y: float, scale: float) -> Box:
    x, width = _LEFT + span.start * scale, span.seconds * scale
    if span.kind in ("wait", "start"):
        text = _fitting(span.kind, width)
        return Box(x, y, width, _BAR, text, (REST,), RULE, MUTED, dashed=True, size=SMALL)
    text = _fitting(str(span.batch), width)
    colour = _LOAD if span.kind == "load" else _STEP
    return Box(x, y, width, _BAR, text, (colour,), INK, size=SMALL)


def _queue(run: LoaderRun, y: float, scale: float) -> Iterator[Box]:
    for start, end, count in run.queue:
        width = (end - start) * scale
        if count and width:
            text = _fitting(f"×{count}", width)
            yield Box(_LEFT + start * scale, y, width, _BAR, text, (REST,), RULE, size=SMALL)


def _pale(box: Box) -> Box:
    return replace(box, fills=(CARD,), edge=LINE, ink=MUTED)


def _fitting(word: str, width: float) -> str:
    """The word if it fits into a bar of this width, else nothing."""
    return word if text_width(word) + 2 <= width else ""


def _axis(longest: float, scale: float) -> Scene:
    step = _tick(longest)
    items: list[Item] = [Box(_LEFT, 0, longest * scale, 0, edge=MUTED)]
    for number in range(int(longest / step + 1e-9) + 1):
        x = _LEFT + number * step * scale
        items.append(Box(x, 0, 0, 5, edge=MUTED))
        items.append(Label(x, 14, format_seconds(number * step), "center", MUTED))
    return Scene(WIDTH, 22, tuple(items))


def _tick(longest: float) -> float:
    """A round step, such that at most `_TICKS` of them fit."""
    magnitude = 10.0 ** ceil(log10(longest / _TICKS) - 1e-9)
    small = [magnitude / 5, magnitude / 2, magnitude]
    return next(step for step in small if longest / step <= _TICKS + 1e-9)


def _alt(run: LoaderRun) -> str:
    waits = sum(span.kind == "wait" for span in run.spans)
    most = max((count for _, _, count in run.queue), default=0)
    words = f"Timeline of {len(run.plan.loads)} batches with {plan_words(run)}."
    if not run.plan.workers:
        return words + " Loading and computing take turns."
    order = "" if run.plan.in_order else f" The loop gets them in the order {run.order}."
    often = "once" if waits == 1 else f"{waits} times"
    return f"{words} The loop waits {often}; most batches that lie ready: {most}.{order}"


def _caption(runs: list[LoaderRun]) -> str:
    words = "Blue: a batch is loaded. Orange: a training step on it. Dashed: nothing is computed."
    if any(run.plan.workers for run in runs):
        words += " Ready: how many batches are loaded and not yet taken, ×1, ×2 and so on."
    return f"{words} Coloured bars bear the number of their batch where it fits."
