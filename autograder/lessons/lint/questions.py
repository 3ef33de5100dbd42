"""Whether a lesson's warm-ups and predictions stand in their files, and each is asked once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.errors import LessonError, did_you_mean
from autograder.lessons.cells import RawCell
from autograder.lessons.claims import claims_of, own_claims, predictions_of, warm_ups_of
from autograder.lessons.lint.claims import called_with
from autograder.lessons.lint.findings import Finding, Slip
from autograder.lessons.lint.text import unwritten
from autograder.lessons.model import Lesson
from course.claims.prediction import PREDICTIONS, Prediction
from course.practice.warm_ups import WARM_UPS, Task

_LOOK_AGAIN = "`autograder check` looks again."


def lint_questions(course: Path, lesson: Lesson) -> tuple[Finding, ...]:
    """Every rule that the warm-ups and predictions of `lesson` break."""
    try:
        warm_ups = warm_ups_of(course, lesson.slug)
        predictions = predictions_of(course, lesson.slug)
    except LessonError as error:
        return (Finding(error.place or str(course), error.cause, error.remedy or _LOOK_AGAIN),)
    try:
        claims = {claim.id for claim in claims_of(course, lesson.slug).claims}
    except LessonError:  # `lint_claims` says so
        return ()
    cells = lesson.cells()
    found = (
        (WARM_UPS, [*_asked_once("warm_up", [one.id for one in warm_ups], cells)]),
        (WARM_UPS, [slip for one in warm_ups for slip in _warm_up(one)]),
        (PREDICTIONS, [*_asked_once("predict", [one.id for one in predictions], cells)]),
        (PREDICTIONS, [slip for one in predictions for slip in _prediction(one, claims)]),
    )
    folder = own_claims(course, lesson.slug).parent.relative_to(course)
    in_files = [
        Finding(f"{folder / file}, {place}", cause, cure)
        for file, slips in found
        for place, cause, cure in slips
    ]
    unknown = _unknown_warm_ups(cells, {one.id for one in warm_ups})
    in_cells = [Finding(f"{lesson.source}, {place}", *said) for place, *said in unknown]
    return (*in_files, *in_cells)


def _asked_once(word: str, ids: Iterable[str], cells: Iterable[RawCell]) -> Iterator[Slip]:
    times = Counter(id_ for cell in cells for id_ in called_with(cell, word))
    for id_ in ids:
        if times[id_] != 1:
            cause = f"the lesson asks it {times[id_]} times" if times[id_] else "nobody asks it"
            yield id_, cause, f'Ask {word}("{id_}") in one cell, or remove it.'


def _unknown_warm_ups(cells: Iterable[RawCell], known: set[str]) -> Iterator[Slip]:
    for cell in cells:
        for id_ in called_with(cell, "warm_up"):
            if id_ not in known:
                cause = f"no warm-up of the lesson is called '{id_}'.{did_you_mean(id_, known)}"
                yield f"cell {cell.get('id')}", cause, f"Add it to {WARM_UPS}, or correct."


def _warm_up(one: Task) -> Iterator[Slip]:
    yield from unwritten([(one.id, one.asks), (one.id, one.hint)])
    yield from _marks(one.id, (one.asks, one.hint))
    if not one.asks.endswith(("?", ".", ")", "`")):
        yield one.id, "what it asks is no sentence", "End it with a question mark or full stop."


def _prediction(one: Prediction, claims: set[str]) -> Iterator[Slip]:
    sentences = [one.asks, one.otherwise, *one.because.values(), *filter(None, [one.fact])]
    yield from unwritten((one.id, text) for text in sentences)
    yield from _marks(one.id, sentences)
    for text in sentences[1:]:
        if not text.rstrip('")').endswith((".", "?")):
            yield one.id, f"'{text}' is no sentence", "End it with a full stop."
    if one.claim is not None and one.claim not in claims:
        cause = f"no claim of the lesson is called '{one.claim}'.{did_you_mean(one.claim, claims)}"
        yield one.id, cause, "Add it to the claims file, or correct."
    if one.id in claims:
        yield one.id, "a claim has the same id", "Rename the prediction."


def _marks(id_: str, texts: Iterable[str]) -> Iterator[Slip]:
    for text in texts:
        if text.count("`") % 2:
            yield id_, f"a ` in '{text}' has no partner", "Close the code, or take it out."
