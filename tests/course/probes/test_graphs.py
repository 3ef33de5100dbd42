"""What a call keeps for backward: the bytes that graphs save, and the nodes that stay alive."""

from __future__ import annotations

import torch

from course.probes.graphs import kept_for_backward


def losses(count: int, keep: bool, walk: bool = True) -> None:
    """A loss in each round; `keep`: added up as tensors; `walk`: each goes back at once."""
    w, total = torch.ones(8, requires_grad=True), torch.zeros(())
    for _ in range(count):
        loss = w.exp().sum()
        if walk:
            loss.backward()
        total = total + (loss if keep else loss.detach())


def test_a_graph_that_is_walked_in_each_round_is_counted_once() -> None:
    assert kept_for_backward(losses, 3, False) == kept_for_backward(losses, 9, False)


def test_losses_that_are_added_up_keep_their_nodes_though_backward_freed_what_they_saved() -> None:
    few, many = (kept_for_backward(losses, count, True) for count in (3, 9))
    assert few["bytes"] == many["bytes"]
    assert few["nodes"] < many["nodes"]


def test_losses_that_wait_for_one_backward_keep_all_that_they_saved() -> None:
    few, many = (kept_for_backward(losses, count, True, False) for count in (3, 9))
    assert (few["bytes"], many["bytes"]) == (3 * 32, 9 * 32)


def test_nothing_is_kept_where_nothing_is_recorded() -> None:
    x = torch.ones(3)
    assert kept_for_backward(lambda: x.exp().sum()) == {"bytes": 0, "nodes": 0}


def test_backward_is_the_same_under_the_probe() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    kept_for_backward(lambda: (w * w).sum().backward())
    assert w.grad is not None
    assert w.grad.tolist() == [2.0, 4.0]
