"""Moodle: its archive, its grading worksheet, its grades and its feedback files.

It writes `Ada Lovelace_1234567_assignsubmission_file_/04-memory-layout.ipynb`, or without folders
`Ada Lovelace_1234567_assignsubmission_file_04-memory-layout.ipynb`; newer versions leave out the
last underscore of the folder.  The number is the participant's in this one assignment, the same
that the grading worksheet shows as `Participant 1234567`.

Grades are read as an offline grading worksheet (by the participant's number) or as a grade import
(by e-mail address or ID number).  A line without a grade changes nothing there.

*Upload multiple feedback files in a zip* reads whom a file is for from its name, as in the archive:
`Full name_PARTICIPANT_assignsubmission_file_PAGE.html`.  It asks for the participant's number in
this assignment and for the name of a plugin, and gives the rest of the name to the file
(mod/assign/feedback/file/importziplib.php).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from autograder.console import points
from autograder.lms.interface import ArchiveName, GradeLine, Lms, Owner, Participant, Worksheet

if TYPE_CHECKING:
    from autograder.lms.identities import LmsStudent

_NAME = re.compile(
    r"(?P<name>.*?)_(?P<number>[0-9]+)_assignsubmission_(?P<kind>[a-z][a-z0-9]*)(?:_(?P<rest>.*))?"
)
# Twice: the other one stands in the name of a file, or in that of a learner, who chooses both.
_NUMBER = re.compile(r"_[0-9]+_assignsubmission_")
_UNCLEAR = (
    "its name holds two numbers of participants, of which a learner may have written one: see in "
    "Moodle whose it is, and say so by --match"
)
_DATES = (
    *("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"),
    *("%A, %B %d, %Y, %I:%M %p", "%A, %B %d, %Y, %H:%M"),  # of its language pack for the US
)
_HEADINGS = (
    *("Identifier", "Full name", "ID number", "Email address", "Status"),
    *("Grade", "Maximum Grade", "Last modified (grade)"),
)


def _participant(row: Mapping[str, str], zone: tzinfo | None) -> Participant:
    written = row.get("Last modified (submission)", "").strip()
    moment = _moment(written, zone)
    return Participant(
        number=re.sub(r"[^0-9]", "", row["Identifier"]),
        name=row["Full name"],
        email=row.get("Email address", ""),
        submitted_at=moment,
        unread_time=written if moment is None and written != "-" else "",
    )


class Moodle(Lms):
    """Moodle's assignments."""

    name = "moodle"
    title = "Moodle"
    number_lasts = False
    worksheet = Worksheet(
        "grading worksheet of Moodle in English",
        ("Identifier", "Full name"),
        "Set Moodle's language to English and choose Download grading worksheet; where identities "
        "are hidden, reveal them first.",
        _participant,
        re.compile(r'^"?Participant ([0-9]+)"?[,;\t]', re.M),
        ("Full name", "Email address"),
    )
    not_in_zip = (
        "Moodle's number of this learner is not known: `autograder collect` the archive that "
        "Moodle gives for this assignment"
    )

    def read_name(self, path: tuple[str, ...]) -> ArchiveName | None:
        """The participant and the file; a folder or a zip of the learner's own may lie between."""
        found = _NAME.fullmatch(path[0])
        if found is None:
            return None
        if len(_NUMBER.findall(path[0])) > 1:
            return ArchiveName(Owner(self.name, path[0], "", doubt=_UNCLEAR), path[-1])
        file = path[-1] if len(path) > 1 else found["rest"] or ""
        owner = Owner(self.name, found["name"].strip(), found["number"])
        return ArchiveName(owner, file if found["kind"] == "file" else "")

    def grade_table(self, column: str, most: float, lines: Iterable[GradeLine]) -> list[list[str]]:
        """A line for everybody, with the status where there is no grade."""
        return [list(_HEADINGS), *map(_line, lines)]

    def feedback_name(self, known: LmsStudent, page: str) -> str:
        """The name in the form of the archive's."""
        # Moodle counts the underscores and skips names that begin as hidden files do.
        name = re.sub(r"[_/\\\x00-\x1f]+", " ", known.name).lstrip(".~ ").strip() or "Participant"
        return f"{name}_{known.number}_assignsubmission_file_{page}"


def _line(one: GradeLine) -> list[str]:
    return [
        f"Participant {one.number}" if one.number else "",
        one.name.replace("\\", "/"),  # PHP would take a quote behind a backslash for text
        one.student,
        one.email,
        one.status,
        "" if one.score is None else points(one.score),
        points(one.most),
        "-",  # as for somebody who was never graded: Moodle then asks before it overwrites
    ]


def _moment(text: str, zone: tzinfo | None) -> datetime | None:
    """The time in UTC; Moodle writes it in the zone of whoever downloads."""
    for form in _DATES:
        try:
            local = datetime.strptime(text, form)
        except ValueError:
            continue
        placed = local.replace(tzinfo=zone) if zone else local
        return placed.astimezone(UTC)
    return None


MOODLE = Moodle()
