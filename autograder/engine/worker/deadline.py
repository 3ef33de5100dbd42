"""When a cell has had its time: processor time, which no busy neighbour takes from it.

Seconds on the clock would be the machine's affair: a notebook that computes for five of them takes
forty where eight such run on one core.  What only waits uses no processor time, so the clock ends
it, after several times as long.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from autograder.engine.protocol.channel import Channel, DeadlinePassed, Listener
from autograder.engine.protocol.frames import Frame

_FIRST_S, _LEAST_S = 1.0, 0.25  # until the first look at the processor time; between two looks


class Deadline:
    """The end of what may be used, which moves on for as long as there is some left.

    Attributes:
        at: When to ask `extend`, on the clock of `time.monotonic()`.
        reason: Why there is no more time; completes "This cell …".
    """

    def __init__(
        self,
        cpu_s: float,
        clock_s: float,
        used: Callable[[], float],
        *,
        clock: Callable[[], float] = time.monotonic,
        cores: int = os.cpu_count() or 1,
    ) -> None:
        """Begin now.

        Args:
            cpu_s: Seconds of processor time.
            clock_s: Seconds on the clock.
            used: Tells the processor time that was used so far. Most cells end within a second,
                so it is asked after one for the first time, and that second counts in full.
            clock: The clock.
            cores: How many processors one may use at a time.
        """
        self._cpu_s, self._clock_s, self._used = cpu_s, clock_s, used
        self._clock, self._cores = clock, cores
        begun = clock()
        self._first_s = min(_FIRST_S, cpu_s / 2)
        self._last = begun + clock_s
        self._most: float | None = None  # that `used` may tell
        self.at = min(begun + self._first_s, self._last)
        self.reason = ""

    def extend(self) -> bool:
        """Whether there is more time; `at` is later then."""
        now, used = self._clock(), self._used()
        if self._most is None:
            self._most = used - self._first_s + self._cpu_s
        left = self._most - used
        if left <= 0:
            self.reason = _stopped(f"used more than a cell's {self._cpu_s:g} s of processor time")
        elif now >= self._last:
            self.reason = _stopped(f"ran longer than a cell's {self._clock_s:g} s on the clock")
        else:  # it may be using all cores
            self.at = min(now + max(_LEAST_S, left / self._cores), self._last)
        return not self.reason

    def is_over(self) -> bool:
        """Whether it has passed, for a reader to whom there is always something to read."""
        return self._clock() >= self.at and not self.extend()


def _stopped(what: str) -> str:
    return f"{what} and was stopped"


def await_frame(
    listener: Listener, channel: Channel, deadline: Deadline, ended: Callable[[], bool]
) -> Frame:
    """The next frame of a channel; raises what `Listener.wait` does.

    Args:
        listener: Serves other file descriptors meanwhile.
        channel: Where the frame comes from.
        deadline: Is asked for more time whenever it has passed.
        ended: Whether the process at the other end has ended.
    """
    while True:
        try:
            return listener.wait(channel, deadline.at, ended)
        except DeadlinePassed:
            if not deadline.extend():
                raise
