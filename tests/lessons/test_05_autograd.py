"""Lesson 05: it teaches what it promises, and what its texts say is what PyTorch does."""

from __future__ import annotations

import ast
import copy
import warnings

import pytest
import torch
from torch.autograd import Variable

from course import same_storage
from tests.lessons.source import Source, course_of

SOURCE = Source("05-autograd")


def leaf(*numbers: float) -> torch.Tensor:
    """A leaf that requires grad."""
    return torch.tensor(numbers, requires_grad=True)


def gradient_of(tensor: torch.Tensor) -> list[float]:
    """What is in the tensor's .grad, which must be there."""
    assert tensor.grad is not None
    found: list[float] = tensor.grad.tolist()
    return found


def assigned(source: str) -> set[str]:
    """The names that a cell binds at its top level, as far as plain assignments do."""
    body = ast.parse(source).body
    targets = [t for step in body if isinstance(step, ast.Assign) for t in step.targets]
    names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return names | {step.name for step in body if isinstance(step, ast.FunctionDef)}


def test_no_test_cell_rebinds_a_tensor_that_later_cells_use() -> None:
    codes = [c for c in SOURCE.cells().values() if c["cell_type"] == "code"]
    tests = [c for c in codes if c["id"].startswith("test-")]
    shown = [c for c in codes if course_of(c).get("role") in ("measure", "figure")]
    bound = set().union(*(assigned(c["source"]) for c in tests))
    kept = {"w", "x", "b", "h", "v", "y", "first", "w1", "w2", "number", "tensor"}
    assert kept <= set().union(*(assigned(c["source"]) for c in shown))
    assert bound & kept == set()


# --- what the texts say -------------------------------------------------------------------------


def test_a_view_made_under_no_grad_asks_for_a_gradient_and_gets_none() -> None:
    w = leaf(1.0, 2.0)
    with torch.no_grad():
        views = [w[:1], w.view(2, 1), w.t(), w.expand(3, 2)]
    for view in views:
        assert (view.requires_grad, view.grad_fn) == (True, None)
        (view * 3).sum().backward()
    assert w.grad is None


def test_a_wrapped_tensor_is_a_detached_one() -> None:
    product = leaf(1.0) * 2
    wrapped = Variable(product)
    assert (wrapped.grad_fn, wrapped.requires_grad) == (None, False)
    assert same_storage(wrapped, product)
    wrapped.add_(1)
    assert product._version == 1


def test_a_loss_has_no_element_zero() -> None:
    with pytest.raises(IndexError, match=r"Use `tensor.item\(\)`"):
        leaf(1.0).sum().data[0]


def test_detach_shares_the_version_and_data_does_not() -> None:
    h = torch.ones(2)
    h.detach().add_(1)
    assert h._version == 1
    h.data.add_(1)
    assert h._version == 1


def test_a_retained_gradient_that_never_came_is_read_without_a_warning() -> None:
    h = leaf(1.0) * 2
    h.sum().backward()
    h.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert h.grad is None


def test_a_graph_that_saved_nothing_can_be_walked_again() -> None:
    w = leaf(1.0)
    loss = (w + 1).sum()
    loss.backward()
    loss.backward()
    assert gradient_of(w) == [2.0]


def test_a_hook_on_a_leaf_runs_before_the_gradient_is_added_and_a_post_hook_after() -> None:
    w = leaf(1.0)
    seen: list[object] = []
    w.register_post_accumulate_grad_hook(lambda p: seen.append(gradient_of(p)))
    w.register_hook(lambda _: seen.append(w.grad))
    (w * 2).sum().backward()
    assert seen == [None, [2.0]]


def test_a_hook_that_writes_spoils_its_neighbours_gradient() -> None:
    a, b = leaf(1.0, 1.0), leaf(1.0, 1.0)
    neighbour = b * 1
    view = a.view_as(a)
    view.register_hook(lambda g: g.neg_())
    ((neighbour + view) * torch.tensor([2.0, 3.0])).sum().backward()
    assert gradient_of(b) == [-2.0, -3.0]


def test_recording_can_be_switched_on_inside_a_block_and_ends_with_it() -> None:
    w = leaf(1.0)
    with torch.no_grad():
        with torch.enable_grad():
            inside = w * 2
        after = w * 2
    assert (inside.requires_grad, after.requires_grad) == (True, False)


def test_cpu_returns_a_tensor_of_the_cpu_as_it_is() -> None:
    x = torch.ones(2)
    assert x.cpu() is x


def test_a_deep_copy_takes_the_gradient_along_and_refuses_intermediates() -> None:
    w = leaf(1.0)
    w.sum().backward()
    assert gradient_of(copy.deepcopy(w)) == [1.0]
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(w * 2)


def test_gradcheck_needs_double_precision() -> None:
    def function(u: torch.Tensor) -> torch.Tensor:
        return (u**3).sin().sum()

    u = leaf(0.5, 2.0)
    assert torch.autograd.gradcheck(function, u.detach().double().requires_grad_())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not torch.autograd.gradcheck(function, u, raise_exception=False)
