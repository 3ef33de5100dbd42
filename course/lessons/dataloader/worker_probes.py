"""What the tests of loaders with workers need: real worker processes, few and small, or none.

A worker process costs a fork, and a grader allows only a few. So a test asks most questions of a
*pretended* worker: code that is told by `get_worker_info()` that it runs in worker 2 of 5, in this
very process. One question is then asked of real workers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
from torch.utils.data._utils import worker as _worker

from course.probes.decorator import probe
from course.probes.orders import hashes_of_another_process

__all__ = ["as_worker", "forked", "next_draws", "real_worker_draws", "worker_draws"]


def forked(count: int, **options: Any) -> dict[str, Any]:
    """DataLoader options for `count` workers that a notebook's own classes can be sent to.

    Forked processes inherit what the notebook defines. Where there is no fork (Windows) the
    loop loads by itself, and `options` that only workers have are left out.

    Args:
        count: The number of workers; 0 for none.
        options: Further options of the loader that only workers have, such as `prefetch_factor`.

    Returns:
        The options to give to a DataLoader; with workers, `timeout` is 20 s unless given.

    >>> forked(0)
    {}
    """
    if count == 0 or "fork" not in torch.multiprocessing.get_all_start_methods():
        return {}
    # A worker that dies or hangs is noticed after this time instead of never.
    limit = {"timeout": 20}
    return {"num_workers": count, "multiprocessing_context": "fork", **limit, **options}


@contextmanager
def as_worker(number: int, count: int, *, seed: int = 0, dataset: Any = None) -> Iterator[None]:
    """A block that runs as if it were worker `number` of `count`, seeded as a worker is.

    Random state and worker info are given back afterwards.

    Args:
        number: The worker's number, from 0.
        count: The number of workers.
        seed: The loader's base seed; the worker's is this plus its number.
        dataset: What `get_worker_info().dataset` is.
    """
    info = _worker.WorkerInfo(  # PyTorch 2.11 takes keywords alone
        id=number, num_workers=count, seed=seed + number, dataset=dataset
    )
    before, states = _worker._worker_info, (random.getstate(), np.random.get_state())
    try:
        with torch.random.fork_rng(devices=[]):
            _worker._worker_info = info
            random.seed(info.seed)
            torch.default_generator.manual_seed(info.seed)
            np.random.seed(_worker._generate_state(seed, number))
            yield
    finally:
        _worker._worker_info = before
        random.setstate(states[0])
        np.random.set_state(states[1])


def next_draws() -> list[float]:
    """The random numbers that torch, NumPy and Python would draw next; they stay the next ones."""
    drawn, python = torch.Generator(), random.Random()
    drawn.set_state(torch.default_generator.get_state())
    numpy = np.random.RandomState(0)
    numpy.set_state(np.random.get_state())
    python.setstate(random.getstate())
    return [torch.rand(1, generator=drawn).item(), numpy.random_sample(), python.random()]


class _Draws(Dataset[int]):
    """A dataset that draws from its own generator, of one of NumPy's kinds."""

    def __init__(self, kind: str = "PCG64") -> None:
        self.rng = np.random.Generator(getattr(np.random, kind)(0))

    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> int:
        return int(self.rng.integers(2**40))


@probe
def worker_draws(
    init: Callable[[int], Any],
    bases: Sequence[int],
    workers: int,
    elsewhere: int = 0,
    kind: str = "PCG64",
    drawn: int = 0,
    salt: int | None = None,
) -> list[list[int]]:
    """Four numbers of each pretended worker after `init(number)`, for each base seed in turn.

    Args:
        init: The answer, a `worker_init_fn`.
        bases: The loader's base seeds.
        workers: The number of workers.
        elsewhere: What the global random states of the main process are seeded with before.
        kind: The bit generator of NumPy that the dataset's generator has at first.
        drawn: How many numbers it has drawn before the worker copies it.
        salt: With it `hash` gives for texts what it might give in another process.
    """
    random.seed(elsewhere)
    np.random.seed(elsewhere)
    torch.default_generator.manual_seed(elsewhere)
    found = []
    for base in bases:
        for number in range(workers):
            data = _Draws(kind)
            data.rng.random(drawn)
            with as_worker(number, workers, seed=base, dataset=data):
                with hashes_of_another_process(salt):
                    init(number)
                found.append([data[i] for i in range(4)])
    return found


@probe
def real_worker_draws(init: Callable[[int], Any], seed: int) -> list[int]:
    """Eight numbers from two worker processes; from the loop, where nothing can be forked.

    Args:
        init: The answer, a `worker_init_fn`.
        seed: That of the generator from which the loader draws its base seed.
    """
    options = forked(2, worker_init_fn=init)
    seeded = torch.Generator().manual_seed(seed)
    return list(DataLoader(_Draws(), None, generator=seeded, **options))
