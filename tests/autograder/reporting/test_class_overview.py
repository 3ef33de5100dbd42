"""The class over several lessons: no hard lesson flags anybody, nobody who needs you is lost."""

from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest

from autograder.lessons.model import Lesson
from autograder.records.model import UNJUDGED, Status
from autograder.reporting.class_overview import (
    ClassOverview,
    LearnerOverview,
    class_overview,
    percent,
    sparkline,
    trend_of,
)
from autograder.reporting.pages.html import inline_script
from autograder.reporting.report import MOST_CELLS, LessonView, lesson_view, page_of
from tests.autograder.reporting.overview import graded, row, three_lessons


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> tuple[Lesson, ...]:
    return three_lessons(tmp_path_factory.mktemp("course"))


def views(lessons: tuple[Lesson, ...], **people: tuple[float | None, ...]) -> list[LessonView]:
    return [lesson_view(one, tuple(rows), {}) for one, rows in graded(lessons, **people)]


def learner(overview: ClassOverview, name: str) -> LearnerOverview:
    return next(one for one in overview.learners if one.student == name)


def reasons(overview: ClassOverview, name: str) -> list[tuple[str, list[int]]]:
    """Why somebody needs you, with the numbers of the lessons."""
    return [
        (why.text, [lesson.number for lesson in why.lessons])
        for why in learner(overview, name).reasons
    ]


def text_of(page: str) -> str:
    """What a reader sees of a page, on one line."""
    bare = re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.S)
    return " ".join(html.unescape(bare).split())


# Trends.


def test_a_trend_is_the_last_lesson_against_the_mean_of_the_earlier_ones() -> None:
    found = trend_of([0.9, 0.7, 0.5], [0.8, 0.8, 0.8])
    assert found is not None
    assert found.change == pytest.approx(-0.3)
    assert found.word == "falling"


def test_a_lesson_that_is_hard_for_everybody_makes_nobody_fall() -> None:
    found = trend_of([0.9, 0.9, 0.4], [0.8, 0.8, 0.3])
    assert found is not None
    assert found.change == pytest.approx(0.0)
    assert found.word == "steady"


@pytest.mark.parametrize("shares", [[], [0.9], [0.9, 0.1], [0.9, None, 0.1], [None] * 5])
def test_fewer_than_three_judged_lessons_are_no_trend(shares: list[float | None]) -> None:
    assert trend_of(shares, [0.5] * len(shares)) is None


def test_lessons_that_were_not_judged_are_left_out_of_a_trend() -> None:
    with_gap = trend_of([0.5, None, 0.5, 0.9], [0.5, 0.1, 0.5, 0.5])
    assert with_gap == trend_of([0.5, 0.5, 0.9], [0.5, 0.5, 0.5])
    assert with_gap is not None
    assert with_gap.word == "rising"


def test_a_line_has_a_gap_where_nothing_was_judged() -> None:
    assert sparkline([1.0, 1.0, None, 0.0, 0.0]).count("M") == 2
    assert sparkline([None, None]) == ""


def test_what_is_below_half_is_never_written_as_half() -> None:
    assert [percent(one) for one in (0.4999, 0.5, 0.994, 1.0)] == [49, 50, 99, 100]


# Who needs you.


def test_who_is_fine_does_not_need_you(lessons: tuple[Lesson, ...]) -> None:
    found = class_overview(graded(lessons, ada=(6, 5, 6), bob=(5, 6, 5)))
    assert found.needing_you == ()
    assert found.means == pytest.approx((11 / 12,) * 3)
    assert found.mean == pytest.approx(11 / 12)


def test_absence_names_the_lessons(lessons: tuple[Lesson, ...]) -> None:
    found = class_overview(graded(lessons, ada=(6, None, None), zoe=(None, None, None)))
    assert reasons(found, "ada") == [("nothing handed in", [4, 9])]
    assert reasons(found, "zoe") == [("never handed anything in", [])]
    assert learner(found, "zoe").mean is None


def test_who_is_unknown_in_a_lesson_handed_nothing_in_there(lessons: tuple[Lesson, ...]) -> None:
    (one, rows), *rest = graded(lessons, ada=(6, 6, 6), eve=(6, 6, 6))
    found = class_overview([(one, rows[:1]), *rest])
    assert reasons(found, "eve") == [("nothing handed in", [1])]


def test_a_low_mean_and_a_low_last_lesson(lessons: tuple[Lesson, ...]) -> None:
    found = class_overview(graded(lessons, ada=(2, 3, 2), bob=(6, 5, 2.9), cleo=(2, 6, 3)))
    assert reasons(found, "ada") == [("mean 39 %", [])]
    assert reasons(found, "bob")[0] == ("below 50 %", [9])
    assert reasons(found, "cleo") == []


def test_a_falling_trend_is_told_with_its_size(lessons: tuple[Lesson, ...]) -> None:
    people = {f"other{n}": (5.0, 5.0, 5.0) for n in range(9)}
    found = class_overview(graded(lessons, ada=(6, 6, 4), **people))
    assert reasons(found, "ada") == [("falling trend (\N{MINUS SIGN}30)", [])]


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (Status.TAMPERED, "tampered"),
        (Status.CRASHED, "crashed"),
        (Status.TIMEOUT, "too slow"),
        (Status.OUT_OF_MEMORY, "out of memory"),
        (Status.MALFORMED, "unreadable"),
        (Status.MISSING, "no notebook"),
        (Status.INFRASTRUCTURE, "grader failed"),
    ],
)
def test_a_submission_to_look_into_is_told_in_a_word(
    lessons: tuple[Lesson, ...], status: Status, word: str
) -> None:
    lost = row("ada", 0 if status in UNJUDGED else 5, status)
    found = class_overview(graded(lessons, ada=(6, lost, 6), bob=(6, 6, 6)))
    assert reasons(found, "ada") == [(word, [4])]
    assert (learner(found, "ada").cells[1].share is None) == (status in UNJUDGED)


