"""What `collect` is given: an archive, a folder of any form, or one notebook.

A folder is walked without following links; what a name in it says of its owner is judged as if it
stood in an archive.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from autograder.submissions.archive import (
    ArchiveError,
    ArchiveFile,
    Bounds,
    RefusedEntry,
    is_noise,
    opened,
    read_archive,
    split_name,
    too_large,
)
from autograder.submissions.folder import read_start, reason_of

_NOTEBOOK = ".ipynb"
_READ = (_NOTEBOOK, ".zip", ".tar", ".tgz", ".tar.gz", ".txt")  # others are only named
NO_NOTEBOOK = "is not a notebook (.ipynb)"
GIT = ".git"  # the folder that makes another one a repository


def read_source(path: Path) -> Iterator[ArchiveFile | RefusedEntry]:
    """Every file of what an instructor has: a zip, a tar, a folder, or a notebook.

    The name of a folder stands before the names in it: it may say whose they are.  Of a repository
    its `.git` is named, and nothing in it.

    Args:
        path: As given on the command line.

    Raises:
        ArchiveError: It cannot be read, or is nothing of these.
    """
    if path.is_dir():
        yield from _of_folder(path.resolve())
    elif path.name.lower().endswith(_NOTEBOOK) and path.is_file():
        whole = path.resolve()
        yield from _of_file(whole, (*split_name(whole.parent.name), *split_name(path.name)))
    else:
        yield from read_archive(path)


def _of_folder(folder: Path) -> Iterator[ArchiveFile | RefusedEntry]:
    def refuse(error: OSError) -> None:
        raise ArchiveError(
            f"cannot be read: {reason_of(error)}",
            place=str(error.filename or folder),
            remedy="Give the permission to read it, then run the command again.",
        ) from error

    for here, folders, files in os.walk(folder, onerror=refuse):
        if GIT in folders:
            above = split_name(str(Path(here).relative_to(folder.parent)))
            yield RefusedEntry((*above, GIT), NO_NOTEBOOK)
        # .git of a repository, .ipynb_checkpoints of Jupyter: nobody handed that in.
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(files):
            path = Path(here, name)
            parts = split_name(str(path.relative_to(folder.parent)))
            if not is_noise(parts):
                yield from _of_file(path, parts)


def _of_file(path: Path, parts: tuple[str, ...]) -> Iterator[ArchiveFile | RefusedEntry]:
    limit = Bounds().file_nbytes
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a link" if stat.S_ISLNK(about.st_mode) else "a special file"
            yield RefusedEntry(parts, f"is {kind}, not a file")
        elif not path.name.lower().endswith(_READ):
            yield RefusedEntry(parts, NO_NOTEBOOK)
        elif about.st_size > limit:
            yield RefusedEntry(parts, too_large(about.st_size, limit))
        else:
            yield from opened(read_start(path, limit), parts)
    except OSError as error:
        yield RefusedEntry(parts, f"cannot be read: {reason_of(error)}")
