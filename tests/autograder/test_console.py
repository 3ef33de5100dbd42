"""Progress is one line on a terminal, with rate and remaining time, and nothing elsewhere."""

from __future__ import annotations

import io

import pytest

from autograder.console import Progress, line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_stream_that_is_no_terminal_gets_nothing() -> None:
    stream = io.StringIO()
    with Progress(stream) as progress:
        progress.expect(1)
        progress.step("ada")
    assert stream.getvalue() == ""


def test_a_terminal_gets_count_rate_and_name_and_is_left_clean() -> None:
    stream, times = Terminal(), iter([0.0, 0.0, 2.0])
    with Progress(stream, clock=lambda: next(times)) as progress:
        progress.expect(4)
        progress.step("ada")
    shown, cleared = stream.getvalue().split("\r\x1b[2K")[1:]
    assert shown == "[######..................] 1/4  0.5/s  6 s left  ada"
    assert cleared == ""


def test_steps_in_quick_succession_are_shown_once() -> None:
    stream = Terminal()
    progress = Progress(stream, clock=lambda: 0.0)
    progress.expect(100)
    for _ in range(99):
        progress.step("ada")
    assert stream.getvalue() == ""
    progress.step("last")
    assert "100/100" in stream.getvalue()


@pytest.mark.parametrize(
    ("done", "expected", "seconds", "end"),
    [
        (0, 10, 1.0, "0/10  0.0/s  …"),
        (10, 400, 1.0, "10/400  10.0/s  39 s left"),
        (1, 100, 10.0, "1/100  0.1/s  16 min 30 s left"),
    ],
)
def test_the_line_says_what_remains(done: int, expected: int, seconds: float, end: str) -> None:
    assert line(done, expected, seconds).endswith(end)
