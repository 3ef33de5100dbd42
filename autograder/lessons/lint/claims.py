"""Whether a lesson and its claims fit each other: the file's form, and every id that is named.

Each claim of the file is told once in the lesson: asked by `predict("id")` or `quiz("id", …)`, or
listed in `metadata.course.claims` of the cell that judges it.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from autograder.errors import did_you_mean
from autograder.lessons.cells import RawCell, role
from autograder.lessons.claims import (
    NO_CLAIMS,
    claims_path,
    own_claims,
    parse_claims,
    predictions_of,
)
from autograder.lessons.lint.findings import Finding, Slip
from autograder.lessons.lint.source_code import parsed
from autograder.lessons.lint.text import unwritten
from autograder.lessons.model import Lesson, lesson_paths
from course.claims.errors import MalformedClaims
from course.claims.schema import Claim, Entries, refuse_duplicates

_LOWER = re.compile(r"([a-z]+) [a-z]")
_ARTICLES = {"a", "an", "the"}
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ROW = re.compile(r"^\| (\w+) \| (.*) \|$", re.M)


def lint_claims(course: Path, lesson: Lesson) -> tuple[Finding, ...]:
    """Every rule that the claims of `lesson`, or its words about claims, break.

    Raises:
        LessonError: A claims file of the course cannot be read.
    """
    path = claims_path(course, lesson.slug)
    try:
        entries = parse_claims(path) if path else NO_CLAIMS
        others = _others(course, lesson)
        refuse_duplicates([*others.values(), entries])
    except MalformedClaims as error:
        return (Finding("course/lessons", str(error), "`autograder check` looks again."),)
    cells = lesson.cells()
    file = str(path or own_claims(course, lesson.slug).relative_to(course))
    known = {claim.id for one in (*others.values(), entries) for claim in one.claims}
    beliefs = {one.id for file in (*others.values(), entries) for one in file.misconceptions}
    settled = {one.id: one.claim for one in predictions_of(course, lesson.slug)}
    in_file = [
        *(slip for claim in entries.claims for slip in _claim(claim, beliefs)),
        *_misconceptions(entries, lesson),
        *_mentioned_once(entries, cells, settled),
    ]
    in_lesson = [*_named(cells, known, settled), *_verdicts(cells, entries.claims)]
    return (
        *(Finding(f"{file}, {place}", cause, cure) for place, cause, cure in in_file),
        *(Finding(f"{lesson.source}, {place}", cause, cure) for place, cause, cure in in_lesson),
    )


def mentions(
    cells: Iterable[RawCell], settled: Mapping[str, str | None] | None = None
) -> Iterator[tuple[RawCell, str]]:
    """Each cell that predicts or judges a claim, with the claim's id.

    Args:
        cells: The cells of a lesson.
        settled: The lesson's predictions by id, each with the claim that it settles, if any.
    """
    for cell in cells:
        named = [(settled or {}).get(id_, id_) for id_ in called_with(cell, "predict", "quiz")]
        asked = [id_ for id_ in named if id_ is not None]
        listed = role(cell).get("claims") or []
        for id_ in asked + [str(one) for one in listed if one not in asked]:
            yield cell, id_


def called_with(cell: RawCell, *names: str) -> Iterator[str]:
    """The texts that a cell's calls of these functions are given, such as `predict("id")`."""
    if cell["cell_type"] != "code" or not any(f"{name}(" in cell["source"] for name in names):
        return
    for node in ast.walk(parsed(cell["source"])):
        match node:
            case ast.Call(ast.Name(name), ids) if name in names:
                values = [one.value for one in ids if isinstance(one, ast.Constant)]
                yield from (value for value in values if isinstance(value, str))


def _others(course: Path, lesson: Lesson) -> dict[str, Entries]:
    """The claims files of the course's other lessons."""
    paths = {slug: claims_path(course, slug) for slug in lesson_paths(course)}
    return {
        slug: parse_claims(path)
        for slug, path in paths.items()
        if path is not None and slug != lesson.slug
    }


def _named(
    cells: Iterable[RawCell], known: set[str], settled: Mapping[str, str | None]
) -> Iterator[Slip]:
    for cell, id_ in mentions(cells, settled):
        if id_ not in known:
            cause = f"no claim is called '{id_}'.{did_you_mean(id_, known)}"
            yield f"cell {cell.get('id')}", cause, "Add it to the lesson's claims file, or correct."


