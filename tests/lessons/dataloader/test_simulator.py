"""The loader on a clock of its own: its rules are those of the installed DataLoader."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader, get_worker_info

from course.lessons.dataloader.simulator import LOOP, LoaderPlan, run_loader
from course.lessons.dataloader.worker_probes import forked

TIMES = st.integers(0, 20).map(float)
PLANS = st.builds(
    LoaderPlan,
    st.lists(TIMES, max_size=15).map(tuple),
    TIMES,
    workers=st.integers(0, 4),
    prefetch=st.integers(1, 4),
    in_order=st.booleans(),
    start=TIMES,
)


class _WhoLoads(list[int]):
    def __getitem__(self, i: int) -> tuple[int, str]:  # type: ignore[override]
        info = get_worker_info()
        return i, LOOP if info is None else f"worker {info.id}"


def test_without_workers_loading_and_computing_add_up() -> None:
    run = run_loader(LoaderPlan((3, 5), compute=2, workers=0))
    assert (run.seconds, run.waiting, run.queue) == (12, 8, ())


def test_one_worker_loads_while_the_loop_computes() -> None:
    run = run_loader(LoaderPlan((3, 3, 3), compute=2, workers=1))
    assert (run.ready, run.taken, run.seconds) == ((3, 6, 9), (3, 6, 9), 11)


@given(
    n=st.integers(1, 30),
    load=TIMES,
    compute=TIMES,
    workers=st.integers(1, 6),
    prefetch=st.integers(1, 4),
)
def test_equal_times_follow_the_closed_form_whatever_the_prefetch(
    n: int, load: float, compute: float, workers: int, prefetch: int
) -> None:
    rounds, place = divmod(n - 1, workers)
    run = run_loader(LoaderPlan((load,) * n, compute, workers, prefetch))
    paced_by_workers = (rounds + 1) * load + (place + 1) * compute
    assert run.seconds == max(load + n * compute, paced_by_workers)


@given(PLANS)
def test_nothing_happens_twice_and_no_lane_does_two_things_at_once(plan: LoaderPlan) -> None:
    run = run_loader(plan)
    loaded = sorted(span.batch for span in run.spans if span.kind == "load")
    assert loaded == sorted(run.order) == list(range(len(plan.loads)))
    for lane in run.lanes:
        spans = sorted((s.start, s.end) for s in run.spans if s.lane == lane)
        assert all(before[1] <= after[0] for before, after in pairwise(spans))


@given(PLANS)
def test_the_loop_waits_or_computes_all_the_time(plan: LoaderPlan) -> None:
    run = run_loader(plan)
    assert run.waiting + plan.compute * len(plan.loads) == pytest.approx(run.seconds)


@given(PLANS)
def test_no_more_batches_are_ready_than_were_sent_ahead(plan: LoaderPlan) -> None:
    run = run_loader(plan)
    assert all(0 <= count <= plan.prefetch * plan.workers for _, _, count in run.queue)


def test_a_longer_stock_outlasts_a_slow_batch() -> None:
    loads = (1.0,) * 7 + (9.0, 20.0) + (1.0,) * 7
    seconds = [run_loader(LoaderPlan(loads, 3, 2, prefetch)).seconds for prefetch in (1, 3)]
    assert seconds == [63, 51]


def test_out_of_order_the_loop_takes_what_is_ready() -> None:
    plan = LoaderPlan((9, 1, 1, 1, 1), compute=2, workers=2, prefetch=2, in_order=False)
    run = run_loader(plan)
    assert run.order == (1, 3, 4, 0, 2)
    assert run.seconds < run_loader(LoaderPlan(plan.loads, 2, 2)).seconds


def test_starting_the_workers_comes_first() -> None:
    run = run_loader(LoaderPlan((2, 2), compute=1, workers=2, start=5))
    assert [span.kind for span in run.spans[:2]] == ["start", "start"]
    assert run.ready == (7, 7)


def test_an_epoch_without_batches_takes_no_time() -> None:
    assert run_loader(LoaderPlan((), compute=1)).seconds == 0


@pytest.mark.parametrize(
    ("workers", "prefetch", "compute", "cause"),
    [(-1, 2, 1, "workers=-1"), (1, 0, 1, "prefetch=0"), (1, 1, -1, "times are 0 or more")],
)
def test_a_plan_that_makes_no_sense_is_refused(
    workers: int, prefetch: int, compute: float, cause: str
) -> None:
    with pytest.raises(ValueError, match=cause):
        LoaderPlan((1,), compute, workers, prefetch)


@pytest.mark.parametrize(("workers", "prefetch"), [(0, 2), (1, 1), (2, 1), (2, 3)])
def test_torch_gives_each_batch_to_the_worker_that_the_model_names(
    workers: int, prefetch: int
) -> None:
    data: Any = _WhoLoads(range(7))
    loader = DataLoader(data, batch_size=None, **forked(workers, prefetch_factor=prefetch))
    run = run_loader(LoaderPlan((1,) * 7, 1, workers, prefetch))
    modelled = {s.batch: s.lane for s in run.spans if s.kind == "load"}
    assert dict(tuple(pair) for pair in loader) == modelled


def test_torch_sends_ahead_as_many_batches_as_the_model() -> None:
    data: Any = range(20)
    batches: Any = iter(DataLoader(data, **forked(2, prefetch_factor=3)))
    run = run_loader(LoaderPlan((0,) * 20, 1, 2, 3))
    next(batches)
    loaded = [s.batch for s in run.spans if s.kind == "load" and s.start <= run.taken[0]]
    assert batches._send_idx == len(loaded) == 7
