"""Learners' own archives, each opened in a process apart: `archive_process`.

Few bytes can keep zipfile and tarfile busy for minutes, or have them fill the memory, in ways that
nobody lists to the end.  So the kernel ends a process that takes too much; its archive is refused,
and the next one gets a new process.  What comes from it is read within bounds.
"""

from __future__ import annotations

import atexit
import json
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.fork_server import AnsweringServer, Message
from autograder.regular_files import open_regular

MiB = 2**20
MOST_NBYTES = 1024 * MiB  # of memory; a notebook of 60 MB takes 200 MB
NO_MEMORY = 71  # the exit code of a process that wanted more
ARCHIVE, FILES = "archive", "files"  # in the folder that both share
INSTEAD = "; hand in the notebook itself, or a plain zip"
_PROCESS = "autograder.submissions.archive_process"
_LINE_NBYTES = 2**15  # a name and a reason, each character in twelve bytes
_OUT_OF_TIME = (-signal.SIGPROF, -signal.SIGALRM)


@dataclass(frozen=True)
class Question:
    """How an archive is to be read.

    Attributes:
        is_tar: Whether it is a tar, packed or not, or else a zip.
        files: How many files it may hold.
        nbytes: To how much those that are read may unpack.
        file_nbytes: How large each of them may be.
        ratio: To how many times its size a large one may unpack.
        seconds: Of processor time.
    """

    is_tar: bool
    files: int
    nbytes: int
    file_nbytes: int
    ratio: int
    seconds: float


@dataclass(frozen=True)
class Opened:
    """What came of an archive.

    Attributes:
        files: Name, why it is refused, and the bytes of each file, as far as they came.
        seconds: Of processor time that it took.
        reason: Why not all of it could be read; empty where it could, or where it was more than is
            read or has run out of time.
        has_ended: Whether it has ended the process; without a reason, by its time.
        files_left: Of those it may hold; below 0 where it holds more.
        nbytes_left: The same of bytes.
    """

    files: Iterator[tuple[str, str, bytes]]
    seconds: float
    reason: str = ""
    has_ended: bool = False
    files_left: int = 0
    nbytes_left: int = 0


class Opener:
    """Has a process for them from the first one on, and a new one where an archive has ended it."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._folder: TemporaryDirectory[str] | None = None
        self._process: AnsweringServer | None = None

    def open(self, data: bytes, asked: Question) -> Opened:
        """What is in an archive.

        Args:
            data: Its bytes.
            asked: How it is to be read.

        Raises:
            OSError: The disk refuses.
        """
        folder = self._ready_folder()
        (folder / ARCHIVE).write_bytes(data)
        with suppress(FileNotFoundError):
            (folder / FILES).unlink()
        if self._process is None:
            self._process = AnsweringServer(_PROCESS, str(folder), str(MOST_NBYTES), env={})
        try:
            answer = _checked(self._process.ask(asdict(asked)))
        except EOFError as error:
            reason = _why_ended(self._process.exit_code, error)
            self._end()
            answer = {"seconds": asked.seconds, "reason": reason, "has_ended": True}
        return Opened(_files(folder / FILES, asked), **answer)

    def close(self) -> None:
        """End its process, and remove what it left."""
        self._end()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _ready_folder(self) -> Path:
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="autograder-archives-")
        return Path(self._folder.name)

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


def _checked(answer: Message) -> Message:
    """What it says of an archive; raises `EOFError` where it says anything else."""
    kinds = {"seconds": float, "reason": str, "files_left": int, "nbytes_left": int}
    if {key: type(one) for key, one in answer.items()} != kinds:
        raise EOFError("has answered something else")
    return {**answer, "seconds": max(0.0, answer["seconds"])}


def _why_ended(code: int | None, error: EOFError) -> str:
    if code in _OUT_OF_TIME:
        return ""
    if code == NO_MEMORY:
        return f"takes more than {MOST_NBYTES // MiB:,} MB of memory to open{INSTEAD}"
    return f"cannot be opened, what reads it {str(error).splitlines()[-1]}"


def _files(path: Path, asked: Question) -> Iterator[tuple[str, str, bytes]]:
    """Those that were written whole."""
    left = asked.nbytes
    with suppress(OSError), open(open_regular(path), "rb") as file:
        for _ in range(asked.files):
            name, reason, nbytes = _said(file.readline(_LINE_NBYTES))
            if not 0 <= nbytes <= left:
                return
            data = file.read(nbytes)
            if not name or len(data) < nbytes:
                return
            left -= nbytes
            yield name, reason, data


def _said(line: bytes) -> tuple[str, str, int]:
    """The name of a file, why it is refused, and its size; no name where the line is none."""
    try:
        name, reason, nbytes = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        return "", "", 0
    is_one = isinstance(name, str) and isinstance(reason, str) and type(nbytes) is int
    return (name, reason, nbytes) if is_one else ("", "", 0)


OPENER = Opener()
atexit.register(OPENER.close)
