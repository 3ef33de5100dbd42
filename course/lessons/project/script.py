"""The project's script, `train.py`, with clean rows, and its pieces apart from everything else."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec
from typing import Any

import torch
from torch import nn

__all__ = ["fresh_train", "on_copies"]


def fresh_train() -> Any:
    """The script as a new Python would import it: a module of its own, whose rows are clean.

    Raises:
        ModuleNotFoundError: There is no train.py beside the notebook.
    """
    spec = find_spec("train")
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(
            "There's no train.py here. Run the first cell of lesson 17, which writes it."
        )
    train = module_from_spec(spec)
    spec.loader.exec_module(train)
    return train


def on_copies(piece: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does the same, but with copies of all tensors and models that it's given.

    What it writes to, switches or holds on to is then nobody else's. A copied tensor has no graph.

    Args:
        piece: A function, such as `train.accuracy`.
    """

    @functools.wraps(piece)
    def apart(*args: Any, **named: Any) -> Any:
        copied = {name: _copied(one) for name, one in named.items()}
        return piece(*map(_copied, args), **copied)

    return apart


def _copied(one: Any) -> Any:
    if isinstance(one, torch.Tensor):
        return one.detach().clone()
    return copy.deepcopy(one) if isinstance(one, nn.Module) else one
