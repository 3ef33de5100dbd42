"""What an LMS has to answer, and the words of the answers."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from autograder.lms.identities import LmsStudent

# The endings of the archives that people pack their work into, and that `collect` opens.
TARS = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
ARCHIVES = (".zip", *TARS)


@dataclass(frozen=True, order=True)
class Owner:
    """A person, or group, as an LMS knows them; `number` tells two of one name apart.

    `doubt` says why nobody can tell whom a name means that an LMS wrote; empty where one can.
    Where the name of a file can be read in several ways, as a learner may write numbers into it,
    `written` is that name and `others` are the other readings.  `by_name` is true of somebody whom
    no LMS has named where only the name of a folder or file tells who it is.  `only_if_known` is
    true of a reading that is none unless students.csv has its number: a year and a month in a name.
    """

    lms: str
    name: str
    number: str
    doubt: str = ""
    written: str = ""
    others: tuple[Owner, ...] = field(default=(), compare=False)
    by_name: bool = False
    only_if_known: bool = False

    @property
    def key(self) -> str:
        """How the archive writes it, and what `--match KEY=STUDENT` wants."""
        return self.written or "_".join(filter(None, [self.name, self.number]))


@dataclass(frozen=True)
class ArchiveName:
    """What a name in the archive says; `file` is empty for text typed into the LMS.

    `file_id` is the LMS's number of the file, where it has one; `at` is the part of the path that
    says so, counted from 0.  `others` are what it says where it is read in another way.
    """

    owner: Owner
    file: str
    late: bool = False
    file_id: str = ""
    at: int = field(default=0, compare=False)
    others: tuple[ArchiveName, ...] = field(default=(), compare=False)

    def of_number(self, number: str) -> ArchiveName | None:
        """The reading that tells the LMS's number of its owner; None where none surely does.

        Args:
            number: The one that students.csv has; empty where it has none.
        """
        readings = (self, *self.others)
        known = next((one for one in readings if number and one.owner.number == number), None)
        if known is None and all(one.owner.only_if_known for one in self.others):
            return self if self.owner.number else None
        return known


@dataclass(frozen=True)
class Participant:
    """One line of an LMS's worksheet; `doubt` says why nobody can tell what it says of somebody.

    `unread_time` is what stands where a time should, in a form that is not known.
    """

    number: str
    name: str
    email: str = ""
    submitted_at: datetime | None = None
    doubt: str = ""
    unread_time: str = ""


@dataclass(frozen=True)
class Worksheet:
    """The list of participants that an LMS gives as CSV, beside the archive.

    `title` is how a sentence names it, `columns` are the headings without which it is another
    file, `remedy` says where to get it. `participant` reads a line, with the zone of its times
    (None for this machine's). Each line begins as `begin` says, whose group is the number; `signs`
    are the headings of what people are known by.
    """

    title: str
    columns: tuple[str, ...]
    remedy: str
    participant: Callable[[Mapping[str, str], tzinfo | None], Participant]
    begin: re.Pattern[str]
    signs: tuple[str, ...] = ()


@dataclass(frozen=True)
class GradeLine:
    """What there is to tell an LMS of one learner; `score` is None where nothing was judged.

    `number` is the LMS's own, as `collect` has seen it, and `lms_user_id` what students.csv says;
    both are empty where they are not known. `most` are the points that could be had.
    """

    student: str
    first_name: str
    last_name: str
    email: str
    lms_user_id: str
    number: str
    status: str
    score: float | None
    most: float

    @property
    def name(self) -> str:
        """First and last name, the student's id where neither is known."""
        return " ".join(filter(None, [self.first_name, self.last_name])) or self.student


class Lms(ABC):
    """One learning management system.

    Attributes:
        name: Its word on the command line and in .autograder/lms/.
        title: How a sentence names it.
        number_lasts: Whether the number in an archive's names is the person's everywhere, as in
            the column `lms_user_id` of students.csv, and not only in this one assignment.
        writes_folders: Whether a folder in its archive may be one that it has made. Where it makes
            none, one in its form comes from a slash in the name of a learner's file, and holds no
            second file.
        worksheet: The list that it gives beside an archive; None where there is none.
        folders: Whether feedback is also written as a folder a learner, to attach by hand.
        not_in_zip: Why a learner whom it cannot know by name is left out of the feedback zip.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    number_lasts: ClassVar[bool]
    writes_folders: ClassVar[bool] = True
    worksheet: ClassVar[Worksheet | None] = None
    folders: ClassVar[bool] = False
    not_in_zip: ClassVar[str]

    @abstractmethod
    def read_name(self, path: tuple[str, ...]) -> ArchiveName | None:
        """What a path says of which this LMS wrote the first part; None where it surely did not.

        Args:
            path: The parts below the first, if there are any, are the learner's own.
        """

    def may_be_own(self, folder: str) -> bool:
        """Whether a folder in its form is rather one of the instructor's; for guesses.

        Args:
            folder: Its name.
        """
        return False

    @abstractmethod
    def grade_table(self, column: str, most: float, lines: Iterable[GradeLine]) -> list[list[str]]:
        """The rows of the CSV file that it imports, headings first.

        Args:
            column: The name of the assignment.
            most: Its points.
            lines: A learner each; an LMS that would take a grade away leaves out those without.
        """

    @abstractmethod
    def feedback_name(self, known: LmsStudent, page: str) -> str:
        """The name in the feedback zip by which the LMS knows whose page it is.

        Args:
            known: The learner, as `collect` has seen them.
            page: The file's name.

        Returns:
            The name, or nothing where the LMS could not know; then `not_in_zip` is the reason.
        """


def is_number(text: str) -> bool:
    """Whether a text is a number as an LMS writes it; other scripts' digits are a learner's.

    >>> is_number("111"), is_number("\u0661\u0661\u0661"), is_number("")
    (True, False, False)
    """
    return text.isascii() and text.isdecimal()


def letters(text: str) -> str:
    """The letters and digits of a name in lower case: what every LMS leaves of it.

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
