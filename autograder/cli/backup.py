"""What keeps a course: backup."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.cli.options import add_course, add_db, add_json
from autograder.console import json_text, say
from autograder.errors import UsageError

if TYPE_CHECKING:
    from autograder.cli.options import Commands


def add_commands(commands: Commands) -> None:
    """Add the commands of this module to the parser."""
    parser = commands.add_parser(
        "backup",
        help="keep journal, gradebook and roster in one file, and bring them back",
        description="Write the memory of the course into one file: the gradebook with the points "
        "and comments by hand, due dates and extensions; the journal; students.csv; and who is "
        "who in the LMS. Submissions and what is made from them are not in it. --restore brings "
        "back what such a file holds, after all of it was compared with its digests.",
    )
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="where to (default: a file named by the time in .autograder/backups/)",
    )
    parser.add_argument(
        "--restore", type=Path, metavar="FILE", help="make the course what this backup holds"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="replace what is there; restoring backs it up first",
    )
    add_course(parser)
    add_db(parser)
    add_json(parser, "what was kept or brought back")
    parser.set_defaults(run=_backup)


def _backup(options: argparse.Namespace) -> int:
    from autograder.course_directory import load_course
    from autograder.grading import backup, restore

    course = load_course(options.course, db=options.db)
    kept: list[Path] = []
    if options.restore is None:
        file = options.file or backup.default_file(course)
        contents = backup.back_up(course, file, force=options.force)
    elif options.file is not None:
        raise UsageError(
            f"--restore and a file to write to, {options.file}, exclude each other",
            remedy="To restore, name one file: --restore FILE.",
        )
    else:
        file = options.restore
        contents, kept = restore.restore(course, file, force=options.force)
    if options.as_json:
        import msgspec

        report = {"file": str(file), "kept": list(map(str, kept)), **msgspec.to_builtins(contents)}
        say(json_text(report))
        return 0
    say(f"{file}" if options.restore is None else f"restored {file}, of {contents.made_at}:")
    say("\n".join(contents.lines))
    for path in kept:
        say(f"  what was there before: {path}")
    if options.restore is None:
        say("It holds names and grades. Keep a copy of it on another disk.")
    return 0
