"""Opens learners' archives in a process apart, which the kernel ends where one takes too much.

python -m autograder.submissions.archive_process PID_OF_WHO_ASKS FILE_DESCRIPTOR FOLDER NBYTES

FOLDER is shared, NBYTES is the most memory that it may take.

`own_archives.Question`
→  {"reason": why not all could be read, "files_left", "nbytes_left", "seconds": taken}

The archive lies in FOLDER; beside it comes a file in which each of the archive's files has a line,
[name, why it is refused, size], and its bytes.  Only notebooks and times have bytes there.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tarfile
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import IO

from autograder.descendants import end_with_parent
from autograder.fork_server import Control, Message, ready
from autograder.lms.interface import ARCHIVES
from autograder.submissions.archive import (
    NO_NOTEBOOK,
    Bounds,
    Budget,
    Spent,
    Unread,
    cause_of,
    files_in,
    is_read,
)
from autograder.submissions.own_archives import (
    ARCHIVE,
    FILES,
    NO_MEMORY,
    Question,
)

_PATIENCE = 3  # seconds on the clock for each of processor time: the machine may be busy
_REASON_CHARS = 500  # zipfile quotes names of 64 KB
_TOO_DEEP = "is an archive inside an archive inside an archive; not opened"


def main() -> None:
    """Open archives for as long as somebody asks."""
    control = Control.at(int(sys.argv[2]))
    end_with_parent(int(sys.argv[1]))
    for which in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(which, signal.SIG_DFL)  # it ends the process
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        _bind(kind, int(sys.argv[4]))
    control.send(ready())
    with suppress(EOFError, OSError):  # it is not asked any more
        while True:
            control.send(_answer(Path(sys.argv[3]), Question(**control.receive())))


def _bind(kind: int, most: int) -> None:
    """Limit memory; macOS keeps no such limit, or refuses it."""
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (most, hard))


def _answer(folder: Path, asked: Question) -> Message:
    bounds = Bounds(asked.files, asked.nbytes, asked.file_nbytes, asked.ratio)
    budget, reason, begun = Budget(bounds), "", time.process_time()
    signal.setitimer(signal.ITIMER_PROF, asked.seconds)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE * asked.seconds)
    try:
        with (folder / FILES).open("xb") as files:
            _unpack(folder / ARCHIVE, asked.is_tar, budget, files)
    except Spent:
        pass  # the budget says of what there was more
    except MemoryError:
        os._exit(NO_MEMORY)  # what it has left may be in the way of the next one
    except Exception as error:  # zipfile and tarfile raise what they like for made-up bytes
        kind = "tar" if asked.is_tar else "zip"
        reason = _short(f"cannot be read as a {kind} archive: {cause_of(error)}")
    for clock in (signal.ITIMER_PROF, signal.ITIMER_REAL):
        signal.setitimer(clock, 0)
    return {
        "reason": reason,
        "files_left": budget.files,
        "nbytes_left": budget.nbytes,
        "seconds": time.process_time() - begun,
    }


def _unpack(archive: Path, is_tar: bool, budget: Budget, files: IO[bytes]) -> None:
    with tarfile.open(archive) if is_tar else zipfile.ZipFile(archive) as opened:
        for parts, reading in files_in(opened):
            budget.another_file()
            reason, data = "", b""
            try:
                if parts[-1].lower().endswith(ARCHIVES):
                    raise Unread(_TOO_DEEP)
                if not is_read(parts):
                    raise Unread(NO_NOTEBOOK)
                data = reading(budget)
            except Spent:
                raise
            except Unread as unread:
                if isinstance(unread.__cause__, MemoryError):
                    raise unread.__cause__ from unread
                reason = _short(str(unread))
            head = json.dumps(["/".join(parts), reason, len(data)])
            files.write(head.encode() + b"\n")
            files.write(data)
            files.flush()  # what is complete counts, whatever comes next


def _short(reason: str) -> str:
    return reason.partition("\n")[0][:_REASON_CHARS]


if __name__ == "__main__":
    main()
