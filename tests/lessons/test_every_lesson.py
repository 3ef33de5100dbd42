"""What holds of every lesson: it teaches what it promises, in pieces that can be read."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

import pytest

from autograder.lessons import all_lessons
from autograder.notebooks import anchor
from autograder.regions import stubbed
from course.claims import claims, misconceptions
from tests.lessons.source import ROOT, Source, course_of

MOST_WORDS = 85  # of a text cell, its tables aside


@dataclass(frozen=True)
class Promise:
    """What one lesson has to have; `lines` are the most that a cell of code may have."""

    topics: set[str]
    exercises: int
    lines: int
    longer: set[str] = field(default_factory=set)  # cells that have a reason to be longer
    joined: dict[str, int] = field(default_factory=dict)  # claims told in one entry, beyond it
    last_level: int | None = None


PROMISES = {
    "04-memory-layout": Promise(
        {*(f"000-{n:02}" for n in range(1, 11)), "001-05", "002-08", "004-04", "004-13"},
        exercises=10,
        lines=8,
        # addresses after a transpose; results that are contiguous; how view and reshape differ
        joined={"true": 1, "false": 1, "depends": 1},
    ),
    "05-autograd": Promise(
        {
            *("000-20", "000-23", "001-01", "001-08", "002-28"),
            *("002-42", "002-43", "002-48", "002-51", "002-76"),
        },
        exercises=9,
        lines=11,
    ),
    "06-in-place": Promise(
        {"000-19", "000-21", "000-22", "000-23", "000-24", "004-02"},
        exercises=11,
        lines=15,
        last_level=3,
    ),
    "09-dataloader": Promise(
        {
            *("000-11", "000-16", "000-17", "001-12", "001-13"),
            *("002-35", "002-36", "002-59", "002-70", "002-78"),
        },
        exercises=12,
        lines=8,
        longer={"squares-module"},  # a module is written to a file with its docstrings
        # "pin when memory is plentiful, always, with workers" are three claims in one entry
        joined={"depends": 2},
    ),
    "10-samplers": Promise({"000-12", "000-13", "000-14", "000-15"}, exercises=9, lines=10),
    "14-gpu-memory": Promise(
        {
            *("000-18", "000-25", "000-26", "000-27", "000-28", "000-29", "000-30"),
            *("000-31", "000-32", "002-33", "002-34", "002-37", "002-42", "002-57"),
            *("002-80", "004-10"),
        },
        exercises=14,
        lines=15,
        longer={"segment-table", "copies-rule", "memory-kinds"},  # tables with their sources
    ),
}
SOURCES = {slug: Source(slug) for slug in PROMISES}
EXERCISES = [(slug, one.name) for slug, source in SOURCES.items() for one in source.exercises]

every_lesson = pytest.mark.parametrize("slug", PROMISES)
every_exercise = pytest.mark.parametrize(("slug", "exercise"), EXERCISES)


def test_every_lesson_has_made_a_promise() -> None:
    assert set(PROMISES) == {lesson.slug for lesson in all_lessons(ROOT)}


@every_lesson
def test_every_topic_has_its_section(slug: str) -> None:
    assert set(SOURCES[slug].noted("topics")) == PROMISES[slug].topics


@every_lesson
def test_every_claim_is_predicted_or_judged(slug: str) -> None:
    assert sorted(SOURCES[slug].noted("claims")) == sorted(claim.id for claim in claims(slug))


@every_lesson
def test_a_quiz_cell_names_the_claim_that_it_asks_about(slug: str) -> None:
    asking = SOURCES[slug].with_role("predict")
    asked = [re.findall(r'predict\("([^"]+)"\)', cell["source"]) for cell in asking]
    assert asked == [course_of(cell)["claims"] for cell in asking]


@every_lesson
def test_the_verdicts_of_the_summary_are_those_of_the_claims(slug: str) -> None:
    summary = SOURCES[slug].cells()["claims-judged"]["source"]
    rows = re.findall(r"^\| (\w+) \| (.*) \|$", summary, flags=re.M)
    told = {verdict: len(words.split(" · ")) for verdict, words in rows if verdict != "verdict"}
    for verdict, more in PROMISES[slug].joined.items():
        told[verdict] += more
    assert told == Counter(claim.verdict for claim in claims(slug))


@every_lesson
def test_every_misconception_points_to_a_section_of_the_lesson(slug: str) -> None:
    sections = {anchor(heading) for heading in SOURCES[slug].lesson.sections.values()}
    assert {known.section for known in misconceptions(slug)} <= sections


@every_lesson
def test_every_misconception_can_be_revealed_by_a_check(slug: str) -> None:
    tests = "".join(exercise.test_source for exercise in SOURCES[slug].exercises)
    silent = [known.id for known in misconceptions(slug) if f'"{known.id}"' not in tests]
    assert silent == []


@every_lesson
def test_exercises_of_every_difficulty_begin_with_an_easy_one(slug: str) -> None:
    levels = [exercise.difficulty for exercise in SOURCES[slug].exercises]
    assert len(levels) == PROMISES[slug].exercises
    assert levels[0] == 1
    assert set(levels) == {1, 2, 3}
    assert PROMISES[slug].last_level in (None, levels[-1])


@every_lesson
def test_the_exercises_are_numbered_in_order(slug: str) -> None:
    texts = "\n".join(cell["source"] for cell in SOURCES[slug].cells().values())
    numbers = re.findall(r"^### Exercise (\d+):", texts, flags=re.M)
    assert numbers == [str(number) for number in range(1, PROMISES[slug].exercises + 1)]


@every_lesson
def test_cells_are_short_enough_to_read(slug: str) -> None:
    texts, codes = SOURCES[slug].with_role("text"), SOURCES[slug].with_role("measure", "figure")
    words = {c["id"]: len(re.sub(r"(?m)^\|.*", "", c["source"]).split()) for c in texts}
    lines = {c["id"]: c["source"].count("\n") + 1 for c in codes}
    longer = {name for name, count in words.items() if count > MOST_WORDS}
    longer |= {name for name, count in lines.items() if count > PROMISES[slug].lines}
    assert longer == PROMISES[slug].longer


@every_exercise
def test_a_table_has_eight_checks_of_which_three_are_hidden(slug: str, exercise: str) -> None:
    record = SOURCES[slug].tables[exercise].record
    assert record is not None
    assert len(record.checks) >= 8
    assert sum(check.hidden for check in record.checks) >= 3
    assert record.score == record.max


@every_exercise
def test_an_untouched_answer_cell_runs_without_an_error(slug: str, exercise: str) -> None:
    names: dict[str, object] = {}
    cells = SOURCES[slug].cells()
    exec(cells["setup"]["source"], names)
    exec(stubbed(cells[exercise]["source"]), names)
