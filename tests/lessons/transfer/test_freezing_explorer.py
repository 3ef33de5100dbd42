"""The freezing explorer: real steps, menus moved by the test, and a page without them."""

from __future__ import annotations

import pytest
import torch

from course.figures import not_drawn
from course.lessons.transfer import explore_freezing
from course.lessons.transfer.freezing_explorer import (
    FROZEN,
    HIDDEN,
    TRAINS,
    measure,
    step_picture,
    words_of,
)
from tests.course.figures.drawn import collisions, scene_of
from tests.course.widgets.display import VIEW, shown_by

ALL = (TRAINS,) * 4


# --- the step -----------------------------------------------------------------------------------


def test_all_blocks_train_where_none_is_frozen() -> None:
    step = measure(ALL)
    assert step.ran
    assert [one.moved for one in step.blocks] == [True] * 4
    assert [one.reached for one in step.blocks] == [False, True, True, True]
    weights = 4 * 64 * 64
    assert [(one.gradients, one.state) for one in step.blocks] == [(weights, 2 * weights)] * 4


def test_a_frozen_bottom_keeps_nothing() -> None:
    blocks = measure((FROZEN, FROZEN, TRAINS, TRAINS)).blocks
    assert [one.saved + one.gradients + one.state for one in blocks[:2]] == [0, 0]
    assert [one.moved for one in blocks] == [False, False, True, True]


def test_a_frozen_top_keeps_its_activations() -> None:
    trains, frozen = measure(ALL), measure((TRAINS, TRAINS, TRAINS, FROZEN))
    assert frozen.blocks[3].saved == trains.blocks[3].saved > 0
    assert frozen.blocks[3].gradients == frozen.blocks[3].state == 0


def test_nothing_in_front_of_no_grad_learns_and_a_frozen_block_lets_gradients_through() -> None:
    wall = measure((TRAINS, TRAINS, HIDDEN, TRAINS)).blocks
    assert [one.moved for one in wall] == [False, False, False, True]
    passing = measure((TRAINS, TRAINS, FROZEN, TRAINS)).blocks
    assert [one.moved for one in passing] == [True, True, False, True]


@pytest.mark.parametrize("modes", [(FROZEN,) * 4, (TRAINS, TRAINS, TRAINS, HIDDEN)])
def test_where_nothing_requires_grad_backward_cannot_run(modes: tuple[str, ...]) -> None:
    step = measure(modes)
    assert not step.ran
    assert not any(one.moved for one in step.blocks)
    assert "raises an error" in words_of(modes)[0]


def test_the_step_leaves_random_state_and_grad_mode_alone() -> None:
    before = torch.get_rng_state()
    with torch.no_grad():
        assert measure(ALL).ran
        assert not torch.is_grad_enabled()
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("modes", [(TRAINS,), (TRAINS, TRAINS, TRAINS, "asleep")])
def test_other_modes_are_refused(modes: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="4 modes out of trains, frozen"):
        measure(modes)


# --- what it says and draws ---------------------------------------------------------------------


def test_all_blocks_training_is_the_measure() -> None:
    assert words_of(ALL) == [words_of(ALL)[0]]
    assert "100 % of what it takes" in words_of(ALL)[0]


def test_a_wall_is_named_with_what_lies_in_front_of_it() -> None:
    told = words_of((TRAINS, FROZEN, HIDDEN, TRAINS))
    assert any(one.startswith("Block 1 should train and can't: block 3 runs") for one in told)


@pytest.mark.parametrize(
    ("third", "why"), [(TRAINS, "since a gradient has to"), (HIDDEN, "for a gradient that never")]
)
def test_a_frozen_block_that_keeps_activations_is_named(third: str, why: str) -> None:
    told = words_of((TRAINS, FROZEN, third, TRAINS))
    named = f"Block 2 is frozen and still keeps activations, {why}"
    assert [one.startswith(named) for one in told].count(True) == 1


@pytest.mark.parametrize("modes", [ALL, (FROZEN, FROZEN, TRAINS, TRAINS), (FROZEN, TRAINS) * 2])
def test_the_numbers_of_the_columns_add_up_to_the_total(modes: tuple[str, ...]) -> None:
    step = measure(modes)
    parts = [part for one in step.blocks for part in (one.saved, one.gradients, one.state)]
    assert not any(part % 1024 for part in parts)
    assert f"needs {sum(parts) // 1024} kB" in words_of(modes)[0]


@pytest.mark.parametrize("modes", [ALL, (FROZEN,) * 4, (TRAINS, FROZEN, HIDDEN, TRAINS)])
def test_no_text_lies_over_another(modes: tuple[str, ...]) -> None:
    picture = step_picture(measure(modes))
    scene = scene_of(picture)
    assert collisions(scene) == []
    assert scene.right <= scene.width
    assert picture.alt.startswith(f"Block 1: {modes[0]}, ")


# --- the panel ----------------------------------------------------------------------------------


def test_every_menu_changes_the_page() -> None:
    panel = explore_freezing().panel
    assert panel.modes == (FROZEN, FROZEN, TRAINS, TRAINS)
    for menu, value in zip(panel.menus, (TRAINS, HIDDEN, FROZEN, FROZEN), strict=True):
        before = panel.page.value
        menu.value = value
        assert panel.page.value != before
    assert len({menu.description for menu in panel.menus}) == 4


def test_without_a_kernel_the_page_shows_the_step() -> None:
    explorer = explore_freezing()
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    assert "of what it takes when all blocks train" in repr(explorer)
    assert "<img alt=" in explorer._repr_html_()


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_freezing(), monkeypatch)
    assert "Run this cell again" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in explore_freezing()._repr_html_()
