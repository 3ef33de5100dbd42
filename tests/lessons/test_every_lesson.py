"""What holds of every lesson: it teaches what it promises, in pieces that can be read."""

from __future__ import annotations

import re

import pytest

from autograder.lessons.cells import first_heading
from autograder.lessons.lint.claims import lint_claims
from autograder.lessons.lint.form import is_project
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.lint.thresholds import (
    ALL_LEVELS_FROM,
    CORE_MINUTES,
    PROJECT_MINUTES,
    UNIT_MINUTES,
)
from autograder.lessons.model import all_lessons
from autograder.lessons.regions import stubbed
from tests.lessons.source import ROOT, Source

# The topics of the course's plan that a lesson promises to teach, each in a section that names it.
# A lesson that the plan does not name promises none, and need not be entered here.
TOPICS = {
    "01-tensors": {
        *("001-02", "001-03", "001-04", "004-01", "004-02", "004-03"),
        *(f"002-{n:02}" for n in (1, 2, 3, 4, 5, 7, 11, 12, 13, 14, 15, 32, 47, 48)),
    },
    "02-indexing": {
        *("001-06", "002-06", "002-07", "002-08", "002-09", "002-10", "002-16", "002-17"),
        *("002-18", "002-19", "002-20", "002-23", "002-26", "002-29", "002-46", "002-49"),
        *("002-50", "002-59", "002-60", "002-66", "004-04"),
    },
    "03-math": {
        *("001-07", "002-22", "002-24", "002-25", "002-27", "002-64", "002-65", "004-05"),
        *("004-09", "004-11", "004-12"),
    },
    "04-memory-layout": {
        *(f"000-{n:02}" for n in range(1, 11)),
        *("001-05", "002-08", "004-04", "004-13"),
    },
    "05-autograd": {
        *("000-20", "000-23", "001-01", "001-08", "002-28"),
        *("002-42", "002-43", "002-48", "002-51", "002-76"),
    },
    "06-in-place": {"000-19", "000-21", "000-22", "000-23", "000-24", "004-02"},
    "07-modules": {
        *("001-09", "001-10", "002-21", "002-30", "002-54", "002-55", "002-56"),
        *("002-57", "002-58", "002-67", "002-68", "002-75", "004-07"),
    },
    "08-layers": {"002-43", "002-44", "002-52", "002-53", "002-61", "002-62", "002-79", "004-08"},
    "09-dataloader": {
        *("000-11", "000-16", "000-17", "001-12", "001-13"),
        *("002-35", "002-36", "002-59", "002-70", "002-78"),
    },
    "10-samplers": {"000-12", "000-13", "000-14", "000-15"},
    "11-training-loop": {
        *("000-27", "001-11", "001-14", "002-31", "002-38", "002-39", "002-40", "002-41"),
        *("002-45", "002-74", "004-06", "004-10"),
    },
    "12-checkpoints": {"001-15", "001-16", "001-17", "002-63", "002-69", "002-71", "002-73"},
    "13-transfer": {"001-18", "001-19", "002-72", "002-77"},
    "14-gpu-memory": {
        *("000-18", "000-25", "000-26", "000-27", "000-28", "000-29", "000-30"),
        *("000-31", "000-32", "002-33", "002-34", "002-37", "002-42", "002-57"),
        *("002-80", "004-10"),
    },
    "15-experiments": {"001-20", "001-21", "001-22", "001-28", "001-29"},
    "16-devices": {"001-23", "001-24", "001-25", "001-26", "001-27", "002-32"},
}
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
    assert [str(found) for found in (*lint_lesson(ROOT, lesson), *lint_claims(ROOT, lesson))] == []


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
def test_every_topic_has_its_section(slug: str) -> None:
    taught = set(SOURCES[slug].noted("topics"))
    assert taught == TOPICS.get(slug, taught)


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
