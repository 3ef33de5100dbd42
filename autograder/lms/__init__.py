"""Learning management systems: each an object that reads its archives and writes its files.

A third one is a module here with a subclass of `Lms`, and its line in the table below: the choices
of the command line, `collect`, `export` and `feedback --zip` follow.
"""

from __future__ import annotations

from autograder.lms.canvas import CANVAS
from autograder.lms.interface import ArchiveName, Lms
from autograder.lms.moodle import MOODLE

__all__ = ["LMS", "TITLES", "read_name"]

LMS: dict[str, Lms] = {one.name: one for one in (MOODLE, CANVAS)}
"""Every LMS by the name that the command line and .autograder/lms/ have for it."""

TITLES = " or ".join(one.title for one in LMS.values())
"""All of them, as a sentence names them."""


def read_name(path: tuple[str, ...]) -> ArchiveName | None:
    """What the path of a file in an archive says; None where no LMS wrote it.

    Args:
        path: Its parts, a folder each, the file's own name last.
    """
    return next(filter(None, (one.read_name(path) for one in LMS.values())), None)
