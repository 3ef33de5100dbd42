"""What tests of freezing look through: small bodies with a head, and who moves in them.

Models are named by their kind and built beside the answer, since a module has no plain form. The
same kind has the same weights each time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from course.probes.decorator import probe
from course.probes.sealing import sealed
from course.probes.whole_module import WholeModule

__all__ = [
    "BODIES",
    "around",
    "freezing_seen",
    "modes",
    "noting",
    "packed",
    "seeded",
    "updates_reported",
]


class _Scaled(nn.Module):
    """A parameter and a running mean of its own, beside a layer in a list."""

    running: torch.Tensor
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([0.5, -1.0, 2.0]))
        self.layers = nn.ModuleList([nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 3))])
        self.register_buffer("running", torch.zeros(3))
        self.register_buffer("calls", torch.tensor(0), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.running.mul_(0.5).add_(x.detach().mean(0))
            self.calls.add_(1)
        for layer in self.layers:
            x = layer(x * self.scale)
        return x + self.running


BODIES: dict[str, Callable[[], nn.Module]] = {
    "plain": lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)),
    "norm": lambda: nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Tanh()),
    "dropout": lambda: nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)),
    "nested": lambda: nn.Sequential(
        nn.Linear(3, 3), nn.Sequential(nn.Sequential(nn.BatchNorm1d(3)), nn.Tanh())
    ),
    "other norms": lambda: nn.Sequential(
        nn.Linear(3, 3), nn.LayerNorm(3), nn.PReLU(), nn.GroupNorm(1, 3)
    ),
    "a layer": lambda: nn.BatchNorm1d(3),
    "bare norm": lambda: nn.Sequential(nn.BatchNorm1d(3, affine=False)),
    "own": _Scaled,
    "no parameters": lambda: nn.Dropout(0.5),
}


class _Whole(nn.Module):
    """A layer, a body of some kind, and a head."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.stem, self.body = nn.Linear(3, 3), BODIES[kind]()
        self.head = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.head(self.body(self.stem(x)))
        return found


@contextlib.contextmanager
def seeded(seed: int = 11) -> Iterator[None]:
    """The global generator begins here, and is put back, as grad mode and default dtype are.

    Args:
        seed: Where it begins.
    """
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        try:
            yield
        finally:
            torch.set_grad_enabled(grad)
            torch.set_default_dtype(dtype)


def around() -> list[Any]:
    """Grad mode and default dtype: an answer leaves them to its caller."""
    return [torch.is_grad_enabled(), str(torch.get_default_dtype())]


@contextlib.contextmanager
def noting(left: list[Any], quiet: bool) -> Iterator[None]:
    """Note how grad mode and default dtype are at the end, under no_grad or not.

    Args:
        left: The list to which they are added.
        quiet: Whether the block is under no_grad.
    """
    with torch.no_grad() if quiet else contextlib.nullcontext():
        try:
            yield
        finally:
            left += around()


def modes(model: nn.Module) -> dict[str, bool]:
    """The `training` flag of each module by its name.

    Args:
        model: One with any modules; its own name is "".
    """
    return {name: one.training for name, one in model.named_modules()}


def packed(tensors: Iterable[torch.Tensor | None]) -> list[Any]:
    """All elements in one float64 vector, and the dtype and shape of each tensor.

    A tensor takes as long to travel as forty numbers, however small it is.

    Args:
        tensors: Of any dtypes and shapes; None has no elements, and "" for its dtype and shape.
    """
    some = list(tensors)
    parts = [one.detach().flatten().double() for one in some if one is not None]
    kinds = ["" if one is None else f"{one.dtype} {list(one.shape)}" for one in some]
    return [torch.cat([torch.zeros(0, dtype=torch.float64), *parts]), kinds]


def _facts_of(model: nn.Module, before: dict[str, nn.Parameter]) -> dict[str, Any]:
    """Flags, gradients, names, values and modes of a model whose parameters were these."""
    after = dict(model.named_parameters())
    return {
        "flags": {name: one.requires_grad for name, one in after.items()},
        "left": {name: one.grad is not None for name, one in after.items()},
        "same": [after.get(name) is one for name, one in before.items()],
        "keys": list(model.state_dict()),
        "values": packed(after.values()),
        "modes": [modes(model)],
    }


@probe
def freezing_seen(
    freeze: Callable[..., Any],
    kind: str,
    part: str = "body",
    *,
    training: bool = True,
    stale: bool = False,
    shut: bool = False,
    mixed: bool = False,
) -> dict[str, Any]:
    """What freezing one part of a model leaves of it, and what training the whole does then.

    "modes" are those after each of several calls of `train` and `eval`, "itself" says which of them
    returned their module.

    Args:
        freeze: The answer, called with the part; "returned" tells whether that came back.
        kind: The body of the model, a key of BODIES.
        part: The name of the frozen module, "" for all of the model.
        training: The model's mode before.
        stale: Whether each parameter has a gradient of ones from before.
        shut: Whether the part's parameters require no grad before.
        mixed: Whether every second module is in the other mode before.
    """
    with seeded():
        model = _Whole(kind).train(training)
        target = model.get_submodule(part)
        before = dict(model.named_parameters())
        target.requires_grad_(not shut)
        for one in list(model.modules())[1::2] if mixed else ():
            one.training = not training
        _graded(model, stale)
        whole = WholeModule(model)
        seen: dict[str, Any] = {"returned": freeze(target) is target, "around": around()}
        seen |= _facts_of(model, before)
        now = whole.now()
        seen["whole"] = {name: now[name] for name in _LEFT_ALONE}
        seen["itself"] = _woken(model, target, seen["modes"])
        return {**seen, **_trained(model, (2, 3), 2)}


