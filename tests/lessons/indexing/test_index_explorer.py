"""The index explorer: it asks before it shows, and what it says of a prediction is so."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
import torch

from course.figures import not_drawn
from course.lessons.indexing import explore_index
from course.lessons.indexing.index_explorer import IndexPanel, judged, writes
from course.lessons.indexing.index_expressions import parse_expression
from course.lessons.indexing.selection_figure import pictured, select
from tests.course.figures.drawn import collisions, scene_of
from tests.course.widgets.display import VIEW, shown_by

X = torch.arange(12).view(3, 4)


def words(page: str) -> str:
    """The text of a page."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def run(panel: IndexPanel, code: str, guess: str, shape: str = "") -> str:
    """Type an expression, predict, run it; what is said."""
    panel.own.value, panel.guess.value, panel.size.value = code, guess, shape
    panel.run.click()
    return words(panel.result.value)


def test_nothing_is_shown_before_a_prediction() -> None:
    panel = explore_index().panel
    panel.run.click()
    asked = "Predict first: is x[0] a view, a copy or an error?"
    assert words(panel.result.value) == f"{asked} Nothing is selected yet."
    assert 'alt="x of shape (3, 4), on slots 0 to 11."' in panel.result.value


@pytest.mark.parametrize(
    ("code", "kind"), [("x[1:]", "a view"), ("x[[1]]", "a copy"), ("x[7]", "an error")]
)
def test_a_prediction_is_judged_by_what_torch_does(code: str, kind: str) -> None:
    panel = explore_index().panel
    assert f"✓ Right: {kind}." in run(panel, code, kind)
    other = "a copy" if kind != "a copy" else "a view"
    assert f"✗ You predicted {other}; it is {kind}." in run(panel, code, other)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("x[1:]", "A start and strides can describe these elements"),
        ("x[:, [0]]", "x[:, [0]] picks by a list or a mask"),
        ("x[x > 5]", "x[x > 5] picks by a list or a mask"),
        ("x[[0]][0]", "x[[0]] picks by a list or a mask"),
        ("x[1:].flip(0)[0]", "x[1:].flip(0): that takes a stride below 0"),
        ("x.mT.reshape(-1)", "x.mT.reshape(-1): no start and strides give"),
        ("x.t().contiguous()", "x.t().contiguous(): no start and strides give"),
        ("x.repeat(2, 1)", "x.repeat(2, 1): it writes each element out"),
    ],
)
def test_a_wrong_prediction_is_told_why(code: str, why: str) -> None:
    panel = explore_index().panel
    assert html.escape(why) in run(panel, code, "an error")
    kind = "a view" if "start and strides can" in why else "a copy"
    assert html.escape(why) not in run(panel, code, kind)


def test_a_shape_may_be_predicted_too() -> None:
    panel = explore_index().panel
    assert "✓ The shape is (3, 1)." in run(panel, "x[:, [0]]", "a copy", "3, 1")
    assert "✗ The shape is (3,), not (3, 1)." in run(panel, "x[:, 0]", "a view", "3, 1")
    assert "The shape" not in run(panel, "x[:, 0]", "a view")


def test_an_error_is_told_in_torchs_words_whatever_shape_was_said() -> None:
    found = select(X, parse_expression("x[::-1]"))
    said = judged("an error", (3, 4), found)
    assert said[0] == "✓ Right: an error."
    assert "step must be greater than zero" in said[1]
    assert len(said) == 2


def test_it_tells_what_an_assignment_would_write() -> None:
    asked = {code: writes(X, parse_expression(code)) for code in ("x[x > 5]", "x[[0, 2]][0]")}
    assert asked["x[x > 5]"] == "x[x > 5] = -1 would write into slots 6 to 11 of x."
    assert asked["x[[0, 2]][0]"] == "x[[0, 2]][0] = -1 would write into no slot of x."
    assert writes(X, parse_expression("x.t()")) == writes(X, parse_expression("x[9]")) == ""


def test_another_expression_or_shape_asks_anew() -> None:
    panel = explore_index().panel
    assert run(panel, "x[0]", "a view", "4")
    panel.own.value = "x[1]"
    assert (panel.guess.value, panel.size.value) == ("predict …", "")
    assert words(panel.result.value) == "Nothing is selected yet."
    assert run(panel, "x[0]", "a view")
    panel.shape.value = "(2, 3, 4)"
    assert words(panel.result.value) == "Nothing is selected yet."
    assert words(panel.code.value) == "x = torch.arange(24).view(2, 3, 4)"
    assert 'alt="x of shape (2, 3, 4), on slots 0 to 23."' in panel.result.value


def test_enter_in_a_field_runs_it() -> None:
    panel = explore_index().panel
    panel.own.value, panel.guess.value = "x[0]", "a view"
    panel.own._handle_custom_msg({"event": "submit"}, [])
    assert "✓ Right: a view." in words(panel.result.value)


@pytest.mark.parametrize("shape", [(3, 4), (12,), (2, 3, 4), (4, 1), (1, 5), (6, 6), ()])
def test_every_offered_expression_can_be_read_and_drawn(shape: tuple[int, ...]) -> None:
    panel = explore_index(shape).panel
    found = [select(panel.tensor, parse_expression(code)) for code in panel.expression.options]
    assert {one.kind for one in found} == {"view", "copy", "error"}
    for one in found:
        assert collisions(scene_of(pictured(panel.tensor, [one], "x"))) == [], one.code


def test_what_is_typed_never_becomes_markup() -> None:
    panel = explore_index().panel
    assert "is not read here" in run(panel, "<script>alert(1)</script>", "a view")
    assert "<script>" not in panel.result.value


def test_controls_have_labels_and_are_reached_in_the_order_of_reading() -> None:
    panel = explore_index().panel
    rows = [child for child in panel.box.children if hasattr(child, "children")]
    controls: list[Any] = [control for row in rows for control in row.children]
    first = [panel.shape, panel.expression, panel.own]
    assert controls == [*first, panel.guess, panel.size, panel.run]
    labels = [control.description for control in controls]
    assert all(labels)
    assert len(set(labels)) == len(labels)


def test_a_shape_that_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 48 elements"):
        explore_index((7, 7))


def test_without_a_kernel_the_page_asks_and_answers() -> None:
    explorer = explore_index()
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    page = words(explorer._repr_html_())
    assert "Predict x[:, 0], x[[0]] and x[x &gt; 5], then unfold" in page
    assert "x[:, 0] is a view of shape (3,), on slots 0, 4 and 8." in repr(explorer)


@pytest.mark.parametrize("shape", [(), (5,), (2, 2, 2)])
def test_every_shape_has_a_static_page(shape: tuple[int, ...]) -> None:
    assert "then unfold" in explore_index(shape)._repr_html_()


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_index(), monkeypatch)
    assert "Run this cell again" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_while_grading_there_is_no_picture() -> None:
    with not_drawn():
        assert "<img" not in explore_index()._repr_html_()
