"""The files of a zip or tar archive, each read within bounds or refused with a reason.

Nothing here writes, and no name of the archive ever becomes a path: what is read is handed on as
bytes.  A name that would leave the directory is refused all the same, so that a person hears of it.
Only notebooks, archives and times are read; the rest is named, and costs nothing.
An archive inside it (learners pack their folder) is opened once, in a process apart with a clock
and a limit of memory (`own_archives`); what lies deeper is refused.  What is read counts for its
owner: too much of it, or an archive made to break what reads it, costs nobody else's file.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO

from autograder.errors import AutograderError
from autograder.lms.interface import ARCHIVES, TARS
from autograder.submissions.own_archives import INSTEAD, OPENER, Question

NOTEBOOK = ".ipynb"
TIME = "timestamp.txt"  # nbgrader's, beside a notebook
GIT = ".git"  # the folder that makes another one a repository
NO_NOTEBOOK = "is not a notebook (.ipynb)"
MiB = 2**20
_BLOCK_NBYTES = MiB
_HONEST_NBYTES = 4 * MiB  # below it a large ratio costs nothing: blank pictures pack 500 : 1
OWN_FILES = 10_000  # as many, and as large, as a learner's folder in submitted/ may be
OWN_NBYTES = 512 * MiB
_NOISE = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints"}
_OWN = "what its owner has handed in "
MOST_FOLDERS = 100  # inside each other
_NAME_CHARS = 1_024
_TWICE = "its name occurs twice in the archive; the first is kept"
_HEADER_NBYTES = 2**14  # of one that tells of the next file: names, times, attributes
_PATH_NBYTES = 2**13  # a path, of 2**12 at most, and a link's
_TELL_OF_NEXT = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
_GLOBAL_NBYTES = 2**12  # of those that tell of all next files, and are copied for each
_CAUSES: dict[type[BaseException], str] = {  # whose own messages speak of Python, or are empty
    OverflowError: "a number in it is too large",
    RecursionError: "it is nested too deeply",
    MemoryError: "it wants more memory than there is",
}
_FOREIGN = {  # by the bytes with which such a file begins
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"\x1f\x8b": "packed by gzip (name it .tar.gz if it is one)",
    b"%PDF": "a PDF",
}
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_LINK_FIELDS = {0x000D: 12, 0x756E: 14}  # Unix extra field -> its length without a link's target


class ArchiveError(AutograderError):
    """The archive as a whole cannot be read."""


@dataclass(frozen=True)
class Bounds:
    """How much is read; sizes are of the unpacked files.

    `own_files` and `own_nbytes` hold for the files of one owner, and once more for what is in
    archives of theirs.  `files` and `total_nbytes` hold in their place for all together of whom
    nobody can say whose they are: people can make up any number of names.  So do `own_s` and
    `total_s`, seconds of processor time to open archives, of which each has `archive_s` at most.
    """

    files: int = 50_000
    total_nbytes: int = 2 * 2**30
    file_nbytes: int = 64 * MiB
    ratio: int = 200
    own_files: int = OWN_FILES
    own_nbytes: int = OWN_NBYTES
    archive_s: float = 10.0
    own_s: float = 30.0
    total_s: float = 60.0

    def of_own(self) -> Bounds:
        """The bounds of what is one owner's."""
        return replace(self, files=self.own_files, total_nbytes=self.own_nbytes, total_s=self.own_s)


@dataclass(frozen=True)
class ArchiveFile:
    """A file of the archive; `path` has the inner path of a nested archive after its own.

    `above` is the path of that nested archive, empty where there is none.  `account` has laid it
    into a folder where all hand in; empty elsewhere.
    """

    path: tuple[str, ...]
    data: bytes
    above: tuple[str, ...] = ()
    account: str = ""


@dataclass(frozen=True)
class RefusedEntry:
    """A file that is not taken, and why; `above` and `account` as for an `ArchiveFile`."""

    path: tuple[str, ...]
    reason: str
    above: tuple[str, ...] = ()
    account: str = ""


Whose = Callable[[tuple[str, ...]], Hashable]  # a path -> its owner; None where nobody knows
Accounts = Mapping[tuple[str, ...], str]  # every path of the source, with the account
Sharing = Callable[[Accounts], Whose]


class Unread(Exception):
    """Says why one file is not read."""


