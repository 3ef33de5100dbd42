"""Warm-ups: what counts as the same answer, and what a learner is told."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from course import warm_up
from course.claims import MalformedClaims
from course.practice import task, warm_ups
from course.practice.same_value import same_value
from course.practice.task import judged

QUESTION = "Which stride has `x`?"
HINT = "The last one is 1."


@pytest.fixture(autouse=True)
def _fresh_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "_wrong_answers", {})


def say(yours: object, right: object = (4, 1), hint: str = HINT) -> str:
    """What the learner reads."""
    return repr(asked(yours, right, hint))


def asked(yours: object, right: object, hint: str = HINT, question: str = QUESTION) -> task.WarmUp:
    """The question with what is said of this answer."""
    return judged(question, yours, lambda: right, hint)


@pytest.mark.parametrize(
    ("yours", "right"),
    [
        ((4, 1), torch.zeros(3, 4).stride()),
        ([2, 3], torch.zeros(2, 3).shape),
        (torch.Size([2, 3]), (2, 3)),
        (4, 4.0),
        (0.3, 0.1 + 0.2),
        (float("nan"), float("nan")),
        (torch.tensor(6.0), 6),
        (np.float64(0.5), 0.5),
        (np.array([1, 2]), np.array([1, 2])),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 1e-7])),
        (torch.tensor([1.0], requires_grad=True), torch.tensor([1.0])),
        ("float32", torch.float32),
        ("torch.int64", torch.int64),
        ("RuntimeError", RuntimeError),
        (" a  copy ", "a copy"),
        (True, True),
        (None, None),
        ({0, 1}, {1, 0}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (1j, complex(0, 1)),
    ],
)
def test_the_same_answer_may_be_written_in_several_ways(yours: object, right: object) -> None:
    assert same_value(yours, right)


@pytest.mark.parametrize(
    ("yours", "right"),
    [
        (True, 1),
        (1, True),
        (0, False),
        ((1, 4), (4, 1)),
        ((4,), (4, 1)),
        (4, (4,)),
        ("4", 4),
        (None, 0),
        (torch.tensor([1, 2]), torch.tensor([1.0, 2.0])),
        (torch.zeros(2, 1), torch.zeros(2)),
        (torch.float64, torch.float32),
        (ValueError, RuntimeError),
        ({0: 1}, {0: 2}),
        ((True, 1), (1, 1)),
        (np.array([1, 2]), np.array([1.0, 2.0])),
    ],
)
def test_another_answer_is_not_the_same(yours: object, right: object) -> None:
    assert not same_value(yours, right)


def test_dots_ask_and_say_what_to_do() -> None:
    assert say(...) == (
        "Warm-up. Which stride has x?\n✎ Put your answer in place of ... and run this cell again."
    )


def test_a_right_answer_is_confirmed_with_its_value() -> None:
    assert say((4, 1)).endswith("✓ Right: (4, 1)")


def test_a_first_wrong_answer_gets_the_hint_and_not_the_right_value() -> None:
    text = say((1, 4))
    assert "✗ Not yet: (1, 4) isn't it. Hint: The last one is 1. Try another answer." in text
    assert "(4, 1)" not in text


def test_a_second_wrong_answer_is_told_the_right_one() -> None:
    say((1, 4))
    assert "Hint: The last one is 1. The right answer is (4, 1)." in say((4, 4))


def test_running_the_same_answer_again_is_no_second_try() -> None:
    assert say((1, 4)) == say((1, 4))


def test_each_question_counts_its_own_tries() -> None:
    say((1, 4))
    other = repr(asked(1, 2, question="Another?"))
    assert "The right answer" not in other


def test_another_kind_of_value_is_named_as_such() -> None:
    assert "The answer is several values in brackets, such as (2, 3)." in say(4)


def test_a_number_is_told_that_the_answer_is_a_truth() -> None:
    assert "The answer is True or False." in say(1, right=True)


def test_a_function_in_place_of_its_value_is_told_so() -> None:
    assert "is a function. Call it" in say(torch.zeros(3, 4).stride)


def test_an_exception_class_is_an_answer_and_is_not_called() -> None:
    assert "✓ Right: RuntimeError" in say(RuntimeError, right=RuntimeError)


def test_a_fault_of_the_task_is_not_told_as_the_learners() -> None:
    def broken() -> object:
        raise KeyError("gone")

    text = repr(judged(QUESTION, (4, 1), broken))
    assert "– The right answer cannot be found here (KeyError: 'gone')." in text
    assert "not your fault" in text


class Rude:
    """A value that cannot be shown or compared."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_value_that_cannot_be_shown_raises_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert "Not yet: your Rude isn't it." in say(Rude())
    say(Rude(), right=Rude())
    assert capsys.readouterr() == ("", "")


