"""`autograder collect --marks`: points and comments from marking sheets into the gradebook.

Each question is one transaction.  A line that cannot be believed is refused with its reason, and
the others are taken; an empty cell changes nothing.  Nobody's name is printed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from autograder.console import json_text, say
from autograder.console import points as written_points
from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.gradebook import GradebookWriter, ManualMark
from autograder.records.journal import only_grader
from autograder.reporting.marking.anonymous import pseudonyms
from autograder.reporting.marking.questions import WrittenAnswer, WrittenQuestion, questions
from autograder.reporting.marking.sheet import SheetLine, read_points, read_sheet


@dataclass(frozen=True)
class RefusedLine:
    """A line that was not taken in."""

    sheet: str
    line: int
    answer_id: str
    reason: str


@dataclass
class QuestionTally:
    """What became of the lines of one question."""

    lesson: str
    question: str
    entered: int = 0
    unchanged: int = 0
    blank: int = 0
    replaced: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Marked:
    """What became of every line of the sheets."""

    taken: tuple[QuestionTally, ...]
    refused: tuple[RefusedLine, ...]


def run(
    course: Path,
    sheets: Sequence[Path],
    lessons: tuple[Lesson, ...],
    *,
    db: str | None = None,
    as_json: bool = False,
) -> int:
    """Take in `sheets` and print what became of each line; 0 where none was refused, else 1."""
    marked = take_in(load_course(course, db=db), sheets, lessons)
    if as_json:
        say(json_text(asdict(marked)))
    else:
        say("\n".join(_summary(marked)))
    return 1 if marked.refused else 0


def take_in(course: CourseDirectory, sheets: Sequence[Path], lessons: tuple[Lesson, ...]) -> Marked:
    """Enter what `sheets` hold for `lessons`, question by question."""
    lines = [(str(path), line) for path in sheets for line in read_sheet(path)]
    refused: list[RefusedLine] = []
    taken = []
    with only_grader(course.state):
        known = _known(course, lessons, {line.lesson for _, line in lines})
        for name, group in _by_question(lines).items():
            question = known.get(name)
            if question is None:
                refused += [_refuse(where, line, _unknown_question(name)) for where, line in group]
            else:
                taken.append(_enter(course, question, group, refused))
    return Marked(tuple(taken), tuple(refused))


def _known(
    course: CourseDirectory, lessons: tuple[Lesson, ...], wanted: set[str]
) -> dict[tuple[str, str], WrittenQuestion]:
    names = pseudonyms(course.state, make=False)
    if names is None:  # without the key no id means anybody
        return {}
    chosen = [lesson for lesson in lessons if lesson.slug in wanted]
    found = [one for lesson in chosen for one in questions(course, lesson, names)]
    return {(one.lesson.slug, one.exercise.name): one for one in found}


def _by_question(
    lines: Sequence[tuple[str, SheetLine]],
) -> dict[tuple[str, str], list[tuple[str, SheetLine]]]:
    groups = defaultdict(list)
    for where, line in lines:
        groups[line.lesson, line.question].append((where, line))
    return groups


def _enter(
    course: CourseDirectory,
    question: WrittenQuestion,
    group: list[tuple[str, SheetLine]],
    refused: list[RefusedLine],
) -> QuestionTally:
    """Enter the lines of one question that can be believed; the others are added to `refused`."""
    taken = QuestionTally(question.lesson.slug, question.exercise.name)
    answers, marks = {one.id: one for one in question.answers}, {}
    contradicted = _contradictions(group)
    for where, line in group:
        answer = answers.get(line.answer_id)
        reason = _why_not(question, answer, line, contradicted)
        if reason:
            refused.append(_refuse(where, line, reason))
            continue
        assert answer is not None
        mark = _mark(line, answer, question.exercise.points)
        if line.is_blank:
            taken.blank += 1
        elif mark is None:
            taken.unchanged += 1
        elif answer.student not in marks:
            marks[answer.student] = mark
            taken.entered += 1
            taken.replaced += _replaced(line, answer, mark)
    exercise = question.exercise
    with GradebookWriter(course) as gradebook:
        absent = gradebook.give(question.lesson, exercise, marks)
    taken.entered -= len(absent)
    ids = {one.student: one.id for one in question.answers}
    lost = {ids[student] for student in absent}
    why = "the gradebook has no entry for it yet: run `autograder grade`"
    refused += [_refuse(where, one, why) for where, one in group if one.answer_id in lost]
    return taken


def _why_not(
    question: WrittenQuestion,
    answer: WrittenAnswer | None,
    line: SheetLine,
    contradicted: frozenset[str],
) -> str:
    """Why a line is not taken in; empty where it is."""
    if line.answer_id in question.behind:
        return "a newer submission waits to be graded: run `autograder grade`, then export again"
    if answer is None:
        return "no answer has this id; it was exported with another key, or withdrawn since"
    if line.version != answer.version:
        return "the answer changed since the sheet was written: export the question again"
    if line.answer_id in contradicted:
        return "the sheets say two different things about this answer"
    if line.points:
        found = read_points(line.points, question.exercise.points)
        return found if isinstance(found, str) else ""
    return ""


def _contradictions(group: list[tuple[str, SheetLine]]) -> frozenset[str]:
    """The ids to which two lines give different marks; blank ones give none."""
    said: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for _, line in group:
        if not line.is_blank:
            said[line.answer_id].add((line.points, line.comment))
    return frozenset(id_ for id_, marks in said.items() if len(marks) > 1)


def _mark(line: SheetLine, answer: WrittenAnswer, most: float) -> ManualMark | None:
    """What the line changes; None where it changes nothing."""
    found = read_points(line.points, most) if line.points else None
    assert not isinstance(found, str)
    points = None if found == answer.points else found
    comment = line.comment if line.comment not in ("", answer.comment.strip()) else None
    return None if points is None and comment is None else ManualMark(points, comment)


def _replaced(line: SheetLine, answer: WrittenAnswer, mark: ManualMark) -> Iterator[str]:
    if mark.points is not None and answer.points is not None:
        before, after = written_points(answer.points), written_points(mark.points)
        yield f"{line.answer_id}: {before} points became {after}"
    if mark.comment is not None and answer.comment:
        yield f"{line.answer_id}: the comment was replaced"


def _refuse(where: str, line: SheetLine, reason: str) -> RefusedLine:
    return RefusedLine(where, line.number, line.answer_id, reason)


def _unknown_question(name: tuple[str, str]) -> str:
    return f"there is no question '{name[1]}' in words in the lesson '{name[0]}'"


def _summary(marked: Marked) -> Iterator[str]:
    for one in marked.taken:
        counts = f"{one.entered} entered, {one.unchanged} unchanged, {one.blank} left empty"
        yield f"{one.lesson} {one.question}: {counts}"
        yield from (f"  {line}" for line in one.replaced)
    if marked.refused:
        yield f"refused ({len(marked.refused)}):"
    for left in marked.refused:
        yield f"  {left.sheet}, line {left.line}, {left.answer_id or 'no id'}: {left.reason}"
    if not (marked.taken or marked.refused):
        yield "The sheets hold no line."
