"""The map of the lessons as SVG: wide, and as one column for a phone.

Both follow the reader's light or dark theme and stand on a ground of their own, so that they can
be read wherever they are shown. No meaning is carried by colour alone: each path has its mark.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate
from typing import NamedTuple

from course.guide.lesson_cards import PATHS, Card, on_path
from course.guide.map_layout import Line, Place, columns_of, direct, lines_of, places_of
from course.guide.map_text import ABOUT, described, hours, needs_in_words

__all__ = ["DARK", "LIGHT", "drawn"]

# Every colour by its use; text has a contrast of at least 4.5 : 1 on the ground and on a box.
LIGHT = {
    "ground": "#ffffff",
    "box": "#f6f8fa",
    "edge": "#8c959f",
    "line": "#6e7781",
    "ink": "#1f2328",
    "muted": "#57606a",
    "train": "#0550ae",
    "debug": "#953800",
}
DARK = {
    "ground": "#0d1117",
    "box": "#161b22",
    "edge": "#6e7681",
    "line": "#8b949e",
    "ink": "#e6edf3",
    "muted": "#9da7b3",
    "train": "#79c0ff",
    "debug": "#ffa657",
}
_MARKS = {"train": "●", "debug": "▲"}
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_MARGIN, _GUTTER, _PAD = 16, 34, 12
_TITLE_HEIGHT, _LEADING = 20, 17
_ROW_GAP, _TRACK = 38, 10


class _Form(NamedTuple):
    """The sizes in which the two forms differ, in px; `chars` fit into a line of a box."""

    box: int
    name_chars: int
    chars: int


_WIDE, _NARROW = _Form(296, 26, 39), _Form(348, 31, 46)


def drawn(
    lessons: Sequence[Card], *, narrow: bool = False, states: Mapping[str, str] | None = None
) -> str:
    """The map as the text of an SVG file; the same cards give the same text.

    Args:
        lessons: The cards in their order.
        narrow: One column, for a phone.
        states: A few words on what a learner has done, by number: `{"04": "✓ done"}`.
    """
    told = states or {}
    return _narrow(lessons, told) if narrow else _wide(lessons, told)


def _wide(lessons: Sequence[Card], states: Mapping[str, str]) -> str:
    needs = direct(lessons)
    places = places_of(needs)
    columns = columns_of(needs)
    width = 2 * _MARGIN + columns * _WIDE.box + (columns - 1) * _GUTTER
    head = _head(lessons, one_line=True)
    heights = _row_heights(lessons, places)
    tops = list(accumulate((one + _ROW_GAP for one in heights), initial=_head_height(1)))
    sketch = _Sketch(places, tops, heights)
    marks = _marks(lessons)
    boxes = [
        _Box(
            card, sketch.left(card.number), sketch.top(card.number), sketch.height(card.number)
        ).drawn(_WIDE, marks[card.number], states.get(card.number, ""))
        for card in lessons
    ]
    found = lines_of(needs, places)
    lanes, ends = _lanes(found), _ports(needs, places)
    lines = [sketch.line(one, ends, lanes) for one in found]
    height = tops[-1] - _ROW_GAP + _MARGIN if heights else _head_height(1)
    return _file(lessons, width, height, [head, *lines, *boxes])


def _narrow(lessons: Sequence[Card], states: Mapping[str, str]) -> str:
    top = _head_height(2 * len(PATHS))
    marks = _marks(lessons)
    boxes = []
    for card in lessons:
        box = _Box(card, _MARGIN, top, _box_height(card, _NARROW))
        boxes.append(box.drawn(_NARROW, marks[card.number], states.get(card.number, "")))
        top += box.height + _PAD
    width = 2 * _MARGIN + _NARROW.box
    return _file(lessons, width, top, [_head(lessons, one_line=False), *boxes])


class _Sketch(NamedTuple):
    """Where the boxes of the wide form lie."""

    places: Mapping[str, Place]
    tops: Sequence[int]
    heights: Sequence[int]

    def left(self, number: str) -> int:
        return _MARGIN + self.places[number].column * (_WIDE.box + _GUTTER)

    def top(self, number: str) -> int:
        return self.tops[self.places[number].row]

    def height(self, number: str) -> int:
        return self.heights[self.places[number].row]

    def line(
        self, line: Line, ends: Mapping[tuple[str, str, str], float], lanes: Mapping[Line, float]
    ) -> str:
        """The path of a line: down to a gap, through it, and on to the lesson below."""
        start, end = self.places[line.above], self.places[line.below]
        x = self.left(line.above) + ends["out", line.above, line.below]
        y = self.tops[start.row] + self.heights[start.row]
        path = f"M{x:g} {y}"
        if line.gap is not None:
            lane = lanes[line]
            path += _bend(x, y, lane, self.tops[start.row + 1])
            x, y = lane, self.tops[end.row - 1] + self.heights[end.row - 1]
            path += f"V{y}"
        last = self.left(line.below) + ends["in", line.above, line.below]
        path += _bend(x, y, last, self.tops[end.row] - 7)
        return f'<path class="line" marker-end="url(#tip)" d="{path}"/>'


def _lanes(lines: Sequence[Line]) -> dict[Line, float]:
    """How far from the left each line goes down that passes rows: side by side within its gap."""
    tracks = {
        line.gap: 1 + max(one.track for one in lines if one.gap == line.gap) for line in lines
    }
    found = {}
    for line in lines:
        if line.gap is not None:
            count = tracks[line.gap]
            middle = _MARGIN + line.gap * (_WIDE.box + _GUTTER) - _GUTTER / 2
            step = min(_TRACK, (_GUTTER - 8) / count)
            found[line] = middle + (line.track - (count - 1) / 2) * step
    return found


def _ports(
    needs: Mapping[str, Sequence[str]], places: Mapping[str, Place]
) -> dict[tuple[str, str, str], float]:
    """How far from its box's left side each line leaves and arrives: side by side, in order."""
    pairs = [(above, below) for below, many in needs.items() for above in many]
    found = {}
    for kind, mine, other in (("out", 0, 1), ("in", 1, 0)):
        for number in places:
            many = [pair for pair in pairs if pair[mine] == number]
            many.sort(key=lambda pair: (places[pair[other]].column, pair[other]))
            for n, (above, below) in enumerate(many, start=1):
                found[kind, above, below] = _WIDE.box * n / (len(many) + 1)
    return found


