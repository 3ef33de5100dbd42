"""Figures of several ranks: times, shards, and a ring that adds up."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from course.figures import Picture, not_drawn
from course.figures.palette import CARD, FAULT
from course.figures.scene import Box
from course.lessons.devices import show_ranks, show_ring, show_shards
from course.lessons.devices.ring_figure import ring_steps
from tests.course.figures.drawn import collisions, scene_of, texts_of

ROWS = {"rank 0": [("work", 0, 3), ("sum", 3, 4)], "rank 1": [("work", 0, 2), ("sum", 3, 4)]}


# --- time ---------------------------------------------------------------------------------------


def test_the_time_between_two_pieces_of_work_is_waiting() -> None:
    picture = show_ranks(ROWS)
    assert picture.alt == (
        "rank 0: work from 0 to 3, sum from 3 to 4. "
        "rank 1: work from 0 to 2, waits from 2 to 3, sum from 3 to 4."
    )
    assert [box.text for box in boxes(picture) if box.dashed] == ["waits"]


def test_after_the_last_piece_a_rank_is_idle() -> None:
    assert (
        "rank 1: b from 0 to 1, idle from 1 to 2."
        in show_ranks({"rank 0": [("a", 0, 2)], "rank 1": [("b", 0, 1)]}).alt
    )


def test_boxes_are_as_wide_as_their_time_and_coloured_by_their_words() -> None:
    work, total, shorter, _, again = boxes(show_ranks(ROWS))
    assert work.width == pytest.approx(1.5 * shorter.width)
    assert work.fills == shorter.fills != total.fills == again.fills


def test_what_never_ends_says_so() -> None:
    picture = show_ranks({"rank 0": [("sum", 1, math.inf)], "rank 1": [("save", 0, 2)]})
    assert "sum for ever" in picture.alt
    endless = next(box for box in boxes(picture) if box.text == "sum: for ever")
    assert (endless.dashed, endless.ink) == (True, FAULT)
    assert scene_of(picture).right <= scene_of(picture).width


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({}, "give each rank"),
        ({"rank 0": []}, "give each rank"),
        ({"rank 0": [("a", 0, 2), ("b", 1, 3)]}, "free from 2"),
        ({"rank 0": [("a", 2, 1)]}, "from 2 to 1"),
    ],
)
def test_what_is_no_timeline_is_refused(
    rows: dict[str, list[tuple[str, float, float]]], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        show_ranks(rows)


# --- shards -------------------------------------------------------------------------------------


def test_samples_that_come_twice_and_those_that_nobody_gets_are_told() -> None:
    picture = show_shards({"rank 0": [0, 2, 4], "rank 1": [1, 3, 0]}, samples=6)
    assert picture.alt == (
        "rank 0: 0, 2 and 4. rank 1: 1, 3 and 0. More than once: 0. Nobody gets: 5."
    )
    assert [(box.text, box.fills) for box in boxes(picture) if box.dashed] == [("0", (CARD,))]


def test_a_rank_may_have_nothing() -> None:
    picture = show_shards({"rank 0": [0], "rank 1": []}, samples=1)
    assert "rank 1: nothing. More than once: none. Nobody gets: none." in picture.alt


@pytest.mark.parametrize("shards", [{}, {"rank 0": [3]}, {"rank 0": [-1]}])
def test_what_is_no_sample_is_refused(shards: dict[str, list[int]]) -> None:
    with pytest.raises(ValueError, match="from 0 to 2"):
        show_shards(shards, samples=3)


# --- the ring -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_a_ring_has_the_sum_of_all_everywhere_after_its_last_step(ranks: int) -> None:
    steps = ring_steps(ranks)
    assert len(steps) == 2 * (ranks - 1) + 1
    everyone = frozenset(range(ranks))
    assert all(names == everyone for row in steps[-1] for names in row)
    halfway = [[names == everyone for names in row].count(True) for row in steps[ranks - 1]]
    assert halfway == [1] * ranks


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_in_each_step_each_rank_gets_one_piece(ranks: int) -> None:
    steps = ring_steps(ranks)
    for before, after in pairwise(steps):
        for one, other in zip(before, after, strict=True):
            assert sum(a != b for a, b in zip(one, other, strict=True)) == 1


def test_the_ring_is_drawn_step_by_step() -> None:
    picture = show_ring(3)
    assert "step 2: add" in texts_of(picture)
    assert "step 4: copy: 0+1+2, 0+1+2, 0+1+2;" in picture.alt
    with pytest.raises(ValueError, match="2 to 4 ranks, not 5"):
        show_ring(5)


@pytest.mark.parametrize(
    "picture",
    [show_ranks(ROWS), show_shards({f"rank {r}": list(range(r, 40, 4)) for r in range(4)}, 40)]
    + [show_ring(ranks) for ranks in (2, 3, 4)],
)
def test_no_text_lies_over_another(picture: Picture) -> None:
    assert collisions(scene_of(picture)) == []


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        pictures = [show_ranks({}), show_shards({}, 0), show_ring(9)]
    assert all("not drawn" in picture.alt for picture in pictures)


def boxes(picture: Picture) -> list[Box]:
    """The boxes of a picture, in drawing order."""
    return [item for item in scene_of(picture).items if isinstance(item, Box)]
