"""Lesson 06: it teaches what it promises, and its rules are PyTorch's."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from course import gpu
from tests.lessons.source import Source

SOURCE = Source("06-in-place")


def leaf(*values: float) -> torch.Tensor:
    """A leaf in double precision that requires grad."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def text_of(cell: dict[str, Any]) -> str:
    """The source of a cell."""
    return str(cell["source"])


def test_the_lesson_ends_with_a_hard_exercise() -> None:
    assert SOURCE.exercises[-1].difficulty == 3


# --- the scene ----------------------------------------------------------------------------------


def test_the_scene_loads_a_worse_model_than_it_kept(capsys: pytest.CaptureFixture[str]) -> None:
    exec(SOURCE.cells()["scene"]["source"], {})
    assert capsys.readouterr().out == "kept at 0.02, loaded at 1.14\n"
    told = SOURCE.cells()["scene-symptom"]["source"]
    assert "0.02" in told
    assert "1.14" in told


@pytest.mark.parametrize(
    "keep", [copy.deepcopy, lambda state: {name: t.clone() for name, t in state.items()}]
)
def test_the_ending_mends_the_scene(keep: Callable[[Any], Any]) -> None:
    kept_and_loaded = SOURCE.solved("scene-again")["kept_and_loaded"]
    lowest, loaded = kept_and_loaded(keep)
    assert lowest == loaded
    assert kept_and_loaded(dict) == (lowest, pytest.approx(1.14, abs=0.01))


def test_the_mended_scene_is_told_that_it_is_right() -> None:
    names = SOURCE.solved("scene-again")
    source = SOURCE.cells()["mend-the-scene"]["source"]
    for keep, state in (("dict", "open"), ("lambda state: state", "wrong"), ("deepcopy", "right")):
        names["deepcopy"] = copy.deepcopy
        body, asked = source.replace("keep = dict ", f"keep = {keep} ").split("warm_up", 1)
        exec(f"{body}answer = warm_up{asked}", names)
        assert names["answer"].state == state


# --- the form -----------------------------------------------------------------------------------


def test_the_core_has_five_exercises_and_takes_ninety_minutes() -> None:
    units = [text for text in map(text_of, SOURCE.with_role("text")) if text.startswith("## ")]
    minutes = [int(m[1]) for text in units if (m := re.search(r"\*(\d+) minutes\*", text))]
    core = minutes[: next(n for n, text in enumerate(units) if "Deep dive" in text)]
    assert (len(core), sum(core)) == (5, 90)
    assert all(15 <= unit <= 25 for unit in core)
    inside = [one for one in SOURCE.exercises if not one.section.startswith("deep-dive")]
    assert len(inside) == 5
    for number in core:
        assert f"| {number} |" in SOURCE.cells()["plan-minutes"]["source"]


def test_every_deep_dive_is_folded_and_nothing_else() -> None:
    cells = SOURCE.cells().values()
    folded = [cell for cell in cells if cell["metadata"].get("jp-MarkdownHeadingCollapsed")]
    assert folded == [cell for cell in cells if text_of(cell).startswith("## Deep dive: ")]


WARM_UPS = {
    "rebind": 2.0,
    "write": 1.0,
    "part": 1.0,
    "detach": 0.0,
    "state-dict": False,
    "weight-plus": False,
    "intermediate": False,
    "weight-part": True,
    "weight-version": 2,
    "times-two": 2.0,
    "sigmoid": "error",
    "sin": 1.0,
    "sin-input": "error",
    "lost-recorded": (False, True, False),
    "lost-frozen": (True, False, False),
    "kept-written": (True, True, True),
    "twice": 6,
    "other-name": 0,
    "second-step": 0.15,
}


def test_every_warm_up_takes_its_answer_and_refuses_another() -> None:
    names = SOURCE.solved("scene", "kept-after", "raises", "outcome", "updated")
    assert len(SOURCE.with_role("warm-up")) == len(WARM_UPS) + 1  # and the mended scene
    states = SOURCE.warm_up_states(WARM_UPS, names)
    assert states == dict.fromkeys(WARM_UPS, ("right", "wrong"))


# --- what the texts say -------------------------------------------------------------------------


