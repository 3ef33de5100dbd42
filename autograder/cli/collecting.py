"""What instructors run before grading: collect."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from autograder.cli.options import add_course, add_db, add_json, chosen_assignments
from autograder.errors import UsageError
from autograder.lms import TITLES, systems

if TYPE_CHECKING:
    from autograder.cli.options import Commands


def add_commands(commands: Commands) -> None:
    """Add the commands of this module to the parser."""
    parser = commands.add_parser(
        "collect",
        help=f"take in submissions: the zip of {TITLES}, any folder or archive; or marking sheets",
        description="Put each notebook of a submission archive into submitted/, under the student "
        f"whom its name means: as {TITLES} writes it, or by a folder that is called after a "
        "student's id, lms_user_id, address or name; in ILIAS's archives and in repositories of "
        "GitHub Classroom by the login. With --from only the form of that one is read; without, "
        "learners can choose names in the form of another. What cannot be matched or taken is "
        "listed with the reason. An earlier submission is kept in .autograder/earlier/. The same "
        "archive can be collected again: what is there already is left as it is. With --marks take "
        "in the sheets on which the questions in words were marked.",
    )
    parser.add_argument(
        "archive",
        type=Path,
        nargs="?",
        metavar="PATH",
        help="a .zip or .tar.gz as downloaded, a folder, or one notebook",
    )
    parser.add_argument(
        "--marks",
        type=Path,
        nargs="+",
        default=[],
        metavar="SHEET",
        help="enter points and comments of sheets that `export --questions` wrote; an empty cell "
        "changes nothing",
    )
    parser.add_argument(
        "--lesson",
        nargs="+",
        default=[],
        metavar="LESSON",
        dest="lessons",
        help="take notebooks of these lessons only (default: all)",
    )
    _add_matching(parser)
    add_course(parser)
    add_db(parser)
    add_json(parser, "what became of every file")
    parser.set_defaults(run=_collect)


def _add_matching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        choices=tuple(systems()),
        default="",
        dest="system",
        help="who has written the names: only that form is read (default: it is guessed, and what "
        "is in the form of several LMSs is nobody's)",
    )
    parser.add_argument(
        "--match",
        action="append",
        default=[],
        metavar="KEY=STUDENT",
        help="whom a name means that could not be matched, with the key as listed; repeatable",
    )
    parser.add_argument(
        "--worksheet",
        type=Path,
        metavar="CSV",
        help="Moodle's grading worksheet, in English: gives e-mail addresses and times",
    )
    parser.add_argument(
        "--timezone",
        type=_zone,
        metavar="NAME",
        help="the time zone of the worksheet, such as Europe/Berlin (default: this machine's)",
    )


def _collect(options: argparse.Namespace) -> int:
    from autograder.reporting.marking import entering
    from autograder.submissions import collect

    if bool(options.marks) == (options.archive is not None):
        raise UsageError(
            "name an archive or folder, or marking sheets with --marks: one of the two",
            remedy="See `autograder collect --help`.",
        )
    lessons, refused = chosen_assignments(options)
    if options.marks:
        code = entering.run(
            options.course, options.marks, lessons, db=options.db, as_json=options.as_json
        )
        return code or refused
    code = collect.run(
        options.course,
        options.archive,
        lessons,
        worksheet=options.worksheet,
        match=options.match,
        zone=options.timezone,
        system=options.system,
        db=options.db,
        as_json=options.as_json,
    )
    return code or refused


def _zone(text: str) -> ZoneInfo:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no time zone") from error
