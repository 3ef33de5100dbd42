"""What the map knows of a lesson is what the lesson says of itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from course.guide.lesson_cards import (
    PATHS,
    Card,
    card_of,
    cards,
    exercise_of,
    on_path,
    read_cards,
    written,
)

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "source").glob("[0-9]*/*.ipynb"))
PLAN = "That's the core: about 85 minutes and five of the nine exercises."


def text(source: str, **about: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {"course": about}, "source": source}


def card(*cells: dict[str, Any]) -> Card:
    return card_of(cells, "06-in-place")


def of(number: str, *needs: str, paths: tuple[str, ...] = ()) -> Card:
    return Card(f"{number}-a", "A", 90, needs, "do it", paths, ())


def test_a_card_holds_what_the_lesson_says() -> None:
    found = card(
        text("# In-place: the model that was lost\n\nA story.", can="write it", paths=["train"]),
        text("**You need** lessons 04 (views) and 05. Then 99 more.\n\n" + PLAN),
    )
    assert found == Card(
        "06-in-place",
        "In-place: the model that was lost",
        85,
        ("04", "05"),
        "write it",
        ("train",),
        (),
    )
    assert (found.number, found.name) == ("06", "In-place")


@pytest.mark.parametrize(
    ("said", "needs"),
    [
        ("nothing of PyTorch", ()),
        ("lessons 02 to 04, and 09", ("02", "03", "04", "09")),
        ("lessons 01–03", ("01", "02", "03")),
        ("batch norm (08), twice (08)", ("08",)),
    ],
)
def test_lessons_are_named_one_by_one_or_from_one_to_another(
    said: str, needs: tuple[str, ...]
) -> None:
    assert card(text(f"# A\n\n**You need** {said}. Not 99.")).needs == needs


def test_without_a_core_the_minutes_of_the_exercises_are_added_up() -> None:
    tasks = [text("Write.", minutes=minutes) for minutes in (10, 15)]
    assert card(text("# A"), *tasks).minutes == 25


@pytest.mark.parametrize("words", ["**After this lesson you can**", "You'll learn to"])
def test_without_words_for_the_map_the_first_promise_is_taken(words: str) -> None:
    assert card(text(f"# A\n\n{words}\n\n- read it;\n- write it.")).can == "read it"


@pytest.mark.parametrize(
    "cells",
    [[], [{}], [3], [text("")], [{"cell_type": "markdown", "metadata": None, "source": 4}]],
)
def test_whatever_else_stands_in_a_notebook_makes_a_card(cells: list[Any]) -> None:
    assert card(*cells) == Card("06-in-place", "in-place", 0, (), "", (), ())


@pytest.mark.parametrize("paths", ["train", None, 3, ["elsewhere"]])
def test_a_path_that_there_is_not_is_passed_over(paths: object) -> None:
    assert card(text("# A", paths=paths)).paths == ()


def test_an_exercise_is_named_by_its_test_cell_in_both_editions() -> None:
    about = {"grade": True, "solution": False, "points": 2, "grade_id": "test-flat"}
    assert exercise_of({"metadata": {"nbgrader": about}}) == "flat"
    assert exercise_of({"metadata": {"nbgrader": about | {"solution": True}}}) == ""
    assert exercise_of({"id": "test-flat", "source": "check.score(2)"}) == "flat"
    assert exercise_of({"id": "test-flat", "source": "x"}) == ""


def test_a_path_holds_what_its_lessons_build_on_and_nothing_else() -> None:
    known = [of("01"), of("02", "01"), of("03", "01"), of("04", "03", paths=("debug",))]
    assert [one.number for one in on_path(known, "debug")] == ["01", "03", "04"]
    assert on_path(known, "train") == ()


def test_cards_are_read_as_they_were_written() -> None:
    known = (of("01"), of("02", "01", paths=("train", "debug")))
    assert read_cards(written(reversed(known))) == known


# The course.


def test_the_cards_are_those_of_the_lessons_in_source() -> None:
    found = [card_of(json.loads(path.read_text())["cells"], path.stem) for path in SOURCES]
    assert list(cards()) == found, "run `autograder release`"


def test_every_edition_of_a_lesson_gives_the_same_card() -> None:
    for known in cards():
        for place in (f"{known.slug}/{known.slug}", f"self-study/{known.slug}"):
            notebook = json.loads((ROOT / "release" / f"{place}.ipynb").read_text())
            assert card_of(notebook["cells"], known.slug) == known


def test_every_lesson_says_how_long_it_takes_and_what_one_can_do_afterwards() -> None:
    assert [one.slug for one in cards() if not one.minutes] == []
    assert [one.slug for one in cards() if not one.can or one.can.endswith(".")] == []


def test_every_lesson_builds_on_lessons_that_come_before_it() -> None:
    numbers = [one.number for one in cards()]
    assert numbers == sorted(set(numbers))
    for one in cards():
        assert set(one.needs) <= set(numbers[: numbers.index(one.number)]), one.slug
        assert one.needs or one is cards()[0], one.slug


def test_every_path_leads_somewhere_and_leaves_something_out() -> None:
    for path in PATHS:
        way = on_path(cards(), path)
        assert cards()[0] in way
        assert 5 <= len(way) < len(cards())


def test_the_readme_lists_the_lessons_as_the_cards_do() -> None:
    readme = (ROOT / "README.md").read_text()
    rows = re.findall(
        r"^\| \[(\d\d) [^\]]+\]\(release/\S+\) \| (\d+) \|.*\| (.+) \|$", readme, re.M
    )
    assert rows == [(one.number, str(one.minutes), one.can) for one in cards()]
