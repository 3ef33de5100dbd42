"""The version explorer: it asks before it shows, and what it says of a prediction is so."""

from __future__ import annotations

import pytest

from course.figures import not_drawn
from course.lessons.in_place.version_explorer import (
    _EXAMPLES,
    VersionPanel,
    explore_versions,
    judged,
    risen,
)
from course.lessons.in_place.versions_figure import moments_of
from tests.course.widgets.display import VIEW, shown_by

SPOILT = """
w = torch.ones(2, requires_grad=True)
y = w.exp()
d = y.detach()
d += 1
y.sum().backward()
"""


def panel(program: str = SPOILT) -> VersionPanel:
    """The widgets over this program."""
    return explore_versions(program).panel


def walk(shown: VersionPanel, *ticked: str) -> str:
    """Run the next line with these boxes ticked; what is said of it."""
    for box in shown.boxes:
        box.value = box.description in ticked
    shown.next.click()
    return str(shown.message.value)


def test_nothing_is_shown_of_a_line_before_it_is_run() -> None:
    shown = panel()
    assert "Not run yet: `w = torch.ones(2, requires_grad=True)`" in shown.picture.value
    assert "saves" not in shown.picture.value
    assert "<code>w = torch.ones(2, requires_grad=True)</code>" in shown.question.value


def test_there_is_a_box_for_every_counter_and_one_for_an_error() -> None:
    shown = panel()
    for _ in range(3):
        walk(shown)
    assert [box.description for box in shown.boxes] == ["w", "y", "d", "it raises an error"]
    assert not any(box.value for box in shown.boxes)


def test_a_tensor_and_its_detached_one_go_up_together() -> None:
    first, second = panel(), panel()
    for shown in (first, second):
        for _ in range(3):
            walk(shown)
    assert "✗ You ticked d. d and y went up." in walk(first, "d")
    assert "✓ Right. d and y went up." in walk(second, "d", "y")


def test_the_last_line_tells_the_error_and_how_many_predictions_came_true() -> None:
    shown = panel()
    for ticked in ([], [], [], ["d", "y"]):
        walk(shown, *ticked)
    said = walk(shown, "it raises an error")
    assert "✓ Right. No number went up. It raised RuntimeError: saved at version 0" in said
    assert "You were right about 5 of 5 lines." in said
    assert shown.next.disabled
    assert shown.boxes == ()


def test_an_error_that_was_not_foreseen_and_one_that_did_not_come_are_no_hits() -> None:
    moments = moments_of(SPOILT)
    assert judged(set(), False, moments[3], moments[4])[0] is False
    assert "It raised nothing." in judged(set(), True, moments[0], moments[1])[1]


def test_a_name_bound_to_another_tensor_does_not_go_up() -> None:
    before, after = moments_of("x = torch.zeros(2)\nx = x + 1")
    assert risen(before, after) == set()


@pytest.mark.exhaustive("whole notebooks and trainings")
@pytest.mark.parametrize("name", _EXAMPLES)
def test_every_example_can_be_walked_to_its_end(name: str) -> None:
    shown = panel()
    shown.example.value = name
    assert shown.code.value == _EXAMPLES[name]
    for _ in shown.code.value.splitlines():
        shown.next.click()
    assert "The program has ended" in shown.question.value


def test_the_lessons_own_program_comes_back_and_a_changed_one_starts_anew() -> None:
    shown = panel()
    shown.example.value = next(iter(_EXAMPLES))
    shown.example.index = 0
    assert shown.code.value == SPOILT.strip()
    walk(shown)
    shown.code.value = "x = torch.zeros(2)"
    assert "Not run yet: `x = torch.zeros(2)`" in shown.picture.value


def test_a_slip_of_the_pen_is_an_error_of_its_line_and_an_empty_field_a_request() -> None:
    shown = panel()
    shown.code.value = "x = torch.zeros(2) <"
    assert "SyntaxError" in walk(shown)
    shown.code.value = " "
    assert "Write a program into the field" in shown.question.value
    assert shown.next.disabled


def test_a_program_without_lines_is_refused_with_a_reason() -> None:
    with pytest.raises(ValueError, match="this one has no lines"):
        explore_versions(" \n")


def test_what_is_typed_never_becomes_markup() -> None:
    shown = panel()
    shown.code.value = "<script>alert(1)</script>"
    walk(shown)
    assert "<script>" not in shown.question.value + shown.message.value + shown.picture.value


def test_without_a_kernel_the_whole_program_is_a_figure() -> None:
    explorer = explore_versions(SPOILT)
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    assert "what ExpBackward0 saved is stale" in explorer._repr_html_()


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_versions(SPOILT), monkeypatch)
    assert "Run this cell again" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in explore_versions(SPOILT)._repr_html_()
