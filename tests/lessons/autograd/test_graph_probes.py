"""What a call keeps for backward: the bytes that graphs save, and the nodes that stay alive."""

from __future__ import annotations

import pytest
import torch

from course.lessons.autograd.graph_probes import (
    kept_for_backward,
    leaves_found,
    lines_of_walk,
    loss_rows,
    snapshots_in_a_step,
    uses_reversed,
    with_old_grads,
)


def losses(count: int, keep: bool, walk: bool = True) -> None:
    """A loss in each round; `keep`: added up as tensors; `walk`: each goes back at once."""
    w, total = torch.ones(8, requires_grad=True), torch.zeros(())
    for _ in range(count):
        loss = w.exp().sum()
        if walk:
            loss.backward()
        total = total + (loss if keep else loss.detach())


def test_a_graph_that_is_walked_in_each_round_is_counted_once() -> None:
    assert kept_for_backward.here(losses, 3, False) == kept_for_backward.here(losses, 9, False)


def test_losses_that_are_added_up_keep_their_nodes_though_backward_freed_what_they_saved() -> None:
    few, many = (kept_for_backward.here(losses, count, True) for count in (3, 9))
    assert few["bytes"] == many["bytes"]
    assert few["nodes"] < many["nodes"]


def test_losses_that_wait_for_one_backward_keep_all_that_they_saved() -> None:
    few, many = (kept_for_backward.here(losses, count, True, False) for count in (3, 9))
    assert (few["bytes"], many["bytes"]) == (3 * 32, 9 * 32)


def test_nothing_is_kept_where_nothing_is_recorded() -> None:
    x = torch.ones(3)
    assert kept_for_backward.here(lambda: x.exp().sum()) == {"bytes": 0, "nodes": 0}


def test_backward_is_the_same_under_the_probe() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    kept_for_backward.here(lambda: (w * w).sum().backward())
    assert w.grad is not None
    assert w.grad.tolist() == [2.0, 4.0]


def test_leaves_are_named_by_their_numbers_and_strangers_by_minus_one() -> None:
    def strange(result: torch.Tensor) -> list[torch.Tensor]:
        product, _ = (node for node, _ in result.grad_fn.next_functions)  # type: ignore[union-attr]
        return [torch.ones(()), product.next_functions[1][0].variable]  # type: ignore

    assert leaves_found.here(strange, [True, True], [("mul", 0, 1), ("add", 2, 0)]) == [-1, 1]


def walk(result: torch.Tensor, once: bool = True) -> list[torch.Tensor]:
    """The leaves behind a result: each node once, or every path anew."""
    nodes = [result.grad_fn]
    for node in nodes:
        ahead = [one for one, _ in node.next_functions if one is not None]  # type: ignore[union-attr]
        nodes += [one for one in dict.fromkeys(ahead) if one not in nodes] if once else ahead
    return [node.variable for node in nodes if hasattr(node, "variable")]  # type: ignore[union-attr]


def test_leaves_that_share_their_memory_are_told_apart() -> None:
    steps = [("mul", 0, 1)]
    assert leaves_found.here(walk, [True, True], steps, shared=True) == [0, 1]

    def by_address(result: torch.Tensor) -> list[torch.Tensor]:
        return [*{leaf.data_ptr(): leaf for leaf in walk(result)}.values()]

    assert leaves_found.here(by_address, [True, True], steps, shared=True) == [1]


def test_each_end_of_a_program_gets_a_list_of_its_own() -> None:
    steps = [("sin", 0), ("mul", 2, 1)]
    assert leaves_found.here(walk, [True, True], steps, ends=[-1, 2, -1]) == [[0, 1], [0], [0, 1]]


def test_a_walk_of_every_path_runs_more_lines_than_one_of_every_node() -> None:
    steps = [("add", n, n) for n in range(9)]
    assert lines_of_walk.here(walk, steps) < 2**9
    assert lines_of_walk.here(lambda result: walk(result, once=False), steps) > 2**9


