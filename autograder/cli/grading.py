"""What instructors run: grade, feedback, report, export."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.options import (
    add_course,
    add_db,
    add_json,
    add_lessons,
    chosen_assignments,
    positive,
)
from autograder.lms import LMS, TITLES

if TYPE_CHECKING:
    from autograder.cli.options import Commands


def add_commands(commands: Commands) -> None:
    """Add the commands of this module to the parser."""
    _add_grade(commands)
    _add_feedback(commands)
    _add_report(commands)
    _add_export(commands)


def _add_grade(commands: Commands) -> None:
    parser = commands.add_parser(
        "grade",
        help="grade what was handed in",
        description="Grade the submissions in submitted/ and enter them in the gradebook. What "
        "was graded before and has not changed is not run again, so a run that was "
        "interrupted goes on where it stopped.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument(
        "--jobs", type=positive, metavar="N", help="submissions at a time (default: one a core)"
    )
    add_db(parser)
    parser.add_argument("--student", metavar="ID", help="grade this learner alone")
    parser.add_argument("--regrade", action="store_true", help="run everything again")
    parser.add_argument(
        "--scheduler", metavar="ADDR", help="send the work to Dask workers, tcp://HOST:PORT"
    )
    parser.add_argument(
        "--runner",
        choices=("engine", "stock"),
        help="the grading engine, or stock nbgrader (default: the engine where there is Linux)",
    )
    parser.add_argument(
        "--no-sandbox",
        action="store_false",
        dest="sandbox",
        help="run learners' code without protection; every record says so",
    )
    add_json(parser, "one record a submission")
    parser.set_defaults(run=_grade)


def _grade(options: argparse.Namespace) -> int:
    from autograder.cli import grade

    lessons, code = chosen_assignments(options)
    graded = grade.run(
        options.course,
        lessons,
        jobs=options.jobs,
        db=options.db,
        student=options.student,
        regrade=options.regrade,
        runner=options.runner,
        sandbox=options.sandbox,
        scheduler=options.scheduler,
        as_json=options.as_json,
    )
    return graded or code


def _add_feedback(commands: Commands) -> None:
    parser = commands.add_parser(
        "feedback",
        help="write an HTML page for each learner",
        description="Write a page a submission: points, checks, and what to look at. Nothing of "
        "the hidden tests is in it.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument("--student", metavar="ID", help="this learner alone")
    parser.add_argument(
        "--zip",
        choices=tuple(LMS),
        dest="lms",
        help="also pack the pages into report/ as this LMS takes them back, for learners whose "
        "archive was collected",
    )
    add_db(parser)
    add_json(parser, "the paths")
    parser.set_defaults(run=_feedback)


def _feedback(options: argparse.Namespace) -> int:
    from autograder import course_directory
    from autograder.nbgrader_bridge import exchange
    from autograder.reporting import feedback
    from autograder.reporting.lms import feedback as lms_feedback

    lessons, refused = chosen_assignments(options)
    about = {"student": options.student, "db": options.db, "as_json": options.as_json}
    if options.lms:
        code = lms_feedback.run(options.course, lessons, LMS[options.lms], **about)
    else:
        code = feedback.run(options.course, lessons, **about)
    for lesson in lessons:
        directory = course_directory.load_course(options.course, db=options.db)
        exchange.accompany_pages(directory, lesson, options.student)
    return code or refused


def _add_report(commands: Commands) -> None:
    parser = commands.add_parser(
        "report",
        help="write an HTML page for the class",
        description="Write scores, the heat map of exercises and learners, and the misconceptions "
        "of the class, most frequent first; before several lessons, the class as a whole: who "
        "needs you, and everybody's points lesson by lesson.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="default: report/ in the course")
    add_db(parser)
    add_json(parser, "the numbers")
    parser.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> int:
    from autograder.reporting import report

    lessons, refused = chosen_assignments(options)
    code = report.run(
        options.course, lessons, out=options.out, db=options.db, as_json=options.as_json
    )
    return code or refused


def _add_export(commands: Commands) -> None:
    parser = commands.add_parser(
        "export",
        help="write the grades as CSV",
        description="Write one line a learner: with one column an exercise, or in the form that "
        f"{TITLES} imports. Where there are no points there is a status, never a 0.",
    )
    add_lessons(parser)
    add_course(parser)
    parser.add_argument(
        "--format",
        choices=("csv", *LMS),
        default="csv",
        dest="form",
        help="every exercise, or what an LMS imports (default: %(default)s)",
    )
    parser.add_argument(
        "--questions",
        action="store_true",
        help="instead of grades: a sheet a question in words with everybody's answers and no "
        "names, to give points and comments on; `collect --marks` takes it in",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where to; - for standard output (default: a file a lesson in report/); for "
        "--questions a directory (default: report/questions/)",
    )
    add_db(parser)
    parser.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    from autograder.reporting import export_csv
    from autograder.reporting.lms import grades
    from autograder.reporting.marking import questions

    lessons, refused = chosen_assignments(options)
    about = {"out": options.out, "db": options.db}
    if options.questions:
        code = questions.run(options.course, lessons, **about)
    elif options.form != "csv":
        code = grades.run(options.course, lessons, LMS[options.form], **about)
    else:
        code = export_csv.run(options.course, lessons, **about)
    return code or refused
