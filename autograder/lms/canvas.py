"""Canvas: its archive, its gradebook and its feedback files.

It writes `lovelaceada_LATE_12345_67890_04-memory-layout-1.ipynb`: the sortable name without
anything but letters and digits, LATE where it was, the user's id, the file's id, and the name of
the file, numbered where it was uploaded again.  An underscore in the name stays, too
(content_zipper.rb): a name, as that of a file, may hold what looks like the two numbers.  No blank
does; where nothing of a name is left, an underscore comes first.

Grades are read as a gradebook.  An empty cell would take a grade away there, so a learner without
points is left out of the file.

*Upload Submissions* takes the first two numbers of a name for the learner's and for the file's that
they handed in, and makes a comment with the file attached.  It shows the attachment under the name
of the file that was handed in (infer_comment_context_from_filename in abstract_assignment.rb).  So
there is also a folder a learner, for those who attach by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from autograder.console import points
from autograder.lms.interface import (
    ARCHIVES,
    ArchiveName,
    GradeLine,
    Lms,
    Owner,
    is_number,
    letters,
)

if TYPE_CHECKING:
    from autograder.lms.identities import LmsStudent

_NAME = re.compile(
    r"(?:(?P<name>\S*?)_)??(?:(?P<late>LATE)_)?(?P<number>[0-9]+|anon_[A-Za-z0-9]+)_"
    r"(?:(?P<file>[0-9]+)_(?P<rest>.*)|(?:text|link)\.html)"
)
# Wherever else the numbers of a user and of a file may stand; Canvas's begin with no zero.
_NUMBERS = re.compile(r"_(?=([1-9][0-9]*)_([1-9][0-9]*)_)")
_YEAR_AND_MONTH = re.compile(r"(?:19|20)[0-9]{2}_(?:[1-9]|1[0-2])_")
_MOST_READINGS = 20  # of one name; nobody's has so many who does not mean it
_UNCLEAR = "its name holds more numbers than can be told apart: say whose it is by --match"
_WRITTEN = re.compile(r"_[1-9][0-9]*_[1-9][0-9]*_")
_DATE = re.compile(r"(?:19|20)[0-9]{2}_(?:0?[1-9]|1[0-2])(?=_(?![0-9]{3}))")
_HEADINGS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


class Canvas(Lms):
    """Canvas's assignments."""

    name = "canvas"
    title = "Canvas"
    number_lasts = True
    writes_folders = False
    folders = True
    not_in_zip = (
        "is not in the zip, only in the folder: `autograder collect` the archive that Canvas "
        "gives for this assignment, so that Canvas's numbers are known"
    )

    def read_name(self, path: tuple[str, ...]) -> ArchiveName | None:
        """The user, the file and its number, and whether it was late.

        Canvas names files, no folders. What has anything below it is a learner's own archive, or
        the name of their file had a slash in it, or began with one. Where no name may come first,
        it is neither, but a folder such as 2026_01_15.
        """
        found = _NAME.fullmatch(path[0])
        if found is None or (len(path) > 1 and not _is_files(found)):
            return None
        if len(path) == 1 and found["rest"] == "":
            return None  # only before a slash with which the name of the file began
        file = (path[-1] if len(path) > 1 else found["rest"]) or ""
        late, others = bool(found["late"]), tuple(islice(_others(found, file), _MOST_READINGS + 1))
        if len(others) > _MOST_READINGS:
            return ArchiveName(Owner(self.name, path[0], "", doubt=_UNCLEAR), file, late)
        owner = Owner(self.name, found["name"] or "", found["number"])
        if others:
            owner = replace(owner, written=path[0], others=tuple(one.owner for one in others))
        return ArchiveName(owner, file, late, found["file"] or "", others=others)

    def may_be_own(self, folder: str) -> bool:
        """Whether it begins with a date, and no two numbers stand behind its year and month."""
        date = _DATE.match(folder)
        others = date and any(
            not _YEAR_AND_MONTH.match(folder, one.start(1))
            for one in _NUMBERS.finditer(folder, date.end())
        )
        return date is not None and not others and not folder.lower().endswith(ARCHIVES)

    def grade_table(self, column: str, most: float, lines: Iterable[GradeLine]) -> list[list[str]]:
        """The points possible, and a line for each learner with points."""
        # Canvas knows the second line by its spaces and words.
        possible = ["    Points Possible", "", "", "", "", points(most)]
        return [[*_HEADINGS, column], possible, *(row for one in lines for row in _rows(one))]

    def feedback_name(self, known: LmsStudent, page: str) -> str:
        """The learner's and the file's number; none where the file's was never seen."""
        if not known.file_id:
            return ""
        name = letters(known.name)
        # Digits alone, and what begins as an anonymous name, would be read as a number.
        bare = name.isdigit() or known.number.startswith("anon_") or name == "anon"
        return "_".join([*filter(None, [] if bare else [name]), known.number, known.file_id, page])


def _others(found: re.Match[str], file: str) -> Iterable[ArchiveName]:
    """The other readings of a file's name; none where it is anonymous, as that is anybody's."""
    for other in () if found["number"].startswith("anon_") else _NUMBERS.finditer(found[0]):
        if other.start(1) != found.start("number"):
            name = found[0][: other.start()].removesuffix("_LATE")
            is_date = _YEAR_AND_MONTH.match(found[0], other.start(1)) is not None
            owner = Owner(Canvas.name, name, other[1], only_if_known=is_date)
            yield ArchiveName(owner, file, file_id=other[2])


def _is_files(found: re.Match[str]) -> bool:
    """Whether a folder in the form of a file's name may be one: a name may come first."""
    is_person = found["name"] is not None or found["number"].startswith("anon_")
    has_name = is_person or _WRITTEN.search(found[0]) is not None
    return has_name or found[0].lower().endswith(ARCHIVES)


def _rows(one: GradeLine) -> list[list[str]]:
    if one.score is None:
        return []
    name = ", ".join(filter(None, [one.last_name, one.first_name])) or one.student
    # The column may hold names on GitHub as well.
    number = one.lms_user_id if is_number(one.lms_user_id) else one.number
    return [[name, number, "", one.student, "", points(one.score)]]


CANVAS = Canvas()
