"""What `collect` is given: an archive, a folder of any form, or one notebook.

A folder is walked without following links, and a file is read where it was listed: a learner who
can write there may exchange a folder for a link meanwhile.  What a name in it says of its owner is
judged as if it stood in an archive.
"""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from autograder.submissions.archive import (
    GIT,
    MOST_FOLDERS,
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
from autograder.submissions.folder import PATH_LIMIT_NBYTES, read_start, reason_of

_TIME_NBYTES = 200
_INBOUND = "inbound"  # where nbgrader's learners hand in
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_TOO_DEEP = f"has a path of more than {PATH_LIMIT_NBYTES:,} bytes or {MOST_FOLDERS} folders"


@dataclass(frozen=True)
class _Listed:
    """A file as it was found.

    Attributes:
        names: Where it is, below the folder that was walked.
        parts: What its path says; it begins with the name of that folder.
        account: Of whom has laid it into nbgrader's inbound/.
        about: What the system tells of the file; None where it could not be looked at.
        reason: Why it could not.
    """

    names: tuple[str, ...]
    parts: tuple[str, ...]
    account: str = ""
    about: os.stat_result | None = None
    reason: str = ""


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
        folder = path.resolve()
        files = list(_files(folder))
    elif path.name.lower().endswith(NOTEBOOK) and path.is_file():
        whole = path.resolve()
        folder, parts = whole.parent, tuple(map(shown_part, whole.parts[-2:]))
        handed_in = whole if folder.name == _INBOUND else folder
        is_inbound = handed_in.parent.name == _INBOUND
        account = _account(handed_in.lstat()) if is_inbound else ""
        files = [_Listed((whole.name,), parts, account, whole.lstat())]
    else:
        yield from read_archive(path, sharing=sharing)
        return
    accounts = {one.parts: one.account for one in files}
    own = OwnBudgets(Bounds(), sharing(accounts) if sharing else None)
    for file in files:
        if file.about is None:
            yield RefusedEntry(file.parts, file.reason, account=file.account)
            continue
        for one in own.read(file.parts, partial(_read, folder, file)):
            yield replace(one, account=file.account) if file.account else one


def _files(folder: Path) -> Iterator[_Listed]:
    """Every file in a folder, and the `.git` of a repository."""
    try:
        handle = os.open(folder, _FOLDER)
        with closing(os.scandir(handle)):
            pass
    except OSError as error:
        raise ArchiveError(
            f"cannot be read: {reason_of(error)}",
            place=str(folder),
            remedy="Give the permission to read it, then run the command again.",
        ) from error
    try:
        is_handed_in = folder.parent.name == _INBOUND
        account = _account(os.fstat(handle)) if is_handed_in else ""
        for one in _walk(handle, folder, (), account):
            if not is_noise(one.parts):
                yield one
    finally:
        os.close(handle)


def _walk(handle: int, folder: Path, names: tuple[str, ...], account: str) -> Iterator[_Listed]:
    """The files below a folder that is open as `handle`; first its own, then those of folders."""
    is_inbound = (names or (folder.name,))[-1] == _INBOUND
    with closing(os.scandir(handle)) as found:
        entries = sorted(found, key=lambda one: one.name)
    folders = dict.fromkeys(one.name for one in entries if one.is_dir(follow_symlinks=False))
    listed = partial(_listed, folder)
    if GIT in folders:
        yield listed((*names, GIT), account, os.stat(GIT, dir_fd=handle, follow_symlinks=False))
    for one in entries:
        if one.name not in folders and not (one.is_symlink() and _leads_to_folder(one)):
            about = one.stat(follow_symlinks=False)
            whose = _account(about) if is_inbound and not account else account
            yield listed((*names, one.name), whose, about)
    for name in folders:
        # .git of a repository, .ipynb_checkpoints of Jupyter: nobody handed that in.
        if name.startswith("."):
            continue
        below = (*names, name)
        if len(below) > MOST_FOLDERS or len(os.fsencode("/".join(below))) > PATH_LIMIT_NBYTES:
            yield listed(below[:MOST_FOLDERS], account, reason=_TOO_DEEP)
            continue
        try:
            inside = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=handle)
        except OSError as error:
            yield listed(below, account, reason=f"cannot be read: {reason_of(error)}")
            continue
        try:
            whose = _account(os.fstat(inside)) if is_inbound and not account else account
            yield from _walk(inside, folder, below, whose)
        except OSError as error:  # it may be opened, and not listed
            yield listed(below, account, reason=f"cannot be read: {reason_of(error)}")
        finally:
            os.close(inside)


def _listed(
    folder: Path,
    names: tuple[str, ...],
    account: str,
    about: os.stat_result | None = None,
    reason: str = "",
) -> _Listed:
    return _Listed(names, tuple(map(shown_part, (folder.name, *names))), account, about, reason)


def _leads_to_folder(link: os.DirEntry[str]) -> bool:
    try:
        return link.is_dir()
    except OSError:
        return False


def _account(about: os.stat_result) -> str:
    """The name of the account that a file or folder belongs to, its number where it has none."""
    try:
        return pwd.getpwuid(about.st_uid).pw_name
    except KeyError:
        return f"number {about.st_uid}"


def _read(folder: Path, file: _Listed, budget: Budget) -> bytes:
    about, name = file.about, file.names[-1]
    assert about is not None
    limit = _TIME_NBYTES if name == TIME else min(budget.bounds.file_nbytes, budget.nbytes)
    if not stat.S_ISREG(about.st_mode):
        kind = "a link" if stat.S_ISLNK(about.st_mode) else "a special file"
        raise Unread(f"is {kind}, not a file")
    if about.st_size > budget.bounds.file_nbytes:
        raise Unread(too_large(about.st_size, budget.bounds.file_nbytes))
    if about.st_size > limit and name != TIME:
        raise budget.too_much()
    try:
        data = read_start(Path(name), limit, partial(_open, folder, file))
    except OSError as error:
        raise Unread(f"cannot be read: {reason_of(error)}") from error
    budget.spend(len(data))
    return data


def _open(folder: Path, file: _Listed, name: Path, flags: int) -> int:
    """The file that was listed; raises `OSError` where another one is there now."""
    handle = os.open(folder, _FOLDER)
    for step, how in [(one, _FOLDER | os.O_NOFOLLOW) for one in file.names[:-1]] + [
        (str(name), flags | os.O_NOFOLLOW)
    ]:
        try:
            inside = os.open(step, how, dir_fd=handle)
        finally:
            os.close(handle)
        handle = inside
    about = os.fstat(handle)
    if file.about is None or not os.path.samestat(about, file.about):
        os.close(handle)
        raise OSError("it was exchanged for another one meanwhile")
    return handle
