"""The quiz: text, folded HTML, and buttons that are clicked."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from course.claims import Claim, Proof, claim, claims, quiz
from course.claims.quiz import Question, Revealed, buttons_for, compared, predict
from course.widgets import front_end

ID = "reshape-always-copies"
SOURCES = sorted((Path(__file__).parents[3] / "source").glob("*/*.ipynb"))


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
    fields = {"id": "a", "said": "S.", "verdict": "false", "fact": "F.", "proof": "x = 1"}
    return Claim(**{**fields, "shows": "x == 1", "lesson": "04-memory-layout", **changes})


# ---------------------------------------------------------------- plain text


def test_plain_text_asks_and_says_how_to_measure() -> None:
    assert repr(predict(ID)) == (
        "Claim: reshape() always copies the elements into new memory.\n"
        "Predict: True, False, It depends, Outdated?\n"
        'Then run predict("reshape-always-copies").reveal()'
    )


def test_the_question_does_not_give_the_answer_away() -> None:
    assert claim(ID).fact.replace("`", "") not in repr(predict(ID))


def test_reveal_shows_verdict_fact_code_and_values() -> None:
    text = repr(ask(ID).reveal())
    assert "The verdict is False: it does not hold." in text
    assert claim(ID).fact in text
    assert "    shared = same_storage(a, a.reshape(6))" in text
    assert "Measured just now, and it holds: shared and copied\n    shared = True" in text


def test_a_right_prediction_is_confirmed_in_words() -> None:
    assert "✓ You predicted False, and so it is." in repr(ask(ID).reveal("false"))


def test_a_wrong_prediction_is_set_beside_the_verdict() -> None:
    text = repr(ask(ID).reveal("It depends"))
    assert "✗ You predicted It depends. The verdict is False: it does not hold." in text


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
    page = ask(ID)._repr_mimebundle_()["text/html"]
    question, answer = page.split("<details>")
    assert "it does not hold" not in question
    assert "it does not hold" in answer
    assert "<summary>Show the verdict</summary>" in answer


@pytest.mark.parametrize("entry", claims(), ids=lambda entry: entry.id)
def test_the_html_of_a_claim_is_balanced(entry: Claim) -> None:
    pages = quiz.question_html(entry), quiz.revealed_html(Revealed(entry, "true", None))
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
    assert "Measured just now, this does not hold here: x == 2" in repr(fails.reveal())


def test_a_proof_that_raises_becomes_a_sentence() -> None:
    broken = Question(a_claim(proof="x = 1 / 0"))
    text = repr(broken.reveal())
    assert "The proof gave no result here: ZeroDivisionError in line 1: division by zero." in text
    assert "Traceback" not in text


def test_a_source_is_named_where_no_run_settles_it() -> None:
    assert "Source: the manual" in repr(Question(a_claim(source="the manual")).reveal())


# ---------------------------------------------------------------- buttons


def test_without_a_kernel_there_are_no_buttons() -> None:
    assert set(ask(ID)._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_in_a_notebook_the_widget_comes_with_its_twins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiz, "widgets_alive", lambda: True)
    question = ask(ID)
    bundle = question._repr_mimebundle_()
    view = bundle["application/vnd.jupyter.widget-view+json"]
    assert set(bundle) >= {"text/plain", "text/html"}
    assert view["model_id"]
    assert question._repr_mimebundle_()["application/vnd.jupyter.widget-view+json"] == view


def test_where_nobody_can_press_a_button_the_answer_is_folded_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=False))  # as nbconvert runs it
    monkeypatch.setattr(front_end, "get_ipython", lambda: kernel)
    bundle = ask(ID)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "<summary>Show the verdict</summary>" in str(bundle["text/html"])
    kernel.kernel._allow_stdin = True  # as JupyterLab runs it
    assert "application/vnd.jupyter.widget-view+json" in ask(ID)._repr_mimebundle_()


def test_four_buttons_name_the_verdicts_and_what_they_mean() -> None:
    _, row, _ = buttons_for(claim(ID)).children
    assert [b.description for b in row.children] == ["True", "False", "It depends", "Outdated"]
    assert all(b.tooltip.startswith("Predict: ") for b in row.children)


@pytest.mark.parametrize(("pressed", "mark"), [(0, "✗ You predicted True"), (1, "✓ You predicted")])
def test_a_click_reveals_the_measured_answer(pressed: int, mark: str) -> None:
    _, row, answer = buttons_for(claim(ID)).children
    assert answer.value == ""
    row.children[pressed].click()
    assert mark in answer.value
    assert "shared = True" in answer.value
    assert 'role="status"' in answer.value


def test_a_click_marks_the_choice_and_closes_the_question() -> None:
    _, row, _ = buttons_for(claim(ID)).children
    row.children[2].click()
    assert [b.icon for b in row.children] == ["", "", "check", ""]
    assert all(b.disabled for b in row.children)


def test_a_click_on_a_broken_proof_raises_nothing() -> None:
    _, row, answer = buttons_for(a_claim(proof="raise SystemExit")).children
    row.children[0].click()
    assert "The proof gave no result here: SystemExit" in answer.value


def test_verdict_and_fact_stand_before_the_proof_has_run(monkeypatch: pytest.MonkeyPatch) -> None:
    _, row, answer = buttons_for(claim(ID)).children
    seen: list[str] = []
    none = Proof((), "", holds=True, seconds=0.0)
    monkeypatch.setattr(quiz, "prove", lambda entry: seen.append(answer.value) or none)
    row.children[1].click()
    assert "it does not hold" in seen[0]
    assert "Measured" not in seen[0]


# ---------------------------------------------------------------- the lessons


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_each_question_in_a_lesson_exists(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
    asked = re.findall(r"predict\(\s*[\"']([^\"']+)", code)
    known = {entry.id for entry in claims()}
    assert [id for id in asked if id not in known] == []
