"""A case: the arguments of one call, and what is unusual about them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

__all__ = ["Case", "columns", "of_each_kind"]


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


def columns(cases: Sequence[Case], *first: Any) -> dict[str, list[Any]]:
    """The cases as the process gets them that runs them: a list for each of their attributes.

    What is `first` goes before the arguments of every case. The kinds stay here.
    """
    return {
        "first": list(first),
        "args": [list(case.args) for case in cases],
        "kwargs": [dict(case.kwargs) for case in cases] if any(c.kwargs for c in cases) else [],
        "intermediate": [case.intermediate for case in cases],
        "under": [case.under for case in cases],
    }


def of_each_kind(cases: Sequence[Case], most: int, seed: int = 0) -> list[Case]:
    """At most `most` cases of each kind, drawn without replacement; their order stays.

    What a hundred cases of one kind find, some dozen find as well, in a fraction of the time.

    Args:
        cases: All of them.
        most: How many of one kind are kept.
        seed: Another seed keeps others.
    """
    places = defaultdict(list)
    for place, case in enumerate(cases):
        places[case.kind].append(place)
    draw = random.Random(seed).sample
    kept = {one for those in places.values() for one in draw(those, min(most, len(those)))}
    return [case for place, case in enumerate(cases) if place in kept]
