"""What `collect` is given: an archive, a folder of any form, or one notebook.

A folder is walked without following links; what a name in it says of its owner is judged as if it
stood in an archive.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.lms.interface import ARCHIVES
from autograder.submissions.archive import (
    ArchiveError,
    ArchiveFile,
    Bounds,
    OwnBudgets,
    RefusedEntry,
    Sharing,
    is_noise,
    opened,
    read_archive,
    split_name,
    too_large,
)
from autograder.submissions.folder import read_start, reason_of

_NOTEBOOK = ".ipynb"
_READ = (_NOTEBOOK, *ARCHIVES, ".txt")  # others are only named
NO_NOTEBOOK = "is not a notebook (.ipynb)"
_INBOUND = "inbound"  # where nbgrader's learners hand in
GIT = ".git"  # the folder that makes another one a repository


def read_source(path: Path, sharing: Sharing | None = None) -> Iterator[ArchiveFile | RefusedEntry]:
    """Every file of what an instructor has: a zip, a tar, a folder, or a notebook.

    The name of a folder stands before the names in it: it may say whose they are.  Of a repository
    its `.git` is named, and nothing in it.

    Args:
        path: As given on the command line.
        sharing: Whose the archives in it are; None where each is somebody else's.

    Raises:
        ArchiveError: It cannot be read, or is nothing of these.
    """
    if path.is_dir():
        files = list(_files(path.resolve()))
    elif path.name.lower().endswith(_NOTEBOOK) and path.is_file():
        whole = path.resolve()
        files = [(whole, (*split_name(whole.parent.name), *split_name(path.name)), "")]
    else:
        yield from read_archive(path, sharing=sharing)
        return
    own = OwnBudgets(Bounds(), sharing, lambda: (parts for _, parts, _ in files))
    for file, parts, reason in files:
        yield from opened(RefusedEntry(parts, reason) if reason else _read(file, parts), own)


def _files(folder: Path) -> Iterator[tuple[Path, tuple[str, ...], str]]:
    """Every file in a folder, and the `.git` of a repository.

    Each with what its path says, and why nothing in its folder is taken, where that is so.
    """
    refused = dict[str, str]()

    def refuse(error: OSError) -> None:
        raise ArchiveError(
            f"cannot be read: {reason_of(error)}",
            place=str(error.filename or folder),
            remedy="Give the permission to read it, then run the command again.",
        ) from error

    for here, folders, files in os.walk(folder, onerror=refuse):
        names = [GIT] if GIT in folders else []
        # .git of a repository, .ipynb_checkpoints of Jupyter: nobody handed that in.
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        if os.path.basename(here) == _INBOUND:
            refused |= _made_by_others(here, folders)
        if here in refused:
            refused |= {os.path.join(here, one): refused[here] for one in folders}
        for name in (*names, *sorted(files)):
            path = Path(here, name)
            parts = split_name(str(path.relative_to(folder.parent)))
            if not is_noise(parts):
                yield path, parts, refused.get(here, "")


def _made_by_others(inbound: str, names: Iterable[str]) -> dict[str, str]:
    """The folders of nbgrader's inbound/ that are another learner's than they say, and why not.

    All who hand in may make folders there, and call them as they like. An account tells something
    only where it is a learner's own: on many servers everybody works under the same one.
    """
    named = {Path(inbound, one): one.partition("+")[0] for one in names if one.count("+") > 1}
    owners = {one: _account_of(one) for one in named}
    have_own = {name for one, name in named.items() if owners[one] == name}
    learners = {*named.values()}
    return {
        str(one): f"its folder belongs to the user {owner}, not to {named[one]}"
        for one, owner in owners.items()
        if owner and owner != named[one] and (owner in learners or named[one] in have_own)
    }


def _account_of(folder: Path) -> str:
    """The name of the account that a folder belongs to; empty for one of another machine."""
    try:
        return folder.owner()
    except KeyError:
        return ""


def _read(path: Path, parts: tuple[str, ...]) -> ArchiveFile | RefusedEntry:
    if path.name == GIT:  # the folder of a repository, or the file of one inside another
        return RefusedEntry(parts, NO_NOTEBOOK)
    limit = Bounds().file_nbytes
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a link" if stat.S_ISLNK(about.st_mode) else "a special file"
            return RefusedEntry(parts, f"is {kind}, not a file")
        if not path.name.lower().endswith(_READ):
            return RefusedEntry(parts, NO_NOTEBOOK)
        if about.st_size > limit:
            return RefusedEntry(parts, too_large(about.st_size, limit))
        return ArchiveFile(parts, read_start(path, limit))
    except OSError as error:
        return RefusedEntry(parts, f"cannot be read: {reason_of(error)}")
