"""What lies in a folder that a learner handed in, read within limits and without a way to fail.

Anything can lie there: links, pipes, a sparse file of terabytes, names that are no UTF-8, paths
longer than the system opens.  Sizes are read first; what is too much is not opened at all.
"""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from autograder.regular_files import Open, open_regular

MiB = 2**20
SUBMISSION_LIMIT_NBYTES = 512 * MiB
FILES_LIMIT = 10_000
PATH_LIMIT_NBYTES = 1_000  # of a path below the folder; the system opens 4,096 in all
_BLOCK_NBYTES = MiB
_TAKEN_NBYTES = 50 * MiB  # of a submission's own files; nbgrader copies without a limit
_NAME_CHARS = 60
_IGNORED = ".ipynb_checkpoints"

Problem = tuple[str, str]  # a status, "malformed" or "infrastructure", and the reason


@dataclass(frozen=True)
class File:
    """Something in the folder: `name` is its path there, `mode` its kind, `target` of a link."""

    name: str
    path: Path
    mode: int
    size: int
    changed_ns: int

    @property
    def is_regular(self) -> bool:
        """Whether it is a plain file."""
        return stat.S_ISREG(self.mode)

    @property
    def kind(self) -> str:
        """A word for what it is."""
        if stat.S_ISDIR(self.mode):
            return "folder"
        return "link" if stat.S_ISLNK(self.mode) else "file" if self.is_regular else "special file"


@dataclass(frozen=True)
class Folder:
    """What was found: files of all kinds, and the folders at the top.

    `unreadable` names what could not be opened, with the system's reason; `problem` is set where
    the folder itself cannot be taken.
    """

    path: Path
    files: tuple[File, ...] = ()
    folders: tuple[str, ...] = ()
    problem: Problem | None = None
    digest: str = ""
    unreadable: dict[str, str] = field(default_factory=dict)

    def top(self) -> dict[str, File]:
        """The files that lie in the folder itself, by name."""
        return {one.name: one for one in self.files if "/" not in one.name}


def look_through(path: Path, opened: Open = os.open) -> Folder:
    """What lies in the folder `path`; never raises for anything in it.

    Args:
        path: The folder; links in it are listed and never followed.
        opened: Opens a file as `os.open` does.

    Returns:
        Up to 10,000 files and 512 MB; what is more has a `problem`, and is not opened.
    """
    walk = _Walk(path)
    walk.carry_out()
    problem = walk.problem or _too_large(walk.files)
    digest = _digest_of_sizes(walk, problem) if problem else _digest_of_bytes(walk, opened)
    return Folder(path, tuple(walk.files), tuple(walk.tops), problem, digest, walk.unreadable)


def taken_along(files: Iterable[File]) -> list[File]:
    """The plain files of a submission that go where its notebook runs, smallest first.

    Args:
        files: As `look_through` found them; notebooks are left out, and what is beyond 50 MB.
    """
    found = [one for one in files if one.is_regular and not one.name.lower().endswith(".ipynb")]
    chosen, total = [], 0
    for one in sorted(found, key=lambda one: one.size):
        total += one.size
        if total > _TAKEN_NBYTES:
            break
        chosen.append(one)
    return chosen


def read_start(path: Path, most: int, opened: Open = os.open) -> bytes:
    """The first `most` bytes of a plain file.

    Args:
        path: The file.
        most: Bytes; what lies behind them is not read.
        opened: Opens a file as `os.open` does.

    Raises:
        OSError: As `open_regular`.
    """
    handle = open_regular(path, opened)
    try:
        data = bytearray()
        while len(data) < most and (block := os.read(handle, min(_BLOCK_NBYTES, most - len(data)))):
            data += block
        return bytes(data)
    finally:
        os.close(handle)


def shown_name(name: str) -> str:
    """A file's name as it can stand in a sentence: on one line, printable, not too long."""
    text = os.fsencode(name).decode("utf-8", "backslashreplace")
    plain = "".join(c if unicodedata.category(c)[0] != "C" else "�" for c in text)
    return plain if len(plain) <= _NAME_CHARS else f"{plain[: _NAME_CHARS - 1]}…"


def not_readable(what: str, error: OSError) -> Problem:
    """The status and reason where the system refuses: nobody can say that the learner did it."""
    return "infrastructure", (
        f"{what} cannot be read: {reason_of(error)}. Let the account that grades read it, "
        "then run `autograder grade` again."
    )


def reason_of(error: OSError) -> str:
    """The system's own words, without a path."""
    return error.strerror or str(error)


