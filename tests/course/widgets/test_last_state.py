"""The page that a widget leaves behind in the notebook."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from ipywidgets import HTML, Button, Checkbox, Dropdown, HBox, IntSlider, Text, Textarea, VBox

from course.lessons.dataloader.loader_explorer import explore_loader
from course.widgets.explorer import Explorer
from course.widgets.last_state import LiveWidget, page_of, words_of
from tests.course.widgets.display import VIEW, shown_by


def test_a_page_shows_texts_and_what_is_chosen_in_the_order_of_the_box() -> None:
    box = VBox(
        [
            HBox([IntSlider(value=3, description="Workers:"), Checkbox(False, description="Pin")]),
            HTML("<p>Three.</p>"),
            Dropdown(options=[("first", 1), ("a < b", 2)], value=2, description="Case:"),
        ]
    )
    assert page_of(box) == (
        "<p>Workers: <code>3</code> · Pin: <code>no</code></p><p>Three.</p>"
        "<p>Case: <code>a &lt; b</code></p>"
    )


def test_buttons_and_empty_fields_leave_nothing_behind() -> None:
    assert page_of(VBox([Button(description="Run"), Text(description="Own:"), HTML("")])) == ""


def test_typed_text_is_escaped() -> None:
    page = page_of(VBox([Textarea("<script>", description="Code:")]))
    assert page == "<p>Code: <code>&lt;script&gt;</code></p>"


def test_the_words_of_a_page_have_its_pictures_and_no_styles() -> None:
    page = "<style>p{}</style><p>One <b>two</b>.</p><img alt='Six boxes.'><ul><li>x</li></ul>"
    assert words_of(page) == "One two.\nSix boxes.\nx"


class Publisher:
    """Keeps what is published, with its display id and whether it is an update."""

    def __init__(self) -> None:
        self.seen: list[tuple[dict[str, Any], str | None, bool]] = []

    def __call__(
        self, data: dict[str, Any], raw: bool, display_id: str | None = None, update: bool = False
    ) -> None:
        self.seen.append((data, display_id, update))


def test_a_change_of_the_widget_is_written_into_the_page_that_was_shown() -> None:
    text, published = HTML("before"), Publisher()
    LiveWidget(VBox([text]), publish=published).show()
    text.value = "after"
    first, widget, second = published.seen
    assert "after" in second[0]["text/html"] and second[0]["text/plain"] == "after"
    assert (second[1], second[2]) == (first[1], True)
    assert set(widget[0]) == {"text/plain", VIEW}


def test_a_widget_that_was_never_shown_publishes_nothing() -> None:
    published = Publisher()
    live = LiveWidget(VBox([HTML("x")]), publish=published)
    live.save()
    assert published.seen == []


def test_the_page_is_hidden_by_the_widget_and_by_nothing_else() -> None:
    published = Publisher()
    live = LiveWidget(VBox([HTML("x")]), publish=published)
    live.show()
    page, id_ = published.seen[0][0]["text/html"], published.seen[0][1]
    assert f'data-pm-last="{id_}"' in page
    _, style = live._frame.children
    assert f'[data-pm-last="{id_}"]' in style.value and "display:none" in style.value
    assert "pm-alive" in live._frame._dom_classes


def test_colab_keeps_the_widget_itself_and_gets_one_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    published = Publisher()
    LiveWidget(VBox([HTML("x")]), publish=published).show()
    (only,) = published.seen
    assert set(only[0]) == {"text/plain", "text/html", VIEW}


def test_the_last_state_of_an_explorer_follows_its_slider(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer: Explorer[Any] = explore_loader(workers=1)
    shown = shown_by(explorer, monkeypatch)
    explorer.panel.workers.value = 3
    assert "num_workers: <code>1</code>" in shown[0]["text/html"]
    assert "num_workers: <code>3</code>" in shown[-1]["text/html"]
