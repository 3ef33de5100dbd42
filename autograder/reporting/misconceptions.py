"""What a failed check may reveal: the wrong idea, why it is wrong, the rule, where to read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.lessons.cells import RawCell, anchor, grader, headings, role
from autograder.lessons.claims import claims_of
from autograder.lessons.model import Lesson
from autograder.records.model import CheckRecord, ExerciseRecord
from course.claims.schema import Claim

_ENDED = " ended with "  # course.testing.observe's words for a run that raised


@dataclass(frozen=True)
class Explanation:
    """A misconception as a page tells it.

    `rules` are the facts of the claims that belong to it; `heading` names the lesson's section,
    and is empty where the lesson has none of that anchor.
    """

    id: str
    title: str
    why: str
    rules: tuple[str, ...]
    section: str
    heading: str


def explanations(course: Path, lesson: Lesson) -> dict[str, Explanation]:
    """Every misconception of `lesson`, by id.

    Raises:
        LessonError: The lesson's claims file cannot be read or breaks its form.
    """
    entries = claims_of(course, lesson.slug)
    rules = _rules(entries.claims)
    return {
        one.id: Explanation(
            id=one.id,
            title=one.title.rstrip("."),  # the page's own sentence goes on after it
            why=one.why,
            rules=rules.get(one.id, ()),
            section=one.section,
            heading=lesson.sections.get(one.section, ""),
        )
        for one in entries.misconceptions
    }


def explain(id_: str, known: Mapping[str, Explanation]) -> Explanation:
    """The explanation of `id_`; for an id without a text, its words stand for a title."""
    return known.get(id_) or Explanation(id_, id_.replace("-", " "), "", (), "", "")


def ranked(checks: Iterable[CheckRecord]) -> list[str]:
    """The misconception ids of the checks that were tried and failed, most frequent first."""
    failed = (one for one in checks if one.attempted and not one.passed)
    found = Counter(one.misconception for one in failed if one.misconception)
    return [id_ for id_, _ in found.most_common()]


def revealing_checks(exercise: ExerciseRecord) -> tuple[CheckRecord, ...]:
    """The checks that tell what a learner believes.

    None where nothing was attempted, and none where every run of the answer ended in an
    exception: that reveals a slip, not a belief. Nor does what an exception took, which a check
    before has told, reveal any.
    """
    if not exercise.attempted:
        return ()
    tried = [one for one in exercise.checks if one.attempted and one.reached]
    raised = [one for one in tried if not one.passed and _ENDED in one.message]
    return () if len(raised) == len(tried) else tuple(tried)


def section_cells(lesson: Lesson, wanted: Iterable[str]) -> dict[str, list[RawCell]]:
    """Anchor → the cells of that section that everyone may read: its text and its examples.

    Exercises, hints, answers and tests are left out.
    """
    chosen = set(wanted)
    sections: dict[str, list[RawCell]] = {}
    here = ""
    for cell in lesson.cells():
        here = next((anchor(text) for level, text in headings(cell) if level == 2), here)
        if here in chosen and _is_reading(cell):
            sections.setdefault(here, []).append(cell)
    return sections


def _is_reading(cell: RawCell) -> bool:
    return not grader(cell) and role(cell).get("role") not in ("exercise", "hint", "predict")


def _rules(claims: Iterable[Claim]) -> dict[str, tuple[str, ...]]:
    """Misconception → the facts of the claims that belong to it."""
    rules: dict[str, tuple[str, ...]] = {}
    for claim in claims:
        if claim.misconception is not None:
            rules[claim.misconception] = (*rules.get(claim.misconception, ()), claim.fact)
    return rules
