"""The graph explorer's field and buttons, used by the test, and its page where there are none."""

from __future__ import annotations

import pytest
import torch

from course.figures import not_drawn
from course.lessons.autograd.graph_explorer import _EXAMPLES, GraphPanel, explore_graph
from tests.course.widgets.display import VIEW, shown_by


def _panel(text: str = "(w * x + b).sum()") -> GraphPanel:
    return explore_graph(text, {}).panel


def test_the_panel_draws_the_first_expression_at_once() -> None:
    panel = _panel()
    assert "AddBackward0 leads to MulBackward0 and the leaf b" in panel.picture.value
    assert panel.code.value == "(w * x + b).sum()"


def test_a_typed_program_is_drawn_when_asked() -> None:
    panel = _panel()
    panel.code.value = "h = w.exp()\nh.mean()"
    assert "ExpBackward0" not in panel.picture.value
    panel.draw.click()
    assert "ExpBackward0 (which made h)" in panel.picture.value


@pytest.mark.parametrize("name", _EXAMPLES)
def test_every_example_draws(name: str) -> None:
    panel = _panel()
    panel.example.value = name
    assert panel.code.value == _EXAMPLES[name]
    assert "<figure" in panel.picture.value


def test_backward_shows_the_gradients_and_what_was_freed() -> None:
    panel = _panel("(w * w).sum()")
    panel.backward.click()
    assert "w.grad = [2.0, 4.0]" in panel.message.value
    assert "backward has freed" in panel.picture.value


def test_backward_of_a_stale_graph_shows_pytorchs_words_and_the_mark() -> None:
    panel = _panel(_EXAMPLES["a saved result, changed in place"])
    panel.backward.click()
    assert "modified by an inplace operation" in panel.message.value
    assert "is stale: saved at version 0, now at 1" in panel.picture.value


def test_each_run_begins_with_fresh_copies() -> None:
    panel = _panel("(w * w).sum()")
    for _ in range(2):
        panel.backward.click()
    assert "w.grad = [2.0, 4.0]" in panel.message.value


def test_an_error_is_a_sentence_and_the_next_run_clears_it() -> None:
    panel = _panel()
    panel.code.value = "w @ b @ x"
    panel.draw.click()
    assert "Line 1: PyTorch says RuntimeError" in panel.message.value
    assert panel.picture.value == ""
    panel.code.value = "w @ b"
    panel.draw.click()
    assert "PyTorch says" not in panel.message.value


def test_a_first_expression_with_an_error_still_gives_a_panel_and_a_page() -> None:
    explorer = explore_graph("nothing + 1", {})
    assert "no tensor is called" in explorer.panel.message.value
    assert "no tensor is called" in explorer._repr_html_()
    assert "no tensor is called &#x27;nothing&#x27;" in explorer._repr_html_()
    assert "no tensor is called 'nothing'" in repr(explorer)


def test_the_readers_tensors_are_used_and_left_alone() -> None:
    own = torch.tensor([5.0], requires_grad=True)
    panel = explore_graph("(own * own).sum()", {"own": own}).panel
    panel.backward.click()
    assert "own.grad = [10.0]" in panel.message.value
    assert own.grad is None


def test_a_notebooks_tensors_are_found_without_being_handed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {"mine": torch.ones(3, requires_grad=True), "w": "not a tensor"}
    monkeypatch.setattr("course.lessons.autograd.graph_explorer.notebook_names", lambda: found)
    assert "the leaf mine" in repr(explore_graph("mine.exp()"))
    assert "the leaf w" in repr(explore_graph("w.exp()"))


def test_what_is_typed_never_becomes_markup() -> None:
    panel = _panel()
    panel.code.value = "<script>alert(1)</script>"
    panel.draw.click()
    assert "<script>" not in panel.message.value + explore_graph("<script>", {})._repr_html_()


def test_every_control_has_its_label_as_text() -> None:
    panel = _panel()
    assert all(control.description.endswith(":") for control in (panel.example, panel.code))
    assert panel.draw.description and panel.backward.description


def test_controls_are_read_and_reached_in_one_order() -> None:
    panel = _panel()
    rows = [child for child in panel.box.children if hasattr(child, "children")]
    order = [control for row in rows for control in row.children]
    assert order == [panel.example, panel.code, panel.draw, panel.backward]


def test_without_a_kernel_the_page_is_static_and_makes_no_widget() -> None:
    explorer = explore_graph("w * x", {})
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    assert "<figure" in explorer._repr_html_()


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_graph("w * x", {}), monkeypatch)
    assert "<figure" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in explore_graph("w * x", {})._repr_html_()
