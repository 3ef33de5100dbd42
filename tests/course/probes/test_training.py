"""What the probes of training loops see: calls in their order, and all that is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.training_loop.optimizer_probes import clipped, optimizer_steps
from course.probes.training import loop_run

Loop = Callable[..., Any]
PLAIN = {"lr": 0.1}


def parts_of(*sizes: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Pairs of this many examples, always the same."""
    rng = torch.Generator().manual_seed(0)
    drawn = [torch.randn(size, 3, generator=rng, dtype=torch.float64) for size in sizes]
    return [(part[:, :2], part[:, 2:]) for part in drawn]


def epoch(
    model: nn.Module, parts: Iterable[Any], loss_fn: nn.Module, optimizer: torch.optim.Optimizer
) -> list[float]:
    """A plain epoch."""
    losses = []
    for x, y in parts:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def look(model: nn.Module, parts: Iterable[Any], loss_fn: nn.Module) -> float:
    """A validation that leaves the mode as it is, and stops at nothing."""
    with torch.no_grad():
        return sum(float(loss_fn(model(x), y)) for x, y in parts)


def run(loop: Loop, *args: Any, **named: Any) -> dict[str, Any]:
    """What the probe saw."""
    seen: dict[str, Any] = loop_run.procedure(loop, *args, **named)
    return seen


# --- loops --------------------------------------------------------------------------------------


def test_every_call_of_a_loop_is_noted_in_its_order() -> None:
    events = run(epoch, parts_of(3, 2), "linear", PLAIN)["events"]
    assert [event[:2] for event in events] == [
        *(["forward", 3], ["backward", 3], ["step"]),
        *(["forward", 2], ["backward", 2], ["step"]),
    ]


def test_a_validation_shows_its_modes_and_that_it_records_nothing() -> None:
    events = run(look, parts_of(3), "dropout", training=False)["events"]
    assert events == [["forward", 3, [False] * 4, False]]


@pytest.mark.parametrize(
    "kind", ["linear", "own loss", "dropout", "norm", "frozen norm", "fixed", "tied", "heads"]
)
def test_every_model_is_the_same_each_time(kind: str) -> None:
    one, other = (run(epoch, parts_of(4, 3), kind, PLAIN) for _ in range(2))
    assert one["result"] == other["result"]
    assert all(map(torch.equal, one["parameters"], other["parameters"]))


def test_another_seed_makes_another_model() -> None:
    one, other = (run(look, parts_of(3), seed=seed)["result"] for seed in (0, 1))
    assert one != other


def test_what_stood_in_grad_before_is_there_when_the_loop_begins() -> None:
    def peek(model: nn.Module, *_: Any) -> list[Any]:
        return [weight.grad for weight in model.parameters()]

    assert run(peek, [], stale=None)["result"] == [None, None]
    assert all(bool((grad == 3).all()) for grad in run(peek, [], stale=3.0)["result"])


def test_only_one_of_two_heads_gets_a_gradient() -> None:
    x, y = parts_of(3)[0]
    grads = run(epoch, [(x.abs(), y)], "heads", PLAIN)["grads"]
    assert [grad is None for grad in grads] == [False, False, True, True]


def test_the_optimizer_holds_the_parameter_of_the_loss_too() -> None:
    start = run(lambda *_: None, [], "own loss", PLAIN)["parameters"]
    end = run(epoch, parts_of(3), "own loss", PLAIN)["parameters"]
    assert [torch.equal(a, b) for a, b in zip(start, end, strict=True)] == [False] * 3


def test_a_frozen_norm_stays_frozen_unless_a_mode_is_asked_for() -> None:
    nothing: Loop = lambda *_: None  # noqa: E731
    assert run(nothing, [], "frozen norm", training=None)["modes"][2] is False
    assert run(nothing, [], "frozen norm", training=True)["modes"][2] is True


def test_a_model_that_fails_is_told_and_what_was_left_is_seen() -> None:
    def careless(model: nn.Module, parts: Iterable[Any], loss_fn: nn.Module) -> None:
        model.eval()
        look(model, parts, loss_fn)
        model.train()

    seen = run(careless, parts_of(2, 2), "dropout", fails_at=2)
    assert seen["error"] == "this batch is broken"
    assert seen["modes"] == [False] * 4


def test_parts_of_a_generator_come_once_and_may_draw() -> None:
    def count(model: nn.Module, parts: Iterable[Any], loss_fn: nn.Module) -> tuple[int, int]:
        return len(list(parts)), len(list(parts))

    quiet, noisy = (run(count, parts_of(2, 2), once=True, draws=draws) for draws in (False, True))
    assert quiet["result"] == noisy["result"] == (2, 0)
    assert not torch.equal(quiet["draws"], noisy["draws"])


