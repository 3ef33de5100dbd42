"""A tensor's logical grid beside its flat storage: `show_storage` and `compare_storage`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import torch

from course.figures.palette import FAULT, INK, MUTED, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    TEXT,
    WIDTH,
    Box,
    Item,
    Label,
    Scene,
    beside,
    flow,
    paint,
    stack,
    text_width,
)
from course.figures.storage.descriptions import alt_of, differences, fact_words, legend, listed
from course.figures.storage.grid import cell_width, grid_scene
from course.figures.storage.layouts import Subject, cells_of, picks_of, texts_at
from course.figures.storage.slots import slots_scene, window
from course.inspection.facts import TensorFacts, facts

__all__ = ["compare_storage", "show_storage"]

_GAP = 30.0  # px between the grids and the storage
_LINE = 20.0
_PHRASE_GAP = 18.0
_MARGINS = 96.0  # px beside the cells of a grid: indices and arrows
_MOST_COLUMNS = 20

Tensorlike = torch.Tensor | TensorFacts


def show_storage(
    *tensors: Tensorlike,
    names: Sequence[str] | None = None,
    title: str | None = None,
    caption: str | None = None,
) -> Picture:
    """A picture of each tensor's cells beside the storage boxes they live in.

    Tensors on one storage share one row of boxes; every further storage gets a row of its own.
    From `TensorFacts` the layout is drawn without values. Large tensors are drawn in part, and the
    figure says which part. The picture shows this moment: a later write does not change it.

    Args:
        tensors: One or more; strided.
        names: One for each; without them "tensor", or a, b, c ….
        title: A heading above the picture.
        caption: What stands below it, in place of the legend.

    Raises:
        TypeError: No tensor is given, or something that is none.
        ValueError: There are more or fewer names than tensors, or one has no single storage.

    >>> print(show_storage(torch.arange(12).view(3, 4)[:, 1]).alt.split(". ")[1])
    The tensor of three elements is at positions 1, 5 and 9, four apart
    """
    if not drawing():
        return _not_drawn()
    groups = _groups(tensors, _names(len(tensors), names))
    parts = [_title(title)] if title else []
    parts += [
        _row(group, heading) for group, heading in zip(groups, _headings(groups), strict=True)
    ]
    words = legend(groups) if caption is None else caption
    return Picture(partial(paint, stack(parts, gap=14)), alt=alt_of(groups), caption=words)


def compare_storage(yours: TensorFacts, expected: TensorFacts) -> Picture:
    """A picture of your tensor's layout beside the expected one, from facts alone.

    The two are drawn alike, so that only what differs looks different; the caption names it.

    Args:
        yours: The facts of the learner's tensor.
        expected: Those of the tensor that was asked for.
    """
    if not drawing():
        return _not_drawn()
    if not yours.layout == expected.layout == "strided":
        return _without_storage(yours, expected)
    pair = [
        _group([Subject(name, seen, (), number=None)], [None])
        for name, seen in (("yours", yours), ("expected", expected))
    ]
    different = differences(yours, expected)
    scene = stack(
        [_row(group, f"storage: {_size(group)}", frozenset(different)) for group in pair], gap=18
    )
    words = "The two layouts are equal."
    if different:
        words = f"Your tensor has {listed(list(different.values()))}."
    alt = f"{words} Yours: {alt_of(pair[:1])} Expected: {alt_of(pair[1:])}"
    return Picture(partial(paint, scene), alt=alt, caption=f"{words} {legend(pair)}")


def _without_storage(yours: TensorFacts, expected: TensorFacts) -> Picture:
    """What can be said of sparse tensors: they have no single storage to draw."""
    words = f"Your tensor has layout {yours.layout}, the expected one {expected.layout}."
    label = Label(0, 10, words, size=TEXT)
    scene = Scene(text_width(words, TEXT), 20, (label,))
    return Picture(partial(paint, scene), alt=words)


def _not_drawn() -> Picture:
    return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")


def _names(count: int, names: Sequence[str] | None) -> list[str]:
    if count == 0:
        raise TypeError("show_storage() draws tensors; give it at least one.")
    if names is None:
        return (
            ["tensor"]
            if count == 1
            else [f"t{i}" if count > 26 else _LETTERS[i] for i in range(count)]
        )
    if len(names) != count:
        raise ValueError(
            f"show_storage() got {count} tensors and {len(names)} names {list(names)}; "
            "give each tensor one name."
        )
    return list(names)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _facts(tensor: Tensorlike) -> TensorFacts:
    if not isinstance(tensor, torch.Tensor | TensorFacts):
        raise TypeError(
            f"show_storage() draws tensors and TensorFacts, not {type(tensor).__name__}. "
            "Make a tensor of it first, for example with torch.as_tensor(...)."
        )
    seen = tensor if isinstance(tensor, TensorFacts) else facts(tensor)
    if seen.layout != "strided":
        raise ValueError(
            f"show_storage() draws strided tensors; this one has layout {seen.layout}, which has "
            "no single storage. Use .to_dense() first."
        )
    return seen


def _groups(tensors: Sequence[Tensorlike], names: Sequence[str]) -> list[list[Subject]]:
    """The tensors by the storage they live in, in the order in which they were given.

    One storage read in elements of different size is drawn once for each size.
    """
    members: dict[tuple[int, int], list[int]] = {}
    seen = [_facts(tensor) for tensor in tensors]
    for i, one in enumerate(seen):
        members.setdefault((one.storage, one.itemsize), []).append(i)
    numbers = [None] if len(tensors) == 1 else range(len(tensors))
    subjects = [Subject(n, f, (), number=i) for n, f, i in zip(names, seen, numbers, strict=True)]
    return [
        _group([subjects[i] for i in row], [tensors[i] for i in row]) for row in members.values()
    ]


def _group(subjects: Sequence[Subject], sources: Sequence[Tensorlike | None]) -> list[Subject]:
    """The subjects of one storage with what is shown of each, and its values where known."""
    chosen = [replace(s, picks=picks_of(s.facts.shape, _MOST_COLUMNS)) for s in subjects]
    wanted = [cell.position for s in chosen for cell in cells_of(s)]
    drawn = [span.first for span in window(chosen[0].slots, wanted) if not span.hidden]
    return [
        _narrowed(replace(s, texts=texts_at(t, drawn) if isinstance(t, torch.Tensor) else None))
        for s, t in zip(chosen, sources, strict=True)
    ]


def _narrowed(subject: Subject) -> Subject:
    """The subject with no more columns than the figure is wide."""
    cell = cell_width([subject.text_at(c.position) for c in cells_of(subject)])
    columns = min(_MOST_COLUMNS, int((WIDTH - _MARGINS) / cell))
    return replace(subject, picks=picks_of(subject.facts.shape, columns))


def _headings(groups: Sequence[Sequence[Subject]]) -> list[str]:
    """What stands above each storage; with several storages, each has a number."""
    numbers: dict[int, int] = {}
    headings = []
    for group in groups:
        storage = group[0].facts.storage
        again = storage in numbers
        number = numbers.setdefault(storage, len(numbers) + 1)
        name = "storage" if len(groups) == 1 else f"storage {number}"
        headings.append(
            f"{name} again, read as {_size(group)}" if again else f"{name}: {_size(group)}"
        )
    return headings


def _size(group: Sequence[Subject]) -> str:
    slots, itemsize = group[0].slots, group[0].facts.itemsize
    boxes = "1 box" if slots == 1 else f"{slots} boxes"
    return f"{boxes} of {'1 byte' if itemsize == 1 else f'{itemsize} bytes'}"


def _title(text: str) -> Scene:
    return Scene(text_width(text, 16, bold=True), 22, (Label(0, 10, text, size=16, bold=True),))


def _row(group: Sequence[Subject], heading: str, wrong: frozenset[str] = frozenset()) -> Scene:
    """All there is to see of one storage: facts in words, grids, boxes."""
    words = [_fact_lines(subject, wrong) for subject in group]
    titled = len(group) > 1
    grids = flow([grid_scene(s, WIDTH, titled=titled) for s in group], WIDTH, gap=28)
    boxes = slots_scene(group, heading, WIDTH)
    fits = grids.width + _GAP + boxes.width <= WIDTH
    body = beside([grids, boxes], _GAP, align=0) if fits else stack([grids, boxes], gap=12)
    notes = [_note(subject) for subject in group if subject.shown < subject.facts.numel]
    return stack([stack(words), body, *notes], gap=10)


def _fact_lines(subject: Subject, wrong: frozenset[str]) -> Scene:
    """The tensor's name and facts in lines of the figure's width; wrong facts stand out."""
    items: list[Item] = []
    if subject.number is not None:
        items.append(Box(0, 2, 13, 13, fills=(fill(subject.number),)))
    start = 20.0 if items else 0.0
    items.append(Label(start, 9, subject.name, size=TEXT, bold=True))
    indent = start + text_width(subject.name, TEXT, bold=True) + _PHRASE_GAP
    x, y = indent, 9.0
    for name, words in fact_words(subject):
        bad = name in wrong
        width = text_width(words, TEXT, bold=bad)
        if x + width > WIDTH:
            x, y = indent, y + _LINE
        items.append(Label(x, y, words, ink=FAULT if bad else INK, size=TEXT, bold=bad))
        x += width + _PHRASE_GAP
    return Scene(WIDTH, y + _LINE - 9, tuple(items))


def _note(subject: Subject) -> Scene:
    text = (
        f"{subject.name}: {subject.shown} of its {subject.facts.numel} elements are drawn; "
        "… stands for the others."
    )
    return Scene(text_width(text), 18, (Label(0, 9, text, ink=MUTED),))
