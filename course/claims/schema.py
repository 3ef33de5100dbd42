"""The entries of a claims file: what they hold, and the reasons to refuse one.

One TOML file a lesson, `course/lessons/<name>/claims.toml`, says whose it is and holds two kinds of
entries:

    lesson = "04-memory-layout"         # its folder in source/

    [[claim]]
    id = "reshape-always-copies"
    asked = "…?"                    # the question as people type it into a search box
    said = "…"                      # the sentence as people say it
    verdict = "false"               # true | false | depends | outdated
    fact = "…"                      # the correct statement
    misconception = "…"             # optional: id of a [[misconception]]
    source = "…"                    # optional: where the fact stands when no run can show it here
    needs = "fork"                  # optional: fork | linux | cuda, or a package: see NEEDED
    slow = true                     # optional: the proof takes more than a second
    proof = '''…'''                 # code, run after the preamble of course.claims.proofs
    shows = "shared and not copied" # expression that must hold after the proof ran
    proof_cuda = '''…'''            # optional, with shows_cuda: the same on a GPU
    shows_cuda = "…"

    [[misconception]]
    id = "…"                        # the id that a failed check names
    title = "…"
    why = "…"
    section = "…"                   # anchor of the lesson's section that explains it
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from course.claims.errors import MalformedClaims
from course.claims.toml_tables import check_choice, check_keys, entries_of, tables_of

__all__ = [
    "NEEDED",
    "NEEDS",
    "VERDICTS",
    "Claim",
    "Entries",
    "Misconception",
    "lesson_of",
    "parse",
    "parse_misconceptions",
    "refuse_duplicates",
]

VERDICTS = ("true", "false", "depends", "outdated")
# Packages that a proof may need beside the course's own: how to get each of them.
NEEDED = {
    "ray": 'pip install "ray[tune]"',
    "tensorboard": "pip install tensorboard",
    "wandb": "pip install wandb",
}
NEEDS = ("fork", "linux", "cuda", *NEEDED)


@dataclass(frozen=True)
class Claim:
    """A sentence people believe, its verdict, the fact, and the code that settles it.

    Attributes:
        id: Its name, which no other claim has.
        asked: The question that the fact answers, as people type it into a search box.
        said: The sentence as people say it.
        verdict: One of `VERDICTS`: true, false, depends, outdated.
        fact: What is right.
        proof: Code that is run to settle it.
        shows: The expression that must hold after the proof ran.
        lesson: The slug of the lesson whose file it stands in.
        misconception: The id of the misconception behind it.
        source: Where the fact stands when no run can show it here.
        needs: What the proof cannot do without: "fork", "linux", "cuda", or a package in `NEEDED`.
        slow: The proof takes more than a second.
        proof_cuda: A proof to be run on a GPU in addition.
        shows_cuda: The expression that must hold after that one.
    """

    id: str
    asked: str
    said: str
    verdict: str
    fact: str
    proof: str
    shows: str
    lesson: str
    misconception: str | None = None
    source: str | None = None
    needs: str | None = None
    slow: bool = False
    proof_cuda: str | None = None
    shows_cuda: str | None = None


@dataclass(frozen=True)
class Misconception:
    """A wrong idea that a failed check points at, and the section that puts it right.

    Attributes:
        id: The name by which a failed check points at it.
        title: The wrong idea, as a sentence in a few words.
        why: Why it is wrong, and what is right.
        section: The anchor of the section of the lesson that explains it.
        lesson: The slug of the lesson whose file it stands in.
    """

    id: str
    title: str
    why: str
    section: str
    lesson: str


@dataclass(frozen=True)
class Entries:
    """The entries of one file, in its order."""

    claims: tuple[Claim, ...]
    misconceptions: tuple[Misconception, ...]


_CLAIM_REQUIRED = ("id", "asked", "said", "verdict", "fact", "proof", "shows")
_CLAIM_OPTIONAL = (
    "misconception",
    "source",
    "needs",
    "slow",
    "proof_cuda",
    "shows_cuda",
)
_MISCONCEPTION_REQUIRED = ("id", "title", "why", "section")


def lesson_of(text: str, place: str) -> str:
    """The lesson that a file names as its own, such as "04-memory-layout"; nothing else is read.

    Args:
        text: What is in the file.
        place: What an error calls the file.

    Raises:
        MalformedClaims: It names none.
    """
    found = re.search(r'^lesson = "([^"\n]+)"', text, re.MULTILINE)
    if found is None:
        raise MalformedClaims(
            f'{place}: it does not say whose claims these are. Begin it with lesson = "NN-slug".'
        )
    return found[1]


def parse(text: str, slug: str) -> Entries:
    """The entries of one file's text, each checked.

    Args:
        text: What is in the file.
        slug: The lesson whose claims these are; errors call the file by it.

    Raises:
        MalformedClaims: It breaks the form above, or names another lesson as its own.
    """
    file = f"{slug}.toml"
    tables = tables_of(text, file)
    if tables.pop("lesson", slug) != slug:
        raise MalformedClaims(f'{file}: it names another lesson. Write lesson = "{slug}".')
    for key in tables:
        if key not in ("claim", "misconception"):
            raise MalformedClaims(
                f"{file}: unknown table {key!r}. Write [[claim]] or [[misconception]]."
            )
    claims = tuple(_claim(one, where, slug) for one, where in entries_of(tables, "claim", file))
    found = Entries(claims, _misconceptions(tables, slug))
    refuse_duplicates((found,))
    return found


def parse_misconceptions(text: str, slug: str) -> tuple[Misconception, ...]:
    """The misconceptions of one file's text, whatever its other tables hold."""
    return _misconceptions(tables_of(text, f"{slug}.toml"), slug)


def _misconceptions(tables: Mapping[str, Any], slug: str) -> tuple[Misconception, ...]:
    entries = entries_of(tables, "misconception", f"{slug}.toml")
    return tuple(_misconception(entry, where, slug) for entry, where in entries)


def _claim(entry: Mapping[str, Any], where: str, lesson: str) -> Claim:
    check_keys(entry, _CLAIM_REQUIRED, _CLAIM_OPTIONAL, where, {"slow": bool})
    if not entry["asked"].endswith("?"):
        raise MalformedClaims(
            f"{where}: asked is no question: {entry['asked']!r}. End it with a question mark."
        )
    check_choice(entry, "verdict", VERDICTS, where)
    check_choice(entry, "needs", NEEDS, where)
    if ("proof_cuda" in entry) != ("shows_cuda" in entry):
        raise MalformedClaims(f"{where}: proof_cuda and shows_cuda go together. Add the other one.")
    return Claim(lesson=lesson, **entry)


def _misconception(entry: Mapping[str, Any], where: str, lesson: str) -> Misconception:
    check_keys(entry, _MISCONCEPTION_REQUIRED, (), where)
    return Misconception(lesson=lesson, **entry)


def refuse_duplicates(files: Iterable[Entries]) -> None:
    """Nothing, unless an id stands twice in these files."""
    for kind in ("claims", "misconceptions"):
        seen: dict[str, str] = {}
        entries: list[Claim | Misconception] = [e for file in files for e in getattr(file, kind)]
        for entry in entries:
            if entry.id in seen:
                raise MalformedClaims(
                    f"{entry.lesson}.toml: {kind[:-1]} {entry.id!r} stands twice"
                    f" (first in {seen[entry.id]}.toml). Rename one of them."
                )
            seen[entry.id] = entry.lesson
