"""Options that several commands share, and how their words are read."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.console import say
from autograder.course_directory import load_course
from autograder.lessons.assignments import select_assignments
from autograder.lessons.model import Lesson, select_lessons

if TYPE_CHECKING:
    from autograder.kept_results import KeptResults

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_lessons(parser: argparse.ArgumentParser) -> None:
    """Add `[LESSON …]`: none means all."""
    parser.add_argument(
        "lessons",
        nargs="*",
        metavar="LESSON",
        help="number or name, such as 4, 04-memory-layout or memory-layout, or any assignment's "
        "name (default: all)",
    )


def add_course(parser: argparse.ArgumentParser) -> None:
    """Add `--course DIR`."""
    parser.add_argument(
        "--course",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="the course directory (default: the current one)",
    )


def add_db(parser: argparse.ArgumentParser) -> None:
    """Add `--db URL`."""
    parser.add_argument(
        "--db",
        metavar="URL",
        help="the gradebook, sqlite:///… or postgresql://… (default: what nbgrader_config.py "
        "says, else gradebook.db in the course)",
    )


def add_limit(parser: argparse.ArgumentParser) -> None:
    """Add `--limit S`: the seconds that each cell may run."""
    parser.add_argument(
        "--limit",
        type=seconds,
        default=20.0,
        metavar="S",
        help="seconds that a cell may run (default: %(default)g); in the sandbox seconds of "
        "processor time, and three times as many on the clock",
    )


def add_runner(parser: argparse.ArgumentParser) -> None:
    """Add `--runner`: what runs the answers of a bank."""
    parser.add_argument(
        "--runner",
        choices=("engine", "notebook"),
        help="how to run them: through the grading engine, or as a notebook would, which accepts "
        "more (default: engine, where there is a sandbox)",
    )


def add_share(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--share`: try a part of `what`; and `--fresh`: try also what is known."""
    parser.add_argument(
        "--share",
        type=fraction,
        default=1.0,
        metavar="FRACTION",
        help=f"try this share of {what}, such as 10%%, always the same ones, or with "
        "the environment variable DRAW others for each of its values (default: all)",
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="try again, too, what has not changed since it was in order: it is kept in "
        ".autograder/kept/, but where CI is set",
    )


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--json`; `what` names what is printed."""
    parser.add_argument("--json", action="store_true", dest="as_json", help=f"print {what} as JSON")


def chosen(options: argparse.Namespace) -> tuple[Lesson, ...]:
    """The lessons that the command line names."""
    return select_lessons(options.course, options.lessons)


def chosen_assignments(options: argparse.Namespace) -> tuple[tuple[Lesson, ...], int]:
    """The assignments that the command line names, and an exit code.

    One whose source cannot be graded is told on stderr and stops no other; then the code is 1.

    Raises:
        LessonError: None of them can be graded.
    """
    course = load_course(options.course, db=options.db)
    found = select_assignments(course, options.lessons)
    for error in found.refused if found.lessons else found.refused[1:]:
        say(f"autograder: {error}", file=sys.stderr)
    if not found.lessons:
        raise found.refused[0]
    return found.lessons, 1 if found.refused else 0


def kept_results(options: argparse.Namespace) -> KeptResults:
    """The results kept in the course; none with `--fresh`."""
    from autograder.kept_results import KeptResults

    return KeptResults(None) if options.fresh else KeptResults.of_course(options.course)


def positive(text: str) -> int:
    """The whole number above zero in `text`, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number above zero")
    return int(text)


def seconds(text: str) -> float:
    """The time span above zero in `text`, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds above zero")
    return value


def fraction(text: str) -> float:
    """The number from 0 to 1 in `text`, for argparse; `10%` is 0.1."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is no fraction from 0 to 1")
    return value
