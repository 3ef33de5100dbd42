"""Photos of a few pixels: their colours are the tensor's, and their words tell them."""

from __future__ import annotations

import pytest
import torch

from course.figures.palette import contrast
from course.figures.scene import Box, Scene
from course.lessons.memory_layout import show_photos
from tests.course.figures.drawn import scene_of, texts_of


def red(size: int) -> torch.Tensor:
    """A red photo, height by width by colour."""
    photo = torch.zeros(size, size, 3)
    photo[..., 0] = 1
    return photo


def pixels(scene: Scene) -> list[Box]:
    return [item for item in scene.items if isinstance(item, Box)]


def test_a_pixel_has_the_colour_that_the_tensor_says() -> None:
    photo = torch.tensor([1.0, 0.5, 0.0]).view(3, 1, 1)
    (pixel,) = pixels(scene_of(show_photos(photo, names=["one"])))
    assert (pixel.fills, pixel.text) == (("#ff8000",), "RG")


def test_a_red_photo_is_red_and_its_wrong_view_has_every_colour() -> None:
    photo = red(8)
    words = show_photos(photo.reshape(3, 8, 8), photo.permute(2, 0, 1), names=["a", "b"]).alt
    assert "Photo 'a' of 8 × 8 pixels: 22 are R, 21 are B, 21 are G." in words
    assert "Its first row reads R B G R B G R B." in words
    assert words.endswith("Photo 'b' of 8 × 8 pixels: every pixel is R.")


def test_the_mean_of_each_colour_stands_below() -> None:
    texts = texts_of(show_photos(red(8).permute(2, 0, 1), names=["a"]))
    assert "mean R, G, B: 1.00, 0.00, 0.00" in texts


def test_the_letters_can_be_read_on_every_pure_colour() -> None:
    corners = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * 3)
    photo = corners.t().reshape(3, 2, 4)
    for pixel in pixels(scene_of(show_photos(photo, names=["all"]))):
        assert contrast(pixel.ink, pixel.fills[0]) >= 4.5


def test_values_beyond_0_and_1_are_cut_off() -> None:
    photo = torch.tensor([7.0, -1.0, 0.0]).view(3, 1, 1)
    (pixel,) = pixels(scene_of(show_photos(photo, names=["one"])))
    assert pixel.fills == ("#ff0000",)


@pytest.mark.parametrize("shape", [(8, 8, 3), (3, 8), (3, 30, 2), (3, 0, 0)])
def test_what_is_no_small_photo_is_refused_with_its_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"shape \(3, height, width\)"):
        show_photos(torch.zeros(shape), names=["x"])


def test_a_name_is_wanted_for_each_photo() -> None:
    with pytest.raises(ValueError, match="1 photos and 2 names"):
        show_photos(red(2).permute(2, 0, 1), names=["a", "b"])
