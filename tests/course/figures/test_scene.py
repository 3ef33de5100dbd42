"""Scenes: placing boxes and labels, without drawing."""

from __future__ import annotations

import string

import pytest
from matplotlib import rc_context
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from course.figures.scene import Arrow, Box, Label, Scene, beside, flow, paint, stack, text_width


def _scene(width: float, height: float) -> Scene:
    return Scene(width, height, (Box(0, 0, width, height),))


def _boxes(scene: Scene) -> list[tuple[float, float]]:
    return [(item.x, item.y) for item in scene.items if isinstance(item, Box)]


def test_stacked_scenes_stand_under_each_other() -> None:
    scene = stack([_scene(10, 5), _scene(20, 5)], gap=3)
    assert _boxes(scene) == [(0, 0), (0, 8)]
    assert (scene.width, scene.height) == (20, 13)


@pytest.mark.parametrize(("align", "y"), [(0, 0), (1, 15)])
def test_scenes_beside_each_other_share_an_edge(align: float, y: float) -> None:
    scene = beside([_scene(10, 5), _scene(10, 20)], gap=2, align=align)
    assert _boxes(scene) == [(0, y), (12, 0)]


def test_a_flow_begins_a_new_line_when_the_width_is_used_up() -> None:
    scene = flow([_scene(40, 10)] * 3, width=100, gap=10)
    assert _boxes(scene) == [(0, 0), (50, 0), (0, 20)]


def test_moving_a_scene_moves_its_arrows() -> None:
    moved = Scene(1, 1, (Arrow(((0, 0), (5, 5))),)).moved(2, 3)
    assert moved == (Arrow(((2, 3), (7, 8))),)


def test_the_right_end_of_a_scene_counts_texts_by_their_alignment() -> None:
    wide = text_width("storage")
    assert Scene(0, 0, (Label(10, 0, "storage"),)).right == 10 + wide
    assert Scene(0, 0, (Label(10, 0, "storage", "center"),)).right == 10 + wide / 2
    assert Scene(0, 0, (Label(10, 0, "storage", "right"),)).right == 10


def _drawn_width(text: str, weight: str) -> float:
    """The width in which matplotlib draws the text, its outer spaces included."""
    font = FontProperties(family="DejaVu Sans", weight=weight)
    with rc_context({"text.parse_math": False}):
        framed, frame = (TextPath((0, 0), f"|{t}|", size=12, prop=font) for t in (text, ""))
    return float(framed.get_extents().width - frame.get_extents().width)


@pytest.mark.exhaustive("every figure measured")
@pytest.mark.parametrize("weight", ["normal", "bold"])
def test_no_text_is_wider_than_estimated(weight: str) -> None:
    for character in string.ascii_letters + string.digits + string.punctuation + " ×→↓…–·":
        text = 20 * character
        assert _drawn_width(text, weight) <= text_width(text, 12, bold=weight == "bold"), text


def test_a_painted_scene_is_as_large_as_it_says() -> None:
    figure = paint(Scene(184, 88, (Label(0, 0, "x"),)), margin=4)
    assert tuple(figure.get_size_inches() * 96) == (192, 96)
