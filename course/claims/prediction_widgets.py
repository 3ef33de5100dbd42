"""A prediction with a field to type in, or buttons to pick from: the guess first, then the run."""

from __future__ import annotations

from typing import Any

from course.claims.guess import same_outcome
from course.claims.prediction import Prediction
from course.claims.prediction_words import (
    SIGNS,
    Guessed,
    asked_html,
    guessed_html,
    guessed_text,
    measured,
    prediction_html,
    prediction_text,
)
from course.claims.predictions import forget, keep, prediction_of

__all__ = ["GuessButtons"]


class GuessButtons:
    """The widgets of one prediction, all inside `box`, and the guess so far.

    The first guess counts, is kept, and can be taken back. Nothing is ever switched off: what was
    pressed would lose the keyboard's focus.
    """

    def __init__(self, prediction: Prediction) -> None:
        from ipywidgets import HTML, Button, HBox, Layout, VBox

        self.prediction = prediction
        # Each button is hidden and shown by itself, so none shares its layout with another.
        self.choices = {
            choice: Button(description=_one_line(choice), layout=Layout(width="auto"))
            for choice in prediction.choices
        }
        for choice, button in self.choices.items():
            button.on_click(lambda _, choice=choice: self.guess(choice))
        self.field: Any = _field()
        self.run = Button(description="Run it", layout=Layout(width="auto"))
        self.run.on_click(lambda _: self.guess(self.field.value))
        self.again = Button(description="Guess again", layout=Layout(width="auto"))
        self.again.on_click(lambda _: self.take_back())
        self.text = HTML()
        asked = [*self.choices.values()] or [self.field, self.run]
        row = HBox([*asked, self.again], layout=Layout(flex_flow="row wrap"))
        self.box = VBox([HTML(asked_html(prediction)), row, self.text])
        kept = prediction_of(prediction.id)
        self.answer: Guessed | None = None if kept is None else measured(prediction, kept)
        self._draw()

    def guess(self, guess: str) -> None:
        """Take this guess, unless there is one; then run the lines."""
        if self.answer is not None:
            return
        if not guess.strip():
            self.text.value = "<p>Type what you expect first; then it runs.</p>"
            return
        keep(self.prediction.id, guess)
        self.answer = measured(self.prediction, guess)
        self._draw()

    def take_back(self) -> None:
        """Ask again."""
        forget(self.prediction.id)
        self.answer = None
        self._draw()

    def page(self) -> str:
        """The prediction as it stands, as HTML without buttons."""
        if self.answer is None:
            return prediction_html(self.prediction)
        return f"{asked_html(self.prediction)}{guessed_html(self.answer)}"

    def words(self) -> str:
        """The same as plain text."""
        if self.answer is None:
            return prediction_text(self.prediction)
        return guessed_text(self.answer)

    def _draw(self) -> None:
        for choice, button in self.choices.items():
            button.description, button.button_style = self._face(choice)
        self.again.layout.display = "none" if self.answer is None else None
        self.run.layout.display = None if self.answer is None else "none"
        self.field.value = "" if self.answer is None else self.answer.guess or ""
        self.text.value = "" if self.answer is None else guessed_html(self.answer)

    def _face(self, choice: str) -> tuple[str, str]:
        """What a button says, and its style."""
        label = _one_line(choice)
        if self.answer is None:
            return label, ""
        chosen = choice == self.answer.guess
        if same_outcome(choice, self.answer.happened):
            return f"{SIGNS[True]} {label} ({'your guess, ' if chosen else ''}right)", "success"
        return (f"{SIGNS[False]} {label} (your guess)", "danger") if chosen else (label, "")


def _field() -> Any:
    from ipywidgets import Layout, Text

    return Text(
        description="Your guess:",
        placeholder="what it prints, or the error's name",
        style={"description_width": "initial"},
        layout=Layout(width="30em", max_width="100%"),
        continuous_update=False,
    )


def _one_line(choice: str) -> str:
    return " ⏎ ".join(choice.strip().splitlines())
