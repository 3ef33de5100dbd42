"""What tests look at in a storage figure: its scene, its texts, and what lies over what."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from course.figures import Picture
from course.figures.scene import Arrow, Box, Label, Scene, text_width


def scene_of(picture: Picture) -> Scene:
    """The scene that the picture will paint."""
    return picture._draw.args[0]  # type: ignore[attr-defined]


def texts_of(picture: Picture) -> list[str]:
    """Every text of the picture."""
    return scene_of(picture).texts()


@dataclass(frozen=True)
class Area:
    """A rectangle that something covers."""

    left: float
    top: float
    right: float
    bottom: float
    what: str

    def meets(self, other: Area) -> bool:
        """Whether the two have more than an edge in common."""
        beside = self.right <= other.left or other.right <= self.left
        return not beside and self.top < other.bottom and other.top < self.bottom


def text_areas(scene: Scene) -> list[Area]:
    """What the texts cover: their x-height and capitals, a pixel of air taken off at the sides."""
    areas = []
    for item in scene.items:
        if isinstance(item, Arrow) or not item.text:
            continue
        bold = isinstance(item, Label) and item.bold
        wide, tall = text_width(item.text, item.size, bold), 0.38 * item.size
        x, y = _start(item, wide)
        areas.append(Area(x + 1, y - tall, x + wide - 1, y + tall, item.text))
    return areas


def _start(item: Box | Label, wide: float) -> tuple[float, float]:
    if isinstance(item, Box):
        return item.x + (item.width - wide) / 2, item.y + item.height / 2
    return item.x - {"left": 0.0, "center": 0.5, "right": 1.0}[item.align] * wide, item.y


def line_areas(scene: Scene) -> Iterator[Area]:
    """What the lines of the arrows cover."""
    for item in scene.items:
        if isinstance(item, Arrow):
            for (x, y), (u, v) in zip(item.points, item.points[1:], strict=False):
                yield Area(
                    min(x, u) - 0.5, min(y, v) - 0.5, max(x, u) + 0.5, max(y, v) + 0.5, "arrow"
                )


def collisions(scene: Scene) -> list[tuple[str, str]]:
    """Texts that lie over other texts or lines, or beyond the figure."""
    areas, lines = text_areas(scene), list(line_areas(scene))
    found = []
    for number, area in enumerate(areas):
        found += [(area.what, o.what) for o in [*areas[number + 1 :], *lines] if area.meets(o)]
        if area.left < -3 or area.top < -3 or area.right > scene.width + 4:
            found.append((area.what, "the margin"))
    return found


def random_tensor(rng: random.Random, most: int = 5000) -> torch.Tensor:
    """A tensor of random shape and values after up to three random view operations."""
    sizes = (0, 1, 2, 2, 3, 3, 4, 5, 7, 12, 30)
    shape = [rng.choice(sizes) for _ in range(rng.randint(0, 5))]
    numel = torch.Size(shape).numel()
    if numel > most:
        return random_tensor(rng, most)
    values = torch.arange(numel) if rng.random() < 0.5 else torch.linspace(-2, 3, numel)
    tensor = values.view(shape)
    for _ in range(rng.randint(0, 3)):
        tensor = _changed(rng, tensor)
    return tensor


def _changed(rng: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    rank, kind = tensor.dim(), rng.choice(("swap", "narrow", "step", "expand", "select"))
    if rank == 0:
        return tensor
    axis, other = rng.randrange(rank), rng.randrange(rank)
    size = tensor.shape[axis]
    if kind == "swap":
        return tensor.transpose(axis, other)
    if kind == "narrow":
        return tensor.narrow(axis, min(1, size), max(0, size - 1))
    if kind == "step":
        return tensor[(slice(None),) * axis + (slice(None, None, 2),)]
    if kind == "expand":
        return tensor.unsqueeze(axis).expand(*tensor.shape[:axis], 3, *tensor.shape[axis:])
    return tensor.select(axis, size - 1) if size else tensor
