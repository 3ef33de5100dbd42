"""What the atlas says of one claim: its sentences, its place in a lesson, and its measurement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.lessons.cells import anchor, headings, role
from autograder.lessons.model import Lesson
from course.claims import Claim, Misconception, claims, misconceptions
from course.claims.quiz_words import LABELS, MEANINGS
from docs.site.atlas.keywords import words_of
from docs.site.words import as_text

__all__ = ["Entry", "Place", "entries", "most_related", "version_sentences"]

_VERSION = re.compile(
    r"(?:PyTorch|torch|[Rr]eleases?|[Vv]ersions?|[Ss]ince|[Bb]efore|[Uu]ntil|[Oo]lder|[Nn]ewer)"
    r"[^.]{0,40}\d+\.\d+"
)
_SENTENCE = re.compile(r"(?:`[^`]*`|[^.!?`]|[.!?](?=\S))+[.!?]?\s*")
_MOST_RELATED = 5


@dataclass(frozen=True)
class Place:
    """Where a lesson asks for the claim."""

    slug: str
    lesson: str  # the title of the lesson, as "04 Memory layout"
    anchor: str  # of the section on the lesson's page, "" for the part above the first
    heading: str


@dataclass(frozen=True)
class Entry:
    """A claim as the atlas shows it."""

    claim: Claim
    place: Place
    words: frozenset[str]
    proof: Mapping[str, Any]
    misconception: Misconception | None

    @property
    def label(self) -> str:
        """The verdict in words."""
        return LABELS[self.claim.verdict]

    @property
    def judged(self) -> str:
        """What the verdict says of the claim: "is wrong", "was right for an older release"."""
        return MEANINGS[self.claim.verdict].removeprefix("the claim ")

    @property
    def answer(self) -> str:
        """The answer to what is asked: the verdict on the claim, and the fact."""
        said, fact = as_text(self.claim.said), as_text(self.claim.fact)
        return f"{self.label}: the claim “{said}” {self.judged}. {fact}"

    @property
    def versions(self) -> str:
        """The sentences of the fact that speak of other versions."""
        return version_sentences(self.claim.fact)


def entries(lessons: Sequence[Lesson], proofs: Mapping[str, Any]) -> list[Entry]:
    """The claims of these lessons, in the order in which they are written down.

    Args:
        lessons: Those that the site shows.
        proofs: By the claim's id, from `measured_proofs`.
    """
    places = {id_: place for lesson in lessons for id_, place in _places(lesson)}
    ideas = {one.id: one for one in misconceptions()}
    return [
        Entry(
            claim,
            places.get(claim.id) or Place(lesson.slug, _short(lesson), "", ""),
            words_of(claim),
            proofs[claim.id],
            ideas.get(claim.misconception or ""),
        )
        for lesson in lessons
        for claim in claims(lesson.slug)
    ]


def most_related(entry: Entry, others: Sequence[Entry]) -> list[Entry]:
    """The claims that share most with this one: words first, then the section, then the lesson."""

    def shared(other: Entry) -> float:
        words = len(entry.words & other.words) / (1 + len(other.words)) ** 0.5
        same_section = entry.place == other.place
        return 2 * words + same_section + 0.5 * (entry.place.slug == other.place.slug)

    found = sorted((one for one in others if one is not entry), key=shared, reverse=True)
    return found[:_MOST_RELATED]


def version_sentences(fact: str) -> str:
    """The sentences of a fact that name a version; "" where none does.

    >>> version_sentences("It writes None. Since PyTorch 2.0 that's the default. Use it.")
    "Since PyTorch 2.0 that's the default."
    """
    found = (one.strip() for one in _SENTENCE.findall(fact))
    return " ".join(one for one in found if _VERSION.search(one))


def _short(lesson: Lesson) -> str:
    """Number and title without what follows its colon: "04 Memory layout"."""
    return f"{lesson.slug[:2]} {lesson.title.partition(':')[0]}"


def _places(lesson: Lesson) -> Iterator[tuple[str, Place]]:
    """Each claim that the lesson's cells ask for, with the section above that cell."""
    here, heading = "", ""
    title = _short(lesson)
    for cell in lesson.cells():
        for level, text in headings(cell):
            if level == 2:
                here, heading = anchor(text), text
        for id_ in role(cell).get("claims", []):
            yield str(id_), Place(lesson.slug, title, here, heading)
