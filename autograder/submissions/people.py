"""Whom the names of folders and files mean that stand beside one another in a source.

They are read in one form: as ILIAS, GitHub Classroom or nbgrader writes them, or an instructor.  An
instructor may say who it was; where it is guessed, ILIAS's form comes before the others, as these
may be an imitation.

Learners choose logins and names, and may choose another's id or name.  So what ILIAS or GitHub has
written goes by the logins of students.csv, where it has any.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from html.entities import codepoint2name

from autograder.lms import LMS, systems
from autograder.lms.interface import is_number, letters, plain_letters
from autograder.submissions.class_list import Student
from autograder.submissions.signs import Match, Signs, nobody, only, small

NOBODY = nobody("none of its names is a student's id, lms_user_id, address or name")
_LONG_NUMBER = 5  # digits
_ILIAS = re.compile(r"(?P<last>.*)_(?P<first>[^_]*)_(?P<login>[^_]*)_[0-9]+", re.S)
_PERSON = re.compile(r"[^0-9]+_.+_[0-9]+", re.S)  # 2026_27_x_1 is none
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_OF_CLASSROOM = "submissions"  # ps1-submissions holds the repositories of ps1
_NO_LOGIN = nobody("it looks like a folder of ILIAS, and its login is not in lms_user_id")
_NO_LOGIN_ALONE = nobody(
    f"{_NO_LOGIN.reason}; if it is the assignment's folder, collect what is in it"
)
_NO_USER = nobody(
    "it looks like a repository on GitHub, or stands beside such, and what follows their common "
    "beginning is no user's name in lms_user_id"
)


def people(
    signs: Signs, names: Iterable[str], slugs: Iterable[str] = (), *, is_source: bool = False
) -> dict[str, Match]:
    """Each name → whom it means; empty where none is a person's, known or not.

    Args:
        signs: Of the students.
        names: All that stand beside one another.
        slugs: Of lessons, whose names an assignment may have.
        is_source: Whether a name that is alone may be the source's own.
    """
    names, slugs = sorted(set(names)), {small(one) for one in slugs}
    inbound = {one: _handed_in_by(one) for one in names if _is_inbound(one)}
    others = [one for one in names if one not in inbound]
    whole = {one for one in others if small(one) in signs.exact}
    users = {one for one in whole if _is_login_alone(signs, one)}
    whole -= users
    repositories = _repositories(signs, [one for one in others if one not in whole], slugs)
    sure = [one for one in repositories.values() if one.student]
    if users <= repositories.keys() or 2 * len(sure) > len(others):
        users = set()  # where Ada's repository is ps1-adalove, Kim may be called that
    mostly_logins = 2 * len(users | repositories.keys()) > len(others)
    is_lone = is_source and len(names) == 1
    found: dict[str, Match | None] = {}
    logins = _logins(signs, names)
    for name in names:
        if name in inbound:
            found[name] = _by_sign(signs, inbound[name], beside_logins=False)
        elif name in users or (name in whole and not mostly_logins):
            found[name] = _by_sign(signs, name, beside_logins=False)
        elif is_of_ilias(name) and name not in whole:
            found[name] = _in_ilias(signs, logins, name, is_lone=is_lone)
        elif name in repositories:
            found[name] = repositories[name]
        elif mostly_logins:
            found[name] = _NO_USER
        else:
            found[name] = _by_sign(signs, name, beside_logins=bool(users or repositories)) or (
                _NO_USER if _may_be_repository(signs, name, () if is_lone else slugs) else None
            )
    if not any(found.values()):
        return {}
    found |= _of_one_name(found)
    return {name: one or NOBODY for name, one in found.items()}


def people_of(
    system: str,
    signs: Signs,
    names: Iterable[str],
    slugs: Iterable[str] = (),
    *,
    is_source: bool = False,
) -> dict[str, Match]:
    """Each name → whom it means in the form of one system; empty for one alone that means nobody.

    Args:
        system: The one that has written them: ilias, github, nbgrader or folders.
        signs: Of the students.
        names: All that stand beside one another.
        slugs: Of lessons, whose names an assignment may have.
        is_source: Whether a name that is alone may be the source's own.
    """
    names, slugs = sorted(set(names)), {small(one) for one in slugs}
    by_sign = partial(_by_sign, signs, beside_logins=False)
    unknown = not_written_by(system)
    found: dict[str, Match | None]
    if system == "ilias":
        written = [one for one in names if is_of_ilias(one)]
        logins = signs.logins_and_numbers  # who says that it is ILIAS has its logins there
        found = {one: _in_ilias(signs, logins, one, is_lone=False) or _NO_LOGIN for one in written}
        found |= _of_one_name(found)
    elif system == "github":
        found = {**_repositories(signs, names, slugs)}
        unknown = _NO_USER if found else unknown
        if not found:
            starts = () if is_source else slugs
            found = {one: _NO_USER for one in names if _may_be_repository(signs, one, starts)}
    elif system == "nbgrader":
        written = [one for one in names if one.count("+") > 1]
        found = {one: by_sign(_handed_in_by(one)) or NOBODY for one in written}
    else:
        found = {one: by_sign(one) for one in names}
    # One folder may hold all the others. Of several, each is somebody's, and nobody is looked for
    # below them, where names are people's own.
    if len(names) < 2 and not any(found.values()):
        return {}
    if len(names) == 1 and found.get(names[0]) is _NO_LOGIN:
        found[names[0]] = _NO_LOGIN_ALONE
    return {one: found.get(one) or unknown for one in names}


def not_written_by(system: str) -> Match:
    """Nobody, of a name that is not in the form of the system that the instructor has named."""
    own = "" if system in LMS else ", or collect this folder by itself if it holds people's"
    return Match(
        None,
        f"it is not in the form of {systems()[system]}: say whose it is by --match, or by --from "
        f"who else wrote it{own}",
    )


def is_of_ilias(name: str) -> bool:
    """Whether ILIAS may have written the name of a folder."""
    return _ILIAS.fullmatch(name) is not None


def _is_inbound(name: str) -> bool:
    """Whether nbgrader's exchange has written it: student+lesson+time+number."""
    return name.count("+") > 1 and not is_of_ilias(name)


