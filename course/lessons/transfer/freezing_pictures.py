"""What the freezing explorer draws: the blocks in a row, and the memory that each one takes."""

from __future__ import annotations

from functools import partial

from course.figures.palette import CARD, FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture
from course.figures.scene import WIDTH, Arrow, Box, Item, Label, Scene, paint
from course.lessons.transfer.freezing_step import FROZEN, TRAINS, Block, Step

__all__ = ["step_picture"]

_LEFT, _EACH, _BOX = 96.0, 185.0, 140.0  # px: names of rows, a block with its gap, a block
_MOST = 110.0  # px of the highest column of memory
_PARTS = (("saved", "activations"), ("gradients", "gradients"), ("state", "Adam's state"))
_CAPTION = (
    "Data go from left to right, gradients from right to left; an arrow below shows how far they "
    "get. Columns: kB of activations kept for backward, of gradients, and of Adam's state."
)


def step_picture(step: Step) -> Picture:
    """The four blocks with what a step did to each."""
    alt = " ".join(f"Block {n}: {_words(one)}." for n, one in enumerate(step.blocks, 1))
    return Picture(partial(paint, _scene(step)), alt=alt, caption=_CAPTION)


def _words(one: Block) -> str:
    moved = "moves" if one.moved else "stays"
    parts = ", ".join(f"{words} {_kb(getattr(one, name))}" for name, words in _PARTS)
    return f"{one.mode}, {moved}, {parts}"


def _kb(number: int) -> str:
    return f"{number / 1024:.0f} kB"


def _scene(step: Step) -> Scene:
    items: list[Item] = [
        Label(0, 32, "block", ink=MUTED),
        Label(0, 82, "weights", ink=MUTED),
        Label(0, 240, "memory", ink=MUTED),
    ]
    most = max(max(one.saved, one.gradients, one.state) for one in step.blocks) or 1
    for n, one in enumerate(step.blocks):
        items += _block(n, one, most)
        if n and one.reached:
            x = _LEFT + n * _EACH
            items.append(Arrow(((x, 82), (x - _EACH + _BOX, 82))))
    for n, (_, words) in enumerate(_PARTS):
        x = _LEFT + n * 190
        items += [Box(x, 268, 14, 14, fills=(fill(n),)), Label(x + 20, 275, words)]
    return Scene(WIDTH, 290, tuple(items))


def _block(n: int, one: Block, most: int) -> list[Item]:
    x = _LEFT + n * _EACH
    colour = {TRAINS: fill(2), FROZEN: fill(0)}.get(one.mode, CARD)
    items: list[Item] = [
        Box(x, 10, _BOX, 44, f"{n + 1}: {one.mode}", (colour,), dashed=colour == CARD),
        Label(
            x + _BOX / 2, 82, "moves" if one.moved else "stays", "center",
            ink=INK if one.moved else (FAULT if one.mode == TRAINS else MUTED), bold=one.moved,
        ),
        Box(x, 228, _BOX, 0, edge=RULE),
    ]  # fmt: skip
    for part, (name, _) in enumerate(_PARTS):
        value = getattr(one, name)
        height, left = _MOST * value / most, x + 4 + part * 46
        if value:
            items.append(Box(left, 228 - height, 40, height, fills=(fill(part),)))
        number = f"{value / 1024:.0f}"
        items.append(Label(left + 20, 240, number, "center", ink=INK if value else MUTED))
    return items
