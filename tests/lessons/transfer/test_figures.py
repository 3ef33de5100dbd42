"""What a training moved, and what a file has for a model, drawn."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from course.figures import not_drawn
from course.figures.palette import fill
from course.figures.scene import Arrow, Box
from course.lessons.transfer import show_drift, show_loading
from course.lessons.transfer.drift_figure import entries_of
from course.lessons.transfer.loading_figure import matches_of
from tests.course.figures.drawn import collisions, scene_of, texts_of


def trained(frozen: bool = True) -> tuple[nn.Module, nn.Module]:
    """A model with a batch norm before and after one step, its first layer and norm frozen."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    before = copy.deepcopy(model)
    model[:2].requires_grad_(not frozen)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.randn(8, 2) + 3).square().mean().backward()
    optimizer.step()
    return before, model


# --- drift --------------------------------------------------------------------------------------


def test_a_frozen_parameter_stays_and_a_statistic_creeps() -> None:
    entries = {entry.name: entry for entry in entries_of(*trained())}
    weight, mean, head = (entries[name] for name in ("0.weight", "1.running_mean", "2.weight"))
    assert (weight.gradient, weight.drift, weight.requires_grad) == (None, 0.0, False)
    assert mean.buffer
    assert mean.crept
    assert head.gradient is not None
    assert head.drift == pytest.approx(0.1 * head.gradient)
    assert not head.crept


def test_counters_are_left_out_and_parameters_come_before_buffers() -> None:
    names = [entry.name for entry in entries_of(*trained())]
    assert "1.num_batches_tracked" not in names
    assert names[2:6] == ["1.weight", "1.bias", "1.running_mean", "1.running_var"]


def test_the_drift_is_told_in_words() -> None:
    alt = show_drift(*trained()).alt
    assert "0.weight: parameter, frozen, no gradient, stayed." in alt
    assert "1.running_mean: buffer, moved by" in alt
    assert "2.weight: parameter, gradient" in alt


def test_what_crept_is_drawn_in_the_colour_of_a_fault() -> None:
    scene = scene_of(show_drift(*trained()))
    red = [item for item in scene.items if isinstance(item, Box) and item.fills == (fill(5),)]
    assert len(red) == 2
    scene = scene_of(show_drift(nn.Linear(2, 1), nn.Linear(2, 1)))
    assert any(isinstance(item, Box) and item.fills == (fill(5),) for item in scene.items)


@pytest.mark.parametrize("frozen", [True, False])
def test_no_text_of_the_drift_lies_over_another(frozen: bool) -> None:
    scene = scene_of(show_drift(*trained(frozen)))
    assert collisions(scene) == []
    assert scene.right <= scene.width


def test_a_model_that_did_not_move_has_no_bars() -> None:
    model = nn.Linear(2, 1)
    picture = show_drift(copy.deepcopy(model), model)
    assert picture.alt.count("stayed") == 2
    assert texts_of(picture).count("0") == 2


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (nn.Linear(2, 1), nn.Linear(3, 1), "other names or shapes"),
        (nn.Linear(2, 1), nn.Linear(2, 1, bias=False), "other names or shapes"),
        (nn.ReLU(), nn.ReLU(), "1 to 24 entries"),
    ],
)
def test_models_that_cannot_be_compared_are_refused(
    before: nn.Module, after: nn.Module, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        show_drift(before, after)


# --- loading ------------------------------------------------------------------------------------


def odd_file() -> dict[str, torch.Tensor]:
    """A file for a `Linear(2, 1)` with a head of another size and a name of its own."""
    return {"weight": torch.zeros(1, 2), "bias": torch.zeros(3), "scale": torch.zeros(())}


def test_each_name_gets_its_verdict() -> None:
    found = {match.name: match.verdict for match in matches_of(nn.Linear(2, 1), odd_file())}
    assert found == {"weight": "loaded", "bias": "mismatched", "scale": "unexpected"}
    missing = matches_of(nn.Linear(2, 1), {})
    assert [match.verdict for match in missing] == ["missing", "missing"]


def test_verdicts_are_those_of_load_state_dict() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    file = {"0.weight": torch.ones(2, 2), "1.bias": torch.ones(2), "x": torch.ones(1)}
    report = model.load_state_dict(file, strict=False)
    found = matches_of(model, file)
    unexpected = [match.name for match in found if match.verdict == "unexpected"]
    missing = [match.name for match in found if match.verdict == "missing"]
    assert unexpected == report.unexpected_keys
    assert missing == [*report.missing_keys, "1.num_batches_tracked"]  # torch forgives this one


@pytest.mark.parametrize(("shape", "verdict"), [((1,), "loaded"), ((2,), "mismatched")])
def test_a_number_takes_a_vector_of_one_element_as_in_torch(
    shape: tuple[int, ...], verdict: str
) -> None:
    model = nn.ParameterDict({"scale": nn.Parameter(torch.zeros(()))})
    file = {"scale": torch.ones(shape)}
    assert matches_of(model, file)[0].verdict == verdict
    if verdict == "loaded":
        model.load_state_dict(file)
        assert model["scale"].item() == 1
    else:
        with pytest.raises(RuntimeError, match="size mismatch"):
            model.load_state_dict(file)


def test_arrows_join_what_is_loaded_and_nothing_else() -> None:
    scene = scene_of(show_loading(nn.Linear(2, 1), odd_file()))
    assert len([item for item in scene.items if isinstance(item, Arrow)]) == 1
    dashed = [item for item in scene.items if isinstance(item, Box) and item.dashed]
    assert [box.text for box in dashed] == ["–"]
    assert "mismatched: raises" in scene.texts()
    assert collisions(scene) == []
    assert scene.right <= scene.width


def test_the_loading_is_told_in_words_and_the_model_stays() -> None:
    model = nn.Linear(2, 1)
    before = model.weight.clone()
    alt = show_loading(model, odd_file()).alt
    assert "bias: mismatched, 3 in the file and 1 in the model." in alt
    assert "scale: unexpected." in alt
    assert torch.equal(before, model.weight)


def test_long_names_are_cut_from_the_left() -> None:
    file = {"a.very.long.prefix.of.a.name.weight": torch.ones(1)}
    scene = scene_of(show_loading(nn.ReLU(), file))
    assert any(text.startswith("…") for text in scene.texts())
    assert collisions(scene) == []


@pytest.mark.parametrize("count", [0, 25])
def test_nothing_and_too_much_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match="1 to 24 names"):
        show_loading(nn.ReLU(), {str(n): torch.ones(1) for n in range(count)})


def test_while_grading_neither_is_drawn() -> None:
    with not_drawn():
        pictures = [show_drift(nn.ReLU(), nn.Linear(1, 1)), show_loading(nn.ReLU(), {})]
    assert all("not drawn" in picture.alt for picture in pictures)
