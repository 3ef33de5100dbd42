"""The freezing explorer: a switch for each block, with what it does to gradient and memory.

One training step of four blocks, of which some are frozen or run under no_grad: measured.

What the freezing explorer draws: the blocks in a row, and the memory that each one takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import torch
from torch import nn

from course.figures.palette import CARD, FAULT, INK, MUTED, REST, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import WIDTH, Arrow, Box, Item, Label, Scene, paint
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

__all__ = [
    "BLOCKS",
    "FROZEN",
    "HIDDEN",
    "MODES",
    "TRAINS",
    "Block",
    "FreezingExplorer",
    "FreezingPanel",
    "Step",
    "checked",
    "explore_freezing",
    "measure",
    "page_html",
    "step_picture",
    "words_of",
]

TRAINS, FROZEN, HIDDEN = "trains", "frozen", "under no_grad"
MODES = (TRAINS, FROZEN, HIDDEN)
BLOCKS = 4
_WIDTH, _BATCH = 64, 128  # features of a block; rows of the batch


@dataclass(frozen=True)
class Block:
    """What one step did to one block; memory in bytes.

    `saved` counts the activations that its forward pass kept for backward, not its parameters;
    `reached` says whether a gradient came to what goes into the block.
    """

    mode: str
    reached: bool
    moved: bool
    saved: int
    gradients: int
    state: int


@dataclass(frozen=True)
class Step:
    """The blocks of one step, and whether backward could run at all."""

    blocks: tuple[Block, ...]
    ran: bool

    @property
    def bytes(self) -> int:
        """All that the training needs beyond the parameters."""
        return sum(one.saved + one.gradients + one.state for one in self.blocks)


def checked(modes: Sequence[str]) -> tuple[str, ...]:
    """The modes, one for each block.

    Raises:
        ValueError: There are not four of them, or one is unknown.
    """
    if len(modes) != BLOCKS or not set(modes) <= set(MODES):
        raise ValueError(f"give {BLOCKS} modes out of {', '.join(MODES)}; got {list(modes)}.")
    return tuple(modes)


def measure(modes: Sequence[str]) -> Step:
    """One step of Adam through four blocks (Linear and ReLU) in these modes."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        torch.manual_seed(0)
        blocks = [
            nn.Sequential(nn.Linear(_WIDTH, _WIDTH, bias=False), nn.ReLU()) for _ in range(BLOCKS)
        ]
        rows = torch.randn(_BATCH, _WIDTH)
    for block, mode in zip(blocks, checked(modes), strict=True):
        block.requires_grad_(mode != FROZEN)
    before = [[p.detach().clone() for p in block.parameters()] for block in blocks]
    optimizer = torch.optim.Adam([p for block in blocks for p in block.parameters()], lr=0.01)
    with torch.enable_grad():
        inputs, loss, saved = _forward(blocks, modes, rows)
        if loss.requires_grad:
            loss.backward()
    optimizer.step()
    told = []
    for n, (block, mode) in enumerate(zip(blocks, modes, strict=True)):
        own = list(block.parameters())
        moved = any(not torch.equal(p, q) for p, q in zip(own, before[n], strict=True))
        gradients = sum(p.grad.nbytes for p in own if p.grad is not None)
        state = sum(
            value.nbytes for p in own if p in optimizer.state
            for value in optimizer.state[p].values() if value.dim()
        )  # fmt: skip
        told.append(Block(mode, inputs[n].grad is not None, moved, saved[n], gradients, state))
    return Step(tuple(told), loss.requires_grad)


