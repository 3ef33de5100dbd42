"""`autograder backup`: the memory of a course in one file, and back.

    manifest.json          what it is, of when, and the SHA-256 digest of everything in it
    gradebook.db           SQLite's own consistent copy; of another database gradebook.json
    state/…                .autograder/: journal, who is who in the LMS, key of anonymous ids
    students.csv           the roster

Submissions, executed notebooks and pages are no part of it: the first are files that nothing here
changes, the others are made again from what is kept.

The file gets its name when it is complete and was read back; a run that is killed leaves none.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import msgspec

from autograder.course_directory import CourseDirectory
from autograder.errors import AutograderError
from autograder.grading.sync import ROSTER
from autograder.nbgrader_bridge.gradebook_copy import COPY_NAMES, copy_of, described
from autograder.records.journal import is_unfinished, only_grader

FORMAT = 1
MANIFEST = "manifest.json"
STATE = "state"
# What belongs to one run, what can be had again, and the backups themselves.
LEFT_OUT = frozenset({"lock", "collecting", "restoring", "earlier", "backups"})
_BLOCK_NBYTES = 2**20


class BackupError(AutograderError):
    """A backup cannot be written, read or restored."""


class BackupPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of a backup; `path` is where it belongs, `name` what the archive calls it."""

    path: str
    name: str
    digest: str
    nbytes: int


class BackupContents(msgspec.Struct, frozen=True):
    """What a backup says of itself."""

    course: str
    made_at: str
    parts: tuple[BackupPart, ...]
    gradebook: str | None  # what the gradebook held, in words

    @property
    def lines(self) -> Iterator[str]:
        """What it holds, for people."""
        records = [p for p in self.parts if _is_record(p.path)]
        matched = [p for p in self.parts if p.path.startswith(f"{STATE}/lms/")]
        yield f"  gradebook: {self.gradebook or 'none'}"
        yield f"  journal: {len(records)} records"
        yield f"  roster: {'students.csv' if self._has(ROSTER) else 'none'}"
        yield f"  who is who in the LMS: {len(matched)} lessons"

    def _has(self, path: str) -> bool:
        return any(part.path == path for part in self.parts)


def default_file(course: CourseDirectory) -> Path:
    """Where a backup goes that was given no name: a directory that git ignores."""
    return course.state / "backups" / f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.zip"


def back_up(course: CourseDirectory, file: Path, *, force: bool = False) -> BackupContents:
    """Write the backup of a course, and say what is in it.

    Args:
        course: Nothing else may be at work on it meanwhile.
        file: Where to.
        force: Replace a file that is there.

    Raises:
        BackupError: `file` is there already, or cannot be written.
        JournalError: A `grade` is at work on this course.
        GradebookError: The database refuses.
    """
    if os.path.lexists(file) and not force:
        raise BackupError(
            "is there already",
            place=str(file),
            remedy="Give another name, or say --force to replace it.",
        )
    with only_grader(course.state):
        return write_backup(course, file)


def write_backup(course: CourseDirectory, file: Path, *, gradebook: bool = True) -> BackupContents:
    """Write the backup of a course that this process holds, and read it back.

    Args:
        course: Held by `only_grader`.
        file: It gets its name when it is complete; what was there before is replaced.
        gradebook: False where the gradebook is damaged and cannot be copied.

    Raises:
        BackupError: It cannot be written.
        GradebookError: The database refuses.
    """
    unfinished = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _forget_killed(course)
        contents = _write(course, unfinished, gradebook)
        with opened(unfinished) as archive:
            check(archive, read_contents(archive))
        os.replace(unfinished, file)
        _sync(file.parent)
    except OSError as error:
        raise BackupError(
            f"cannot be written: {error.strerror or error}",
            place=str(file),
            remedy="Make room or give the permission, or choose another place.",
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)
    return contents


def opened(file: Path) -> zipfile.ZipFile:
    """The archive; raises `BackupError` where it is none."""
    try:
        return zipfile.ZipFile(file)
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise BackupError(
            f"cannot be read as a backup: {getattr(error, 'strerror', None) or error}",
            place=str(file),
            remedy="Is it the file that `autograder backup` wrote, copied completely?",
        ) from error


def read_contents(archive: zipfile.ZipFile) -> BackupContents:
    """What the archive says of itself; raises where it is no backup, or of a later version."""
    try:
        data = json.loads(archive.read(MANIFEST))
        if data["format"] > FORMAT:
            raise BackupError(
                f"was written by a later version of autograder (format {data['format']}; "
                f"this one reads up to {FORMAT})",
                place=str(archive.filename),
                remedy="Restore it with the version that wrote it, or a later one.",
            )
        return msgspec.convert(data, BackupContents)
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise BackupError(
            "is no backup of a course: its manifest cannot be read",
            place=str(archive.filename),
            remedy="Is it the file that `autograder backup` wrote?",
        ) from error


