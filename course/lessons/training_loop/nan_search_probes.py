"""What the tests of a search for nan need: layers that go wrong, each in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from course.probes.decorator import probe
from course.probes.whole_module import WholeModule

__all__ = ["modules_searched"]


class _Failed(RuntimeError):
    """What a layer raises that was asked to fail."""


class _Log(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.log()


class _LogInPlace(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.log_()


class _Repaired(nn.Module):
    """Writes finite numbers over what isn't, into the output of the layer before."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.nan_to_num_(0.0, 1.0, -1.0)


class _Huge(nn.Module):
    """Returns numbers that are finite, each by itself: their sum isn't."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sign() * torch.finfo(x.dtype).max


class _Both(nn.Module):
    """Returns a tuple: its input, and the input divided by itself."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x, x / x


class _First(nn.Module):
    """Takes the first of a tuple."""

    def forward(self, pair: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return pair[0]


class _Sizes(nn.Module):
    """Returns whole numbers."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.detach().clamp(-3, 3).nan_to_num(0.0).long()


class _Total(nn.Module):
    """Returns a single number: a tensor without dimensions."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum()


class _Broken(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise _Failed("this layer is broken")


class _Residual(nn.Module):
    """Divides in its own forward, after its child is done."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Tanh()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x) / x


_LAYERS: dict[str, Callable[[], nn.Module]] = {
    "log": _Log,
    "log_": _LogInPlace,
    "repaired": _Repaired,
    "huge": _Huge,
    "tanh": nn.Tanh,
    "both": _Both,
    "first": _First,
    "sizes": _Sizes,
    "total": _Total,
    "broken": _Broken,
    "residual": _Residual,
    "dropout": lambda: nn.Dropout(0.5),
    "block": lambda: nn.Sequential(nn.Tanh(), _Log()),
    "deep": lambda: nn.Sequential(nn.Identity(), nn.Sequential(nn.Tanh(), _Log(), nn.Tanh())),
}


def _chained(layers: Sequence[str], shared: bool, alone: bool) -> nn.Module:
    """A model of these layers, or the first of them alone."""
    once = {name: _LAYERS[name]() for name in layers}
    chain = [once[name] if shared else _LAYERS[name]() for name in layers]
    return chain[0] if alone else nn.Sequential(*chain)


@probe
def modules_searched(
    search: Callable[..., Any],
    layers: Sequence[str],
    x: torch.Tensor,
    *,
    training: bool = True,
    shared: bool = False,
    alone: bool = False,
    recording: bool = True,
    runs: int = 1,
) -> dict[str, Any]:
    """What `search(model, x)` returns for a model of these layers, and what it left behind.

    "grad mode" is the one that's left.

    Args:
        search: The answer.
        layers: Keys of `_LAYERS`, from the input to the output.
        x: The input.
        training: The model's mode.
        shared: Whether the layers of one name are one module.
        alone: Whether the model is the first layer itself.
        recording: The grad mode of the caller.
        runs: How often it is called.
    """
    model = _chained(layers, shared, alone).train(training)
    calls: list[list[Any]] = []
    kept = model.register_forward_pre_hook(
        lambda module, _: calls.append([module.training, torch.is_grad_enabled()])
    )
    model.register_forward_hook(_mine)
    whole = WholeModule(model)
    results: list[Any] = []
    error = None
    with torch.set_grad_enabled(recording):
        for _ in range(runs):
            try:
                results.append(search(model, x))
            except _Failed as raised:
                error = str(raised)
        grad_mode = torch.is_grad_enabled()
    kept.remove()
    return {
        "results": results,
        "error": error,
        "calls": calls,
        "grad mode": grad_mode,
        "modes": [module.training for module in model.modules()],
        "hooks": list(_hooks(model)),
        "whole": whole.now(),
    }


def _mine(module: nn.Module, args: Any, out: Any) -> None:
    """The hook that somebody else registered before."""


def _hooks(model: nn.Module) -> Iterator[str]:
    """The hooks that stand on modules of a model, and on all modules."""
    for name, module in model.named_modules():
        for kind in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
            for hook in getattr(module, kind).values():
                yield "a hook of mine" if hook is _mine else f"{name} {kind}"
    every = nn.modules.module
    for kind in ("_global_forward_hooks", "_global_forward_pre_hooks"):
        yield from (kind for _ in getattr(every, kind))