class Spent(Unread):
    """More is there than is read."""


class Budget:
    """Counts down what may still be read of all that is one owner's.

    Below 0 are the numbers of which more was there.

    Args:
        bounds: How much there is.
        what: How a sentence begins that says it was more; empty where it is about an archive.
    """

    def __init__(self, bounds: Bounds, what: str = "") -> None:
        self.bounds, self.files, self.nbytes = bounds, bounds.files, bounds.total_nbytes
        self.seconds, self.archives, self._what = bounds.total_s, 0, what

    def another_file(self) -> None:
        """Count a file; raises `Spent` where it is one too many."""
        self.files -= 1
        if self.files < 0:
            raise Spent

    def spend(self, nbytes: int) -> None:
        """Count so many bytes as read."""
        self.nbytes -= nbytes

    def too_much(self) -> Spent:
        """What to raise where a file holds more bytes than are left."""
        self.nbytes = -1
        return Spent()

    def why_spent(self) -> str:
        """Why nothing more is read; empty where there is something left."""
        together = ", with its owner's other archives," if self.archives > 1 else ""
        if self.files < 0:
            return f"{self._what}holds{together} more than {self.bounds.files:,} files"
        if self.nbytes < 0:
            verb = "comes" if self._what else "unpacks"
            return f"{self._what}{verb}{together} to more than {_size(self.bounds.total_nbytes)}"
        if self.seconds <= 0:
            return f"takes{together} longer than {self.bounds.total_s:g} s to open{INSTEAD}"
        return ""

    def read(
        self, parts: tuple[str, ...], reading: Callable[[Budget], bytes]
    ) -> Iterator[ArchiveFile | RefusedEntry]:
        """What `reading` gives of a file, or why not; nothing more once all is spent."""
        if self.why_spent():
            return
        try:
            self.another_file()
            data = reading(self)
        except Spent:
            yield RefusedEntry(parts, f"{self.why_spent()}; the rest was not read")
        except Unread as refusal:
            yield RefusedEntry(parts, str(refusal))
        else:
            yield ArchiveFile(parts, data)


class OwnBudgets:
    """What may still be read of each owner's files, and what their archives may unpack to.

    People hand in any number of files.  With a budget for each, a few megabytes would fill the
    disk; with one for all, somebody's would be spent by others.

    Args:
        bounds: Those of the source.
        whose: Says whose they are; None where each is somebody else's.
    """

    def __init__(self, bounds: Bounds, whose: Whose | None) -> None:
        self._bounds, self._whose = bounds, whose or (lambda path: path)
        self._files: dict[Hashable, Budget] = {}
        self._archives: dict[Hashable, Budget] = {}

    def read(
        self, path: tuple[str, ...], reading: Callable[[Budget], bytes]
    ) -> Iterator[ArchiveFile | RefusedEntry]:
        """A file that lies in the source itself, or why it is not read.

        Where it is an archive, the files in it.

        Args:
            path: Where it lies.
            reading: Gives its bytes within a budget.
        """
        if not is_read(path):
            yield RefusedEntry(path, NO_NOTEBOOK)
            return
        for one in self._budget(self._files, path).read(path, reading):
            if isinstance(one, ArchiveFile) and path[-1].lower().endswith(ARCHIVES):
                yield from _opened(one, self.of_archive(path))
            else:
                yield one

    def of_archive(self, path: tuple[str, ...]) -> Budget:
        """The budget from which the archive at `path` takes."""
        budget = self._budget(self._archives, path)
        budget.archives += 1
        return budget

    def _budget(self, kind: dict[Hashable, Budget], path: tuple[str, ...]) -> Budget:
        whose = self._whose(path)
        if whose not in kind:
            bounds = self._bounds if whose is None else self._bounds.of_own()
            what = "what is here of people whom nobody knows " if whose is None else _OWN
            kind[whose] = Budget(bounds, "" if kind is self._archives else what)
        return kind[whose]


def is_read(path: tuple[str, ...]) -> bool:
    """Whether what lies in a file tells anything; of all others the name is enough.

    Args:
        path: Where it lies; the history of a repository is never read.
    """
    name = path[-1]
    return GIT not in path and (name == TIME or name.lower().endswith((NOTEBOOK, *ARCHIVES)))


