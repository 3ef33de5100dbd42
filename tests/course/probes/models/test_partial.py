"""Probes of heads, partial weights, features and names."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from course.probes.models.partial import features_taken, fitted, head_swapped, renamed

BATCH = (torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]), torch.tensor([1, 2]))


def _same(model: nn.Module, classes: int) -> nn.Module:
    return model


def _with_fc(model: nn.Module, classes: int) -> nn.Module:
    model.fc = nn.Linear(5, classes)
    return model


def test_only_what_is_new_counts_as_fresh() -> None:
    assert head_swapped.here(_same, "long classifier", 2)["fresh"] == []
    fresh = head_swapped.here(_with_fc, "fc", 2)["fresh"]
    assert [row[0] for row in fresh] == ["fc"]
    assert ["out_features", 2] in fresh[0][2]


def test_numbers_of_a_head_are_told_when_asked_for() -> None:
    assert head_swapped.here(_with_fc, "fc", 2)["drawn"] == []
    (weight, bias) = head_swapped.here(_with_fc, "fc", 2, drawn=True)["drawn"]
    assert weight[2:] == [10, 10] and bias[2] == 2


def _swapped(model: Any, classes: int, *, keep: bool = False, seed: bool = False) -> Any:
    """A new `fc`, perhaps with rows of the old one, or with the same numbers each time."""
    if seed:
        torch.manual_seed(3)
    new = nn.Linear(5, classes)
    if keep:
        new.weight.data[:] = model.fc.weight.data[:classes]
    model.fc = new.train(model.fc.training)
    return model


def test_numbers_that_are_not_drawn_anew_are_counted() -> None:
    def seen(**how: bool) -> list[int]:
        told = head_swapped.here(lambda *args: _swapped(*args, **how), "fc", 2, drawn=True)
        return [told["as before"], told["repeated"]]

    assert seen() == [0, 0]
    assert seen(keep=True) == [10, 10] and seen(seed=True) == [0, 12]


@pytest.mark.parametrize("training", [True, False])
def test_a_head_can_be_in_another_mode_than_its_model(training: bool) -> None:
    seen = head_swapped.here(_swapped, "fc", 2, training=training, contrary=True)
    assert seen["modes"][""] is training and seen["modes"]["fc"] is not training


def test_it_is_seen_when_batches_are_collected_first() -> None:
    def take(body: nn.Module, batches: Any, *, first: bool) -> Any:
        parts = [body(x) for x, _ in (list(batches) if first else batches)]
        return torch.cat(parts), torch.zeros(2)

    pairs = [(torch.ones(1, 3), torch.ones(1))] * 2
    for first, came in ((True, [0, 0]), (False, [0, 1])):
        seen = features_taken.here(
            lambda body, batches, first=first: take(body, batches, first=first),
            "identity",
            pairs,
            once=True,
        )
        assert seen["came"] == came


@pytest.mark.parametrize(("to", "place"), [("float64", "cpu torch.float64"), ("meta", "meta ")])
def test_a_model_is_moved_before(to: str, place: str) -> None:
    (found,) = head_swapped.here(_same, "fc", 2, to=to)["places"]
    assert found.startswith(place)


def test_an_error_of_a_swap_is_told_and_a_stub_is_not_caught() -> None:
    def failing(model: nn.Module, classes: int) -> nn.Module:
        raise ValueError

    def stub(model: nn.Module, classes: int) -> nn.Module:
        raise NotImplementedError

    assert head_swapped.here(failing, "headless", 2)["error"] == "ValueError"
    with pytest.raises(NotImplementedError):
        head_swapped.here(stub, "headless", 2)


def test_a_model_that_holds_the_files_tensors_changes_with_them() -> None:
    def assigning(model: nn.Module, state: dict[str, Any]) -> dict[str, list[str]]:
        model.load_state_dict(state, strict=False, assign=True)
        return {"loaded": list(state)}

    def copying(model: nn.Module, state: dict[str, Any]) -> dict[str, list[str]]:
        model.load_state_dict(state, strict=False)
        return {"loaded": list(state)}

    state = {"bias": torch.tensor([3.0, 4.0])}
    assert fitted.here(copying, "a layer", state)["apart"][0].tolist()[-2:] == [3, 4]
    assert fitted.here(assigning, "a layer", state)["apart"][0].tolist()[-2:] == [0, 0]
    assert fitted.here(assigning, "a layer", state)["same"] == [True, False]


def _features(body: nn.Module, batches: Any) -> tuple[torch.Tensor, torch.Tensor]:
    pairs = [(body(x), y) for x, y in batches]
    return torch.cat([x for x, _ in pairs]), torch.cat([y for _, y in pairs])


def test_graphs_modes_and_moving_buffers_are_seen() -> None:
    seen = features_taken.here(_features, "norm", [BATCH])
    assert seen["graph"] and seen["calls"] == [[2, True, [True] * 4]]
    assert any(seen["buffers"][0])
    mixed = features_taken.here(_features, "norm", [BATCH], modes="mixed")
    assert mixed["modes"] == [[True, False, True, False]] * 2


def test_a_head_cannot_learn_from_inference_tensors() -> None:
    careless = torch.inference_mode()(_features)
    assert features_taken.here(careless, "dropout", [BATCH])["learns"] == "RuntimeError"
    quiet = torch.no_grad()(_features)
    assert features_taken.here(quiet, "dropout", [BATCH])["learns"].numel() == 1


def test_a_body_fails_at_its_third_call() -> None:
    assert features_taken.here(_features, "fails", [BATCH] * 2)["error"] == ""
    assert features_taken.here(_features, "fails", [BATCH] * 3)["error"] == "IndexError"


def test_copies_are_told_from_the_tensors_themselves() -> None:
    assert renamed.here(lambda state, rules: dict(state), ["a", "b"], [])["same"] == [0, 1]
    cloned = renamed.here(lambda state, rules: {"x": state["b"].clone()}, ["a", "b"], [])
    assert cloned["same"] == "copies" and cloned["numbers"] == [1.0]


def test_the_text_of_an_error_is_told_when_asked_for() -> None:
    def failing(state: dict[str, Any], rules: Any) -> dict[str, Any]:
        raise ValueError("taken: a")

    assert renamed.here(failing, ["a"], [])["text"] == ""
    assert renamed.here(failing, ["a"], [], told=True)["text"] == "taken: a"
