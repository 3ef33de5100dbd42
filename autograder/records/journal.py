"""The journal: one JSON record a submission, the memory of grading.

    .autograder/journal/<lesson>/<student>.json    the record, and the run that wrote it; where the
                                                   name would be too long, its start and a digest
    .autograder/journal/<lesson>/.pending.json     what the last run set out to grade

A record is written to a temporary file, synced, and renamed, so that a reader finds the old one or
the new one and never half of one.  The gradebook, the feedback and the report are made from the
journal and can be made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from autograder.errors import AutograderError
from autograder.records.model import RecordError, SubmissionRecord

FORMAT = 1
_PENDING = ".pending.json"
_UNFINISHED = ".tmp"
_NAME_NBYTES, _KEPT_CHARS = 255, 40  # of a file's name; four bytes a character at most
_CUT = re.compile(r".*~[0-9a-f]{64}", re.DOTALL)


class JournalError(AutograderError):
    """The journal cannot be written or read."""


@dataclass(frozen=True)
class JournalEntry:
    """A record and the run of `grade` that wrote it."""

    record: SubmissionRecord
    run: str


class _Stored(msgspec.Struct):
    """An entry as it stands in its file; `record` is read apart, with its own messages."""

    format: Literal[1]  # the only `FORMAT` so far
    record: Any
    run: str = ""


class Pending(msgspec.Struct, frozen=True):
    """The students a run set out to grade; those without an entry of this run are still due."""

    run: str
    students: frozenset[str] = frozenset()


class Journal:
    """The records of one course directory."""

    def __init__(self, state: Path) -> None:
        """Keep the journal below `state`, a directory that need not exist yet."""
        self.root = state / "journal"

    def read(self, lesson: str, student: str) -> JournalEntry | None:
        """What is known of a submission; None where nothing, or nothing readable, is.

        Args:
            lesson: Its slug.
            student: The id, as submissions have it; any text.
        """
        return _read(self._path(lesson, student))

    def write(self, record: SubmissionRecord, run: str) -> None:
        """Keep `record`.

        Args:
            record: What is kept in place of the entry that its lesson and student have.
            run: The name of this run, from `begin`.

        Raises:
            JournalError: The disk refuses; the old entry is whole.
        """
        data = {"format": FORMAT, "run": run, "record": record.to_json()}
        write_json(self._path(record.lesson, record.student), data)

    def records(self, lesson: str) -> tuple[SubmissionRecord, ...]:
        """All readable records of `lesson`, by student."""
        paths = (self.root / lesson).glob("*.json")
        entries = (_read(path) for path in paths if not path.name.startswith("."))
        found = (entry.record for entry in entries if entry is not None)
        return tuple(sorted(found, key=lambda record: record.student))

    def lessons(self) -> tuple[str, ...]:
        """The lessons of which anything was graded."""
        return tuple(sorted(path.name for path in self.root.glob("*") if path.is_dir()))

    def pending(self, lesson: str) -> Pending | None:
        """What the last run set out to do; None where it finished or there was none."""
        try:
            data = json.loads((self.root / lesson / _PENDING).read_bytes())
            return msgspec.convert(data, Pending)
        except (OSError, ValueError):
            return None

    def due(self, lesson: str) -> frozenset[str]:
        """The students whose grading was begun and never finished."""
        pending = self.pending(lesson)
        if pending is None:
            return frozenset()
        return frozenset(n for n in pending.students if self._run_of(lesson, n) != pending.run)

    def begin(self, lesson: str, students: Iterable[str], gone: Iterable[str] = frozenset()) -> str:
        """Set out to grade `students`, on top of what is still due.

        Args:
            lesson: Its slug.
            students: Whom this run grades.
            gone: Who has no submission any more; nobody can grade them, and they are due no longer.

        Returns:
            The run's name, which each entry that it writes bears.

        Raises:
            JournalError: The plan cannot be written.
        """
        run = uuid.uuid4().hex
        wanted = sorted({*students, *self.due(lesson)} - set(gone))
        write_json(self.root / lesson / _PENDING, {"run": run, "students": wanted})
        return run

    def finish(self, lesson: str, gone: Iterable[str] = frozenset()) -> None:
        """Forget the plan of `begin` once nothing of it is due but what is `gone`."""
        if not self.due(lesson) - set(gone):
            (self.root / lesson / _PENDING).unlink(missing_ok=True)

    def _run_of(self, lesson: str, student: str) -> str | None:
        """The run that wrote an entry, without reading the record itself."""
        try:
            return _stored(self._path(lesson, student).read_bytes()).run
        except (OSError, RecordError):
            return None

    def _path(self, lesson: str, student: str) -> Path:
        name = f"{student}.json"
        is_long = len(name.encode("utf-8", "backslashreplace")) > _NAME_NBYTES
        if is_long or _CUT.fullmatch(student):  # as the name of a long id, which it must not take
            digest = hashlib.sha256(student.encode("utf-8", "backslashreplace")).hexdigest()
            name = f"{student[:_KEPT_CHARS]}~{digest}.json"
        return self.root / lesson / name


def _read(path: Path) -> JournalEntry | None:
    try:
        stored = _stored(path.read_bytes())
        return JournalEntry(SubmissionRecord.from_json(stored.record), stored.run)
    except (OSError, RecordError):
        return None  # as good as never graded: the next run grades it again


def _stored(raw: bytes) -> _Stored:
    try:
        return msgspec.convert(json.loads(raw), _Stored)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"the journal entry cannot be read: {error}") from error


def write_json(path: Path, data: object) -> None:
    """Write `data` to `path` as JSON, completely or not at all.

    Raises:
        JournalError: As `write_bytes`.
        ValueError: `data` holds NaN or infinity.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write `content` to `path`, completely or not at all.

    Args:
        path: Its folder is made where it is missing; a folder in its own place is set aside.
        content: All of the file.
        mode: The rights that it gets, whatever the umask says.

    Raises:
        JournalError: The system refuses; what was there before is whole, and nothing else is left.
    """
    temporary = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".", suffix=_UNFINISHED, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        _replace(temporary, path)
        temporary = ""
    except OSError as error:
        raise JournalError(
            f"cannot be written: {error.strerror}",
            place=str(path),
            remedy="Make room or give the permission, then run the same command again: "
            "it continues where it stopped.",
        ) from error
    finally:
        if temporary:  # also where Ctrl-C came
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def is_unfinished(name: str) -> bool:
    """Whether a file of this name is what a killed `write_bytes` has left."""
    return name.startswith(".") and name.endswith(_UNFINISHED)


def remove_unfinished(folders: Iterable[Path]) -> None:
    """Remove what killed writes have left in `folders`; nobody may write there at this moment."""
    for folder in folders:
        with contextlib.suppress(OSError):
            for path in folder.iterdir():
                if is_unfinished(path.name):
                    path.unlink()


def _replace(temporary: str, path: Path) -> None:
    """Rename; a folder in the place of the file is set aside, with all that it holds."""
    try:
        os.replace(temporary, path)
    except IsADirectoryError:
        path.rename(path.with_name(f".aside-{uuid.uuid4().hex}"))
        os.replace(temporary, path)


@contextlib.contextmanager
def only_grader(state: Path) -> Iterator[None]:
    """Hold the course directory for one run of `grade`; a second one is refused at once.

    The system gives the lock back however a run ends; the file stays.

    Args:
        state: The directory that only `autograder` writes to; it is made where it is missing.

    Raises:
        JournalError: Another run holds it, or nothing can be written there.
    """
    from filelock import FileLock, Timeout  # most commands hold nothing

    lock = FileLock(state / "lock", timeout=0)
    try:
        state.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise JournalError(
            "another `autograder grade` is at work on this course",
            place=str(state.parent),
            remedy="Wait until it has finished; two would write to one gradebook.",
        ) from error
    except OSError as error:
        raise JournalError(
            f"cannot be written: {error.strerror}",
            place=str(state),
            remedy="Give the permission to write there, then run the command again.",
        ) from error
    try:
        yield
    finally:
        lock.release()