def read_archive(
    path: Path, bounds: Bounds | None = None, sharing: Sharing | None = None
) -> Iterator[ArchiveFile | RefusedEntry]:
    """Every file in the archive at `path`, in its order; raises `ArchiveError` where it is none.

    Args:
        path: A zip or a tar.
        bounds: How much is read.
        sharing: Whose the files in it are; None where each is somebody else's.
    """
    bounds = bounds or Bounds()
    whose = sharing(dict.fromkeys(_paths(path, bounds), "")) if sharing else None
    own = OwnBudgets(bounds, whose)
    with _archive_at(path, bounds) as archive:
        for parts, reading in files_in(archive):
            yield from own.read(parts, reading)


def _paths(path: Path, bounds: Bounds) -> Iterator[tuple[str, ...]]:
    """Where they lie, without their bytes."""
    with _archive_at(path, bounds) as archive:
        if isinstance(archive, tarfile.TarFile):
            found = [split_name(one.name) for one in archive if not one.isdir()]
        else:
            found = [_parts(one) for one in archive.infolist() if not one.is_dir()]
    yield from (one for one in found if not is_noise(one))


@contextmanager
def _archive_at(path: Path, bounds: Bounds) -> Iterator[tarfile.TarFile | zipfile.ZipFile]:
    """The archive at `path`; whatever its reading raises becomes an `ArchiveError`."""
    is_tar = path.name.lower().endswith(TARS)
    try:
        with path.open("rb") as file:
            if is_tar:
                with tarfile.open(fileobj=file, tarinfo=_headers(bounds.total_nbytes)) as tar:
                    yield tar
            else:
                _refuse_foreign(path, file.read(8))
                with zipfile.ZipFile(file) as archive:
                    yield archive
    except ArchiveError:
        raise
    except (FileNotFoundError, PermissionError) as error:
        raise ArchiveError(
            f"cannot be read: {error.strerror}", place=str(path), remedy="Check path and rights."
        ) from error
    except Exception as error:
        raise ArchiveError(
            f"cannot be read as a {'tar' if is_tar else 'zip'} archive: {cause_of(error)}",
            place=str(path),
            remedy="Download it again; the file may have been cut short on its way.",
        ) from error


def cause_of(error: Exception) -> str:
    """What went wrong, in words that say it to somebody who has not written this.

    Args:
        error: Anything that zipfile, tarfile, zlib or the system raises.
    """
    known = _CAUSES.get(type(error)) or getattr(error, "strerror", None)
    return known or str(error) or type(error).__name__


def _refuse_foreign(path: Path, start: bytes) -> None:
    """Refuse a file that was never a zip, with what to do instead."""
    kind = next((name for mark, name in _FOREIGN.items() if start.startswith(mark)), None)
    if kind is not None:
        raise ArchiveError(
            f"is {kind}, not a zip archive",
            place=str(path),
            remedy="Unpack it, and give the folder; a .zip, .tar.gz or .ipynb can be given as is.",
        )


Entries = Iterator[tuple[tuple[str, ...], Callable[[Budget], bytes]]]
"""Where each file of an archive lies, and what reads it."""


def files_in(archive: tarfile.TarFile | zipfile.ZipFile) -> Entries:
    """Every file of an archive, but for noise; whatever its reading raises comes through.

    Args:
        archive: One that is open.
    """
    return _tarred(archive) if isinstance(archive, tarfile.TarFile) else _zipped(archive)


def _zipped(archive: zipfile.ZipFile) -> Entries:
    seen: set[str] = set()
    for info in archive.infolist():
        parts = _parts(info)
        if not info.is_dir() and not is_noise(parts):
            yield parts, partial(_read_zipped, archive, info, seen)


def _read_zipped(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, seen: set[str], budget: Budget
) -> bytes:
    try:
        _check(info, budget.bounds)
        if info.filename in seen:
            raise Unread(_TWICE)
        seen.add(info.filename)
        with archive.open(info) as file:  # what it announces is not believed
            return _within(budget, file)
    except Unread:
        raise
    except Exception as error:  # zipfile and zlib raise what they like for made-up bytes
        foreign = isinstance(error, (NotImplementedError, RuntimeError))  # a method, a password
        what = "cannot be unpacked" if foreign else "is damaged"
        raise Unread(f"{what}: {cause_of(error)}") from error


