"""The sampler explorer's controls, moved by the test, and its page where there are none."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from course.figures import not_drawn
from course.lessons.samplers.sampler_explorer import SamplerPanel, SamplerSettings, explore_sampler
from tests.course.widgets.display import VIEW, shown_by


def _panel() -> SamplerPanel:
    return explore_sampler(50, 1).panel


def _at_front_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=True))
    monkeypatch.setattr("course.widgets.front_end.get_ipython", lambda: shell)


def test_the_panel_shows_the_balance_from_the_start() -> None:
    page = _panel().page.value
    assert "<img alt=" in page
    assert "common: 50 samples, drawn 25.5 times; 20.1 different ones, 29.9 not seen." in page
    assert "50 % of the 51 draws are of the rare class." in page


def test_equal_weights_leave_the_balance_of_the_data() -> None:
    panel = _panel()
    panel.rule.value = "equal"
    assert "rare: 1 sample, drawn 1 time;" in panel.page.value
    assert "2.0 % of the 51 draws are of the rare class." in panel.page.value


def test_more_draws_see_more_samples() -> None:
    panel = _panel()
    panel.draws.value = 2000
    assert "common: 50 samples, drawn 1000 times; 50 different ones" in panel.page.value


def test_without_replacement_a_full_epoch_is_the_dataset() -> None:
    panel = _panel()
    panel.replacement.value = False
    assert "51 different samples of 51; 0 are not seen." in panel.page.value


def test_an_epoch_that_cannot_be_drawn_is_a_sentence() -> None:
    panel = _panel()
    panel.replacement.value = False
    panel.draws.value = 52
    assert "num_samples=52 without replacement: only 51 weights" in panel.page.value
    panel.draws.value = 51
    assert "<img alt=" in panel.page.value


def test_class_sizes_change_the_weights_with_them() -> None:
    panel = _panel()
    panel.rare.value = 25
    assert "rare: 25 samples, drawn 25.5 times;" in panel.page.value


def test_every_control_has_its_label_as_text() -> None:
    panel = _panel()
    for control in (panel.common, panel.rare, panel.rule, panel.draws):
        assert control.description.endswith(":")
    assert panel.replacement.description == "replacement"


def test_sliders_reach_the_start_that_was_asked_for() -> None:
    assert explore_sampler(5000, 300).panel.draws.value == 5300


def test_a_rule_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="no rule 'most'; there are equal"):
        SamplerSettings(rule="most").plan()


def test_a_class_without_samples_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="draw at least one sample"):
        explore_sampler(5, 5, num_samples=0)


def test_without_a_kernel_the_page_is_static_and_compares_two_rules() -> None:
    explorer = explore_sampler(50, 1)
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "2.0 % of the 51 draws" in bundle["text/html"]
    assert "50 % of the 51 draws" in bundle["text/plain"]
    assert explorer._panel is None


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_sampler(), monkeypatch)
    assert "<figure" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_without_ipywidgets_there_is_no_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    _at_front_end(monkeypatch)
    monkeypatch.setattr("course.widgets.front_end.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(NotImplementedError):  # IPython then takes the static page
        explore_sampler()._ipython_display_()


def test_while_grading_there_is_no_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    _at_front_end(monkeypatch)
    with not_drawn():
        assert "<img" not in explore_sampler()._repr_html_()
        with pytest.raises(NotImplementedError):
            explore_sampler()._ipython_display_()
