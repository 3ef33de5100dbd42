"""Lesson 05: it teaches what it promises, and what its texts say is what PyTorch does."""

from __future__ import annotations

import ast
import copy
import re
import warnings
from typing import Any

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


def text_of(cell: dict[str, Any]) -> str:
    """The source of a cell."""
    return str(cell["source"])


def bound(source: str) -> set[str]:
    """The names that a cell binds at its top level: by assignments, loops, blocks, definitions."""
    found: set[str] = set()
    open_ = list[ast.AST](ast.parse(source).body)
    while open_:
        node = open_.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif not isinstance(node, ast.Lambda | _COMPREHENSIONS):
            open_ += ast.iter_child_nodes(node)
    return found


_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


ROLES = ("scene", "measure", "figure", "warm-up")


def test_no_test_cell_rebinds_a_name_that_the_lessons_own_cells_use() -> None:
    codes = [c for c in SOURCE.cells().values() if c["cell_type"] == "code"]
    tests = [c for c in codes if c["id"].startswith("test-")]
    shown = [c for c in codes if course_of(c).get("role") in ROLES]
    taken, kept = (set[str]().union(*(bound(c["source"]) for c in part)) for part in (tests, shown))
    assert {"weight", "points", "first", "last", "cleaned", "scores", "leaf"} <= kept
    assert (taken & kept) <= {"seen"}


# --- the scene ----------------------------------------------------------------------------------


def test_the_scene_trains_and_its_first_layer_stays_as_it_was(
    capsys: pytest.CaptureFixture[str],
) -> None:
    exec(SOURCE.cells()["scene"]["source"], {})
    assert capsys.readouterr().out == "loss 0.25, first layer as it was: True\n"
    assert "to 0.25" in SOURCE.cells()["scene-symptom"]["source"]


def test_a_flat_line_has_the_loss_that_the_text_says() -> None:
    flat = (2 * torch.linspace(-3, 3, 100)).sin().square().mean().item()
    assert f"at 0 would have {flat:.2f}," in SOURCE.cells()["scene-symptom"]["source"]


MENDED = {
    "no decorator": "(hidden - hidden.mean(0)) / hidden.std(0)",
    "statistics without a past": "(hidden - hidden.mean(0).detach()) / hidden.std(0).detach()",
}


@pytest.mark.exhaustive("whole notebooks and trainings")
@pytest.mark.parametrize("body", MENDED.values(), ids=MENDED)
def test_the_ending_mends_the_scene(body: str) -> None:
    names = SOURCE.solved("scene", "scene-again")
    assert names["trained_with"](torch.no_grad()(eval(f"lambda hidden: {body}"))) == 0.25
    assert names["trained_with"](eval(f"lambda hidden: {body}")) < 0.1


def test_the_mended_scene_is_told_that_it_is_right() -> None:
    names = SOURCE.solved("scene", "scene-again")
    source = SOURCE.cells()["mend-the-scene"]["source"]
    for block, state in (("no_grad", "open"), ("enable_grad", "right")):
        body, asked = source.replace("no_grad", block).split("warm_up", 1)
        exec(f"{body}answer = warm_up{asked}", names)
        assert names["answer"].state == state


# --- the form -----------------------------------------------------------------------------------


def test_the_core_has_five_exercises_and_takes_ninety_minutes() -> None:
    units = [text for text in map(text_of, SOURCE.with_role("text")) if text.startswith("## ")]
    minutes = [int(m[1]) for text in units if (m := re.search(r"\*(\d+) minutes\*", text))]
    assert sum(minutes) == 90
    assert all(15 <= unit <= 25 for unit in minutes)
    inside = [one for one in SOURCE.exercises if not one.section.startswith("deep-dive")]
    assert len(inside) == len(minutes) == 5
    for number in minutes:
        assert f"| {number} |" in SOURCE.cells()["plan-minutes"]["source"]


def test_every_deep_dive_is_folded_and_nothing_else() -> None:
    cells = SOURCE.cells().values()
    folded = [cell for cell in cells if cell["metadata"].get("jp-MarkdownHeadingCollapsed")]
    assert folded == [cell for cell in cells if text_of(cell).startswith("## Deep dive: ")]


WARM_UPS = {
    "constant-result": True,
    "recorded-result": False,
    "detached-result": False,
    "comparison": False,
    "node-name": "ExpBackward0",
    "two-entries": 2,
    "leaf-used-twice": 1,
    "behind-detach": True,
    "once": 6,
    "twice": 12,
    "two-means": 2,
    "item-grad": False,
    "eval": True,
    "blocked": False,
    "made-in-block": True,
    "inner-grad": True,
    "detach-memory": True,
    "clone-past": True,
    "snapshot-version": True,
    "array-write": 7,
}


def test_every_warm_up_takes_its_answer_and_refuses_another() -> None:
    names = SOURCE.solved("first-graph-figure", "adds-measured", "alive-measured")
    names |= SOURCE.solved("freeze-figure", "switched")
    assert len(SOURCE.with_role("warm-up")) == len(WARM_UPS) + 1  # and the mended scene
    states = SOURCE.warm_up_states(WARM_UPS, names)
    assert states == dict.fromkeys(WARM_UPS, ("right", "wrong"))


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


def test_a_block_restores_recording_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), torch.no_grad():
        print(1 / 0)
    assert torch.is_grad_enabled()


def test_an_inference_tensor_may_be_written_in_its_own_block_only() -> None:
    with torch.inference_mode():
        served = torch.ones(2) * 2
        served.add_(1)
    with pytest.raises(RuntimeError, match="outside InferenceMode"):
        served.add_(1)


def test_detaching_the_frozen_weights_leaves_the_way_to_the_layer_before_open() -> None:
    inner, outer = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (inner * outer.detach()).sum().backward()
    assert (gradient_of(inner), outer.grad) == ([3.0, 4.0], None)
