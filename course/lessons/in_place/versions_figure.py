"""Version counters through the lines of a small program: `show_versions`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch

from course.figures.palette import CARD, FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, TEXT, Box, Item, Label, Scene, paint, text_width
from course.figures.storage.descriptions import listed
from course.inspection.facts import TensorFacts, facts
from course.inspection.graph import Saved, saved_by

__all__ = ["Moment", "lines_of", "moments_of", "picture_of", "show_versions"]

_ROW = 24.0  # px, the height of a line of text
_BOX = 40.0  # px, the least width of a column of counters
_GAP = 14.0  # px between columns
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+)")


@dataclass(frozen=True)
class Moment:
    """What holds after one line: the counters, what was saved by it, and what it spoiled.

    `raised` names the tensors whose counter this line moved, or that it made anew. `error` says
    how the line ended when it did not end well; nothing was run after it.
    """

    line: str
    versions: Mapping[str, int]
    raised: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    error: str = ""


def show_versions(program: str, given: Mapping[str, object] | None = None) -> Picture:
    r"""A picture of the version counters of all tensors after each line of a small program.

    Beside the counters stands what autograd saved in that line and at which version, and which
    saved tensor the line made stale. The program ends at its first error.

    Args:
        program: Lines that run one after another, each a whole statement.
        given: The names that it finds, beside `torch`.

    Raises:
        ValueError: The program has no line.

    >>> print(show_versions("x = torch.zeros(2)\nx += 1").alt)
    After `x = torch.zeros(2)`: x at 0. After `x += 1`: x at 1.
    """
    if not drawing():
        return picture_of(())
    moments = moments_of(program, given)
    if not moments:
        raise ValueError("show_versions() runs the lines of a program; this one has none.")
    return picture_of(moments)


def picture_of(moments: Sequence[Moment], waiting: Sequence[str] = ()) -> Picture:
    """The picture of what holds after each line, and below it the lines that have not run yet."""
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    words = "Numbers are version counters; coloured where the line made the tensor or wrote to it."
    still = f" Not run yet: {listed([f'`{line}`' for line in waiting])}." if waiting else ""
    alt = (_alt(moments) + still).strip()
    return Picture(partial(paint, _scene(moments, waiting)), alt=alt, caption=words)


def lines_of(program: str) -> list[str]:
    """The lines of the program that are run, one after another."""
    return [line for line in map(str.strip, program.splitlines()) if line]


def moments_of(program: str, given: Mapping[str, object] | None = None) -> list[Moment]:
    """What holds after each line of the program, up to and including its first error."""
    namespace: dict[str, object] = {"torch": torch, **(given or {})}
    before, kept = _tensors(namespace), _kept(namespace)
    moments: list[Moment] = []
    for line in lines_of(program):
        error = _run(line, namespace)
        after, now = _tensors(namespace), _kept(namespace)
        raised = {n for n, seen in after.items() if _moved(before.get(n), seen)}
        versions = {n: seen.version for n, seen in after.items() if seen.version is not None}
        notes = tuple(dict.fromkeys(_notes(kept, now, after)))
        moments.append(Moment(line, versions, frozenset(raised), notes, error))
        if error:
            break
        before, kept = after, now
    return moments


def _run(line: str, namespace: dict[str, object]) -> str:
    """How the line failed, or nothing."""
    try:
        exec(compile(line, "<program>", "exec"), namespace)
    except Exception as error:
        versions = _VERSIONS.search(str(error))
        if versions is not None:
            return f"{type(error).__name__}: saved at version {versions[2]}, now at {versions[1]}"
        return f"{type(error).__name__}: {str(error).partition('. ')[0].rstrip('.')}"
    return ""


def _tensors(namespace: Mapping[str, object]) -> dict[str, TensorFacts]:
    return {
        name: facts(value)
        for name, value in namespace.items()
        if isinstance(value, torch.Tensor) and not name.startswith("_")
    }


def _kept(namespace: Mapping[str, object]) -> Counter[Saved]:
    tensors = [value for value in namespace.values() if isinstance(value, torch.Tensor)]
    return Counter(saved_by(tensors))


def _moved(before: TensorFacts | None, after: TensorFacts) -> bool:
    return before is None or (before.storage, before.version) != (after.storage, after.version)


def _notes(
    before: Counter[Saved], now: Counter[Saved], tensors: Mapping[str, TensorFacts]
) -> Iterator[str]:
    """What the line saved, and which of the saved tensors it made stale."""
    for saved in now - before:
        name = _name(saved, tensors)
        if saved.stale:
            yield f"✗ what {saved.node} saved is stale"
        elif name or saved.shape:
            # Without name and shape it is the number of `x * 2`, wrapped; no program can write it.
            yield f"{saved.node} saves {name or 'its ' + saved.name} at version {saved.version}"


def _name(saved: Saved, tensors: Mapping[str, TensorFacts]) -> str:
    """What the program calls the saved tensor; nothing where it has no name there."""
    for same_shape in (True, False):
        for name, seen in tensors.items():
            fits = seen.shape == saved.shape or not same_shape
            if fits and seen.storage == saved.storage and seen.version == saved.version:
                return name
    return ""


# --- the scene ----------------------------------------------------------------------------------


def _scene(moments: Sequence[Moment], waiting: Sequence[str] = ()) -> Scene:
    names = list(dict.fromkeys(name for moment in moments for name in moment.versions))
    lines = [*(moment.line for moment in moments), *waiting]
    first = max(text_width(line, TEXT) for line in lines) + _GAP
    widths = [max(_BOX, text_width(name, TEXT, True) + 8) for name in names]
    starts = [first + sum(widths[:i]) for i in range(len(names) + 1)]
    items: list[Item] = [
        Label(x + wide / 2, _ROW / 2, name, "center", size=TEXT, bold=True)
        for name, x, wide in zip(names, starts, widths, strict=False)
    ]
    y = _ROW
    for moment in moments:
        notes = [(note, FAULT if note.startswith("✗") else MUTED) for note in moment.notes]
        notes += [(f"✗ {moment.error}", FAULT)] if moment.error else []
        items.append(Label(0, y + _ROW / 2, moment.line, size=TEXT))
        items += _counters(moment, names, starts, widths, y)
        items += [
            Label(starts[-1] + _GAP, y + (i + 0.5) * _ROW, text, ink=ink, size=SMALL)
            for i, (text, ink) in enumerate(notes)
        ]
        y += _ROW * max(1, len(notes))
    for line in waiting:
        items.append(Label(0, y + _ROW / 2, line, ink=MUTED, size=TEXT))
        y += _ROW
    return Scene(Scene(0, 0, tuple(items)).right, y, tuple(items))


def _counters(
    moment: Moment, names: Sequence[str], starts: Sequence[float], widths: Sequence[float], y: float
) -> Iterator[Box]:
    for name, x, wide in zip(names, starts, widths, strict=False):
        if name in moment.versions:
            fresh = name in moment.raised
            colour, edge = (fill(1), INK) if fresh else (CARD, RULE)
            yield Box(x, y + 1, wide - 2, _ROW - 2, str(moment.versions[name]), (colour,), edge)


def _alt(moments: Sequence[Moment]) -> str:
    return " ".join(_moment_words(moment) for moment in moments)


def _moment_words(moment: Moment) -> str:
    counters = [f"{name} at {version}" for name, version in moment.versions.items()]
    words = [f"After `{moment.line}`: {listed(counters) if counters else 'no tensor'}"]
    words += [note.removeprefix("✗ ") for note in moment.notes]
    words += [f"it raised {moment.error}"] if moment.error else []
    return "; ".join(words) + "."