def test_a_double_is_rounded_into_a_float_and_a_fraction_is_refused_by_integers() -> None:
    single = torch.zeros(1).add_(torch.tensor([0.1], dtype=torch.float64))
    assert (single.dtype, single.item() == 0.1) == (torch.float32, False)
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.arange(3).add_(0.5)


def test_overlaps_of_unfold_are_written_without_an_error() -> None:
    overlapping = torch.arange(6.0).unfold(0, 3, 1)
    wanted = overlapping + 1
    assert not torch.equal(overlapping.add_(1), wanted)
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.zeros(1).expand(3).add_(1)


OF_ONE = {
    "nothing": ["-a", "a * 2", "a.sum()", "a.t()"],
    "its result": [f"a.{n}()" for n in ("exp", "relu", "sigmoid", "tanh", "sqrt")]
    + ["a.softmax(0)"],
    "its input": ["a.sin()", "a.log()", "a ** 2", "a.abs()", "a.clamp(min=0)"],
}


@pytest.mark.parametrize(("saves", "text"), [(s, t) for s, texts in OF_ONE.items() for t in texts])
def test_the_table_of_saved_tensors_is_true_of_one_argument(saves: str, text: str) -> None:
    a = torch.rand(3, 3, dtype=torch.float64, requires_grad=True)
    expected = {"nothing": set(), "its result": {"result"}, "its input": {0}}[saves]
    function: Callable[..., torch.Tensor] = eval(f"lambda a: {text}")
    assert SOURCE.solved("must-stay")["must_stay"](function, a) == expected
    row = next(
        r for r in SOURCE.cells()["saved-table"]["source"].splitlines() if f"| {saves} |" in r
    )
    assert re.sub(r"^a\.|\(.*", "", text) in row


@pytest.mark.parametrize(("sign", "kept"), [("+", ""), ("-", ""), ("*", "01"), ("@", "01")])
def test_the_table_of_saved_tensors_is_true_of_two_arguments(sign: str, kept: str) -> None:
    must_stay = SOURCE.solved("must-stay")["must_stay"]
    a, b = torch.rand(3, 3, requires_grad=True), torch.rand(3, 3, requires_grad=True)
    function = eval(f"lambda a, b: a {sign} b")
    assert must_stay(function, a, b) == {int(number) for number in kept}
    assert must_stay(function, a, b.detach()) == ({1} if kept else set())
    assert must_stay(function, a.detach(), b) == ({0} if kept else set())


def test_a_detached_tensor_is_no_view_and_shares_the_counter() -> None:
    w = leaf(1.0, 2.0)
    detached = w.detach()
    detached[0] = 5
    assert (detached._base, w._version, w.tolist()) == (None, 1, [5, 2])


def test_a_view_that_is_a_leaf_itself_is_refused_as_a_view() -> None:
    refusal = SOURCE.solved("refusal")["refusal"]
    view = leaf(1.0, 2.0).detach()[1:].requires_grad_()
    assert (view.is_leaf, refusal(view)) == (True, "view of a leaf")
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        view.add_(1)


def test_a_view_taken_in_grad_mode_may_be_written_under_no_grad_but_not_the_other_way() -> None:
    w = leaf(1.0, 2.0)
    view = w[:1]
    with torch.no_grad():
        view.add_(1)
        late = w[:1]
    assert w.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        late.add_(1)


def test_parts_returned_at_once_may_not_be_written_where_gradients_are_recorded() -> None:
    for split in (torch.unbind, lambda t: t.split(1), lambda t: t.chunk(2)):
        with pytest.raises(RuntimeError, match="returns multiple views"):
            split(leaf(1.0, 2.0) * 1)[0].add_(1)
        split(torch.zeros(2))[0].add_(1)


def test_numpy_writes_past_the_counter() -> None:
    y = leaf(0.0).exp()
    array = y.detach().numpy()
    array += 1
    assert (y.tolist(), y._version) == ([2], 0)


def test_the_mark_counts_as_a_write_and_comes_after_forward() -> None:
    scale: Any = {"torch": torch}
    exec(SOURCE.cells()["scale-function"]["source"], scale)
    x = leaf(1.0) * 1
    scale["Scale"].apply(x, 3)
    assert (x._version, x.tolist()) == (2, [3])
    w = leaf(1.0)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        scale["Scale"].apply(w, 3)


