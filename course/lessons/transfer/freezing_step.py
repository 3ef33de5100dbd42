"""One training step of four blocks, of which some are frozen or run under no_grad: measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

__all__ = ["BLOCKS", "FROZEN", "HIDDEN", "MODES", "TRAINS", "Block", "Step", "checked", "measure"]

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
        blocks = [nn.Sequential(nn.Linear(_WIDTH, _WIDTH), nn.ReLU()) for _ in range(BLOCKS)]
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
