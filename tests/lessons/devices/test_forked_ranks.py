"""Ranks on one machine: each is a process of one group, and a missing one lets others wait."""

from __future__ import annotations

import os
import socket

import pytest
import torch
from torch import distributed, multiprocessing

from course.lessons.devices.forked_ranks import by_rank


def test_each_rank_is_a_process_of_its_own_and_results_come_in_order() -> None:
    seen = by_rank(lambda rank, ranks: (rank, ranks, os.getpid()), ranks=3)
    assert [one[:2] for one in seen] == [(0, 3), (1, 3), (2, 3)]
    assert len({os.getpid(), *(one[2] for one in seen)}) == 4


def test_all_of_them_are_in_one_group() -> None:
    def total(rank: int, ranks: int) -> float:
        held = torch.tensor([10.0**rank])
        distributed.all_reduce(held)
        return held.item()

    assert by_rank(total, ranks=3) == [111.0] * 3


def test_an_error_comes_back_as_its_words() -> None:
    def fails(rank: int, ranks: int) -> float:
        return 1 / rank

    assert by_rank(fails) == ["ZeroDivisionError: division by zero", 1.0]


def test_a_rank_that_is_missing_from_a_call_lets_the_others_wait() -> None:
    def alone(rank: int, ranks: int) -> str:
        if rank == 0:
            distributed.all_reduce(torch.ones(1))
        return "done"

    waited, done = by_rank(alone, timeout=1.0)
    assert waited.endswith("Timed out waiting 1000ms for recv operation to complete")
    assert done == "done"


def test_a_rank_that_computes_for_ever_is_ended() -> None:
    def endless(rank: int, ranks: int) -> None:
        while rank == 1:
            pass

    before = set(multiprocessing.active_children())
    with pytest.raises(TimeoutError, match="still at work after 1 s, and was ended"):
        by_rank(endless, limit=1.0)
    for one in set(multiprocessing.active_children()) - before:
        one.join(10)
    assert set(multiprocessing.active_children()) == before


def test_no_group_and_no_process_is_left() -> None:
    before = set(multiprocessing.active_children())
    by_rank(lambda rank, ranks: rank)
    assert set(multiprocessing.active_children()) == before
    assert not distributed.is_initialized()


def test_they_talk_over_the_loopback_and_say_nothing_on_stderr(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = os.environ.get("GLOO_SOCKET_IFNAME")
    (named, *_) = by_rank(lambda rank, ranks: os.environ["GLOO_SOCKET_IFNAME"])
    assert named in {name for _, name in socket.if_nameindex()}
    assert named.startswith("lo")
    assert os.environ.get("GLOO_SOCKET_IFNAME") == before
    assert capfd.readouterr().err == ""
