"""Learning management systems: each an object that reads its archives and writes its files.

A third one is a module here with a subclass of `Lms`, and its line in the table below: the choices
of the command line, `collect`, `export` and `feedback --zip` follow.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from autograder.lms.canvas import CANVAS
from autograder.lms.interface import ArchiveName, Lms, Owner
from autograder.lms.moodle import MOODLE

__all__ = ["LMS", "TITLES", "in_doubt", "read_name", "systems"]

LMS: dict[str, Lms] = {one.name: one for one in (MOODLE, CANVAS)}
"""Every LMS by the name that the command line and .autograder/lms/ have for it."""

TITLES = " or ".join(one.title for one in LMS.values())
"""All of them, as a sentence names them."""


_NO_LMS = {
    "ilias": "ILIAS",
    "github": "GitHub Classroom",
    "nbgrader": "nbgrader's inbound/",
    "folders": "your own folders",
}


def systems() -> dict[str, str]:
    """All that write the names that `collect` reads: what --from calls them, and their titles."""
    return {one.name: one.title for one in LMS.values()} | {
        name: title for name, title in _NO_LMS.items() if name not in LMS
    }


def read_name(
    path: tuple[str, ...],
    outside: int | None = None,
    several: Container[tuple[str, ...]] = (),
    system: str = "",
) -> ArchiveName | None:
    """What the path of a file in an archive says; None where no LMS wrote any part of it.

    The outermost part that an LMS wrote decides: what stands below it is a learner's choice.  So
    is much of what stands in it, such as the form of another LMS: where that is one's own and where
    it is the imitation, nobody can tell.

    Args:
        path: Its parts, a folder each, the file's own name last.
        outside: How many of them may be an LMS's, as the others stand in an archive of the
            learner's own; None for all.
        several: The folders that hold more than one file, by their paths. An LMS that writes only
            files has made none of them: an instructor's autumn_2026_11_homework looks alike.
        system: The LMS that has written all names; where it is empty, that is guessed.
    """
    asked = [LMS[system]] if system else list(LMS.values())
    for at in range(len(path) if outside is None else outside):
        read: dict[str, ArchiveName] = {}
        for lms in asked:
            named = lms.read_name(path[at:])
            holds_several = not lms.writes_folders and path[: at + 1] in several
            if named is None or holds_several:
                continue
            if system or len(path) == at + 1 or not lms.may_be_own(path[at]):
                read[lms.title] = replace(named, at=at)
        if read:
            first = next(iter(read.values()))
            return first if len(read) == 1 else in_doubt(first, path, read)
    return None


def in_doubt(found: ArchiveName, path: tuple[str, ...], titles: Iterable[str]) -> ArchiveName:
    """A name of which nobody can tell who has written it.

    Args:
        found: What it says if the first of them has.
        path: Of the file.
        titles: In whose forms it is.
    """
    forms = " and of ".join(titles)
    doubt = f"it is in the form of {forms}: say by --from who wrote it, or by --match whose it is"
    return ArchiveName(Owner(found.owner.lms, path[found.at], "", doubt), path[-1], at=found.at)
