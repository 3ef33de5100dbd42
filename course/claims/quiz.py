"""Predict, then measure: what lines print, or whether a claim holds; then they run.

    predict("first-stride")
    predict("reshape-always-copies")
    quiz("view-copies", "t-copies", "clone-shares")

shows lines of code with a field for what they print (or choices), a claim with four buttons, or
several claims and how many were right. A guess runs the lines and stands beside what happened. A
click on a verdict says which was right and whether it was yours, states the fact and runs the
proof at that moment. Where buttons cannot live, the same question is text with the answer folded;
`predict("…").reveal()` measures there. There are no points.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from course.claims.errors import ClaimError, UnknownId
from course.claims.prediction import Prediction, prediction
from course.claims.prediction_widgets import GuessButtons
from course.claims.prediction_words import (
    Guessed,
    asked_html,
    guessed_html,
    guessed_text,
    measured,
    prediction_html,
    prediction_text,
)
from course.claims.proofs import Proof, prove
from course.claims.quiz_buttons import Buttons
from course.claims.quiz_words import (
    LEGEND,
    Answer,
    answer_html,
    answer_text,
    question_html,
    question_text,
    said_html,
    verdict_of,
)
from course.claims.reader import claim
from course.claims.schema import VERDICTS, Claim
from course.widgets.last_state import Shown

__all__ = ["OpenGuess", "Question", "Quiz", "Revealed", "RunGuess", "predict", "quiz"]

_LEGEND = f"<p>{LEGEND}</p>"


def predict(id: str) -> Question | OpenGuess | Message:
    """The question what those lines print, or whether that claim holds, ready to be answered.

    An id that does not exist gives a message with the nearest ids, never a traceback: the quiz
    must not stop a notebook that is run from top to bottom.

    Args:
        id: The name of a prediction in the predictions file of its lesson, or of a claim in its
            claims file, such as "reshape-always-copies".
    """
    try:
        with suppress(UnknownId):
            return OpenGuess(prediction(id))
        return Question(claim(id))
    except ClaimError as error:
        return Message(f"predict({id!r}): {error}")


def quiz(*ids: str) -> Quiz | Message:
    """The questions of these claims, one below the other, and how many were answered right.

    An id that does not exist gives a message in place of all questions.

    Args:
        ids: The claims' names, in the order of the questions.
    """
    try:
        return Quiz([claim(id) for id in ids])
    except ClaimError as error:
        return Message(f"quiz: {error}")


@dataclass(frozen=True)
class Message:
    """A sentence for the learner where no question can be shown."""

    text: str

    def reveal(self, prediction: object = None) -> Message:
        """The same message: there is nothing to reveal."""
        return self

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.text)}</p>"


class OpenGuess(Shown):
    """Lines of code waiting for your guess at what they print."""

    def __init__(self, prediction: Prediction) -> None:
        self.prediction = prediction

    def reveal(self, guess: object = None) -> RunGuess:
        """What the lines print, run now, beside `guess`."""
        return RunGuess(measured(self.prediction, None if guess is None else str(guess)))

    def __repr__(self) -> str:
        return prediction_text(self.prediction)

    def _repr_html_(self) -> str:
        return prediction_html(self.prediction)

    def _buttons(self) -> GuessButtons:
        return GuessButtons(self.prediction)


@dataclass(frozen=True, repr=False)
class RunGuess:
    """A guess beside what happened."""

    guessed: Guessed

    def __repr__(self) -> str:
        return guessed_text(self.guessed)

    def _repr_html_(self) -> str:
        return f"{asked_html(self.guessed.prediction)}{guessed_html(self.guessed)}"


class Question(Shown):
    """A claim waiting for your prediction."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim

    def reveal(self, prediction: object = None) -> Revealed | Message:
        """Which answer is right, the fact and the proof, measured now.

        `prediction`, a word such as "false", is compared with it.
        """
        said = None if prediction is None else verdict_of(prediction)
        if prediction is not None and said is None:
            return Message(f"no verdict {prediction!r}. Predict one of {', '.join(VERDICTS)}.")
        return Revealed(self.claim, said, prove(self.claim))

    def __repr__(self) -> str:
        return question_text(self.claim)

    def _repr_html_(self) -> str:
        return question_html(self.claim)

    def _buttons(self) -> Buttons:
        return Buttons(self.claim)


@dataclass(frozen=True, repr=False)
class Revealed:
    """An answered question."""

    claim: Claim
    prediction: str | None
    proof: Proof

    def reveal(self, prediction: object = None) -> Revealed | Message:
        """The question answered once more, measured anew."""
        return Question(self.claim).reveal(prediction)

    def __repr__(self) -> str:
        return answer_text(self._answer())

    def _repr_html_(self) -> str:
        return f"{said_html(self.claim)}{answer_html(self._answer())}"

    def _answer(self) -> Answer:
        return Answer(self.claim, self.prediction, self.proof)


class Quiz(Shown):
    """Several claims waiting for your predictions."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self.claims = tuple(claims)

    def __repr__(self) -> str:
        asked = (question_text(one, legend=False) for one in self.claims)
        return "\n\n".join([LEGEND, *asked])

    def _repr_html_(self) -> str:
        return "".join([_LEGEND, *(question_html(one, legend=False) for one in self.claims)])

    def _buttons(self) -> QuizButtons:
        return QuizButtons(self.claims)


class QuizButtons:
    """The widgets of several questions, and the line that counts the right answers.

    `answered` is called whenever an answer was given or taken back.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        answered: Callable[[], None] = lambda: None,
    ) -> None:
        from ipywidgets import HTML, VBox

        self._answered: Callable[[], None] = lambda: None
        self.questions = [Buttons(claim, self._count, legend=False) for claim in claims]
        self.score = HTML()
        self.box = VBox([HTML(_LEGEND), *(one.box for one in self.questions), self.score])
        self._count()
        self._answered = answered

    def _count(self) -> None:
        self.score.value = f'<p role="status"><b>{self._score()}</b></p>'
        self._answered()

    def _score(self) -> str:
        right = [one.right for one in self.questions]
        still = right.count(None)
        counted = f"{right.count(True)} of {len(right)} right"
        return f"{counted}, {still} still open" if still else f"{counted}. All are answered."

    def page(self) -> str:
        """The questions as they stand, as HTML without buttons."""
        return "".join([_LEGEND, *(one.page() for one in self.questions), self.score.value])

    def words(self) -> str:
        """The same as plain text."""
        return "\n\n".join([LEGEND, *(one.words() for one in self.questions), self._score()])
