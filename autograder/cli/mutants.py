"""`autograder mutants`: small changes to each solution, and which of them no check notices."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from autograder.cli.authoring import lesson_gates
from autograder.cli.options import (
    add_course,
    add_json,
    add_lessons,
    add_limit,
    add_runner,
    add_share,
    kept_results,
    positive,
)
from autograder.console import json_text, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.answer_bank.mutants import MutantReport, Plan
    from autograder.cli.options import Commands
    from autograder.console import Progress


def add_commands(commands: Commands) -> None:
    """Add the command of this module to the parser."""
    parser = commands.add_parser(
        "mutants",
        help="change each solution a little: which changes does no check notice?",
        description="Change each solution in one place, a comparison, a constant, a clone less, "
        "and grade it. A change that costs no point is a check that is missing, or stands in the "
        "bank as `# %% same EXERCISE: why`.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument("--exercise", metavar="NAME", help="look at this exercise alone")
    parser.add_argument(
        "--most",
        type=positive,
        metavar="N",
        help="try N changes to each exercise, always the same ones (default: all)",
    )
    add_share(parser, "the changes")
    add_runner(parser)
    add_limit(parser)
    parser.set_defaults(limit=4.0, run=_mutants)
    add_json(parser, "the report")


def _mutants(options: argparse.Namespace) -> int:
    from autograder.answer_bank.mutants import plan_mutants
    from autograder.answer_bank.share import left_out_line
    from autograder.console import Progress

    with Progress(sys.stderr, "mutants") as progress:
        progress.doing("changing the solutions")
        gates, broken = lesson_gates(options)
        plans = plan_mutants(
            gates, exercise=options.exercise, most=options.most, share=options.share
        )
        report, note = _tried(options, plans, progress)
    if options.as_json:
        say(json_text(report.to_json()))
    else:
        left_out = filter(None, [left_out_line(report.left_out)])
        say("\n".join([*report.lines(), *left_out, report.closing]))
    for line in [*map(str, broken), *filter(None, [note])]:
        say(f"autograder: {line}", file=sys.stderr)
    return 0 if report.ok and not broken else 1


def _tried(
    options: argparse.Namespace, plans: Sequence[Plan], progress: Progress
) -> tuple[MutantReport, str]:
    from autograder.answer_bank.gate_runs import try_mutants

    progress.expect(sum(len(plan.cases) for plan in plans))
    return try_mutants(
        options.course,
        plans,
        runner=options.runner,
        limit_s=options.limit,
        done=lambda count: progress.reach(count, "mutants"),
        results=kept_results(options),
    )
