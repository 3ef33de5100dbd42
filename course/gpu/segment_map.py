"""Segments and blocks at one moment, with who holds each: what the segment map shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from course.gpu.simulator.allocator.sizes import SMALL_SEGMENT_NBYTES
from course.gpu.timeline import Category, Timeline


@dataclass(frozen=True)
class Piece:
    """A part of a segment: a block in use with its holder, or free bytes (`category` is None)."""

    offset: int
    nbytes: int
    category: Category | None = None
    name: str = ""


@dataclass(frozen=True)
class Row:
    """One segment and its pieces, which cover it from end to end."""

    nbytes: int
    pieces: tuple[Piece, ...]

    @property
    def pool(self) -> str:
        """The pool that the segment belongs to; only the small one has segments of 2 MiB."""
        return "small" if self.nbytes == SMALL_SEGMENT_NBYTES else "large"

    @property
    def used(self) -> int:
        """Bytes in use."""
        return sum(piece.nbytes for piece in self.pieces if piece.category is not None)


def rows_of(
    segments: Iterable[Mapping[str, Any]], holders: Mapping[int, tuple[Category, str]]
) -> list[Row]:
    """Return rows for segments in the form of `memory_snapshot`; `holders` by address."""
    rows = []
    for segment in segments:
        used = [
            Piece(b["address"] - segment["address"], b["size"], *_holder(holders, b["address"]))
            for b in segment["blocks"]
            if b["state"] != "inactive"
        ]
        rows.append(_row(segment["total_size"], used))
    return rows


def rows_at(timeline: Timeline, at: int) -> list[Row]:
    """Return rows for a position of a recording."""
    held = timeline.holders(at)
    return [
        _row(
            segment.nbytes,
            [
                Piece(one.address - segment.address, one.nbytes, one.category, one.name)
                for one in held
                if 0 <= one.address - segment.address < segment.nbytes
            ],
        )
        for segment in timeline.segments(at)
    ]


def holders_of(
    tensors: Mapping[str, torch.Tensor],
    model: torch.nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
) -> dict[int, tuple[Category, str]]:
    """Return category and name for the addresses of these tensors, a model's and an optimizer's."""
    found: dict[int, tuple[Category, str]] = {}
    parameters = dict(model.named_parameters()) if model is not None else {}
    for name, tensor in tensors.items():
        found[_address(tensor)] = ("temporaries", name)
    for name, parameter in parameters.items():
        if parameter.grad is not None:
            found[_address(parameter.grad)] = ("gradients", f"{name}.grad")
        found[_address(parameter)] = ("parameters", name)
    names: dict[torch.Tensor, str] = {p: name for name, p in parameters.items()}
    for owner, state in optimizer.state.items() if optimizer is not None else ():
        for key, value in state.items():
            if isinstance(value, torch.Tensor):
                label = f"{names.get(owner, 'parameter')}: {key}"
                found[_address(value)] = ("optimizer state", label)
    return found


def _address(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _holder(holders: Mapping[int, tuple[Category, str]], address: int) -> tuple[Category, str]:
    return holders.get(address, ("temporaries", ""))


def _row(nbytes: int, used: Sequence[Piece]) -> Row:
    """Return the row with the free bytes between the blocks filled in."""
    pieces: list[Piece] = []
    at = 0
    for piece in sorted(used, key=lambda one: one.offset):
        if piece.offset > at:
            pieces.append(Piece(at, piece.offset - at))
        pieces.append(piece)
        at = piece.offset + piece.nbytes
    if at < nbytes:
        pieces.append(Piece(at, nbytes - at))
    return Row(nbytes, tuple(pieces))
