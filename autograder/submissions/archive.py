"""The files of a zip or tar archive, each read within bounds or refused with a reason.

Nothing here writes, and no name of the archive ever becomes a path: what is read is handed on as
bytes.  A name that would leave the directory is refused all the same, so that a person hears of it.
An archive inside it (learners pack their folder) is opened once; what lies deeper is refused.
What is in such an archive counts for itself: one that is too large costs nobody else's file.
"""

from __future__ import annotations

import io
import lzma
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from autograder.errors import AutograderError

MiB = 2**20
_BLOCK_NBYTES = MiB
_HONEST_NBYTES = 4 * MiB  # below it a large ratio costs nothing: blank pictures pack 500 : 1
_DEPTH = 1
OWN_FILES = 10_000  # as many, and as large, as a learner's folder in submitted/ may be
OWN_NBYTES = 512 * MiB
_NOISE = {"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints"}
_TWICE = "its name occurs twice in the archive; the first is kept"
_TARS = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
ARCHIVES = (".zip", *_TARS)
_DAMAGES = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError),
    *(NotImplementedError, ValueError, EOFError),
)
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
    """How much an archive may hold; sizes are of the unpacked files.

    `own_files` and `own_nbytes` hold for each archive inside it, in the place of `files` and
    `total_nbytes`, from which it takes nothing.
    """

    files: int = 50_000
    total_nbytes: int = 8 * 2**30
    file_nbytes: int = 64 * MiB
    ratio: int = 200
    own_files: int = OWN_FILES
    own_nbytes: int = OWN_NBYTES

    def of_own(self) -> Bounds:
        """The bounds of an archive inside."""
        return replace(self, files=self.own_files, total_nbytes=self.own_nbytes)


@dataclass(frozen=True)
class ArchiveFile:
    """A file of the archive; `path` has the inner path of a nested archive after its own.

    `above` is the path of that nested archive, empty where there is none.
    """

    path: tuple[str, ...]
    data: bytes
    above: tuple[str, ...] = ()


@dataclass(frozen=True)
class RefusedEntry:
    """A file that is not taken, and why; `above` as for an `ArchiveFile`."""

    path: tuple[str, ...]
    reason: str
    above: tuple[str, ...] = ()


class _Refusal(Exception):
    """Says why one file is not read."""


class _Spent(_Refusal):
    """The archive holds more than it may."""


