"""A device's memory: `show_timeline` over time, `show_segments` at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from course.figures.palette import CARD, FAULT, FILLS, INK, MUTED, REST, RULE
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    SMALL,
    WIDTH,
    Box,
    Item,
    Label,
    Scene,
    flow,
    paint,
    stack,
    text_width,
)
from course.gpu import api
from course.gpu.segment_map import Piece, Row, holders_of, rows_at, rows_of
from course.gpu.simulator.allocator.sizes import format_size
from course.gpu.stored_timelines import recorded_timelines
from course.gpu.timeline import CATEGORIES, Category, Mark, Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FREE", "segments_picture", "show_recorded", "show_segments", "show_timeline"]

FREE = "free"
_FILL = dict(zip(CATEGORIES, FILLS, strict=True))
# Beside its colour, each category has a pattern of its own in the timeline.
_PATTERN = dict(zip(CATEGORIES, ("", "//", "..", "\\\\", "", "xx"), strict=True))
_BAR = 34.0
_LEAST = 5.0  # px; a narrower block would be a line
_LEAST_SEGMENT = 24.0  # px
_MOST_ROWS = 24
_PX_PER_INCH = 96


def show_timeline(
    timeline: Timeline, *, title: str | None = None, at: int | None = None
) -> Picture:
    """A picture of the bytes in use by category, the reserved bytes, marks, and the peak.

    The horizontal axis counts what the allocator did, not seconds.

    Args:
        timeline: A recording, for example `Recorder.timeline`.
        title: A heading above the picture.
        at: The event after which a thick line stands; None for no line.
    """
    words = _timeline_words(timeline)
    if at is not None:
        words += f" A line stands after event {at}."
    return Picture(partial(_draw_timeline, timeline, title, at), alt=words, caption=_AXES)


def show_recorded() -> None:
    """Show the timelines of lesson 14 as they were recorded on the simulated device.

    They need no device: for a PyTorch that can have none.
    """
    from IPython.display import display

    for title, timeline in recorded_timelines().items():
        picture = show_timeline(timeline, title=title)
        picture.alt = f"{title}. {picture.alt}"
        display(picture)


_AXES = (
    "Upwards: bytes in use, by category. The line above them: reserved bytes, which the allocator "
    "has taken from the device. To the right: what the allocator did, one step an event."
)


def show_segments(
    model: torch.nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    **tensors: torch.Tensor,
) -> Picture:
    """A picture of all segments of the device now, and who holds the blocks in them.

    Args:
        model: Names the blocks of its parameters and gradients.
        optimizer: Names those of its state.
        tensors: Names for others: `show_segments(model, batch=x)`. A block that nobody named is
            drawn without.
    """
    rows = rows_of(api.memory_snapshot(), holders_of(tensors, model, optimizer))
    return _segments_picture(rows, _yours(rows))


def segments_picture(rows: Sequence[Row] | Timeline, at: int | None = None) -> Picture:
    """The segment map of these rows, or of a recording at a position (its peak by default)."""
    if isinstance(rows, Timeline):
        rows = rows_at(rows, rows.peak.at if at is None else at)
    return _segments_picture(rows, "temporaries")


def _segments_picture(rows: Sequence[Row], others: str) -> Picture:
    """The segment map; `others` is the word for blocks that no model and no optimizer holds."""
    scene = _segments_scene(rows, others) if drawing() else Scene(1, 1)
    return Picture(partial(paint, scene), alt=_segments_words(rows), caption=_TO_SCALE)


def _yours(rows: Sequence[Row]) -> str:
    """What a map of now calls the blocks of tensors that you named, and of those you did not."""
    pieces = [piece for row in rows for piece in row.pieces if piece.category == "temporaries"]
    return "yours" if all(piece.name for piece in pieces) else "yours, and blocks without a name"


_TO_SCALE = (
    "One row is one segment, as wide as it is large; one box is one block, and a dashed box is "
    "free. What is very small is drawn wider than it is."
)


def _timeline_words(timeline: Timeline) -> str:
    peak, last = timeline.peak, timeline.moments[-1]
    parts = [f"{name} {format_size(n)}" for name, n in peak.by_category.items() if n]
    words = (
        f"Memory over {len(timeline.moments) - 1} events. At most {format_size(peak.allocated)} in "
        f"use after event {peak.at}: {', '.join(parts) or 'nothing'}. At the end "
        f"{format_size(last.allocated)} in use and {format_size(last.reserved)} reserved."
    )
    for mark in timeline.marks:
        words += f" {mark.name}: {format_size(timeline.moments[mark.at].allocated)}."
    if timeline.shortages:
        count = len(timeline.shortages)
        words += f" Memory ran out {'once' if count == 1 else f'{count} times'}."
    return words


def _draw_timeline(timeline: Timeline, title: str | None, chosen: int | None) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / _PX_PER_INCH, 3.6), facecolor=CARD, layout="constrained")
    axes = figure.add_subplot()
    unit, name = _unit(max(moment.reserved for moment in timeline.moments))
    at = [moment.at for moment in timeline.moments]
    last, rows = max(1, at[-1]), _name_rows(timeline)
    _draw_categories(axes, timeline, at, unit)
    reserved = [moment.reserved / unit for moment in timeline.moments]
    axes.step(at, reserved, where="post", color=INK, linewidth=1.6, label="reserved")
    _draw_events(axes, timeline, unit, max(reserved))
    _draw_marks(axes, timeline, rows, max(reserved))
    if chosen is not None:
        axes.axvline(chosen, ymax=0.85, color=INK, linewidth=2.5)  # below the names of marks
    axes.set_xlim(0, last)
    axes.set_ylim(0, max(reserved) * (1.28 + _NAME_ROW * max(rows, default=0)) or 1)
    axes.set_xlabel("events of the allocator", fontsize=SMALL * 0.75)
    axes.set_ylabel(name, fontsize=SMALL * 0.75)
    axes.tick_params(labelsize=SMALL * 0.75)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if title:
        axes.set_title(title, fontsize=12, loc="left")
    axes.legend(fontsize=SMALL * 0.75, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def _draw_categories(axes: Axes, timeline: Timeline, at: list[int], unit: int) -> None:
    """The bytes in use, one category on the other; those that last longest lie at the bottom."""
    below = [0.0] * len(at)
    for category in CATEGORIES:
        height = [moment.by_category[category] / unit for moment in timeline.moments]
        if not any(height):
            continue
        above = [one + other for one, other in zip(below, height, strict=True)]
        look: dict[str, Any] = {"facecolor": _FILL[category], "hatch": _PATTERN[category]}
        axes.fill_between(
            at, below, above, step="post", edgecolor=INK, linewidth=0.3, label=category, **look
        )
        below = above


def _draw_events(axes: Axes, timeline: Timeline, unit: int, top: float) -> None:
    """The peak and its size, and a cross for each request that was refused."""
    peak = timeline.peak
    axes.plot([peak.at], [peak.allocated / unit], marker="o", color=INK, markersize=4, zorder=4)
    words = f" peak {format_size(peak.allocated)}"
    look: dict[str, Any] = {"va": "bottom", "color": INK, "fontsize": SMALL * 0.75}
    ground = {"facecolor": CARD, "edgecolor": "none", "alpha": 0.8, "pad": 1}
    axes.text(peak.at, peak.allocated / unit, words, bbox=ground, **look)
    if timeline.shortages:  # named in the legend: next to close crosses there is no room for words
        cross: dict[str, Any] = {"marker": "x", "markersize": 7, "markeredgewidth": 2}
        heights = [top * 1.05] * len(timeline.shortages)
        words = "out of memory"
        axes.plot(timeline.shortages, heights, color=FAULT, linestyle="", label=words, **cross)


def _draw_marks(axes: Axes, timeline: Timeline, rows: Sequence[int], top: float) -> None:
    for mark, row in zip(timeline.marks, rows, strict=True):
        axes.axvline(mark.at, color=MUTED, linewidth=0.9, linestyle=(0, (3, 3)))
        left = _span(timeline, mark)[1] > mark.at
        words = f" {mark.name}" if left else f"{mark.name} "
        height, side = top * (1.25 + _NAME_ROW * row), "left" if left else "right"
        axes.text(mark.at, height, words, ha=side, va="top", fontsize=SMALL * 0.75)


_NAME_ROW = 0.11  # of the height of the reserved bytes; one line of text
_AXES_PX = 640.0  # about what the axes leave of the width


def _span(timeline: Timeline, mark: Mark) -> tuple[float, float]:
    """From where to where a mark's name goes: left of its line where there is room, else right."""
    width = (text_width(mark.name, SMALL) + 6) / _AXES_PX * max(1, timeline.moments[-1].at)
    if width <= mark.at:
        return mark.at - width, float(mark.at)
    return float(mark.at), mark.at + width


