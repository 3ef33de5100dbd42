"""What one runs to know a machine: bench, doctor."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from autograder.cli.options import add_course, add_json, add_lessons, chosen, positive
from autograder.console import json_text, say
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.cli.options import Commands

_REPOSITORY = Path(__file__).resolve().parents[2]  # where this is no clone: site-packages


def add_commands(commands: Commands) -> None:
    """Add the commands of this module to the parser."""
    _add_bench(commands)
    _add_doctor(commands)


def _add_bench(commands: Commands) -> None:
    parser = commands.add_parser(
        "bench",
        help="compare the engine with stock nbgrader, in a clone of the repository",
        description="Grade the same simulated submissions with the engine and with stock nbgrader, "
        "in turns, and print medians and ratios. The scores must agree. It is a developer's tool "
        "and lies in tools/ of the repository, not in the installed package.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument(
        "--students", type=positive, default=40, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "--rounds", type=positive, default=3, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "--stock",
        type=positive,
        metavar="N",
        help="stock nbgrader grades N of the submissions, and what all would take it is computed",
    )
    parser.add_argument(
        "--profile",
        action="store_true",
        help="say instead where the engine's CPU time goes, without other contenders",
    )
    parser.add_argument(
        "--quickstart",
        action="store_true",
        help="instead of lessons take ps1 of the course that `nbgrader quickstart` makes",
    )
    add_json(parser, "the measurements")
    parser.set_defaults(run=_bench)


def _bench(options: argparse.Namespace) -> int:
    if options.quickstart and (options.lessons or options.profile):
        raise UsageError(
            "--quickstart takes one assignment, that of nbgrader's own course",
            remedy="Leave out the lessons and --profile.",
        )
    bench = _developers_bench()
    if options.profile:
        shown: int = bench.show_profile(options.course, chosen(options), students=options.students)
        return shown
    sizes = bench.Sizes(options.students, options.stock or options.students, options.rounds)
    if options.quickstart:
        measured: int = bench.run_quickstart(sizes, as_json=options.as_json)
        return measured
    result: int = bench.run(options.course, chosen(options), sizes, as_json=options.as_json)
    return result


def _developers_bench() -> ModuleType:
    """`tools.bench` of the repository that this package runs from."""
    if not (_REPOSITORY / "tools" / "bench.py").is_file():
        raise UsageError(
            f"the benchmark is no part of the installed package, and {_REPOSITORY} has no "
            "tools/bench.py",
            remedy="Run `make bench` in a clone of the repository, where tools/ is.",
        )
    sys.path.insert(0, str(_REPOSITORY))  # an editable install names only course and autograder
    try:
        return import_module("tools.bench")
    except ImportError as error:
        raise UsageError(
            f"the benchmark needs the grading engine, which cannot be used here: {error}",
            remedy="See `autograder doctor`.",
        ) from error


def _add_doctor(commands: Commands) -> None:
    parser = commands.add_parser(
        "doctor",
        help="say what this machine offers, and what is missing",
        description="Look at what releasing and grading need, and say what to install where "
        "something is missing. Exit 1 where something necessary is.",
    )
    add_course(parser)
    add_json(parser, "the findings")
    parser.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    from autograder.cli.doctor import examine

    findings = examine(options.course)
    if options.as_json:
        say(json_text([asdict(one) for one in findings]))
    else:
        say("\n".join(map(str, findings)))
    return 1 if any(one.state == "missing" for one in findings) else 0
