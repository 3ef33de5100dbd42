"""Learning management systems: each an object that reads its archives and writes its files.

A third one is a module here with a subclass of `Lms`, and its line in the table below: the choices
of the command line, `collect`, `export` and `feedback --zip` follow.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from autograder.lms.canvas import CANVAS
from autograder.lms.interface import ArchiveName, Lms
from autograder.lms.moodle import MOODLE

__all__ = ["LMS", "TITLES", "read_name"]

LMS: dict[str, Lms] = {one.name: one for one in (MOODLE, CANVAS)}
"""Every LMS by the name that the command line and .autograder/lms/ have for it."""

TITLES = " or ".join(one.title for one in LMS.values())
"""All of them, as a sentence names them."""


def read_name(
    path: tuple[str, ...],
    outside: int | None = None,
    several: Container[tuple[str, ...]] = (),
) -> ArchiveName | None:
    """What the path of a file in an archive says; None where no LMS wrote any part of it.

    The outermost part that an LMS wrote decides: what stands below it is a learner's choice.

    Args:
        path: Its parts, a folder each, the file's own name last.
        outside: How many of them may be an LMS's, as the others stand in an archive of the
            learner's own; None for all.
        several: The folders that hold more than one file, by their paths. An LMS that writes only
            files has made none of them: an instructor's autumn_2026_11_homework looks alike.
    """
    for at in range(len(path) if outside is None else outside):
        for lms in LMS.values():
            if not lms.writes_folders and path[: at + 1] in several:
                continue
            found = lms.read_name(path[at:])
            if found is not None:
                return replace(found, at=at)
    return None
