"""The windows explorer: it asks before it shows, judges as torch computes, and its code runs."""

from __future__ import annotations

import doctest

import pytest
import torch
import torch.nn.functional as F  # as the code on the page has it

from course.lessons.layers import explore_windows
from course.lessons.layers import windows_explorer as settings
from course.lessons.layers.windows_explorer import KINDS, POOLS, Setting, SettingError, WindowsPanel
from tests.course.widgets.display import VIEW, shown_by


def panel(kind: str = "average pooling", n: int = 8, **numbers: int) -> WindowsPanel:
    """The widgets over this setting."""
    return explore_windows(kind, n, **numbers).panel


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ceil", [False, True])
def test_the_code_on_the_page_gives_what_is_shown(kind: str, ceil: bool) -> None:
    setting = Setting(kind, 7, 3, 2, 1, ceil, 4)
    given = eval(setting.code, {"F": F, "x": torch.arange(7.0).view(1, 1, 7)})
    assert list(setting.reading().outputs) == given.flatten().tolist()


def test_outputs_are_hidden_until_something_is_said_about_them() -> None:
    shown = panel()
    assert "How many outputs are there?" in shown.message.value
    assert "The outputs aren&#x27;t shown yet." in shown.page.value
    assert "out[0]" not in shown.page.value
    assert shown.walk.children == ()


def test_the_right_number_opens_the_outputs_from_the_first_on() -> None:
    shown = panel()
    shown.guess.value = "3"
    assert "✓ Right: 3." in shown.message.value
    assert "out[0] = 1/3 · x[0] + 1/3 · x[1] + 1/3 · x[2] = 1" in shown.page.value
    assert (shown.walk.children, shown.output.max) == ((shown.output,), 2)


def test_the_slider_walks_through_the_outputs() -> None:
    shown = panel()
    shown.reveal.click()
    shown.output.value = 2
    assert "<pre" in shown.page.value
    assert "out[2] = 1/3 · x[4] + 1/3 · x[5] + 1/3 · x[6] = 5</pre>" in shown.page.value


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in POOLS])
def test_where_the_size_is_given_the_inputs_of_an_output_are_asked_for(kind: str) -> None:
    shown = panel(kind, 8, size=5)
    assert "Which inputs does out[2] read?" in shown.message.value
    read = Setting(kind, 8, size=5).reading().read_by(2)
    shown.guess.value = " and ".join(map(str, read))
    assert "✓ Right: out[2] reads" in shown.message.value


@pytest.mark.parametrize(
    ("kind", "said", "words"),
    [
        (
            "average pooling",
            "4",
            "✗ Not 4. Count the places where a window of 3 can start: 0, 2, …",
        ),
        ("max pooling", "many", "&#x27;many&#x27; has no number in it."),
        ("adaptive average", "2 3", "✗ Not 2, 3. Output i reads from floor(i · 8 / 5) to ceil("),
        ("nearest", "4", "✗ Not 4. Output i reads the input at i · 8 / 5, rounded down."),
        ("nearest-exact", "3", "✗ Not 3. Output i reads the input at (i + 0.5) · 8 / 5, rounded"),
        ("linear", "0 1", "✗ Not 0, 1. Output i lies at (i + 0.5) · 8 / 5 - 0.5, between"),
        ("linear, align_corners", "0", "✗ Not 0. Output i lies at i · 7 / 4, between two"),
    ],
)
def test_a_wrong_answer_gets_a_hint_and_shows_nothing(kind: str, said: str, words: str) -> None:
    shown = panel(kind)
    shown.guess.value = said
    assert words in shown.message.value
    assert shown.walk.children == ()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in POOLS])
@pytest.mark.parametrize(("n", "size"), [(1, 1), (16, 1), (1, 16), (3, 7)])
def test_every_size_has_a_question_with_a_right_and_a_wrong_answer(
    kind: str, n: int, size: int
) -> None:
    setting = Setting(kind, n, size=size)
    found = setting.reading()
    read = found.read_by(size // 2)
    assert settings.judged(setting, found, " ".join(map(str, read)))[0]
    assert settings.judged(setting, found, "99")[1].startswith("✗ Not 99. ")


def test_another_number_asks_again() -> None:
    shown = panel()
    shown.guess.value = "3"
    shown.padding.value = 1
    assert (shown.guess.value, shown.walk.children) == ("", ())
    assert "F.avg_pool1d(x, 3, stride=2, padding=1)" in shown.page.value
    shown.ceil.value = True
    assert "ceil_mode=True" in shown.page.value


def test_each_operation_shows_the_numbers_that_it_takes() -> None:
    shown = panel()
    assert shown.size not in shown.numbers.children
    shown.kind.value = "linear"
    assert shown.numbers.children == (shown.size,)


def test_what_torch_refuses_is_told_in_its_words_and_can_be_mended() -> None:
    shown = panel(padding=1)
    shown.padding.value = 2
    shown.reveal.click()
    shown.guess.value = "3"
    assert "torch refuses: pad should be at most half" in shown.message.value
    assert shown.page.value == ""
    shown.padding.value = 1
    assert "How many outputs" in shown.message.value


def test_a_setting_that_torch_refuses_is_refused_at_once() -> None:
    with pytest.raises(SettingError):
        explore_windows(n=2, kernel=5)
    with pytest.raises(ValueError, match="'pooling' is not an operation"):
        explore_windows("pooling")


def test_every_control_has_its_label_as_text() -> None:
    shown = panel()
    numbers = (shown.n, shown.kernel, shown.stride, shown.padding, shown.ceil, shown.size)
    others = (shown.kind, shown.guess, shown.reveal, shown.output)
    labels = [one.description for one in (*numbers, *others)]
    assert all(labels)
    assert len(set(labels)) == len(labels)


def test_without_a_front_end_the_setting_is_a_picture() -> None:
    explorer = explore_windows("adaptive average")
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert "F.adaptive_avg_pool1d(x, 5): 8 inputs, 5 outputs." in repr(explorer)
    assert "<figure" in explorer._repr_html_()


def test_at_a_front_end_it_leaves_its_last_state(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explore_windows()
    shown = shown_by(explorer, monkeypatch)
    explorer.panel.reveal.click()
    assert any(VIEW in one for one in shown)
    assert "out[0] = 1/3" in shown[-1]["text/html"]


def test_the_example_in_the_docstring_shows_what_it_returns() -> None:
    seen = doctest.testmod(settings)
    assert (seen.failed, seen.attempted) == (0, 2)
