"""The module explorer: it asks before it trains, and what it says of the step is so."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

from course.figures import not_drawn
from course.lessons.modules import explore_modules
from course.lessons.modules.module_explorer import (
    EXAMPLES,
    ModelError,
    ModulePanel,
    built,
    inputs_of_examples,
    trained,
)
from tests.course.widgets.display import VIEW, shown_by


def panel(name: str = "layers in a plain list") -> ModulePanel:
    """The widgets over one of the small models."""
    shown = explore_modules().panel
    shown.example.value = name
    return shown


def answer(shown: ModulePanel, *ticked: str) -> str:
    """Train with these boxes ticked; what is said of it."""
    for box in shown.boxes:
        box.value = box.description in ticked
    shown.train.click()
    return str(shown.message.value)


def paths(shown: ModulePanel) -> list[str]:
    """What can be ticked."""
    return [box.description for box in shown.boxes]


def test_nothing_is_shown_before_the_step() -> None:
    shown = panel()
    assert shown.picture.value == ""
    assert "self.layers = [nn.Linear(3, 3), nn.Linear(3, 3)]" in shown.code.value
    assert paths(shown)[0] == "last.weight"
    assert "layers[0].weight" in paths(shown)
    assert not any(box.value for box in shown.boxes)


def test_the_question_names_the_model_and_counts_what_may_learn() -> None:
    shown = panel("tied weights")
    assert "Model: tied weights: which of these 3 tensors will one step" in shown.question.value
    shown.example.value = "frozen"
    assert "Model: frozen: which of these 4 tensors" in shown.question.value


def test_layers_in_a_plain_list_have_gradients_and_are_not_moved() -> None:
    shown = panel()
    said = answer(shown, "last.weight", "last.bias", "layers[0].weight")
    assert "✗ Not quite. The step moved last.bias and last.weight." in said
    assert "layers[0].weight has a gradient, but parameters() doesn&#x27;t yield it." in said
    assert "layers[1].weight of shape (3, 3): gradient of norm" in shown.picture.value


@pytest.mark.parametrize(
    ("name", "still"),
    [
        ("layers in a ModuleList", set()),
        ("a layer that forward never calls", {"last.weight", "last.bias"}),
        ("a typo: required_grad", set()),
        ("frozen", {"first.weight", "first.bias"}),
        ("cut by detach", {"first.weight", "first.bias"}),
        ("tied weights", set()),
        ("a tensor that is no Parameter", {"scale"}),
    ],
)
def test_each_example_moves_what_its_name_leads_to(name: str, still: set[str]) -> None:
    shown = panel(name)
    assert "✓ Right." in answer(shown, *(path for path in paths(shown) if path not in still))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a layer that forward never calls", "No gradient reached last.weight."),
        ("frozen", "first.weight is frozen."),
        ("a tensor that is no Parameter", "scale has a gradient, but parameters()"),
    ],
)
def test_a_wrong_tick_is_told_why(name: str, words: str) -> None:
    shown = panel(name)
    assert words in answer(shown, *paths(shown))


def test_a_forgotten_tick_is_told_why() -> None:
    assert "last.bias has a gradient and is in parameters()." in answer(panel(), "last.weight")


def test_what_was_rightly_left_alone_is_explained_beside_a_wrong_guess() -> None:
    said = answer(panel("cut by detach"), "last.weight")
    assert "last.bias has a gradient and is in parameters()." in said
    assert "No gradient reached first.weight." in said


def test_the_same_model_is_trained_again_after_start_again() -> None:
    shown = panel()
    answer(shown)
    first = shown.picture.value
    shown.again.click()
    assert (shown.picture.value, any(box.value for box in shown.boxes)) == ("", False)
    answer(shown)
    assert shown.picture.value == first


def test_changed_code_is_taken_and_a_slip_is_a_sentence() -> None:
    shown = panel()
    shown.code.value = "model = nn.Linear(3, 1)"
    assert paths(shown) == ["weight", "bias"]
    shown.code.value = "model = nn.Linear(3"
    assert "The code raised SyntaxError" in shown.message.value
    assert (paths(shown), shown.train.disabled) == ([], True)
    shown.code.value = "x = 1"
    assert "The code makes no model." in shown.message.value


def test_an_error_in_forward_is_told_in_torchs_words() -> None:
    shown = panel()
    shown.code.value = "model = nn.Linear(2, 1)"
    said = answer(shown)  # since 2.15 torch names the operator first
    assert re.search("Training raised RuntimeError: (addmm: )?mat1 and mat2 shapes", said)
    shown.code.value = "model = nn.Linear(3, 1).requires_grad_(False)"
    assert "Training raised RuntimeError: element 0 of tensors does not" in answer(shown)


def test_your_own_model_comes_first_and_is_left_alone() -> None:
    model, x = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), torch.rand(4, 2)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    state = torch.get_rng_state()
    shown = explore_modules(model, x).panel
    assert (shown.example.value, shown.code.disabled) == ("the one in the cell", True)
    assert "✗ Not quite. The step moved 0.bias" in answer(shown) or "✓" in shown.message.value
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert all(p.grad is None for p in model.parameters())
    assert torch.equal(torch.get_rng_state(), state)


def test_a_gradient_left_from_before_moves_nothing() -> None:
    layer = nn.Linear(3, 1)
    layer.bias.grad = torch.ones(1)
    layer.bias.requires_grad_(False)
    assert trained(layer, inputs_of_examples()).moved == {"weight": True, "bias": False}


def test_a_large_model_asks_for_its_first_parameters_alone() -> None:
    model = nn.Sequential(*[nn.Linear(2, 2) for _ in range(10)])
    shown = explore_modules(model, torch.full((1, 2), 100.0)).panel
    assert len(shown.boxes) == 16
    assert "✓ Right." in answer(shown, *paths(shown))


def test_a_gradient_of_zero_and_one_that_rounding_swallows_are_told_apart() -> None:
    shown = explore_modules(nn.Linear(1, 1), torch.zeros(1, 1)).panel
    assert "The gradient of weight is 0." in answer(shown, "weight", "bias")
    tiny = explore_modules(nn.Linear(1, 1), torch.full((1, 1), 1e-30)).panel
    assert "The gradient of weight is too small" in answer(tiny, "weight", "bias")


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(TypeError, match="trains a module, not Tensor"):
        explore_modules(torch.ones(2))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"end it with|End it with"):
        built("x = 1")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_a_program_of_its_own(name: str) -> None:
    assert trained(built(EXAMPLES[name]), inputs_of_examples()).rows


def test_what_is_typed_never_becomes_markup() -> None:
    shown = panel()
    shown.code.value = "raise ValueError('<script>alert(1)</script>')"
    assert "<script>" not in shown.question.value + shown.message.value + shown.picture.value


def test_without_a_kernel_it_is_a_figure_after_the_step() -> None:
    explorer = explore_modules()
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    assert "not in parameters(), not moved by the step" in explorer._repr_html_()
    assert "mat1 and mat2" in explore_modules(nn.Linear(2, 1), torch.ones(3))._repr_html_()


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_modules(), monkeypatch)
    assert "Run this cell again" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in explore_modules()._repr_html_()