def _headers(work: int) -> type[tarfile.TarInfo]:
    """Headers of one tar that are not read where they are too long, or there is too much of them.

    Some versions of tarfile take time, and memory, by the square of such a header's length: that is
    what one costs of `work` which holds more than long paths. One learner's paths must not end what
    is read of a class.
    """
    left = _GLOBAL_NBYTES

    class Header(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Header:
            nonlocal left, work
            found = super().frombuf(buf, encoding, errors)
            if found.type in _TELL_OF_NEXT:
                left -= found.size if found.type == tarfile.XGLTYPE else 0
                work -= found.size**2 // 4 if found.size > _PATH_NBYTES else found.size
                if not 0 <= found.size <= _HEADER_NBYTES or min(left, work) < 0:
                    raise Unread("its headers are too long, as no program for archives makes them")
            return found

    return Header


def _tarred(archive: tarfile.TarFile) -> Entries:
    seen: set[str] = set()
    for info in archive:
        if info.size < 0:  # some versions of tarfile go back by it, and come here again
            raise tarfile.ReadError("the size of a file is below 0")
        parts = split_name(info.name)
        if not info.isdir() and not is_noise(parts):
            yield parts, partial(_read_tarred, archive, info, seen)


def _read_tarred(
    archive: tarfile.TarFile, info: tarfile.TarInfo, seen: set[str], budget: Budget
) -> bytes:
    """What a file holds; anything else than a refusal ends the archive: it has no next file."""
    if info.name in seen:
        raise Unread(_TWICE)
    seen.add(info.name)
    reason = _why_bad_name(info.name) or _why_no_tar_file(info)
    if reason:
        raise Unread(reason)
    if info.size > budget.bounds.file_nbytes:
        raise Unread(too_large(info.size, budget.bounds.file_nbytes))
    file = archive.extractfile(info)
    assert file is not None  # it is a regular file
    return _within(budget, file)


def _why_no_tar_file(info: tarfile.TarInfo) -> str | None:
    if info.issym():
        return "is a symbolic link, not a file"
    if info.islnk():
        return "is a link to another file"
    return None if info.isreg() else "is a special file (device, pipe or socket)"


def _opened(own: ArchiveFile, budget: Budget) -> Iterator[ArchiveFile | RefusedEntry]:
    """The files of somebody's own archive, as far as its owner's budget goes."""
    # Before anything of it is unpacked: they hand in any number of them.
    reason = budget.why_spent() or (yield from _unpacked(own, budget))
    if reason:
        yield RefusedEntry(own.path, reason)


def _unpacked(own: ArchiveFile, budget: Budget) -> Generator[ArchiveFile | RefusedEntry, None, str]:
    """The files of an archive; returns why not all of them were read, empty where they were."""
    bounds, seconds = budget.bounds, min(budget.bounds.archive_s, budget.seconds)
    asked = Question(
        not own.path[-1].lower().endswith(".zip"),
        budget.files,
        budget.nbytes,
        bounds.file_nbytes,
        bounds.ratio,
        seconds,
    )
    try:
        opened = OPENER.open(own.data, asked)
    except OSError as error:
        return f"cannot be opened: {cause_of(error)}"
    for name, reason, data in opened.files:
        path = (*own.path, *split_name(name))
        budget.files -= 1
        budget.spend(len(data))
        if reason:
            yield RefusedEntry(path, reason, own.path)
        else:
            yield ArchiveFile(path, data, own.path)
    budget.seconds -= opened.seconds
    if opened.has_ended:
        slow = f"takes longer than {seconds:g} s to open{INSTEAD}"
        return opened.reason or budget.why_spent() or slow
    # Both are below what was counted here where more was there.
    budget.files = min(budget.files, opened.files_left)
    budget.nbytes = min(budget.nbytes, opened.nbytes_left)
    spent = budget.why_spent()
    return opened.reason or (spent and f"{spent}; the rest was not read")


def _check(info: zipfile.ZipInfo, bounds: Bounds) -> None:
    """Raise `Unread` where name, kind or announced size of an entry rule it out."""
    reason = _why_bad_name(info.orig_filename) or _why_no_file(info)
    if reason:
        raise Unread(reason)
    if info.flag_bits & 0x1:
        raise Unread("is protected by a password")
    if info.compress_type not in _METHODS:
        raise Unread("is packed by a method that neither Moodle nor Canvas uses")
    if info.file_size > bounds.file_nbytes:
        raise Unread(too_large(info.file_size, bounds.file_nbytes))
    packed = max(1, info.compress_size)
    if info.file_size > _HONEST_NBYTES and info.file_size > bounds.ratio * packed:
        raise Unread(
            f"unpacks to {info.file_size // packed} times its size, as an archive made to fill "
            f"the disk does; {bounds.ratio} is the limit"
        )


def _why_bad_name(name: str) -> str | None:
    if re.search(r"[\x00-\x1f\x7f]", name):
        return "its name holds a control character"
    if name.startswith(("/", "\\")):
        return "its name is an absolute path"
    if re.match(r"[A-Za-z]:", name):
        return "its name starts with a drive letter"
    if ".." in re.split(r"[/\\]", name):
        return "its name leads out of the directory (..)"
    if len(name) > _NAME_CHARS:
        return f"its name is longer than {_NAME_CHARS:,} characters"
    if len(_named_parts(name)) > MOST_FOLDERS + 1:
        return f"it lies in more than {MOST_FOLDERS} folders"
    return None


def _why_no_file(info: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a symbolic link, not a file"
    if kind not in (0, stat.S_IFREG):
        return "is a special file (device, pipe or socket)"
    for field, nbytes in _extra_fields(info.extra):
        if nbytes > _LINK_FIELDS.get(field, 2**16):
            return "is a link to another file"
    return None


def _extra_fields(extra: bytes) -> Iterator[tuple[int, int]]:
    """The number and the length of each extra field of an entry."""
    at = 0
    while at + 4 <= len(extra):
        field, nbytes = struct.unpack_from("<HH", extra, at)
        yield field, nbytes
        at += 4 + nbytes


def _within(budget: Budget, file: IO[bytes]) -> bytes:
    """What `file` holds, where the budget allows that much.

    What was read counts also where it is too much, or its last part is damaged: it took its time.
    """
    left = budget.nbytes
    limit = min(budget.bounds.file_nbytes, left)
    blocks, total = [], 0
    try:
        while total <= limit and (block := file.read(min(_BLOCK_NBYTES, limit + 1 - total))):
            blocks.append(block)
            total += len(block)
    finally:
        budget.spend(total)
    if total > limit:
        raise budget.too_much() if limit == left else Unread(too_large(total, limit))
    return b"".join(blocks)


def _size(nbytes: int) -> str:
    return f"{nbytes // MiB:,} MB" if nbytes >= MiB else f"{nbytes:,} bytes"


def too_large(nbytes: int, limit: int) -> str:
    """Why a file of so many bytes is not read, where `limit` are."""
    return (
        f"has {nbytes / MiB:.0f} MB, more than the {limit / MiB:.0f} MB that are read; "
        "its outputs can be cleared and it can be handed in again"
    )


def _parts(info: zipfile.ZipInfo) -> tuple[str, ...]:
    """The components of a name, for people to read; never used as a path."""
    name = info.orig_filename
    if not info.flag_bits & 0x800:  # not marked as UTF-8, which many programs forget to do
        with suppress(UnicodeEncodeError, UnicodeDecodeError):
            name = name.encode("cp437").decode("utf-8")
    return split_name(name)


def split_name(name: str) -> tuple[str, ...]:
    """The components of a name in an archive, for people to read; never used as a path.

    Of one that is too long to be taken, beginning and end.
    """
    half = _NAME_CHARS // 2
    shown = name if len(name) <= _NAME_CHARS else f"{name[:half]}…{name[-half:]}"
    parts, half = _named_parts(shown_part(shown)), MOST_FOLDERS // 2
    if len(parts) > MOST_FOLDERS + 1:
        parts = [*parts[:half], "…", *parts[-half:]]
    return tuple(parts) or ("(no name)",)


def _named_parts(name: str) -> list[str]:
    return [part for part in re.split(r"[/\\]", name) if part not in ("", ".")]


def shown_part(name: str) -> str:
    """A name without what is no text or would act where it is shown."""
    return re.sub(r"[\x00-\x1f\x7f]", "�", os.fsencode(name).decode("utf-8", "replace"))


def is_noise(parts: tuple[str, ...]) -> bool:
    """Whether a file is what an operating system or Jupyter leaves, and nobody handed in."""
    return bool(_NOISE & set(parts)) or parts[-1].startswith("._")