def test_a_long_value_is_cut() -> None:
    assert len(say(list(range(1000)))) < 500


@pytest.mark.parametrize("yours", [..., (4, 1), (1, 4), "<b>"])
def test_the_page_says_what_the_text_says(yours: object) -> None:
    shown = asked(yours, (4, 1), "See `<x>`.", "Is `a < b`?")
    page = re.sub("<details>.*</details>", "", shown._repr_html_())
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    words = plain.replace("&lt;", "<").replace("&gt;", ">").split()
    assert " ".join(words).replace(" ", "") == re.sub(r"\s", "", repr(shown))


def test_the_page_sets_no_colour_and_names_its_sign_in_words() -> None:
    page = asked(1, (4, 1))._repr_html_()
    assert not re.search(r"color:(?!currentColor)", page)
    assert 'aria-label="not right"' in page


def test_the_hint_is_folded_until_a_wrong_answer_was_given() -> None:
    assert (
        "<details><summary>Hint</summary>The last one is 1.</details>"
        in asked(..., (4, 1))._repr_html_()
    )
    assert "<details>" not in asked((1, 4), (4, 1))._repr_html_()
    assert "<details>" not in asked(..., (4, 1), hint="")._repr_html_()


# --- the warm-ups of the lessons ------------------------------------------------------------------


FILE = """
[[warm_up]]
id = "doubled"
asks = "Twice `base`?"
code = "twice = 2 * base"
right = "twice"
hint = "Add it to itself."
"""


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """One warm-up in place of those of the lessons."""
    [doubled] = warm_ups.parse_warm_ups(FILE, "test/warm_ups.toml")
    monkeypatch.setattr(task, "task", lambda id: doubled)


@pytest.mark.usefixtures("known")
def test_the_right_answer_is_found_with_the_names_of_the_notebook() -> None:
    names: dict[str, object] = {"base": 4, "warm_up": warm_up}
    exec('seen = warm_up("doubled", yours=8), warm_up("doubled", yours=9)', names)
    right, wrong = names["seen"]  # type: ignore[misc]
    assert (right.state, wrong.state) == ("right", "wrong")
    assert "twice" not in names


@pytest.mark.usefixtures("known")
def test_a_name_that_the_cells_above_would_make_is_told_as_such() -> None:
    names: dict[str, object] = {"warm_up": warm_up}
    exec('seen = warm_up("doubled", yours=8)', names)
    assert "The cells above make `base`. Run them first" in names["seen"].told[0]  # type: ignore[attr-defined]


def test_a_cell_without_dots_to_replace_has_words_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = FILE + 'unanswered = "Change `base` above."\n'
    [doubled] = warm_ups.parse_warm_ups(text, "test/warm_ups.toml")
    monkeypatch.setattr(task, "task", lambda id: doubled)
    asked = warm_up("doubled", yours=...)
    assert (asked.state, asked.told) == ("open", ("Change `base` above.",))


def test_random_numbers_that_the_right_answer_takes_are_given_back() -> None:
    drawing = warm_ups.Task("id", "?", "torch.rand(2).shape")
    before = torch.get_rng_state()
    assert task._right_value(drawing, {"torch": torch}) == (2,)
    assert torch.equal(before, torch.get_rng_state())


def test_a_warm_up_that_nobody_wrote_is_told_with_the_nearest_one() -> None:
    told = warm_up("new-stride", yours=1).told[0]
    assert told.startswith("no warm-up 'new-stride'. Did you mean 'new-strides'")


def test_no_two_lessons_have_a_warm_up_of_the_same_name() -> None:
    ids = [one.id for one in warm_ups.tasks()]
    assert len(ids) == len(set(ids)) > 200


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("[[warm-up]]", "Write [[warm_up]]"),
        (FILE.replace("right", "wright"), "the key 'right' is missing"),
        (FILE.replace('right = "twice"', 'right = "2 *"'), "right is no Python"),
        (FILE.replace('hint = "Add it to itself."', "hint = 3"), "hint must be a string"),
        (FILE + FILE, "stands twice"),
        ("[[warm_up", "not valid TOML"),
    ],
)
def test_a_file_that_breaks_its_form_is_refused_with_the_place(text: str, cause: str) -> None:
    with pytest.raises(MalformedClaims, match=re.escape(cause)):
        warm_ups.parse_warm_ups(text, "test/warm_ups.toml")