def _forward(
    blocks: Sequence[nn.Module], modes: Sequence[str], rows: torch.Tensor
) -> tuple[list[torch.Tensor], torch.Tensor, list[int]]:
    """What went into each block, the loss, and the bytes of activations that each block saved."""
    kept: list[dict[int, int]] = [{} for _ in blocks]
    own = {p.untyped_storage().data_ptr() for block in blocks for p in block.parameters()}
    inputs: list[torch.Tensor] = []
    for block, mode, seen in zip(blocks, modes, kept, strict=True):

        def note(tensor: torch.Tensor, seen: dict[int, int] = seen) -> torch.Tensor:
            where = tensor.untyped_storage().data_ptr()
            if where not in own and not any(where in other for other in kept):
                seen[where] = tensor.untyped_storage().nbytes()
            return tensor

        inputs.append(rows)
        if rows.requires_grad:
            rows.retain_grad()
        with (
            torch.set_grad_enabled(mode != HIDDEN),
            torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor),
        ):
            rows = block(rows)
    return inputs, rows.square().mean(), [sum(seen.values()) for seen in kept]


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
    colour = {TRAINS: fill(3), FROZEN: REST}.get(one.mode, CARD)
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


def explore_freezing(
    first: str = FROZEN, second: str = FROZEN, third: str = TRAINS, fourth: str = TRAINS
) -> FreezingExplorer:
    """An explorer of one training step through four blocks, each with a switch.

    In a live notebook each block has a menu; anywhere else it is a static page of these settings.

    Args:
        first: "trains", "frozen" or "under no_grad".
        second: The same for the second block.
        third: The same for the third block.
        fourth: The same for the last block.

    Returns:
        The explorer; a notebook shows it as the last value of a cell.

    Raises:
        ValueError: One of them is another word.
    """
    return FreezingExplorer(checked((first, second, third, fourth)))


class FreezingExplorer(Explorer["FreezingPanel"]):
    """What `explore_freezing` shows: a panel of widgets, or the same page without menus."""

    def __init__(self, start: Sequence[str]) -> None:
        self._start = tuple(start)

    def _make_panel(self) -> FreezingPanel:
        return FreezingPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(words_of(self._start))

    def _repr_html_(self) -> str:
        return page_html(self._start)


class FreezingPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: Sequence[str]) -> None:
        from ipywidgets import HTML, Dropdown, HBox, Layout, VBox

        self.menus = [
            Dropdown(
                options=MODES, value=mode, layout=Layout(width="200px"), **labelled(f"Block {n}:")
            )
            for n, mode in enumerate(start, 1)
        ]
        self.page = HTML()
        self.box = VBox([HBox(self.menus, layout=Layout(flex_flow="row wrap")), self.page])
        for menu in self.menus:
            menu.observe(lambda _: self._draw(), names="value")
        self._draw()

    @property
    def modes(self) -> tuple[str, ...]:
        """What the menus say now."""
        return tuple(menu.value for menu in self.menus)

    def _draw(self) -> None:
        self.page.value = page_html(self.modes)


def page_html(modes: Sequence[str]) -> str:
    """The picture of these settings, and what they do in words."""
    words = "".join(f"<p>{escape(line)}</p>" for line in words_of(modes))
    picture = step_picture(measure(modes))._repr_html_() if drawing() else ""
    return f"{picture}<div style='{PROSE}'>{words}</div>"


def words_of(modes: Sequence[str]) -> list[str]:
    """What this step costs, and what stands in its way."""
    step, all_train = measure(modes), measure((TRAINS,) * len(modes))
    if not step.ran:
        return ["backward raises an error: nothing that leads to the loss requires grad."]
    share = 100 * step.bytes / all_train.bytes
    told = [
        f"Beyond the parameters, this step needs {step.bytes / 1024:.0f} kB: {share:.0f} % of "
        f"what it takes when all blocks train."
    ]
    wall = max((n for n, one in enumerate(step.blocks, 1) if one.mode == HIDDEN), default=0)
    cut = [n for n, one in enumerate(step.blocks, 1) if one.mode == TRAINS and not one.moved]
    if cut:
        named = " and ".join(map(str, cut))
        told.append(
            f"Block {named} should train and can't: block {wall} runs under no_grad, and no "
            "gradient comes through it."
        )
    kept = [n for n, one in enumerate(step.blocks, 1) if one.mode == FROZEN and one.saved]
    for n in kept:
        why = (
            f"for a gradient that never comes: block {wall} is in its way."
            if n < wall
            else "since a gradient has to come through to what trains in front of it."
        )
        told.append(f"Block {n} is frozen and still keeps activations, {why}")
    return told
