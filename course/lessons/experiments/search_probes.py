"""What the tests of searches need: drawn settings, trials that train, folders of results.

What `configs_drawn` returns:

    configs  what was drawn for each job
    which    how often each option of a choice was chosen, by identity, over all jobs
    types    which types the values of each name had
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from course.inspection.class_names import class_name
from course.lessons.experiments import successive_halving
from course.probes.decorator import probe
from course.probes.forks import in_a_fork
from course.probes.modules import running
from course.probes.orders import hashes_of_another_process
from course.probes.sealing import sealed

__all__ = ["configs_drawn", "folder_searched", "halving_run"]

_MOST_CALLS = 3000


@probe
def configs_drawn(
    sample: Callable[..., Any],
    jobs: Sequence[tuple[Any, int, int]],
    between: int = 0,
    *,
    spaces: Sequence[dict[str, Any]] = (),
    salt: int | None = None,
) -> dict[str, Any]:
    """What `sample(space, seed, number)` gives for each job; numbers are drawn before each.

    The keys of what it returns stand at the head of this module.

    Args:
        sample: The answer.
        jobs: Triples: space, seed and number; a number as space is a place in `spaces`.
        between: How many numbers are drawn from each global random state before a job.
        spaces: Spaces that travel only once.
        salt: With it all is drawn in a fork, where `hash` gives for texts what it might elsewhere.
    """

    def drawn() -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        which: dict[str, list[int]] = {}
        types: dict[str, dict[str, None]] = {}
        with _random_states_kept():
            for asked, seed, number in jobs:
                space = spaces[asked] if isinstance(asked, int) else asked
                for _ in range(between):
                    random.random()
                    np.random.random()
                    torch.rand(1)
                with hashes_of_another_process(salt):
                    config = sample(space, seed, number)
                found.append(dict(config))
                _count_chosen(which, space, config)
                for name, value in config.items():
                    types.setdefault(name, {})[class_name(value)] = None
        return {
            "configs": found,
            "which": which,
            "types": {name: [*of] for name, of in types.items()},
        }

    return drawn() if salt is None else in_a_fork(drawn)


@contextmanager
def _random_states_kept() -> Iterator[None]:
    states = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def _count_chosen(
    counts: dict[str, list[int]], space: Mapping[str, Any], config: Mapping[str, Any]
) -> None:
    """Count for each choice the place at which the chosen object itself stands."""
    for name, value in config.items():
        if space[name][0] == "choice":
            options = space[name][1]
            of_each = counts.setdefault(name, [0] * len(options))
            for at, option in enumerate(options):
                of_each[at] += option is value


class _Endless(Exception):
    """What training raises after far too many calls."""


@probe
def halving_run(
    procedure: Callable[..., Any],
    curves: Sequence[Sequence[float]],
    *how: Any,
) -> dict[str, Any]:
    """What `procedure(train, len(curves), *how)` returns, and for which epochs it trained each.

    "asked" is whether it left the work to the search behind the figures.

    Args:
        procedure: The answer; `train(trial, epochs)` returns a loss.
        curves: For each trial the loss after 1, 2, … epochs; later its last.
        how: The arguments that follow.
    """
    calls: list[tuple[Any, Any]] = []

    def train(trial: int, epochs: int) -> float:
        calls.append((trial, epochs))
        if len(calls) > _MOST_CALLS:
            raise _Endless("train was called thousands of times")
        curve = curves[trial]
        return float(curve[min(int(epochs), len(curve)) - 1])

    with running() as ran:
        result = procedure(sealed(train), len(curves), *how)
    trained: dict[Any, list[Any]] = {}
    for trial, epochs in calls:
        trained.setdefault(trial, []).append(epochs)
    asked = any(module == successive_halving.__name__ for module, _ in ran)
    return {"result": result, "trained": trained, "asked": asked}


@probe
def folder_searched(search: Callable[..., Any], files: Mapping[str, str], *how: Any) -> Any:
    """What `search(folder, *how)` returns for a folder with these files.

    Args:
        search: The answer.
        files: Texts by their paths in the folder.
        how: What it is called with after the folder.
    """
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return search(folder, *how)
