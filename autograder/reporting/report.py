"""`autograder report`: one self-contained page about a class, readable on a phone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from autograder.console import Progress, json_text, points, say
from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import UsageError
from autograder.lessons.model import Exercise, Lesson
from autograder.records.journal import write_bytes
from autograder.records.model import Status
from autograder.reporting.class_overview import (
    ClassOverview,
    class_overview,
    percent,
    signed,
    sparkline,
)
from autograder.reporting.class_results import NOT_HANDED_IN, LearnerResult, cautions, class_results
from autograder.reporting.export_csv import grades_csv
from autograder.reporting.feedback import page_path
from autograder.reporting.misconceptions import Explanation, explanations
from autograder.reporting.pages.html import inline_script, render
from autograder.reporting.statistics import (
    BeliefMeasure,
    ExerciseMeasure,
    SectionMeasure,
    belief_measures,
    exercise_measures,
    histogram,
    judged,
    middle,
    section_measures,
    share,
)
from autograder.reporting.status_texts import SHORT_WORDS, STATUS_WORDS

MOST_CELLS = 100_000  # of all heat maps together; with more a browser takes seconds to open a page
TABLE_ROWS = (
    400  # in the table of the class; further learners are folded, so that a page opens fast
)


@dataclass(frozen=True)
class Bar:
    """One bar of the distribution, in the units of its drawing."""

    x: float
    y: float
    width: float
    height: float
    count: int
    label: str


@dataclass(frozen=True)
class HeatCell:
    """One cell of the heat map: its step 0 to 4, None where nothing was judged, and its words.

    `title` says more where the text is a sign or a word; next to bare points it is empty.
    """

    step: int | None
    text: str
    title: str


@dataclass(frozen=True)
class LessonView:
    """One lesson as the report shows it."""

    lesson: Lesson
    rows: tuple[LearnerResult, ...]
    handed_in: int
    centre: tuple[float, float] | None
    bars: tuple[Bar, ...]
    measures: tuple[ExerciseMeasure, ...]
    beliefs: tuple[BeliefMeasure, ...]
    sections: tuple[SectionMeasure, ...]
    heat: tuple[tuple[LearnerResult, tuple[HeatCell, ...]], ...]

    @property
    def to_look_at(self) -> tuple[LearnerResult, ...]:
        """The submissions that a person has to look into."""
        return tuple(row for row in self.rows if row.reasons)

    @property
    def unread(self) -> tuple[tuple[str, int], ...]:
        """Each question in words with the number of its answers that wait for a person."""
        asked = [name for row in self.rows for name in row.unread]
        names = [one.name for one in self.lesson.exercises if one.name in asked]
        return tuple((name, asked.count(name)) for name in names)

    @property
    def late(self) -> tuple[LearnerResult, ...]:
        """The submissions that came after the due date, the latest first."""
        found = [row for row in self.rows if row.entry and row.entry.seconds_late > 0]
        return tuple(sorted(found, key=lambda row: -row.entry.seconds_late))  # type: ignore[union-attr]

    @property
    def absent(self) -> tuple[LearnerResult, ...]:
        """Those who handed nothing in."""
        return tuple(row for row in self.rows if row.status == NOT_HANDED_IN)

    @property
    def unexplained(self) -> tuple[LearnerResult, ...]:
        """Those whose points the gradebook alone knows; they have no checks."""
        return tuple(row for row in self.rows if not row.explained)


def run(
    course: Path,
    lessons: tuple[Lesson, ...],
    *,
    out: Path | None = None,
    db: str | None = None,
    as_json: bool = False,
) -> int:
    """Write the report and a CSV a lesson into the directory `out`, report/ in the course.

    Prints their paths, or with `as_json` the numbers too.

    Raises:
        UsageError: Nothing was graded of `lessons`.
        GradebookError: The database refuses; `NoGradebook` where there is none.
    """
    directory = load_course(course, db=db)
    views = []
    with Progress(sys.stderr, "report") as progress:
        progress.expect(len(lessons))
        for lesson in lessons:
            views += [view for view in [view_of(directory, lesson)] if view.heat]
            progress.step(lesson.slug)
    if not views:
        raise UsageError(
            f"nothing was graded of {', '.join(one.slug for one in lessons)}",
            place=str(course),
            remedy="Run `autograder grade` first.",
        )
    target = (out or directory.report) / "index.html"
    page = page_of(directory.root.name, views, _feedback_links(directory, views, target.parent))
    write_bytes(target, page.encode("utf-8", "replace"))
    tables = []
    for view in views:
        tables.append(target.parent / f"{view.lesson.slug}.csv")
        write_bytes(tables[-1], grades_csv(view.lesson, view.rows).encode("utf-8", "replace"))
    if as_json:
        about = {
            "report": str(target),
            "tables": list(map(str, tables)),
            "lessons": [_numbers(view) for view in views],
            "learners": _standings(_overview(views)),
        }
        say(json_text(about))
    else:
        say("\n".join(map(str, [target, *tables])))
    for line in (line for view in views for line in cautions(view.lesson, view.rows)):
        say(line, file=sys.stderr)
    return 0


def view_of(course: CourseDirectory, lesson: Lesson) -> LessonView:
    """Everything the report says of one lesson."""
    return lesson_view(lesson, class_results(course, lesson), explanations(course.root, lesson))


def lesson_view(
    lesson: Lesson, rows: tuple[LearnerResult, ...], known: Mapping[str, Explanation]
) -> LessonView:
    """Everything that `rows`, a class in one lesson, say of it.

    Args:
        lesson: The lesson.
        rows: The class, in the order of its list.
        known: The lesson's misconceptions by id.
    """
    records = [record for row in rows if (record := row.counted) is not None]
    shares = [share(one) for one in judged(records)]
    beliefs = belief_measures(records, known)
    ordered = sorted(rows, key=lambda row: (-(row.score or 0.0), row.last_name, row.student))
    return LessonView(
        lesson=lesson,
        rows=rows,
        handed_in=sum(row.status != NOT_HANDED_IN for row in rows),
        centre=middle(shares),
        bars=bars(histogram(shares)),
        measures=exercise_measures(lesson, records),
        beliefs=beliefs,
        sections=section_measures(beliefs),
        heat=tuple(
            (row, tuple(_heat(row, one) for one in lesson.exercises))
            for row in ordered
            if row.record is not None
        ),
    )


def page_of(
    name: str,
    views: Sequence[LessonView],
    links: Mapping[tuple[str, str], str] | None = None,
) -> str:
    """The report of a class.

    Args:
        name: Of the class; it becomes the heading.
        views: The lessons in the order in which they were taught. Where there are several, the page
            begins with the class over all of them.
        links: (student, lesson's slug) → the address of that feedback page; None of none.
    """
    several = len(views) > 1
    cells = sum(len(view.heat) * len(view.measures) for view in views)
    return render(
        "report.html.j2",
        name=name,
        views=views,
        overview=_overview(views) if several else None,
        links=links or {},
        with_heat=not several or cells <= MOST_CELLS,
        script=inline_script("sortable.js") if several else None,
        percent=percent,
        signed=signed,
        step_of=step_of,
        TABLE_ROWS=TABLE_ROWS,
        sparkline=sparkline,
    )


def _overview(views: Sequence[LessonView]) -> ClassOverview:
    return class_overview([(view.lesson, view.rows) for view in views])


def _feedback_links(
    course: CourseDirectory, views: Sequence[LessonView], folder: Path
) -> dict[tuple[str, str], str]:
    """(student, lesson's slug) → the feedback page as seen from `folder`, where there is one."""
    pages = {
        (row.student, view.lesson.slug): page_path(course, row.student, view.lesson)
        for view in views
        for row in view.rows
    }
    return {
        key: quote(Path(os.path.relpath(page, folder.resolve())).as_posix())
        for key, page in pages.items()
        if page.is_file()
    }


def _standings(overview: ClassOverview) -> list[dict[str, object]]:
    return [
        {
            "student": one.student,
            "mean": one.mean,
            "trend": one.trend.change if one.trend else None,
            "needs_you": [
                {"reason": why.text, "lessons": [lesson.slug for lesson in why.lessons]}
                for why in one.reasons
            ],
        }
        for one in overview.learners
    ]


def _numbers(view: LessonView) -> dict[str, object]:
    mean, median = view.centre or (None, None)
    return {
        "lesson": view.lesson.slug,
        "handed_in": view.handed_in,
        "mean": mean,
        "median": median,
        "need_a_person": [row.student for row in view.to_look_at],
        "to_read": dict(view.unread),
        "from_gradebook_alone": [row.student for row in view.unexplained],
        "exercises": [
            {"id": one.exercise.name, "mean": one.ease, "discrimination": one.discrimination}
            for one in view.measures
        ],
        "misconceptions": [
            {"id": one.explanation.id, "learners": len(one.learners)} for one in view.beliefs
        ],
    }


def bars(counts: Sequence[int], width: float = 640, height: float = 160) -> tuple[Bar, ...]:
    """The bars of a histogram in a drawing of that size, labelled in percent."""
    most, step = max([1, *counts]), width / len(counts)
    edge = 100 / len(counts)
    return tuple(
        Bar(
            x=i * step + 2,
            y=height * (1 - count / most),
            width=step - 4,
            height=height * count / most,
            count=count,
            label=f"{i * edge:.0f}–{(i + 1) * edge:.0f} %",
        )
        for i, count in enumerate(counts)
    )


def _heat(row: LearnerResult, exercise: Exercise) -> HeatCell:
    mine = row.record.exercise(exercise.name) if row.record else None
    got = row.points_of(exercise.name, exercise.test_id)
    if mine is None:
        return HeatCell(None, "", f"{exercise.name}: no record")
    if got is None:
        word = "by hand" if mine.status is Status.GRADED else STATUS_WORDS[mine.status]
        short = "by hand" if mine.status is Status.GRADED else SHORT_WORDS[mine.status]
        return HeatCell(None, short, f"{row.name}, {exercise.name}: {word}")
    if not mine.attempted:
        return HeatCell(0, "–", f"{row.name}, {exercise.name}: not attempted")
    part = got / mine.max if mine.max else 0.0
    return HeatCell(step_of(part), points(got), "")


def step_of(part: float) -> int:
    """The shade of a share: 0 none, 1 under half, 2 half, 3 most, 4 all points.

    >>> [step_of(part) for part in (0.0, 0.2, 0.5, 0.75, 1.0)]
    [0, 1, 2, 3, 4]
    """
    return sum(part > edge for edge in (0, 0.4999, 0.7499, 0.9999))
