"""What tests of partial weights, features and new names look through.

Models are named by their kind and built beside the answer, since a module has no plain form. The
same kind has the same weights each time.

What `renamed` returns:

    names    the keys of the result, in the order of the numbers that its tensors hold
    numbers  these
    same     the place of each tensor among those of the state; "copies" if one is none of them
    state    what is left of the state
    error    its class, "" for none
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from course.inspection.class_names import class_name
from course.lessons.transfer.freezing_probes import around, noting, packed, seeded
from course.probes.decorator import probe
from course.probes.whole_module import WholeModule

__all__ = ["features_taken", "fitted", "renamed"]


class _Held(nn.Module):
    """Parameters and buffers of several shapes; one buffer isn't saved."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.head = nn.Linear(3, 2, bias=kind != "no bias")
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.register_buffer("table", torch.arange(3.0), persistent=False)
        if kind == "frozen":
            self.body.requires_grad_(False)
        if kind == "tied":
            self.tail = nn.Linear(3, 2)
            self.tail.weight = self.head.weight
        if kind == "double":
            self.double()


def _held(kind: str) -> nn.Module:
    made: dict[str, Callable[[], nn.Module]] = {
        "a layer": lambda: nn.Linear(3, 2),
        "nothing": nn.Tanh,
    }
    return made.get(kind, lambda: _Held(kind))()


@probe
def fitted(
    load: Callable[..., Any],
    kind: str,
    state: dict[str, Any],
    training: bool = True,
) -> dict[str, Any]:
    """The report of loading this state into a model of this kind, the model, and the state after.

    The lists of the report are sorted, since their order is free. "apart" are the model's tensors
    once those of the state were overwritten.

    Args:
        load: Called with `(model, state)`; returns a mapping.
        kind: "a layer", "nothing", or one of a model with layers and buffers.
        state: What the file holds.
        training: The model's mode.
    """
    with seeded(17):
        model = _held(kind).train(training)
    whole = WholeModule(model)
    given = {name: one.clone() for name, one in state.items()}
    before = dict(model.named_parameters())
    kept = {name: one.tolist() for name, one in model.state_dict().items()}
    with seeded():
        told, left = load(model, given), around()
    after = dict(model.named_parameters())
    seen = {
        "report": {key: sorted(names) for key, names in told.items()},
        "around": left,
        "kept": kept,
        "values": {name: one.tolist() for name, one in model.state_dict().items()},
        "dtypes": [str(one.dtype) for one in model.state_dict().values()],
        "same": [after.get(name) is one for name, one in before.items()],
        "flags": [[one.requires_grad, one.is_leaf] for one in after.values()],
        "unsaved": packed(model.buffers()),
        "modes": [one.training for one in model.modules()],
        "whole": whole.now(),
        "state": packed(given.values()),
        "order": list(given),
    }
    for one in given.values():
        one.zero_()
    return {**seen, "apart": packed(model.state_dict().values())}


_BODIES: dict[str, Callable[[], nn.Module]] = {
    "norm": lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh()),
    "dropout": lambda: nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5)),
    "frozen": lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh()).requires_grad_(False),
    "pictures": lambda: nn.Sequential(nn.Unflatten(1, (1, 1, 3)), nn.Conv2d(1, 2, 1)),
    "identity": nn.Identity,
    "flat": lambda: nn.Sequential(nn.Linear(3, 2), nn.Flatten(0)),
    "nested": lambda: nn.Sequential(
        nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.BatchNorm1d(4)), nn.Dropout(0.5)), nn.Tanh()
    ),
}