# How a part stays frozen is open: by a class, an attribute or a hook of its own.
_LEFT_ALONE = ("parameters", "buffers", "memory", "dtypes", "values")


def _graded(module: nn.Module, stale: bool) -> None:
    """Give each parameter a gradient from before, or none."""
    for one in module.parameters():
        one.grad = torch.ones_like(one) if stale else None


def _woken(model: nn.Module, target: nn.Module, noted: list[Any]) -> list[bool]:
    """Call `train` and `eval` on the whole, the part and all of its modules; note the modes."""
    said = []
    for one in (model, target, *target.modules()):
        said.append(one.train() is one)
        noted.append(modes(model))
    said.append(model.eval() is model)
    noted.append(modes(model))
    said.append(target.train(mode=False) is target)
    said.append(model.train(True) is model)
    noted.append(modes(model))
    return said


def _trained(model: nn.Module, shape: tuple[int, int], runs: int) -> dict[str, Any]:
    """Outputs, buffers and gradients of some runs; "behind" is the gradient of the input."""
    torch.default_generator.manual_seed(5)
    model.zero_grad()
    x = torch.linspace(-1, 2, shape[0] * shape[1]).view(shape).requires_grad_()
    outs = [model(x) for _ in range(runs)]
    total = torch.stack(outs).square().sum()
    if total.requires_grad:
        total.backward()
    graded = {name: one.grad for name, one in model.named_parameters() if one.grad is not None}
    return {
        "outs": packed(outs),
        "buffers": {name: one.tolist() for name, one in model.named_buffers()},
        "gradients": [list(graded), packed(graded.values())],
        "behind": x.grad,
    }


class _Optimizer:
    """What `what_moved` is to read of an optimizer: its groups.

    torch.optim's own import torch._dynamo with their first use, which costs a second.
    """

    def __init__(self, groups: list[dict[str, Any]]) -> None:
        self.param_groups = groups
        self._kept: dict[torch.Tensor, torch.Tensor] = {}

    def step(self) -> None:
        """One step with each gradient that there is, with momentum where a group has some."""
        with torch.no_grad():
            for group in self.param_groups:
                for one in group["params"]:
                    if one.grad is not None:
                        self._move(one, group)

    def _move(self, one: torch.Tensor, group: dict[str, Any]) -> None:
        assert one.grad is not None
        change = one.grad.mul(1024).round().div(1024)  # rounding errors before a norm move nothing
        if group["momentum"]:
            kept = self._kept.setdefault(one, torch.zeros_like(one))
            change = kept.mul_(group["momentum"]).add_(change)
        one.sub_(group["lr"] * change)


def _moving(kind: str) -> nn.Module:
    """A model with its flags, gradients and numbers as its kind says."""
    model = _Whole("own" if kind == "own" else "norm")
    stem, body = model.stem, model.body
    if kind in ("frozen", "leftover", "asleep"):
        body.requires_grad_(False)
    if kind == "leftover":
        for one in body.parameters():
            one.grad = torch.ones_like(one)
    if kind == "asleep":
        model.eval()
    if kind == "tied":
        model.body[0].weight = stem.weight  # type: ignore[index]
    return model


@probe
def updates_reported(
    tell: Callable[..., Any],
    kind: str,
    groups: Sequence[Sequence[Any]],
    *,
    step: str = "step",
    runs: int = 1,
) -> dict[str, Any]:
    """What `tell(model, optimizer, step)` says of a model of this kind, and what it leaves.

    Args:
        tell: The answer.
        kind: "frozen", "leftover", "asleep", "tied" or "own"; anything else is "plain".
        groups: Triples: which parts the optimizer holds, with which rate and momentum.
        step: What a step does: "step" trains once, "forward" only computes, "nothing" does nothing,
            "zero" has gradients of 0, "one number" changes a few by hand.
        runs: How often it is called.
    """
    with seeded():
        model = _moving(kind)
        held = [
            {"params": _parameters(model, parts), "lr": rate, "momentum": momentum}
            for parts, rate, momentum in groups
        ]
        optimizer, calls = _Optimizer(held), []
        x = torch.linspace(-1, 2, 9).view(3, 3)

        def stepped() -> None:
            calls.append(torch.is_grad_enabled())
            _STEPS[step](model, optimizer, x)

        told = [tell(model, optimizer, sealed(stepped)) for _ in range(runs)]
        return {"told": told, "calls": calls, **_standing(model)}


def _standing(model: nn.Module) -> dict[str, Any]:
    """Flags, gradients, values and modes as they stand now."""
    parameters = list(model.parameters())
    return {
        "flags": [one.requires_grad for one in parameters],
        "grads": packed(one.grad for one in parameters),
        "values": packed(parameters),
        "buffers": packed(model.buffers()),
        "modes": list(modes(model).values()),
        "around": around(),
    }


def _parameters(model: nn.Module, parts: str) -> list[nn.Parameter]:
    """The parameters of the named parts, each once."""
    found = [one for part in parts.split() for one in model.get_submodule(part).parameters()]
    return list(dict.fromkeys(found))


def _step(model: nn.Module, optimizer: _Optimizer, x: torch.Tensor, scale: float = 1.0) -> None:
    (scale * model(x).square().sum()).backward()
    optimizer.step()


def _one_number(model: nn.Module, optimizer: _Optimizer, x: torch.Tensor) -> None:
    with torch.no_grad():
        model.get_parameter("head.1.weight")[1, 2] += 1
        model.get_parameter("stem.bias")[0:2] += torch.tensor([0.25, -0.25])


_STEPS: dict[str, Callable[..., None]] = {
    "step": _step,
    "zero": lambda model, optimizer, x: _step(model, optimizer, x, 0.0),
    "forward": lambda model, optimizer, x: model(x),
    "nothing": lambda model, optimizer, x: None,
    "one number": _one_number,
}
