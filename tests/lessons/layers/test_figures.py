"""Figures of layers: windows and weights are torch's, lines what batch norm remembers."""

from __future__ import annotations

import doctest
import itertools
import random

import pytest
import torch
from torch import nn
from torch.nn import functional

from course.figures import not_drawn
from course.figures.palette import REST, fill
from course.figures.scene import WIDTH, Box
from course.lessons.layers import inputs_read as reading
from course.lessons.layers import resize_figure as resize
from course.lessons.layers import show_resize, show_running, show_windows
from course.lessons.layers import windows_figure as windows
from course.lessons.layers.inputs_read import reading_of
from course.lessons.layers.resize_figure import MODES, places_of
from course.lessons.layers.running_figure import histories_of
from course.lessons.layers.windows_figure import picture_of, sum_words
from tests.course.figures.drawn import collisions, scene_of, texts_of

NUMBERS = torch.tensor([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0])
LAYERS = {
    "pool": nn.AvgPool1d(3, 2),
    "padded": nn.AvgPool1d(3, 1, 1),
    "adaptive": nn.AdaptiveAvgPool1d(5),
    "up": nn.Upsample(size=11, mode="linear", align_corners=True),
    "kernel": nn.Conv1d(1, 1, 3, bias=False),
}


def boxes(picture: object) -> list[Box]:
    """The boxes of a picture."""
    return [i for i in scene_of(picture).items if isinstance(i, Box)]  # type: ignore[arg-type]


# --- what is read -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LAYERS)
def test_weights_times_inputs_are_what_the_layer_gives(name: str) -> None:
    found = reading_of(LAYERS[name], NUMBERS)
    given = LAYERS[name](NUMBERS.view(1, 1, -1)).flatten().tolist()
    assert found.weighted
    assert list(found.outputs) == pytest.approx(given)
    assert (torch.tensor(found.weights) @ NUMBERS).tolist() == pytest.approx(given, abs=1e-4)


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(3, 2, 0), (3, 2, 1), (2, 3, 0)])
def test_a_maximum_reads_its_window_and_is_no_weighted_sum(
    kernel: int, stride: int, padding: int
) -> None:
    found = reading_of(nn.MaxPool1d(kernel, stride, padding), NUMBERS)
    starts = [i * stride - padding for i in range(len(found.outputs))]
    inside = [[j for j in range(s, s + kernel) if 0 <= j < 8] for s in starts]
    assert not found.weighted
    assert [found.read_by(i) for i in range(len(starts))] == inside


