"""A case: the arguments of one call, and what is unusual about them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import torch

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """The arguments of one call of an answer and of its reference.

    Attributes:
        kind: What is unusual about them, such as "a transposed tensor". A learner reads it, also
            where the check is hidden, so it must give no value away.
        args: The arguments by position.
        kwargs: The arguments by name.
        intermediate: The tensors that require grad come as results of an operator, not as leaves.
        under: The mode that the call runs under: "", "no_grad" or "inference_mode".
    """

    kind: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    intermediate: bool = False
    under: str = ""

    @property
    def tensor(self) -> torch.Tensor:
        """The first argument."""
        found = self.args[0]
        assert isinstance(found, torch.Tensor)
        return found

    def with_(self, *more: Any, **kwargs: Any) -> Case:
        """The same case with more arguments behind its own."""
        return replace(self, args=(*self.args, *more), kwargs={**self.kwargs, **kwargs})

    def to_plain(self) -> dict[str, Any]:
        """What the process needs that runs it; the kind stays here."""
        about = {"intermediate": self.intermediate, "under": self.under}
        return {"args": list(self.args), "kwargs": dict(self.kwargs), **about}
