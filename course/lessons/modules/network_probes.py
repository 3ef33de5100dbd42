"""What tests of modules look through: a module is built, run, moved and saved beside the answer.

They return what they saw as plain data, since a module has no plain form.

What `standardised` returns, beside what is registered:

    out        the layer's result for `x`; "graph", whether it has one
    gradients  those of the parameters after the sum of it
    behind     that of the input in eval mode
    later      the result after the two given tensors were overwritten
    loaded     the result after 3, 2, 0.5 and 1 were loaded as weight, bias, mean and std
    moved      the dtypes of all that is saved after `.double()`; "wide", the result then
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from course.inspection.class_names import class_name
from course.probes.decorator import probe
from course.probes.whole_module import WholeModule, detached

__all__ = ["classified", "initialised", "stacked", "standardised"]

_SEED = 7


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """The global generator begins here, and is put back."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def _registered(model: nn.Module) -> dict[str, Any]:
    """What a module has registered, by name: parameters and their flags, buffers, what is saved."""
    return {
        "parameters": [[name, one.requires_grad] for name, one in model.named_parameters()],
        "buffers": sorted(name for name, _ in model.named_buffers()),
        "saved": sorted(model.state_dict()),
    }


def _gradients(model: nn.Module) -> dict[str, Any]:
    """The gradient of each parameter by its name, None where it has none."""
    return {
        name: None if one.grad is None else one.grad.clone()
        for name, one in model.named_parameters()
    }


@probe
def standardised(
    make: Callable[..., Any], mean: torch.Tensor, std: torch.Tensor, x: torch.Tensor
) -> dict[str, Any]:
    """A layer made of a mean and a deviation: what it registers, computes, learns and keeps.

    The keys of what it returns stand at the head of this module.

    Args:
        make: Called with `(mean, std)`; returns the layer.
        mean: Of a shape that broadcasts with `x`.
        std: Of the same shape.
        x: The input.
    """
    given = [mean.clone(), std.clone()]  # results of a graph where the arguments require grad
    layer = make(*given)
    seen: dict[str, Any] = {**_registered(layer), "start": layer.state_dict()}
    seen = {key: _copied(value) for key, value in seen.items()}
    out = layer(x)
    seen["out"], seen["graph"] = out.detach().clone(), out.requires_grad
    seen["flags"] = [one.requires_grad for one in layer.buffers()]
    seen["given"] = [one.requires_grad for one in given]
    if out.requires_grad:
        out.sum().backward()
    seen["gradients"] = _gradients(layer)
    leaf = x.detach().clone().requires_grad_()
    total = layer.eval()(leaf).sum()
    if total.requires_grad:
        (seen["behind"],) = torch.autograd.grad(total, leaf, allow_unused=True)
    with torch.no_grad():
        for one in given:
            one.fill_(-9)
        seen["later"] = layer(x).clone()
        values = {"weight": 3, "bias": 2, "mean": 0.5, "std": 1}
        new = {name: torch.full_like(mean, value) for name, value in values.items()}
        new["std"] = torch.full_like(std, values["std"])
        layer.load_state_dict(new, strict=False)
        seen["loaded"] = layer(x).clone()
        layer.double()
        seen["moved"] = {name: str(one.dtype) for name, one in layer.state_dict().items()}
        seen["wide"] = layer(x.double()).clone()
    return seen


def _copied(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: one.detach().clone() for name, one in value.items()}


@probe
def stacked(make: Callable[..., Any], sizes: Sequence[int], *activation: str) -> dict[str, Any]:
    """A stack of layers of these sizes, made twice.

    "own" counts what's distinct: modules of the stack, modules of both, parameters of both.

    Args:
        make: Called with `(sizes, *activation)`; returns the stack.
        sizes: The features before and behind each linear layer.
        activation: A name, or nothing for what the answer takes by itself.
    """
    net, again = make(sizes, *activation), make(sizes, *activation)
    modules = {id(one) for model in (net, again) for one in model}
    both = {id(one) for model in (net, again) for one in model.parameters()}
    return {
        "class": class_name(net),
        "layers": [class_name(one) for one in net],
        "plans": [repr(one) for one in net],
        "own": {
            "layers in one stack": len({id(one) for one in net}),
            "layers in two": len(modules),
            "parameters in two": len(both),
        },
        **_registered(net),
    }


