"""The tree of a model as rows: what is registered, what is frozen, and what got a gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from course.lessons.modules.module_parts import Part, parts_of, title_of

__all__ = ["Row", "Subject", "rows_of", "subjects_of"]


@dataclass(frozen=True)
class Row:
    """A module or a tensor of the tree: where it stands and what is true of it now.

    Attributes:
        depth: 0 at the root.
        path: The names from the root, joined by dots.
        name: The last one of them.
        how: As in Part; "model" at the root, and "result" for a tensor with a graph behind it.
        words: A module's title, a tensor's shape.
        is_tensor: Whether it is a tensor and no module.
        registered: Whether the module that holds it knows of it.
        same_as: The path under which the same object stood before; nothing else is said of it then.
        asks: It is a leaf that requires grad.
        norm: That of its gradient; None where there is none.
    """

    depth: int
    path: str
    name: str
    how: str
    words: str  # a module's title, a tensor's shape
    is_tensor: bool
    registered: bool
    same_as: str = ""
    asks: bool = False  # a leaf that requires grad
    norm: float | None = None  # of the gradient; None where there is none


@dataclass(frozen=True)
class Subject:
    """A tensor that training may be meant for.

    Attributes:
        path: Its names from the root, joined by dots.
        tensor: Itself, no copy.
    """

    path: str
    tensor: torch.Tensor


def rows_of(model: nn.Module) -> list[Row]:
    """The rows of the tree from the root down, each object in full once.

    Args:
        model: The root.
    """
    return [row for row, _ in _Tree(model).all()]


def subjects_of(model: nn.Module) -> list[Subject]:
    """The parameters, frozen ones too, and the leaves that require grad; each object once.

    Args:
        model: The root.
    """
    return [
        Subject(row.path, value)
        for row, value in _Tree(model).all()
        if isinstance(value, torch.Tensor)
        and value.is_leaf
        and (value.requires_grad or isinstance(value, nn.Parameter))
        and not row.same_as
    ]


class _Tree:
    """One walk through the tree of a model."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        tensors = [*model.parameters(), *model.buffers()]
        self._registered = {id(one) for one in (*model.modules(), *tensors)}
        self._seen: dict[int, str] = {id(model): "the model"}

    def all(self) -> Iterator[tuple[Row, object]]:
        """Each row with the object that it is about."""
        title = title_of(self._model)
        yield Row(0, "", type(self._model).__name__, "model", title, False, True), self._model
        yield from self._below(self._model, "", 1)

    def _below(self, module: nn.Module, path: str, depth: int) -> Iterator[tuple[Row, object]]:
        for part in parts_of(module):
            full = f"{path}.{part.name}" if path else part.name
            row = self._row(part, full, depth)
            yield row, part.value
            if isinstance(part.value, nn.Module) and not row.same_as:
                yield from self._below(part.value, full, depth + 1)

    def _row(self, part: Part, path: str, depth: int) -> Row:
        value, known = part.value, self._seen.get(id(part.value), "")
        self._seen.setdefault(id(value), path)
        tensor = value if isinstance(value, torch.Tensor) else None
        words = _shape(value) if isinstance(value, torch.Tensor) else title_of(value)
        return Row(
            depth,
            path,
            part.name,
            part.how if tensor is None or tensor.is_leaf else "result",
            words,
            tensor is not None,
            id(value) in self._registered,
            known,
            tensor is not None and tensor.requires_grad and tensor.is_leaf,
            None if tensor is None else _norm(tensor),
        )


def _shape(tensor: torch.Tensor) -> str:
    lazy = isinstance(tensor, UninitializedParameter | UninitializedBuffer)
    return "no shape yet" if lazy else str(tuple(tensor.shape))


def _norm(tensor: torch.Tensor) -> float | None:
    """The norm of the gradient; PyTorch warns where one asks a result for its gradient."""
    if not tensor.is_leaf or tensor.grad is None or tensor.grad.is_meta:
        return None
    return float(tensor.grad.detach().to_dense().double().norm())
