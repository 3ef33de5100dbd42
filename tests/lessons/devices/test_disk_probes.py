"""Ranks with a disk each: what lies there, what was told, and what a full disk does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from course.lessons.devices.disk_probes import saved_by_ranks

STATE = {"module.w": torch.ones(2)}


def save(rank: int, state: dict[str, Any], path: str, tell: Any) -> Any:
    """Saves on rank 0, and tells all whatever it is."""
    if rank == 0:
        torch.save(state, path)
    return tell("written" if rank == 0 else "nothing")


def test_every_rank_hears_rank_0_and_its_disk_alone_has_a_file() -> None:
    seen = saved_by_ranks.procedure(save, [STATE] * 3)
    assert seen["results"] == ["written"] * 3
    assert seen["files"] == [["model.pt"], [], []]
    assert seen["loaded"].keys() == seen["there"][0].keys() == {"module.w"}
    assert seen["calls"] == [1, 1, 1]


def test_what_is_there_when_rank_0_speaks_is_told() -> None:
    def late(rank: int, state: dict[str, Any], path: str, tell: Any) -> None:
        tell(None)
        if rank == 0:
            torch.save(state, path)

    seen = saved_by_ranks.procedure(late, [STATE] * 2, runs=2)
    assert seen["there"][0] is None
    assert seen["there"][1].keys() == {"module.w"}


def test_a_state_that_cannot_be_saved_is_an_error_of_rank_0_and_the_others_wait() -> None:
    old = {"old": torch.zeros(1)}
    more = {"breaks": True, "facts": ("errors", "words")}
    seen = saved_by_ranks.procedure(save, [STATE] * 2, old=old, **more)
    assert seen["errors"] == ["OSError", "Stuck"]
    assert "no space left" in seen["words"][0]


def test_nothing_can_be_opened_in_a_folder_that_is_not_there() -> None:
    seen = saved_by_ranks.procedure(save, [STATE] * 2, nowhere=True)
    assert seen["errors"] == ["RuntimeError", "Stuck"]
    assert seen["reason"] in seen["words"][0]
    assert seen["files"] == [[], []]


def test_the_names_of_removed_files_are_told_and_nothing_is_noted_afterwards() -> None:
    unlink = os.unlink

    def removing(rank: int, state: dict[str, Any], path: str, tell: Any) -> None:
        Path(path).unlink()
        torch.save(state, path + ".part")
        os.remove(path + ".part")

    seen = saved_by_ranks.procedure(removing, [STATE], old=STATE)
    assert seen["removed"] == ["model.pt", "model.pt.part"]
    assert os.unlink is unlink


def test_what_lies_there_when_writing_fails_and_what_others_make_is_told() -> None:
    def careless(rank: int, state: dict[str, Any], path: str, tell: Any) -> None:
        Path(path + ".part").touch()
        os.remove(path + ".part")
        torch.save(state, path + ".part" * (rank < 0))

    seen = saved_by_ranks.procedure(careless, [STATE] * 2, breaks=True, old=STATE)
    assert seen["touched"] == [True]
    assert seen["during"] == ["EOFError"] and seen["reason"] in seen["words"][0]
    seen = saved_by_ranks.procedure(save, [STATE] * 3)
    assert (seen["touched"], seen["during"], seen["reason"]) == ([False, False], [], "")
