"""The stride explorer's buttons, pressed by the test, and its page where there are none."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest

from course.figures import not_drawn
from course.lessons.memory_layout import explore_strides
from course.lessons.memory_layout.stride_explorer import StridePanel
from course.widgets import widgets_alive
from tests.course.widgets.display import VIEW, shown_by


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def _text(page: str) -> str:
    parser = _Text()
    parser.feed(page)
    return " ".join(parser.parts)


def _panel(shape: tuple[int, ...] = (3, 4)) -> StridePanel:
    return explore_strides(shape).panel


def _at_front_end(monkeypatch: pytest.MonkeyPatch, kernel: object) -> None:
    shell = SimpleNamespace(kernel=kernel)
    monkeypatch.setattr("course.widgets.front_end.get_ipython", lambda: shell)


def _predict(panel: StridePanel, view: str, reshape: str) -> str:
    """What the panel says when both are predicted and run."""
    panel.view.value, panel.reshape.value = view, reshape
    panel.run.click()
    return _text(panel.result.value)


def test_the_panel_shows_facts_and_picture_from_the_start_and_no_outcome() -> None:
    panel = _panel()
    assert "a = torch.arange(12).view(3, 4)" in panel.facts.value
    assert "<img alt=" in panel.facts.value
    assert panel.result.value == ""


def test_nothing_runs_before_both_calls_are_predicted() -> None:
    panel = _panel()
    panel.run.click()
    assert "Predict first" in _text(panel.result.value)
    panel.view.value = "raise an error"
    panel.run.click()
    assert "view(-1)" not in _text(panel.result.value)


def test_a_right_and_a_wrong_prediction_are_told_apart_with_the_reason() -> None:
    panel = _panel()
    panel.own_step.value = ".t()"
    panel.apply.click()
    words = _predict(panel, "share the storage", "copy")
    assert "✗ You predicted “share the storage”, but b.view(-1) raised RuntimeError" in words
    assert "✓ You predicted “copy”: b.reshape(-1) returned a copy" in words
    assert "Why: no stride for shape (12,) reaches the elements" in words


def test_each_new_tensor_and_each_new_target_is_predicted_anew() -> None:
    panel = _panel()
    for change in (panel.apply.click, lambda: setattr(panel.target, "value", "2, 6")):
        assert "After running" in _predict(panel, "copy", "copy")
        change()
        assert (panel.view.value, panel.reshape.value) == ("predict …", "predict …")
        assert panel.result.value == ""


def test_enter_takes_the_step_that_was_typed() -> None:
    panel = _panel()
    panel.own_step.value = "[:, 1:3]"
    panel.own_step._handle_custom_msg({"event": "submit"}, [])
    assert (panel.state.chain, panel.own_step.value) == ("[:, 1:3]", "")


def test_no_two_controls_have_one_label() -> None:
    panel = _panel()
    labels = [control.description for row in _rows(panel) for control in row]
    assert len(set(labels)) == len(labels)


def _rows(panel: StridePanel) -> list[list[Any]]:
    return [list(child.children) for child in panel.box.children if hasattr(child, "children")]


def test_a_chosen_step_is_taken_with_apply() -> None:
    panel = _panel()
    panel.step.value = ".t()"
    panel.apply.click()
    assert panel.state.chain == ".t()"
    assert "(1, 4)" in _text(panel.facts.value)


def test_a_typed_step_goes_before_the_chosen_one_and_is_cleared() -> None:
    panel = _panel()
    panel.own_step.value = "[:, 1:3]"
    panel.apply.click()
    assert (panel.state.chain, panel.own_step.value) == ("[:, 1:3]", "")


def test_undo_and_reset_are_off_until_there_is_a_step() -> None:
    panel = _panel()
    assert (panel.undo.disabled, panel.reset.disabled) == (True, True)
    for _ in range(2):
        panel.apply.click()
    panel.undo.click()
    assert (len(panel.state.steps), panel.undo.disabled) == (1, False)
    panel.reset.click()
    assert (panel.state.steps, panel.undo.disabled) == ((), True)


def test_a_step_that_fails_changes_nothing_and_says_why() -> None:
    panel = _panel()
    panel.own_step.value = "[9]"
    panel.apply.click()
    assert "PyTorch says IndexError: index 9 is out of bounds" in _text(panel.message.value)
    assert panel.state.steps == ()
    panel.own_step.value = "[1]"
    panel.apply.click()
    assert (_text(panel.message.value), panel.state.chain) == ("", "[1]")


def test_another_shape_starts_again() -> None:
    panel = _panel()
    panel.apply.click()
    panel.shape.value = "(2, 3, 4)"
    assert (panel.state.shape, panel.state.steps) == ((2, 3, 4), ())
    assert ".permute(2, 0, 1)" in panel.step.options


def test_a_shape_can_be_typed() -> None:
    panel = _panel()
    panel.own_shape.value = "5, 2"
    assert panel.state.shape == (5, 2)
    panel.own_shape.value = "five"
    assert "'five' is not a shape" in _text(panel.message.value)
    assert panel.state.shape == (5, 2)


def test_the_shape_it_starts_with_is_among_the_choices() -> None:
    assert _panel((7, 2)).shape.value == "(7, 2)"


def test_a_target_that_does_not_fit_is_an_error_of_torch() -> None:
    panel = _panel()
    panel.target.value = "5"
    words = _predict(panel, "raise an error", "raise an error")
    assert words.count("shape '[5]' is invalid for input of size 12") == 3


def test_run_shows_what_torch_did_with_its_own_message() -> None:
    panel = _panel()
    panel.own_step.value = ".t()"
    panel.apply.click()
    words = _predict(panel, "raise an error", "copy")
    assert "b.view(-1) raised RuntimeError: view size is not compatible" in words
    assert "b.reshape(-1) returned a copy, in a storage of its own, with stride (1,)." in words
    assert "Storage of 12 boxes" in panel.result.value  # in the alt text of the picture of both


def test_a_result_is_cleared_when_the_tensor_changes() -> None:
    panel = _panel()
    assert "returned the same storage" in _predict(panel, "copy", "copy")
    panel.apply.click()
    assert panel.result.value == ""


def test_a_bad_target_is_a_sentence_on_every_way() -> None:
    panel = _panel()
    panel.target.value = "many"
    assert _text(panel.result.value).startswith("'many' is not a shape")
    assert _predict(panel, "copy", "copy").startswith("'many' is not a shape")
    panel.apply.click()
    assert _text(panel.result.value).startswith("'many' is not a shape")


def test_what_is_typed_never_becomes_markup() -> None:
    panel = _panel()
    panel.own_step.value = "<script>alert(1)</script>"
    panel.apply.click()
    assert "<script>" not in panel.message.value


def test_every_control_has_its_label_as_text() -> None:
    panel = _panel()
    chosen = (panel.shape, panel.step, panel.view, panel.reshape)
    for control in (*chosen, panel.own_shape, panel.own_step, panel.target):
        assert control.description.endswith(":")
    for button in (panel.apply, panel.undo, panel.reset, panel.run):
        assert button.description


def test_controls_are_read_and_reached_in_one_order() -> None:
    panel = _panel()
    assert [control for row in _rows(panel) for control in row] == [
        *(panel.shape, panel.own_shape, panel.step, panel.own_step, panel.apply),
        *(panel.undo, panel.reset, panel.target, panel.view, panel.reshape, panel.run),
    ]


def test_without_a_kernel_the_page_is_static_and_makes_no_widget() -> None:
    explorer = explore_strides()
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert explorer._panel is None


def test_the_static_page_shows_a_transpose_and_what_happens_to_it() -> None:
    words = _text(explore_strides()._repr_html_())
    assert "b = a.transpose(0, 1)" in words
    assert "Predict view(-1) and reshape(-1) of b, then unfold" in words
    assert "b.reshape(-1) returned a copy, in a storage of its own" in words
    assert "b.view(-1) raised RuntimeError" in words


def test_the_static_page_has_a_plain_text_twin() -> None:
    words = repr(explore_strides())
    assert "stride: (1, 4)" in words
    assert "b.view(-1) raised RuntimeError" in words
    assert "Storage of 12 boxes." in words


@pytest.mark.parametrize("shape", [(), (5,), (0, 3), (2, 2, 2)])
def test_every_shape_has_a_static_page(shape: tuple[int, ...]) -> None:
    assert "After running" in explore_strides(shape)._repr_html_()
    assert "is_contiguous" in repr(explore_strides(shape))


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_strides(), monkeypatch)
    assert "<figure" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_a_runner_that_refuses_input_gets_no_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    _at_front_end(monkeypatch, SimpleNamespace(_allow_stdin=False))
    assert not widgets_alive()
    with pytest.raises(NotImplementedError):  # IPython then takes the static page
        explore_strides()._ipython_display_()


def test_without_ipywidgets_there_is_no_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    _at_front_end(monkeypatch, SimpleNamespace(_allow_stdin=True))
    assert widgets_alive()
    monkeypatch.setattr("course.widgets.front_end.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(NotImplementedError):  # IPython then takes the static page
        explore_strides()._ipython_display_()


def test_while_grading_there_is_no_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    _at_front_end(monkeypatch, SimpleNamespace(_allow_stdin=True))
    with not_drawn():
        assert not widgets_alive()
        assert "<img" not in explore_strides()._repr_html_()
