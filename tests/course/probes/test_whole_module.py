"""A whole module is looked at: whatever of it changes, in whatever mode it was, is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from course.probes.whole_module import WholeModule, places_of_parameters
from course.testing.compare import difference


class Net(nn.Module):
    """Layers under two parents, both kinds of buffers, a mode that differs."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.again = nn.Sequential(self.first, nn.BatchNorm1d(3), nn.Dropout(0.5))
        self.register_buffer("saved", torch.arange(4) > 1)
        self.register_buffer("unsaved", torch.ones(2), persistent=False)
        self.first.weight.register_hook(lambda gradient: None)
        self.first.register_forward_hook(_looks)
        self.first.bias.grad = torch.ones(3)


def _looks(*seen: Any) -> None:
    pass


def _exchange(net: Net) -> None:
    net.first.weight = nn.Parameter(net.first.weight.detach())


def _moved(net: Net) -> None:
    net.first.bias.data = net.first.bias.data.clone()


CHANGES: dict[str, tuple[Callable[[Net], object], list[str]]] = {
    "train": (lambda net: net.train(), ["modes"]),
    "eval": (lambda net: net.eval(), ["modes"]),
    "one mode": (lambda net: net.again[2].train(net.again[2].training ^ True), ["modes"]),
    "another object": (_exchange, ["parameters", "hooks"]),
    "other memory": (_moved, ["memory"]),
    "a value": (lambda net: net.first.bias.data.add_(1), ["values"]),
    "a bool buffer": (lambda net: net.saved.logical_not_(), ["values"]),
    "an unsaved buffer": (lambda net: net.unsaved.zero_(), ["values"]),
    "running statistics": (lambda net: net.again[1].reset_running_stats(), ["values"]),
    "a buffer that is no longer saved": (
        lambda net: net.register_buffer("saved", net.saved, persistent=False),
        ["buffers"],
    ),
    "a flag": (lambda net: net.first.requires_grad_(False), ["requires_grad"]),
    "a gradient's values": (lambda net: net.first.bias.grad.zero_(), ["gradients"]),
    "a gradient gone": (lambda net: net.zero_grad(), ["gradients"]),
    "a hook more": (lambda net: net.again[0].register_forward_pre_hook(_looks), ["hooks"]),
    "a hook on a tensor": (lambda net: net.first.bias.register_hook(print), ["hooks"]),
    "hooks gone": (lambda net: net.first._forward_hooks.clear(), ["hooks"]),
    "double": (lambda net: net.double(), ["buffers", "memory", "dtypes", "values", "gradients"]),
    "a module more": (lambda net: net.add_module("more", nn.ReLU()), ["modules", "modes", "hooks"]),
}


@pytest.mark.parametrize("mode", ["train", "eval", "mixed"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_seen_and_nothing_else(change: str, mode: str) -> None:
    net = Net().train(mode != "eval")
    if mode == "mixed":
        net.again.eval()
    with torch.no_grad():
        for name, buffer in net.named_buffers():
            if "running" in name:
                buffer.add_(2)
    whole = WholeModule(net)
    act, aspects = CHANGES[change]
    act(net)
    now = whole.now()
    found = [one for one, was in whole.before.items() if difference(now[one], was) is not None]
    expected = [] if change in ("train", "eval") and change == mode else aspects
    assert found == expected


def test_a_hook_for_all_modules_is_seen() -> None:
    whole = WholeModule(nn.Linear(1, 1))
    handle = nn.modules.module.register_module_forward_hook(_looks)
    left = whole.now()["hooks"]
    handle.remove()
    assert left[""] != whole.before["hooks"][""] == whole.now()["hooks"][""]


def test_two_runs_give_the_same_facts() -> None:
    torch.manual_seed(0)
    one = WholeModule(Net()).before
    torch.manual_seed(0)
    assert difference(WholeModule(Net()).before, one) is None


def test_looking_changes_nothing_and_a_model_that_runs_is_as_it_was() -> None:
    net = Net().eval()
    whole = WholeModule(net)
    net.again(torch.ones(2, 3))
    assert difference(whole.now(), whole.before) is None


@pytest.mark.parametrize("of", ["the object", "a class of its own"])
def test_what_an_answer_hangs_on_a_module_has_no_say(of: str) -> None:
    def lies(*_: Any, **options: Any) -> Any:
        return iter([("other", nn.Parameter(torch.ones(1)))])

    net = Net()
    before, parameters = WholeModule(net).before, places_of_parameters(net)
    told = dict.fromkeys(("named_parameters", "named_modules", "named_buffers", "modules"), lies)
    if of == "the object":
        vars(net).update(told)
    else:
        net.__class__ = type("Net", (Net,), told)
    assert places_of_parameters(net) == parameters
    assert list(parameters) == [name for name, _ in Net().named_parameters(remove_duplicate=False)]
    assert WholeModule(net).before["parameters"] == before["parameters"]


def test_a_module_inside_itself_has_an_end() -> None:
    net = Net()
    net.again.append(nn.Sequential(net.first))
    net.again[3].add_module("around", net)
    assert [*places_of_parameters(net)][-2:] == ["again.3.0.weight", "again.3.0.bias"]
