"""Predict, then measure: a claim to judge, and what happens when its proof runs.

    predict("reshape-always-copies")
    quiz("view-copies", "t-copies", "clone-shares")

shows the claim with four buttons, or several claims and how many were right. A click says which
button was right and whether it was yours, states the fact and runs the proof at that moment.
Where buttons cannot live, the same question is text with the answer folded;
`predict("…").reveal()` measures there. There are no points.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from course.claims.proofs import Proof, prove
from course.claims.quiz_buttons import Buttons
from course.claims.quiz_words import (
    Answer,
    answer_html,
    answer_text,
    question_html,
    question_text,
    said_html,
    verdict_of,
)
from course.claims.reader import claim
from course.claims.schema import VERDICTS, Claim, ClaimError
from course.widgets.last_state import Shown

__all__ = ["Question", "Quiz", "Revealed", "predict", "quiz"]


def predict(id: str) -> Question | Message:
    """The question whether that claim holds, ready to be answered.

    An id that does not exist gives a message with the nearest ids, never a traceback: the quiz
    must not stop a notebook that is run from top to bottom.

    Args:
        id: The claim's name in the claims file of its lesson, such as "reshape-always-copies".
    """
    try:
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

    def reveal(self, prediction: str | None = None) -> Message:
        """The same message: there is nothing to reveal."""
        return self

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.text)}</p>"


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
        return "\n\n".join(map(question_text, self.claims))

    def _repr_html_(self) -> str:
        return "".join(map(question_html, self.claims))

    def _buttons(self) -> QuizButtons:
        return QuizButtons(self.claims)


class QuizButtons:
    """The widgets of several questions, and the line that counts the right answers.

    `answered` is called whenever an answer was given or taken back.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        ask: Callable[..., Buttons] = Buttons,
        answered: Callable[[], None] = lambda: None,
    ) -> None:
        from ipywidgets import HTML, VBox

        self._answered: Callable[[], None] = lambda: None
        self.questions = [ask(claim, self._count) for claim in claims]
        self.score = HTML()
        self.box = VBox([*(one.box for one in self.questions), self.score])
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
        return "".join(one.page() for one in self.questions) + self.score.value

    def words(self) -> str:
        """The same as plain text."""
        return "\n\n".join([*(one.words() for one in self.questions), self._score()])
