"""Small pictures in grey: each pixel as bright as its value."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course.figures.pixels import show_pixels
from course.figures.scene import Box
from tests.course.figures.drawn import collisions, scene_of, texts_of


def _greys(picture: object, **limits: float) -> list[str]:
    items = scene_of(show_pixels({"one": picture}, **limits)).items
    return [item.fills[0] for item in items if isinstance(item, Box)][:-1]  # the frame comes last


def test_black_is_zero_and_white_is_one_and_beyond_is_drawn_like_them() -> None:
    greys = _greys(torch.tensor([[0.0, 1.0], [-3.0, 7.0]]))
    assert greys == ["#000000", "#ffffff", "#000000", "#ffffff"]


def test_the_limits_can_be_others() -> None:
    assert _greys(np.array([[0, 8, 16]]), white=16) == ["#000000", "#808080", "#ffffff"]


def test_pictures_stand_under_their_names_with_their_values_range() -> None:
    picture = show_pixels({"dark": np.zeros((2, 3)), "bright": np.ones((2, 3))})
    assert texts_of(picture) == ["dark", "from 0 to 0", "bright", "from 1 to 1"]
    assert "dark: 2 x 3 pixels, from 0 to 0." in picture.alt
    assert collisions(scene_of(picture)) == []


@pytest.mark.parametrize("shape", [(4,), (0, 3), (2, 2, 2)])
def test_what_is_no_picture_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="two dimensions"):
        show_pixels({"one": np.zeros(shape)})


def test_limits_that_leave_nothing_between_are_refused() -> None:
    with pytest.raises(ValueError, match="above black"):
        show_pixels({"one": np.zeros((1, 1))}, black=1, white=1)