def test_a_stale_grade_and_one_that_waits_are_told(lessons: tuple[Lesson, ...]) -> None:
    stale = replace(row("ada", 6), newer=True)
    waits = replace(row("bob", None), waits=True)
    found = class_overview(graded(lessons, ada=(6, stale, 6), bob=(6, 6, waits)))
    assert reasons(found, "ada") == [("stale", [4])]
    assert reasons(found, "bob") == [("not graded", [9])]


def test_submissions_come_first_and_who_never_began_comes_last(
    lessons: tuple[Lesson, ...],
) -> None:
    found = class_overview(
        graded(
            lessons,
            abe=(None, None, None),
            bob=(2, 2, 2),
            cleo=(1, 1, 1),
            dan=(6, None, 6),
            eve=(6, 6, row("eve", 0, Status.TAMPERED)),
        )
    )
    assert [one.student for one in found.needing_you] == ["eve", "dan", "cleo", "bob", "abe"]


# The page.


def test_the_page_begins_with_the_class(lessons: tuple[Lesson, ...]) -> None:
    found = text_of(
        page_of("spring", views(lessons, ada=(6, 5, 2), bob=(6, 6, 6), zoe=(6, 6, None)))
    )
    assert found.startswith("Class report · spring Class report spring Class 01 04 09 The class")
    assert "3 learners 3 lessons 90 % mean 2 learners need you 0 submissions to look into" in found
    assert "Who needs you Zoe zoe nothing handed in: 09 Ada ada below 50 %: 09 falling" in found
    assert "Bob 100 % +31 rising 6 6 6" in found
    assert "⚑ Zoe 100 % 6 6 absent" in found
    assert "class mean 90 % 100 % 94 % 67 %" in found


def test_the_titles_of_lessons_are_tooltips_of_their_numbers(lessons: tuple[Lesson, ...]) -> None:
    page = page_of("spring", views(lessons, ada=(6, 5, 2)))
    start = page[: page.index('<section class="lesson"')]
    for one in lessons:
        assert f'<a href="#{one.slug}" title="{html.escape(one.title)}">0{one.number}</a>' in start
        assert f'id="{one.slug}"' in page
        assert one.title not in text_of(start)


def test_points_lead_to_the_feedback_page(lessons: tuple[Lesson, ...]) -> None:
    links = {("ada", "04-lesson"): "../feedback/ada/04-lesson/04-lesson.html"}
    page = page_of("spring", views(lessons, ada=(6, 5, 2)), links)
    assert '<a href="../feedback/ada/04-lesson/04-lesson.html">5</a>' in page
    assert "Points lead to the learner's feedback page" in text_of(page)
    bare = text_of(page_of("spring", views(lessons, ada=(6, 5, 2))))
    assert "Run autograder feedback , then autograder report again" in bare


def test_two_lessons_have_no_trend_and_say_nothing_of_it(lessons: tuple[Lesson, ...]) -> None:
    found = text_of(page_of("spring", views(lessons[:2], ada=(6, 5))))
    assert "Learner by lesson" in found
    assert "trend" not in found.lower()


def test_one_lesson_has_no_table_of_lessons_and_no_script(lessons: tuple[Lesson, ...]) -> None:
    page = page_of("spring", views(lessons[:1], ada=(6,)))
    assert "Learner by lesson" not in page
    assert "<script" not in page
    assert "script-src" not in page


def test_names_are_escaped_wherever_they_stand(lessons: tuple[Lesson, ...]) -> None:
    name = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
    links = {(name, "01-lesson"): 'x"><b>'}
    page = page_of("spring", views(lessons, **{name: (6.0, None, 1.0)}), links)
    assert "<img" not in page
    assert 'href="x"' not in page
    assert page.count("<script>") == 1
    assert "<red>" not in page


def test_the_policy_allows_our_own_script_and_no_other(lessons: tuple[Lesson, ...]) -> None:
    page = page_of("spring", views(lessons, ada=(6, 5, 2)))
    script = inline_script("sortable.js")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert html.unescape(policy[1]).endswith(f"; script-src {script.source}")
    assert f"<script>{script.text}</script>" in page
    assert not re.search(r"(src|href)=\"(https?:)?//|<link", page)


def test_a_very_large_class_is_folded_and_leaves_exercises_to_the_tables(
    lessons: tuple[Lesson, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.reporting.report.TABLE_ROWS", 2)
    monkeypatch.setattr("autograder.reporting.report.MOST_CELLS", 17)
    people = dict.fromkeys(("ada", "bob", "cleo"), (6.0, 6.0, 6.0))
    page = page_of("spring", views(lessons, **people))
    assert "<summary>Cleo to Cleo</summary>" in page
    assert '<a href="04-lesson.csv">' in page
    assert MOST_CELLS >= 17 * 400 * 10
