"""What epochs show: a square for each sample, with the number of times that it was drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import torch

from course.figures.palette import MUTED, REST, RULE, fill
from course.figures.picture import Picture
from course.figures.scene import Box, Item, Label, Scene, paint, stack, text_width

__all__ = ["show_epochs"]

_WIDTH = 850.0  # px of a whole figure, at most
_SQUARE, _STEP = 24.0, 26.0  # px, the side of a square and the way to the next
_MOST_ROWS = 9  # of one class; what does not fit is counted
_CAPTION = (
    "A square is a sample, in the order of the dataset; the number says how often the epoch "
    "shows it. Grey and empty: never."
)


def show_epochs(
    epochs: Mapping[str, Iterable[int]],
    labels: Sequence[int] | torch.Tensor,
    names: Sequence[str] | None = None,
) -> Picture:
    """For each epoch, by name, every sample of the dataset as a square with its number of draws.

    Args:
        epochs: For each name the indices that a sampler gave.
        labels: The class of each sample, in the dataset's order.
        names: Shown instead of the labels 0, 1, 2; one for each.

    Raises:
        ValueError: An index is no sample.
    """
    classes = labels.tolist() if isinstance(labels, torch.Tensor) else list(labels)
    times = {name: Counter(int(index) for index in epoch) for name, epoch in epochs.items()}
    for name, count in times.items():
        if wrong := [index for index in count if not 0 <= index < len(classes)]:
            raise ValueError(f"{name}: index {wrong[0]}, but there are {len(classes)} labels")
    words = {label: names[label] if names else f"class {label}" for label in sorted({*classes})}
    members = {label: [i for i, c in enumerate(classes) if c == label] for label in words}
    left = max((text_width(word) for word in words.values()), default=0) + 12
    scenes = []
    for name, count in times.items():
        scenes.append(_title(_in_words(name, count, members, words)))
        scenes += [
            _grid(words[label], [count[i] for i in mine], fill(number), left)
            for number, (label, mine) in enumerate(members.items())
        ]
    alt = " ".join(_in_words(name, count, members, words) + "." for name, count in times.items())
    return Picture(partial(paint, stack(scenes, gap=7)), alt=alt, caption=_CAPTION)


def _in_words(
    name: str, count: Counter[int], members: Mapping[int, list[int]], words: Mapping[int, str]
) -> str:
    """An epoch in a line: its draws of each class, and how many samples are among them."""
    draws = ", ".join(f"{words[label]} {sum(count[i] for i in members[label])}" for label in words)
    return f"{name}: {count.total()} draws ({draws}), {len(count)} different samples"


def _title(words: str) -> Scene:
    return Scene(_WIDTH, 20, (Label(0, 10, words, bold=True),))


def _grid(word: str, times: Sequence[int], colour: str, left: float) -> Scene:
    """The samples of one class, row by row."""
    columns = int((_WIDTH - left) // _STEP)
    shown = times[: columns * _MOST_ROWS]
    items: list[Item] = [Label(left - 10, _SQUARE / 2, word, "right", MUTED)]
    for number, drawn in enumerate(shown):
        x, y = left + number % columns * _STEP, number // columns * _STEP
        text, one = (str(drawn), colour) if drawn else ("", REST)
        edge = "#111111" if drawn else RULE
        items.append(Box(x, y, _SQUARE, _SQUARE, text, (one,), edge, size=12))
    rows = -(-len(shown) // columns)
    height = rows * _STEP - (_STEP - _SQUARE)
    if len(times) > len(shown):
        items.append(Label(left, height + 12, f"+ {len(times) - len(shown)} more", ink=MUTED))
        height += 20
    return Scene(_WIDTH, height, tuple(items))
