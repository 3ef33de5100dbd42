"""`autograder feedback`: the page a learner gets, made from the record and nothing else that runs.

Of hidden tests a page shows the name of the check and its message, never source, input or value.
Where learner code ran beside them, what it said is left out as soon as it quotes one (`WITHHELD`).
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from markupsafe import Markup
from msgspec.structs import replace

from autograder.console import Progress, json_text, say
from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import UnknownStudent, did_you_mean
from autograder.lessons.cells import RawCell
from autograder.lessons.model import Exercise, Lesson
from autograder.lessons.regions import HIDDEN, USUAL_MARKS, Marks, RegionError, split_regions
from autograder.nbgrader_bridge.gradebook_entry import GradebookEntry
from autograder.records.journal import write_bytes
from autograder.records.model import CheckRecord, ExerciseRecord, SubmissionRecord
from autograder.reporting.class_results import LearnerResult, cautions, class_results
from autograder.reporting.learners_work import Picture, executed, pictures_of
from autograder.reporting.misconceptions import (
    Explanation,
    explain,
    explanations,
    ranked,
    revealing_checks,
    section_cells,
)
from autograder.reporting.pages.html import markdown, plain, render
from autograder.reporting.pages.layout_figure import picture_of
from autograder.reporting.quotations import LONG_NUMBER, Secrets
from autograder.reporting.slips import repeated_slips
from autograder.reporting.status_texts import TO_LEARNER, counts, is_unread, state_of

# In the place of all that was said: a mark in the place of a line would tell which guess was right.
WITHHELD = "[Something on this page quotes a hidden test, so what your code said is left out.]"
# Of all pictures on one page: a notebook may bring 32 MB of them, and an assignment has several.
_PICTURE_CHARS = 48 * 2**20
_TABLE = "Check"  # by what a test cell makes a table of checks
# What IPython and its kernel call a cell says nothing to the one who wrote it.
_NAMED_LINE = re.compile(r"\((?:<ipython-input-[^>]*>|\d+\.py), line (\d+)\)")


@dataclass(frozen=True)
class CheckView:
    """A check as the page shows it; `repeats` is set where the reason stands just above."""

    record: CheckRecord
    repeats: bool
    picture: Markup | None


@dataclass(frozen=True)
class ExerciseView:
    """An exercise as the page shows it."""

    record: ExerciseRecord
    exercise: Exercise
    asked: tuple[str, ...]
    task: Markup
    state: str
    code: str
    pictures: tuple[Picture, ...]
    error: str
    withheld: str
    checks: tuple[CheckView, ...]
    beliefs: tuple[Explanation, ...]
    score: float
    by_hand: bool
    comment: str


@dataclass(frozen=True)
class SectionView:
    """A section of the lesson to read again."""

    anchor: str
    heading: str
    parts: tuple[tuple[str, Markup | str], ...]  # ("text", HTML) or ("code", source)


def run(
    course: Path,
    lessons: tuple[Lesson, ...],
    *,
    student: str | None = None,
    db: str | None = None,
    as_json: bool = False,
) -> int:
    """Write the pages of everyone who was graded, and print their paths.

    Args:
        course: The course directory.
        lessons: Whose pages.
        student: Only theirs; None for everybody's.
        db: The gradebook's address, where it is not the configured one.
        as_json: Print all paths as JSON instead of counts.

    Returns:
        0, or 1 where somebody gets no page: the gradebook does not hold their grade as it is.

    Raises:
        UnknownStudent: Nobody, or not this student, has a grade.
        GradebookError: The database refuses.
    """
    directory = load_course(course, db=db)
    results = [(lesson, graded_rows(directory, lesson, student)) for lesson in lessons]
    if not any(rows for _, rows in results):
        raise nobody(directory, lessons, student)
    written = {}
    with Progress(sys.stderr, "feedback") as progress:
        progress.expect(sum(len(_settled(rows)) for _, rows in results))
        for lesson, rows in results:
            written[lesson.slug] = _write(directory, lesson, _settled(rows), progress)
    pages = [page for paths in written.values() for page in paths]
    if as_json:
        say(json_text([{"page": str(page)} for page in pages]))
    else:
        for slug, paths in written.items():
            say(f"{slug}: {len(paths)} pages")
        for page in pages[:1]:
            say(f"the first one: {page}")
    for line in (line for lesson, rows in results for line in cautions(lesson, rows)):
        say(line, file=sys.stderr)
    return 0 if len(pages) == sum(len(rows) for _, rows in results) else 1


def write_pages(course: CourseDirectory, lesson: Lesson, student: str | None = None) -> list[Path]:
    """Write the pages of `lesson`, of one student or of all; their paths.

    Args:
        course: The course directory, whose gradebook is read.
        lesson: Whose pages.
        student: Only theirs; None for everybody's.

    Raises:
        GradebookError: The database refuses; `NoGradebook` where there is none.
        JournalError: A page cannot be written.
        LessonError: The lesson's claims file cannot be read.
    """
    return _write(course, lesson, _settled(graded_rows(course, lesson, student)))


def graded_rows(
    course: CourseDirectory, lesson: Lesson, student: str | None = None
) -> list[LearnerResult]:
    """Those who have a grade in `lesson`, or the one of them who is asked for, by student."""
    rows = (row for row in class_results(course, lesson) if row.record is not None)
    return sorted((row for row in rows if student in (None, row.student)), key=lambda r: r.student)


def _settled(rows: Iterable[LearnerResult]) -> list[LearnerResult]:
    """Those whose points the next `grade` does not change by itself; no learner is told others."""
    return [row for row in rows if not row.unentered]


def _write(
    course: CourseDirectory,
    lesson: Lesson,
    rows: Iterable[LearnerResult],
    progress: Progress | None = None,
) -> list[Path]:
    known = explanations(course.root, lesson)
    paths = []
    for row in rows:
        assert row.record is not None
        cells = executed(course, lesson, row.record)
        page = page_of(row.record, lesson, known, cells, row.entry, stale=row.newer)
        path = page_path(course, row.student, lesson)
        write_bytes(path, page.encode("utf-8", "replace"))
        for part in lesson.notebooks[1:]:  # nbgrader's exchange hands out a page a notebook
            elsewhere = render(
                "elsewhere.html.j2", lesson=lesson, record=row.record, page=path.name
            )
            write_bytes(path.with_name(f"{part.notebook}.html"), elsewhere.encode())
        paths.append(path)
        if progress is not None:
            progress.step(f"{row.student} {lesson.slug}")
    return paths


def page_path(course: CourseDirectory, student: str, lesson: Lesson) -> Path:
    """Where the page of `student` is; it is named as the notebook, of several as the first."""
    return course.feedback(student, lesson.slug) / f"{lesson.notebook}.html"


def page_of(
    record: SubmissionRecord,
    lesson: Lesson,
    known: Mapping[str, Explanation],
    cells: Mapping[str, RawCell],
    entry: GradebookEntry | None = None,
    *,
    stale: bool = False,
) -> str:
    """The page of one submission; `cells` are the executed ones by their grade id."""
    found = [(one, mine) for one in lesson.exercises if (mine := record.exercise(one.name))]
    beside = [one for one, mine in found if not ran_apart(record, mine)]
    graded = {id_: str(cell.get("source", "")) for id_, cell in cells.items()}
    hidden = hidden_in_tests(*beside, graded=graded, marks=lesson.marks)
    own = [_error_of(cells.get(one.answer_id, {})) for one, _ in found]
    said = [*own, *(text for _, mine in found for text in _said(mine))]
    # Where no test makes a table, what stands in one is the learner's; ours are full of numbers.
    own += [text for one, mine in found if _TABLE not in one.test_source for text in _said(mine)]
    # On the whole page: where only the quotation is missing, of many guesses the right one is seen.
    quoted = hidden.are_quoted("\n".join(said), LONG_NUMBER) or hidden.are_quoted("\n".join(own))
    views, left = [], _PICTURE_CHARS
    for one, mine in found:
        view = _exercise_view(one, mine, known, cells, entry, quoted)
        pictures = []
        for picture in view.pictures:
            left -= len(picture.address)
            pictures.append(picture if left >= 0 else Picture(picture.name, ""))
        views.append(dataclasses.replace(view, pictures=tuple(pictures)))
    beliefs = ranked(check for view in views for check in revealing_checks(view.record))
    sections = {b.section: b.heading for v in views for b in v.beliefs if b.heading}
    penalty = entry.penalty if entry else 0.0
    return render(
        "feedback.html.j2",
        record=record,
        lesson=lesson,
        views=views,
        score=max(0.0, sum(view.score for view in views) - penalty),
        judged=counts(record) or any(view.by_hand for view in views),
        unread=sum(one.record.max for one in views if is_unread(one.record) and not one.by_hand),
        penalty=penalty,
        late=entry.seconds_late if entry else 0.0,
        stale=stale,
        status_text=TO_LEARNER[record.status],
        beliefs=[explain(id_, known) for id_ in beliefs],
        slips=repeated_slips(view.record for view in views),
        titles={view.exercise.name: view.exercise.title for view in views},
        sections=_section_views(lesson, sections),
    )


def ran_apart(record: SubmissionRecord, exercise: ExerciseRecord) -> bool:
    """Whether the hidden tests of an exercise never were where the learner's code ran.

    A line of theirs that this code said is a guess then, and must not be confirmed.
    """
    return record.runner == "engine" and record.sandboxed and exercise.isolated


def hidden_in_tests(
    *exercises: Exercise,
    graded: Mapping[str, str] = MappingProxyType({}),
    marks: Marks = USUAL_MARKS,
) -> Secrets:
    """What nobody may read of the exercises' hidden tests.

    Args:
        exercises: Whose tests.
        graded: The test cells by their ids as they were when they ran; the source may have been
            written anew since.
        marks: The course's, of hidden tests.
    """
    inside, shown = [], []
    for one in exercises:
        hidden, outside = _parts_of_test(one, graded.get(one.test_id, one.test_source), marks)
        inside += hidden
        shown += [*outside, one.task, one.stub, *one.hints]
    return Secrets.of(inside, "\n".join(shown))


def _parts_of_test(exercise: Exercise, graded: str, marks: Marks) -> tuple[list[str], list[str]]:
    """The lines of a test cell that are hidden, and those that are not, of now and of then."""
    hidden, shown = _split(graded, marks)
    if exercise.given is None:
        inside, outside = _split(exercise.test_source, marks)
    else:
        outside = exercise.given.tests.split("\n")
        inside = [line for line in exercise.test_source.split("\n") if line not in outside]
    return inside + hidden, outside + shown


def _split(test: str, marks: Marks) -> tuple[list[str], list[str]]:
    try:
        shown, hidden = split_regions(test, HIDDEN, marks)
    except RegionError:
        return test.split("\n"), []
    return hidden, shown


def _exercise_view(
    exercise: Exercise,
    record: ExerciseRecord,
    known: Mapping[str, Explanation],
    cells: Mapping[str, RawCell],
    entry: GradebookEntry | None,
    quoted: bool,
) -> ExerciseView:
    cell = cells.get(exercise.answer_id, {})
    code, error = _code(exercise, cell), _error_of(cell)
    withheld = WITHHELD if quoted and (error or _said(record)) else ""
    if withheld:
        record, error = replace(record, checks=(), notes=()), ""
    by_hand = entry is not None and exercise.test_id in entry.manual
    score = entry.points[exercise.test_id] if entry and by_hand else record.score
    return ExerciseView(
        record=record,
        exercise=exercise,
        asked=exercise.asked_visibly,
        task=markdown(exercise.task),
        state="broken" if code and state_of(record) == "open" else state_of(record),
        code=code,
        pictures=pictures_of(cell) if exercise.manual else (),
        error=error,
        withheld=withheld,
        checks=_check_views(record),
        beliefs=tuple(explain(id_, known) for id_ in ranked(revealing_checks(record))),
        score=score,
        by_hand=by_hand,
        comment=entry.comments.get(exercise.answer_id, "") if entry else "",
    )


def _said(record: ExerciseRecord) -> list[str]:
    """All that a record says in words; code that ran beside its test may have made them up."""
    found = [*record.notes]
    for one in record.checks:
        words = (one.name, one.message, one.actual, one.expected, one.call, one.misconception)
        found += filter(None, words)
    return [plain(text) for text in found]


def _check_views(record: ExerciseRecord) -> tuple[CheckView, ...]:
    views, shown = [], set()
    for check in record.checks:
        open_ = check.attempted and not check.passed and check.reached
        repeats = open_ and bool(check.message) and check.message in shown
        if check.reached:
            shown.add(check.message)
        picture = picture_of(check) if open_ and not check.hidden and not repeats else None
        views.append(CheckView(_without_values(check), repeats, picture))
    return tuple(views)


def _without_values(check: CheckRecord) -> CheckRecord:
    """The check as it may be shown: a hidden one without values, whoever made the record."""
    values = (check.actual, check.expected, check.call)
    actual, expected, call = (
        None if check.hidden or text is None else plain(text) for text in values
    )
    return CheckRecord(
        name=plain(check.name),
        passed=check.passed,
        attempted=check.attempted,
        hidden=check.hidden,
        misconception=check.misconception,
        message=plain(check.message),
        actual=actual,
        expected=expected,
        weight=check.weight,
        reached=check.reached,
        call=call,
    )


def _code(exercise: Exercise, cell: RawCell) -> str:
    """What the learner wrote; nothing where the cell is still the stub."""
    source = str(cell.get("source", ""))
    return "" if source.strip() == exercise.stub.strip() else plain(source)


def _error_of(cell: RawCell) -> str:
    """How the answer's own cell ended where it raised, in one line."""
    outputs = cell.get("outputs", [])
    errors = [one for one in outputs if one.get("output_type") == "error"]
    if not errors:
        return ""
    text = plain(f"{errors[0].get('ename', 'Error')}: {errors[0].get('evalue', '')}")
    return _NAMED_LINE.sub(r"(line \1)", text)


def _section_views(lesson: Lesson, wanted: Mapping[str, str]) -> list[SectionView]:
    found = section_cells(lesson, wanted)
    return [
        SectionView(anchor, lesson.sections[anchor], tuple(map(_part, found[anchor])))
        for anchor in lesson.sections
        if anchor in found
    ]


def _part(cell: RawCell) -> tuple[str, Markup | str]:
    if cell["cell_type"] == "markdown":
        return "text", markdown(cell["source"])
    return "code", cell["source"]


def nobody(
    course: CourseDirectory, lessons: tuple[Lesson, ...], student: str | None
) -> UnknownStudent:
    """The error that says that nobody, or not this student, was graded."""
    known = sorted({row.student for lesson in lessons for row in graded_rows(course, lesson)})
    who = f"student '{student}' has" if student else "nobody has"
    return UnknownStudent(
        f"{who} a grade in {', '.join(one.slug for one in lessons)}."
        + did_you_mean(student or "", known),
        remedy=f"Graded are: {', '.join(known)}." if known else "Run `autograder grade` first.",
    )
