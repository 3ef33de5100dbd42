"""The words of PyTorch that a claim speaks of, read from the code in its sentences."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from course.claims import Claim

__all__ = ["LEAST", "common", "words_of"]

LEAST = 3  # claims that a keyword must have to be offered as a filter
# In torch, too, but they don't tell what a claim is about.
_SAY_NOTHING = {
    "torch",
    "cpu",
    "data",
    "optim",
    "path",
    "nn",
    "utils",
    "functional",
    "init",
    "func",
}


def words_of(claim: Claim) -> frozenset[str]:
    """Names of torch, and of parameters of its loaders and layers, in the claim's code."""
    code = " ".join(re.findall(r"`([^`]+)`", f"{claim.said} {claim.fact}"))
    found = set(re.findall(r"(?<![\w\"'])[A-Za-z_]\w{2,}", code))
    return frozenset(word for word in found if word in _known() and word not in _SAY_NOTHING)


def common(words: Mapping[str, Iterable[str]]) -> list[tuple[str, int]]:
    """The keywords that enough claims share, with their number, in the order of the alphabet."""
    counts = Counter(word for found in words.values() for word in found)
    enough = [(word, number) for word, number in counts.items() if number >= LEAST]
    return sorted(enough, key=lambda pair: pair[0].lower())


@cache
def _known() -> frozenset[str]:
    """Public names of torch's most used modules and classes, and their parameters."""
    import torch
    from torch import nn, optim
    from torch.nn import functional
    from torch.utils import data

    homes = (torch, torch.Tensor, nn, nn.Module, functional, data, optim, torch.cuda)
    called: list[object] = [data.DataLoader, data.WeightedRandomSampler, optim.SGD]
    called += [nn.Conv2d, nn.BatchNorm2d, functional.interpolate]
    called += [torch.tensor, torch.Tensor.to, torch.save, torch.load]
    named = {name for home in homes for name in dir(home) if not name.startswith("_")}
    # Words for parameters of functions whose signatures only C++ knows.
    asked = {"requires_grad", "non_blocking", "dtype", "device", "dim"}
    return frozenset(named | asked | {name for one in called for name in _parameters(one)})


def _parameters(called: object) -> list[str]:
    try:
        return list(inspect.signature(called).parameters)  # type: ignore[arg-type]
    except ValueError:
        return []
