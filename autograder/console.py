"""What a terminal is told: how far a long run has come, tables, and text that cannot harm it.

What is no terminal gets progress as lines, and tables as plain text: programs and people read them
later.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar
    from rich.progress import Task
    from rich.table import Table
    from rich.text import Text

_BAR = 24  # characters
_DRAWN_S = 0.1  # the least time between two drawings of a terminal's line
_TOLD_S = 4.0  # … and between two lines in a log; nobody is to wait five seconds for one
_BEAT_S = 0.5  # how often it is looked whether it is time again
_ANY_WIDTH = 100_000  # of text that nobody has to fit on a screen


class Progress:
    """What a long run is doing, how far it is, and how long it will still take.

    A terminal has one line, which is drawn again and again and gone at the end. What is no
    terminal, a log or a pipe, gets a line every few seconds, and one at the end if there was any
    before; a run that is done in a moment says nothing there. Both hear, while nothing is counted,
    that the run goes on.
    """

    def __init__(
        self,
        stream: TextIO | None,
        command: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
        every_s: float | None = None,
    ) -> None:
        """Write to `stream`; None gets nothing.

        Args:
            stream: Where to, standard error as a rule.
            command: What is running, the first word of a line in a log.
            clock: Seconds that only grow; tests pass their own.
            every_s: The least time between two drawings or lines, but for the last drawing.
        """
        self._stream, self._command, self._clock = stream, command, clock
        self._bar = _bar(stream, clock) if stream is not None and stream.isatty() else None
        self._task = self._bar.add_task("", total=None) if self._bar is not None else None
        usual_s = _DRAWN_S if self._bar is not None else _TOLD_S
        self._every_s = usual_s if every_s is None else every_s
        self._total = self._done = 0
        self._what = "starting"
        self._begun = self._counting = clock()
        # The first line in a log comes soon: before it, Python was loading the command.
        self._shown = self._begun if self._bar is not None else self._begun + 1 - self._every_s
        self._told: tuple[int, str] | None = None
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._heart: threading.Thread | None = None

    def __enter__(self) -> Progress:
        """Give the progress itself, and tell from now on that the run goes on."""
        if self._stream is not None:
            self._heart = threading.Thread(target=self._beat, daemon=True)
            self._heart.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Leave the terminal as it was."""
        self._ended.set()
        if self._heart is not None:
            self._heart.join()
        if self._bar is not None:
            self._bar.stop()
        elif self._told not in (None, (self._done, self._what)):
            self._tell()

    def expect(self, more: int) -> None:
        """Count on `more` steps; the first ones start the clock."""
        with self._lock:
            first, self._total = self._total == 0, self._total + more
            self._counting = self._clock() if first else self._counting
            if self._bar is not None and self._task is not None:
                if first:
                    self._bar.reset(self._task, total=self._total, completed=self._done)
                else:
                    self._bar.update(self._task, total=self._total)

    def doing(self, what: str) -> None:
        """Nothing more is done; `what` names what is being done now."""
        self._what = what
        self._show()

    def step(self, what: str) -> None:
        """One more is done; `what` names it."""
        self.reach(self._done + 1, what)

    def reach(self, count: int, what: str) -> None:
        """So many are done in all; `what` names the last."""
        self._done, self._what = count, what
        self._show(last=count >= self._total)

    def _beat(self) -> None:
        """Tell again and again, also while the run is busy with one step."""
        while not self._ended.wait(_BEAT_S):
            self._show()

    def _show(self, *, last: bool = False) -> None:
        """Draw or tell where the run is, if that is not too soon after the time before."""
        with self._lock:
            now = self._clock()
            if now - self._shown < self._every_s and not (last and self._bar is not None):
                return
            self._shown = now
            if self._bar is not None and self._task is not None:
                self._bar.start()
                about = {"completed": self._done, "description": f"{plain(self._what):.30}"}
                self._bar.update(self._task, **about, refresh=True)  # type: ignore[arg-type]
            elif self._stream is not None:
                self._tell()

    def _tell(self) -> None:
        """Write a line for what is no terminal."""
        assert self._stream is not None
        now, self._told = self._clock(), (self._done, self._what)
        if self._done:
            how_far = line(self._done, self._total, now - self._counting)
        else:
            count = f"0/{self._total}  " if self._total else ""
            how_far = f"{count}{_duration(now - self._begun)}"
        parts = [self._command, how_far, plain(self._what)]
        with suppress(OSError, ValueError):  # who read the log has gone: the run goes on
            print(*filter(None, parts), sep="  ", file=self._stream, flush=True)


def _bar(stream: TextIO, clock: Callable[[], float]) -> Bar:
    """A bar that is drawn when it is told to: `Progress` has a thread for logs and terminals."""
    from rich.progress import BarColumn, ProgressColumn
    from rich.progress import Progress as Bar
    from rich.table import Column
    from rich.text import Text

    class Words(ProgressColumn):
        def render(self, task: Task) -> Text:
            if task.total is None:
                return Text(task.description)
            about = line(int(task.completed), int(task.total), task.elapsed or 0.0)
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


def say(text: object, *, file: TextIO | None = None) -> None:
    """Print lines that may name what learners named: without control characters.

    Args:
        text: One line or several.
        file: Standard output by default.
    """
    print(plain_text(str(text)), file=file or sys.stdout, flush=True)


def hand_over(text: str) -> None:
    """Write what a program is to read to standard output as it is; a terminal gets it as `say`."""
    if sys.stdout.isatty():
        say(text.replace("\r\n", "\n").removesuffix("\n"))
    else:
        sys.stdout.write(text)


def json_text(value: object) -> str:
    """`value` as JSON, with an escape for each character that does not print."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)


def plain_text(text: str) -> str:
    """`text` of several lines, each of them `plain`.

    Args:
        text: May name what learners named.
    """
    return "\n".join(map(plain, text.split("\n")))


def plain(text: str) -> str:
    """`text` without what could rewrite the terminal, or turn the direction of what follows.

    Names keep the marks that they are spelt with, such as the joiners of Persian and Malayalam.
    """
    return "".join(_MARK if _acts(c) else c for c in text)


def _acts(character: str) -> bool:
    return unicodedata.category(character) in _ACTING or character in _TURNING


_MARK = "\N{REPLACEMENT CHARACTER}"
_ACTING = ("Cc", "Cs", "Zl", "Zp")
_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