class _Budget:
    """Counts down what an archive may still unpack to; one inside it has a budget of its own."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds, self.files, self.nbytes = bounds, bounds.files, bounds.total_nbytes

    def another_file(self) -> None:
        self.files -= 1
        if self.files < 0:
            raise _Spent(f"holds more than {self.bounds.files:,} files")


def read_archive(path: Path, bounds: Bounds | None = None) -> Iterator[ArchiveFile | RefusedEntry]:
    """Every file in the archive at `path`, in its order; raises `ArchiveError` where it is none."""
    budget, is_tar = _Budget(bounds or Bounds()), path.name.lower().endswith(_TARS)
    try:
        with path.open("rb") as file:
            if is_tar:
                with tarfile.open(fileobj=file) as tar:
                    yield from _tar_files(tar, (), budget)
            else:
                _refuse_foreign(path, file.read(8))
                with zipfile.ZipFile(file) as archive:
                    yield from _files(archive, (), budget)
    except (FileNotFoundError, PermissionError) as error:
        raise ArchiveError(
            f"cannot be read: {error.strerror}", place=str(path), remedy="Check path and rights."
        ) from error
    except (*_DAMAGES, OSError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise ArchiveError(
            f"cannot be read as a {'tar' if is_tar else 'zip'} archive: {cause}",
            place=str(path),
            remedy="Download it again; the file may have been cut short on its way.",
        ) from error


def _refuse_foreign(path: Path, start: bytes) -> None:
    """Refuse a file that was never a zip, with what to do instead."""
    kind = next((name for mark, name in _FOREIGN.items() if start.startswith(mark)), None)
    if kind is not None:
        raise ArchiveError(
            f"is {kind}, not a zip archive",
            place=str(path),
            remedy="Unpack it, and give the folder; a .zip, .tar.gz or .ipynb can be given as is.",
        )


def _files(
    archive: zipfile.ZipFile, above: tuple[str, ...], budget: _Budget
) -> Iterator[ArchiveFile | RefusedEntry]:
    seen: set[str] = set()
    for info in archive.infolist():
        parts = (*above, *_parts(info))
        if info.is_dir() or is_noise(parts):
            continue
        try:
            _check(info, budget)
            if info.filename in seen:
                raise _Refusal(_TWICE)
            seen.add(info.filename)
            data = _read(archive, info, budget)
        except _Refusal as refusal:
            yield _told(refusal, parts, above)
            if above and isinstance(refusal, _Spent):
                return
            continue
        yield from _opened(data, parts, budget, above)


def _tar_files(
    archive: tarfile.TarFile, above: tuple[str, ...], budget: _Budget
) -> Iterator[ArchiveFile | RefusedEntry]:
    seen: set[str] = set()
    for info in archive:
        parts = (*above, *split_name(info.name))
        if info.isdir() or is_noise(parts):
            continue
        try:
            budget.another_file()
            if info.name in seen:
                raise _Refusal(_TWICE)
            seen.add(info.name)
            reason = _why_bad_name(info.name) or _why_no_tar_file(info)
            if reason:
                raise _Refusal(reason)
            if info.size > budget.bounds.file_nbytes:
                raise _Refusal(too_large(info.size, budget.bounds.file_nbytes))
            file = archive.extractfile(info)
            assert file is not None  # it is a regular file
            data = _within(budget, file)
        except _Refusal as refusal:
            yield _told(refusal, parts, above)
            if above and isinstance(refusal, _Spent):
                return
            continue
        yield from _opened(data, parts, budget, above)


def _told(refusal: _Refusal, parts: tuple[str, ...], above: tuple[str, ...]) -> RefusedEntry:
    """Of a file that is not read; of an archive inside that holds too much, by its own name."""
    if not isinstance(refusal, _Spent):
        return RefusedEntry(parts, str(refusal), above)
    if above:
        return RefusedEntry(above, f"{refusal}; the rest was not read")
    return RefusedEntry(parts, f"the archive {refusal}")


def _why_no_tar_file(info: tarfile.TarInfo) -> str | None:
    if info.issym():
        return "is a symbolic link, not a file"
    if info.islnk():
        return "is a link to another file"
    return None if info.isreg() else "is a special file (device, pipe or socket)"


def opened(data: bytes, path: tuple[str, ...]) -> Iterator[ArchiveFile | RefusedEntry]:
    """A file that lies in no archive; where it is one itself, the files in it.

    Args:
        data: Its bytes.
        path: Its parts.
    """
    yield from _opened(data, path, _Budget(Bounds()), ())


def _opened(
    data: bytes, parts: tuple[str, ...], budget: _Budget, above: tuple[str, ...]
) -> Iterator[ArchiveFile | RefusedEntry]:
    name = parts[-1].lower()
    if name.endswith(ARCHIVES) and len(above) >= _DEPTH:
        reason = "is an archive inside an archive inside an archive; not opened"
        yield RefusedEntry(parts, reason, above)
    elif name.endswith(".zip"):
        yield from _nested(data, parts, _Budget(budget.bounds.of_own()))
    elif name.endswith(_TARS):
        yield from _nested_tar(data, parts, _Budget(budget.bounds.of_own()))
    else:
        yield ArchiveFile(parts, data, above)


def _nested_tar(
    data: bytes, parts: tuple[str, ...], budget: _Budget
) -> Iterator[ArchiveFile | RefusedEntry]:
    # Unpacked within bounds first: a header of a tar may announce gigabytes, which are read.
    limit = budget.nbytes
    try:
        if data.startswith(b"\x1f\x8b"):
            data = zlib.decompressobj(wbits=31).decompress(data, limit + 1)
        if len(data) > limit:
            yield RefusedEntry(parts, f"unpacks to more than {_size(limit)}")
            return
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as inner:
            yield from _tar_files(inner, parts, budget)
    except (*_DAMAGES, OSError) as error:
        yield RefusedEntry(parts, f"cannot be read as a tar archive: {error}")


def _nested(
    data: bytes, parts: tuple[str, ...], budget: _Budget
) -> Iterator[ArchiveFile | RefusedEntry]:
    if _directory_nbytes(data) > len(data) // 2 + MiB:
        yield RefusedEntry(parts, "is a zip whose list of files is larger than its files")
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as inner:
            yield from _files(inner, parts, budget)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
        yield RefusedEntry(parts, f"cannot be read as a zip archive: {error}")


def _directory_nbytes(data: bytes) -> int:
    """The length of the central directory, which zipfile reads into memory as a whole."""
    end = data.rfind(b"PK\5\6", max(0, len(data) - 2**16 - 22))
    if end < 0 or end + 22 > len(data):
        return 0  # no zip at all: zipfile says so
    return int(struct.unpack_from("<L", data, end + 12)[0])


def _check(info: zipfile.ZipInfo, budget: _Budget) -> None:
    """Raise `_Refusal` where name, kind or announced size of an entry rule it out."""
    budget.another_file()
    reason = _why_bad_name(info.orig_filename) or _why_no_file(info)
    if reason:
        raise _Refusal(reason)
    if info.flag_bits & 0x1:
        raise _Refusal("is protected by a password")
    if info.compress_type not in _METHODS:
        raise _Refusal("is packed by a method that neither Moodle nor Canvas uses")
    bounds = budget.bounds
    if info.file_size > bounds.file_nbytes:
        raise _Refusal(too_large(info.file_size, bounds.file_nbytes))
    packed = max(1, info.compress_size)
    if info.file_size > _HONEST_NBYTES and info.file_size > bounds.ratio * packed:
        raise _Refusal(
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
    if len(name) > 1024:
        return "its name is longer than 1024 characters"
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


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: _Budget) -> bytes:
    """The bytes of an entry; what it announces is not believed."""
    try:
        with archive.open(info) as file:
            return _within(budget, file)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise _Refusal(f"is damaged: {error}") from error
    except (RuntimeError, NotImplementedError, ValueError) as error:
        raise _Refusal(f"cannot be unpacked: {error}") from error


def _within(budget: _Budget, file: IO[bytes]) -> bytes:
    """What `file` holds, where the budget allows that much."""
    limit = min(budget.bounds.file_nbytes, budget.nbytes)
    data = _read_at_most(file, limit)
    if len(data) > limit:
        if limit == budget.nbytes:
            raise _Spent(f"unpacks to more than {_size(budget.bounds.total_nbytes)}")
        raise _Refusal(too_large(len(data), limit))
    budget.nbytes -= len(data)
    return data


def _read_at_most(file: IO[bytes], limit: int) -> bytes:
    """What `file` holds, or a little more than `limit` bytes of it."""
    blocks, total = [], 0
    while total <= limit and (block := file.read(min(_BLOCK_NBYTES, limit + 1 - total))):
        blocks.append(block)
        total += len(block)
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
    """The components of a name, for people to read; never used as a path."""
    name = re.sub(r"[\x00-\x1f\x7f]", "�", os.fsencode(name).decode("utf-8", "replace"))
    return tuple(part for part in re.split(r"[/\\]", name) if part not in ("", ".")) or (
        "(no name)",
    )


def is_noise(parts: tuple[str, ...]) -> bool:
    """Whether a file is what an operating system or Jupyter leaves, and nobody handed in."""
    return bool(_NOISE & set(parts)) or parts[-1].startswith("._")