@probe
def features_taken(
    take: Callable[..., Any],
    kind: str,
    batches: Sequence[Sequence[torch.Tensor]],
    *,
    modes: str = "training",
    once: bool = False,
) -> dict[str, Any]:
    """Features and targets that `take(body, batches)` gives, and what is left of the body.

    "came": the calls before each batch of the generator; "learns": the gradient of a weight that
    all features are multiplied with, or the class of the error in which going backward ends.

    Args:
        take: Called with `(body, batches)`; returns features and targets.
        kind: The body, a key of `_BODIES`.
        batches: Pairs of inputs and targets.
        modes: The body's before: "training", "eval", "mixed" (every second module in eval mode) or
            "outer eval" (its own flag alone).
        once: Whether the batches come from a generator.
    """
    with seeded(17):
        body = _body(kind, modes)
        calls, came, left = _counted(body), list[int](), list[Any]()
        given = [tuple(one.clone() for one in pair) for pair in batches]
        before, whole = [one.training for one in body.modules()], WholeModule(body)
        handed = _one_by_one(given, calls, came) if once else given
        with noting(left, quiet=False):
            features, targets = take(body, handed)
        return {
            "following": torch.rand(2),
            "features": features,
            "targets": targets,
            "came": came,
            **_features(features),
            "modes": [before, [one.training for one in body.modules()]],
            "calls": calls,
            "given": packed(one for pair in given for one in pair),
            "around": left,
            "whole": whole.now(),
            **_kept(body),
        }


def _one_by_one(given: Sequence[Any], calls: Sequence[Any], came: list[int]) -> Iterator[Any]:
    """The batches one after the other, each noted with the number of calls so far."""
    for pair in given:
        came.append(len(calls))
        yield pair


def _counted(body: nn.Module) -> list[list[Any]]:
    """The list in which each call is noted: samples, grad mode, the modes of all modules."""
    calls: list[list[Any]] = []
    body.register_forward_hook(
        lambda module, args, out: calls.append(
            [len(args[0]), torch.is_grad_enabled(), [one.training for one in module.modules()]]
        )
    )
    return calls


def _body(kind: str, modes: str) -> nn.Module:
    """A body of this kind, in these modes."""
    body = _BODIES[kind]()
    if modes == "eval":
        body.eval()
    elif modes == "mixed":
        for one in list(body.modules())[1::2]:
            one.training = False
    elif modes == "outer eval":
        body.training = False
    return body


def _kept(body: nn.Module) -> dict[str, Any]:
    """Buffers, flags and gradients of a body."""
    return {
        "buffers": [one.tolist() for one in body.buffers()],
        "flags": [one.requires_grad for one in body.parameters()],
        "grads": [one.grad for one in body.parameters()],
    }


def _features(features: torch.Tensor) -> dict[str, Any]:
    """Whether features have a graph, and what a head learns from them."""
    return {"graph": features.requires_grad, "learns": _learned(features)}


def _learned(features: torch.Tensor) -> Any:
    """The gradient of a weight that all features are multiplied with."""
    weight = torch.tensor(2.0, requires_grad=True)
    try:
        (weight * features).square().sum().backward()
    except RuntimeError as raised:
        return class_name(raised)
    return weight.grad


@probe
def renamed(
    rename: Callable[..., Any],
    names: Sequence[str],
    rules: Sequence[Any],
    *,
    alike: str = "",
) -> dict[str, Any]:
    """What renaming gives for a state of these names; its keys stand at the head of this module.

    Args:
        rename: Called with `(state, rules)`; returns a state.
        names: The keys, in their order; each tensor holds its place in it.
        rules: What it is called with; each becomes a tuple.
        alike: "equal" if all tensors hold a 0, "tied" if all are one; "" for neither.
    """
    state = {name: torch.tensor([float(number)]) for number, name in enumerate(names)}
    if alike:
        one = torch.zeros(1)
        state = {name: one if alike == "tied" else one.clone() for name in names}
    tensors = list(state.values())
    made, error = None, ""
    given = [list(rule) for rule in rules]
    try:
        made = rename(state, [tuple(rule) for rule in given])
    except NotImplementedError:
        raise
    except Exception as raised:
        error = class_name(raised)
    pairs = [] if made is None else sorted(made.items(), key=lambda pair: (float(pair[1]), pair[0]))
    return {
        "names": [name for name, _ in pairs],
        "numbers": [float(one) for _, one in pairs],
        "same": [[one is other for other in tensors].index(True) for _, one in pairs]
        if all(any(one is other for other in tensors) for _, one in pairs)
        else "copies",
        "itself": made is state,
        "state": [list(state), [float(one) for one in state.values()]],
        "mapping": isinstance(made, dict),
        "error": error,
    }
