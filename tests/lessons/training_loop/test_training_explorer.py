"""The training explorer: real updates, sliders moved by the test, and a page without them."""

from __future__ import annotations

import pytest
import torch

from course.figures import not_drawn
from course.lessons.training_loop import explore_training
from course.lessons.training_loop.training_explorer import (
    AS_IT_IS,
    DIVIDED,
    SCALINGS,
    UPDATES,
    WEIGHED,
    Part,
    Settings,
    TrainingPanel,
    Update,
    best,
    gradient_picture,
    loss_at,
    path_picture,
    train,
    words_of,
)
from tests.course.figures.drawn import collisions, scene_of
from tests.course.widgets.display import VIEW, shown_by


def panel(*settings: object) -> TrainingPanel:
    """The panel of an explorer with these settings."""
    return explore_training(*settings).panel  # type: ignore[arg-type]


# --- the training -------------------------------------------------------------------------------


def test_equal_batches_as_they_are_add_up_to_as_many_times_the_large_batch() -> None:
    first = train(Settings(0.1, 4, 3))[0]
    assert [part.samples for part in first.parts] == [4, 4, 4]
    assert first.grad == pytest.approx(3 * first.wanted)


@pytest.mark.parametrize("batch", [1, 3, 4, 7, 22])
@pytest.mark.parametrize("accumulate", [1, 2, 5])
def test_weighed_by_samples_every_step_reads_the_gradient_of_the_large_batch(
    batch: int, accumulate: int
) -> None:
    for update in train(Settings(0.1, batch, accumulate, WEIGHED)):
        assert update.grad == pytest.approx(update.wanted, abs=1e-12)


def test_dividing_by_accumulation_is_right_for_full_groups_only() -> None:
    ratios = [update.grad / update.wanted for update in train(Settings(0.01, 4, 4, DIVIDED))[:2]]
    assert ratios[0] == pytest.approx(1)
    assert ratios[1] < 0.9


def test_a_step_goes_down_by_rate_times_gradient() -> None:
    for update in train(Settings(0.3, 5, 2)):
        assert update.before - update.after == pytest.approx(0.3 * update.grad)


def test_rates_up_to_1_come_down_and_those_above_it_diverge() -> None:
    start = train(Settings())[0].before
    for lr, falls in ((0.9, True), (1.1, False)):
        end = train(Settings(lr, 22))[-1].after
        assert (loss_at(end) < loss_at(start)) == falls


def test_no_weight_is_better_than_the_best_one() -> None:
    assert loss_at(best()) < min(loss_at(best() - 0.01), loss_at(best() + 0.01))


def test_the_training_leaves_the_random_state_alone() -> None:
    before = torch.get_rng_state()
    train(Settings())
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ((0.0,), "lr is a number above 0"),
        ((float("nan"),), "lr is a number above 0"),
        ((0.1, 23), "batch is from 1 to 22"),
        ((0.1, 4, 0), "accumulate from 1 on"),
        ((0.1, 4, 1, "halved"), "not 'halved'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: tuple[object, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        explore_training(*settings)  # type: ignore[arg-type]


# --- what it says and draws ---------------------------------------------------------------------


def test_each_way_of_scaling_is_judged() -> None:
    told = [words_of(Settings(0.1, 4, 4, scaling), 1)[0] for scaling in SCALINGS]
    assert "step() reads 4 times the gradient of the mean loss over its 16 samples" in told[0]
    assert all("as one large batch would give it" in one for one in told[1:])


@pytest.mark.parametrize(
    ("lr", "words"), [(0.1, "possible is"), (0.9, "swings from one side"), (1.1, "It grows")]
)
def test_what_becomes_of_the_training_is_told(lr: float, words: str) -> None:
    assert words in words_of(Settings(lr, 22), UPDATES)[1]


def test_a_training_that_does_not_swing_is_not_said_to() -> None:
    assert "swings" not in words_of(Settings(0.1, 22), UPDATES)[1]


def test_cells_of_both_signs_lie_on_both_sides_of_zero() -> None:
    update = Update(1.0, 0.9, (Part(4, 2.0), Part(2, -1.0), Part(1, 0.5)), 1.5)
    scene = scene_of(gradient_picture(update))
    assert collisions(scene) == []
    assert "what step() reads: 1.5, from batches of 4, 2, 1" in gradient_picture(update).alt


def test_a_weight_outside_the_valley_is_named() -> None:
    updates = train(Settings(1.1, 22))
    valley, losses = path_picture(updates, updates, UPDATES)._draw().axes
    assert [text.get_text() for text in valley.texts] == [
        f"weight {updates[-1].after:.3g}: outside"
    ]
    assert losses.get_yscale() == "log"


# --- the panel ----------------------------------------------------------------------------------


def test_the_panel_starts_with_what_was_asked_for() -> None:
    shown = panel(0.25, 6, 8, WEIGHED)
    assert shown.settings == Settings(0.25, 6, 8, WEIGHED)
    assert "Update 16 of 16" in shown.page.value


@pytest.mark.exhaustive("whole notebooks and trainings")
def test_every_control_changes_the_page() -> None:
    shown = panel()
    for control, value in (
        (shown.lr, 0.5),
        (shown.batch, 8),
        (shown.accumulate, 3),
        (shown.scaling, DIVIDED),
        (shown.update, 5),
    ):
        before = shown.page.value
        control.value = value
        assert shown.page.value != before


def test_the_updates_play() -> None:
    shown = panel()
    shown.play.value = 3
    assert shown.update.value == 3
    assert "Update 3 of 16" in shown.page.value


@pytest.mark.exhaustive("whole notebooks and trainings")
@pytest.mark.parametrize("name", ["lr", "batch", "accumulate"])
def test_both_ends_of_every_slider_can_be_drawn(name: str) -> None:
    shown = panel(1.1, 22, 6, AS_IT_IS)
    control = getattr(shown, name)
    ends = control.options[0:1] if name == "lr" else (control.min, control.max)
    for value in ends:
        control.value = value
        assert shown.page.value.count("<img alt=") == 2


def test_every_control_has_its_label() -> None:
    shown = panel()
    controls = (shown.lr, shown.batch, shown.accumulate, shown.scaling, shown.update)
    assert all(control.description for control in controls)
    assert len({control.description for control in controls}) == 5


def test_without_a_kernel_the_page_shows_all_updates() -> None:
    explorer = explore_training()
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    assert "Update 16 of 16" in repr(explorer)


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_training(), monkeypatch)
    assert "Run this cell again" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in explore_training()._repr_html_()