@probe
def classified(
    make: Callable[..., Any], plan: Sequence[Any], batch: int, training: bool, fresh: bool = False
) -> dict[str, Any]:
    """What a convolutional classifier registers and computes, and which parameters learn.

    Its weights are overwritten with known ones before it's called; "start" are its buffers before
    that. "sequences" are the parts of encoder and head that run their modules in order.

    Args:
        make: Called with `*plan`; returns the model.
        plan: First the input's channels, last its height and width.
        batch: The pictures in the batch.
        training: The mode in which it is called.
        fresh: Whether "start" is wanted.
    """
    model = make(*plan)
    seen = {**_registered(model), "shapes": [list(one.shape) for one in model.parameters()]}
    if fresh:
        seen["start"] = [one.clone() for one in model.buffers()]
    state = model.state_dict()
    drawn = torch.Generator().manual_seed(_SEED)
    for name in sorted(state):
        if state[name].is_floating_point():
            shift = 0.0 if "var" in name else 0.3  # a variance is positive
            state[name] = torch.rand(state[name].shape, generator=drawn) - shift
    model.load_state_dict(state)
    model.train(training)
    x = torch.rand((batch, plan[0], *plan[-1]), generator=drawn)
    out = model(x)
    out.square().sum().backward()
    learns = [name for name, one in model.named_parameters() if one.grad is not None]
    seen |= {"out": out.detach(), "learns": learns, "layers": _leaves(model)}
    seen["kept"] = [one.clone() for one in model.buffers() if one.is_floating_point()]
    parts = [name for name, one in model.named_modules() if isinstance(one, nn.Sequential)]
    return seen | {"sequences": sorted(filter(_PART.fullmatch, parts))}


_PART = re.compile(r"encoder(\.\d+)?|head")


def _leaves(model: nn.Module) -> list[str]:
    return [class_name(one) for one in model.modules() if not list(one.children())]


class Wide(nn.Linear):
    """A linear layer by another name."""


class Framed(nn.Conv2d):
    """A convolution by another name."""


class CalmNorm(nn.BatchNorm2d):
    """A norm by another name."""


def _layers_to_initialise() -> nn.Module:
    """Layers of every kind that an initialisation may meet, in the order of the names."""
    layers: dict[str, nn.Module] = {
        "linear": nn.Linear(300, 200),
        "wide": Wide(50, 400),
        "no_bias": nn.Linear(100, 100, bias=False),
        "conv": nn.Conv2d(8, 64, 5),
        "groups": nn.Conv2d(32, 128, (3, 5), groups=4),
        "norm": nn.BatchNorm2d(6),
        "bare_norm": nn.BatchNorm1d(5, affine=False),
        "layer_norm": nn.LayerNorm(7),
        "thin_norm": nn.LayerNorm(3, bias=False),
        "group_norm": nn.GroupNorm(2, 4),
        "up": nn.ConvTranspose2d(2, 3, 2),
        "embedding": nn.Embedding(9, 4),
        "cell": nn.GRUCell(3, 2),
        "slope": nn.PReLU(),
        "inner": nn.Sequential(nn.ReLU(), nn.ModuleDict({"deep": nn.Linear(200, 100)})),
        "framed": Framed(4, 60, 4),
        "calm_norm": CalmNorm(5),
        "twin": nn.Linear(100, 100, bias=False),  # the shape of no_bias
        "norm_1d": nn.BatchNorm1d(4),
        "conv_1d": nn.Conv1d(3, 2, 2),
    }
    return nn.ModuleDict(layers)


@probe
def initialised(
    initialise: Callable[..., Any],
    seed: int,
    double: bool = False,
    ambient: int = 0,
    alone: str = "",
) -> dict[str, Any]:
    """The parameters of a model with layers of many kinds after an initialisation with this seed.

    Before it every parameter holds 0.25 and every buffer 3, one has a gradient, some are frozen;
    "same" says of each whether it's the object that it was.

    Args:
        initialise: Called with `(model, generator)`; what it returns isn't looked at.
        seed: That of the generator; the model is in training mode where it's odd, else in eval
            mode.
        double: Whether the model is in float64 instead of float32.
        ambient: What the global generator is seeded with.
        alone: The name of the layer that is the whole model, in which nothing is frozen; "" for
            all.
    """
    model = _layers_to_initialise().train(bool(seed % 2)).get_submodule(alone)
    model.to(torch.float64 if double else torch.float32)
    before = dict(model.named_parameters())
    with torch.no_grad():
        for one in before.values():
            one.fill_(0.25)
        for buffer in model.buffers():
            buffer.fill_(3)
    if not alone:
        for name in ("linear.weight", "conv.bias", "norm.bias", "layer_norm.weight"):
            before[name].requires_grad_(False)
        before["norm.weight"].grad = torch.ones_like(before["norm.weight"])
    generator = torch.Generator().manual_seed(seed)
    whole = WholeModule(model)
    with _seeded(ambient):
        initialise(model, generator)
        following = torch.rand(2)
    after = dict(model.named_parameters())
    return {
        "whole": whole.now(),
        "weights": {name: detached(one).clone() for name, one in after.items()},
        "same": [after.get(name) is one for name, one in before.items()],
        "flags": [[one.requires_grad, one.grad is None, one.is_leaf] for one in after.values()],
        "buffers": [one.clone() for one in model.buffers()],
        "modes": [one.training for one in model.modules()],
        "following": following,
        "drawn_on": torch.rand(2, generator=generator),
        "dtypes": sorted({str(one.dtype) for one in after.values()}),
    }