def test_only_the_facts_that_are_asked_for_travel() -> None:
    assert list(run(look, parts_of(2), facts=("result", "modes"))) == ["result", "modes"]


def test_a_loss_that_is_recorded_is_seen_and_the_grad_mode_put_back() -> None:
    def half(model: nn.Module, parts: Iterable[Any], loss_fn: nn.Module) -> None:
        for x, y in parts:
            with torch.no_grad():
                said = model(x)
            loss_fn(said, y)
        torch.set_grad_enabled(True)

    seen = run(half, parts_of(3, 2), "own loss", recording=False)
    assert (seen["loss recorded"], seen["grad mode"]) == ([False] * 2, True)
    assert run(half, parts_of(3, 2), "own loss")["loss recorded"] == [True] * 2
    assert run(look, parts_of(3))["loss recorded"] == [False]
    assert torch.is_grad_enabled()


def test_a_list_of_parts_that_gets_shorter_is_seen() -> None:
    def cutting(model: nn.Module, parts: list[Any], loss_fn: Loop) -> None:
        del parts[0]

    assert loop_run.procedure(cutting, parts_of(2, 3))["given"] == [3]


def test_model_and_loss_have_a_group_of_the_optimizer_each() -> None:
    def groups(model: nn.Module, parts: Any, loss_fn: Loop, optimizer: Any) -> list[int]:
        return [len(group["params"]) for group in optimizer.param_groups]

    assert loop_run.procedure(groups, [], "own loss", PLAIN)["result"] == [2, 1]
    assert loop_run.procedure(groups, [], "linear", PLAIN)["result"] == [2]


def test_the_random_state_outside_is_left_alone() -> None:
    before = torch.get_rng_state()
    run(epoch, parts_of(3), "dropout", PLAIN)
    assert torch.equal(before, torch.get_rng_state())


def test_a_loader_that_draws_begins_when_an_iterator_is_asked_for() -> None:
    def asked(model: nn.Module, parts: Iterable[Any], loss_fn: nn.Module) -> None:
        iter(parts)

    quiet, noisy = (run(asked, parts_of(2), once=True, draws=draws) for draws in (False, True))
    assert not torch.equal(quiet["draws"], noisy["draws"])


@pytest.mark.parametrize("retained", [False, True])
def test_a_graph_that_still_holds_what_it_saved_is_seen_at_the_next_call(retained: bool) -> None:
    def keeping(model: nn.Module, parts: Iterable[Any], loss_fn: nn.Module, _: Any) -> None:
        losses = [loss_fn(model(x), y) for x, y in list(parts)[:1]]
        losses[0].backward(retain_graph=retained)
        model(next(iter(parts))[0])

    assert run(keeping, parts_of(3, 2), "tied", PLAIN)["kept"] == [False, retained]


def test_noting_what_graphs_keep_ends_with_each_call_also_with_one_that_fails() -> None:
    def failing(model: nn.Module, parts: Any, loss_fn: nn.Module) -> torch.Tensor:
        with pytest.raises(RuntimeError, match="broken"):
            model(parts[0][0])
        weight = torch.ones(2, requires_grad=True)
        found: torch.Tensor = weight.square().sum()
        return found

    result = run(failing, parts_of(2), fails_at=1)["result"]
    assert isinstance(result.grad_fn.next_functions[0][0]._saved_self, torch.Tensor)


# --- clipping -----------------------------------------------------------------------------------


def test_replaced_and_recorded_gradients_are_told_from_changed_ones() -> None:
    def replace(parameters: Iterable[torch.Tensor], most: float) -> None:
        for weight in parameters:
            if weight.grad is not None:
                weight.grad = weight.grad * most

    def change(parameters: Iterable[torch.Tensor], most: float) -> None:
        for weight in parameters:
            if weight.grad is not None:
                weight.grad.mul_(most)

    gradients = [torch.ones(2), None]
    assert clipped.procedure(replace, gradients, 2.0)["same"] == [False, True]
    seen = clipped.procedure(change, gradients, 2.0)
    assert seen["same"] == [True, True]
    assert seen["grads"][0].tolist() == [2, 2]
    assert gradients[0].tolist() == [1, 1]  # type: ignore[union-attr]


def test_parameters_may_come_once_only() -> None:
    def twice(parameters: Iterable[torch.Tensor], most: float) -> tuple[int, int]:
        return len(list(parameters)), len(list(parameters))

    results = [
        clipped.procedure(twice, [torch.ones(1)], 1.0, once=once)["result"] for once in (0, 1)
    ]
    assert results == [(1, 1), (1, 0)]


