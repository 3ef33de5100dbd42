"""Ranks that are threads: messages arrive in order, and a deadlock ends at once."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import torch

from course.lessons.devices import ring_probes
from course.lessons.devices.ring_probes import Meeting, Stuck, ring_run

THREE = [torch.full((2,), float(rank)) for rank in range(3)]


def around(x: torch.Tensor, rank: int, ranks: int, send: Any, receive: Any) -> torch.Tensor:
    """What the rank before this one has."""
    send(x)
    found: torch.Tensor = receive()
    return found


def test_a_message_comes_from_the_rank_before_and_is_a_copy() -> None:
    seen = ring_run.procedure(around, THREE)
    assert [one.tolist() for one in seen["results"]] == [[2, 2], [0, 0], [1, 1]]
    assert seen["sent"] == [[2], [2], [2]]
    assert seen["nbytes"] == [8, 8, 8]
    assert seen["left"] == [0, 0, 0]


def test_all_waiting_for_each_other_is_an_error_of_each_and_takes_no_time() -> None:
    begun = time.monotonic()
    seen = ring_run.procedure(lambda x, rank, ranks, send, receive: receive(), THREE)
    assert seen["errors"] == ["Stuck"] * 3
    assert time.monotonic() - begun < 5


def test_a_rank_that_computes_for_ever_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring_probes, "_MOST_S", 0.3)
    over = threading.Event()

    def endless(x: Any, rank: int, ranks: int, send: Any, receive: Any) -> Any:
        return over.wait() if rank == 1 else x

    seen = ring_run.procedure(endless, THREE)
    over.set()
    assert seen["errors"][1] == "TimeoutError"
    assert seen["errors"][::2] == ["", ""]


def test_waiting_for_a_rank_that_has_ended_is_an_error_too() -> None:
    def one_leaves(x: Any, rank: int, ranks: int, send: Any, receive: Any) -> Any:
        return None if rank == 0 else around(x, rank, ranks, send, receive)

    assert ring_run.procedure(one_leaves, THREE)["errors"] == ["", "Stuck", ""]


def test_a_vector_that_comes_back_itself_is_overwritten() -> None:
    seen = ring_run.procedure(lambda x, *_: x, THREE, ("results", "given"))
    assert [one.tolist() for one in seen["results"]] == [[77, 77]] * 3
    assert [one.tolist() for one in seen["given"]] == [[0, 0], [1, 1], [2, 2]]
    assert list(seen) == ["results", "given"]


def test_a_stub_is_no_answer() -> None:
    def stub(*_: Any) -> None:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        ring_run.procedure(stub, THREE)


def test_an_error_of_one_rank_is_told_for_it_alone() -> None:
    def work(rank: int) -> int:
        if rank:
            raise ValueError("broken")
        return 7

    (first, nothing), (none, error) = Meeting(2).run(work)
    assert (first, nothing, none) == (7, None, None)
    assert isinstance(error, ValueError)
    assert issubclass(Stuck, RuntimeError)
