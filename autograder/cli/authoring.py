"""What authors run: release, check-answers, simulate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.options import (
    add_course,
    add_json,
    add_lessons,
    add_limit,
    add_runner,
    add_share,
    chosen,
    fraction,
    kept_results,
    positive,
)
from autograder.console import json_text, say
from autograder.errors import BankError, LessonError, UsageError

if TYPE_CHECKING:
    from autograder.answer_bank.gate import ExerciseGate, Gate, GateReport
    from autograder.cli.options import Commands
    from autograder.console import Progress
    from autograder.lessons.lint.findings import Finding
    from autograder.lessons.model import Lesson
    from autograder.lessons.release import Drift


def add_commands(commands: Commands) -> None:
    """Add the commands of this module to the parser."""
    _add_release(commands)
    _add_check_answers(commands)
    _add_simulate(commands)


def _add_release(commands: Commands) -> None:
    parser = commands.add_parser(
        "release",
        help="build the class and self-study editions from source/",
        description="Build both editions of each lesson into release/. The same source gives the "
        "same bytes, so a second run changes nothing. A broken rule, or the proof of a claim that "
        "changed and does not hold, stops it; what can be told by reading is told before anything "
        "runs.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit 1 and name the files that are not what the source gives",
    )
    parser.add_argument(
        "--repository",
        metavar="OWNER/NAME",
        help="where the course lies on GitHub: written into pyproject.toml, and from there into "
        "badges and set-up cells; '' takes it out",
    )
    add_json(parser, "what changed")
    parser.set_defaults(run=_release)


def _release(options: argparse.Namespace) -> int:
    from autograder.lessons.release import check_release, write_release

    if options.repository is not None:
        _move(options)
    lessons = chosen(options)
    files = _built(options.course, lessons)
    if options.check:
        drift = check_release(options.course, files)
        if options.as_json:
            say(json_text({"drift": [asdict(one) for one in drift]}))
        else:
            _say_drift(drift, len(files))
        return 1 if drift else 0
    _prove(options.course, lessons)
    changed = write_release(options.course, files)
    if options.as_json:
        say(json_text({"changed": changed}))
    else:
        inside = sum(name.startswith("release/") for name in changed)
        others = len(changed) - inside
        more = f", and {others} that show all lessons together" if others else ""
        say("\n".join([*changed, f"{inside} of {len(files)} files changed in release/{more}"]))
    return 0


def _move(options: argparse.Namespace) -> None:
    """Write the address of the course; every notebook has it, so none can be left behind."""
    from autograder.lessons.editions.addresses import set_repository

    if options.check or options.lessons:
        raise UsageError(
            "--repository changes every notebook, so it goes with neither --check nor lessons",
            place="autograder release",
            remedy="Give it alone; --check then compares with the address in pyproject.toml.",
        )
    set_repository(options.course, options.repository)


def _built(course: Path, lessons: Sequence[Lesson]) -> dict[str, bytes]:
    """Both editions of all lessons; whatever can be refused by reading is refused first."""
    from autograder.console import Progress
    from autograder.lessons.release import build_editions, refuse_unsound

    files: dict[str, bytes] = {}
    with Progress(sys.stderr, "release") as progress:
        progress.expect(len(lessons))
        refuse_unsound(course, lessons, done=lambda slug: progress.doing(f"form of {slug}"))
        for lesson in lessons:
            progress.doing(f"editions of {lesson.slug}")
            files |= build_editions(course, [lesson])
            progress.step(lesson.slug)
    return files


def _prove(course: Path, lessons: Sequence[Lesson]) -> None:
    """Raise `LessonError` where a claim that changed does not hold."""
    from autograder.console import Progress
    from autograder.lessons.lint.proofs.changed import not_run, prove_changed

    failed: list[Finding] = []
    lacking: list[str] = []
    with Progress(sys.stderr, "release: proofs") as progress:
        for lesson in lessons:
            progress.doing(lesson.slug)
            found = prove_changed(course, lesson, expect=progress.expect, done=progress.step)
            failed += found.failed
            lacking += found.lacking
    if lacking:
        say(f"proofs: {not_run(lacking)}", file=sys.stderr)
    if failed:
        raise LessonError("\n".join(map(str, failed)))


def _say_drift(drift: Sequence[Drift], count: int) -> None:
    if drift:
        say("\n".join(f"{one.path}: {one.kind}" for one in drift))
        say("release/ is not what source/ gives. Run `autograder release`.")
        if any(one.kind == "stray" for one in drift):
            say("What is stray belongs to no lesson in source/: remove it.")
    else:
        say(f"release/ is what source/ gives ({count} files).")


def _add_check_answers(commands: Commands) -> None:
    parser = commands.add_parser(
        "check-answers",
        help="try right and wrong answers on the test cells",
        description="Put every answer of a lesson's bank into its notebook and grade it: right "
        "ones must get all points, wrong ones must fail a check that names their misconception.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument(
        "--bank", type=Path, metavar="FILE", help="take the answers from this file of percent cells"
    )
    parser.add_argument("--exercise", metavar="NAME", help="try the answers to this one alone")
    add_share(parser, "the answers that are not right")
    add_runner(parser)
    add_limit(parser)
    parser.add_argument(
        "--all-cells",
        action="store_true",
        help="try each answer in the whole lesson, with and without the cells that only show: "
        "all must come to the same points",
    )
    add_json(parser, "the report")
    parser.set_defaults(run=_check_answers)


def _check_answers(options: argparse.Namespace) -> int:
    from autograder.answer_bank.gate import bank_gate, only_exercise
    from autograder.answer_bank.share import left_out_line
    from autograder.console import Progress

    broken: list[BankError] = []
    with Progress(sys.stderr, "check-answers") as progress:
        progress.doing("reading the answers")
        if options.bank:
            gates = [bank_gate(options.course, options.bank, options.lessons)]
        else:
            gates, broken = lesson_gates(options, share=options.share)
        if options.exercise:
            gates = only_exercise(gates, options.exercise)
        report, note = _tried(options, gates, progress)
    if options.as_json:
        say(json_text(report.to_json()))
    else:
        more = filter(None, [report.constants, report.precision, left_out_line(report.left_out)])
        say("\n".join([*gate_lines(report.exercises), *more, report.closing]))
    for line in [*map(str, broken), *filter(None, [note])]:
        say(f"autograder: {line}", file=sys.stderr)
    return 0 if report.ok and not broken else 1


def _tried(
    options: argparse.Namespace, gates: Sequence[Gate], progress: Progress
) -> tuple[GateReport, str]:
    from autograder.answer_bank.gate_runs import try_answers

    progress.expect(sum(len(gate.cases) for gate in gates))
    return try_answers(
        options.course,
        gates,
        runner=options.runner,
        limit_s=options.limit,
        done=lambda count: progress.reach(count, "answers"),
        all_cells=options.all_cells,
        results=kept_results(options),
    )


def lesson_gates(
    options: argparse.Namespace, *, share: float = 1.0
) -> tuple[list[Gate], list[BankError]]:
    """The gate of each lesson; one broken bank does not keep the others from being tried.

    Of the answers that are not right, `share` are tried.
    """
    from autograder.answer_bank.gate import lesson_gate

    gates, broken = [], []
    for lesson in chosen(options):
        try:
            gates.append(lesson_gate(options.course, lesson, share=share))
        except BankError as error:
            broken.append(error)
    return gates, broken


def gate_lines(exercises: Iterable[ExerciseGate]) -> Iterable[str]:
    """The lines that tell what the gate found, exercise by exercise."""
    exercises = list(exercises)
    width = max((len(one.exercise) for one in exercises), default=0)
    lesson = ""
    for one in exercises:
        if one.lesson != lesson:
            lesson = one.lesson
            yield lesson
        counts = "right {}/{} · wrong {}/{}".format(*one.right, *one.wrong)
        yield f"  {'✗' if one.misses else '✓'} {one.exercise:<{width}}  {counts}"
        for miss in one.misses:
            yield f"      {miss.place}: {miss.kind}, {miss.title}: {miss.reason}"


def _add_simulate(commands: Commands) -> None:
    parser = commands.add_parser(
        "simulate",
        help="make a course directory with a class of invented submissions",
        description="Fill a course directory with submissions made from the answers: good, weak "
        "and broken ones. The same seed gives the same class.",
    )
    parser.add_argument("--students", type=positive, required=True, metavar="N", help="how many")
    parser.add_argument(
        "--lessons", nargs="+", default=["all"], metavar="LESSON", help="which (default: all)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="default: %(default)s")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("simulated"),
        metavar="DIR",
        help="the directory to fill; one that was simulated before is replaced (default: "
        "%(default)s)",
    )
    parser.add_argument(
        "--faults",
        type=fraction,
        default=0.0,
        metavar="FRACTION",
        help="share of submissions that hang, crash or cannot be read (default: %(default)s)",
    )
    add_course(parser)
    add_json(parser, "what was made")
    parser.set_defaults(run=_simulate)


def _simulate(options: argparse.Namespace) -> int:
    from autograder.console import Progress

    with Progress(sys.stderr, "simulate") as progress:
        from autograder.simulation.simulate import simulate

        made = simulate(
            options.course,
            chosen(options),
            out=options.out,
            students=options.students,
            seed=options.seed,
            faults=options.faults,
            progress=progress,
        )
    say(json_text(made.to_json()) if options.as_json else made.sentence)
    return 0
