"""The bench of the project: what it measures, and that it changes nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import nn

from course.lessons.project import bench, fresh_train, megabytes_saved, on_copies, step_apart
from course.lessons.project.workbench import Pair
from tests.lessons.source import Source

SOURCE = Source("17-project")
SOLUTIONS = SOURCE.solved(*(one.name for one in SOURCE.exercises))
QUICK = ("rows", "parameters", "ranks", "weighted loss", "modes")
DIGITS = "digits"  # the one line whose numbers need not be equal

pytestmark = pytest.mark.usefixtures("beside_the_script")


@pytest.fixture(autouse=True)
def _streams() -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        yield


def mended(*names: str) -> dict[str, Any]:
    """The source's own solutions of these pieces."""
    return {name: SOLUTIONS[name] for name in names}


def apart(*names: str) -> dict[str, Any]:
    """These pieces of the script, each on copies."""
    pieces = fresh_train().PIECES
    return {name: on_copies(pieces[name]) for name in names}


# --- what it measures -----------------------------------------------------------------------------


@pytest.mark.exhaustive("whole notebooks and trainings")
def test_as_found_all_is_off_and_mended_all_is_equal() -> None:
    found, right = bench(), bench(**mended(*fresh_train().PIECES))
    off = {name for name, one in found.measured.items() if isinstance(one, Pair) and not one.equal}
    assert off == found.measured.keys()
    assert not found.equal and right.equal
    assert [line[0] for line in repr(right).splitlines()] == [*"✓✓✓✓✓✓✓✓✓", " "]


@pytest.mark.parametrize(
    ("fact", "left", "right"),
    [
        ("rows", "912", "639"),
        ("parameters", "8970", "650"),
        ("ranks", "-0.4705", "-0.2094"),
        ("weighted loss", "1.6269", "0.7936"),
        ("modes", "3", "0"),
    ],
)
def test_a_line_has_the_numbers_as_found(fact: str, left: str, right: str) -> None:
    assert bench(fact).measured == {fact: Pair(left, right, False)}


@pytest.mark.parametrize(
    ("fact", "pieces"),
    [
        ("two runs", ["batch_of"]),
        ("rows", ["rank_order"]),
        ("parameters", ["Net"]),
        ("ranks", ["combined"]),
        ("weighted loss", ["loss_of"]),
        ("memory", ["mean_loss"]),
        ("modes", ["accuracy"]),
        ("best", ["Net", "keep_best"]),
        ("resumed", ["batch_of", "accuracy", "snapshot", "restore"]),
    ],
)
def test_a_line_is_right_with_its_pieces_and_not_without_one(fact: str, pieces: list[str]) -> None:
    assert bench(fact, **mended(*pieces)).equal
    for left_out in pieces:
        if left_out not in ("snapshot", "restore"):  # one doesn't go without the other
            assert not bench(fact, **mended(*{*pieces} - {left_out})).equal
    if fact == "resumed":
        assert not bench(fact, **mended("batch_of", "accuracy")).equal


def test_memory_is_counted_after_each_epoch() -> None:
    pair = bench("memory").measured["memory"]
    assert isinstance(pair, Pair)
    assert [f"{one:.2f}" for one in megabytes_saved(2)] == [pair.left, pair.right]


@pytest.mark.parametrize(
    ("eights", "as_found"),
    [([2, 0, 0], 0.54), ([1, 1, 0], 0.26), ([1, 1, 1], 0), ([0, 0], 0), ([4, 4, 4], 0)],
)
def test_three_ranks_step_as_one_where_their_weights_are_equal(
    eights: list[int], as_found: float
) -> None:
    assert step_apart(eights) == pytest.approx(as_found, abs=0.01)
    assert step_apart(eights, combined=SOLUTIONS["combined"]) < 1e-5
    assert step_apart(eights, loss_of=fresh_train().loss_of) < 1e-5


@pytest.mark.parametrize(("eights", "rows"), [([5, 0, 0], 4), ([5, 5, 3], 5), ([0, 0], 500)])
def test_rows_that_are_not_there_cannot_be_dealt(eights: list[int], rows: int) -> None:
    with pytest.raises(ValueError, match="can't be dealt"):
        step_apart(eights, rows)


# --- what it leaves alone -------------------------------------------------------------------------


def test_it_leaves_streams_threads_and_the_imported_script_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    train = fresh_train()
    monkeypatch.setitem(sys.modules, "train", train)
    rows, state, threads = train.LEARNED[0].clone(), torch.get_rng_state(), torch.get_num_threads()
    bench("two runs", "best", *QUICK)
    megabytes_saved(1)
    step_apart([1, 0])
    assert torch.equal(rows, train.LEARNED[0])
    assert torch.equal(state, torch.get_rng_state())
    assert threads == torch.get_num_threads()


def test_each_fresh_script_has_rows_of_its_own() -> None:
    one, two = fresh_train(), fresh_train()
    one.LEARNED[0].zero_()
    assert two.LEARNED[0].any()


def test_without_the_script_it_says_which_cell_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [one for one in sys.path if "17-project" not in one])
    monkeypatch.delitem(sys.modules, "train", raising=False)
    with pytest.raises(ModuleNotFoundError, match="first cell"):
        fresh_train()


# --- what it is asked -----------------------------------------------------------------------------


def test_what_is_unknown_is_told_with_what_there_is() -> None:
    with pytest.raises(ValueError, match=r"'row'.*two runs.*batch_of"):
        bench("row")
    with pytest.raises(ValueError, match="'rank_orders'"):
        bench("rows", rank_orders=len)


def test_an_error_of_a_piece_is_told_in_its_line_and_the_others_go_on() -> None:
    def broken(*args: object) -> None:
        raise IndexError("no such row\nat all")

    found = bench("modes", "rows", rank_order=broken)
    assert not bench("rows", rank_order=broken).equal
    lines = repr(found).splitlines()
    assert lines[0].startswith("✗ modes                 3        0   modules")
    assert lines[1:] == ["✗ rows          IndexError: no such row"]


# --- pieces on copies -----------------------------------------------------------------------------


def test_on_copies_a_piece_cannot_reach_what_it_is_given() -> None:
    def piece(x: torch.Tensor, model: nn.Module, *, y: torch.Tensor, number: int) -> torch.Tensor:
        """Write everywhere."""
        x += number
        y.zero_()
        model.eval()
        return x

    x, model, y = torch.ones(2, requires_grad=True), nn.Linear(1, 1), torch.ones(3)
    found = on_copies(piece)(x, model, y=y, number=2)
    assert found.tolist() == [3.0, 3.0] and not found.requires_grad
    assert x.tolist() == [1.0, 1.0] and y.tolist() == [1.0, 1.0, 1.0] and model.training
    assert on_copies(piece).__name__ == "piece"


def test_only_who_touches_others_things_is_found_by_copies() -> None:
    for name in ("batch_of", "rank_order", "accuracy", "keep_best"):
        assert bench("two runs", **apart(name)).equal is (name == "batch_of")
    assert bench("modes", **apart("accuracy")).equal
    assert not bench("best", **apart("keep_best")).equal
    assert bench("best", **apart("keep_best"), **mended("Net")).equal
