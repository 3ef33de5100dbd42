"""The autograd graph behind a tensor, from the result down to its leaves: `show_graph`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch

from course.figures.graph.history import History, Node, history_of
from course.figures.graph.rows import graph_scene, kept_name
from course.figures.picture import Picture, drawing
from course.figures.scene import Scene, paint
from course.figures.storage.descriptions import listed

__all__ = ["show_graph"]

_MOST_DESCRIBED = 10  # nodes described one by one in an alt text


def show_graph(tensor: torch.Tensor, names: Mapping[str, object] | None = None) -> Picture:
    """A picture of the graph that autograd recorded for a tensor.

    The tensor stands on top, its leaves at the ends of the arrows, which go the way of the
    gradients. Each node lists the tensors that it keeps for backward with their versions; one that
    was changed in place since is marked. The picture shows this moment.

    Args:
        tensor: The result of a computation, for example a loss.
        names: What tensors are called, for example `{"w": w, "x": x}`; `locals()` will do.

    Raises:
        TypeError: `tensor` is no tensor.

    >>> w = torch.ones(2, requires_grad=True)
    >>> print(show_graph(w.exp(), {"w": w}).alt)
    The result of shape (2,) was made by ExpBackward0. ExpBackward0 leads to the leaf w; it keeps \
result of shape (2,) at version 0.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(
            f"show_graph() draws the graph behind a tensor, not behind {type(tensor).__name__}. "
            "Give it the result of a computation, for example a loss."
        )
    history = history_of(tensor, names)
    return Picture(
        partial(paint, graph_scene(history)), alt=_alt(history), caption=_caption(history)
    )


def _alt(history: History) -> str:
    first = history.nodes[0]
    shape = first.facts.shape if first.facts else ()
    if first.kind == "leaf":
        asks = first.facts is not None and first.facts.requires_grad
        return f"{_called(first)} of shape {shape} is a leaf that requires {'' if asks else 'no '}\
grad: nothing was recorded for it."
    words = [f"{_called(first)} of shape {shape} was made by {history.nodes[1].title}."]
    steps = [n for n in history.nodes if n.kind == "operation"]
    words += [_node_words(n, history.nodes) for n in steps[:_MOST_DESCRIBED]]
    further = len(steps) - _MOST_DESCRIBED + history.left_out
    if further > 0:
        words.append(f"{further} further nodes follow.")
    return " ".join(words)


def _called(node: Node) -> str:
    return "The result" if node.title == "result" else f"The tensor {node.title}"


def _node_words(node: Node, nodes: Sequence[Node]) -> str:
    made = f" (which made {node.made})" if node.made else ""
    ends = [_end_words(None if n is None else nodes[n]) for n in node.leads_to]
    words = [f"{node.title}{made} leads to {listed(ends) or 'nodes not drawn'}"]
    good = [
        f"{kept_name(k)} of shape {k.shape} at version {k.version}"
        for k in node.kept
        if not k.stale and not k.freed
    ]
    if good:
        words.append(f"it keeps {listed(good)}")
    words += [
        f"what it kept as {k.name} is stale: saved at version {k.version}, now at {k.now}"
        for k in node.kept
        if k.stale
    ]
    freed = [k.name for k in node.kept if k.freed]
    if freed:
        words.append(f"backward has freed {listed(freed)}")
    return "; ".join(words) + "."


def _end_words(node: Node | None) -> str:
    if node is None:
        return "None (an input that asks for no gradient)"
    return f"the leaf {node.title}" if node.kind == "leaf" else node.title


def _caption(history: History) -> str:
    if history.nodes[0].kind == "leaf":
        return "A leaf: nothing was recorded for it."
    words = ["Arrows go the way of the gradients, from the result down to the leaves."]
    kept = [k for node in history.nodes for k in node.kept]
    if any(not k.stale and not k.freed for k in kept):
        words.append("“keeps” lists the tensors saved for backward.")
    if any(k.stale for k in kept):
        words.append("✗ marks a saved tensor changed in place since: backward will refuse it.")
    if any(k.freed for k in kept):
        words.append("“freed” are saved tensors that backward has let go.")
    return " ".join(words)
