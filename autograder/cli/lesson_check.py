"""`autograder check`: everything that an author wants to know of a lesson, in one go.

Five parts: its form, its claims with their proofs, its answers through the gate, whether
`release/` is what the source gives, and whether its cells that only show do no more. A part that
fails keeps no other from being looked at, but for the release, which an unsound lesson does not
have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.answer_bank.gate import ExerciseGate, Gate, GateReport, lesson_gate
from autograder.console import quantity
from autograder.errors import AutograderError
from autograder.lessons.authoring.tidy import is_untidy
from autograder.lessons.lint.claims import lint_claims
from autograder.lessons.lint.findings import Finding
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.lint.proofs.changed import not_run, prove_changed
from autograder.lessons.lint.questions import lint_questions
from autograder.lessons.model import Lesson
from autograder.lessons.release import RELEASE, SELF_STUDY, build_release, check_release
from autograder.simulation.effects import false_marks
from course.claims.errors import ClaimError

TryAnswers = Callable[[Sequence[Gate]], GateReport]


@dataclass(frozen=True)
class PartResult:
    """One part of the check-up: what was found, in a line, and each finding."""

    name: str
    ok: bool
    summary: str
    findings: tuple[str, ...] = ()
    misses: tuple[ExerciseGate, ...] = ()


@dataclass(frozen=True)
class LessonCheck:
    """What was found out about one lesson."""

    lesson: str
    parts: tuple[PartResult, ...]

    @property
    def ok(self) -> bool:
        """Whether every part holds."""
        return all(part.ok for part in self.parts)

    @property
    def closing(self) -> str:
        """The last line on the lesson."""
        if self.ok:
            return f"{self.lesson}: everything holds."
        failed = ", ".join(part.name for part in self.parts if not part.ok)
        return f"{self.lesson}: not yet. To mend: {failed}."


def check_lessons(
    course: Path,
    lessons: Sequence[Lesson],
    try_answers: TryAnswers,
    *,
    done: Callable[[str], None] = lambda what: None,
) -> Iterator[LessonCheck]:
    """Look at each lesson; the answers of all are tried together, which is faster."""
    answers = _answers(course, lessons, try_answers)
    for lesson in lessons:
        findings = (
            *lint_lesson(course, lesson),
            *lint_claims(course, lesson),
            *lint_questions(course, lesson),
        )
        parts = (
            _form(lesson, (*findings, *_traces(lesson))),
            _claims(course, lesson, done),
            answers[lesson.slug],
            _release(course, lesson, sound=not findings),
            _shows(lesson),
        )
        yield LessonCheck(lesson.slug, parts)


def _form(lesson: Lesson, findings: Sequence[Finding]) -> PartResult:
    words = sum(one.manual for one in lesson.exercises)
    exercises = quantity(len(lesson.exercises) - words, "exercise")
    summary = f"{quantity(len(lesson.cells()), 'cell')}, {exercises}"
    summary += f", {words} graded by a person" if words else ""
    summary = f"{quantity(len(findings), 'rule')} broken" if findings else summary
    return PartResult("form", not findings, summary, tuple(map(str, findings)))


def _traces(lesson: Lesson) -> Iterator[Finding]:
    if is_untidy(lesson.source):
        remedy = f"Run `autograder tidy {lesson.slug[:2]}`."
        cause = "it is not in the committed form: an editor left outputs, ids or an order of keys"
        yield Finding(str(lesson.source), cause, remedy)


def _claims(course: Path, lesson: Lesson, done: Callable[[str], None]) -> PartResult:
    try:
        proved = prove_changed(course, lesson, done=done)
    except (AutograderError, ClaimError) as error:
        return PartResult("claims", ok=False, summary="they cannot be read", findings=(str(error),))
    claims, ran = quantity(proved.claims, "claim"), quantity(proved.ran, "proof")
    summary = f"{claims}, {ran} run, {len(proved.failed)} failed"
    summary += f"; {not_run(proved.lacking)}" if proved.lacking else ""
    return PartResult("claims", not proved.failed, summary, tuple(map(str, proved.failed)))


def _answers(
    course: Path, lessons: Sequence[Lesson], try_answers: TryAnswers
) -> dict[str, PartResult]:
    gates, parts = [], {}
    for lesson in lessons:
        try:
            gates.append(lesson_gate(course, lesson))
        except AutograderError as error:
            summary = "the answers cannot be read"
            parts[lesson.slug] = PartResult(
                "answers", ok=False, summary=summary, findings=(str(error),)
            )
    report = try_answers(gates) if any(gate.cases for gate in gates) else GateReport(())
    for gate in gates:
        of_it = tuple(one for one in report.exercises if one.lesson == gate.lesson.slug)
        mine = GateReport(of_it)
        misses = tuple(one for one in of_it if one.misses)
        parts[gate.lesson.slug] = PartResult("answers", mine.ok, mine.closing, misses=misses)
    return parts


def _release(course: Path, lesson: Lesson, *, sound: bool) -> PartResult:
    if not sound:
        return PartResult("release", ok=False, summary="it is not built until the form holds")
    try:
        files = build_release(course, [lesson])
    except AutograderError as error:
        return PartResult("release", ok=False, summary="it cannot be built", findings=(str(error),))
    mine = (f"{RELEASE}/{lesson.slug}/", f"{RELEASE}/{SELF_STUDY}/{lesson.slug}.ipynb")
    drift = [one for one in check_release(course, files) if one.path.startswith(mine)]
    summary = "it is what the source gives"
    if drift:
        summary = f"it is not what the source gives: run `autograder release {lesson.slug[:2]}`"
    return PartResult(
        "release", not drift, summary, tuple(f"{one.path}: {one.kind}" for one in drift)
    )


def _shows(lesson: Lesson) -> PartResult:
    try:
        count, findings = false_marks(lesson)
    except AutograderError as error:
        return PartResult("shows", ok=False, summary="it does not run", findings=(str(error),))
    summary = f"{quantity(count, 'cell')} marked, {len(findings)} wrongly"
    return PartResult("shows", not findings, summary, tuple(map(str, findings)))
