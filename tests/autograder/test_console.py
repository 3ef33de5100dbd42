"""A terminal has one line of progress, with rate and remaining time; a log a line now and then."""

from __future__ import annotations

import ast
import io
import json
import re
import threading
from pathlib import Path

import pytest

import autograder
from autograder.console import Progress, json_text, line, plain, plain_lines, quantity


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def frames(self) -> list[str]:
        """What was drawn one after the other, without colours."""
        drawn = re.sub(r"\x1b\[(?:\d+(?:;\d+)*m|\?25[lh])", "", self.getvalue())
        return drawn.split("\r\x1b[2K")


class Heard(io.StringIO):
    heard: threading.Event

    def flush(self) -> None:
        self.heard.set()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def drawn(*names: str) -> list[str]:
    """The frames of a run of four steps, two seconds each, that made these."""
    stream, clock = Terminal(), Clock()
    with Progress(stream, clock=clock) as progress:
        progress.expect(4)
        for name in names:
            clock.now += 2.0
            progress.step(name)
    return stream.frames()


def told(stream: io.StringIO, clock: Clock, *, seconds: float, steps: int) -> list[str]:
    """The lines in a log of a run of as many steps, which take so long each."""
    with Progress(stream, "grade", clock=clock) as progress:
        progress.expect(steps)
        for number in range(1, steps + 1):
            clock.now += seconds
            progress.step(f"student-{number}")
    return stream.getvalue().splitlines()


def test_a_log_gets_a_line_at_least_every_five_seconds_and_one_at_the_end() -> None:
    assert told(io.StringIO(), Clock(), seconds=2.0, steps=6) == [
        "grade  1/6  0.5/s  10 s left  student-1",
        "grade  3/6  0.5/s  6 s left  student-3",
        "grade  5/6  0.5/s  2 s left  student-5",
        "grade  6/6  0.5/s  0 s left  student-6",
    ]


def test_a_run_that_is_done_in_a_moment_says_nothing_in_a_log() -> None:
    assert told(io.StringIO(), Clock(), seconds=0.1, steps=6) == []


def test_a_log_is_not_told_the_same_twice_at_the_end() -> None:
    lines = told(io.StringIO(), Clock(), seconds=5.0, steps=2)
    assert [line.split()[1] for line in lines] == ["1/2", "2/2"]


def test_a_log_hears_that_a_long_step_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.console._BEAT_S", 0.01)
    stream, clock, heard = Heard(), Clock(), threading.Event()
    stream.heard = heard
    with Progress(stream, "release", clock=clock) as progress:
        progress.expect(17)
        progress.doing("form of 04")
        clock.now = 5.0
        assert heard.wait(10)
    assert stream.getvalue().splitlines()[0] == "release  0/17  5 s  form of 04"


def test_a_log_that_nobody_reads_any_more_ends_no_run() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    assert told(Gone(), Clock(), seconds=5.0, steps=2) == []


def test_a_terminal_hears_what_is_done_before_anything_is_counted() -> None:
    stream = Terminal()
    with Progress(stream, "mutants", clock=lambda: 0.0, every_s=0.0) as progress:
        progress.doing("changing the solutions")
    assert stream.frames()[1].endswith(" changing the solutions")


def test_a_line_in_a_log_holds_no_control_characters() -> None:
    stream, clock = io.StringIO(), Clock()
    with Progress(stream, "release", clock=clock) as progress:
        clock.now = 2.0
        progress.doing("\x1b[2Jada\n")
    assert stream.getvalue().splitlines()[0] == "release  2 s  �[2Jada�"


def test_nobody_is_told_where_there_is_no_stream() -> None:
    with Progress(None) as progress:
        progress.expect(1)
        progress.step("ada")


def test_a_run_without_a_step_draws_nothing() -> None:
    assert drawn() == [""]


def test_a_terminal_gets_count_rate_and_name() -> None:
    assert drawn("ada")[1].endswith(" 1/4  0.5/s  6 s left  ada")


