"""What the tests of searches need: drawn settings, trials that train, folders of results."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from course.probes.decorator import probe
from course.probes.loading.orders import hashes_of_another_process

__all__ = ["configs_drawn", "folder_searched", "halving_run"]

_MOST_CALLS = 3000


@probe
def configs_drawn(
    sample: Callable[..., Any],
    jobs: Sequence[tuple[dict[str, Any], int, int]],
    between: int = 0,
    *,
    salt: int | None = None,
) -> dict[str, Any]:
    """What `sample(space, seed, number)` gives for each job; numbers are drawn before each.

    "which" are the places of the options that were chosen, by identity; "types" those of all
    values. With `salt`, `hash` gives for texts what it might give in another process.
    """
    found, which, types = [], [], []
    for space, seed, number in jobs:
        with _random_states_kept(), hashes_of_another_process(salt):
            for _ in range(between):
                random.random()
                np.random.random()
                torch.rand(1)
            config = sample(space, seed, number)
        found.append(config)
        which.append(_chosen(space, config))
        types.append({name: type(value).__name__ for name, value in config.items()})
    return {"configs": found, "which": which, "types": types}


@contextmanager
def _random_states_kept() -> Iterator[None]:
    states = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def _chosen(space: Mapping[str, Any], config: Mapping[str, Any]) -> dict[str, list[int]]:
    """For each choice the places at which the chosen object itself stands."""
    return {
        name: [at for at, option in enumerate(space[name][1]) if option is config[name]]
        for name in config
        if space[name][0] == "choice"
    }


class _Endless(Exception):
    """What training raises after far too many calls."""


@probe
def halving_run(
    procedure: Callable[..., Any],
    curves: Sequence[Sequence[float | str]],
    *how: Any,
) -> dict[str, Any]:
    """What `procedure(train, len(curves), *how)` returns, and for which epochs it trained each.

    A curve holds the loss after 1, 2, … epochs; later its last. "crash" and "bug" stand for
    errors: a RuntimeError and a KeyError.
    """
    calls: list[tuple[Any, Any]] = []

    def train(trial: int, epochs: int) -> float:
        calls.append((trial, epochs))
        if len(calls) > _MOST_CALLS:
            raise _Endless("train was called thousands of times")
        curve = curves[trial]
        loss = curve[min(int(epochs), len(curve)) - 1]
        if loss == "crash":
            raise RuntimeError("CUDA error: out of memory")
        if loss == "bug":
            raise KeyError("learning_rate")
        return float(loss)

    result = procedure(train, len(curves), *how)
    trained: dict[Any, list[Any]] = {}
    for trial, epochs in calls:
        trained.setdefault(trial, []).append(epochs)
    return {"result": result, "trained": trained}


@probe
def folder_searched(
    search: Callable[..., Any],
    files: Mapping[str, str],
    *how: Any,
    as_path: bool = False,
) -> Any:
    """What `search(folder, *how)` returns for a folder with these files.

    `files` are texts by their paths; one that ends with "/" is an empty folder.
    """
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            if name.endswith("/"):
                path.mkdir(parents=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return search(Path(folder) if as_path else folder, *how)