def test_leaves_that_are_no_parameters_keep_their_gradients_in_sight() -> None:
    def filling(losses: list[torch.Tensor], params: list[torch.Tensor]) -> int:
        losses[0].backward()
        return len(params)

    leaves = [torch.tensor(n, requires_grad=True) for n in (3.0, 5.0)]
    seen = loss_rows.here(filling, leaves, [("mul", 0, 1)], [2], asked=1)
    assert (seen["rows"], seen["grads"]) == (1, [torch.tensor(5.0), torch.tensor(3.0)])


def test_the_rows_of_losses_are_told_with_what_the_call_left_behind() -> None:
    def freeing(losses: list[torch.Tensor], params: list[torch.Tensor]) -> list[object]:
        return [torch.autograd.grad(losses[0], params)]

    leaf = torch.tensor(3.0, requires_grad=True)
    seen = loss_rows.here(freeing, [leaf], [("mul", 0, 0)], [1], 9.0)
    assert seen["rows"] == [(torch.tensor(6.0),)]
    assert seen["grads"] == [torch.tensor(9.0)]
    assert "second time" in seen["once more"]


def test_grads_that_were_there_before_are_told_as_the_call_left_them() -> None:
    kept, filled = (torch.ones(2, requires_grad=True) for _ in range(2))

    def fill(kept: torch.Tensor, filled: torch.Tensor, times: int) -> str:
        torch.set_grad_enabled(True)
        (times * filled).sum().backward()
        return "done"

    seen = with_old_grads.here(fill, [kept, filled], 3, old=1.0, recording=False)
    assert (seen["result"], seen["recording"]) == ("done", True)
    assert [grad.tolist() for grad in seen["grads"]] == [[1.0, 1.0], [4.0, 4.0]]
    assert seen["tensors"][0] is kept


def test_recording_is_what_it_was_after_a_call_without_it() -> None:
    seen = with_old_grads.here(lambda w: (w * 2).requires_grad, [torch.ones(1)], recording=False)
    assert (seen["result"], seen["recording"], seen["grads"]) == (False, False, [None])
    assert torch.is_grad_enabled()


def test_a_function_that_is_called_twice_tells_what_the_first_call_left() -> None:
    def add(w: torch.Tensor) -> None:
        w.sum().backward()

    for times, grad in ((1, 6.0), (2, 7.0)):
        seen = with_old_grads.here(add, [torch.ones(1, requires_grad=True)], old=5.0, times=times)
        assert seen["grads"][0].tolist() == [grad]


def test_a_snapshot_that_shares_memory_or_keeps_its_past_is_seen_in_a_step() -> None:
    for shot, copy, gradient in (
        (lambda t: t.detach().clone(), [3.0], [7.0]),
        (lambda t: t.detach(), [4.0], [7.0]),
        (lambda t: t.clone(), [3.0], [13.0]),
    ):
        seen = snapshots_in_a_step.here(shot, torch.tensor([3.0], requires_grad=True))
        assert seen["copies"][0].tolist() == copy
        assert seen["gradient"].tolist() == gradient


def test_a_gradient_is_told_for_x_and_for_its_neighbour() -> None:
    def doubled(x: torch.Tensor, scale: float) -> torch.Tensor:
        return x * scale

    weights = torch.tensor([1.0, 2.0])
    for intermediate in (False, True):
        seen = uses_reversed.here(doubled, [2.0, 3.0], weights, 10, intermediate)
        assert seen["x"].tolist() == [15.0, 20.0]
        assert seen["other"].tolist() == [1.0, 2.0]


def test_a_transform_that_refuses_hooks_is_called_without_them_and_its_nodes_count() -> None:
    def error(w: torch.Tensor, parts: int) -> torch.Tensor:
        return sum(((w * w).sum() for _ in range(parts)), torch.zeros(()))

    w = torch.ones(3, requires_grad=True)
    few, many = (
        kept_for_backward.here(lambda n: torch.func.grad(error)(w.detach(), n), n) for n in (2, 5)
    )
    assert few["bytes"] == many["bytes"] == 0
    assert 0 < few["nodes"] < many["nodes"]


def test_an_error_of_the_answer_is_raised_as_it_is() -> None:
    def failing() -> None:
        raise RuntimeError("of its own")

    with pytest.raises(RuntimeError, match="of its own"):
        kept_for_backward.here(failing)
