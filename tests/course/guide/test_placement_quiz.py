"""The placement quiz asks twelve claims and says where to begin, on each path."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from course.claims import claim, predictions, prove
from course.claims.quiz import Message
from course.claims.schema import VERDICTS
from course.guide.lesson_cards import PATHS, Card, cards, on_path
from course.guide.placement_quiz import ASKED, Advice, Panel, Placement, placement
from course.widgets import front_end

CLAIMS = [claim(id) for id in ASKED]


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(predictions, "_told", {})


def advice(*missed: int | str) -> Advice:
    found = placement(missed=missed)
    assert isinstance(found, Advice)
    return found


def panel() -> Panel:
    return Panel(CLAIMS, cards())


# What is asked.


def test_twelve_lessons_are_asked_about_once_each_in_their_order() -> None:
    lessons = [one.lesson for one in CLAIMS]
    assert len(lessons) == 12
    assert lessons == sorted(set(lessons))
    assert set(lessons) <= {card.slug for card in cards()}


def test_who_always_presses_the_same_button_misses_most() -> None:
    assert max(Counter(one.verdict for one in CLAIMS).values()) <= 6


def test_every_question_can_be_answered_on_any_machine_and_at_once() -> None:
    assert [one.id for one in CLAIMS if one.needs or one.slow] == []


@pytest.mark.parametrize("id", ASKED)
def test_the_proof_of_each_holds(id: str) -> None:
    assert prove(claim(id)).holds


def test_each_says_why_people_miss_it() -> None:
    assert [id for id, why in ASKED.items() if len(why.split()) < 3] == []


# What follows.


def test_a_path_begins_with_its_first_lesson_that_was_missed() -> None:
    steps = advice(11, "05").steps("train")
    assert steps[0] == "Begin with 05 Autograd."
    assert steps[1].startswith("Skim 01, 02, 03, 04, 06, ")
    assert steps[2].startswith("After it come 11, ")


def test_a_lesson_that_is_not_on_the_path_is_not_named_there() -> None:
    told = " ".join(advice("03").steps("debug"))
    assert "03" not in told


def test_a_lesson_that_nobody_asked_about_is_new_to_everyone() -> None:
    for path in PATHS:
        told = " ".join(advice().steps(path))
        _, _, new = told.partition("Begin with ")
        begin, _, rest = new.partition(" Skim ")
        after = rest.partition("After it")[2]
        asked = {one.lesson[:2] for one in CLAIMS}
        for card in on_path(cards(), path):
            assert (card.number in begin + after) == (card.number not in asked)


def test_each_lesson_of_a_path_is_named_once() -> None:
    for path in PATHS:
        told = " ".join(advice("01", "06").steps(path))
        for card in on_path(cards(), path):
            assert told.count(card.number) == 1


def test_who_missed_nothing_on_a_path_skims_it() -> None:
    lessons = (Card("01-tensors", "Tensors", 85, (), "", ("train",), ()),)
    assert Advice(lessons, ("01",), ()).steps("train") == [
        "You know what this path is about. Skim 01."
    ]
    assert Advice(lessons, ("01",), ("01",)).steps("train") == ["Begin with 01 Tensors."]
    assert Advice(lessons, ("01",), ()).steps("debug") == ["No lesson of this path is here."]


@pytest.mark.parametrize("missed", [["99"], ["four"], [None]])
def test_a_number_that_was_not_asked_is_told_in_words(missed: list[str]) -> None:
    found = placement(missed=missed)
    assert isinstance(found, Message)
    assert "No question is about lesson" in repr(found)


# With buttons, and without.


def test_the_advice_comes_with_the_last_answer_and_goes_when_one_is_taken_back() -> None:
    asked = panel()
    for one in asked.quiz.questions:
        assert "Begin with" not in asked.advice.value
        one.choose(one.claim.verdict)
    assert repr(advice()) in asked.words()
    assert asked.advice.value in asked.page()
    asked.quiz.questions[3].take_back()
    assert "Begin with" not in asked.advice.value


def test_a_wrong_answer_makes_its_lesson_the_first() -> None:
    asked = panel()
    for one in asked.quiz.questions:
        wrong = next(verdict for verdict in VERDICTS if verdict != one.claim.verdict)
        one.choose(wrong if one.claim.lesson.startswith("04") else one.claim.verdict)
    assert asked.advice.value.count("Begin with 04 Memory layout.") == len(PATHS)


def test_another_kernel_knows_answers_and_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    first = panel()
    for one in first.quiz.questions:
        one.choose("true")
    monkeypatch.setattr(predictions, "_told", {})
    assert panel().advice.value == first.advice.value != ""


def test_without_buttons_every_question_stands_there_with_its_answer_folded() -> None:
    asked = placement()
    page = asked._repr_html_()
    assert page.count("<details>") - page.count("How it was measured") == len(ASKED)
    for one in CLAIMS:
        assert f"Lesson {one.lesson[:2]}" in repr(asked)
        assert one.fact.replace("`", "") not in repr(asked)
    assert "placement(missed=[4, 5])" in page


def test_at_a_live_front_end_there_are_buttons(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=True))
    monkeypatch.setattr(front_end, "get_ipython", lambda: kernel)
    shown: list[dict[str, str]] = []
    monkeypatch.setattr("course.widgets.last_state.display", lambda data, **_: shown.append(data))
    asked = placement()
    assert isinstance(asked, Placement)
    asked._ipython_display_()
    assert "12 still open" in shown[0]["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in shown[1]
