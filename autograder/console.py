"""What a terminal is told: how far a long run has come, and numbers, names and text in one line."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from typing import TextIO

_BAR = 24


class Progress:
    """A line that says what is done, how fast it goes and how long it will still take."""

    def __init__(
        self,
        stream: TextIO | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        every_s: float = 0.1,
    ) -> None:
        """Write to `stream`; None, or a stream that is no terminal, gets nothing."""
        self._stream = stream if stream is not None and stream.isatty() else None
        self._clock, self._every_s = clock, every_s
        self._total = self._done = 0
        self._begun = self._shown = clock()

    def __enter__(self) -> Progress:
        """Give the progress itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Leave the terminal as it was."""
        self._write("")

    def expect(self, more: int) -> None:
        """Count on `more` steps, and start the clock."""
        self._total += more
        self._begun = self._clock()

    def step(self, what: str) -> None:
        """One more is done; `what` names it."""
        self.reach(self._done + 1, what)

    def reach(self, count: int, what: str) -> None:
        """So many are done in all; `what` names the last."""
        self._done = count
        now = self._clock()
        if self._stream is None or (now - self._shown < self._every_s and self._done < self._total):
            return
        self._shown = now
        self._write(f"{line(self._done, self._total, now - self._begun)}  {what:.30}")

    def _write(self, text: str) -> None:
        if self._stream is not None:
            self._stream.write(f"\r\x1b[2K{text}")
            self._stream.flush()


def line(done: int, expected: int, seconds: float) -> str:
    """The bar, the count, the rate and the time that remains.

    >>> line(10, 40, 5.0)
    '[######..................] 10/40  2.0/s  15 s left'
    """
    filled = _BAR * done // max(1, expected)
    rate = done / seconds if seconds > 0 else 0.0
    left = f"{_duration((expected - done) / rate)} left" if rate > 0 else "…"
    return f"[{'#' * filled}{'.' * (_BAR - filled)}] {done}/{expected}  {rate:.1f}/s  {left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def points(value: float) -> str:
    """`value` without needless digits.

    >>> points(2.0), points(2.5), points(1 / 3)
    ('2', '2.5', '0.33')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def named(learners: Sequence[str], most: int = 10) -> str:
    """`learners` in one line, which names the first of them.

    >>> named(["ada", "bob", "cleo"], most=2)
    'ada, bob and 1 more'
    """
    more = len(learners) - most
    return ", ".join(learners[:most]) + (f" and {more} more" if more > 0 else "")


def plain(text: str) -> str:
    """`text` without control characters, which could rewrite the terminal."""
    return "".join(c if unicodedata.category(c)[0] != "C" else "�" for c in text)
