"""Loader timelines: bars where the model has them, legible, and told in words."""

from __future__ import annotations

import pytest

from course.figures import not_drawn
from course.figures.palette import CARD, MUTED, REST, fill
from course.figures.scene import SMALL, Box, Label
from course.lessons.dataloader.simulator import LoaderPlan, run_loader
from course.lessons.dataloader.timeline_figure import (
    WIDTH,
    format_seconds,
    moment_words,
    show_loader_timeline,
)
from tests.course.figures.drawn import collisions, scene_of, texts_of

TWO = LoaderPlan((0.03,) * 8, 0.01, workers=2)
ALONE = LoaderPlan((0.03,) * 8, 0.01, workers=0)
UNEVEN = LoaderPlan((0.08, 0.02, 0.02, 0.02) * 3, 0.015, in_order=False, start=0.05)


def _bars(plan: LoaderPlan, colour: str) -> list[Box]:
    items = scene_of(show_loader_timeline(plan)).items
    return [item for item in items if isinstance(item, Box) and item.fills == (colour,)]


def test_every_load_and_every_step_has_a_bar_with_its_batch() -> None:
    for colour in (fill(0), fill(1)):
        assert sorted(int(bar.text) for bar in _bars(TWO, colour)) == list(range(8))


def test_bars_are_as_long_as_what_they_stand_for() -> None:
    load, step = _bars(TWO, fill(0))[0], _bars(TWO, fill(1))[0]
    assert load.width == pytest.approx(3 * step.width)
    assert step.x == pytest.approx(load.x + load.width)


def test_waiting_is_dashed_and_grey() -> None:
    dashed = [bar for bar in _bars(TWO, REST) if bar.dashed]
    waits = [span for span in run_loader(TWO).spans if span.kind == "wait"]
    assert len(dashed) == len(waits) == 4
    assert {bar.ink for bar in dashed} == {MUTED}


def test_the_lanes_are_workers_stock_and_loop() -> None:
    assert texts_of(show_loader_timeline(TWO))[1:5] == ["worker 0", "worker 1", "ready", "loop"]
    assert texts_of(show_loader_timeline(ALONE))[1] == "loop"
    assert "ready" not in texts_of(show_loader_timeline(ALONE))


def test_stock_is_told_as_a_count_that_no_batch_number_looks_like() -> None:
    uneven = LoaderPlan((0.04, 0.01, 0.01, 0.01) * 3, 0.015, workers=2, prefetch=3)
    stock = [text for text in texts_of(show_loader_timeline(uneven)) if text.startswith("×")]
    assert set(stock) == {"×1", "×2", "×3", "×4"}
    assert "×1, ×2" in show_loader_timeline(uneven).caption


def test_what_is_still_to_come_is_pale_while_the_clock_stands() -> None:
    items = scene_of(show_loader_timeline(TWO, at=0.05)).items
    pale = {i.text for i in items if isinstance(i, Box) and i.fills == (CARD,) and i.text}
    assert {"2", "7"} <= pale  # step 2 and load 7 are still to come
    assert "0" not in pale
    assert [bar for bar in _bars(TWO, CARD) if bar.text] == []  # without a clock nothing is


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (0.0, "worker 0 loads batch 0; worker 1 loads batch 1; the loop waits for batch 0"),
        (0.03, "worker 0 loads batch 2; worker 1 loads batch 3; the loop trains on batch 0"),
        (0.125, "worker 0 has nothing to do; worker 1 has nothing to do; the loop trains on"),
        (0.14, "worker 0 is done; worker 1 is done; the loop is done; ready: none."),
    ],
)
def test_a_moment_is_told_in_words(at: float, words: str) -> None:
    (told,) = moment_words(run_loader(TWO), at)
    assert words in told
    assert told in show_loader_timeline(TWO, at=at).alt


def test_the_words_of_a_moment_count_what_lies_ready() -> None:
    assert "ready: 1." in moment_words(run_loader(TWO), 0.035)[0]


def test_plans_share_one_time_axis() -> None:
    scene = scene_of(show_loader_timeline(ALONE, TWO))
    bars = [i for i in scene.items if isinstance(i, Box) and i.fills == (fill(0),)]
    assert len({round(bar.width, 6) for bar in bars}) == 1


@pytest.mark.parametrize("plans", [(), (ALONE,), (TWO,), (ALONE, TWO, UNEVEN)])
def test_no_text_lies_over_another_and_nothing_leaves_the_figure(
    plans: tuple[LoaderPlan, ...],
) -> None:
    scene = scene_of(show_loader_timeline(*plans))
    assert collisions(scene) == []
    assert scene.right <= WIDTH + 1e-6


def test_a_number_that_does_not_fit_is_left_out() -> None:
    texts = texts_of(show_loader_timeline(LoaderPlan((0.001,) * 200, 0.0001)))
    assert "150" not in texts
    assert all(len(text) > 0 for text in texts)


def test_texts_are_at_least_twelve_pixels_high() -> None:
    for item in scene_of(show_loader_timeline(ALONE, TWO, UNEVEN)).items:
        assert not isinstance(item, Box | Label) or item.size >= SMALL or not item.text


def test_the_alt_text_says_what_the_figure_shows() -> None:
    alt = show_loader_timeline(ALONE, TWO).alt
    assert "no workers: the loop loads. Epoch: 320 ms, of which not computing: 240 ms." in alt
    assert "2 workers, prefetch_factor 2. Epoch: 140 ms, of which not computing: 60 ms." in alt
    assert "The loop waits 4 times; most batches that lie ready: 1." in alt


def test_the_order_is_told_where_it_is_not_the_samplers() -> None:
    assert f"in the order {run_loader(UNEVEN).order}" in show_loader_timeline(UNEVEN).alt


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert show_loader_timeline(TWO).svg() == show_loader_timeline(TWO).svg()


def test_an_epoch_without_batches_can_be_drawn() -> None:
    assert b"<svg" in show_loader_timeline(LoaderPlan((), 0.01)).svg()


def test_where_nothing_is_drawn_the_words_remain() -> None:
    with not_drawn():
        assert "<img" not in show_loader_timeline(TWO)._repr_html_()


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 ms"), (0.0125, "12.5 ms"), (0.9, "900 ms"), (2.5, "2.5 s")]
)
def test_durations_have_a_readable_unit(seconds: float, words: str) -> None:
    assert format_seconds(seconds) == words
