"""Figures of training: the gradients are torch's own, call by call, and the means are right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from course.figures import not_drawn, show_curves
from course.figures.palette import CARD, fill
from course.figures.scene import Box, Label
from course.lessons.training_loop import show_gradients, show_means
from course.lessons.training_loop.gradients_figure import (
    BY_HAND,
    Batch,
    Event,
    Loop,
    record,
    usual_batches,
)
from tests.course.figures.drawn import collisions, scene_of, texts_of

F = nn.functional


def sgd(parameters: object) -> torch.optim.Optimizer:
    """The usual optimizer."""
    return torch.optim.SGD(parameters, lr=0.1)  # type: ignore[arg-type]


def careful(model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Batch]) -> None:
    """Clears the gradient before each batch."""
    for x, y in batches:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()


def adding(model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Batch]) -> None:
    """One step for all batches."""
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
    optimizer.step()


def seen(loop: Loop, batches: list[Batch] | None = None) -> list[Event]:
    """The events of the loop over these batches, or the usual ones."""
    return record(loop, usual_batches() if batches is None else batches, sgd)


def clearing(clear: Callable[[nn.Module, torch.optim.Optimizer], object]) -> Loop:
    """A loop of one backward, then this."""

    def loop(model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Batch]) -> None:
        x, y = batches[0]
        F.mse_loss(model(x), y).backward()
        clear(model, optimizer)
        optimizer.step()

    return loop


def halve(model: nn.Module, _: torch.optim.Optimizer) -> None:
    """Divides every gradient by two, without torch's knowledge."""
    for parameter in model.parameters():
        assert parameter.grad is not None
        parameter.grad /= 2


# --- what is recorded ---------------------------------------------------------------------------


def test_each_call_is_noted_in_its_order() -> None:
    kinds = [event.kind for event in seen(careful)]
    assert kinds == ["zero_grad", "backward", "step"] * 4


def test_gradient_and_weight_are_those_of_the_same_loop_run_alone() -> None:
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 3.0)
    adding(model, sgd(model.parameters()), usual_batches())
    last = seen(adding)[-1]
    assert model.weight.grad is not None
    assert (last.grad, last.weight) == (model.weight.grad.item(), model.weight.item())


def test_the_gradient_is_the_sum_of_what_the_batches_added() -> None:
    for event in seen(adding):
        assert sum(part for _, part in event.parts) == pytest.approx(event.grad)
    assert [name for name, _ in seen(adding)[-1].parts] == ["1", "2", "3", "4"]


def test_batches_that_come_in_another_order_keep_their_numbers() -> None:
    events = seen(lambda model, optimizer, batches: adding(model, optimizer, batches[::-1]))
    assert [name for name, _ in events[-1].parts] == ["4", "3", "2", "1"]


def test_losses_that_go_backward_together_are_one_part() -> None:
    def loop(model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Batch]) -> None:
        sum(F.mse_loss(model(x), y) for x, y in batches[:2]).backward()  # type: ignore[union-attr]

    assert [name for name, _ in seen(loop)[0].parts] == ["1+2"]


def test_a_forward_pass_without_gradients_leaves_no_trace() -> None:
    def loop(model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Batch]) -> None:
        with torch.no_grad():
            model(batches[0][0])
        adding(model, optimizer, batches[1:2])

    assert [event.parts[0][0] for event in seen(loop)] == ["2", "2"]


@pytest.mark.parametrize(
    ("clear", "kind", "grad"),
    [
        (lambda model, optimizer: model.zero_grad(), "zero_grad", None),
        (lambda model, optimizer: optimizer.zero_grad(set_to_none=False), "zero_grad", 0.0),
        (lambda model, optimizer: setattr(model.weight, "grad", None), BY_HAND, None),
        (lambda model, optimizer: model.weight.grad.zero_(), BY_HAND, 0.0),
    ],
    ids=["model", "zeros", "none by hand", "zeros by hand"],
)
def test_every_way_of_clearing_is_seen(
    clear: Callable[[nn.Module, torch.optim.Optimizer], object], kind: str, grad: float | None
) -> None:
    event = seen(clearing(clear))[1]
    assert (event.kind, event.grad, event.parts) == (kind, grad, ())


