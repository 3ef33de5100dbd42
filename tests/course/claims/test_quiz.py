"""The quiz: text, folded HTML, and buttons that are clicked."""

import ast
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from course.claims import Claim, Proof, claim, claims, prediction, predictions, quiz_buttons
from course.claims.quiz import Question, Quiz, QuizButtons, Revealed, predict, quiz
from course.claims.quiz_buttons import Buttons
from course.claims.quiz_words import LEGEND, Answer, answer_html, compared, question_html
from course.widgets import front_end, last_state

ID = "reshape-always-copies"
SOURCES = sorted((Path(__file__).parents[3] / "source").glob("*/*.ipynb"))


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(predictions, "_told", {})


class TagBalance(HTMLParser):
    """Collects the tags that are still open at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def ask(id: str) -> Question:
    """The question of a claim that exists."""
    question = predict(id)
    assert isinstance(question, Question)
    return question


def a_claim(**changes: object) -> Claim:
    fields = {"id": "a", "asked": "A?", "said": "S.", "verdict": "false", "fact": "F."}
    proved = {"proof": "x = 1", "shows": "x == 1", "lesson": "04-memory-layout"}
    return Claim(**{**fields, **proved, **changes})


# ---------------------------------------------------------------- plain text


def test_plain_text_asks_and_says_how_to_measure() -> None:
    assert repr(predict(ID)) == (
        "Claim: reshape() always copies the elements into new memory.\n"
        f"Predict: True, False, It depends, Outdated? {LEGEND}\n"
        'Then run predict("reshape-always-copies").reveal()'
    )


def test_the_question_does_not_give_the_answer_away() -> None:
    assert claim(ID).fact.replace("`", "") not in repr(predict(ID))


def test_reveal_shows_verdict_fact_code_and_values() -> None:
    text = repr(ask(ID).reveal())
    assert "The right answer is False: the claim is wrong." in text
    assert claim(ID).fact in text
    assert claim(ID).proof.splitlines()[-1] in text
    assert "Run here, the code shows it: shared and copied is true.\n    shared" in text
    assert "    shared = True" in text


def test_a_right_prediction_is_confirmed_in_words() -> None:
    assert "✓ You predicted False, and that's right: the claim is wrong." in repr(
        ask(ID).reveal("false")
    )


def test_a_wrong_prediction_is_set_beside_the_verdict() -> None:
    text = repr(ask(ID).reveal("It depends"))
    assert "✗ You predicted It depends. The right answer is False: the claim is wrong." in text


@pytest.mark.parametrize("word", ["FALSE", " false ", False])
def test_a_prediction_may_be_typed_in_any_case(word: str) -> None:
    assert "✓" in repr(ask(ID).reveal(word))


def test_a_prediction_that_is_no_verdict_is_refused_in_words() -> None:
    assert repr(ask(ID).reveal("maybe")) == (
        "no verdict 'maybe'. Predict one of true, false, depends, outdated."
    )


def test_an_unknown_id_is_a_message_and_no_traceback() -> None:
    message = predict("reshape-allways-copies")
    assert repr(message).startswith(
        "predict('reshape-allways-copies'): no claim 'reshape-allways-copies'."
        " Did you mean 'reshape-always-copies'"
    )
    assert message.reveal() is message


def test_a_message_escapes_what_was_typed() -> None:
    assert "<script>" not in predict("<script>")._repr_html_()


# ---------------------------------------------------------------- HTML


def test_html_folds_the_answer() -> None:
    question, answer = ask(ID)._repr_html_().split("<details>")
    assert "the claim is wrong" not in question
    assert "the claim is wrong" in answer
    assert "<summary>Show the right answer</summary>" in answer


@pytest.mark.parametrize(("lines", "folded"), [(8, False), (9, True)])
def test_a_long_proof_is_folded_and_the_fact_is_not(lines: int, folded: bool) -> None:
    entry = a_claim(proof="\n".join(f"x{n} = {n}" for n in range(lines)))
    page = answer_html(Answer(entry, None, None))
    assert (f"<summary>How it was measured: {lines} lines</summary>" in page) is folded
    assert page.index(entry.fact) < page.index("x0 = 0")
    assert "x0 = 0" not in page.partition("<details>")[0] or not folded


@pytest.mark.parametrize("entry", claims(), ids=lambda entry: entry.id)
def test_the_html_of_a_claim_is_balanced(entry: Claim) -> None:
    pages = question_html(entry), answer_html(Answer(entry, "true", None))
    for page in pages:
        balance = TagBalance()
        balance.feed(page)
        assert balance.open == []
        assert "`" not in page.split("<pre")[0]


def test_html_escapes_the_claim_and_the_values() -> None:
    entry = a_claim(said="a < b & c.", proof="x = '<b>'")
    proof = Proof((("x", "'<b>'"),), "", holds=True, seconds=0.0)
    page = Revealed(entry, None, proof)._repr_html_()
    assert "a &lt; b &amp; c." in page
    assert "<b>'" not in page


def test_html_sets_no_colour_of_its_own() -> None:
    page = ask(ID).reveal("true")._repr_html_()
    colours = set(re.findall(r"(?:color|background):([^;\"]+)", page))
    assert colours <= {"inherit", "rgba(127,127,127,.14)"}


def test_right_and_wrong_differ_in_words_not_only_in_colour() -> None:
    assert compared("false", "false")[0] == "✓"
    assert compared("false", "true")[0] == "✗"


def test_a_proof_that_fails_here_is_told_as_it_is() -> None:
    fails = ask(ID)
    fails.claim = a_claim(shows="x == 2")
    assert "shows something else: x == 2 is not true." in repr(fails.reveal())


def test_a_proof_that_raises_becomes_a_sentence() -> None:
    broken = Question(a_claim(proof="x = 1 / 0"))
    text = repr(broken.reveal())
    assert "The code gave no result here: ZeroDivisionError in line 1: division by zero." in text
    assert "Traceback" not in text


def test_a_source_is_named_where_no_run_settles_it() -> None:
    assert "Source: the manual" in repr(Question(a_claim(source="the manual")).reveal())


# ---------------------------------------------------------------- buttons


def alive(monkeypatch: pytest.MonkeyPatch, allow_stdin: bool = True) -> list[dict[str, object]]:
    """A kernel with a reader at its front end (or without); what is shown from now on."""
    kernel = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=allow_stdin))
    monkeypatch.setattr(front_end, "get_ipython", lambda: kernel)
    shown: list[dict[str, object]] = []
    monkeypatch.setattr(last_state, "display", lambda data, **how: shown.append(data))
    return shown


def test_in_a_notebook_the_page_of_the_question_comes_with_its_widget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = alive(monkeypatch)
    ask(ID)._ipython_display_()
    page, widget = shown
    assert "Show the right answer" in str(page["text/html"])
    assert "application/vnd.jupyter.widget-view+json" in widget


def test_without_a_kernel_or_a_reader_there_are_no_buttons(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotImplementedError):  # IPython then takes text and folded page
        ask(ID)._ipython_display_()
    alive(monkeypatch, allow_stdin=False)  # as nbconvert runs it
    with pytest.raises(NotImplementedError):
        Quiz([claim(ID)])._ipython_display_()


def faces(buttons: Buttons) -> list[str]:
    """What stands on the four buttons."""
    return [one.description for one in buttons.choices.values()]


def test_four_buttons_name_the_verdicts_and_what_they_mean() -> None:
    buttons = Buttons(claim(ID))
    assert faces(buttons) == ["True", "False", "It depends", "Outdated"]
    assert all(one.tooltip.startswith("Predict: ") for one in buttons.choices.values())
    assert buttons.text.value == f"<p>{LEGEND}</p>"


@pytest.mark.parametrize(("verdict", "mark"), [("true", "✗ You predicted True"), ("false", "✓")])
def test_a_click_reveals_the_measured_answer(verdict: str, mark: str) -> None:
    buttons = Buttons(claim(ID))
    buttons.choices[verdict].click()
    assert mark in buttons.text.value
    assert "shared = True" in buttons.text.value
    assert 'role="status"' in buttons.text.value


def test_after_a_wrong_choice_the_buttons_say_which_was_right_and_which_was_mine() -> None:
    buttons = Buttons(claim(ID))
    buttons.choices["depends"].click()
    wanted = ["True", "✓ False (right)", "✗ It depends (your answer)", "Outdated"]
    assert faces(buttons) == wanted


def test_after_the_right_choice_no_button_is_called_wrong() -> None:
    buttons = Buttons(claim(ID))
    buttons.choices["false"].click()
    assert faces(buttons) == ["True", "✓ False (your answer, right)", "It depends", "Outdated"]


def test_the_first_choice_counts_and_no_button_loses_the_focus() -> None:
    buttons = Buttons(claim(ID))
    for verdict in ("depends", "false"):
        buttons.choices[verdict].click()
    assert "✗ You predicted It depends" in buttons.text.value
    assert not any(one.disabled for one in buttons.choices.values())


def test_a_prediction_outlives_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    Buttons(claim(ID)).choices["depends"].click()
    monkeypatch.setattr(predictions, "_told", {})  # as in the next kernel
    assert "✗ You predicted It depends" in Buttons(claim(ID)).text.value


def test_a_prediction_can_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    buttons = Buttons(claim(ID))
    buttons.choices["depends"].click()
    buttons.again.click()
    assert (faces(buttons)[1], buttons.text.value) == ("False", f"<p>{LEGEND}</p>")
    monkeypatch.setattr(predictions, "_told", {})
    assert Buttons(claim(ID)).right is None


def test_the_page_that_stays_behind_says_what_was_answered() -> None:
    buttons = Buttons(claim(ID))
    assert "<details>" in buttons.page()
    buttons.choices["depends"].click()
    assert "✗ You predicted It depends" in buttons.page()
    assert "✗ You predicted It depends" in buttons.words()


def test_a_click_on_a_broken_proof_raises_nothing() -> None:
    buttons = Buttons(a_claim(proof="raise SystemExit"))
    buttons.choices["true"].click()
    assert "The code gave no result here: SystemExit" in buttons.text.value


def test_verdict_and_fact_stand_before_the_proof_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    buttons = Buttons(claim(ID))
    seen: list[str] = []
    none = Proof((), "", holds=True, seconds=0.0)
    monkeypatch.setattr(
        quiz_buttons, "prove", lambda entry: seen.append(buttons.text.value) or none
    )
    buttons.choices["false"].click()
    assert "the claim is wrong" in seen[0]
    assert "Run here" not in seen[0]


# ---------------------------------------------------------------- several questions


def test_a_quiz_counts_what_was_answered_right() -> None:
    shown = QuizButtons([a_claim(id="one"), a_claim(id="two"), a_claim(id="three")])
    assert "0 of 3 right, 3 still open" in shown.score.value
    shown.questions[0].choices["false"].click()
    shown.questions[1].choices["true"].click()
    assert "1 of 3 right, 1 still open" in shown.score.value
    shown.questions[2].choices["false"].click()
    assert "2 of 3 right. All are answered." in shown.words()
    shown.questions[2].again.click()
    assert "1 of 3 right, 1 still open" in shown.page()


def test_a_quiz_without_buttons_asks_each_claim_with_its_answer_folded() -> None:
    shown = Quiz([claim(ID), a_claim(id="other")])
    assert repr(shown).count("Predict: ") == shown._repr_html_().count("<details>") == 2
    assert 'predict("other")' in repr(shown)


def test_a_quiz_with_an_unknown_id_is_a_message() -> None:
    assert repr(quiz(ID, "nonsense-id-of-nobody")).startswith("quiz: no claim")


# ---------------------------------------------------------------- what is kept


@pytest.mark.parametrize("content", ["", "[]", "{", '{"format": "other"}', '{"predictions": 3}'])
def test_a_file_that_is_not_ours_holds_no_predictions(content: str) -> None:
    Path(predictions.FILE_NAME).write_text(content)
    assert predictions.prediction_of(ID) is None


def test_predictions_of_two_notebooks_in_one_folder_are_both_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    predictions.keep("one", "true")
    monkeypatch.setattr(predictions, "_told", {})  # another kernel
    predictions.keep("two", "false")
    monkeypatch.setattr(predictions, "_told", {})
    assert [predictions.prediction_of(id) for id in ("one", "two", "three")] == [
        "true",
        "false",
        None,
    ]


def test_a_verdict_that_is_none_is_passed_over() -> None:
    predictions.keep("one", "true")
    path = Path(predictions.FILE_NAME)
    path.write_text(path.read_text().replace('"true"', '["<b>"]'))
    assert predictions._read(path) == {}


def test_where_no_file_can_be_written_the_kernel_remembers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(predictions, "FILE_NAME", str(tmp_path / "gone" / "file.json"))
    predictions.keep(ID, "true")
    assert predictions.prediction_of(ID) == "true"


# ---------------------------------------------------------------- the lessons


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_each_question_in_a_lesson_exists(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    asked = [
        given.value
        for cell in cells
        if cell["cell_type"] == "code"
        if not cell["source"][0].startswith("%")
        for node in ast.walk(ast.parse("".join(cell["source"])))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("predict", "quiz")
        for given in node.args
        if isinstance(given, ast.Constant)
    ]
    assert asked
    known = {entry.id for entry in (*claims(), *prediction.predictions())}
    assert [id for id in asked if id not in known] == []