def _mentioned_once(
    entries: Entries, cells: Iterable[RawCell], settled: Mapping[str, str | None]
) -> Iterator[Slip]:
    times = Counter(id_ for _, id_ in mentions(cells, settled))
    for claim in entries.claims:
        place = f"claim {claim.id}"
        if not times[claim.id]:
            remedy = (
                f'Ask predict("{claim.id}") in a cell, or name it in the quiz at the end or in '
                "metadata.course.claims of the cell that judges it."
            )
            yield place, "the lesson does not tell it", remedy
        elif times[claim.id] > 1:
            cause = f"the lesson tells it {times[claim.id]} times"
            yield place, cause, "Keep one question or one metadata.course.claims of it."


def _texts(claim: Claim) -> tuple[str, ...]:
    return claim.asked, claim.said, claim.fact, claim.proof


def _claim(claim: Claim, beliefs: set[str]) -> Iterator[Slip]:
    place = f"claim {claim.id}"
    yield from unwritten((place, text) for text in _texts(claim))
    if not _SLUG.fullmatch(claim.id):
        remedy = "Give it a readable one: lower-case words joined by hyphens."
        yield place, "its id is no slug", remedy
    if not claim.said.rstrip('"').endswith((".", "?")):
        yield place, "what is said is no sentence", "End it with a full stop or question mark."
    if not claim.fact.rstrip('")').endswith("."):
        yield place, "its fact is no sentence", "End it with a full stop."
    for name, text in (("said", claim.said), ("fact", claim.fact)):
        if text.count("`") % 2:
            yield place, f"a ` in its {name} has no partner", "Close the code, or take it out."
    if claim.misconception is not None and claim.misconception not in beliefs:
        cause = f"no misconception is called '{claim.misconception}'."
        cause += did_you_mean(claim.misconception, beliefs)
        yield place, cause, "Add it, or correct the name."


def _misconceptions(entries: Entries, lesson: Lesson) -> Iterator[Slip]:
    tests = "\n".join(one.test_source for one in lesson.exercises)
    sections = ", ".join(lesson.sections) or "none"
    for one in entries.misconceptions:
        place = f"misconception {one.id}"
        yield from unwritten([(place, one.title), (place, one.why)])
        if not one.title.endswith((".", "?", "!")):
            yield place, "its title is no sentence", "Say what is believed, with a full stop."
        first = _LOWER.match(one.title)
        if first and first[1] not in _code_words(lesson):
            cause = f"its title begins with '{first[1]}', a word in lower case"
            yield place, cause, "Begin with a capital, or with a name of the lesson's code."
        if one.section not in lesson.sections:
            cause = f"no section of the lesson is called '{one.section}'."
            yield place, cause + did_you_mean(one.section, lesson.sections), f"Name one: {sections}"
        if not re.search(rf"""["']{re.escape(one.id)}["']""", tests):
            remedy = f'Write misconception="{one.id}" at the check that fails for it, or remove it.'
            yield place, "no check reveals it", remedy


def _code_words(lesson: Lesson) -> frozenset[str]:
    """What may begin a sentence as it is: the names in the lesson's code, and Python's own."""
    code = [one["source"] for one in lesson.cells() if one["cell_type"] == "code"]
    names = {word for source in code for word in re.findall(r"[a-z_]\w*", source)}
    return frozenset({*names, *keyword.kwlist, *dir(builtins)} - _ARTICLES)


def _verdicts(cells: Sequence[RawCell], claims: Sequence[Claim]) -> Iterator[Slip]:
    """Give the slips of a table that sums up the verdicts; a lesson may go without one."""
    table = next((cell for cell in cells if "| verdict | claims |" in cell["source"]), None)
    if table is None:
        return
    rows = _ROW.findall(table["source"])
    said = {verdict: len(words.split(" · ")) for verdict, words in rows if verdict != "verdict"}
    joined = role(table).get("joined") or {}
    right = Counter(claim.verdict for claim in claims)
    for verdict in sorted(said | dict(right)):
        there = said.get(verdict, 0) + _whole(joined, verdict)
        if there != right[verdict]:
            yield (
                f"cell {table.get('id')}",
                f"{there} claims are judged {verdict}, the claims file has {right[verdict]}",
                "Bring the table up to date. Where one entry tells several claims, "
                'metadata.course.joined says how many more: {"true": 1}.',
            )


def _whole(joined: object, verdict: str) -> int:
    number = joined.get(verdict, 0) if isinstance(joined, Mapping) else 0
    return number if isinstance(number, int) else 0
