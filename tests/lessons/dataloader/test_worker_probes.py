"""Pretended workers are like real ones, and real ones are few."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, get_worker_info

from course.lessons.dataloader.worker_probes import (
    as_worker,
    forked,
    next_draws,
    real_worker_draws,
    worker_draws,
)


class _Draws(list[int]):
    def __getitem__(self, i: int) -> list[int]:  # type: ignore[override]
        info = get_worker_info()
        assert info is not None
        drawn = [random.randrange(10**6), int(np.random.randint(10**6))]
        return [info.id, info.num_workers, info.seed, *drawn, int(torch.randint(10**6, ()))]


def test_a_pretended_worker_draws_what_a_real_one_draws() -> None:
    generator = torch.Generator().manual_seed(3)
    base = int(torch.empty((), dtype=torch.int64).random_(generator=generator))
    generator.manual_seed(3)
    data: Any = _Draws([0, 0])
    loader = DataLoader(data, None, generator=generator, **forked(2))
    pretended = []
    for number in range(2):
        with as_worker(number, 2, seed=base):
            pretended.append(_Draws([0])[0])
    assert list(loader) == pretended


def _states() -> list[Any]:
    return [random.getstate(), np.random.get_state(legacy=False), torch.get_rng_state().tolist()]


def test_the_block_gives_everything_back() -> None:
    before = _states()
    with pytest.raises(KeyError), as_worker(1, 3):
        torch.rand(1)
        raise KeyError("from inside")
    assert get_worker_info() is None
    assert str(before) == str(_states())


def test_a_pretended_worker_knows_its_dataset() -> None:
    with as_worker(2, 5, seed=10, dataset="data"):
        info = get_worker_info()
    assert info is not None
    assert (info.id, info.num_workers, info.seed, info.dataset) == (2, 5, 12, "data")


def test_no_workers_are_no_options() -> None:
    assert forked(0, persistent_workers=True) == {}


def test_workers_are_forked_and_waited_for_a_limited_time() -> None:
    assert forked(2, prefetch_factor=1) == {
        "num_workers": 2,
        "multiprocessing_context": "fork",
        "timeout": 20,
        "prefetch_factor": 1,
    }


def test_where_nothing_can_be_forked_the_loop_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    assert forked(2, prefetch_factor=1) == {}


def reseed(number: int) -> None:
    """Give the worker's dataset a generator from the worker's own seed."""
    info = get_worker_info()
    assert info is not None
    info.dataset.rng = np.random.default_rng(info.seed)


def test_pretended_workers_draw_from_the_generator_that_they_were_given() -> None:
    rows = worker_draws.here(reseed, [7, 100], 2)
    expected = [np.random.default_rng(seed).integers(2**40, size=4).tolist() for seed in (7, 8)]
    assert rows[:2] == expected
    assert len(rows) == 4 and rows[2] not in expected


def test_the_generator_that_a_pretended_worker_had_may_be_of_any_kind() -> None:
    usual, other = (worker_draws.here(lambda n: None, [7], 1, kind=k) for k in ("PCG64", "Philox"))
    assert usual != other
    assert worker_draws.here(reseed, [7], 1, kind="Philox") == worker_draws.here(reseed, [7], 1)


def test_what_a_pretended_worker_copies_and_how_texts_are_hashed_may_be_said() -> None:
    def of_text(number: int) -> None:
        info: Any = get_worker_info()
        info.dataset.rng = np.random.default_rng(hash(f"{info.seed}") % 2**63)

    for other in ({"drawn": 2}, {"salt": 7}):
        assert worker_draws.here(reseed, [7], 2, **other) == worker_draws.here(reseed, [7], 2)
    idle = [worker_draws.here(lambda n: None, [7], 1, drawn=n)[0] for n in (0, 2)]
    assert idle[0][2:] == idle[1][:2]
    assert worker_draws.here(of_text, [7], 2) != worker_draws.here(of_text, [7], 2, salt=7)


def test_the_next_draws_stay_the_next_ones() -> None:
    seen = next_draws()
    assert seen == next_draws() == [torch.rand(1).item(), np.random.random(), random.random()]
    assert next_draws() != seen


def test_without_a_seed_of_their_own_pretended_workers_draw_the_same() -> None:
    one, other = worker_draws.here(lambda number: None, [7], 2)
    assert one == other


def test_real_workers_draw_from_the_generator_that_they_were_given() -> None:
    drawn = real_worker_draws.here(reseed, 3)
    assert len(drawn) == len(set(drawn)) == 8
    assert drawn == real_worker_draws.here(reseed, 3)
    assert len(set(real_worker_draws.here(lambda number: None, 3))) == 4