@pytest.mark.parametrize(("n", "m"), [(8, 5), (7, 3), (3, 2), (5, 5), (4, 7)])
def test_adaptive_windows_begin_rounded_down_and_end_rounded_up(n: int, m: int) -> None:
    found = reading_of(nn.AdaptiveAvgPool1d(m), n)
    expected = [list(range(i * n // m, -(-(i + 1) * n // m))) for i in range(m)]
    assert [found.read_by(i) for i in range(m)] == expected


def test_reading_a_layer_leaves_it_and_the_random_state_as_they_were() -> None:
    conv, state = nn.Conv1d(1, 1, 3), torch.get_rng_state()
    before = [p.clone() for p in conv.parameters()]
    reading_of(conv, 8)
    assert torch.equal(torch.get_rng_state(), state)
    assert [p.grad for p in conv.parameters()] == [None, None]
    assert all(torch.equal(p, b) for p, b in zip(conv.parameters(), before, strict=True))


@pytest.mark.parametrize("x", [0, 17, torch.zeros(2, 3), torch.zeros(0)])
def test_a_row_that_cannot_be_drawn_is_refused(x: int | torch.Tensor) -> None:
    with pytest.raises(ValueError, match="a row has one dimension and 1 to 16 numbers; got"):
        reading_of(nn.AvgPool1d(1), x)


@pytest.mark.parametrize("layer", [nn.Flatten(), nn.Upsample(scale_factor=9), nn.Conv1d(1, 2, 1)])
def test_a_layer_with_other_results_is_refused_with_their_shape(layer: nn.Module) -> None:
    with pytest.raises(ValueError, match=r"the layer must turn \(1, 1, 8\) .* it gave \(1, "):
        reading_of(layer, 8)


# --- windows ------------------------------------------------------------------------------------


def test_a_row_has_a_coloured_cell_for_each_input_that_it_reads() -> None:
    cells = [b for b in boxes(show_windows(nn.AvgPool1d(3, 2), 5)) if b.text != "" or b.fills]
    colours = [b.fills[0] for b in cells[5:]]
    read, rest = fill(0), REST
    assert colours == [read, read, read, rest, rest, rest, rest, read, read, read]


def test_padding_shows_as_weights_that_are_missing() -> None:
    found = reading_of(nn.AvgPool1d(3, 1, 1), 4)
    assert sum_words(found, 0) == "out[0] = 1/3 · x[0] + 1/3 · x[1] = 0.3333"


def test_the_largest_of_a_window_has_a_colour_of_its_own() -> None:
    shown = boxes(show_windows(nn.MaxPool1d(2), torch.tensor([5.0, 2.0])))
    assert [(b.text, b.fills[0]) for b in shown[2:]] == [("5", fill(1)), ("2", fill(0))]


def test_several_layers_stand_under_their_names_with_their_sizes() -> None:
    texts = texts_of(show_windows({"a": nn.AvgPool1d(2), "b": nn.AvgPool1d(4)}, 8))
    assert [t for t in texts if "→" in t] == ["a:  8 → 4", "b:  8 → 2"]


def test_a_layer_without_a_name_of_yours_is_named_as_it_prints() -> None:
    assert "AvgPool1d(kernel_size=(2,)" in show_windows(nn.AvgPool1d(2), 4).alt


def test_no_layer_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="takes a layer"):
        show_windows({}, 4)


def test_while_the_outputs_are_asked_for_only_inputs_are_told_and_drawn() -> None:
    picture = picture_of({"pool": reading_of(nn.AvgPool1d(2), 4)}, asked=True)
    assert picture.alt == "pool: 4 inputs. The outputs aren't shown yet."
    assert len(boxes(picture)) == 4


def test_a_long_alt_text_ends_after_eight_outputs() -> None:
    alt = show_windows(nn.AvgPool1d(1), 12).alt
    assert "out[7] = x[7] = 7; and so on." in alt
    assert "out[8]" not in alt


# --- resizing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("way", MODES)
@pytest.mark.parametrize("before", [1, 2, 4, 5, 12])
@pytest.mark.parametrize("after", [1, 3, 4, 7, 12])
def test_torch_takes_a_value_where_the_arrow_points(way: str, before: int, after: int) -> None:
    row = torch.arange(float(before)).view(1, 1, -1)
    given = functional.interpolate(row, size=after, **MODES[way]).flatten().tolist()
    taken = [min(max(place - 0.5, 0), before - 1) for _, place in places_of(before, after, way)]
    assert given == pytest.approx(taken, abs=1e-5)


@pytest.mark.parametrize("way", MODES)
@pytest.mark.parametrize(("before", "after"), [(2, 2), (3, 5), (2, 12), (12, 2), (7, 5), (5, 1)])
def test_new_pixels_stay_within_the_old_ones_and_side_by_side(
    way: str, before: int, after: int
) -> None:
    new = [b for b in boxes(show_resize(before, after, way)) if b.fills == (fill(0),)]
    ends = [(b.x, b.x + b.width) for b in new]
    assert len(new) == after
    assert min(a for a, _ in ends) > -0.01
    assert max(b for _, b in ends) < WIDTH + 0.01
    assert all(one[1] < two[0] + 0.01 for one, two in itertools.pairwise(ends))


def test_without_a_way_both_linear_ones_are_shown() -> None:
    assert show_resize(2, 3).alt == (
        "2 pixels: 0, 1. linear, to 3: 0, 0.5, 1. linear, align_corners, to 3: 0, 0.5, 1."
    )


def test_a_way_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(ValueError, match="'bilinear' is not a way to resize"):
        show_resize(4, 8, "bilinear")


@pytest.mark.parametrize(("x", "size"), [(13, 4), (4, 13), (4, 0), (1, 4)])
def test_pixels_that_cannot_be_drawn_are_refused_with_their_number(x: int, size: int) -> None:
    with pytest.raises(ValueError, match=rf"draws a row of 2 to 12 .* got shape \({x},\) and size"):
        show_resize(x, size)


# --- running statistics -------------------------------------------------------------------------


def test_a_history_is_the_formula_batch_by_batch() -> None:
    batches = [torch.tensor([1.0, 3.0]), torch.tensor([5.0, 5.0, 8.0])]
    (found,) = histories_of(batches, [0.25])
    assert found.means == pytest.approx((0.0, 0.5, 0.375 + 1.5))
    assert found.variances == pytest.approx((1.0, 0.75 + 0.5, 0.75 * 1.25 + 0.25 * 3))


def test_no_momentum_means_the_plain_mean_over_batches() -> None:
    torch.manual_seed(0)
    batches = list(torch.randn(9, 6))
    (found,) = histories_of(batches, [None])
    assert found.means[-1] == pytest.approx(torch.stack(batches).mean().item(), abs=1e-5)


def test_each_line_has_a_point_before_the_first_batch_and_after_each() -> None:
    picture = show_running(torch.ones(5, 4), (0.1, None), marks={"here": 3})
    first, second = picture._draw().axes
    assert (first.get_title(), second.get_title()) == ("running mean", "running variance")
    lines = [line for line in first.lines if len(line.get_xdata()) == 6]  # type: ignore[arg-type]
    assert [next(iter(line.get_ydata())) for line in lines] == [0, 0]  # type: ignore[index]
    assert [t.get_text() for t in first.texts] == [" here"]


def test_the_alt_text_tells_where_each_memory_ends() -> None:
    alt = show_running([torch.tensor([4.0, 6.0])] * 2, 0.5).alt
    assert "momentum=0.5: running mean 3.75, running variance 1.75." in alt
    assert alt.endswith("The last batch itself: mean 5, variance 2.")


@pytest.mark.parametrize("batches", [[], [torch.zeros(4), torch.zeros(1)]])
def test_batches_of_less_than_two_numbers_are_refused(batches: list[torch.Tensor]) -> None:
    with pytest.raises(ValueError, match="takes batches of at least two numbers; got"):
        show_running(batches)


# --- all of them --------------------------------------------------------------------------------


def random_pictures() -> list[object]:
    """Twenty pictures of random rows, sizes and layers."""
    rng = random.Random(0)
    found: list[object] = []
    for _ in range(10):
        n, m = rng.randint(2, 12), rng.randint(1, 12)
        row = torch.tensor([rng.uniform(-99, 99) for _ in range(n)])
        found += [show_resize(row, m, *MODES), show_windows(nn.AdaptiveAvgPool1d(m), row)]
    return found


def test_no_text_lies_over_another() -> None:
    assert [collisions(scene_of(one)) for one in random_pictures()] == [[]] * 20  # type: ignore[arg-type]


def test_without_drawing_there_are_only_words() -> None:
    with not_drawn():
        pictures = [show_windows(nn.AvgPool1d(2), 4), show_resize(2, 4), show_running([NUMBERS])]
        shown = [one._repr_html_() for one in pictures]
    assert all("<img" not in one for one in shown)
    assert all(one.alt for one in pictures)


@pytest.mark.parametrize("module", [reading, resize, windows])
def test_the_examples_in_the_docstrings_show_what_they_return(module: object) -> None:
    seen = doctest.testmod(module)  # type: ignore[arg-type]
    assert seen.failed == 0
    assert seen.attempted > 0