def test_a_gradient_that_was_scaled_keeps_its_parts_in_proportion() -> None:
    whole, halved = seen(clearing(halve))[:2]
    assert halved.kind == BY_HAND
    assert halved.parts[0][1] == pytest.approx(whole.parts[0][1] / 2)


def test_a_gradient_cleared_by_hand_before_backward_is_not_taken_for_a_sum() -> None:
    def loop(model: nn.Linear, optimizer: torch.optim.Optimizer, batches: list[Batch]) -> None:
        for x, y in batches[:2]:
            model.weight.grad = None
            F.mse_loss(model(x), y).backward()

    kinds = [(event.kind, len(event.parts)) for event in seen(loop)]  # type: ignore[arg-type]
    assert kinds == [("backward", 1), (BY_HAND, 0), ("backward", 1)]


def test_the_random_state_is_left_alone() -> None:
    before = torch.get_rng_state()
    seen(careful)
    assert torch.equal(before, torch.get_rng_state())


# --- what is drawn ------------------------------------------------------------------------------


def test_cells_are_to_scale_over_all_loops() -> None:
    scene = scene_of(show_gradients({"careful": careful, "adding": adding}))
    heights = [i.height for i in scene.items if isinstance(i, Box) and i.fills == (fill(0),)]
    assert len(heights) == 2 + 5
    assert max(heights) - min(heights) < 1e-6


def test_no_gradient_is_dashed_and_says_so() -> None:
    scene = scene_of(show_gradients({"careful": careful}))
    dashed = [i for i in scene.items if isinstance(i, Box) and i.dashed]
    assert [(box.text, box.fills) for box in dashed] == [("None", (CARD,))] * 4


def test_gradients_below_zero_hang_from_the_line() -> None:
    batches = [(x, 5 * y) for x, y in usual_batches()]
    scene = scene_of(show_gradients({"adding": adding}, batches))
    line = next(i for i in scene.items if isinstance(i, Box) and i.height == 0)
    cells = [i for i in scene.items if isinstance(i, Box) and i.height > 0]
    assert all(cell.y >= line.y - 1e-6 for cell in cells)


def test_calls_beyond_one_line_are_continued_on_the_next() -> None:
    def twice(model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Batch]) -> None:
        careful(model, optimizer, batches + batches)

    scene = scene_of(show_gradients({"twice": twice}))
    words = [i for i in scene.items if isinstance(i, Label) and i.text == "step"]
    assert len(words) == 8
    assert len({word.y for word in words}) == 2
    assert scene.right <= scene.width


def test_short_loops_stand_beside_each_other() -> None:
    scene = scene_of(show_gradients({"one": adding, "other": adding}))
    one, other = (i for i in scene.items if isinstance(i, Label) and i.text in ("one", "other"))
    assert one.y == other.y
    assert one.x < other.x
    assert collisions(scene) == []


@pytest.mark.parametrize("loop", [careful, adding, lambda *_: None])
def test_no_text_of_a_timeline_lies_over_another(loop: Loop) -> None:
    assert collisions(scene_of(show_gradients({"a loop": loop}))) == []


def test_the_timeline_is_told_in_words() -> None:
    alt = show_gradients({"careful": careful}).alt
    assert alt.startswith("careful, the weight starts at 3: zero_grad, .grad None; backward, .grad")
    assert "backward, .grad 2.5 (batch 1); step reads 2.5, weight 2.75" in alt


def test_another_optimizer_may_step() -> None:
    def stop(parameters: object) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=0.0)  # type: ignore[arg-type]

    assert "weight 3." in show_gradients({"adding": adding}, optimizer=stop).alt


def test_without_a_loop_there_is_nothing_to_draw() -> None:
    with pytest.raises(ValueError, match="at least one by name"):
        show_gradients({})


def test_while_grading_no_loop_runs() -> None:
    ran: list[object] = []
    with not_drawn():
        show_gradients({"a loop": lambda *given: ran.append(given)})
    assert ran == []


# --- means --------------------------------------------------------------------------------------


def test_both_means_are_told() -> None:
    picture = show_means([torch.tensor(1.0), 1.0, 4.0], [4, 4, 1])
    assert "Mean of the batch means 2, mean over samples 1.33." in picture.alt
    assert {"mean of means 2", "mean over samples 1.33"} <= set(texts_of(picture))


