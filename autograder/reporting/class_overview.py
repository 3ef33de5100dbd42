"""A class over several lessons: everybody's points, where somebody is heading, who needs you.

Shares are those of the rest of the report: questions in words and late penalties are left out, so
that neither an unread answer nor a late one looks like something not understood.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from autograder.lessons.model import Lesson
from autograder.records.model import UNJUDGED, Status
from autograder.reporting.class_results import NOT_HANDED_IN, WAITING, LearnerResult
from autograder.reporting.statistics import share
from autograder.reporting.status_texts import SHORT_WORDS

LOW = 0.5  # a mean, or a last lesson, below this share needs you
FEWEST_LESSONS = 3  # with fewer judged lessons there is no trend
TURN = 0.2  # a smaller change of one lesson against the others is chance as likely as not

Graded = Sequence[tuple[Lesson, Sequence[LearnerResult]]]


@dataclass(frozen=True)
class Trend:
    """How a learner's last judged lesson compares with the earlier ones, both against the class.

    `change` is (last share - class mean there) - mean of (share - class mean) over the earlier
    lessons, from -2 to 2: a lesson that is hard for everybody makes nobody fall.
    """

    change: float

    @property
    def word(self) -> str:
        """`falling`, `rising`, or `steady` where the change is smaller than `TURN`."""
        if abs(self.change) < TURN:
            return "steady"
        return "falling" if self.change < 0 else "rising"


@dataclass(frozen=True)
class Reason:
    """Why a learner needs you, in a few words, and the lessons it is about."""

    text: str
    lessons: tuple[Lesson, ...] = ()
    urgency: int = 0  # 0 comes first


@dataclass(frozen=True)
class LessonCell:
    """One learner in one lesson.

    `share` is None where nothing was judged; `word` says what became of the submission where points
    alone do not, and is empty for a graded one.
    """

    lesson: Lesson
    result: LearnerResult | None
    share: float | None
    word: str

    @property
    def most(self) -> float:
        """The points to be had."""
        record = self.result.record if self.result else None
        return record.max if record else self.lesson.points


@dataclass(frozen=True)
class LearnerOverview:
    """One learner over all lessons; `mean` is that of the judged ones, None of none."""

    student: str
    name: str
    cells: tuple[LessonCell, ...]
    mean: float | None
    trend: Trend | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class ClassOverview:
    """A class over its lessons; the means are None where nothing was judged.

    `learners` are in the order of their last names; `mean` is that of all judged submissions.
    """

    lessons: tuple[Lesson, ...]
    means: tuple[float | None, ...]
    mean: float | None
    learners: tuple[LearnerOverview, ...]

    @property
    def needing_you(self) -> tuple[LearnerOverview, ...]:
        """Those who need you: submissions to look into first, then the lowest mean."""
        found = [one for one in self.learners if one.reasons]
        return tuple(sorted(found, key=lambda one: (one.reasons[0].urgency, one.mean or 0.0)))


def class_overview(graded: Graded) -> ClassOverview:
    """The learners of all `graded` lessons together.

    Args:
        graded: Each lesson with its rows, in the order in which the lessons were taught.  Whoever
            is in the rows of one lesson and not of another handed nothing in there.
    """
    lessons = tuple(lesson for lesson, _ in graded)
    rows = [{row.student: row for row in results} for _, results in graded]
    people = {row.student: row for results in rows for row in results.values()}
    cells = {
        student: tuple(
            _cell(lesson, found.get(student)) for lesson, found in zip(lessons, rows, strict=True)
        )
        for student in people
    }
    shares = [[mine[at].share for mine in cells.values()] for at in range(len(lessons))]
    means = tuple(map(mean_of, shares))
    learners = [
        _learner(row, cells[student], means)
        for student, row in sorted(people.items(), key=lambda one: (one[1].last_name, one[0]))
    ]
    every = [value for column in shares for value in column]
    return ClassOverview(lessons, means, mean_of(every), tuple(learners))


def mean_of(shares: Sequence[float | None]) -> float | None:
    """The mean of those that are known, None of none."""
    known = [value for value in shares if value is not None]
    return fmean(known) if known else None


def trend_of(shares: Sequence[float | None], means: Sequence[float | None]) -> Trend | None:
    """The trend of one learner; None with fewer than `FEWEST_LESSONS` judged lessons.

    Args:
        shares: The learner's, 0 to 1 a lesson; None where nothing was judged.
        means: The class's, lesson by lesson.
    """
    ahead = [
        mine - mean
        for mine, mean in zip(shares, means, strict=True)
        if mine is not None and mean is not None
    ]
    if len(ahead) < FEWEST_LESSONS:
        return None
    *earlier, last = ahead
    return Trend(last - fmean(earlier))


def _cell(lesson: Lesson, row: LearnerResult | None) -> LessonCell:
    record = row.counted if row else None
    judged = record is not None and record.status not in UNJUDGED
    return LessonCell(lesson, row, share(record) if record and judged else None, _word(row))


def _word(row: LearnerResult | None) -> str:
    """What a reader has to know beside the points, in a word or two."""
    if row is None or row.status == NOT_HANDED_IN:
        return "absent"
    if row.status == WAITING:
        return "not graded"
    if row.stale:
        return "stale"
    assert row.record is not None
    if row.record.status is not Status.GRADED:
        return SHORT_WORDS[row.record.status]
    return "by hand" if row.reasons else ""


def _learner(
    row: LearnerResult, cells: tuple[LessonCell, ...], means: Sequence[float | None]
) -> LearnerOverview:
    shares = [cell.share for cell in cells]
    mean, trend = mean_of(shares), trend_of(shares, means)
    reasons = [*_to_look_into(cells), *_absences(cells), *_standing(cells, mean, trend)]
    return LearnerOverview(row.student, row.name, cells, mean, trend, tuple(reasons))


def _to_look_into(cells: Sequence[LessonCell]) -> list[Reason]:
    """The submissions that a person has to look into: each word with its lessons."""
    found: dict[str, list[Lesson]] = {}
    for cell in cells:
        if cell.result is not None and cell.result.reasons:
            found.setdefault(cell.word, []).append(cell.lesson)
    return [Reason(word, tuple(lessons), urgency=0) for word, lessons in found.items()]


def _absences(cells: Sequence[LessonCell]) -> list[Reason]:
    """The lessons without a submission; somebody who never began comes last of all."""
    missing = tuple(
        cell.lesson for cell in cells if cell.result is None or cell.result.status == NOT_HANDED_IN
    )
    if len(missing) == len(cells):
        return [Reason("never handed anything in", urgency=4)]
    return [Reason("nothing handed in", missing, urgency=1)] if missing else []


def _standing(cells: Sequence[LessonCell], mean: float | None, trend: Trend | None) -> list[Reason]:
    """What the shares say: a low mean, else a low last lesson; a falling trend."""
    found = []
    judged = [cell for cell in cells if cell.share is not None]
    if mean is not None and mean < LOW:
        found.append(Reason(f"mean {percent(mean)} %", urgency=2))
    elif judged and (last := judged[-1]).share is not None and last.share < LOW:
        found.append(Reason(f"below {percent(LOW)} %", (last.lesson,), urgency=2))
    if trend is not None and trend.word == "falling":
        found.append(Reason(f"falling trend ({signed(trend.change)})", urgency=3))
    return found


def percent(part: float) -> int:
    """A share as a whole percentage; what is below `LOW` is never rounded up to it.

    >>> percent(0.496), percent(0.746), percent(1.0)
    (49, 75, 100)
    """
    whole = round(100 * part)
    return whole - 1 if part < LOW and whole >= 100 * LOW else whole


def signed(change: float) -> str:
    """A change of a share in percentage points, with its sign.

    >>> signed(-0.268), signed(0.2), signed(0.001)
    ('\N{MINUS SIGN}27', '+20', '0')
    """
    return f"{round(100 * change):+d}".replace("-", "\N{MINUS SIGN}").replace("+0", "0")


def sparkline(
    shares: Sequence[float | None], width: float = 64, height: float = 18, margin: float = 2
) -> str:
    """The path of an SVG line through `shares`, broken where one is None.

    Args:
        shares: 0 to 1 each, drawn from the bottom to the top.
        width: Of the drawing, in its own units.
        height: Of the drawing.
        margin: What stays free on all sides.

    >>> sparkline([0.0, 1.0, None, 0.5])
    'M2 16L22 2M62 9h0'
    """
    step = (width - 2 * margin) / max(1, len(shares) - 1)
    parts, drawing = [], False
    for i, value in enumerate(shares):
        if value is not None:
            y = height - margin - min(1.0, max(0.0, value)) * (height - 2 * margin)
            parts.append(f"{'L' if drawing else 'M'}{margin + i * step:.3g} {y:.3g}")
            alone = not drawing and (i + 1 == len(shares) or shares[i + 1] is None)
            parts.append("h0" if alone else "")
        drawing = value is not None
    return "".join(parts)
