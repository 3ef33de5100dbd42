"""Spread figures: counts, moments and bounds are those of the numbers."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from course.figures import not_drawn
from course.figures.palette import FAULT
from course.figures.scene import Box, Label
from course.lessons.modules import show_spread
from course.lessons.modules.spread_figure import spread_of
from tests.course.figures.drawn import collisions, scene_of, texts_of

DRAWN = torch.rand(1000, generator=torch.Generator().manual_seed(0)) - 0.5


def test_every_number_is_counted_once_and_the_moments_are_torchs() -> None:
    seen = spread_of("w", DRAWN.double(), 0.5)
    assert sum(seen.counts) == seen.numel == 1000
    exact = DRAWN.double()
    assert (seen.mean, seen.std) == pytest.approx((exact.mean().item(), exact.std().item()))
    assert seen.largest == pytest.approx(DRAWN.abs().max().item())


def test_numbers_beyond_their_bound_are_counted_and_marked() -> None:
    picture = show_spread({"w": DRAWN}, {"w": 0.4})
    beyond = int((DRAWN.abs() > 0.4).sum())
    assert picture.alt.endswith(f"bound ±0.4, {beyond} beyond it.")
    faults = [i.text for i in scene_of(picture).items if isinstance(i, Label) and i.ink == FAULT]
    assert faults == [f"✗ {beyond} beyond the bound", "−0.4", "+0.4"]


def test_a_bound_that_holds_up_to_rounding_is_kept() -> None:
    layer = nn.Linear(100, 50)
    assert show_spread({"w": layer.weight}, {"w": 0.1}).alt.endswith("0 beyond it.")
    edge = torch.tensor([math.sqrt(6 / 7)])  # as float32 it is a little more
    assert show_spread({"w": edge}, {"w": math.sqrt(6 / 7)}).alt.endswith("0 beyond it.")


def test_the_bounds_stand_where_the_scale_says() -> None:
    items = scene_of(show_spread({"a": DRAWN, "b": DRAWN * 2}, {"a": 0.5, "b": 1.0})).items
    lines = [item.x + 0.5 for item in items if isinstance(item, Box) and item.width == 1]
    middle = (lines[2] + lines[3]) / 2
    assert [(x - middle) / (lines[3] - middle) for x in lines] == pytest.approx([-0.5, 0.5, -1, 1])


def test_no_bar_crosses_a_bound_that_holds() -> None:
    one = torch.linspace(-0.1, 0.1, 5000)
    scene = scene_of(show_spread({"w": one, "wide": DRAWN}, {"w": 0.1, "wide": 0.5}))
    boxes = [item for item in scene.items if isinstance(item, Box)]
    left, right = [box.x + 0.5 for box in boxes if box.width == 1][:2]
    end = next(number for number, box in enumerate(boxes) if box.width == 1)
    bars = boxes[:end]
    assert bars[0].x == pytest.approx(left, abs=0.01)
    assert bars[-1].x + bars[-1].width == pytest.approx(right, abs=0.01)


@pytest.mark.parametrize(
    ("tensors", "bounds"),
    [
        ({"w": DRAWN}, None),
        ({"w": DRAWN, "far": DRAWN * 1000}, {"w": 0.5, "far": 400.0}),
        ({"a name that is far too long to stand beside so many words " * 2: DRAWN}, None),
        ({"one": torch.tensor(3)}, {"one": 1.0}),
        ({"zeros": torch.zeros(5)}, None),
        ({"with nan": torch.tensor([1.0, math.nan, math.inf])}, None),
    ],
)
def test_no_text_lies_over_another(
    tensors: dict[str, torch.Tensor], bounds: dict[str, float] | None
) -> None:
    assert collisions(scene_of(show_spread(tensors, bounds))) == []


def test_each_tensor_has_its_name() -> None:
    assert {"a", "b"} <= set(texts_of(show_spread({"a": DRAWN, "b": DRAWN})))


def test_what_cannot_be_drawn_is_refused_with_a_reason() -> None:
    with pytest.raises(ValueError, match="needs tensors by their names"):
        show_spread({})
    with pytest.raises(ValueError, match="'w' holds no finite number"):
        show_spread({"w": torch.empty(0)})
    with pytest.raises(ValueError, match=r"a bound for \['v'\], but no tensor"):
        show_spread({"w": DRAWN}, {"v": 1.0})


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert show_spread({"w": DRAWN}).alt == "Figures are not drawn in this process."