def test_a_frozen_parameter_has_its_gradient_and_views_show_memory() -> None:
    def elsewhere(parameters: list[torch.Tensor], most: float) -> list[bool]:
        for weight in parameters:
            weight.grad.data = weight.grad * most  # type: ignore[union-attr]
        return [weight.requires_grad for weight in parameters]

    seen = clipped.procedure(elsewhere, [torch.ones(1), torch.ones(1)], 2.0, frozen=True)
    assert seen["result"] == [False, True]
    assert (seen["same"], seen["grads"][0].item()) == ([True, True], 2)
    assert seen["views"][0].item() == 1


# --- optimizers ---------------------------------------------------------------------------------


def test_groups_and_state_are_handed_over_at_every_step() -> None:
    seen_before: list[int] = []

    def step(groups: list[dict[str, Any]], state: dict[str, int]) -> None:
        seen_before.append(10 * len(groups) + state.setdefault("steps", 0))
        state["steps"] += 1

    groups = [{"params": [torch.ones(2)], "lr": 0.1}, {"params": [torch.ones(1)], "lr": 0.2}]
    seen = optimizer_steps.procedure(step, groups, [[torch.ones(2), None]] * 3)
    assert seen_before == [20, 21, 22]
    assert seen["leaves"] == seen["same"] == [True, True]


def test_rates_change_between_steps_and_gradients_may_keep_their_memory() -> None:
    seen_before: list[tuple[float, int]] = []

    def step(groups: list[dict[str, Any]], state: dict[str, Any]) -> None:
        weight = groups[0]["params"][0]
        state.setdefault("first", weight.grad)
        seen_before.append((groups[0]["lr"], int(state["first"][0])))

    groups, rows = [{"params": [torch.ones(1)], "lr": 2.0}], [[torch.ones(1)], [torch.zeros(1)]]
    for one_memory, second in ((False, 1), (True, 0)):
        seen = optimizer_steps.procedure(
            step, groups, rows, frozen=True, rates=(1.0, 0.5), one_memory=one_memory
        )
        assert seen_before == [(2.0, 1), (1.0, second)]
        assert seen["leaves"] == [False]
        assert seen["grads kept"] == [True, True]
        seen_before.clear()


def test_a_step_that_replaces_a_gradient_is_seen() -> None:
    def step(groups: list[dict[str, Any]], state: dict[str, int]) -> None:
        groups[0]["params"][0].grad = torch.zeros(2)

    seen = optimizer_steps.procedure(step, [{"params": [torch.ones(2)]}], [[torch.ones(2)]])
    assert seen["grads kept"] == [False]


def test_a_step_that_replaces_a_parameter_is_seen() -> None:
    def step(groups: list[dict[str, Any]], state: dict[str, int]) -> None:
        groups[0]["params"][0] = groups[0]["params"][0].detach() * 2

    seen = optimizer_steps.procedure(step, [{"params": [torch.ones(2)]}], [[torch.ones(2)]])
    assert seen["same"] == [False]


def test_a_step_into_new_memory_leaves_the_views_behind() -> None:
    def step(groups: list[dict[str, Any]], state: dict[str, int]) -> None:
        weight = groups[0]["params"][0]
        weight.data = weight.data * 2

    seen = optimizer_steps.procedure(step, [{"params": [torch.ones(1)]}], [[torch.ones(1)]])
    assert (seen["weights"][0].item(), seen["views"][0].item()) == (2, 1)


def test_what_a_step_or_a_clip_runs_is_noted_whatever_it_is_called() -> None:
    def by_torch(groups: Any, state: Any) -> None:
        vars(torch)["op" + "tim"].SGD(groups, lr=0.1).step()

    def own(groups: Any, state: Any) -> None:
        with torch.no_grad():
            for group in groups:
                for weight in group["params"]:
                    weight -= 0.1 * weight.grad

    def ran(step: Any) -> bool:
        groups, row = [{"params": [torch.ones(2)], "lr": 0.1}], [torch.ones(2)]
        found = optimizer_steps.here(step, groups, [row], noting=True)["ran"]
        return any(one.startswith("torch.optim") for one in found)

    assert (ran(by_torch), ran(own)) == (True, False)
    clip = vars(torch.nn.utils)["clip_grad" + "_norm_"]
    noted = clipped.here(clip, [torch.ones(2)], 0.5, noting=True)["ran"]
    assert any(one.startswith("torch.nn.utils") for one in noted)
