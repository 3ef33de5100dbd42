"""Who and what the names in an LMS's submission archive mean.

Moodle writes `Ada Lovelace_1234567_assignsubmission_file_/04-memory-layout.ipynb`, or without
folders `Ada Lovelace_1234567_assignsubmission_file_04-memory-layout.ipynb`; newer versions leave
out the last underscore of the folder.  The number is the participant's in this one assignment, the
same that the grading worksheet shows as `Participant 1234567`.

Canvas writes `lovelaceada_LATE_12345_67890_04-memory-layout-1.ipynb`: the sortable name without
anything but letters and digits, LATE where it was, the user's id, the file's id, and the name of
the file, numbered where it was uploaded again.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Lms = Literal["moodle", "canvas"]

_MOODLE = re.compile(
    r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<rest>.*))?"
)
_CANVAS = re.compile(
    r"(?:(?P<name>(?!LATE_).+?)_)?(?:(?P<late>LATE)_)?(?P<number>\d+|anon_[A-Za-z0-9]+)_"
    r"(?:(?P<file>\d+)_(?P<rest>.+)|(?:text|link)\.html)"
)
# What a browser, Canvas or an operating system adds to the name of a file saved once more.
_AGAIN = re.compile(r"(?:-\d{1,2}| ?\(\d{1,2}\)|[ _-]+(?:copy|Copy)\d*|-checkpoint)+$")


@dataclass(frozen=True, order=True)
class Owner:
    """One person, or group, as the LMS names it; `number` tells two of one name apart."""

    lms: Lms
    name: str
    number: str

    @property
    def key(self) -> str:
        """How the archive writes it, and what `--match KEY=STUDENT` wants."""
        return f"{self.name}_{self.number}" if self.name else self.number


@dataclass(frozen=True)
class ArchiveName:
    """What a name in the archive says; `file` is empty for text typed into the LMS.

    `file_id` is Canvas's number of the file.
    """

    owner: Owner
    file: str
    late: bool = False
    file_id: str = ""


def read_name(path: tuple[str, ...]) -> ArchiveName | None:
    """What the path of a file in the archive says; None where no LMS wrote it."""
    return _moodle(path) or _canvas(path)


def base_name(file: str) -> str:
    """The name of a notebook without its ending and without what saving it again added.

    >>> base_name("04-memory-layout-1.ipynb"), base_name("04-memory-layout (2).ipynb")
    ('04-memory-layout', '04-memory-layout')
    """
    stem = re.sub(r"\.ipynb$", "", file, flags=re.IGNORECASE)
    return _AGAIN.sub("", stem)


def letters(text: str) -> str:
    """The letters and digits of a name in lower case: what both LMS leave of it.

    >>> letters("O'Brien, Mary-Jane")
    'obrienmaryjane'
    """
    whole = unicodedata.normalize("NFKC", text).casefold()
    return "".join(one for one in whole if one.isalnum())


def plain_letters(text: str) -> str:
    """`letters` without accents, for rosters that were typed without them.

    >>> plain_letters("José Müller")
    'josemuller'
    """
    parts = unicodedata.normalize("NFKD", text)
    return letters("".join(one for one in parts if not unicodedata.combining(one)))


def _moodle(path: tuple[str, ...]) -> ArchiveName | None:
    for position, part in enumerate(path):
        found = _MOODLE.fullmatch(part)
        if found is None:
            continue
        below, rest = path[position + 1 :], found["rest"] or ""
        file = below[-1] if below else rest
        owner = Owner("moodle", found["name"].strip(), found["number"])
        return ArchiveName(owner, file if found["kind"] == "file" else "")
    return None


def _canvas(path: tuple[str, ...]) -> ArchiveName | None:
    for position, part in enumerate(path):
        found = _CANVAS.fullmatch(part)
        if found is None:
            continue
        below = path[position + 1 :]  # the learner's own archive
        file = (below[-1] if below else found["rest"]) or ""
        owner = Owner("canvas", found["name"] or "", found["number"])
        return ArchiveName(owner, file, late=bool(found["late"]), file_id=found["file"] or "")
    return None