def test_a_terminal_is_left_clean() -> None:
    stream = Terminal()
    with Progress(stream, clock=lambda: 0.0, every_s=0.0) as progress:
        progress.expect(1)
        progress.step("ada")
    assert stream.getvalue().endswith("\n\x1b[?25h\r\x1b[1A\x1b[2K")  # one up, and nothing there


def test_a_name_is_cut_and_is_no_markup() -> None:
    assert drawn("[red]a[/] :smile:")[1].endswith("6 s left  [red]a[/] :smile:")
    assert drawn("b" * 90)[1].endswith(f"6 s left  {'b' * 30}")


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ("40", "1/4  0.5/s  6 s left  a long name that …"),
        ("20", "1/4  0.5/s  6 s lef…"),
        ("3", "1/…"),
    ],
)
def test_a_narrow_terminal_gets_one_line_that_begins_with_the_count(
    columns: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    frame = drawn("a long name that goes on")[1].strip()
    assert frame == shown
    assert len(frame) <= int(columns)


def test_steps_in_quick_succession_are_shown_once() -> None:
    stream = Terminal()
    progress = Progress(stream, clock=lambda: 0.0)
    progress.expect(100)
    for _ in range(99):
        progress.step("ada")
    assert stream.getvalue() == ""
    progress.step("last")
    assert "100/100" in stream.getvalue()
    progress.__exit__()


@pytest.mark.parametrize(
    ("done", "expected", "seconds", "end"),
    [
        (0, 10, 1.0, "0/10  0.0/s  …"),
        (10, 400, 1.0, "10/400  10.0/s  39 s left"),
        (1, 100, 10.0, "1/100  0.1/s  16 min 30 s left"),
    ],
)
def test_the_line_says_what_remains(done: int, expected: int, seconds: float, end: str) -> None:
    assert line(done, expected, seconds) == end


def test_a_table_for_no_terminal_is_as_wide_as_it_needs_to_be() -> None:
    from rich.table import Table

    table = Table("name", "points", box=None, pad_edge=False)
    table.add_row("x" * 300, "1")
    assert plain_lines(table) == [f"{'name':<300}  points", f"{'x' * 300}  1"]


def test_one_of_something_is_not_many() -> None:
    found = [quantity(number, "rule") for number in (0, 1, 2, 0.5)]
    assert found == ["0 rules", "1 rule", "2 rules", "0.5 rules"]


def test_a_name_keeps_its_own_marks_and_loses_what_acts_on_a_terminal() -> None:
    honest = "\u0645\u06cc\u200c\u062e \u0d28\u0d4d\u200d \U0001f469\u200d\U0001f393 \u200fx"
    assert plain(honest) == honest
    assert plain("a\x1b[2J\x9b\u202eb\ud800\n") == "a\ufffd[2J\ufffd\ufffdb\ufffd\ufffd"


def test_json_escapes_what_acts_on_a_terminal_and_says_the_same() -> None:
    name = "José\x1b]0;x\x07\x9b31m\u202e\ud800"
    text = json_text({"name": name, "more": [1]})
    assert json.loads(text) == {"name": name, "more": [1]}
    assert "José" in text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_a_terminals_line_of_progress_holds_no_sequence_of_a_name() -> None:
    stream = Terminal()
    with Progress(stream, every_s=0.0) as progress:
        progress.expect(1)
        progress.step("kim\x1b]0;x\x07\x9b")
    assert "kim" in stream.getvalue()
    assert not [one for one in ("\x1b]", "\x07", "\x9b") if one in stream.getvalue()]


def test_commands_print_through_the_console_alone() -> None:
    package = Path(autograder.__file__).parent
    for part in ("cli", "reporting", "submissions"):
        for path in (package / part).rglob("*.py"):
            names = [
                one.id for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Name)
            ]
            assert "print" not in names, path
