"""What the tests of waiting and of clocks look through: a loader on a clock that a test moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from course.probes.decorator import probe
from course.probes.sealing import sealed

__all__ = ["timed_epoch"]


def _slow(
    now: list[float],
    events: list[str],
    loads: Sequence[float],
    start: float,
    end: float,
    blank: bool,
) -> Any:
    """A loader for which time passes when it is started, at each load, and at its end."""

    def batches() -> Iterator[int | None]:
        for number, load in enumerate(loads):
            now[0] += load
            events.append(f"load {number}")
            yield None if blank else number
        now[0] += end
        events.append("end")

    def begun(_: Any) -> Iterator[int | None]:
        events.append("start")
        now[0] += start
        return batches()

    # Its times are what a test expects: they are in none of its attributes.
    methods = {"__iter__": sealed(begun), "__len__": sealed(lambda _: len(loads))}
    return type("Loader", (), methods)()


@probe
def timed_epoch(
    split: Callable[..., Any],
    loads: Sequence[float],
    steps: Sequence[float],
    start: float = 0,
    end: float = 0,
    blank: bool = False,
) -> dict[str, Any]:
    """What `split(loader, step, clock)` returns, and in which order it loaded and computed.

    Time passes only while loading, computing, starting and ending. All times are in seconds.

    Args:
        split: The answer; `clock()` is the time now.
        loads: How long each batch takes to load.
        steps: How long a step on each batch takes.
        start: How long it takes to make the loader's iterator.
        end: How long its end takes, after the last batch.
        blank: Whether each batch is None; every step then takes as long as the first.
    """
    now = [100.0]
    events: list[str] = []
    loader = _slow(now, events, loads, start, end, blank)

    def step(batch: int | None) -> None:
        events.append(f"step {batch}")
        now[0] += steps[batch or 0]

    times = split(loader, sealed(step), sealed(lambda: now[0]))
    return {"times": list(times), "events": events}
