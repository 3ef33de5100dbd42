"""What a terminal is told: how far a long run has come, tables, and text that cannot harm it.

What is no terminal gets no progress, and tables as plain text: programs and people read them later.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import Task
    from rich.table import Table
    from rich.text import Text

_BAR = 24  # characters
_ANY_WIDTH = 100_000  # of text that nobody has to fit on a screen


class Progress:
    """A line that says what is done, how fast it goes and how long it will still take."""

    def __init__(
        self,
        stream: TextIO | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        every_s: float = 0.1,
    ) -> None:
        """Write to `stream`; None, or a stream that is no terminal, gets nothing.

        Args:
            stream: Where to, standard error as a rule.
            clock: Seconds that only grow; tests pass their own.
            every_s: The least time between two drawings, but for the last step.
        """
        self._bar = _bar(stream, clock) if stream is not None and stream.isatty() else None
        self._task = self._bar.add_task("") if self._bar is not None else None
        self._clock, self._every_s = clock, every_s
        self._total = self._done = 0
        self._shown = clock()

    def __enter__(self) -> Progress:
        """Give the progress itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Leave the terminal as it was."""
        if self._bar is not None:
            self._bar.stop()

    def expect(self, more: int) -> None:
        """Count on `more` steps, and start the clock."""
        self._total += more
        if self._bar is not None and self._task is not None:
            self._bar.reset(self._task, total=self._total, completed=self._done)

    def step(self, what: str) -> None:
        """One more is done; `what` names it."""
        self.reach(self._done + 1, what)

    def reach(self, count: int, what: str) -> None:
        """So many are done in all; `what` names the last."""
        self._done = count
        if self._bar is None or self._task is None:
            return
        now = self._clock()
        if now - self._shown < self._every_s and self._done < self._total:
            return
        self._shown = now
        self._bar.start()
        self._bar.update(self._task, completed=count, description=f"{what:.30}", refresh=True)


def _bar(stream: TextIO, clock: Callable[[], float]) -> Bar:
    """A bar that is drawn when it is told to, and by no thread of its own: the engine forks."""
    from rich.progress import BarColumn, ProgressColumn
    from rich.progress import Progress as Bar
    from rich.table import Column
    from rich.text import Text

    class Words(ProgressColumn):
        def render(self, task: Task) -> Text:
            about = line(int(task.completed), int(task.total or 0), task.elapsed or 0.0)
            return Text(f"{about}  {task.description}".rstrip())

    return Bar(
        BarColumn(_BAR),  # a narrow terminal takes from the bar first, then from the line's end
        Words(Column(no_wrap=True)),
        console=terminal(stream),
        get_time=clock,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def line(done: int, expected: int, seconds: float) -> str:
    """The count, the rate and the time that remains.

    >>> line(10, 40, 5.0)
    '10/40  2.0/s  15 s left'
    """
    rate = done / seconds if seconds > 0 else 0.0
    left = f"{_duration((expected - done) / rate)} left" if rate > 0 else "…"
    return f"{done}/{expected}  {rate:.1f}/s  {left}"


def terminal(stream: TextIO) -> Console:
    """The terminal behind `stream`, which prints text as it is: a learner's name is no markup."""
    from rich.console import Console

    return Console(file=stream, force_terminal=True, markup=False, emoji=False, highlight=False)


def plain_lines(table: Table) -> list[str]:
    """A table as text for what is no terminal, as wide as it needs to be."""
    from rich.console import Console

    lines = Console(width=_ANY_WIDTH, color_system=None).render_lines(table, pad=False)
    return ["".join(part.text for part in line).rstrip() for line in lines]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def points(value: float) -> str:
    """`value` without needless digits.

    >>> points(2.0), points(2.5), points(1 / 3)
    ('2', '2.5', '0.33')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".")


def quantity(number: float, noun: str) -> str:
    """How many there are: `1 rule`, `2 rules`, `2.5 points`."""
    return f"{number:g} {noun}{'' if number == 1 else 's'}"


def named(learners: Sequence[str], most: int = 10) -> str:
    """`learners` in one line, which names the first of them.

    >>> named(["ada", "bob", "cleo"], most=2)
    'ada, bob and 1 more'

    Args:
        learners: Their ids or names, in the order in which they are told.
        most: How many are named; of the others the line says how many there are.
    """
    more = len(learners) - most
    return ", ".join(learners[:most]) + (f" and {more} more" if more > 0 else "")


def plain(text: str) -> str:
    """`text` without control characters, which could rewrite the terminal."""
    return "".join(c if unicodedata.category(c)[0] != "C" else "�" for c in text)
