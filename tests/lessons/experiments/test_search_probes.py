"""What the probes of searches give to an answer, and what they see of it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from course.lessons.experiments import configs_drawn, folder_searched, halving_run
from course.lessons.experiments.successive_halving import halving_plan

SPACE = {"x": ("uniform", 0.0, 1.0), "act": ("choice", [True, 1, [1], [1]])}


def by_name(space: dict[str, Any], seed: int, number: int) -> dict[str, Any]:
    """A sampler with streams of its own."""
    rng = random.Random(f"{seed}/{number}")
    options = space["act"][1]
    return {"x": rng.random(), "act": options[rng.randrange(len(options))]}


def drawn(sample: Any, jobs: Any, *args: Any, **named: Any) -> dict[str, Any]:
    """What the probe saw."""
    seen: dict[str, Any] = configs_drawn.procedure(sample, jobs, *args, **named)
    return seen


def test_a_choice_is_told_by_identity() -> None:
    seen = drawn(by_name, [(SPACE, 0, number) for number in range(20)])
    assert sum(seen["which"]["act"]) == 20
    assert 0 not in seen["which"]["act"]
    copied = drawn(lambda *job: {"act": [1]}, [(SPACE, 0, 0)])
    assert copied["which"] == {"act": [0, 0, 0, 0]}
    assert copied["types"] == {"act": ["list"]}


def test_all_types_of_a_name_are_told() -> None:
    seen = drawn(lambda space, seed, number: {"x": seed / 1 if number else seed}, [(SPACE, 1, 0)])
    assert seen["types"] == {"x": ["int"]}
    both = drawn(
        lambda space, seed, number: {"x": seed / 1 if number else seed},
        [(SPACE, 1, 0), (SPACE, 1, 1)],
    )
    assert both["types"] == {"x": ["int", "float"]}


def test_draws_before_move_only_who_draws_from_the_global_state() -> None:
    def shared(space: Any, seed: int, number: int) -> dict[str, Any]:
        return {"x": [random.random(), float(np.random.random()), float(torch.rand(()))]}

    jobs = [({"x": ("uniform", 0, 1)}, 0, 0)]
    before = drawn(shared, jobs)["configs"][0]["x"]
    after = drawn(shared, jobs, 2)["configs"][0]["x"]
    assert all(one != other for one, other in zip(before, after, strict=True))
    own = [drawn(by_name, [(SPACE, 0, 0)], count)["configs"] for count in (0, 2)]
    assert own[0] == own[1]


def test_the_global_random_states_are_given_back() -> None:
    states = random.getstate(), torch.get_rng_state()
    drawn(by_name, [(SPACE, 0, 0)], 5)
    assert random.getstate() == states[0]
    assert torch.equal(torch.get_rng_state(), states[1])


def test_another_salt_is_another_process() -> None:
    def salted(space: Any, seed: int, number: int) -> dict[str, Any]:
        return {"x": hash(("x", seed))}

    jobs = [({"x": ("int", 0, 1)}, 0, 0)]
    assert drawn(salted, jobs)["configs"] != drawn(salted, jobs, salt=7)["configs"]


# --- trials that train --------------------------------------------------------------------------


def test_training_is_noted_for_each_trial() -> None:
    def search(train: Any, n: int) -> list[float]:
        return [train(0, 1), train(1, 2), train(0, 9)]

    seen = halving_run.procedure(search, [[3.0, 2.0], [1.0]])
    assert seen == {"result": [3.0, 1.0, 2.0], "trained": {0: [1, 9], 1: [2]}, "asked": False}


def test_who_leaves_the_search_to_the_course_is_seen() -> None:
    def search(train: Any, n: int) -> int:
        return len(halving_plan([[train(0, 1)]], 1, 1, 2))

    assert halving_run.procedure(search, [[3.0]])["asked"]


def test_a_search_that_never_ends_is_ended() -> None:
    def endless(train: Any, n: int) -> None:
        while True:
            train(0, 1)

    with pytest.raises(Exception, match="thousands"):
        halving_run.procedure(endless, [[1.0]])


# --- folders ------------------------------------------------------------------------------------


def test_a_folder_is_made_and_taken_away() -> None:
    files = {"a/one.txt": "1", "two.txt": "2"}
    seen: list[Path] = []

    def search(folder: str, word: str) -> list[str]:
        seen.append(Path(folder))
        found = sorted(one for one in Path(folder).rglob("*"))
        return [word, *(one.relative_to(folder).as_posix() for one in found)]

    told = folder_searched.procedure(search, files, "word")
    assert told == ["word", "a", "a/one.txt", "two.txt"]
    assert not seen[0].exists()