def _handed_in_by(name: str) -> str:
    """The account in a name of nbgrader's exchange, which may hold a plus, as no lesson does.

    >>> _handed_in_by("a+b+ps1+2026-03-01 10:00:00 UTC+x9"), _handed_in_by("a+ps1+2026-03-01 10:00")
    ('a+b', 'a')
    """
    behind = 2 if name.count("+") == 2 or _TIME.match(name.rpartition("+")[2]) else 3
    return name.rsplit("+", behind)[0]  # until nbgrader 0.6 no number followed the time


def _is_login_alone(signs: Signs, name: str) -> bool:
    sign = small(name)
    return sign in signs.logins and len(signs.exact[sign]) == 1 and name not in signs.ids


def _by_sign(signs: Signs, name: str, *, beside_logins: bool) -> Match | None:
    """Whom an id, a login, an address or a name means; None for nobody."""
    bare = name.strip("-_ ")  # the name of a notebook has lost that of its lesson
    if bare != name and is_number(bare) and len(bare) < _LONG_NUMBER:
        return None  # 01-tiny-1 is nobody's
    exact = signs.exact.get(small(name)) or signs.exact.get(small(bare))
    named = signs.named(bare)
    if exact and {*named} <= {*exact}:
        return only(exact, f"the id, lms_user_id or address {bare}")
    if exact:  # a login may be chosen to be somebody's name
        return only(sorted({*exact, *named}), f"the id, lms_user_id, address or name {bare}")
    if not named:
        return None
    alike = {*signs.by_letters.get(letters(bare), ()), *named}
    if len(alike) > 1:
        return only(sorted(alike), f"the id, lms_user_id, address or name {bare}")
    login = signs.ids[named[0]].lms_user_id
    if beside_logins and small(login) in signs.logins and " " not in bare:
        return nobody(f"{named[0]} has this name, but {login} for lms_user_id")
    return Match(named[0], by_name=True)


def _logins(signs: Signs, names: Iterable[str]) -> dict[str, list[str]]:
    """The logins by which people are known in these folders of ILIAS, numbers where one of them is.

    Elsewhere a number in students.csv may be another LMS's.
    """
    every = signs.logins_and_numbers
    ends = (small(one.rpartition("_")[0].rpartition("_")[2]) for one in names if is_of_ilias(one))
    return every if any(is_number(one) and one in every for one in ends) else signs.logins


def _in_ilias(
    signs: Signs, logins: Mapping[str, list[str]], name: str, *, is_lone: bool
) -> Match | None:
    """Whom a folder of ILIAS means: last name, first name, login, the user's number.

    Each of the three may hold underscores, so a login alone may be the end of another.
    """
    if not logins:
        parts = _ILIAS.fullmatch(name)
        named = signs.named(f"{parts['first']} {parts['last']}") if parts else []
        return only(named, "this name", by_name=True) if named else None
    words = name.split("_")[:-1]
    ends = {at: logins.get(small("_".join(words[at:])), []) for at in range(1, len(words))}
    having = [(at, one) for at, whose in ends.items() for one in whose]
    found = [one for at, one in having if _is_written(words[:at], signs.ids[one])]
    whose = ", ".join(sorted({one for _, one in having}))
    if len({at for at, _ in having}) > 1:  # whose login is the end may have written the rest of it
        return nobody(f"it ends in the logins of {whose}")
    if found:
        return only(found, "this login")
    if having:
        return nobody(f"it ends in the login of {whose}, but another name stands before that")
    return _NO_LOGIN if _PERSON.fullmatch(name) and not is_lone else None


