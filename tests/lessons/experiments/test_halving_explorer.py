"""The halving explorer: its verdicts are the simulator's, and its sliders never leave the rungs."""

from __future__ import annotations

import pytest

from course.figures import not_drawn
from course.lessons.experiments import explore_halving
from course.lessons.experiments.halving_explorer import HalvingPanel, Settings, words_of
from tests.course.widgets.display import VIEW, shown_by


def panel(*settings: int) -> HalvingPanel:
    """The panel of an explorer with these settings."""
    return explore_halving(*settings).panel


def test_a_late_first_rung_finds_what_an_early_one_stops() -> None:
    early, late = Settings(9, 3, 1), Settings(9, 2, 18)
    assert "would have been trial 7" in words_of(early, 4)[1]
    assert "it was stopped after 1" in words_of(early, 4)[1]
    assert "Trial 7 would have been the best of them, too." in words_of(late, 2)[1]
    assert "spent 39 epochs; all trials to the end would have taken 243" in words_of(early, 4)[1]


def test_a_rung_says_who_goes_on() -> None:
    first, going = words_of(Settings(9, 3, 1), 1)
    assert first.startswith("Rung 1 of 4, after 1 epoch: 9 trials reached it.")
    assert going == "Goes on: 0, 3, 5. Spent so far: 9 epochs."


def test_one_trial_trains_to_the_end() -> None:
    assert "spent 27 epochs" in words_of(Settings(1, 2, 27), 1)[1]


@pytest.mark.parametrize("numbers", [(0, 3, 1), (28, 3, 1), (9, 5, 1), (9, 3, 0), (9, 3, 28)])
def test_settings_that_make_no_sense_are_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="trials is from 1 to 27"):
        explore_halving(*numbers)


def test_the_panel_begins_at_the_first_rung() -> None:
    shown = panel(9, 3, 1)
    assert shown.settings == Settings(9, 3, 1)
    assert (shown.rung.value, shown.rung.max) == (1, 4)
    assert "Rung 1 of 4" in shown.page.value


def test_every_control_changes_the_page() -> None:
    shown = panel(9, 3, 1)
    for control, value in ((shown.rung, 2), (shown.trials, 20), (shown.eta, 2), (shown.low, 5)):
        before = shown.page.value
        control.value = value
        assert shown.page.value != before


def test_with_fewer_rungs_the_slider_comes_back() -> None:
    shown = panel(9, 3, 1)
    shown.rung.value = 4
    shown.low.value = 9
    assert (shown.rung.value, shown.rung.max) == (2, 2)
    assert "Rung 2 of 2" in shown.page.value


@pytest.mark.parametrize("name", ["trials", "low"])
def test_both_ends_of_every_slider_can_be_drawn(name: str) -> None:
    shown = panel(9, 2, 3)
    control = getattr(shown, name)
    for value in (control.min, control.max):
        control.value = value
        assert shown.page.value.count("<img alt=") == 1


def test_every_control_has_its_label() -> None:
    shown = panel()
    labels = [c.description for c in (shown.trials, shown.eta, shown.low, shown.rung)]
    assert all(labels)
    assert len(set(labels)) == 4


def test_without_a_kernel_the_page_shows_all_rungs() -> None:
    explorer = explore_halving()
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    assert "Rung 4 of 4" in repr(explorer)


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_halving(), monkeypatch)
    assert "Run this cell again" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in explore_halving()._repr_html_()
