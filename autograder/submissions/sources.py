"""What `collect` is given: an archive, a folder of any form, or one notebook.

A folder is walked without following links; what a name in it says of its owner is judged as if it
stood in an archive.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from autograder.submissions.archive import (
    GIT,
    NOTEBOOK,
    TIME,
    ArchiveError,
    ArchiveFile,
    Bounds,
    Budget,
    OwnBudgets,
    RefusedEntry,
    Sharing,
    Unread,
    is_noise,
    read_archive,
    shown_part,
    too_large,
)
from autograder.submissions.folder import read_start, reason_of

_TIME_NBYTES = 200
_INBOUND = "inbound"  # where nbgrader's learners hand in


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
    elif path.name.lower().endswith(NOTEBOOK) and path.is_file():
        whole = path.resolve()
        files = [(whole, tuple(map(shown_part, whole.parts[-2:])), "")]
    else:
        yield from read_archive(path, sharing=sharing)
        return
    accounts = {parts: account for _, parts, account in files}
    own = OwnBudgets(Bounds(), sharing(accounts) if sharing else None)
    for file, parts, account in files:
        for one in own.read(parts, partial(_read, file)):
            yield replace(one, account=account) if account else one


def _files(folder: Path) -> Iterator[tuple[Path, tuple[str, ...], str]]:
    """Every file in a folder, and the `.git` of a repository.

    Each with what its path says, and with the account that has laid it into nbgrader's inbound/.
    """
    accounts = dict[str, str]()

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
        names += sorted(files)
        for name in (*folders, *names):
            inside = os.path.join(here, name)
            if here in accounts:
                accounts[inside] = accounts[here]
            elif os.path.basename(here) == _INBOUND:
                accounts[inside] = _account_of(Path(inside))
        for name in names:
            path = Path(here, name)
            parts = tuple(map(shown_part, path.relative_to(folder.parent).parts))
            if not is_noise(parts):
                yield path, parts, accounts.get(str(path), "")


def _account_of(path: Path) -> str:
    """The name of the account that a file or folder belongs to, its number where it has none."""
    try:
        return path.owner()
    except KeyError:
        return f"number {path.lstat().st_uid}"
    except OSError:  # a link to nothing, which is not taken
        return ""


def _read(path: Path, budget: Budget) -> bytes:
    limit = _TIME_NBYTES if path.name == TIME else min(budget.bounds.file_nbytes, budget.nbytes)
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a link" if stat.S_ISLNK(about.st_mode) else "a special file"
            raise Unread(f"is {kind}, not a file")
        if about.st_size > budget.bounds.file_nbytes:
            raise Unread(too_large(about.st_size, budget.bounds.file_nbytes))
        if about.st_size > limit and path.name != TIME:
            raise budget.too_much()
        data = read_start(path, limit)
    except OSError as error:
        raise Unread(f"cannot be read: {reason_of(error)}") from error
    budget.spend(len(data))
    return data
