"""Class balance in an epoch of a weighted sampler: samples, draws, and distinct samples."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

import torch

from course.figures.palette import INK, MUTED, REST, RULE, fill
from course.figures.picture import Picture
from course.figures.scene import Box, Item, Label, Scene, paint, stack, text_width
from course.lessons.samplers.simulator import ClassPlan, EpochPlan, Weights, epoch_plan

__all__ = ["WIDTH", "balance_words", "draw_plan", "format_mean", "show_sampler"]

WIDTH = 850.0  # px of a whole figure
_BAR = 18.0  # px, the height of a bar
_STEP = 21.0  # px from one bar to the next
_MOST_CLASSES = 12  # more would not be read one by one
_NOTE = 250.0  # px to the right of the longest bar, for its number and note
_DRAWS, _DISTINCT = fill(0), fill(1)
_CAPTION = (
    "Grey: samples of the class. Blue: draws in an epoch. Orange: different samples among them. "
    "Draws and distinct samples are averages over many epochs."
)


def show_sampler(
    weights: Weights,
    labels: Sequence[Hashable] | torch.Tensor,
    num_samples: int | None = None,
    replacement: bool = True,
    names: Sequence[str] | None = None,
) -> Picture:
    """Each class with its samples, its draws in an epoch, and how many of these differ.

    Draws and distinct samples are averages over epochs, computed and not drawn.

    Args:
        weights: One for each sample, as `WeightedRandomSampler` takes them.
        labels: The class of each sample.
        num_samples: Draws in an epoch; None for the size of the dataset.
        replacement: Whether a sample can be drawn again in an epoch.
        names: Shown instead of the labels 0, 1, 2, …

    Raises:
        ValueError: There is not one weight a label, the weights or `num_samples` cannot be drawn
            with, or without replacement the weights differ too much to be counted.
    """
    return draw_plan(epoch_plan(weights, labels, num_samples, replacement), names)


def draw_plan(plan: EpochPlan, names: Sequence[str] | None = None) -> Picture:
    """The picture of a plan."""
    words = [_class_name(one, names) for one in plan.classes]
    shown = list(zip(words, plan.classes, strict=True))[:_MOST_CLASSES]
    left = max(text_width(word, bold=True) for word in words) + 80
    longest = max(max(one.size, one.draws) for _, one in shown)
    scale = (WIDTH - left - _NOTE) / longest
    scenes = [_title(plan), *(_class_scene(word, one, left, scale) for word, one in shown)]
    if len(words) > len(shown):
        note = f"{len(words) - len(shown)} further classes are not drawn."
        scenes.append(Scene(WIDTH, 16, (Label(0, 8, note, ink=MUTED),)))
    return Picture(partial(paint, stack(scenes, gap=9)), alt=_alt(plan, shown), caption=_CAPTION)


def balance_words(plan: EpochPlan, names: Sequence[str] | None = None) -> list[str]:
    """What each class gets, a sentence each.

    >>> balance_words(epoch_plan([1, 1], [0, 0], 2))
    ['class 0: 2 samples, drawn 2 times; 1.5 different ones, 0.5 not seen.']
    """
    return [_class_words(_class_name(one, names), one) for one in plan.classes]


def format_mean(mean: float) -> str:
    """An average with one digit after the point, or none where it is a whole number.

    >>> format_mean(25.5), format_mean(3.0000000001), format_mean(0.01)
    ('25.5', '3', '0.01')
    """
    if abs(mean - round(mean)) < 1e-4:  # weights in float32 are not exact
        return str(round(mean))
    return f"{mean:.1f}" if mean >= 0.095 else f"{mean:.2g}"


def _class_name(one: ClassPlan, names: Sequence[str] | None) -> str:
    if names is not None and isinstance(one.label, int):
        return names[one.label]
    return one.label if isinstance(one.label, str) else f"class {one.label}"


def _title(plan: EpochPlan) -> Scene:
    how = "with" if plan.replacement else "without"
    words = f"An epoch of {plan.num_samples} draws {how} replacement from {plan.size} samples"
    return Scene(WIDTH, 18, (Label(0, 8, words, bold=True),))


def _class_scene(word: str, one: ClassPlan, left: float, scale: float) -> Scene:
    bars = [
        ("samples", one.size, REST, RULE, ""),
        ("draws", one.draws, _DRAWS, INK, f"each sample {_times(one.repeats)}"),
        ("distinct", one.distinct, _DISTINCT, INK, f"{format_mean(one.unseen)} never seen"),
    ]
    items: list[Item] = [Label(0, _BAR / 2, word, bold=True)]
    for number, (name, value, colour, edge, note) in enumerate(bars):
        y = number * _STEP
        items.append(Label(left - 8, y + _BAR / 2, name, "right", MUTED))
        items.append(Box(left, y, value * scale, _BAR, fills=(colour,), edge=edge))
        text = f"{format_mean(value)} · {note}" if note else format_mean(value)
        items.append(Label(left + value * scale + 7, y + _BAR / 2, text))
    return Scene(WIDTH, 2 * _STEP + _BAR, tuple(items))


def _class_words(word: str, one: ClassPlan) -> str:
    samples = "1 sample" if one.size == 1 else f"{one.size} samples"
    different = "one" if format_mean(one.distinct) == "1" else "ones"
    return (
        f"{word}: {samples}, drawn {_times(one.draws)}; "
        f"{format_mean(one.distinct)} different {different}, {format_mean(one.unseen)} not seen."
    )


def _alt(plan: EpochPlan, shown: Sequence[tuple[str, ClassPlan]]) -> str:
    classes = " ".join(_class_words(word, one) for word, one in shown)
    how = "with" if plan.replacement else "without"
    return f"Average epoch of {plan.num_samples} draws {how} replacement. {classes}"


def _times(mean: float) -> str:
    number = format_mean(mean)
    return f"{number} time" if number == "1" else f"{number} times"
