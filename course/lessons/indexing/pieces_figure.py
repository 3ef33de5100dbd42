"""Tensors joined and cut, each part in a colour of its own: `show_joined` and `show_pieces`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import torch

from course.figures.palette import CARD, FAULT, MUTED, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    WIDTH,
    Scene,
    heading,
    line,
    paint,
    stack,
)
from course.figures.storage.descriptions import listed
from course.inspection.facts import positions, same_storage
from course.lessons.indexing.element_grid import Index, grid_of, in_lines, indices_of, texts_of

__all__ = ["show_joined", "show_pieces"]

_MOST = 48  # elements of a tensor that is drawn
_MOST_PARTS = 6  # colours that can be told apart

Join = Callable[[Sequence[torch.Tensor]], torch.Tensor]


def show_joined(*tensors: torch.Tensor, names: Sequence[str]) -> Picture:
    """A picture of what `cat` and `stack` make of these tensors, each cell in its origin's colour.

    Args:
        tensors: 1 to 6, each of at most 48 elements and three dimensions.
        names: One for each.

    Raises:
        ValueError: A tensor is larger, or there are more tensors, or not as many names.

    >>> print(show_joined(torch.zeros(2, 3), torch.ones(2, 3), names=["a", "b"]).alt)
    torch.cat([a, b], dim=0) has shape (4, 3). torch.cat([a, b], dim=1) has shape (2, 6). \
torch.stack([a, b], dim=0) has shape (2, 2, 3).
    """
    if len(tensors) != len(names) or not 1 <= len(tensors) <= _MOST_PARTS:
        raise ValueError(
            f"show_joined() draws 1 to {_MOST_PARTS} tensors, each with a name; "
            f"it got {len(tensors)} tensors and {len(names)} names."
        )
    for tensor, name in zip(tensors, names, strict=True):
        _refuse_large(tensor, name)
    parts = [tensor.detach() for tensor in tensors]
    made = [(code, *_made(join, parts)) for code, join in _ways(parts, names)]
    words = " ".join(
        f"{code} has shape {tuple(result.shape)}." if result is not None else f"{code}: {error}."
        for code, result, error in made
    )
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=words)
    caption = "Each colour is one of the tensors that are joined."
    return Picture(partial(paint, _joins_scene(parts, names, made)), alt=words, caption=caption)


def _joins_scene(
    parts: Sequence[torch.Tensor],
    names: Sequence[str],
    made: Sequence[tuple[str, torch.Tensor | None, str]],
) -> Scene:
    """The tensors, and below them what each way to join them gives."""
    origins = [torch.full(tensor.shape, number) for number, tensor in enumerate(parts)]
    joins = dict(_ways(parts, names))
    scenes = [
        _coloured(f"{name}   {tuple(part.shape)}", part, origin)
        for name, part, origin in zip(names, parts, origins, strict=True)
    ]
    results = [
        _joined_scene(code, result, error, joins[code], origins) for code, result, error in made
    ]
    return stack([in_lines(scenes, WIDTH, gap=36), in_lines(results, WIDTH, gap=36)], gap=24)


def _refuse_large(tensor: torch.Tensor, name: str) -> None:
    if tensor.numel() > _MOST or tensor.dim() > 3:
        raise ValueError(
            f"at most {_MOST} elements and three dimensions can be drawn; "
            f"{name} has shape {tuple(tensor.shape)}."
        )


def _ways(parts: Sequence[torch.Tensor], names: Sequence[str]) -> list[tuple[str, Join]]:
    """The ways to join tensors of this rank, as code and as a function."""
    inside = f"[{', '.join(names)}]"
    ways: list[tuple[str, Join]] = [
        (f"torch.cat({inside}, dim={dim})", partial(torch.cat, dim=dim))
        for dim in range(min(2, max(1, parts[0].dim())))
    ]
    return [*ways, (f"torch.stack({inside}, dim=0)", partial(torch.stack, dim=0))]


def _made(join: Join, parts: Sequence[torch.Tensor]) -> tuple[torch.Tensor | None, str]:
    """The result, or PyTorch's reason to refuse it, in one sentence."""
    try:
        return join(parts), ""
    except RuntimeError as error:
        return None, f"RuntimeError: {str(error).splitlines()[0].partition('. ')[0].rstrip('.')}"


def _joined_scene(
    code: str, result: torch.Tensor | None, error: str, join: Join, origins: Sequence[torch.Tensor]
) -> Scene:
    if result is None:
        return stack([heading(code), line(error, FAULT)], gap=2)
    return _coloured(f"{code}   {tuple(result.shape)}", result, join(origins))


def _coloured(title: str, values: torch.Tensor, numbers: torch.Tensor) -> Scene:
    """The cells of a tensor in the colours that the numbers name; below 0 none."""

    def look(index: Index) -> tuple[tuple[str, ...], bool]:
        number = int(numbers[index])
        return (fill(number) if number >= 0 else CARD,), False

    return stack([heading(title), grid_of(tuple(values.shape), texts_of(values), look, WIDTH)])


def show_pieces(tensor: torch.Tensor, cuts: Mapping[str, Sequence[torch.Tensor]]) -> Picture:
    """A picture of a tensor for each way to cut it, its pieces in colours of their own.

    Args:
        tensor: At most 48 elements and three dimensions.
        cuts: The pieces by the code that made them; they must be views of the tensor.

    Raises:
        ValueError: The tensor is larger, or a piece is no view of it.

    >>> x = torch.arange(6)
    >>> print(show_pieces(x, {"x.chunk(4)": x.chunk(4)}).alt)
    x.chunk(4) gives 3 pieces: (2,), (2,) and (2,).
    """
    _refuse_large(tensor, "the tensor")
    words = " ".join(f"{code} gives {_counted(pieces)}." for code, pieces in cuts.items())
    owners = [_owners(tensor, pieces, code) for code, pieces in cuts.items()]
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=words)
    scenes = [
        stack([_coloured(code, tensor.detach(), owner), line(_counted(pieces), MUTED)], gap=4)
        for (code, pieces), owner in zip(cuts.items(), owners, strict=True)
    ]
    caption = "Each colour is one piece. All pieces are views of the tensor that is drawn."
    return Picture(partial(paint, stack(scenes, gap=18)), alt=words, caption=caption)


def _counted(pieces: Sequence[torch.Tensor]) -> str:
    shapes = listed([str(tuple(piece.shape)) for piece in pieces])
    return f"{len(pieces)} piece{'' if len(pieces) == 1 else 's'}: {shapes}"


def _owners(tensor: torch.Tensor, pieces: Sequence[torch.Tensor], code: str) -> torch.Tensor:
    """The number of the piece that each element of the tensor belongs to, -1 for none."""
    if not all(same_storage(piece, tensor) for piece in pieces):
        raise ValueError(f"{code}: show_pieces() draws pieces that are views of the tensor.")
    owner = {place: n for n, piece in enumerate(pieces) for place in positions(piece)}
    found = torch.full(tensor.shape, -1)
    for index, place in zip(indices_of(tensor.shape), positions(tensor), strict=True):
        found[index] = owner.get(place, -1)
    return found
