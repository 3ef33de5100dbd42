"""The explorer of ranks: real gradients, controls moved by the test, and a page without them."""

from __future__ import annotations

import pytest

from course.figures import not_drawn
from course.lessons.devices import explore_ranks
from course.lessons.devices.ranks_explorer import (
    NOTHING,
    PHASES,
    PLAIN,
    SUM,
    WAYS,
    WEIGHED,
    RanksPanel,
    Settings,
    alone,
    ranks_picture,
    run,
    words_of,
)
from tests.course.figures.drawn import collisions, scene_of
from tests.course.widgets.display import VIEW, shown_by


def panel(*settings: object) -> RanksPanel:
    """The panel of an explorer with these settings."""
    return explore_ranks(*settings).panel  # type: ignore[arg-type]


# --- the step -----------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("samples", [1, 3, 5, 8, 12])
def test_weighed_all_ranks_take_the_step_of_a_single_process(ranks: int, samples: int) -> None:
    settings = Settings(ranks, samples, WEIGHED)
    assert [rank.after for rank in run(settings)] == pytest.approx([alone(settings)] * ranks)


def test_the_plain_mean_is_right_for_equal_shards_only() -> None:
    equal, unequal = Settings(2, 6, PLAIN), Settings(2, 5, PLAIN)
    assert run(equal)[0].after == pytest.approx(alone(equal))
    assert abs(run(unequal)[0].after - alone(unequal)) > 0.01


def test_a_sum_is_as_many_times_the_mean_as_there_are_ranks() -> None:
    assert run(Settings(3, 6, SUM))[0].shared == pytest.approx(
        3 * run(Settings(3, 6, PLAIN))[0].shared
    )


def test_every_sample_is_dealt_once_and_a_rank_may_go_without() -> None:
    ranks = run(Settings(4, 3, WEIGHED))
    assert [rank.samples for rank in ranks] == [(1,), (2,), (3,), ()]
    assert ranks[3].own == 0


@pytest.mark.parametrize(("way", "alike"), [(NOTHING, True), (WEIGHED, False)])
def test_ranks_that_start_apart_or_do_not_talk_stay_apart(way: str, alike: bool) -> None:
    settings = Settings(2, 5, way, alike)
    one, other = (rank.after for rank in run(settings))
    assert one != other
    assert "different weights" in words_of(settings, 4)[1]


def test_what_became_of_it_is_told_after_the_last_phase_only() -> None:
    assert "as a single process" in words_of(Settings(2, 5, WEIGHED), 4)[1]
    assert "would have 0.2200" in words_of(Settings(2, 5, PLAIN), 4)[1]
    assert [len(words_of(Settings(), phase)) for phase in range(5)] == [1, 1, 1, 1, 2]
    assert "Nobody asks" in words_of(Settings(2, 5, NOTHING), 3)[0]


@pytest.mark.parametrize(
    ("settings", "words"),
    [((0, 5, PLAIN), "from 1 to 4"), ((2, 13, PLAIN), "1 to 12"), ((2, 5, "max"), "not 'max'")],
)
def test_settings_that_make_no_sense_are_refused(
    settings: tuple[int, int, str], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Settings(*settings)


# --- the picture --------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", range(len(PHASES)))
def test_a_column_fills_with_each_phase(phase: int) -> None:
    picture = ranks_picture(run(Settings(3, 12, WEIGHED)), phase)
    assert picture.alt.startswith(f"After {PHASES[phase]}. rank 0: weight 0.00")
    assert len(picture.alt.split("rank 1")[0].split(", ")) >= phase + 1
    assert collisions(scene_of(picture)) == []


# --- the panel ----------------------------------------------------------------------------------


def test_the_panel_starts_with_what_was_asked_for() -> None:
    shown = panel(3, 7, SUM, False)
    assert shown.settings == Settings(3, 7, SUM, False)
    assert "Phase 0 of 4" in shown.page.value


def test_every_control_changes_the_page() -> None:
    shown = panel()
    before_the_step = (shown.ranks, 4), (shown.samples, 9), (shown.alike, False)
    for control, value in (*before_the_step, (shown.phase, 3), (shown.way, WEIGHED)):
        before = shown.page.value
        control.value = value
        assert shown.page.value != before


def test_the_phases_play() -> None:
    shown = panel()
    shown.play.value = 2
    assert shown.phase.value == 2
    assert "Phase 2 of 4, backward" in shown.page.value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["ranks", "samples", "phase"])
def test_both_ends_of_every_slider_can_be_drawn(name: str, way: str) -> None:
    shown = panel(2, 5, way)
    control = getattr(shown, name)
    for value in (control.min, control.max):
        control.value = value
        assert shown.page.value.count("<img alt=") == 1


def test_every_control_has_its_label() -> None:
    shown = panel()
    controls = (shown.ranks, shown.samples, shown.way, shown.alike, shown.phase)
    assert len({control.description for control in controls if control.description}) == 5


def test_without_a_kernel_the_page_shows_the_whole_step() -> None:
    explorer = explore_ranks()
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    assert "Phase 4 of 4" in repr(explorer)


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_ranks(), monkeypatch)
    assert "Run this cell again" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in explore_ranks()._repr_html_()
