"""What holds of every lesson: it teaches what it promises, in pieces that can be read."""

from __future__ import annotations

import re

import pytest

from autograder.lessons.cells import first_heading
from autograder.lessons.lint.claims import lint_claims
from autograder.lessons.lint.form import is_project
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.lint.questions import lint_questions
from autograder.lessons.lint.thresholds import (
    ALL_LEVELS_FROM,
    CORE_MINUTES,
    PROJECT_MINUTES,
    UNIT_MINUTES,
)
from autograder.lessons.model import all_lessons
from autograder.lessons.regions import stubbed
from tests.lessons.source import ROOT, Source

SOURCES = {lesson.slug: Source(lesson.slug) for lesson in all_lessons(ROOT)}
EXERCISES = [(slug, one.name) for slug, source in SOURCES.items() for one in source.exercises]


def sources(slug: str) -> dict[str, str]:
    """The text of each cell, by its id."""
    return {id_: cell["source"] for id_, cell in SOURCES[slug].cells().items()}


every_lesson = pytest.mark.parametrize("slug", SOURCES)
every_exercise = pytest.mark.parametrize(("slug", "exercise"), EXERCISES)


@every_lesson
def test_every_lesson_keeps_to_the_form_of_the_course(slug: str) -> None:
    lesson = SOURCES[slug].lesson
    assert [
        str(found)
        for found in (
            *lint_lesson(ROOT, lesson),
            *lint_claims(ROOT, lesson),
            *lint_questions(ROOT, lesson),
        )
    ] == []


@every_lesson
def test_the_core_takes_the_minutes_that_the_plan_says(slug: str) -> None:
    texts = [cell["source"] for cell in SOURCES[slug].with_role("text")]
    units = [found for text in texts if (found := re.match(r"## (.+)\n\n\*(\d+) minutes", text))]
    said = [int(unit[2]) for unit in units if not unit[1].startswith("Deep dive")]
    plans = [text for id_, text in sources(slug).items() if id_.startswith("plan")]
    assert [int(n) for plan in plans for n in re.findall(r"\| (\d+) \|", plan)] == said
    promised = [int(n) for plan in plans for n in re.findall(r"about (\d+) minutes", plan)]
    project = is_project(SOURCES[slug].lesson.cells())
    least, most = PROJECT_MINUTES if project else CORE_MINUTES
    whole = len(SOURCES[slug].lesson.exercises) >= ALL_LEVELS_FROM  # not only just begun
    assert least * whole <= sum(said) <= min(promised, default=most) <= most
    assert project or all(UNIT_MINUTES[0] <= n <= UNIT_MINUTES[1] for n in said if whole)


@every_lesson
def test_what_is_folded_are_the_deep_dives(slug: str) -> None:
    for name in SOURCES[slug].lesson.sections.values():
        cell = next(c for c in SOURCES[slug].cells().values() if f"## {name}\n" in c["source"])
        folded = cell["metadata"].get("jp-MarkdownHeadingCollapsed", False)
        assert folded is name.startswith("Deep dive")
        assert not folded or re.search(r"\b\d+ minutes", cell["source"])


@every_lesson
def test_every_exercise_has_its_number_in_its_heading(slug: str) -> None:
    headings = [first_heading([cell], 3) for cell in SOURCES[slug].with_role("exercise")]
    numbered = [found for text in headings if (found := re.match(r"Exercise (\d+)[ :]", str(text)))]
    assert [int(one[1]) for one in numbered] == [*range(1, len(SOURCES[slug].exercises) + 1)]


@every_lesson
def test_no_words_of_a_cell_have_marks_that_it_would_show_as_they_stand(slug: str) -> None:
    """Of Markdown, warm-ups know `code` and nothing else, and the line above a table not even that.

    What a warm-up asks, and its hint, and what the hidden checks of an exercise also try.
    """
    asked = [cell["source"] for cell in SOURCES[slug].with_role("warm-up")]
    plain = [re.sub("`[^`]*`", "", line) for text in asked for line in string_lines(text)]
    assert [line for line in plain if re.search(r"(?<![\w*])\*+\w[^*]*\*", line)] == []
    tables = [text for id_, text in sources(slug).items() if id_.startswith("test-")]
    tried = [found[1] for text in tables if (found := re.search(r'hidden="([^"]*)"', text))]
    assert [line for line in tried if "`" in line or "*" in line] == []


def string_lines(text: str) -> list[str]:
    """The lines of this code that hold nothing but a string."""
    return [line for line in text.splitlines() if re.match(r'\s*(hint=)?f?"', line)]


@every_exercise
def test_an_untouched_answer_cell_runs_without_an_error(slug: str, exercise: str) -> None:
    names: dict[str, object] = {}
    cells = SOURCES[slug].cells()
    exec(cells["setup"]["source"], names)
    exec(stubbed(cells[exercise]["source"]), names)