def _name_rows(timeline: Timeline) -> list[int]:
    """For the name of each mark the lowest row on which it meets no other name."""
    rows: list[list[tuple[float, float]]] = []
    found = []
    for begin, end in (_span(timeline, mark) for mark in timeline.marks):
        free = (n for n, row in enumerate(rows) if all(end <= a or b <= begin for a, b in row))
        number = next(free, len(rows))
        rows += [[]] if number == len(rows) else []
        rows[number].append((begin, end))
        found.append(number)
    return found


def _unit(nbytes: int) -> tuple[int, str]:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if nbytes >= unit:
            return unit, name
    return 1, "bytes"


def _segments_words(rows: Sequence[Row]) -> str:
    if not rows:
        return "The allocator has no segment: nothing is reserved."
    parts = []
    for number, row in enumerate(rows[:_MOST_ROWS], start=1):
        used = [piece for piece in row.pieces if piece.category is not None]
        named = ", ".join(f"{p.name}: {format_size(p.nbytes)}" for p in used[:8] if p.name)
        count = f"{len(used)} block" + ("" if len(used) == 1 else "s")
        parts.append(
            f"Segment {number}, {row.pool}, {format_size(row.nbytes)}: {count} in use, "
            f"{format_size(row.used)}{f' ({named})' if named else ''}."
        )
    return " ".join(parts)