class _Walk:
    """Lists a folder: its files in the order of their names, then each of its folders."""

    def __init__(self, root: Path) -> None:
        self._root, self._seen = root, 0
        self.files: list[File] = []
        self.tops: list[str] = []
        self.unreadable: dict[str, str] = {}
        self.problem: Problem | None = None

    def carry_out(self) -> None:
        """List everything, or stop at the first limit."""
        stack = [""]
        while stack and self.problem is None:
            prefix = stack.pop()
            try:
                entries = self._entries(prefix)
            except OSError as error:
                self._refused(prefix, error)
                continue
            folders = self._take(prefix, entries)
            self.tops = self.tops if prefix else folders
            stack += [f"{prefix}{one}/" for one in reversed(folders) if one != _IGNORED]

    def _entries(self, prefix: str) -> list[Any]:
        with os.scandir(self._root / prefix) as found:
            # Not all of them: a folder of millions would fill the memory before it is refused.
            entries = list(islice(found, FILES_LIMIT + 1))
        return sorted(entries, key=lambda one: one.name)

    def _refused(self, prefix: str, error: OSError) -> None:
        name = shown_name(self._root.name)
        if prefix:
            self.unreadable[prefix.rstrip("/")] = reason_of(error)
        elif isinstance(error, FileNotFoundError):
            self.problem = "missing", f"The folder {name} is not there any more."
        else:
            self.problem = not_readable(f"The folder {name}", error)

    def _take(self, prefix: str, entries: list[Any]) -> list[str]:
        """Keep the files among `entries`; the names of its folders."""
        folders = []
        for entry in entries:
            name = f"{prefix}{entry.name}"
            if self._is_too_much(name):
                return []
            try:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                    continue
                info = entry.stat(follow_symlinks=False)
            except OSError as error:
                self.unreadable[name] = reason_of(error)
            else:
                about = info.st_mode, info.st_size, info.st_mtime_ns
                self.files.append(File(name, Path(entry.path), *about))
        return folders

    def _is_too_much(self, name: str) -> bool:
        self._seen += 1
        if self._seen > FILES_LIMIT:
            self.problem = (
                "malformed",
                (
                    f"The folder holds more than {FILES_LIMIT:,} files and folders. Hand in the "
                    "notebook and only the files that it needs."
                ),
            )
        elif len(os.fsencode(name)) > PATH_LIMIT_NBYTES:
            self.problem = (
                "malformed",
                (
                    f"A path below {shown_name(name.split('/')[0])} is longer than "
                    f"{PATH_LIMIT_NBYTES:,} bytes. Take that folder out and hand in the rest again."
                ),
            )
        return self.problem is not None


def _too_large(files: list[File]) -> Problem | None:
    total = sum(one.size for one in files if one.is_regular)
    if total <= SUBMISSION_LIMIT_NBYTES:
        return None
    largest = max((one for one in files if one.is_regular), key=lambda one: one.size)
    return "malformed", (
        f"The folder holds {total / MiB:,.0f} MB, more than the {SUBMISSION_LIMIT_NBYTES / MiB:.0f}"
        f" MB that are taken; {shown_name(largest.name)} alone has {largest.size / MiB:,.0f} MB. "
        "Take out what the notebook does not need and hand it in again."
    )


def _digest_of_bytes(walk: _Walk, opened: Open) -> str:
    total = hashlib.sha256()
    for one in walk.files:
        total.update(os.fsencode(one.name) + b"\0")
        try:
            total.update(_digest_of_file(one, opened))
        except OSError as error:
            walk.unreadable[one.name] = reason_of(error)
    for name, reason in sorted(walk.unreadable.items()):
        total.update(b"unreadable " + os.fsencode(name) + b"\0" + reason.encode())
    return total.hexdigest()


def _digest_of_file(one: File, opened: Open) -> bytes:
    digest = hashlib.sha256()
    if stat.S_ISLNK(one.mode):
        digest.update(b"link " + os.fsencode(os.readlink(one.path)))
    elif one.is_regular:
        for block in _blocks(one.path, opened):
            digest.update(block)
    else:
        digest.update(f"special {stat.S_IFMT(one.mode)}".encode())
    return digest.digest()


def _blocks(path: Path, opened: Open) -> Iterator[bytes]:
    """A file's bytes, up to the limit: it may have grown since its size was read."""
    handle, left = open_regular(path, opened), SUBMISSION_LIMIT_NBYTES
    try:
        while left > 0 and (block := os.read(handle, _BLOCK_NBYTES)):
            left -= len(block)
            yield block
    finally:
        os.close(handle)


def _digest_of_sizes(walk: _Walk, problem: Problem) -> str:
    """What stands for the bytes of a folder that is not taken: names, sizes, times."""
    total = hashlib.sha256(f"{problem[0]} {problem[1]}".encode())
    for one in walk.files:
        total.update(os.fsencode(one.name) + f"\0{one.size} {one.changed_ns} ".encode())
    return total.hexdigest()
