"""Rows of draws: equal values share a colour, and nothing is left out unsaid."""

from __future__ import annotations

from course.figures.palette import REST
from course.figures.scene import Box
from course.lessons.dataloader.draws_figure import show_draws
from tests.course.figures.drawn import collisions, scene_of, texts_of

TWINS = {"worker 0": [3, 5, 8], "worker 1": [3, 5, 9]}


def _fills(lanes: dict[str, list[object]]) -> dict[str, set[tuple[str, ...]]]:
    found: dict[str, set[tuple[str, ...]]] = {}
    for item in scene_of(show_draws(lanes)).items:
        if isinstance(item, Box):
            found.setdefault(item.text, set()).add(item.fills)
    return found


def test_a_value_that_comes_again_has_one_colour_of_its_own() -> None:
    fills = _fills({name: list(row) for name, row in TWINS.items()})
    assert len(fills["3"]) == len(fills["5"]) == 1
    assert fills["3"] != fills["5"] and (REST,) not in fills["3"] | fills["5"]


def test_a_value_that_comes_once_is_grey() -> None:
    fills = _fills({name: list(row) for name, row in TWINS.items()})
    assert fills["8"] == fills["9"] == {(REST,)}


def test_the_alt_text_says_what_comes_again() -> None:
    alt = show_draws(TWINS).alt
    assert "worker 1: 3, 5, 9." in alt
    assert alt.endswith("2 of 4 values come more than once.")
    assert "No value comes more than once." in show_draws({"a": [1]}).alt


def test_what_does_not_fit_is_counted() -> None:
    scene = scene_of(show_draws({"a long row": list(range(100))}))
    texts = [text for text in texts_of(show_draws({"a long row": list(range(100))})) if "+" in text]
    drawn = sum(isinstance(item, Box) for item in scene.items)
    assert texts == [f"+ {100 - drawn}"]
    assert scene.right <= 850
    assert collisions(scene) == []


def test_a_lane_without_draws_is_told() -> None:
    assert "worker 0: nothing." in show_draws({"worker 0": []}).alt
