"""The physical side of a storage figure: the flat storage as boxes with their positions.

Above a box stands its position, below it one lane for each tensor with the index of the element
that lives there. Offsets point down at their box; strides lead from the first box to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course.figures.palette import CARD, INK, MUTED, REST, RULE, fill
from course.figures.scene import SMALL, TEXT, Box, Item, Label, Scene, stack, text_width
from course.figures.storage.grid import cell_width
from course.figures.storage.layouts import Index, Subject, cells_of, index_at
from course.figures.storage.steps import offsets_scene, steps_scene

__all__ = ["slots_scene", "window"]

_MOST_SLOTS = 72
_BOX = 30.0  # px, the height of a box
_LANE = 19.0
_CAPTION = 17.0


@dataclass(frozen=True)
class Span:
    """Consecutive storage positions; a span of more than one is a gap that is not drawn."""

    first: int
    last: int

    @property
    def hidden(self) -> bool:
        """Whether this is a gap."""
        return self.last > self.first


def window(total: int, wanted: Sequence[int]) -> list[Span]:
    """The storage as single boxes and gaps: all of it, or the wanted ones with both ends."""
    if total <= _MOST_SLOTS:
        return [Span(p, p) for p in range(total)]
    kept = sorted({0, total - 1, *(p for p in wanted if p < total)})
    if len(kept) > _MOST_SLOTS:
        kept = [*kept[: _MOST_SLOTS - 1], kept[-1]]
    spans: list[Span] = []
    for position in kept:
        before = spans[-1].last + 1 if spans else 0
        if position > before:
            spans.append(Span(before, position - 1))
        spans.append(Span(position, position))
    return spans


@dataclass(frozen=True)
class Line:
    """One line of boxes: the spans, and where each begins in pixels."""

    spans: tuple[Span, ...]
    starts: tuple[float, ...]
    widths: tuple[float, ...]

    def middle(self, position: int) -> float | None:
        """The middle of the box at this position, or None where it is not on this line."""
        for span, x, width in zip(self.spans, self.starts, self.widths, strict=True):
            if span.first == position and not span.hidden:
                return x + width / 2
        return None

    @property
    def end(self) -> float:
        """Where the last box ends."""
        return self.starts[-1] + self.widths[-1]


def slots_scene(subjects: Sequence[Subject], title: str, width: float) -> Scene:
    """The one storage that these tensors live in, with its boxes in lines of this width."""
    head = Scene(
        text_width(title, TEXT, bold=True), 20, (Label(0, 8, title, size=TEXT, bold=True),)
    )
    total = subjects[0].slots
    spans = window(total, [cell.position for s in subjects for cell in cells_of(s)])
    if not spans:
        box = Box(0, 0, 110, _BOX, "no boxes", edge=RULE, ink=MUTED, dashed=True)
        return stack([head, Scene(110, _BOX, (box,))], gap=4)
    lanes = _lanes(subjects)
    gutter = max(text_width(name) for name in ("position", *(lane.name for lane in lanes))) + 4
    wide = _box_width(subjects[0], lanes, spans, width - gutter)
    lines = _lines(spans, wide, gutter, width)
    return stack([head, *(_line_scene(subjects, lanes, line, width) for line in lines)], gap=6)


def _box_width(
    subject: Subject, lanes: Sequence[_Lane], spans: Sequence[Span], room: float
) -> float:
    """Wide enough for values and positions, and for the indices if all boxes stay on one line."""
    box = cell_width([subject.text_at(span.first) for span in spans if not span.hidden])
    box = max(box, text_width(str(spans[-1].last)) + 4)
    indices = [
        _index_text(index) for lane in lanes for row in lane.indices.values() for index in row
    ]
    wide = max((text_width(text) + 5 for text in indices), default=box)
    return max(box, wide) if len(spans) * wide <= room else box


def _lines(spans: Sequence[Span], box: float, gutter: float, width: float) -> list[Line]:
    lines: list[Line] = []
    row: list[tuple[Span, float, float]] = []
    x = gutter
    for span in spans:
        wide = max(box, text_width(_range(span)) + 6) if span.hidden else box
        if row and x + wide > width:
            lines.append(_line(row))
            row, x = [], gutter
        row.append((span, x, wide))
        x += wide
    return [*lines, _line(row)]


def _line(row: Sequence[tuple[Span, float, float]]) -> Line:
    spans, starts, widths = zip(*row, strict=True)
    return Line(spans, starts, widths)


def _range(span: Span) -> str:
    return f"{span.first}–{span.last}" if span.hidden else str(span.first)


def _line_scene(
    subjects: Sequence[Subject], lanes: Sequence[_Lane], line: Line, width: float
) -> Scene:
    rows = [_lane_scene(lane, line) for lane in lanes]
    rows = [row for row in rows if len(row.items) > 1]
    parts = [offsets_scene(subjects, line.middle, width), _boxes(subjects, line), *rows]
    # The arrows of two tensors would cross; their grids and lanes say the same.
    if len(subjects) == 1:
        parts.append(steps_scene(subjects[0], line.middle, width))
    return stack(parts)


def _boxes(subjects: Sequence[Subject], line: Line) -> Scene:
    items: list[Item] = [Label(0, _CAPTION / 2, "position", ink=MUTED)]
    for span, x, width in zip(line.spans, line.starts, line.widths, strict=True):
        middle = x + width / 2
        items.append(Label(middle, _CAPTION / 2, _range(span), "center", MUTED))
        if span.hidden:
            items.append(Label(middle, _CAPTION + _BOX / 2, "…", "center", size=TEXT))
        else:
            items.append(_box(subjects, span.first, x, width))
    return Scene(line.end, _CAPTION + _BOX, tuple(items))


def _box(subjects: Sequence[Subject], position: int, x: float, width: float) -> Box:
    text = "" if subjects[0].texts is None else subjects[0].text_at(position)
    fills = _fills(subjects, position)
    if not fills:
        return Box(x, _CAPTION, width, _BOX, text, (REST,), RULE, MUTED, dashed=True)
    return Box(x, _CAPTION, width, _BOX, text, fills)


def _fills(subjects: Sequence[Subject], position: int) -> tuple[str, ...]:
    """The colours of the rows or tensors that have an element here, each once."""
    colours: list[str] = []
    for subject in subjects:
        if (index := index_at(subject.facts, position)) is None:
            continue
        colours.append(subject.fill_of(index))
        if subject.number is None:
            colours += [
                subject.fill_of(c.index) for c in cells_of(subject) if c.position == position
            ]
    return tuple(dict.fromkeys(colours))


@dataclass(frozen=True)
class _Lane:
    """The indices of one tensor's elements by storage position."""

    name: str
    subject: Subject
    indices: dict[int, list[Index]]


