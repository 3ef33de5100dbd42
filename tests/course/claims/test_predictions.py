"""Predictions of what happens: the guess, the run beside it, and what is said of both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course.claims import MalformedClaims, claim, predictions
from course.claims import prediction as reader
from course.claims.guess import same_outcome
from course.claims.outcomes import outcome_of
from course.claims.prediction import Prediction, parse_predictions, prediction
from course.claims.prediction_widgets import GuessButtons
from course.claims.prediction_words import guessed_html, guessed_text, measured, prediction_html
from course.claims.quiz import OpenGuess, predict
from course.figures.picture import not_drawn

ALL = reader.predictions()
CODE = "x = torch.zeros(2, 3)\nx.t().stride()"


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    # As beside a learner's notebook: the lines of lesson 17 measure its script.
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "source" / "17-project")
    monkeypatch.setattr(predictions, "_told", {})


def asked(**changes: object) -> Prediction:
    """A prediction whose lines give (1, 3)."""
    given = {"id": "one", "code": CODE, "prints": "(1, 3)", "fact": "They swap.", "otherwise": "O."}
    return Prediction(**{**given, "because": {"(3, 1)": "They were so."}, **changes})  # type: ignore[arg-type]


# --- the predictions of the lessons ---------------------------------------------------------------


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_what_each_prediction_says_is_what_its_lines_print(one: Prediction) -> None:
    run = measured(one, one.prints)
    if run.outcome.missing is not None:
        pytest.skip(run.outcome.missing)
    assert run.right, run.happened


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_no_other_choice_is_right_and_each_sentence_is_for_a_wrong_one(one: Prediction) -> None:
    assert [two for two in one.choices if same_outcome(two, one.prints)] in ([], [one.prints])
    assert len(set(one.choices)) == len(one.choices) != 1
    assert not one.choices or set(one.because) <= set(one.choices)


def test_no_prediction_has_the_id_of_another_or_of_a_claim() -> None:
    ids = [one.id for one in ALL]
    assert len(ids) == len(set(ids)) > 50
    with pytest.raises(LookupError):
        claim(ids[0])


# --- what counts as the same ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guess", "printed"),
    [
        ("1, 3", "(1, 3)"),
        ("[4,6]", "torch.Size([4, 6])"),
        ("0 0", "tensor([0., 0.])"),
        ("float32", "torch.float32"),
        ("True, False", "True False"),
        ("(1,3) False", "(1, 3) False\n"),
        ("runtimeerror or not", "runtimeerror or not"),
        ("RuntimeError", "RuntimeError: shapes do not fit"),
        ("an error", "ValueError"),
        ("[[1, 2], [3]]", "[[1.0, 2.0], [3.0]]"),
        ("nan", "nan"),
        ("`7`", "7"),
        ("none", "None"),
    ],
)
def test_a_guess_may_be_written_in_several_ways(guess: str, printed: str) -> None:
    assert same_outcome(guess, printed)


@pytest.mark.parametrize(
    ("guess", "printed"),
    [
        ("3, 1", "(1, 3)"),
        ("1", "True"),
        ("[[1], [2]]", "[[1, 2]]"),
        ("RuntimeError", "TypeError: no"),
        ("RuntimeError", "(4, 4)"),
        ("4", "(4, 4)"),
        ("", "(4, 4)"),
        ("float16", "torch.float32"),
        ("-1", "1"),
        ("((((((", "1"),
    ],
)
def test_another_guess_is_not_the_same(guess: str, printed: str) -> None:
    assert not same_outcome(guess, printed)


# --- running ---


def test_lines_run_as_a_cell_does_and_leave_nothing_behind() -> None:
    import torch

    state = torch.get_rng_state()
    assert outcome_of("print(1); a = torch.rand(2)\na.shape", name="t").text == (
        "1\ntorch.Size([2])"
    )
    assert outcome_of("x = 3", name="t").text == ""
    bold = outcome_of("raise ValueError('a ' + chr(27) + '[1mword' + chr(27) + '[0m.')", name="t")
    assert bold.text == "ValueError: a word."
    assert torch.equal(state, torch.get_rng_state())


def test_an_error_ends_the_lines_and_is_told_below_what_was_printed() -> None:
    run = outcome_of("print('before')\nraise ValueError('no')\nprint('after')", name="t")
    assert run.text == "before\nValueError: no"


def test_what_a_machine_lacks_is_told_and_the_known_outcome_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    text = guessed_text(measured(asked(needs="linux"), "(1, 3)"))
    assert "These lines did not run here: it needs Linux" in text
    assert "What happens elsewhere:\n    (1, 3)" in text
    assert "✓" in text


# --- what is said ---


def test_guess_and_outcome_stand_side_by_side() -> None:
    text = guessed_text(measured(asked(), "3, 1"))
    assert "Your guess:\n    3, 1\nWhat it printed:\n    (1, 3)" in text
    assert "✗ Not what you expected? They were so.\nThey swap." in text
    page = guessed_html(measured(asked(), "<b>"))
    assert "&lt;b&gt;" in page
    assert "✗ Not what you expected? O." in page


def test_a_right_guess_is_not_told_why_one_might_think_otherwise() -> None:
    text = guessed_text(measured(asked(), "[1, 3]"))
    assert "✓ You saw it coming.\nThey swap." in text


def test_the_claim_that_is_settled_is_told_with_its_verdict() -> None:
    text = guessed_text(measured(asked(claim="reshape-always-copies", fact=""), "(1, 3)"))
    assert "People say: “reshape() always copies the elements into new memory.” False." in text


def test_without_buttons_the_outcome_is_folded() -> None:
    page = prediction_html(asked(choices=("(1, 3)", "(3, 1)")))
    question, answer = page.split("<details>")
    assert "They swap." not in question
    assert "They swap." in answer
    assert "(3, 1)" in question


def test_predict_finds_predictions_as_well_as_claims() -> None:
    found = predict(ALL[0].id)
    assert isinstance(found, OpenGuess)
    assert "Then run predict(" in repr(found)
    assert "Your guess" in repr(found.reveal("nonsense"))
    assert "What it printed" in found.reveal()._repr_html_()


# --- buttons ---


def test_a_typed_guess_is_run_and_kept_over_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = GuessButtons(asked())
    panel.run.click()
    assert "Type what you expect first" in panel.text.value
    panel.field.value = "3 1"
    panel.run.click()
    assert "They were so." in panel.text.value
    monkeypatch.setattr(predictions, "_told", {})  # as in the next kernel
    again = GuessButtons(asked())
    assert again.field.value == "3 1"
    assert "They were so." in again.page()
    assert "They were so." in again.words()
    again.again.click()
    assert (again.text.value, again.field.value) == ("", "")


def test_run_it_is_offered_before_a_guess_and_guess_again_after_it() -> None:
    def offered(one: GuessButtons) -> tuple[bool, bool]:
        return one.run.layout.display != "none", one.again.layout.display != "none"

    typed = GuessButtons(asked())
    assert offered(typed) == (True, False)
    typed.guess("3 1")
    assert offered(typed) == (False, True)
    picked = GuessButtons(asked(choices=("(2, 1)", "(3, 1)")))
    picked.guess("(2, 1)")
    assert all(one.layout.display != "none" for one in picked.choices.values())


def test_a_picked_guess_marks_the_right_button_and_the_own_one() -> None:
    panel = GuessButtons(asked(choices=("(3, 1)", "(1, 3)", "(2, 1)")))
    panel.choices["(3, 1)"].click()
    panel.choices["(1, 3)"].click()  # the first one counts
    faces = [button.description for button in panel.choices.values()]
    assert faces == ["✗ (3, 1) (your guess)", "✓ (1, 3) (right)", "(2, 1)"]


PICTURES = asked(
    code="grid = torch.eye(3)\nresult = grid.flip(0)",
    prints="B",
    choices=("A", "B"),
    drawn={"A": "grid", "B": "grid.flip(1)"},
)


def test_pictures_are_drawn_and_the_one_that_comes_out_is_right() -> None:
    with not_drawn():
        assert measured(PICTURES, "B").right
        assert not measured(PICTURES, "A").right
        assert "A: 3 x 3 pixels" in prediction_html(PICTURES)


# --- the form ---

FILE = """
[[prediction]]
id = "swap"
code = "print(1)"
prints = "1"
choices = ["1", "2"]
fact = "It is 1."
otherwise = "It might be 2."
[prediction.because]
"2" = "Two is near."
"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (FILE.replace('"1", "2"', '"2", "3"'), "what it prints is none of the choices"),
        (FILE.replace('fact = "It is 1."', ""), "nothing says why it is so"),
        (FILE.replace('"2" = "Two', '"1.0" = "Two'), "because has a sentence for the right guess"),
        (FILE.replace("fact", "facts"), "Did you mean 'fact'?"),
        (FILE.replace('["1", "2"]', '"1"'), "choices must be a list"),
        (FILE.replace('fact = "It is 1."', 'fact = "It."\nneeds = "vax"'), "needs is 'vax'"),
        (FILE + FILE, "stands twice"),
        (FILE.replace("fact", 'drawn = { A = "x" }\nfact'), "name different pictures"),
        ("[[claim]]", "Write [[prediction]]"),
    ],
)
def test_a_file_that_breaks_its_form_is_refused_with_the_place(text: str, cause: str) -> None:
    assert parse_predictions(FILE, "t.toml")[0].why("2") == "Two is near."
    with pytest.raises(MalformedClaims, match=re.escape(cause)):
        parse_predictions(text, "t.toml")


def test_an_unknown_id_is_told_with_the_nearest_ones() -> None:
    with pytest.raises(LookupError, match=ALL[0].id):
        prediction(ALL[0].id + "s")
