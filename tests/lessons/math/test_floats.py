"""Figures of floating-point numbers: what they say is what torch does, and texts stay apart."""

from __future__ import annotations

import doctest
import itertools
import math

import pytest
import torch

from course.figures import not_drawn, show_values
from course.figures import values as value_rows
from course.figures.palette import CARD, FAULT, REST, fill
from course.figures.scene import Box
from course.lessons.math import show_floats, show_neighbours, show_sums
from course.lessons.math.neighbours_figure import place_of
from course.lessons.math.ranges_figure import reach_of
from tests.course.figures.drawn import collisions, scene_of, texts_of

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


def step_from(x: float, dtype: torch.dtype, towards: float = math.inf) -> float:
    """The next number of the dtype."""
    here, there = torch.tensor(x, dtype=dtype), torch.tensor(towards, dtype=dtype)
    return torch.nextafter(here, there).item()


# --- how far a dtype reaches --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_ends_of_a_dtype_are_those_that_torch_steps_to(dtype: torch.dtype) -> None:
    reach = reach_of(dtype)
    assert step_from(0.0, dtype) == reach.least
    assert step_from(reach.largest, dtype) == math.inf
    assert step_from(reach.normal, dtype) - reach.normal == reach.least


@pytest.mark.parametrize("dtype", DTYPES)
def test_counting_by_one_ends_where_the_figure_says(dtype: torch.dtype) -> None:
    end = reach_of(dtype).counting
    last = torch.tensor(end, dtype=dtype)
    assert ((last + 1) - last).item() == 0
    assert ((last - 1) + 1 - last).item() == 0
    assert (last - 1).item() == end - 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_overflows_around_the_x_that_the_figure_names(dtype: torch.dtype) -> None:
    x = torch.tensor(reach_of(dtype).exp, dtype=torch.float64)
    assert (x * 0.99).to(dtype).exp().isfinite()
    assert (x * 1.01).to(dtype).exp().isinf()


def test_equal_factors_are_equally_wide_in_every_bar() -> None:
    bars = [i for i in scene_of(show_floats(*DTYPES[:3])).items if isinstance(i, Box)]
    wide = [b.width for b in bars if b.fills == (fill(1),) and b.height > 20]
    factors = [math.log2(r.largest / r.counting) for r in map(reach_of, DTYPES[:3])]
    ratios = [one / factor for one, factor in zip(wide, factors, strict=True)]
    assert ratios == pytest.approx([ratios[0]] * 3)


def test_the_alt_text_tells_every_dtype_with_its_border_of_exp() -> None:
    alt = show_floats().alt
    assert "every whole number up to 16777216; exp(x) overflows above x = 88.72" in alt
    assert [name in alt for name in ("float16: from 6e-08", "bfloat16: from", "float32: from")]
    assert "every whole number up to 2048; exp(x) overflows above x = 11.09" in alt


@pytest.mark.parametrize("dtype", [torch.int32, torch.float8_e4m3fn, torch.complex64])
def test_a_dtype_without_such_a_range_is_refused_by_name(dtype: torch.dtype) -> None:
    with pytest.raises(ValueError, match=str(dtype)):
        show_floats(dtype)


# --- neighbours ---------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [1.0, 3.0, 0.1015625, 2.0**23, 2.0**24, 2.0**24 + 2])
def test_between_two_drawn_neighbours_there_is_no_number(x: float) -> None:
    numbers = [x + offset for offset in place_of(x, torch.float32).offsets]
    assert [step_from(one, torch.float32) for one in numbers[:-1]] == numbers[1:]


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (2.0**23, "x + 1 is a number of its own"),
        (2.0**24, "x + 1 lies between two numbers and becomes x."),
        (2.0**24 + 2, "x + 1 lies between two numbers and becomes x + 2."),
    ],
)
def test_what_becomes_of_one_more_is_told_as_torch_rounds_it(x: float, words: str) -> None:
    assert words in show_neighbours(x).alt


def test_the_missing_number_is_dashed_and_the_place_itself_is_marked() -> None:
    boxes = [i for i in scene_of(show_neighbours(2.0**24)).items if isinstance(i, Box)]
    assert [(b.edge, b.fills) for b in boxes if b.dashed] == [(FAULT, ("none",))]
    assert sum(b.fills == (fill(1),) for b in boxes) == 1
    assert sum(b.fills == (fill(0),) for b in boxes) == 12


