"""The stride explorer without buttons: steps, forecasts, attempts."""

from __future__ import annotations

import random

import pytest
import torch

from course.inspection.facts import facts
from course.widgets.exploration import Exploration, attempt, forecast
from course.widgets.steps import StepError, parse_shape, parse_steps


def test_an_exploration_starts_with_a_new_contiguous_tensor() -> None:
    seen = Exploration((2, 3, 4)).facts()
    assert (seen.shape, seen.stride, seen.is_contiguous) == ((2, 3, 4), (12, 4, 1), True)


def test_steps_are_those_of_torch() -> None:
    state = Exploration((3, 4)).after(".t()").after("[:, ::2]").after(".unsqueeze(0)")
    expected = facts(torch.arange(12).view(3, 4).t()[:, ::2].unsqueeze(0))
    assert (state.facts().shape, state.facts().stride) == (expected.shape, expected.stride)


def test_the_code_says_how_to_get_the_tensor() -> None:
    state = Exploration((3, 4)).after(".t()[1:]")
    assert state.code == "a = torch.arange(12).view(3, 4)\nb = a.t()[1:]"
    names: dict[str, object] = {"torch": torch}
    exec(state.code, names)
    assert torch.equal(names["b"], state.tensor())  # type: ignore[arg-type]


def test_the_code_of_a_tensor_without_dimensions_runs() -> None:
    names: dict[str, object] = {"torch": torch}
    exec(Exploration(()).code, names)
    assert names["a"].shape == ()  # type: ignore[attr-defined]


def test_undo_takes_the_last_step_back_and_reset_all() -> None:
    state = Exploration((3, 4)).after(".t()").after("[1:]")
    assert state.undone() == Exploration((3, 4)).after(".t()")
    assert state.reset() == Exploration((3, 4))
    assert state.reset().undone() == Exploration((3, 4))


def test_an_exploration_is_never_changed_by_a_step() -> None:
    state = Exploration((3, 4))
    state.after(".t()")
    assert state == Exploration((3, 4))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (12,), (3, 4), (1, 5), (2, 3, 4), (2, 1, 3, 2)])
def test_every_suggested_step_can_be_taken(shape: tuple[int, ...]) -> None:
    state = Exploration(shape)
    assert len(state.suggestions()) >= 2
    for code in state.suggestions():
        assert state.after(code).steps[-1].code == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (".t()", ".t()"),
        ("t()", ".t()"),
        ("b.transpose( 0,1 )", ".transpose(0, 1)"),
        ("[1:, ::2]", "[1:, ::2]"),
        ("a[..., None]", "[..., None]"),
        ("[-1]", "[-1]"),
        (".permute(-1, 0)", ".permute(-1, 0)"),
    ],
)
def test_steps_are_read_as_they_are_typed(text: str, code: str) -> None:
    assert [step.code for step in parse_steps(text)] == [code]


@pytest.mark.parametrize(
    "text",
    ["", "t", ".view(3)", "__import__('os')", ".t().__class__", "[[0]]", "[True]", ".expand(10**9)",
     ".t(", "[lambda: 0]", ".narrow(0, start=1)", "a" * 10_000, "[" * 5000, ".t()\n.clone()"],
)  # fmt: skip
def test_what_is_not_a_step_is_refused_and_never_run(text: str) -> None:
    with pytest.raises(StepError, match=r"is not a step\. Type \[…\] and \.contiguous"):
        parse_steps(text)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("[9]", r"\[9\]: PyTorch says IndexError: index 9 is out of bounds"),
        ("[::-1]", "PyTorch says ValueError: step must be greater than zero"),
        (".transpose(0)", "PyTorch says TypeError"),
        (".expand(5, 4)", "PyTorch says RuntimeError: The expanded size of the tensor"),
        (".unsqueeze(0).expand(1000, 3, 4)", "stops at 10000 elements"),
    ],
)
def test_a_step_that_torch_refuses_says_why(code: str, words: str) -> None:
    with pytest.raises(StepError, match=words):
        Exploration((3, 4)).after(code)


@pytest.mark.parametrize("text", ["", "  ", "x", "3,,4", "three", "- 1", "1.5", "3;4", "9" * 50])
def test_what_is_not_a_shape_is_refused(text: str) -> None:
    with pytest.raises(StepError, match=r"for example 3, 4\."):
        parse_shape(text)


@pytest.mark.parametrize("shape", [(3, -1), ("3", "4"), (200, 200), (1,) * 7])
def test_an_exploration_needs_a_shape_that_can_be_looked_at(shape: tuple[int, ...]) -> None:
    with pytest.raises(StepError, match="shape"):
        Exploration(shape)


def test_a_forecast_says_what_torch_then_does() -> None:
    rng, seen = random.Random(0), set()
    for _ in range(400):
        state = Exploration(rng.choice([(3, 4), (2, 3, 4), (1, 5), (3, 0), (12,), ()]))
        for _ in range(rng.randint(0, 3)):
            state = state.after(rng.choice(state.suggestions()))
        target = tuple(rng.choice((-1, 0, 1, 2, 3, 4, 6)) for _ in range(rng.randint(0, 3)))
        said, tensor = forecast(state.facts(), target), state.tensor()
        done = tuple(attempt(tensor, method, target).outcome for method in ("view", "reshape"))
        assert (said.view, said.reshape) == done, (state.code, target)
        seen.add(done)
    assert seen == {("view", "view"), ("error", "copy"), ("error", "error")}


def test_a_forecast_gives_the_reason_in_numbers() -> None:
    seen = facts(torch.arange(12).view(3, 4).t())
    assert forecast(seen, (-1,)).reason == (
        "no stride for shape (12,) reaches the elements of shape (4, 3), stride (1, 4) in their "
        "order. A copy has 96 bytes and stride (1,)."
    )
    assert forecast(seen, (2, 2, 3)).reason == (
        "stride (2, 1, 4) reaches the elements in the same order, in the same storage."
    )


def test_an_attempt_keeps_torchs_own_message() -> None:
    done = attempt(torch.arange(6).view(2, 3).t(), "view", (6,))
    assert done.outcome == "error"
    assert done.message.startswith("RuntimeError: view size is not compatible with input tensor's")


def test_an_attempt_tells_a_view_from_a_copy() -> None:
    tensor = torch.arange(6).view(2, 3)
    assert attempt(tensor, "reshape", (6,)).outcome == "view"
    assert attempt(tensor.t(), "reshape", (6,)).outcome == "copy"
