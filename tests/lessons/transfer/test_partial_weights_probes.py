"""Probes of partial weights, features and names."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.transfer.partial_weights_probes import features_taken, fitted, renamed

BATCH = (torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]), torch.tensor([1, 2]))


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


def test_copies_are_told_from_the_tensors_themselves() -> None:
    assert renamed.here(lambda state, rules: dict(state), ["a", "b"], [])["same"] == [0, 1]
    cloned = renamed.here(lambda state, rules: {"x": state["b"].clone()}, ["a", "b"], [])
    assert cloned["same"] == "copies" and cloned["numbers"] == [1.0]


def test_tensors_may_be_equal_or_one() -> None:
    def same(state: dict[str, Any], rules: Any) -> dict[str, Any]:
        return dict(state)

    assert renamed.here(same, ["b", "a"], [], alike="tied")["same"] == [0, 0]
    equal = renamed.here(same, ["b", "a"], [], alike="equal")
    assert (equal["names"], equal["same"], equal["numbers"]) == (["a", "b"], [1, 0], [0, 0])


def test_the_class_of_an_error_is_told() -> None:
    def failing(state: dict[str, Any], rules: Any) -> dict[str, Any]:
        raise ValueError("taken: a")

    assert renamed.here(failing, ["a"], [])["error"] == "ValueError"


@pytest.mark.parametrize(
    ("modes", "asleep"),
    [("training", []), ("mixed", [1, 3, 5]), ("outer eval", [0]), ("eval", list(range(7)))],
)
def test_a_body_of_bodies_is_in_the_modes_that_are_asked_for(modes: str, asleep: list[int]) -> None:
    before, after = features_taken.here(_features, "nested", [BATCH], modes=modes)["modes"]
    assert before == after == [number not in asleep for number in range(7)]


def test_names_are_told_in_the_order_of_the_old_ones() -> None:
    def turned(state: dict[str, Any], rules: Any) -> dict[str, Any]:
        return {f"x.{name}": state[name] for name in reversed(state)}

    assert renamed.here(turned, ["a", "b"], [])["names"] == ["x.a", "x.b"]


def test_what_is_left_of_grad_mode_and_dtype_is_noted_and_put_back() -> None:
    def careless(body: nn.Module, batches: Any) -> Any:
        torch.set_grad_enabled(False)
        torch.set_default_dtype(torch.float64)
        return _features(body, batches)

    seen = features_taken.here(careless, "dropout", [BATCH])
    assert seen["around"] == [False, "torch.float64"]
    usual = features_taken.here(_features, "dropout", [BATCH])
    assert usual["around"] == [True, "torch.float32"]
