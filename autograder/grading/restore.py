"""`autograder backup --restore`: a course is again what its backup holds.

Everything is unpacked and compared with its digests before anything changes; what is there is
backed up first.  Then the gradebook changes in one transaction, and the journal, the rest of
.autograder/ and the roster by renames.  A restore that is killed between these is repeated: the
same command with --force brings all of it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from autograder.course_directory import CourseDirectory
from autograder.grading.backup import (
    LEFT_OUT,
    STATE,
    BackupContents,
    BackupError,
    check,
    copy_part,
    kept_state,
    opened,
    read_contents,
    write_backup,
)
from autograder.grading.sync import ROSTER
from autograder.nbgrader_bridge.database_address import database_file, remember_address
from autograder.nbgrader_bridge.gradebook_copy import COPY_NAMES, is_used, put_back
from autograder.nbgrader_bridge.gradebook_errors import GradebookError, is_damaged
from autograder.records.journal import only_grader

_STAGED = "restoring"


def restore(
    course: CourseDirectory, file: Path, *, force: bool = False
) -> tuple[BackupContents, list[Path]]:
    """Make a course what its backup holds.

    Args:
        course: Nothing else may be at work on it meanwhile.
        file: What `autograder backup` wrote.
        force: Replace what is there; it is backed up first.

    Returns:
        What the backup held, and the files in which what was there before is kept.

    Raises:
        BackupError: `file` is no whole backup, something is there already, or the disk refuses.
        GradebookError: The database refuses.
    """
    staged = course.state / _STAGED
    with only_grader(course.state):
        try:
            contents = _unpack(file, staged / "new")
            kept = _keep_what_is_there(course, force)
            _bring_back(course, staged)
        except OSError as error:
            raise BackupError(
                f"cannot be restored: {error.strerror or error}",
                place=str(file),
                remedy="Make room or give the permission, then run the same command with --force.",
            ) from error
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    return contents, kept


def _unpack(file: Path, folder: Path) -> BackupContents:
    """Write what the backup holds into `folder`; raises unless all of it is what was kept."""
    shutil.rmtree(folder.parent, ignore_errors=True)
    with opened(file) as archive:
        contents = read_contents(archive)
        check(archive, contents)
        for part in contents.parts:
            target = folder / _safe(file, part.path)
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as out:
                private = part.path in COPY_NAMES.values() or target.suffix == ".key"
                os.chmod(target, 0o600 if private else 0o644)
                copy_part(archive, part, out.write)
    return contents


def _safe(file: Path, path: str) -> str:
    """`path` where it names something that a backup holds, and nothing else."""
    top, *below = PurePosixPath(path).parts or [""]
    known = top in (ROSTER, *COPY_NAMES.values()) and not below
    state = top == STATE and below and below[0] not in LEFT_OUT
    if not (known or state) or ".." in below or "\0" in path:
        raise BackupError(
            f"names a file that no backup holds: {path!r}",
            place=str(file),
            remedy="Nothing was changed. Use a file that `autograder backup` wrote.",
        )
    return path


def _keep_what_is_there(course: CourseDirectory, force: bool) -> list[Path]:
    """Back up what is there; raises where anything is and nobody said that it may go."""
    damaged = False
    try:
        used = is_used(course)
    except GradebookError as error:
        if not (isinstance(error.__cause__, Exception) and is_damaged(error.__cause__)):
            raise
        used = damaged = True
    there = [*(["a gradebook"] if used else []), *_there(course)]
    if not there:
        return []
    if not force:
        raise BackupError(
            f"the course has {', '.join(there)} already",
            place=str(course.root),
            remedy="Say --force to replace that; it is backed up first, into .autograder/backups/.",
        )
    stamp = f"{datetime.now(UTC):%Y-%m-%dT%H%M%S.%fZ}"
    file = course.state / "backups" / f"{stamp}-before-restore.zip"
    write_backup(course, file, gradebook=not damaged)
    return [file, *(_move_aside(course, stamp) if damaged else [])]


def _there(course: CourseDirectory) -> Iterator[str]:
    tops = {name.split("/")[0] for name, _ in kept_state(course.state)}
    if tops:
        yield f"records in .autograder/ ({', '.join(sorted(tops))})"
    if (course.root / ROSTER).exists():
        yield ROSTER


def _move_aside(course: CourseDirectory, stamp: str) -> Iterator[Path]:
    """Take a damaged gradebook out of the way, with what SQLite keeps beside it."""
    path = database_file(course)
    assert path is not None  # only a file is damaged
    for suffix in ("", "-journal", "-wal", "-shm"):
        source = path.with_name(path.name + suffix)
        if os.path.lexists(source):
            target = course.state / "backups" / f"{stamp}-damaged-{source.name}"
            shutil.move(source, target)
            yield target


def _bring_back(course: CourseDirectory, staged: Path) -> None:
    new, old = staged / "new", staged / "old"
    copies = [new / name for name in COPY_NAMES.values() if (new / name).is_file()]
    for copy in copies:
        put_back(course, copy)
    old.mkdir(parents=True)
    (new / STATE).mkdir(parents=True, exist_ok=True)
    for path in [one for one in course.state.iterdir() if one.name not in LEFT_OUT]:
        path.rename(old / path.name)
    for path in list((new / STATE).iterdir()):
        path.rename(course.state / path.name)
    if copies:  # where the backup was made, it may have been another one
        remember_address(course)
    roster = course.root / ROSTER
    if (new / ROSTER).is_file():
        os.replace(new / ROSTER, roster)
    elif roster.exists():
        roster.rename(old / ROSTER)
