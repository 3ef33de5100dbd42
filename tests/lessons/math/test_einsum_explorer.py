"""The einsum explorer: it asks for the shape before it shows the result, and its words are so."""

from __future__ import annotations

import doctest

import pytest
import torch

from course.lessons.math import einsum_explorer as explorer
from course.lessons.math import explore_einsum
from course.lessons.math.einsum_equation import EquationError
from course.lessons.math.einsum_explorer import EinsumPanel, sizes_in
from tests.course.widgets.display import VIEW, shown_by


def panel(equation: str = "ij,jk->ik", *operands: torch.Tensor) -> EinsumPanel:
    """The widgets over this equation."""
    return explore_einsum(equation, *operands).panel


def test_the_result_is_hidden_until_its_shape_is_said() -> None:
    shown = panel()
    assert "which shape" in shown.message.value.lower()
    assert "The result is not shown yet." in shown.page.value
    assert "torch.zeros(?)" in shown.page.value
    assert "2, 4" not in shown.page.value
    assert shown.walk.children == ()


def test_the_right_shape_opens_the_result_with_its_first_element() -> None:
    shown = panel()
    shown.guess.value = "(2, 4)"
    assert "✓ Right: the letters on the right are i = 2, k = 4." in shown.message.value
    assert "out[0, 0] = 1 · 1 + 2 · 5 + 3 · 9 = 38" in shown.page.value
    assert "torch.zeros(2, 4)" in shown.page.value
    assert (shown.walk.children, shown.element.max) == ((shown.element,), 8)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("2, 3", "✗ Not (2, 3). Look up the size"),
        ("2, 3, 4", "✗ Not (2, 3, 4): it has one dimension for each letter"),
        ("two", "is not a shape"),
    ],
)
def test_a_wrong_shape_gets_a_hint_and_shows_nothing(said: str, words: str) -> None:
    shown = panel()
    shown.guess.value = said
    assert words in shown.message.value
    assert "The result is not shown yet." in shown.page.value


def test_the_button_shows_the_result_without_a_guess() -> None:
    shown = panel("ii->")
    shown.reveal.click()
    assert "The result has shape ()." in shown.message.value
    assert "out = 1 + 4 = 5" in shown.page.value


def test_the_slider_walks_through_the_result() -> None:
    shown = panel()
    shown.reveal.click()
    shown.element.value = 8
    assert "out[1, 3] = 4 · 4 + 5 · 8 + 6 · 12 = 128" in shown.page.value


def test_the_loops_stand_above_the_picture() -> None:
    page = panel("ij->j").page.value
    assert "for j in range(3):\n    for i in range(2):  # summed: i is not on the right" in page


def test_another_equation_asks_again() -> None:
    shown = panel()
    shown.reveal.click()
    shown.equation.value = "ij->ji"
    assert (shown.guess.value, shown.walk.children) == ("", ())
    assert "The result is not shown yet." in shown.page.value
    assert shown.sizes.value == "i=2, j=3"


def test_sizes_that_are_typed_make_other_operands() -> None:
    shown = panel()
    shown.sizes.value = "i=1, j=5, k=2"
    shown.guess.value = "1, 2"
    assert "✓ Right" in shown.message.value
    assert "A has shape (1, 5), B has shape (5, 2)" in shown.page.value


def test_an_example_replaces_the_equation_and_the_cells_own_comes_back() -> None:
    own = torch.tensor([[5, 7]])
    shown = panel("ij->ij", own)
    shown.example.value = "trace"
    assert (shown.equation.value, shown.sizes.value) == ("ii->", "i=2")
    shown.example.value = "the one in the cell"
    shown.reveal.click()
    assert "out[0, 0] = 5." in shown.page.value


@pytest.mark.parametrize("name", explorer._EXAMPLES)
def test_every_example_can_be_shown(name: str) -> None:
    shown = panel()
    shown.example.value = name
    shown.reveal.click()
    assert "<figure" in shown.page.value
    assert shown.element.max >= 1


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("equation", "ij->k", "k stands on the right only"),
        ("sizes", "i=x", "is not a size. Write i=2, j=3, say."),
        ("sizes", "i=0", "i has size 0; sizes from 1 to 12 are drawn."),
    ],
)
def test_what_cannot_be_read_is_explained_and_shows_nothing(
    field: str, text: str, words: str
) -> None:
    shown = panel()
    getattr(shown, field).value = text
    shown.reveal.click()
    shown.guess.value = "2"
    assert words in shown.message.value
    assert shown.page.value == ""


def test_what_is_mended_afterwards_is_shown_again() -> None:
    shown = panel()
    shown.equation.value = "ij->k"
    shown.equation.value = "ij->i"
    shown.reveal.click()
    assert "out[0] = 1 + 2 + 3 = 6" in shown.page.value


def test_sizes_of_letters_that_are_gone_are_passed_over() -> None:
    assert sizes_in("i=2, z=9,", "ij") == {"i": 2}
    with pytest.raises(EquationError, match="'2' is not a size"):
        sizes_in("2", "i")


def test_every_control_has_its_label_as_text() -> None:
    shown = panel()
    controls = (shown.example, shown.equation, shown.sizes, shown.guess, shown.element)
    labels = [one.description for one in (*controls, shown.reveal)]
    assert all(labels)
    assert len(set(labels)) == len(labels)


def test_without_a_front_end_the_equation_is_a_picture() -> None:
    explorer = explore_einsum("ij->j")
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert "out[0] = 1 + 4 = 5" in repr(explorer)
    assert "<figure" in explorer._repr_html_()


def test_at_a_front_end_it_leaves_its_last_state(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explore_einsum("ij->j")
    shown = shown_by(explorer, monkeypatch)
    explorer.panel.reveal.click()
    assert any(VIEW in one for one in shown)
    assert "out[0] = 1 + 4 = 5" in shown[-1]["text/html"]


def test_an_equation_that_cannot_be_read_is_refused_at_once() -> None:
    with pytest.raises(EquationError, match="not an equation"):
        explore_einsum("i->j->k")


def test_the_example_in_the_docstring_shows_what_it_returns() -> None:
    seen = doctest.testmod(explorer)
    assert (seen.failed, seen.attempted) == (0, 1)