def _lanes(subjects: Sequence[Subject]) -> list[_Lane]:
    lanes = []
    for subject in subjects:
        indices: dict[int, list[Index]] = {}
        for cell in cells_of(subject):
            indices.setdefault(cell.position, []).append(cell.index)
        name = "index" if len(subjects) == 1 else subject.name
        if indices and subject.facts.shape:
            lanes.append(_Lane(name, subject, indices))
    return lanes


def _lane_scene(lane: _Lane, line: Line) -> Scene:
    items: list[Item] = [Label(0, _LANE / 2, lane.name, ink=MUTED)]
    for span, x, width in zip(line.spans, line.starts, line.widths, strict=True):
        text = _lane_text(lane, span, width)
        if text is None or not (text or lane.subject.number is not None):
            continue
        if lane.subject.number is None or span.hidden:
            items.append(Label(x + width / 2, _LANE / 2, text, "center", MUTED))
        else:
            colours = (fill(lane.subject.number),)
            items.append(Box(x, 1, width, _LANE - 2, text, colours, CARD, INK, size=SMALL))
    return Scene(line.end, _LANE, tuple(items))


def _lane_text(lane: _Lane, span: Span, width: float) -> str | None:
    """The index at this box, "×3" where three elements live, "" where it does not fit."""
    seen = lane.subject.facts
    if span.hidden:
        low, high = (byte // seen.itemsize for byte in seen.byte_range)
        return "…" if low <= span.last and high > span.first else None
    here = lane.indices.get(span.first)
    if here is None:
        return "…" if index_at(seen, span.first) is not None else None
    if len(here) > 1 or 0 in seen.stride:
        return f"×{len(here)}" if lane.subject.shown == seen.numel else "…"
    text = _index_text(here[0])
    return text if text_width(text) + 3 <= width else ""


def _index_text(index: Index) -> str:
    return ",".join(map(str, index))