def check(archive: zipfile.ZipFile, contents: BackupContents) -> None:
    """Raise unless the archive holds exactly what its manifest says, byte for byte."""
    for part in contents.parts:
        copy_part(archive, part, _nowhere)
    extra = set(archive.namelist()) - {MANIFEST} - {part.name for part in contents.parts}
    if extra:
        raise _damaged(archive, f"holds {min(extra)}, of which its manifest says nothing")


def copy_part(archive: zipfile.ZipFile, part: BackupPart, write: Callable[[bytes], object]) -> None:
    """Pass the bytes of a part to `write`, block by block.

    Args:
        archive: The backup.
        part: As its manifest has it.
        write: It has had all blocks by the time that a wrong digest is found.

    Raises:
        BackupError: They are not the bytes that were kept.
    """
    try:
        with archive.open(part.name) as source:
            digest, nbytes = _drain(source, write)
    except (KeyError, zipfile.BadZipFile, EOFError, ValueError, NotImplementedError) as error:
        raise _damaged(archive, f"{part.path} cannot be read: {error}") from error
    if (digest, nbytes) != (part.digest, part.nbytes):
        raise _damaged(archive, f"{part.path} is not what was backed up")


def _damaged(archive: zipfile.ZipFile, cause: str) -> BackupError:
    return BackupError(
        f"is damaged: {cause}",
        place=str(archive.filename),
        remedy="Nothing was changed. Use another copy of the file, or an older backup.",
    )


def _write(course: CourseDirectory, file: Path, gradebook: bool) -> BackupContents:
    with TemporaryDirectory(prefix="autograder-backup-") as folder, file.open("wb") as raw:
        os.chmod(file, 0o600)  # names and grades
        copy = copy_of(course, Path(folder)) if gradebook else None
        found = [(COPY_NAMES[copy.suffix], copy)] if copy else []
        found += [(ROSTER, course.root / ROSTER)] if (course.root / ROSTER).is_file() else []
        found += sorted((f"{STATE}/{name}", path) for name, path in kept_state(course.state))
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            parts = tuple(
                _add(archive, path, where, number) for number, (where, path) in enumerate(found)
            )
            contents = BackupContents(
                course.course_id,
                f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
                parts,
                described(copy) if copy else None,
            )
            archive.writestr(MANIFEST, json.dumps(_manifest(contents), indent=1))
        raw.flush()
        os.fsync(raw.fileno())
    return contents


def _manifest(contents: BackupContents) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "written_by": {name: _version(name) for name in ("pytorch-measured", "nbgrader")},
        **msgspec.to_builtins(contents),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def kept_state(state: Path) -> Iterator[tuple[str, Path]]:
    """The files of .autograder/ that are kept, by their paths below it; no link is followed."""
    for folder, folders, names in os.walk(state):
        below = Path(folder).relative_to(state)
        if below == Path():
            folders[:] = [name for name in folders if name not in LEFT_OUT]
            names = [name for name in names if name not in LEFT_OUT]
        for name in names:
            path = Path(folder, name)
            if stat.S_ISREG(path.lstat().st_mode) and not is_unfinished(name):
                yield (below / name).as_posix(), path


def _add(archive: zipfile.ZipFile, source: Path, where: str, number: int) -> BackupPart:
    # A file name need not be UTF-8; the manifest, in ASCII, can hold any.
    plain = where.encode("utf-8", "replace").decode() == where
    name = where if plain else f"{STATE}/file-{number}"
    info = zipfile.ZipInfo(name)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
    with source.open("rb") as file, archive.open(info, "w", force_zip64=True) as target:
        digest, nbytes = _drain(file, target.write)
    return BackupPart(where, name, digest, nbytes)


def _drain(source: IO[bytes], write: Callable[[bytes], object]) -> tuple[str, int]:
    """Pass everything of `source` on; its digest and length."""
    digest, nbytes = hashlib.sha256(), 0
    while block := source.read(_BLOCK_NBYTES):
        digest.update(block)
        nbytes += len(block)
        write(block)
    return digest.hexdigest(), nbytes


def _nowhere(block: bytes) -> None:
    """Take `block` and do nothing with it."""


def _is_record(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder.startswith(f"{STATE}/journal/") and not name.startswith(".")


def _forget_killed(course: CourseDirectory) -> None:
    """Remove what a killed run began in our own directory; elsewhere it may be a person's."""
    for path in (course.state / "backups").glob(".*.zip.part"):
        path.unlink()


def _sync(folder: Path) -> None:
    """Make the new name of a file last through a power cut."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