def _segments_scene(rows: Sequence[Row], others: str) -> Scene:
    if not rows:
        return Scene(400, 20, (Label(0, 10, "The allocator has no segment."),))
    largest = max(row.nbytes for row in rows)
    drawn = [
        _row_scene(number, row, largest) for number, row in enumerate(rows[:_MOST_ROWS], start=1)
    ]
    if len(rows) > _MOST_ROWS:
        more = f"… and {len(rows) - _MOST_ROWS} segments more"
        drawn.append(Scene(WIDTH, 18, (Label(0, 9, more, ink=MUTED),)))
    return stack([_legend(rows, others), *drawn], gap=10)


def _row_scene(number: int, row: Row, largest: int) -> Scene:
    """A segment as a bar as wide as its size, with that in words above it."""
    share = f"{format_size(row.used)} of {format_size(row.nbytes)} in use"
    items: list[Item] = [Label(0, 8, f"segment {number}, {row.pool} pool: {share}")]
    x, whole = 0.0, max(_LEAST_SEGMENT, row.nbytes / largest * WIDTH)
    for piece, width in zip(row.pieces, _widths(row, whole), strict=True):
        items.append(_box(piece, x, width))
        x += width
    return Scene(WIDTH, 18 + _BAR, tuple(items))


def _widths(row: Row, whole: float) -> list[float]:
    """The widths of the boxes: in proportion, but none below the least that can be seen."""
    wanted = [max(_LEAST, piece.nbytes / row.nbytes * whole) for piece in row.pieces]
    spare = sum(wanted) - whole
    room = sum(width - _LEAST for width in wanted)
    if room <= 0:
        return [whole / len(wanted)] * len(wanted)
    return [width - spare * (width - _LEAST) / room for width in wanted]


def _box(piece: Piece, x: float, width: float) -> Box:
    free = piece.category is None
    fill = REST if piece.category is None else _FILL[piece.category]
    text = _text(FREE if free else piece.name, piece.nbytes, width)
    edge = RULE if free else INK
    ink = MUTED if free else INK
    return Box(x, 18, width, _BAR, text, (fill,), edge, ink, dashed=free, size=SMALL)


def _text(name: str, nbytes: int, width: float) -> str:
    """As much of name and size as fits into the box."""
    size = format_size(nbytes)
    for words in (f"{name}: {size}" if name else size, name or size):
        if text_width(words) <= width - 4:
            return words
    return ""


def _legend(rows: Sequence[Row], others: str) -> Scene:
    used: set[Category | None] = {piece.category for row in rows for piece in row.pieces}
    entries = []
    for category in CATEGORIES:
        if category in used:
            words = others if category == "temporaries" else category
            items = (Box(0, 2, 14, 14, fills=(_FILL[category],)), Label(20, 9, words))
            entries.append(Scene(20 + text_width(words), 18, items))
    return flow(entries, WIDTH, gap=18)
