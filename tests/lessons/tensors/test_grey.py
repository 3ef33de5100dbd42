"""Grey pictures with numbers: each pixel says its value, and marked ones are framed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course.figures import Picture
from course.figures.palette import FILLS, contrast
from course.figures.scene import Box
from course.lessons.tensors import show_grey
from tests.course.figures.drawn import collisions, scene_of, texts_of

ONE = torch.tensor([[0, 128, 255]], dtype=torch.uint8)


def pixels(picture: Picture) -> list[Box]:
    return [i for i in scene_of(picture).items if isinstance(i, Box) and i.text]


def test_a_pixel_is_as_grey_as_its_number_and_the_number_can_be_read() -> None:
    drawn = pixels(show_grey({"one": ONE}))
    assert [box.text for box in drawn] == ["0", "128", "255"]
    assert [box.fills[0] for box in drawn] == ["#000000", "#808080", "#ffffff"]
    assert min(contrast(box.ink, box.fills[0]) for box in drawn) >= 4.5


def test_every_grey_leaves_its_number_readable() -> None:
    for value in range(256):
        (box,) = pixels(show_grey({"one": torch.tensor([[value]])}))
        assert contrast(box.ink, box.fills[0]) >= 4.5


def test_marked_pixels_are_framed_and_counted() -> None:
    mask = ONE > 100
    picture = show_grey({"one": ONE, "two": ONE}, marked={"two": mask})
    frames = [i for i in scene_of(picture).items if isinstance(i, Box) and i.edge == FILLS[5]]
    places = {(box.x // 30) for box in frames}
    assert len(places) == 2
    assert "2 of 3 pixels marked" in texts_of(picture)
    assert "2 of 3 pixels marked." in picture.alt


def test_the_words_read_out_the_row_with_most_marks_in_every_picture() -> None:
    rows = torch.arange(9).view(3, 3)
    mask = torch.tensor([[False] * 3, [False, True, True], [True, False, False]])
    words = show_grey({"a": rows, "b": rows * 2}, marked={"b": mask}).alt
    assert "from 0 to 8. Row 1 reads 3, 4, 5." in words
    assert "from 0 to 16. Row 1 reads 6, 8, 10. 3 of 9 pixels marked." in words


def test_halves_are_written_out_and_pixels_grow_for_them() -> None:
    (box,) = pixels(show_grey({"mean": np.array([[127.5]])}))
    assert box.text == "127.5"
    assert box.width > 30


def test_pictures_stand_in_line_and_no_text_lies_over_another() -> None:
    picture = show_grey(dict.fromkeys("abcd", torch.zeros(6, 6)), {"c": torch.ones(6, 6) > 0})
    assert len({box.y for box in pixels(picture)}) == 6
    assert collisions(scene_of(picture)) == []


def test_what_is_no_small_picture_is_refused_with_its_shape() -> None:
    with pytest.raises(ValueError, match=r"'a' has shape \(3, 2, 2\)"):
        show_grey({"a": torch.zeros(3, 2, 2)})
    with pytest.raises(ValueError, match="marked names 'b'"):
        show_grey({"a": ONE}, {"b": ONE > 0})
    with pytest.raises(ValueError, match=r"has shape \(1,\) instead of \(1, 3\)"):
        show_grey({"a": ONE}, {"a": torch.ones(1)})
