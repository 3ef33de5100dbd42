"""Probes of waiting and of clocks: time passes where a test lets it, and who ran is named."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from course.lessons.dataloader.timing_probes import timed_epoch

Clock = Callable[[], float]


def in_turn(loader: Iterable[int], step: Callable[[int], None], clock: Clock) -> tuple[float, ...]:
    """Wait, step, wait, step: the whole time of the epoch."""
    before = clock()
    for batch in loader:
        step(batch)
    return (clock() - before,)


def all_first(
    loader: Iterable[int], step: Callable[[int], None], clock: Clock
) -> tuple[float, ...]:
    """Load everything, then compute."""
    return in_turn(list(loader), step, clock)


def test_time_passes_at_the_start_at_each_load_in_each_step_and_at_the_end() -> None:
    seen = timed_epoch.here(in_turn, [3, 1], [2, 5], 10, 0.5)
    assert seen["times"] == [10 + 3 + 2 + 1 + 5 + 0.5]


def test_batches_may_be_none() -> None:
    seen = timed_epoch.here(in_turn, [3, 1], [2, 5], blank=True)
    assert seen["times"] == [3 + 2 + 1 + 2]
    assert seen["events"][1:5] == ["load 0", "step None", "load 1", "step None"]


def test_the_order_of_loading_and_computing_is_told() -> None:
    turns = ["start", "load 0", "step 0", "load 1", "step 1", "end"]
    assert timed_epoch.here(in_turn, [1, 1], [1, 1])["events"] == turns
    early = ["start", "load 0", "load 1", "end", "step 0", "step 1"]
    assert timed_epoch.here(all_first, [1, 1], [1, 1])["events"] == early


def test_a_loader_has_a_length_and_may_be_empty() -> None:
    def measured(loader: Any, step: Any, clock: Clock) -> tuple[float, ...]:
        return (len(loader), *in_turn(loader, step, clock))

    assert timed_epoch.here(measured, [], [], 2, 1)["times"] == [0, 3]
