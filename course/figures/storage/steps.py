"""Offsets and strides over a line of storage boxes, as labelled arrows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from course.figures.scene import Arrow, Item, Label, Scene, text_width
from course.figures.storage.layouts import Subject
from course.inspection.facts import TensorFacts

__all__ = ["offsets_scene", "step_words", "steps_scene"]

_LEVEL = 19.0  # px between one arrow and the next
_TAIL = 9.0

Middle = Callable[[int], float | None]  # position → middle of its box on this line


def step_words(shape: Sequence[int], stride: Sequence[int]) -> str:
    """What one step along each dimension of more than one element costs.

    >>> step_words((3, 4), (4, 1))
    '+4 ↓, +1 →'
    """
    if 0 in shape:
        return ""
    rank = len(shape)
    steps = [(axis, step) for axis, step in enumerate(stride) if shape[axis] > 1]
    return ", ".join(f"+{step} {_direction(axis, rank)}" for axis, step in steps)


def _direction(axis: int, rank: int) -> str:
    if axis == rank - 1:
        return "→"
    return "↓" if axis == rank - 2 else f"dim {axis}"


def offsets_scene(subjects: Sequence[Subject], middle: Middle, width: float) -> Scene:
    """An arrow down to the first element of each tensor that begins on this line."""
    named: dict[int, list[str]] = {}
    for subject in subjects:
        named.setdefault(subject.facts.storage_offset, []).append(subject.name)
    flags = [
        _Flag(x, f"{', '.join(names)}: " * (len(subjects) > 1) + f"storage_offset {position}")
        for position, names in sorted(named.items())
        if (x := middle(position)) is not None
    ]
    height = len(flags) * _LEVEL + (4 if flags else 0)
    items: list[Item] = []
    for level, flag in enumerate(_without_crossings(flags, width)):
        y = (level + 0.5) * _LEVEL
        shift, align = (-6, "right") if flag.leftwards else (6, "left")
        items.append(Label(flag.x + shift, y, flag.text, align))
        items.append(Arrow(((flag.x, y - 6), (flag.x, height))))
    return _fitted(height, items)


@dataclass(frozen=True)
class _Flag:
    x: float
    text: str
    leftwards: bool = False


def _without_crossings(flags: Sequence[_Flag], width: float) -> list[_Flag]:
    """The flags from top to bottom, so that no text is crossed by another flag's pole.

    A text stands right of its pole, or left of it where the figure ends or such a pole stands.
    """
    left: list[_Flag] = []
    right: list[_Flag] = []
    for flag in reversed(flags):
        if flag.x + 6 + text_width(flag.text) > width:
            left.append(replace(flag, leftwards=True))
            width = flag.x
        else:
            right.insert(0, flag)
    return left + right


def _fitted(height: float, items: list[Item]) -> Scene:
    return Scene(Scene(0, 0, tuple(items)).right, height, tuple(items))


@dataclass(frozen=True)
class _Step:
    start: float
    end: float
    text: str


def steps_scene(subject: Subject, middle: Middle, width: float) -> Scene:
    """Arrows from the tensor's first element to the next one along each dimension."""
    steps = sorted(_steps(subject, middle), key=lambda step: step.end - step.start)
    # The shortest lies highest and starts rightmost, so that no arrow crosses another.
    placed = [replace(step, start=step.start + 6 - 4 * i) for i, step in enumerate(steps)]
    items: list[Item] = []
    for level, step in enumerate(placed):
        y = _TAIL + level * _LEVEL + 4
        items.append(Arrow(((step.start, 0), (step.start, y), (step.end, y), (step.end, 1))))
        items.append(_step_label(step, placed[level + 1 :], y, width))
    height = _TAIL + len(placed) * _LEVEL if placed else 0
    if (still := _zero_stride_label(subject, middle)) is not None:
        x = max(0, min(still.x, width - text_width(still.text)))
        items.append(replace(still, x=x, y=height + 7))
        height += _LEVEL
    return _fitted(height, items)


def _directions(seen: TensorFacts) -> dict[int, str]:
    """Where each step leads, by its length: {4: "↓", 1: "→"}."""
    named: dict[int, list[str]] = {}
    for axis, step in enumerate(seen.stride):
        if seen.shape[axis] > 1:
            named.setdefault(step, []).append(_direction(axis, len(seen.shape)))
    return {step: " and ".join(names) for step, names in named.items()}


def _steps(subject: Subject, middle: Middle) -> list[_Step]:
    seen = subject.facts
    start = middle(seen.storage_offset)
    if start is None or 0 in seen.shape:
        return []
    return [
        _Step(start, end, f"+{step} {where}")
        for step, where in _directions(seen).items()
        if step > 0 and (end := middle(seen.storage_offset + step)) is not None
    ]


def _zero_stride_label(subject: Subject, middle: Middle) -> Label | None:
    """The words for a stride of 0, which leads nowhere."""
    start, where = middle(subject.facts.storage_offset), _directions(subject.facts).get(0)
    if start is None or where is None or 0 in subject.facts.shape:
        return None
    return Label(start - 6, 0, f"+0 {where}: the same box again")


def _step_label(step: _Step, deeper: Sequence[_Step], y: float, width: float) -> Label:
    """The label right of the arrow's end, beyond the lines of deeper arrows that cross there.

    Where the figure ends, it stands left of where the arrows start, or under its own line.
    """
    x, wide = step.end + 6, text_width(step.text)
    for line in sorted(x for other in deeper for x in (other.start, other.end)):
        if x - 4 < line < x + wide + 4:
            x = line + 6
    left = min(other.start for other in (step, *deeper)) - 6
    if x + wide <= width:
        return Label(x, y, step.text)
    if left >= wide:
        return Label(left, y, step.text, "right")
    return Label(width - wide, y + 11, step.text)
