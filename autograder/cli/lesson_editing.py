"""What authors run while they write: new-lesson, new-exercise, check, tidy."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.authoring import gate_lines
from autograder.cli.options import (
    add_course,
    add_json,
    add_lessons,
    add_limit,
    chosen,
    positive,
)
from autograder.console import json_text, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.answer_bank.gate import Gate, GateReport
    from autograder.cli.lesson_check import LessonCheck
    from autograder.cli.options import Commands


def add_commands(commands: Commands) -> None:
    """Add the commands of this module to the parser."""
    _add_check(commands)
    _add_new_lesson(commands)
    _add_new_exercise(commands)
    _add_tidy(commands)


def _add_check(commands: Commands) -> None:
    parser = commands.add_parser(
        "check",
        help="everything about a lesson in one: form, claims, answers, release",
        description="Check a lesson's form, run the proofs of claims that changed, try its answers "
        "through the grading engine, and compare release/ with the source. Nothing is written but "
        "the memory of what was in order, in .autograder/kept/.",
    )
    add_lessons(parser)
    add_course(parser)
    add_limit(parser)
    add_json(parser, "what was found")
    parser.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    from autograder.answer_bank.gate_runs import try_answers
    from autograder.cli.lesson_check import check_lessons
    from autograder.console import Progress
    from autograder.kept_results import KeptResults

    notes: list[str] = []

    def tried(gates: Sequence[Gate]) -> GateReport:
        with Progress(sys.stderr, "check") as progress:
            progress.expect(sum(len(gate.cases) for gate in gates))
            report, note = try_answers(
                options.course,
                gates,
                limit_s=options.limit,
                done=lambda count: progress.reach(count, "answers"),
                results=KeptResults.of_course(options.course),
            )
        notes.append(note)
        return report

    found = []
    for one in check_lessons(options.course, chosen(options), tried):
        found.append(one)
        if not options.as_json:
            say("\n".join(_check_lines(one)))
    if options.as_json:
        summary = [{**asdict(one), "ok": one.ok, "closing": one.closing} for one in found]
        say(json_text(summary))
    for note in filter(None, notes):
        say(f"autograder: {note}", file=sys.stderr)
    return 0 if all(one.ok for one in found) else 1


def _check_lines(one: LessonCheck) -> list[str]:
    lines = [one.lesson]
    for part in one.parts:
        lines.append(f"  {'✓' if part.ok else '✗'} {part.name:<8} {part.summary}")
        lines += [f"      {line}" for text in part.findings for line in text.split("\n")]
        lines += [f"    {line}" for line in gate_lines(part.misses) if line != one.lesson]
    return [*lines, one.closing]


def _add_new_lesson(commands: Commands) -> None:
    parser = commands.add_parser(
        "new-lesson",
        help="begin a lesson: its notebook and its claims",
        description="Write source/NN-name/NN-name.ipynb and course/lessons/name/claims.toml, "
        "whole in form, with a ✎ wherever the author has to write something.",
    )
    parser.add_argument("slug", metavar="NN-name", help="number and name, such as 18-mini")
    add_course(parser)
    parser.set_defaults(run=_new_lesson)


def _new_lesson(options: argparse.Namespace) -> int:
    from autograder.lessons.authoring.scaffold import new_lesson

    number = options.slug[:2]
    _say_written(options.course, new_lesson(options.course, options.slug))
    say(f"Next: `autograder new-exercise {number} NAME`, then write what each ✎ asks for.")
    return 0


def _add_new_exercise(commands: Commands) -> None:
    parser = commands.add_parser(
        "new-exercise",
        help="put an exercise into a lesson: five cells, its misconceptions, its answers",
        description="Add task, two hints, answer and test to a lesson's notebook, its "
        "misconceptions to the claims file and headings to the answers, and number the exercises "
        "anew. A ✎ stands wherever the author has to write something.",
    )
    parser.add_argument("lesson", metavar="LESSON", help="number or name of the lesson")
    parser.add_argument("name", metavar="NAME", help="of the exercise, such as row-spans")
    parser.add_argument(
        "--after", metavar="NAME", help="the exercise before it (default: the last one)"
    )
    parser.add_argument(
        "--function", metavar="NAME", help="what the learner defines (default: from the name)"
    )
    parser.add_argument("--title", help="in the heading (default: from the name)")
    parser.add_argument("--points", type=positive, default=3, metavar="N", help="(default: 3)")
    parser.add_argument("--difficulty", type=int, choices=(1, 2, 3), default=1, help="(default: 1)")
    parser.add_argument(
        "--minutes", type=positive, default=10, metavar="N", help="it takes (default: 10)"
    )
    add_course(parser)
    parser.set_defaults(run=_new_exercise)


def _new_exercise(options: argparse.Namespace) -> int:
    from autograder.answer_bank.bank import parse_bank
    from autograder.lessons.authoring.scaffold import new_exercise
    from autograder.lessons.authoring.skeleton import NewExercise

    one = NewExercise(
        name=options.name,
        function=options.function or options.name.replace("-", "_"),
        title=options.title or options.name.replace("-", " "),
        points=options.points,
        difficulty=options.difficulty,
        minutes=options.minutes,
    )
    written = new_exercise(
        options.course, options.lesson, one, check_bank=parse_bank, after=options.after
    )
    _say_written(options.course, written)
    say(f"Next: write what each ✎ asks for, then `autograder check {options.lesson}`.")
    return 0


def _add_tidy(commands: Commands) -> None:
    parser = commands.add_parser(
        "tidy",
        help="bring a lesson's notebook into its committed form",
        description="Give cells readable ids, number the exercises in order, and take out outputs, "
        "counts and what the editor left in the metadata. A second run changes nothing.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument(
        "--shows",
        action="store_true",
        help="run the lesson, and mark the cells that leave nothing behind: where nothing in a "
        "submission needs them, they are not run again for it",
    )
    parser.set_defaults(run=_tidy)


def _tidy(options: argparse.Namespace) -> int:
    from autograder.console import quantity
    from autograder.lessons.authoring.tidy import tidy
    from autograder.simulation.effects import mark

    lessons = chosen(options)
    changed = []
    for lesson in lessons:
        before = lesson.source.read_bytes()
        tidy(lesson.source)
        if options.shows:
            count = mark(lesson)
            say(f"{lesson.slug}: {quantity(count, 'cell')} marked, of {len(lesson.cells())}")
        if lesson.source.read_bytes() != before:
            changed.append(lesson.source)
    _say_written(options.course, changed)
    say(f"{len(changed)} of {len(lessons)} notebooks changed")
    return 0


def _say_written(course: Path, paths: Sequence[Path]) -> None:
    for path in paths:
        say(path.relative_to(course) if path.is_relative_to(course) else path)