def test_without_the_mark_gradients_through_the_input_leave_the_function_out() -> None:
    scale: Any = {"torch": torch}
    exec(SOURCE.cells()["scale-function"]["source"].replace("ctx.mark_dirty(x)", "pass"), scale)
    w = leaf(1.0)
    x = w + 1
    scale["Scale"].apply(x, 3)
    x.sum().backward()
    assert (x.tolist(), w.grad) == ([6], torch.tensor([1.0], dtype=torch.float64))


def test_an_optimizer_holds_on_to_the_parameter_that_was_replaced() -> None:
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer.weight = nn.Parameter(torch.zeros(1, 2))
    layer(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert optimizer.param_groups[0]["params"][0].grad is None
    assert layer.weight.tolist() == [[0, 0]]


def test_the_solutions_of_layer_and_squash_pass_gradcheck() -> None:
    generator = torch.Generator().manual_seed(1)
    shapes = ((3, 4), (4, 2), (2,))
    made = [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]
    arguments = [t.requires_grad_() for t in made]
    assert torch.autograd.gradcheck(SOURCE.solved("thrifty-layer")["layer"], arguments)
    squash_ = SOURCE.solved("squash")["squash_"]
    assert torch.autograd.gradcheck(lambda t: squash_(t.clone()), leaf(-2.0, 0.5, 3.0))


# --- what in-place writes save on a device --------------------------------------------------------


def measured(*names: str) -> dict[str, Any]:
    """What the set-up cell and these cells define."""
    found: dict[str, Any] = {}
    for name in ("setup", *names):
        exec(SOURCE.cells()[name]["source"], found)
    return found


def test_the_peaks_are_those_that_the_text_explains() -> None:
    found = measured("peak-measured")
    assert [found["peak"](line) for line in found["lines"]] == [2, 1, 1, 3]
    assert found["peak"]("x = (x * 2).add_(1).relu_()") == 2


def test_relu_in_place_lowers_the_peak_only_and_sin_in_place_nothing() -> None:
    costs = measured("peak-measured", "relu-kept")["peak_and_kept"]
    assert (costs(torch.relu), costs(torch.relu_)) == ([5, 4], [4, 4])
    assert costs(torch.sin) == costs(torch.sin_) == [8, 8]


def test_sin_in_place_keeps_a_clone_and_the_right_gradient() -> None:
    def clone_kept(x: torch.Tensor) -> torch.Tensor:
        return (x * 1).sin_()

    assert torch.autograd.gradcheck(clone_kept, leaf(0.5, -2.0))
    w = leaf(1.0)
    h = w * 1
    place = h.data_ptr()
    saved = h.sin_().grad_fn._saved_self  # type: ignore[union-attr]
    assert (saved.data_ptr() == place, saved.tolist()) == (False, [1.0])


def test_the_buffer_of_the_solution_is_where_x_is() -> None:
    x = torch.ones(3, dtype=torch.float64, device=gpu.device())
    out = SOURCE.solved("powers")["buffer_for"](x, 2)
    assert (out.device, out.dtype) == (x.device, torch.float64)
    with pytest.raises(TypeError, match="to numpy"):
        out.numpy()


# --- the question in words ------------------------------------------------------------------------


def test_the_model_answer_to_the_question_in_words_holds() -> None:
    names: dict[str, Any] = {}
    (code,) = re.findall(
        r"```python\n(.*?)```", SOURCE.cells()["why-at-backward-task"]["source"], re.S
    )
    exec(code, names)
    with pytest.raises(RuntimeError, match="output 0 of Exp"):
        names["first"](torch.zeros(1, requires_grad=True))
    names["second"](w := torch.zeros(1, requires_grad=True))
    assert w.grad is not None
    assert w.grad.item() == 2
    y = (v := torch.zeros(1, requires_grad=True)).exp()
    y.data += 1  # the same write, past the comparison
    y.sum().backward()
    assert v.grad is not None
    assert v.grad.item() == 2
    assert "exp(0) + 1 = 2" in SOURCE.cells()["why-at-backward"]["source"]
