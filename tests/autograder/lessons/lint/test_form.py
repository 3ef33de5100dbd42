"""The rules of the form that grips, and that they ask nothing of other lessons."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.lessons.lint.form import (
    declares_form,
    is_project,
    lint_form,
    units,
)

ROOT = Path(__file__).parents[4]
SCENE = "import torch\nprint(torch.zeros(2).t())"


def text(source: str, **about: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": "t", "metadata": {"course": about}, "source": source}


def code(source: str, role: str = "measure") -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": "c",
        "metadata": {"course": {"role": role}},
        "source": source,
    }


def task(minutes: int, words: int = 3) -> dict[str, Any]:
    source = "### Exercise: one" + " word" * (words - 3)
    return text(source, role="exercise", exercise="one", minutes=minutes)


TITLE = text("# A", role="title", form=2)
UNIT = text("## Strides\n\n*16 minutes*", role="text")
LESSON = [TITLE, code(SCENE, "scene"), code("import torch", "setup"), UNIT, task(15)]


def causes(*cells: dict[str, Any]) -> list[str]:
    """What the rules find in a lesson of these cells."""
    asked = [SimpleNamespace(manual=True)] * 2
    lesson = SimpleNamespace(slug="04-a", exercises=asked)
    return [cause for _, cause, _ in lint_form(cells, lesson)]


def test_a_lesson_of_the_form_has_no_slips() -> None:
    assert declares_form(LESSON)
    assert causes(*LESSON) == []


def test_of_a_lesson_that_does_not_declare_the_form_nothing_is_asked() -> None:
    assert causes(text("# A"), *[code('predict("a")')] * 20) == []


def test_it_opens_with_a_scene() -> None:
    assert causes(TITLE, *LESSON[2:]) == ["the lesson does not open with a scene"]


@pytest.mark.parametrize("line", ["from course import gpu, facts", "import course.figures"])
def test_a_scene_needs_no_course(line: str) -> None:
    assert causes(TITLE, code(line, "scene"), *LESSON[2:]) == ["the scene imports the course"]


def test_a_scene_may_happen_on_the_device() -> None:
    assert causes(TITLE, code("from course import gpu", "scene"), *LESSON[2:]) == []


def test_a_scene_is_short() -> None:
    long = code("\n".join(["x = 1"] * 16), "scene")
    assert causes(TITLE, long, *LESSON[2:]) == ["the scene has 16 lines; 15 are read in one go"]


def test_ten_predictions_are_enough_and_a_quiz_does_not_count() -> None:
    ten = [code('predict("a")', "predict")] * 10
    tail = [text("## Quiz"), code('quiz("a", "b")'), code('predict("a")', "quiz")]
    unit = text("## Strides\n\n*20 minutes*")
    assert causes(*LESSON[:3], unit, task(15), *ten, *tail) == []
    eleven = causes(*LESSON[:3], unit, task(15), *ten, ten[0], *tail)
    assert eleven == ["its text asks for 11; after 10 they tire"]


def test_a_unit_says_how_long_it_takes() -> None:
    said = causes(*LESSON[:3], text("## Strides"), task(15))
    assert said == ["the unit 'Strides' does not say how many minutes it takes"]


def test_the_minutes_of_a_unit_are_those_of_its_words_and_tasks() -> None:
    said = causes(*LESSON[:3], text("## Strides\n\n*5 minutes*"), task(15))
    assert said == ["the unit 'Strides' says 5 minutes; words and tasks make 15"]


def test_a_unit_of_half_an_hour_is_too_long() -> None:
    said = causes(*LESSON[:3], text("## Strides\n\n*30 min*"), task(30))
    assert said == ["the unit 'Strides' takes 30 minutes; 25 are many"]


def test_the_core_takes_no_more_than_its_share() -> None:
    unit = [text("## Strides\n\n*24 minutes*"), task(24)]
    assert causes(*LESSON[:3], *unit * 4) == ["the core of 04-a takes 96 minutes; 90 are the most"]


def test_a_section_without_an_exercise_is_no_unit() -> None:
    assert causes(*LESSON, text("## Summary")) == []


def test_what_is_in_a_deep_dive_counts_for_no_unit() -> None:
    dive = [text("## Deep dive: expand"), task(60), text("### More"), task(60)]
    assert causes(*LESSON, *dive) == []
    assert [one.title for one in units([*LESSON, *dive, text("## Last")])] == ["Strides", "Last"]


def test_a_task_is_read_once_and_one_in_a_deep_dive_may_be_longer() -> None:
    dive = text("## Deep dive: expand")
    assert causes(*LESSON[:4], task(15, 90), dive, task(15, 120)) == []
    found = causes(*LESSON[:4], task(15, 91), dive, task(15, 121))
    assert found == [
        "the task has 91 words; 90 are the most",
        "the task has 121 words; 120 are the most",
    ]


def test_the_examples_of_a_task_are_not_counted() -> None:
    shown = task(15, 90)
    shown["source"] += "\n\n```python\nsix more words that count not\n```\n\n| a | b |\n|---|---|\n"
    assert causes(*LESSON[:4], shown) == []


@pytest.mark.parametrize("heading", ["# Deep dive: x", "## Deep dive", "## deep dive into x"])
def test_a_deep_dive_has_a_level_and_a_subject(heading: str) -> None:
    (cause,) = causes(*LESSON, text(heading))
    assert "folds too much, or says too little" in cause


def test_a_deep_dive_begins_its_cell() -> None:
    said = causes(*LESSON, text("Words.\n\n## Deep dive: x"))
    assert said == ["its deep dive is not the first thing in the cell"]


# --- a project ------------------------------------------------------------------------------------

UNITS = [text("## A unit\n\n*24 minutes*"), task(24)] * 5
PROJECT = [
    *(text("# P", role="title", kind="project"), code("import torch\n" * 100, "scene")),
    *(code("import torch", "setup"), code("show()", "figure"), *UNITS),
]


def test_a_project_has_a_list_of_its_own() -> None:
    assert is_project(PROJECT) and not is_project(LESSON)
    assert causes(*PROJECT) == []
    assert causes(*PROJECT, *[code('predict("a")')] * 10) == []
    assert len(causes(*PROJECT, *[code('predict("a")')] * 11)) == 1


def test_a_project_opens_with_a_scene_and_draws_what_was_measured() -> None:
    rest = [
        one for one in PROJECT if one["metadata"]["course"].get("role") not in ("scene", "figure")
    ]
    assert causes(*rest) == ["the lesson does not open with a scene", "it has no figure"]


def test_a_project_asks_questions_in_words() -> None:
    lesson = SimpleNamespace(slug="17-p", exercises=[SimpleNamespace(manual=False)])
    said = [cause for _, cause, _ in lint_form(PROJECT, lesson)]
    assert said == ["the project asks 0 questions in words; 2 are the least"]


@pytest.mark.parametrize(("units_of_it", "minutes"), [(4, 96), (8, 192)])
def test_a_project_takes_two_to_three_hours(units_of_it: int, minutes: int) -> None:
    said = causes(*PROJECT[:4], *UNITS[:2] * units_of_it)
    assert said == [f"04-a takes {minutes} minutes; a project takes 120 to 180"]


@pytest.mark.parametrize(("role", "kind"), [("title", "exam"), ("text", "project")])
def test_only_a_title_has_a_kind_and_there_is_one(role: str, kind: str) -> None:
    odd = text("# A", role=role, kind=kind)
    assert f"it declares the kind '{kind}'" in causes(*PROJECT, odd)
