"""Graph figures: true to what autograd recorded, legible, and told in words."""

from __future__ import annotations

import doctest

import pytest
import torch

from course.figures import not_drawn
from course.figures.graph import figure as graph_figures
from course.figures.graph.figure import show_graph
from course.figures.graph.history import History, history_of
from course.figures.palette import FAULT
from course.figures.scene import SMALL, Arrow, Box, Label, Scene
from course.inspection.graph import nodes_behind
from tests.course.figures.drawn import collisions, scene_of, texts_of

W = torch.tensor([1.0, 2.0], requires_grad=True)
X = torch.tensor([3.0, 4.0])


def _random_result(seed: int, steps: int = 10) -> torch.Tensor:
    """The sum of a random little program over two leaves and a constant."""
    rng = torch.Generator().manual_seed(seed)
    values = [torch.rand(2, requires_grad=True), torch.rand(2, requires_grad=True), X]
    functions = [torch.add, torch.mul, torch.sub, lambda a, _: a.exp(), lambda a, _: a.tanh()]
    for _ in range(steps):
        kind, one, other = torch.randint(0, 10**6, (3,), generator=rng).tolist()
        function = functions[kind % len(functions)]
        values.append(function(values[one % len(values)], values[other % len(values)]))
    return torch.stack(values[-4:]).sum() + values[0].sum()


def _boxes_meet(scene: Scene) -> list[tuple[str, str]]:
    boxes = [item for item in scene.items if isinstance(item, Box)]
    return [
        (a.text, b.text)
        for n, a in enumerate(boxes)
        for b in boxes[n + 1 :]
        if a.x < b.x + b.width
        and b.x < a.x + a.width
        and a.y < b.y + b.height
        and b.y < a.y + a.height
    ]


def _arrows(scene: Scene) -> list[Arrow]:
    return [item for item in scene.items if isinstance(item, Arrow)]


def _operation(history: History, title: str) -> tuple[object, ...]:
    return next(node.leads_to for node in history.nodes if node.title == title)


def test_each_node_leads_where_torch_says() -> None:
    result = _random_result(seed=1)
    found = nodes_behind(result)
    nodes = history_of(result, most=100).nodes[1:]
    for node, torch_node in zip(nodes, found, strict=True):
        wanted = [None if n is None else found.index(n) + 1 for n, _ in torch_node.next_functions]
        assert list(node.leads_to) == wanted


def test_an_input_that_asks_for_no_gradient_is_none() -> None:
    history = history_of(W * X)
    assert _operation(history, "MulBackward0") == (2, None)
    assert texts_of(show_graph(W * X)).count("None") == 1


def test_only_what_the_derivative_needs_is_listed_as_kept() -> None:
    names = {"w": W, "x": X}
    assert "keeps other = x (2,) · version 0" in texts_of(show_graph(W * X, names))
    assert not any("keeps self" in text for text in texts_of(show_graph(W * X, names)))
    assert not any("keeps" in text for text in texts_of(show_graph(W + X, names)))


def test_a_saved_result_is_known_by_its_name() -> None:
    h = W.exp()
    assert "keeps result = h (2,) · version 0" in texts_of(show_graph(h.sum(), {"h": h}))


def test_a_saved_tensor_changed_since_is_marked_with_both_versions() -> None:
    h = W.exp()
    loss = h.sum()
    h.mul_(2).add_(1)
    picture = show_graph(loss)
    marked = [i for i in scene_of(picture).items if isinstance(i, Label) and i.ink == FAULT]
    assert [label.text for label in marked] == ["✗ kept result at version 0, now 2"]
    assert "saved at version 0, now at 2" in picture.alt
    assert "backward will refuse it" in picture.caption


def test_backward_refuses_exactly_the_graphs_with_a_stale_tensor() -> None:
    for change in (torch.Tensor.mul_, torch.Tensor.detach):
        h = W.sigmoid()
        loss = (h * h).sum()
        change(*([h, 2.0] if change is torch.Tensor.mul_ else [h]))
        stale = any(kept.stale for node in history_of(loss).nodes for kept in node.kept)
        try:
            loss.backward()
            refused = False
        except RuntimeError:
            refused = True
        assert stale == refused