def test_bars_are_as_wide_as_samples_and_as_high_as_losses() -> None:
    items = scene_of(show_means([1.0, 2.0], [6, 3])).items
    first, second = (i for i in items if isinstance(i, Box) and i.height > 0)
    assert first.width == pytest.approx(2 * second.width)
    assert second.height == pytest.approx(2 * first.height)


@pytest.mark.parametrize(
    ("losses", "sizes"),
    [
        ([22.3, 21.6, 160.2], [32, 32, 1]),
        ([1.0, 1.0], [5, 5]),
        ([0.0], [1]),
        ([1.5] * 40, [9] * 40),
    ],
)
def test_no_text_of_the_means_lies_over_another(losses: list[float], sizes: list[int]) -> None:
    assert collisions(scene_of(show_means(losses, sizes))) == []


@pytest.mark.parametrize(
    ("losses", "sizes", "words"),
    [
        ([], [], "each batch"),
        ([1.0], [1, 2], "each batch"),
        ([1.0], [0], "each batch"),
        ([-1.0], [2], "from 0 upwards"),
        ([float("nan")], [2], "finite"),
    ],
)
def test_what_has_no_mean_is_refused(losses: list[float], sizes: list[int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        show_means(losses, sizes)


# --- curves -------------------------------------------------------------------------------------


def test_a_curve_is_told_with_its_ends_and_extremes() -> None:
    alt = show_curves({"rate": torch.tensor([0.5, 2.0, 1.0])}, y="rate").alt
    assert alt == "rate: rate from 0.5 to 1 at step 3, between 0.5 and 2."
    assert show_curves({"one": [3.0]}).alt == "one: loss 3."


def test_curves_may_have_different_lengths_and_start_at_1() -> None:
    (axes,) = show_curves({"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]})._draw().axes
    assert [list(line.get_xdata()) for line in axes.lines] == [[1, 2], [1, 2, 3]]


def test_curves_count_from_where_they_are_told_to() -> None:
    picture = show_curves({"late": [1.0, 2.0]}, first=231)
    assert "from 1 to 2 at step 232" in picture.alt
    (axes,) = picture._draw().axes
    assert list(axes.lines[0].get_xdata()) == [231, 232]


@pytest.mark.parametrize("names", [["a run"], ["never stopped", "without optimizer", "no stream"]])
def test_the_names_of_curves_are_in_sight_at_200_percent(names: list[str]) -> None:
    figure = show_curves({name: [1.0, 2.0] for name in names})._draw()
    figure.canvas.draw()
    (axes,) = figure.axes
    box, plot = axes.get_legend().get_window_extent(), axes.get_window_extent()
    assert box.x1 < 0.75 * figure.bbox.width  # of what a cell is wide there
    assert plot.y1 <= box.y0 + 1
    assert box.y1 <= figure.bbox.height


def test_stairs_and_factors_are_drawn_where_asked_for() -> None:
    (axes,) = show_curves({"rate": [0.1, 0.01]}, steps=True, log=True)._draw().axes
    assert (axes.lines[0].get_drawstyle(), axes.get_yscale()) == ("steps-mid", "log")


@pytest.mark.parametrize("curves", [{}, {"empty": []}])
def test_curves_without_numbers_are_refused(curves: dict[str, list[float]]) -> None:
    with pytest.raises(ValueError, match="none of them empty"):
        show_curves(curves)


def test_zero_has_no_place_among_factors() -> None:
    with pytest.raises(ValueError, match="above 0"):
        show_curves({"rate": [0.1, 0.0]}, log=True)


def test_means_and_curves_are_only_words_while_grading() -> None:
    with not_drawn():
        pictures = [show_means([1.0], [1]), show_curves({"a": [1.0]})]
    assert all("not drawn" in picture.alt for picture in pictures)


@pytest.mark.filterwarnings("error")
def test_losses_that_still_have_their_graphs_are_drawn_without_a_warning() -> None:
    loss = torch.ones(1, requires_grad=True).sum()
    assert "1 over 2" in show_means([loss], [2]).alt
    assert show_curves({"run": [loss]}).alt == "run: loss 1."
