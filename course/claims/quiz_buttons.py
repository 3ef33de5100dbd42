"""A claim with four buttons: the choice first, then which one was right."""

from __future__ import annotations

from collections.abc import Callable

from course.claims.predictions import forget, keep, prediction_of
from course.claims.proofs import prove
from course.claims.quiz_words import (
    LABELS,
    LEGEND,
    MEANINGS,
    Answer,
    answer_html,
    answer_text,
    question_html,
    question_text,
    said_html,
)
from course.claims.schema import VERDICTS, Claim

__all__ = ["Buttons"]


class Buttons:
    """The widgets of one question, all inside `box`, and the answer given so far.

    The first choice counts, is kept, and can be taken back. No button is ever switched off: the
    one that was pressed would lose the keyboard's focus.
    """

    def __init__(
        self, claim: Claim, answered: Callable[[], None] = lambda: None, legend: bool = True
    ) -> None:
        from ipywidgets import HTML, Button, HBox, Layout, VBox

        self.claim = claim
        self._answered = answered
        self._legend = legend
        wide = Layout(width="auto", min_width="96px")
        self.choices = {verdict: Button(layout=wide) for verdict in VERDICTS}
        self.again = Button(description="Predict again", layout=Layout(width="auto"))
        self.text = HTML()
        for verdict, button in self.choices.items():
            button.on_click(lambda _, verdict=verdict: self.choose(verdict))
        self.again.on_click(lambda _: self.take_back())
        wrapped = Layout(flex_flow="row wrap")
        row = HBox([*self.choices.values(), self.again], layout=wrapped)
        self.box = VBox([HTML(said_html(claim)), row, self.text])
        kept = prediction_of(claim.id)
        self.answer = None if kept not in VERDICTS else Answer(claim, kept, None)
        self._draw()

    @property
    def right(self) -> bool | None:
        """Whether the prediction was right; None where there is none yet."""
        return None if self.answer is None else self.answer.prediction == self.claim.verdict

    def choose(self, verdict: str) -> None:
        """Take this prediction, unless there is one; then measure."""
        if self.answer is not None:
            return
        keep(self.claim.id, verdict)
        self.answer = Answer(self.claim, verdict, None)
        self._draw()
        self.answer = Answer(self.claim, verdict, prove(self.claim))
        self._draw()
        self._answered()

    def take_back(self) -> None:
        """Ask again."""
        forget(self.claim.id)
        self.answer = None
        self._draw()
        self._answered()

    def page(self) -> str:
        """The question as it stands, as HTML without buttons."""
        if self.answer is None:
            return question_html(self.claim, self._legend)
        return f"{said_html(self.claim)}{answer_html(self.answer)}"

    def words(self) -> str:
        """The same as plain text."""
        if self.answer is None:
            return question_text(self.claim, self._legend)
        return answer_text(self.answer)

    def _draw(self) -> None:
        for verdict, button in self.choices.items():
            button.description, button.button_style, button.tooltip = self._face(verdict)
        self.again.layout.display = "none" if self.answer is None else None
        asks = f"<p>{LEGEND}</p>" if self._legend else ""
        self.text.value = asks if self.answer is None else answer_html(self.answer)

    def _face(self, verdict: str) -> tuple[str, str, str]:
        """What a button says, its style, and what it tells who rests on it."""
        label = LABELS[verdict]
        if self.answer is None:
            return label, "", f"Predict: {MEANINGS[verdict]}"
        chosen = verdict == self.answer.prediction
        if verdict == self.claim.verdict:
            mine = "your answer, right" if chosen else "right"
            return f"✓ {label} ({mine})", "success", MEANINGS[verdict]
        if chosen:
            return f"✗ {label} (your answer)", "danger", MEANINGS[verdict]
        return label, "", MEANINGS[verdict]