def _of_one_name(found: Mapping[str, Match | None]) -> dict[str, Match]:
    """The folders of ILIAS that are told by one name, which then is somebody else's, too."""
    having: dict[str, list[str]] = defaultdict(list)
    for name, match in found.items():
        if match and match.student and match.by_name and is_of_ilias(name):
            having[match.student].append(name)
    return {
        name: nobody(f"{len(names)} folders of ILIAS have the name of {student}")
        for student, names in having.items()
        for name in names
        if len(names) > 1
    }


def _is_written(words: list[str], student: Student) -> bool:
    """Whether ILIAS may write a student's last and first name so, parted at underscores."""
    if not (student.first_name and student.last_name):
        return len(words) == 2  # then the rest is all of the login
    own = f"{student.last_name}_{student.first_name}".split("_")
    spellings = (letters, plain_letters, _plain_in_ilias)
    return any([*map(one, own)] == [*map(one, words)] for one in spellings)


def _plain_in_ilias(name: str) -> str:
    """The letters of a name as ILIAS writes it (getASCIIFilename in class.ilFileUtils.php)."""
    small_letters = unicodedata.normalize("NFC", name).casefold().translate(_UMLAUTS)
    return letters("".join(codepoint2name.get(ord(one), one)[0] for one in small_letters))


def _repositories(signs: Signs, names: Iterable[str], slugs: Collection[str]) -> dict[str, Match]:
    """Whom those names mean that end in a login: `assignment-login`, as GitHub Classroom writes.

    All repositories of an assignment begin alike.  Of several such beginnings of one name the one
    counts that the others have, too; by itself, a name says nothing if it has two hyphens.
    """
    read = {one: readings for one in names if (readings := _readings(signs, one))}
    having: dict[str, set[str]] = defaultdict(set)  # beginning → the names that have it
    for name, readings in read.items():
        for beginning in readings:
            having[beginning].add(small(name))
    excluded = _excluded(having, slugs)
    found: dict[str, Match] = {}
    for name, readings in read.items():
        whose = sorted({one for ids in readings.values() for one in ids})
        found[name] = nobody(
            f"it ends in the user's name of {', '.join(whose)}, and what stands before that is not "
            "surely the assignment"
        )
        for beginning in readings.keys() - excluded:
            start = beginning[:-1]
            is_lesson = start in slugs and not any(start.startswith(f"{one}-") for one in slugs)
            is_one = is_lesson or not re.search("[-_]", start)
            is_lone = is_one and len(readings) == 1 and small(name) not in signs.logins
            is_sure = len(having[beginning]) > 1 or is_lone
            if is_sure and all(having[one] <= having[beginning] for one in readings):
                found[name] = only(readings[beginning], f"the name {name[len(beginning) :]}")
    return found


def _readings(signs: Signs, name: str) -> dict[str, list[str]]:
    """What may be the assignment in the name of a repository → whose login the rest is."""
    lower = small(name)
    cuts = (one.end() for one in re.finditer("[-_]", lower) if one.start())
    users = {lower[:at]: lower[at:] for at in cuts if lower[at:] != _OF_CLASSROOM}
    return {start: signs.logins[user] for start, user in users.items() if user in signs.logins}


def _excluded(having: Mapping[str, set[str]], slugs: Collection[str]) -> set[str]:
    """The beginnings that are not the assignment, of any two of which one begins as the other.

    The longer one may be the assignment's and the start of a user's name, or the assignment's with
    the shorter one read out of a user's name.  Where just one is called as a lesson, it is that.
    """
    excluded: set[str] = set()
    for longer, names in having.items():
        for cut in re.finditer("[-_]", longer[:-1]):
            shorter = longer[: cut.end()]
            others = having.get(shorter, set())
            if shorter not in having:
                continue
            is_lesson = shorter[:-1] in slugs and longer[:-1] not in slugs
            if is_lesson or names < others or not all(one.startswith(longer) for one in others):
                excluded.add(longer)
            elif len(names) > len(others) or longer[:-1] in slugs:
                excluded.add(shorter)
            else:
                excluded |= {shorter, longer}
    return excluded


def _may_be_repository(signs: Signs, name: str, slugs: Iterable[str]) -> bool:
    """Whether a name looks like a repository, of somebody whom it need not tell.

    It ends in a student's sign, which is anybody's on GitHub; the number of a week is none.  Or it
    begins with a lesson, where the class has names on GitHub.
    """
    lower = small(name)
    ends = {lower[one.end() :] for one in re.finditer("[-_]", lower)} - {_OF_CLASSROOM}
    if any(e in signs.exact and (len(e) >= _LONG_NUMBER or not is_number(e)) for e in ends):
        return True
    rests = (lower.removeprefix(f"{one}-") for one in slugs)
    return bool(signs.logins) and any(
        rest not in ("", lower, _OF_CLASSROOM) and lower not in slugs for rest in rests
    )
