"""The loader explorer's sliders, moved by the test, and its page where there are none."""

from __future__ import annotations

import pytest

from course.lessons.dataloader.loader_explorer import (
    LoaderPanel,
    LoaderSettings,
    explore_loader,
    verdict_words,
)
from course.lessons.dataloader.simulator import run_loader
from tests.course.widgets.display import VIEW, shown_by


def _panel() -> LoaderPanel:
    return explore_loader().panel


def test_the_panel_starts_with_what_was_asked_for() -> None:
    panel = explore_loader(40, 5, workers=3, prefetch=4).panel
    assert panel.settings == LoaderSettings(40, 5, 3, 4)
    assert "3 workers, prefetch_factor 4" in panel.page.value


def test_another_number_of_workers_is_drawn_and_judged() -> None:
    panel = _panel()
    panel.workers.value = 4
    assert "4 workers, prefetch_factor 2" in panel.page.value
    assert "the epoch waits for computing" in panel.page.value


def test_without_workers_there_is_nothing_to_compare_and_nothing_to_prefetch() -> None:
    panel = _panel()
    panel.workers.value = 0
    assert panel.page.value.count("the loop loads. Epoch") == 2  # in the alt text, in the words
    assert (panel.prefetch.disabled, panel.in_order.disabled) == (True, True)
    panel.workers.value = 1
    assert (panel.prefetch.disabled, panel.in_order.disabled) == (False, False)


def test_slow_batches_take_four_times_as_long() -> None:
    panel = _panel()
    panel.slow.value = 3
    assert panel.settings.plan().loads[:4] == (0.12, 0.03, 0.03, 0.12)


def test_taking_what_is_ready_is_drawn() -> None:
    panel = _panel()
    panel.slow.value = 4
    panel.in_order.value = False
    assert "in_order=False" in panel.page.value
    assert "The loop gets them in the order" in panel.page.value


def test_every_position_of_the_sliders_can_be_drawn() -> None:
    panel = _panel()
    for control in (panel.load, panel.compute, panel.workers, panel.prefetch, panel.slow):
        for value in (control.min, control.max):
            control.value = value
            assert "<img alt=" in panel.page.value


def test_the_epoch_plays_and_the_clock_stands_where_it_is_put() -> None:
    panel = _panel()
    panel.play.value = 0
    assert panel.clock.value == 0
    assert "At 0 ms: worker 0 loads batch 0" in panel.page.value
    panel.clock.value = 30
    assert panel.play.value == 30
    assert "times as fast" not in panel.page.value


def test_at_the_end_of_the_epoch_the_whole_is_judged() -> None:
    panel = _panel()
    panel.clock.value = 10
    panel.clock.value = panel.clock.max
    assert "times as fast" in panel.page.value
    assert "At " not in panel.page.value.split("</figure>")[1]


def test_every_control_has_its_label() -> None:
    panel = _panel()
    controls = (panel.load, panel.compute, panel.workers, panel.prefetch, panel.slow, panel.clock)
    assert all(control.description for control in (*controls, panel.in_order))


def test_the_words_agree_with_the_model() -> None:
    settings = LoaderSettings(30, 10, 2, 2)
    alone, two = run_loader(LoaderSettings(30, 10, 0).plan()), run_loader(settings.plan())
    assert f"{alone.seconds / two.seconds:.2f} times as fast" in verdict_words(settings)[2]


def test_the_words_name_the_bottleneck() -> None:
    assert "waits for loading" in verdict_words(LoaderSettings(30, 10, 2))[-1]
    assert "waits for computing" in verdict_words(LoaderSettings(10, 30, 2))[-1]
    assert "add up" in verdict_words(LoaderSettings(10, 30, 0))[-1]


def test_settings_that_make_no_sense_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="workers=-1"):
        explore_loader(workers=-1)


def test_without_a_front_end_it_is_a_static_page() -> None:
    bundle = explore_loader()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "<img alt=" in bundle["text/html"]
    assert "2.40 times as fast" in bundle["text/plain"]


def test_at_a_front_end_it_is_a_widget_with_the_page_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_loader(), monkeypatch)
    assert "<img alt=" in page["text/html"]
    assert widget[VIEW]["model_id"]
