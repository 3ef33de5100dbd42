"""Numbers of exercises follow their order, and a text that is too long or unwritten is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.lessons.authoring.numbering import renumbered
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.model import read_lesson
from tests.autograder import tiny


def lesson_of(*headings: str, title: str = "# A lesson", more: str = "") -> list[dict[str, Any]]:
    """A title, a task with each heading, and some text."""
    tasks = [
        tiny.text(f"t{n}", f"### {heading}", role="exercise", exercise=f"e{n}")
        for n, heading in enumerate(headings)
    ]
    return [tiny.text("title", title, role="title"), *tasks, tiny.text("end", more, role="text")]


def sources(cells: list[dict[str, Any]]) -> list[str]:
    return renumbered(cells)


def test_exercises_are_numbered_in_their_order() -> None:
    cells = lesson_of("Exercise 1: a", "Exercise: new", "Exercise 2: b")
    assert sources(cells)[1:4] == ["### Exercise 1: a", "### Exercise 2: new", "### Exercise 3: b"]


def test_a_mention_goes_on_to_mean_the_same_exercise() -> None:
    more = "After exercise 2 comes Exercise 1. `x` is exercise 2 in C++."
    cells = lesson_of("Exercise: new", "Exercise 2: b", "Exercise 1: a", more=more)
    assert sources(cells)[-1] == "After exercise 2 comes Exercise 3. `x` is exercise 2 in C++."


def test_a_heading_that_says_how_many_there_are_follows() -> None:
    cells = lesson_of("Exercise 1 of 1: a", "Exercise: new")
    assert sources(cells)[1:3] == ["### Exercise 1 of 2: a", "### Exercise 2: new"]


@pytest.mark.parametrize(
    ("said", "right"),
    [("the ten exercises", "the two exercises"), ("9 exercises", "2 exercises")],
)
def test_the_title_says_how_many_exercises_there_are(said: str, right: str) -> None:
    cells = lesson_of("Exercise 1: a", "Exercise 2: b", title=f"# A lesson\n\nFor {said}.")
    assert sources(cells)[0] == f"# A lesson\n\nFor {right}."


def test_one_exercise_is_one() -> None:
    cells = lesson_of("Exercise 1: a", title="# A\n\nMost for the three exercises.")
    assert sources(cells)[0].endswith("the one exercise.")


def test_a_number_that_two_exercises_have_leaves_mentions_alone() -> None:
    cells = lesson_of("Exercise 1: a", "Exercise 1: b", more="See exercise 1.")
    assert sources(cells)[2:] == ["### Exercise 2: b", "See exercise 1."]


def test_a_lesson_without_numbers_is_left_as_it_is() -> None:
    cells = lesson_of("Flatten", title="# A\n\nThe ten exercises.", more="See exercise 7.")
    assert sources(cells) == [cell["source"] for cell in cells]


# In a whole lesson.


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


def causes(course: Path, **sources: str) -> list[str]:
    """What is found where cells (by id, `_` for a hyphen) have these sources."""
    notebook = tiny.notebook()
    for cell in notebook["cells"]:
        cell["source"] = sources.get(cell["id"].replace("-", "_"), cell["source"])
    return [one.cause for one in lint_lesson(course, read_lesson(tiny.write(course, notebook)))]


def numbered(**more: str) -> dict[str, str]:
    return {"flatten_task": "### Exercise 1: f", "double_task": "### Exercise 2: d", **more}


def test_numbered_exercises_in_order_are_sound(course: Path) -> None:
    assert causes(course, **numbered(summary="## Summary\n\nExercise 2 doubles.")) == []


@pytest.mark.parametrize(
    ("sources", "cause"),
    [
        ({"double_task": "### Exercise 3: d"}, "it says '### Exercise 3:' where '### Exercise 2:'"),
        ({"summary": "## Summary\n\nAs exercise 5 said."}, "it speaks of exercise 5; the lesson"),
        ({"title": "# T\n\nFor ten exercises."}, "it says 'ten exercises' where 'two exercises'"),
        ({"double_task": "### Double"}, "its heading has no number, others have one"),
    ],
)
def test_a_number_that_is_not_right_is_found(
    course: Path, sources: dict[str, str], cause: str
) -> None:
    (found,) = causes(course, **numbered(**sources))
    assert found.startswith(cause)


def test_what_is_not_written_yet_is_found_with_its_line(course: Path) -> None:
    assert causes(course, summary="## Summary\n\n- ✎ The rule.") == [
        "it is not written yet: - ✎ The rule."
    ]


def test_a_long_text_is_found_and_its_tables_are_not_counted(course: Path) -> None:
    row = "| a | b |\n"
    assert causes(course, doubling="## Doubling\n\n" + row * 50 + "word " * 83) == []
    assert causes(course, doubling="## Doubling\n\n" + "word " * 84) == [
        "it has 86 words; 85 are read in one go"
    ]


def test_a_long_cell_of_code_is_found_unless_it_says_why(course: Path) -> None:
    notebook = tiny.notebook()
    cell = tiny.code("long", "\n".join(["1"] * 16), {"course": {"role": "measure"}})
    notebook["cells"].insert(3, cell)
    (found,) = lint_lesson(course, read_lesson(tiny.write(course, notebook)))
    assert found.cause == "it has 16 lines; 15 are read in one go"
    cell["metadata"]["course"]["longer"] = "a module is written to a file"
    assert lint_lesson(course, read_lesson(tiny.write(course, notebook))) == ()


def test_a_lesson_that_begins_with_a_hard_exercise_is_found(course: Path) -> None:
    notebook = tiny.notebook()
    next(c for c in notebook["cells"] if c["id"] == "flatten-task")["metadata"]["course"][
        "difficulty"
    ] = 3
    (found,) = lint_lesson(course, read_lesson(tiny.write(course, notebook)))
    assert found.cause == "the first exercise has difficulty 3"