def _bend(x: float, y: float, to_x: float, to_y: float) -> str:
    """A line that begins and ends upright."""
    half = (y + to_y) / 2
    return f"C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"


def _row_heights(lessons: Sequence[Card], places: Mapping[str, Place]) -> list[int]:
    rows = [
        [one for one in lessons if places[one.number].row == row] for row in range(len(lessons))
    ]
    return [max(_box_height(card, _WIDE) for card in row) for row in rows if row]


class _Box(NamedTuple):
    """The box of a lesson, and where it lies."""

    card: Card
    x: int
    y: int
    height: int

    def drawn(self, form: _Form, marks: Sequence[str], state: str) -> str:
        """Number and name, marks of its paths, minutes, and what one can do afterwards."""
        return "".join([self._frame(form, marks), *self._lines(form, state)])

    def _frame(self, form: _Form, marks: Sequence[str]) -> str:
        size = f'width="{form.box}" height="{self.height}" rx="8"'
        right, y = self.x + form.box - _PAD, self.y + _PAD + 13
        signs = "".join(
            f'<text class="{path}" x="{right - 18 * n}" y="{y}" text-anchor="end">'
            f"{_MARKS[path]}</text>"
            for n, path in enumerate(reversed(marks))
        )
        return f'<rect class="box" x="{self.x}" y="{self.y}" {size}/>{signs}'

    def _lines(self, form: _Form, state: str) -> Iterator[str]:
        left, y = self.x + _PAD, self.y + _PAD + 13
        for line in _name_lines(self.card, form):
            yield f'<text class="name" x="{left}" y="{y}">{escape(line)}</text>'
            y += _TITLE_HEIGHT
        told = escape(_small_print(self.card, state))
        yield f'<text class="muted" x="{left}" y="{y}">{told}</text>'
        y += 3
        for line in _can_lines(self.card, form):
            y += _LEADING
            yield f'<text x="{left}" y="{y}">{escape(line)}</text>'


def _marks(lessons: Sequence[Card]) -> dict[str, list[str]]:
    """The paths on which each lesson lies, by its number."""
    ways = {path: on_path(lessons, path) for path in PATHS}
    return {card.number: [path for path in PATHS if card in ways[path]] for card in lessons}


def _small_print(card: Card, state: str) -> str:
    minutes = f"{card.minutes} minutes" if card.minutes else ""
    return " · ".join(filter(None, [minutes, needs_in_words(card), state]))


def _name_lines(card: Card, form: _Form) -> list[str]:
    return textwrap.wrap(f"{card.number} {card.name}", form.name_chars)


def _can_lines(card: Card, form: _Form) -> list[str]:
    return textwrap.wrap(card.can, form.chars)


def _box_height(card: Card, form: _Form) -> int:
    lines = len(_name_lines(card, form)), 1 + len(_can_lines(card, form))
    return 2 * _PAD + lines[0] * _TITLE_HEIGHT + lines[1] * _LEADING


def _head_height(lines: int) -> int:
    return _MARGIN + 34 + lines * 22 + 10


def _head(lessons: Sequence[Card], *, one_line: bool) -> str:
    """What this is, and each path with its mark and how long it takes."""
    parts = [f'<text class="title" x="{_MARGIN}" y="{_MARGIN + 20}">{ABOUT}</text>']
    x, y = _MARGIN, _MARGIN + 46
    for path, name in PATHS.items():
        told = hours(on_path(lessons, path))
        lines = [f"{name}: {told}"] if one_line else [name, told]
        parts.append(f'<text class="{path}" x="{x}" y="{y}">{_MARKS[path]}</text>')
        for n, line in enumerate(lines):
            parts.append(f'<text x="{x + 20}" y="{y + n * 20}">{escape(line)}</text>')
        x, y = (x + 400, y) if one_line else (x, y + 44)
    return "".join(parts)


def _file(lessons: Sequence[Card], width: int, height: int, parts: Sequence[str]) -> str:
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title told">\n'
        f'<title id="title">{ABOUT}</title>\n'
        f'<desc id="told">{escape(described(lessons))}</desc>\n'
        f"<style>{_style()}</style>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8Z"/></marker></defs>\n'
        f'<rect class="ground" width="{width}" height="{height}" rx="10"/>\n{inside}\n</svg>\n'
    )


def _style() -> str:
    return (
        f"text{{font:13px {_FONT};fill:var(--ink)}}"
        ".title{font-size:18px;font-weight:bold}.name{font-size:15px;font-weight:bold}"
        ".muted{font-size:12px;fill:var(--muted)}.ground{fill:var(--ground)}"
        ".train{font-size:15px;fill:var(--train)}.debug{font-size:15px;fill:var(--debug)}"
        ".box{fill:var(--box);stroke:var(--edge)}.tip{fill:var(--line)}"
        ".line{fill:none;stroke:var(--line);stroke-width:1.5}"
        f"svg{{{_variables(LIGHT)}}}"
        f"@media (prefers-color-scheme: dark){{svg{{{_variables(DARK)}}}}}"
    )


def _variables(colours: Mapping[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in colours.items())