def test_after_backward_the_saved_tensors_are_freed() -> None:
    w = W.detach().clone().requires_grad_()
    loss = (w * w).sum()
    loss.backward()
    picture = show_graph(loss, {"w": w})
    assert {"other: freed", "self: freed", ".grad: shape (2,)"} <= set(texts_of(picture))
    assert "backward has freed other and self" in picture.alt


def test_drawing_changes_nothing_about_the_graph() -> None:
    w = W.detach().clone().requires_grad_()
    loss = (w.exp() * w).sum()
    show_graph(loss).svg()
    loss.backward()
    assert (w._version, loss._version) == (0, 0)


def test_a_leaf_used_twice_is_one_box_with_two_arrows() -> None:
    scene = scene_of(show_graph(W * W, {"w": W}))
    assert scene.texts().count("w") == 1
    assert len(_arrows(scene)) == 3  # from the result, and twice from the product


def test_a_named_intermediate_is_named_at_the_node_that_made_it() -> None:
    h = W * X
    assert "MulBackward0 → h" in texts_of(show_graph(h.sum(), {"h": h}))


def test_what_was_saved_by_a_function_of_ones_own_is_listed() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: torch.autograd.function.FunctionCtx, x: torch.Tensor) -> torch.Tensor:
            ctx.save_for_backward(x)
            return x * x

    texts = texts_of(show_graph(Square.apply(W), {"w": W}))
    assert {"SquareBackward", "keeps saved_tensors[0] = w (2,) · version 0"} <= set(texts)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (W, "The tensor w of shape (2,) is a leaf that requires grad: "
         "nothing was recorded for it."),
        (X, "The result of shape (2,) is a leaf that requires no grad: "
         "nothing was recorded for it."),
    ],
)  # fmt: skip
def test_a_tensor_without_history_is_said_to_be_a_leaf(tensor: torch.Tensor, words: str) -> None:
    assert show_graph(tensor, {"w": W}).alt == words


def test_an_inference_tensor_has_no_version() -> None:
    with torch.inference_mode():
        made = W * 2
    assert texts_of(show_graph(made))[1] == "leaf, shape (2,)"


@pytest.mark.parametrize("seed", range(25))
def test_no_text_meets_another_and_no_box_lies_on_a_box(seed: int) -> None:
    scene = scene_of(show_graph(_random_result(seed)))
    assert collisions(scene) == []
    assert _boxes_meet(scene) == []
    assert all(i.size >= SMALL for i in scene.items if not isinstance(i, Arrow))


@pytest.mark.parametrize("seed", range(25))
def test_every_arrow_leads_downwards(seed: int) -> None:
    for arrow in _arrows(scene_of(show_graph(_random_result(seed)))):
        heights = [y for _, y in arrow.points]
        assert heights == sorted(heights)


def test_a_large_graph_is_drawn_in_part_and_says_so() -> None:
    result = W
    for _ in range(2000):
        result = result.sin()
    picture = show_graph(result)
    assert "1985 further nodes are not drawn." in texts_of(picture)
    assert picture.alt.endswith("further nodes follow.")
    assert len(picture.alt) < 1500


def test_the_picture_shows_the_moment_of_the_call() -> None:
    h = W.exp()
    picture = show_graph(h.sum())
    h.add_(1)
    assert not any("✗" in text for text in texts_of(picture))


def test_names_may_be_a_whole_namespace() -> None:
    names = {"w": W, "_1": X, "text": "no tensor", "torch": torch}
    assert "w" in texts_of(show_graph(W * X, names))
    assert "keeps other (2,) · version 0" in texts_of(show_graph(W * X, names))


def test_a_call_that_cannot_be_drawn_says_why() -> None:
    with pytest.raises(TypeError, match="not behind float"):
        show_graph(1.0)  # type: ignore[arg-type]


def test_nothing_is_asked_of_the_tensor_while_grading() -> None:
    with not_drawn():
        picture = show_graph("not even a tensor")  # type: ignore[arg-type]
        assert "<img" not in picture._repr_html_()


def test_the_svg_is_the_same_each_time() -> None:
    first, second = (show_graph((W * X).sum(), {"w": W}).svg() for _ in range(2))
    assert first == second


def test_the_example_shows_what_it_returns() -> None:
    seen = doctest.testmod(graph_figures)
    assert (seen.failed, seen.attempted) == (0, 2)
