"""What a file has for a model, name by name: `show_loading`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from course.figures.palette import CARD, FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Arrow, Box, Item, Label, Scene, paint

__all__ = ["Match", "matches_of", "show_loading"]

_MOST = 24  # names; more rows nobody reads
_ROW, _BOX = 30.0, 22.0  # px
_WIDE, _RIGHT = 270.0, 390.0  # px: a box, and where the model's begin
_COLOURS = {"loaded": fill(2), "mismatched": fill(5), "missing": fill(1), "unexpected": fill(3)}
_CAPTION = (
    "Left: what the file holds. Right: what the model wants. An arrow joins the same name with "
    "the same shape. strict=False forgives what has no partner, and raises for a pair whose "
    "shapes differ."
)


@dataclass(frozen=True)
class Match:
    """What becomes of one name when a state dict is loaded into a model.

    Attributes:
        name: The key in the state dict.
        file: The shape that the file has for it; None if it isn't there.
        model: The shape that the model has for it; None if it isn't there.
        verdict: "loaded", "missing", "unexpected" or "mismatched".
    """

    name: str
    file: tuple[int, ...] | None
    model: tuple[int, ...] | None
    verdict: str  # loaded | missing | unexpected | mismatched


def matches_of(model: nn.Module, state: Mapping[str, torch.Tensor]) -> list[Match]:
    """Every name of the model in its order, then what only the file has.

    As in `load_state_dict`, a number of the model also takes a vector of one element, which is
    what files of PyTorch 0.3 hold.

    Args:
        model: Its state dict is what is wanted.
        state: What the file holds.

    >>> [match.verdict for match in matches_of(nn.Linear(2, 1), {"weight": torch.zeros(1, 2)})]
    ['loaded', 'missing']
    """
    wanted = model.state_dict()
    found = []
    for name in [*wanted, *(name for name in state if name not in wanted)]:
        shapes = [tuple(side[name].shape) if name in side else None for side in (state, wanted)]
        if None not in shapes:
            fits = shapes[0] == shapes[1] or shapes == [(1,), ()]
            verdict = "loaded" if fits else "mismatched"
        else:
            verdict = "missing" if shapes[0] is None else "unexpected"
        found.append(Match(name, shapes[0], shapes[1], verdict))
    return found


def show_loading(model: nn.Module, state: Mapping[str, torch.Tensor]) -> Picture:
    """A picture of the names that a file and a model have, and of which of them meet.

    Args:
        model: The model that is to be loaded; it stays as it is.
        state: The file's state dict.

    Returns:
        The picture: a row for each name of either side.

    Raises:
        ValueError: There is nothing to draw, or more than 24 names.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    matches = matches_of(model, state)
    if not 1 <= len(matches) <= _MOST:
        raise ValueError(f"show_loading() draws 1 to {_MOST} names; there are {len(matches)}.")
    alt = " ".join(f"{match.name}: {_words(match)}." for match in matches)
    return Picture(partial(paint, _scene(matches)), alt=alt, caption=_CAPTION)


def _words(match: Match) -> str:
    if match.verdict == "mismatched":
        return (
            f"mismatched, {_shape(match.file)} in the file and {_shape(match.model)} in the model"
        )
    return match.verdict


def _shape(shape: Sequence[int] | None) -> str:
    return "×".join(map(str, shape)) if shape else "number"


def _scene(matches: Sequence[Match]) -> Scene:
    items: list[Item] = [
        Label(0, 9, "the file", bold=True),
        Label(_RIGHT, 9, "the model", bold=True),
        Box(0, 20, WIDTH, 0, edge=RULE),
    ]
    for number, match in enumerate(matches):
        items += _row(match, 27 + number * _ROW)
    return Scene(WIDTH, 28 + len(matches) * _ROW, tuple(items))


def _row(match: Match, top: float) -> list[Item]:
    middle, colour = top + _BOX / 2, _COLOURS[match.verdict]
    items: list[Item] = []
    for x, shape in ((0.0, match.file), (_RIGHT, match.model)):
        name = match.name if len(match.name) <= 22 else f"…{match.name[-21:]}"
        words = f"{name}  {_shape(shape)}" if shape is not None else "–"
        fills, edge = ((colour,), INK) if shape is not None else ((CARD,), RULE)
        items.append(Box(x, top, _WIDE, _BOX, words, fills, edge, dashed=shape is None, size=SMALL))
    if match.verdict == "loaded":
        items.append(Arrow(((_WIDE + 6, middle), (_RIGHT - 6, middle))))
    loud = match.verdict == "mismatched"
    ink = FAULT if loud else (MUTED if match.verdict == "loaded" else INK)
    words = f"{match.verdict}: raises" if loud else match.verdict
    return [*items, Label(_RIGHT + _WIDE + 14, middle, words, ink=ink, bold=loud)]
