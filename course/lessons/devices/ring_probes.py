"""Ranks that are threads of one process: they send, they wait, and a deadlock ends at once.

Real processes would have to be waited for. Here it's known when every rank waits for something
that nobody can bring any more: then each of them gets an error.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch

from course.inspection.class_names import class_name
from course.probes.decorator import probe
from course.probes.sealing import sealed

__all__ = ["Meeting", "Stuck", "ring_run"]

_LONGEST_S = 30.0  # that a rank may wait for another one
_MOST_S = 60.0  # that all of them may take
_ENDLESS = "this rank was still at work when its time was up"


class Stuck(RuntimeError):
    """What a waiting rank gets when nobody is left who could bring what it waits for."""


class _Waiting:
    """A rank that waits: for what, and the lock that somebody else releases once it's there."""

    def __init__(self, ready: Callable[[], bool]) -> None:
        self.ready = ready
        self.sleep = threading.Lock()
        self.sleep.acquire()


class Meeting:
    """Some ranks, each in a thread, and what they wait for.

    Attributes:
        count: How many ranks there are.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._lock = threading.RLock()
        self._waiting: list[_Waiting] = []
        self._gone = 0
        self._stuck = False

    def change(self, how: Callable[[], Any]) -> None:
        """Do something that others may wait for."""
        with self._lock:
            how()
            self._wake()

    def wait(self, ready: Callable[[], bool], then: Callable[[], Any]) -> Any:
        """Wait until `ready()` and return `then()`.

        Raises:
            Stuck: All ranks wait or have ended, and nothing that one waits for is there.
        """
        while True:
            with self._lock:
                if ready():
                    return then()
                if self._stuck:
                    raise Stuck("this rank waits for ever")
                mine = _Waiting(ready)
                self._waiting.append(mine)
                self._look()
            if not mine.sleep.acquire(timeout=_LONGEST_S):
                with self._lock:
                    self._stuck = True
                    self._wake()

    def _wake(self) -> None:
        """Wake those who need wait no longer, and nobody else."""
        for one in [one for one in self._waiting if self._stuck or one.ready()]:
            self._waiting.remove(one)
            one.sleep.release()

    def _look(self) -> None:
        idle = len(self._waiting) + self._gone >= self.count
        self._stuck = self._stuck or (idle and not any(one.ready() for one in self._waiting))
        if self._stuck:
            self._wake()

    def _end(self) -> None:
        with self._lock:
            self._gone += 1
            self._look()

    def run(self, work: Callable[[int], Any]) -> list[tuple[Any, BaseException | None]]:
        """The result of `work(rank)`, or None and the error, for each rank.

        A rank that is still at work after a minute is left alone, and its error says so.

        Raises:
            NotImplementedError: There is no answer yet.
        """
        ends: list[tuple[Any, BaseException | None]] = [(None, TimeoutError(_ENDLESS))] * self.count

        def one(rank: int) -> None:
            try:
                ends[rank] = (work(rank), None)
            except BaseException as error:
                ends[rank] = (None, error)
            finally:
                self._end()

        threads = [
            threading.Thread(target=one, args=(rank,), daemon=True) for rank in range(self.count)
        ]
        for thread in threads:
            thread.start()
        until = time.monotonic() + _MOST_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        ends = list(ends)  # who comes later changes nothing
        for _, error in ends:
            if isinstance(error, NotImplementedError):
                raise error
        return ends


def error_in_words(error: BaseException | None) -> str:
    """The class of an error, or "" for none."""
    return "" if error is None else class_name(error)


class _Wire:
    """What a rank has sent to the next one, and not all of it has been received."""

    def __init__(self, meeting: Meeting, added: float) -> None:
        self._meeting, self._added = meeting, added
        self._under_way: deque[torch.Tensor] = deque()
        self.sent: list[int] = []
        self.nbytes = 0
        self.dtypes: set[str] = set()

    def send(self, tensor: torch.Tensor) -> None:
        """Send a copy; this never waits."""
        message = tensor.detach().clone()
        if self._added:
            message += self._added
        self.sent.append(message.numel())
        self.dtypes.add(str(message.dtype))
        self.nbytes += message.numel() * message.element_size()
        self._meeting.change(lambda: self._under_way.append(message))

    def receive(self) -> torch.Tensor:
        """Wait for the next message."""
        message = self._meeting.wait(lambda: bool(self._under_way), self._under_way.popleft)
        assert isinstance(message, torch.Tensor)
        return message

    @property
    def left(self) -> int:
        """How many messages nobody has received."""
        return len(self._under_way)


def _around(
    procedure: Callable[..., Any], own: Sequence[torch.Tensor], added: float
) -> tuple[list[tuple[Any, BaseException | None]], list[_Wire]]:
    """How each rank of a ring ended, and what it has sent."""
    ranks = len(own)
    meeting = Meeting(ranks)
    wires = [_Wire(meeting, added) for _ in range(ranks)]

    def work(rank: int) -> Any:
        send, receive = sealed(wires[rank].send), sealed(wires[rank - 1].receive)
        return procedure(own[rank], rank, ranks, send, receive)

    return meeting.run(work), wires


@probe
def ring_run(
    procedure: Callable[..., Any],
    vectors: list[torch.Tensor],
    facts: Sequence[str] = (),
    added: float = 0.0,
) -> dict[str, Any]:
    """What `procedure(x, rank, ranks, send, receive)` returns on each rank of a ring.

    The vectors are overwritten before the results are read.

    Args:
        procedure: The answer.
        vectors: One a rank.
        facts: The keys asked for; none for all.
        added: To each element of a message on its way; what has not come by one stays as it is.

    Returns:
        Lists with an entry a rank: "results"; "errors", by class; "given", what its vector holds
        afterwards; "sent", the lengths of its messages, "nbytes" of all of them, "counts" of them,
        "dtypes" of them; "left", how many of them nobody received.
    """
    own = [vector.clone() for vector in vectors]
    ends, wires = _around(procedure, own, added)
    given = [vector.clone() for vector in own]
    for vector in own:
        vector.fill_(77)
    seen = {
        "results": [result for result, _ in ends],
        "errors": [error_in_words(error) for _, error in ends],
        "given": given,
        "sent": [wire.sent for wire in wires],
        "nbytes": [wire.nbytes for wire in wires],
        "counts": [len(wire.sent) for wire in wires],
        "left": [wire.left for wire in wires],
        "dtypes": [sorted(wire.dtypes) for wire in wires],
    }
    return {name: seen[name] for name in facts or seen}
