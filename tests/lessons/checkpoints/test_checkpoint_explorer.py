"""The checkpoint explorer: what became of each entry, told in a table, with and without widgets."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from course.lessons.checkpoints import explore_checkpoints
from course.lessons.checkpoints.checkpoint_explorer import (
    ALL,
    BUT_SAME,
    CHANGED,
    NEW,
    OLD,
    OTHER,
    SAME,
    compared,
    entries_of,
    summary,
)
from tests.course.widgets.display import VIEW, shown_by

NAN = float("nan")


# --- the comparison -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (torch.ones(2), torch.ones(2), SAME),
        (torch.tensor([NAN, 1.0]), torch.tensor([NAN, 1.0]), SAME),
        (torch.zeros(0), torch.zeros(0), SAME),
        (torch.ones(2), torch.tensor([1.0, NAN]), CHANGED),
        (torch.ones(2), 2 * torch.ones(2), CHANGED),
        (torch.ones(2), torch.ones(1, 2), OTHER),
        (torch.ones(2), torch.ones(2).double(), OTHER),
        (torch.tensor([True]), torch.tensor([False]), CHANGED),
        (torch.tensor(1j), torch.tensor(2j), CHANGED),
        (3, 3, SAME),
        (3, 4, CHANGED),
        (1, True, OTHER),
        (1, None, OTHER),
        ("adam", "sgd", CHANGED),
        (np.zeros(2), np.zeros(2), SAME),
        (np.zeros(2), np.ones(2), CHANGED),
    ],
)
def test_each_entry_is_judged(one: object, other: object, kind: str) -> None:
    (row,) = compared({"x": one}, {"x": other})
    assert row.kind == kind


def test_a_parameter_is_the_same_as_its_values() -> None:
    weight = nn.Parameter(torch.ones(2))
    (row,) = compared({"w": weight.detach()}, {"w": weight})
    assert row.kind == SAME


def test_a_change_is_measured_beyond_float16() -> None:
    one, other = torch.tensor([0.0, 60000.0]).half(), torch.tensor([0.0, -60000.0]).half()
    (row,) = compared({"x": one}, {"x": other})
    assert row.note == "1 of 2, by up to 1.2e+05"


def test_entries_of_one_side_alone_are_told_in_order() -> None:
    rows = compared({"a": 1, "b": 2}, {"c": 3, "b": 2})
    assert [(row.name, row.kind) for row in rows] == [("a", OLD), ("b", SAME), ("c", NEW)]


def test_entries_are_found_in_nested_containers() -> None:
    checkpoint = {"model": {"w": torch.ones(1)}, "groups": [{"lr": 0.1, "betas": (0.9, 0.99)}]}
    assert list(entries_of(checkpoint)) == ["model.w", "groups.0.lr", "groups.0.betas"]
    assert entries_of(torch.ones(1)) == {"(the object)": torch.ones(1)}
    assert entries_of({"state": {}}) == {"state": {}}


@pytest.mark.parametrize(
    ("name", "without"),
    [
        ("module.0.weight", "0.weight"),
        ("model.module.0.weight", "model.0.weight"),
        ("submodule.weight", "submodule.weight"),
        ("module.module.weight", "module.weight"),
    ],
)
def test_a_prefix_goes_where_a_name_begins_with_it(name: str, without: str) -> None:
    assert list(entries_of({name: 1}, "module.")) == [without]
    assert list(entries_of({name: 1})) == [name]


# --- the page -----------------------------------------------------------------------------------


def both() -> tuple[dict[str, object], dict[str, object]]:
    """A checkpoint before and after a step, with an entry of each kind."""
    first = {"w": torch.zeros(2), "same": 1, "shape": torch.zeros(2), "old": "<b>"}
    second = {"w": torch.ones(2), "same": 1, "shape": torch.zeros(3), "new": 2}
    return first, second


def test_the_page_counts_the_entries_and_escapes_what_is_in_them() -> None:
    page = explore_checkpoints(*both())._repr_html_()
    assert "5 entries: 1 the same, 1 changed, 1 another shape" in page
    assert "&lt;b&gt;" in page
    assert "<b>changed: 2 of 2, by up to 1</b>" in page


def test_without_entries_it_says_so() -> None:
    assert summary([]) == "No entries."
    page = explore_checkpoints({"a": 1}, {"a": 1}).panel
    page.shown.value = BUT_SAME
    assert "None of them." in page.page.value


def test_rows_beyond_forty_are_counted() -> None:
    many = {f"layer.{n}": n for n in range(45)}
    assert "and 5 more" in explore_checkpoints(many, many)._repr_html_()


def test_files_are_compared_and_never_run(tmp_path: Path) -> None:
    torch.save({"a": 1}, tmp_path / "a.pt")
    torch.save({"a": Fraction(1, 2)}, tmp_path / "b.pt")
    assert "1 the same" in repr(explore_checkpoints(tmp_path / "a.pt", str(tmp_path / "a.pt")))
    with pytest.raises(pickle.UnpicklingError):
        explore_checkpoints(tmp_path / "a.pt", tmp_path / "b.pt")


# --- the panel ----------------------------------------------------------------------------------


def test_what_is_shown_can_be_chosen() -> None:
    panel = explore_checkpoints(*both()).panel
    assert panel.shown.value == ALL
    assert panel.page.value.count("<tr>") == 6
    for shown, rows in ((BUT_SAME, 5), (CHANGED, 2), (OLD, 2), (NEW, 2)):
        panel.shown.value = shown
        assert panel.page.value.count("<tr>") == rows, shown


def test_a_prefix_can_be_taken_off() -> None:
    layer = nn.Linear(2, 2)
    wrapped = {f"module.{name}": tensor for name, tensor in layer.state_dict().items()}
    panel = explore_checkpoints(wrapped, layer.state_dict()).panel
    assert "2 only in the first" in panel.page.value
    panel.prefix.value = "module."
    assert "2 entries: 2 the same." in panel.page.value


def test_every_control_has_its_label() -> None:
    panel = explore_checkpoints(*both()).panel
    assert (panel.shown.description, panel.prefix.description) == (
        "Show:",
        "Prefix to take off the names:",
    )


def test_at_a_live_front_end_the_widget_comes_with_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, widget = shown_by(explore_checkpoints(*both()), monkeypatch)
    assert "Run this cell again" in page["text/html"]
    assert widget[VIEW]["model_id"]


def test_without_a_kernel_the_page_shows_all_entries() -> None:
    explorer = explore_checkpoints(*both())
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert explorer._panel is None
    assert "w: changed 2 of 2" in repr(explorer)
