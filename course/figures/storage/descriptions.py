"""A storage figure in words: fact lines, alt text and captions, made from the facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from course.figures.storage.layouts import Subject
from course.figures.storage.steps import step_words
from course.inspection.facts import TensorFacts, overlap, positions

__all__ = ["alt_of", "differences", "fact_words", "legend", "listed"]

_MOST_LISTED = 6  # positions named one by one in an alt text
_MOST_STEPS = 5  # dimensions; more steps do not fit on a line
_MOST_COUNTED = 20_000  # elements looked at one by one
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def fact_words(subject: Subject) -> list[tuple[str, str]]:
    """The facts of the layout, each by its name and in words."""
    seen = subject.facts
    steps = step_words(seen.shape, seen.stride) if len(seen.shape) <= _MOST_STEPS else ""
    return [
        ("shape", f"shape {seen.shape}"),
        ("stride", f"stride {seen.stride}" + (f": {steps}" if steps else "")),
        ("storage_offset", f"storage_offset {seen.storage_offset}"),
        ("is_contiguous", "contiguous" if seen.is_contiguous else "not contiguous"),
        ("dtype", seen.dtype),
    ]


def alt_of(storages: Sequence[Sequence[Subject]]) -> str:
    """What a reader who cannot see the figure would otherwise miss."""
    named = sum(len(group) for group in storages) > 1
    return " ".join(words for group in storages for words in _storage_words(group, named))


def _storage_words(group: Sequence[Subject], named: bool) -> list[str]:
    words = [f"Storage of {_boxes(group[0].slots)}."]
    words += [_tensor_words(s, f'tensor "{s.name}"' if named else "tensor") for s in group]
    words += _shared_words(group)
    rest = _rest(group)
    if 0 < rest < group[0].slots:
        words.append(f"The other {_boxes(rest)} hold no element of {_whose(group)}.")
    return words


def _tensor_words(subject: Subject, who: str) -> str:
    seen = subject.facts
    rank, size = len(seen.shape), " × ".join(map(str, seen.shape))
    if 0 in seen.shape:
        return f"The {who} of shape {seen.shape} has no elements."
    if rank == 0:
        return f"The {who} has no dimensions; its one element is at position {seen.storage_offset}."
    if rank == 1:
        return f"The {who} of {_count(seen.shape[0], 'element')} is at {_run(seen)}."
    if rank == 2:
        return f"Row 0 of the {size} {who} is at {_run(seen)}{_next_row(seen)}."
    steps = ", ".join(f"{step} along dimension {axis}" for axis, step in enumerate(seen.stride))
    return f"The {size} {who} begins at position {seen.storage_offset}; one step is {steps}."


def _run(seen: TensorFacts) -> str:
    """The positions of the last dimension, from the first element on."""
    size, step, first = seen.shape[-1], seen.stride[-1], seen.storage_offset
    if size == 1:
        return f"position {first}"
    if step == 0:
        return f"position {first}, read {_word(size)} times"
    listed = [str(first + i * step) for i in range(min(size, _MOST_LISTED))]
    if size > _MOST_LISTED:
        return f"positions {', '.join(listed[:3])} to {first + (size - 1) * step}, {_apart(step)}"
    return f"positions {', '.join(listed[:-1])} and {listed[-1]}, {_apart(step)}"


def _next_row(seen: TensorFacts) -> str:
    rows, step = seen.shape[0], seen.stride[0]
    if rows == 1:
        return ""
    if step == 0:
        return f"; all {_word(rows)} rows are these same boxes"
    return f"; each further row begins {_word(step)} later"


def _shared_words(group: Sequence[Subject]) -> list[str]:
    """For each two tensors the boxes that both have; nothing where there are many pairs."""
    pairs = [(one, other) for i, one in enumerate(group) for other in group[i + 1 :]]
    return [_pair_words(one, other) for one, other in pairs] if len(pairs) <= 3 else []


def _pair_words(one: Subject, other: Subject) -> str:
    pair = f'"{one.name}" and "{other.name}"'
    if not overlap(one.facts, other.facts):
        return f"{pair} have no box in common."
    if max(one.facts.numel, other.facts.numel) > _MOST_COUNTED:
        return f"{pair} have boxes in common."
    both = sorted({*positions(one.facts)} & {*positions(other.facts)})
    if len(both) > _MOST_LISTED:
        return f"{pair} have {len(both)} boxes in common."
    boxes = "box" if len(both) == 1 else "boxes"
    return f"{pair} have {boxes} {listed([str(p) for p in both])} in common."


def legend(storages: Sequence[Sequence[Subject]]) -> str:
    """What the colours and, without values, the numbers mean in this figure."""
    subjects = [subject for group in storages for subject in group]
    words = [_colours(subjects)]
    if any(_rest(group) for group in storages):
        words.append("Dashed grey boxes are the rest of the storage.")
    if any(subject.texts is None and subject.shown for subject in subjects):
        words.append("Numbers in cells are storage positions.")
    return " ".join(filter(None, words))


def _colours(subjects: Sequence[Subject]) -> str:
    if any(subject.number is not None for subject in subjects):
        return "The boxes of one tensor share a colour."
    if all(0 in subject.facts.shape for subject in subjects):
        return "The tensor has no elements."
    rows = any(len(subject.facts.shape) > 1 for subject in subjects)
    return "The boxes of one row share a colour." if rows else "Coloured boxes are the tensor."


def _rest(group: Sequence[Subject]) -> int:
    """The number of boxes that hold no element; 0 also where there are too many to look."""
    if any(prod(subject.facts.shape) > _MOST_COUNTED for subject in group):
        return 0
    used = {position for subject in group for position in positions(subject.facts)}
    return max(0, group[0].slots - len(used))


def differences(yours: TensorFacts, expected: TensorFacts) -> dict[str, str]:
    """The facts of the layout in which two tensors differ, by name, in words.

    {"stride": "stride (1, 3) instead of (3, 1)"}
    """
    return {
        name: f"{name} {getattr(yours, name)} instead of {getattr(expected, name)}"
        for name in ("shape", "stride", "storage_offset", "dtype")
        if getattr(yours, name) != getattr(expected, name)
    }


def listed(words: Sequence[str]) -> str:
    """Phrases as one: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _whose(group: Sequence[Subject]) -> str:
    return "the tensor" if len(group) == 1 else "these tensors"


def _apart(step: int) -> str:
    return f"{_word(step)} apart"


def _boxes(count: int) -> str:
    return f"{count} box" if count == 1 else f"{count} boxes"


def _count(number: int, noun: str) -> str:
    return f"{_word(number)} {noun}" if number == 1 else f"{_word(number)} {noun}s"


def _word(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
