"""What stands where in a figure: boxes, labels and arrows in pixels, then painted by matplotlib.

A scene is plain data, so tests look at it without drawing, and scenes are put beside or under
each other like words and lines. One unit is one CSS pixel of a notebook; y grows downwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from course.figures.palette import CARD, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Arrow",
    "Box",
    "Label",
    "Scene",
    "beside",
    "flow",
    "heading",
    "line",
    "paint",
    "stack",
    "text_width",
]

WIDTH = 836.0  # px of a figure; JupyterLab's output column on a laptop is 850 to 900 wide
TEXT = 13.0  # px, the usual size
SMALL = 12.0  # px, the least size of any text in a figure
_PX_PER_INCH = 96  # CSS
_POINTS_PER_PX = 0.75


@dataclass(frozen=True)
class Box:
    """A rectangle with a text in its middle; several fills stand as stripes beside each other."""

    x: float
    y: float
    width: float
    height: float
    text: str = ""
    fills: tuple[str, ...] = (CARD,)
    edge: str = INK
    ink: str = INK
    dashed: bool = False
    size: float = TEXT


@dataclass(frozen=True)
class Label:
    """A line of text; `x` is its left end, middle or right end, `y` the middle of its height."""

    x: float
    y: float
    text: str
    align: str = "left"
    ink: str = INK
    size: float = SMALL
    bold: bool = False


@dataclass(frozen=True)
class Arrow:
    """A line through the points with a head at its last one."""

    points: tuple[tuple[float, float], ...]
    ink: str = INK


Item = Box | Label | Arrow


@dataclass(frozen=True)
class Scene:
    """Items within a rectangle of this size, in pixels."""

    width: float
    height: float
    items: tuple[Item, ...] = ()

    @property
    def right(self) -> float:
        """The rightmost point of any item; texts are measured generously."""
        return max((_right(item) for item in self.items), default=0)

    def moved(self, dx: float, dy: float) -> tuple[Item, ...]:
        """The items, each moved right by dx and down by dy."""
        return tuple(_moved(item, dx, dy) for item in self.items)

    def texts(self) -> list[str]:
        """Every text in the scene, in drawing order."""
        return [item.text for item in self.items if not isinstance(item, Arrow) and item.text]


def _moved(item: Item, dx: float, dy: float) -> Item:
    if isinstance(item, Arrow):
        return replace(item, points=tuple((x + dx, y + dy) for x, y in item.points))
    return replace(item, x=item.x + dx, y=item.y + dy)


def _right(item: Item) -> float:
    if isinstance(item, Arrow):
        return max(x for x, _ in item.points)
    if isinstance(item, Box):
        return item.x + item.width
    reach = {"left": 1.0, "center": 0.5, "right": 0.0}[item.align]
    return item.x + reach * text_width(item.text, item.size, item.bold)


def heading(text: str) -> Scene:
    """A bold line."""
    wide = text_width(text, TEXT, bold=True)
    return Scene(wide, 22, (Label(0, 9, text, size=TEXT, bold=True),))


def line(text: str, ink: str = INK) -> Scene:
    """A plain line."""
    return Scene(text_width(text), 19, (Label(0, 9, text, ink=ink),))


def stack(scenes: Iterable[Scene], gap: float = 0) -> Scene:
    """The scenes under each other, left-aligned."""
    items: list[Item] = []
    width = height = 0.0
    for number, scene in enumerate(scenes):
        height += gap if number else 0
        items.extend(scene.moved(0, height))
        height += scene.height
        width = max(width, scene.width)
    return Scene(width, height, tuple(items))


def beside(scenes: Iterable[Scene], gap: float = 0, align: float = 1) -> Scene:
    """The scenes from left to right, with their upper (align 0) or lower edges (1) in line."""
    row = list(scenes)
    height = max((scene.height for scene in row), default=0)
    items: list[Item] = []
    width = 0.0
    for number, scene in enumerate(row):
        width += gap if number else 0
        items.extend(scene.moved(width, align * (height - scene.height)))
        width += scene.width
    return Scene(width, height, tuple(items))


def flow(scenes: Iterable[Scene], width: float, gap: float = 0) -> Scene:
    """The scenes from left to right, in as many lines as the width demands."""
    lines: list[list[Scene]] = [[]]
    used = 0.0
    for scene in scenes:
        if lines[-1] and used + gap + scene.width > width:
            lines.append([])
        used = scene.width + (used + gap if lines[-1] else 0)
        lines[-1].append(scene)
    return stack((beside(line, gap) for line in lines), gap)


def text_width(text: str, size: float = SMALL, bold: bool = False) -> float:
    """At least the width of the text in DejaVu Sans, known without a font at hand."""
    return size * sum(_EM.get(character, 1.0) for character in text) * (1.13 if bold else 1.0)


# Advance widths of DejaVu Sans, in em, rounded up; unlisted characters count as a full em.
_GROUPS = {
    0.32: " ijl'",
    0.40: "fIJ,-./:;\\|·",
    0.50: 'rt!"()*[]_`–',
    0.60: "cksvxyzL?",
    0.64: "abdeghnopquEFST0123456789${}",
    0.70: "BCKPRVXYZ",
    0.80: "ADGHNOQU&",
    0.84: "w#+<=>^~×→↓",
}
_EM = {character: em for em, characters in _GROUPS.items() for character in characters}


def paint(scene: Scene, margin: float = 4) -> Figure:
    """The scene as a matplotlib figure of exactly its size, without pyplot."""
    from matplotlib.figure import Figure

    width, height = scene.width + 2 * margin, scene.height + 2 * margin
    figure = Figure(figsize=(width / _PX_PER_INCH, height / _PX_PER_INCH), facecolor=CARD)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    # Items do not reach beyond the scene, and clip paths would double the size of the SVG.
    for item in scene.moved(margin, margin):
        if isinstance(item, Box):
            _paint_box(axes, item)
        elif isinstance(item, Label):
            _paint_label(axes, item)
        else:
            _paint_arrow(axes, item.points, item.ink)
    return figure


def _paint_box(axes: Axes, box: Box) -> None:
    stripe = box.width / len(box.fills)
    for number, colour in enumerate(box.fills if len(box.fills) > 1 else ()):
        _paint_rectangle(axes, (box.x + number * stripe, box.y), (stripe, box.height), colour)
    only = box.fills[0] if len(box.fills) == 1 else "none"
    outline = (box.width, box.height)
    _paint_rectangle(axes, (box.x, box.y), outline, only, box.edge, dashed=box.dashed)
    if box.text:
        middle = (box.x + box.width / 2, box.y + box.height / 2)
        _paint_label(axes, Label(*middle, box.text, "center", box.ink, box.size))


def _paint_rectangle(
    axes: Axes,
    corner: tuple[float, float],
    extent: tuple[float, float],
    colour: str,
    edge: str = "none",
    *,
    dashed: bool = False,
) -> None:
    from matplotlib.patches import Rectangle

    rectangle = Rectangle(
        corner, *extent, facecolor=colour, edgecolor=edge, linewidth=0.9, clip_on=False
    )
    if dashed:
        rectangle.set_linestyle((0, (3, 2)))
    axes.add_patch(rectangle)


def _paint_label(axes: Axes, label: Label) -> None:
    axes.text(
        label.x,
        label.y,
        label.text,
        ha=label.align,
        va="center_baseline",
        color=label.ink,
        fontsize=label.size * _POINTS_PER_PX,
        fontweight="bold" if label.bold else "normal",
    )


def _paint_arrow(axes: Axes, points: Sequence[tuple[float, float]], ink: str) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    axes.add_patch(
        FancyArrowPatch(
            path=Path(list(points)),
            arrowstyle="-|>,head_length=3.5,head_width=2",
            mutation_scale=1,
            linewidth=1.1,
            color=ink,
            joinstyle="miter",
            capstyle="butt",
            clip_on=False,
        )
    )