def test_distances_on_a_line_are_to_scale() -> None:
    place = place_of(2.0**24, torch.float32)
    boxes = [i for i in scene_of(show_neighbours(2.0**24)).items if isinstance(i, Box)]
    at = sorted(b.x for b in boxes if b.fills != ("none",) and b.width == 6)
    steps = [(b - a) for a, b in itertools.pairwise(at)]
    gaps = [b - a for a, b in zip(place.offsets, place.offsets[1:], strict=False)]
    assert steps == pytest.approx([gap / gaps[0] * steps[0] for gap in gaps])


def test_a_place_that_the_dtype_does_not_have_is_refused_with_one_that_it_has() -> None:
    with pytest.raises(ValueError, match=r"16777217.0 is not .* Take 16777216.0"):
        show_neighbours(2.0**24 + 1)


# --- values -------------------------------------------------------------------------------------


def test_inf_nan_and_zero_are_marked_and_other_values_are_not() -> None:
    row = torch.tensor([math.inf, -math.inf, math.nan, 0.0, 1.5])
    boxes = [i for i in scene_of(show_values({"row": row})).items if isinstance(i, Box)]
    assert [b.text for b in boxes] == ["inf", "-inf", "nan", "0", "1.5"]
    assert [b.fills[0] for b in boxes] == [fill(1), fill(1), fill(5), REST, CARD]


def test_the_caption_tells_only_the_colours_that_are_there() -> None:
    begin = "A row for each tensor, with its dtype at the end."
    assert show_values({"row": torch.tensor([1.5, 2.0])}).caption == begin
    assert show_values({"row": torch.tensor([1.5, 0.0])}).caption == f"{begin} Grey: 0."
    row = torch.tensor([-math.inf, math.nan])
    assert show_values({"row": row}).caption == f"{begin} Orange: inf. Red: nan."


def test_each_row_bears_its_name_its_values_and_its_dtype() -> None:
    rows = {"z": torch.tensor([1000.0, 0.0]), "half": torch.tensor(1 / 3, dtype=torch.float16)}
    assert texts_of(show_values(rows)) == ["z", "1000", "0", "float32", "half", "0.3333", "float16"]


@pytest.mark.parametrize("shape", [(2, 2), (13,), (0,)])
def test_a_row_that_does_not_fit_is_refused_with_its_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=f"'z' has shape \\({shape[0]},"):
        show_values({"z": torch.zeros(shape)})


def test_the_example_in_the_docstring_shows_what_it_returns() -> None:
    seen = doctest.testmod(value_rows)
    assert (seen.failed, seen.attempted) == (0, 2)


# --- sums ---------------------------------------------------------------------------------------


def test_a_sum_is_told_with_where_it_ended() -> None:
    sums = {"stuck": torch.tensor([1.0, 2.0, 2.0]), "exact": torch.tensor([1, 2, 3])}
    assert show_sums(sums).alt == "stuck: 2 after 3 terms. exact: 3 after 3 terms."
    assert show_sums(sums, at=[10, 20, 30]).alt.startswith("stuck: 2 after 30 terms.")


def test_a_long_sum_is_drawn_in_few_points_with_both_ends() -> None:
    picture = show_sums({"all": torch.arange(1.0, 10_001.0)})
    (axes,) = picture._draw().axes
    xs = [float(x) for x in axes.lines[0].get_xdata()]
    assert (len(xs), xs[0], xs[-1]) == (400, 1, 10_000)
    assert xs == sorted(set(xs))


def test_sums_of_different_lengths_are_refused_with_their_lengths() -> None:
    with pytest.raises(ValueError, match=r"\{'one': 2, 'other': 3\}"):
        show_sums({"one": torch.zeros(2), "other": torch.zeros(3)})


# --- all of them --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "picture",
    [
        show_floats(),
        show_floats(torch.float64),
        show_floats(torch.float32, torch.float64),
        show_neighbours(1.0, 2.0**23, 2.0**24),
        show_neighbours(2048.0, 4096.0, dtype=torch.float16),
        show_values({"z": torch.tensor([1000.0, 1e-30]), "exp(z)": torch.tensor([math.inf, 1])}),
    ],
    ids=["default", "float64", "both", "float32", "float16", "values"],
)
def test_no_text_lies_over_another(picture: object) -> None:
    assert collisions(scene_of(picture)) == []  # type: ignore[arg-type]


def test_without_drawing_there_are_only_words() -> None:
    with not_drawn():
        pictures = [show_floats(), show_neighbours(1.0), show_values({"z": torch.zeros(2)})]
    assert [scene_of(p).items if hasattr(p._draw, "args") else () for p in pictures] == [()] * 3
    assert all(p.alt for p in pictures)
