"""What a prediction and its outcome say, as plain text and as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from course.claims.guess import same_outcome
from course.claims.outcomes import Outcome, outcome_of
from course.claims.prediction import Prediction
from course.claims.quiz_words import LABELS, code_html, inline, plain
from course.claims.reader import claim

__all__ = [
    "SIGNS",
    "Guessed",
    "asked_html",
    "guessed_html",
    "guessed_text",
    "measured",
    "prediction_html",
    "prediction_text",
]


SIGNS = {True: "✓", False: "✗"}


@dataclass(frozen=True)
class Guessed:
    """A prediction, what was guessed, if anything, and what came of the lines."""

    prediction: Prediction
    guess: str | None
    outcome: Outcome

    @property
    def happened(self) -> str:
        """What happened: the picture's name, where pictures are picked, else what was printed."""
        if self.outcome.missing is not None:
            return self.prediction.prints
        if not self.prediction.drawn or self.outcome.error:
            return self.outcome.text
        result, *drawn = self.outcome.values
        pairs = zip(self.prediction.drawn, drawn, strict=True)
        return next((name for name, one in pairs if _same_picture(result, one)), "none of them")

    @property
    def right(self) -> bool | None:
        """Whether the guess is what happened; None without a guess."""
        return None if self.guess is None else same_outcome(self.guess, self.happened)


def measured(prediction: Prediction, guess: str | None) -> Guessed:
    """The prediction with what comes of its lines, run now."""
    then = ("result", *prediction.drawn.values()) if prediction.drawn else ()
    run = outcome_of(prediction.code, name=prediction.id, needs=prediction.needs, then=then)
    return Guessed(prediction, guess, run)


def _same_picture(one: Any, other: Any) -> bool:
    return bool(one.shape == other.shape and (one == other).all())


def pictures(prediction: Prediction) -> str:
    """The pictures to pick from, as HTML; nothing where the choices are words."""
    if not prediction.drawn:
        return ""
    from course.figures import show_pixels

    drawn: list[Any] = [*measured(prediction, None).outcome.values[1:]]
    if not drawn:
        return ""
    numbers = [number for one in drawn for number in one.flatten().tolist()]
    black, white = min(numbers), max(numbers)
    shown = dict(zip(prediction.drawn, drawn, strict=True))
    return show_pixels(shown, black=black, white=white)._repr_html_()


def prediction_text(prediction: Prediction) -> str:
    """The question as plain text, with the way to the answer."""
    picked = [f"Choose: {' | '.join(prediction.choices)}"] if prediction.choices else []
    return "\n".join(
        (
            f"Predict. {plain(prediction.asks)}",
            *_indented(prediction.code),
            *picked,
            f'Then run predict("{prediction.id}").reveal("your guess")',
        )
    )


def guessed_text(one: Guessed) -> str:
    """Guess and outcome as plain text."""
    guess = [] if one.guess is None else ["Your guess:", *_indented(one.guess)]
    return "\n".join(
        (
            f"Predict. {plain(one.prediction.asks)}",
            *_indented(one.prediction.code),
            *guess,
            f"{_heading(one)}:",
            *_indented(one.happened),
            *map(plain, _told(one)),
        )
    )


def asked_html(prediction: Prediction) -> str:
    """The question with its lines, and the pictures to pick from."""
    asks = f'<p style="line-height:1.45"><b>Predict.</b> {inline(prediction.asks)}</p>'
    return f"{asks}{code_html(prediction.code.strip())}{pictures(prediction)}"


def prediction_html(prediction: Prediction) -> str:
    """The question with its answer folded, for pages on which nothing can be picked or typed."""
    picked = " ".join(f"<li><code>{html.escape(one)}</code></li>" for one in prediction.choices)
    choices = f"<ul>{picked}</ul>" if picked and not prediction.drawn else ""
    told = guessed_html(measured(prediction, None))
    return (
        f"{asked_html(prediction)}{choices}"
        f"<details><summary>Show what happens</summary>{told}</details>"
    )


def guessed_html(one: Guessed) -> str:
    """Guess and outcome side by side, and what is to be said of them."""
    columns = [(_heading(one), one.happened)]
    if one.guess is not None:
        columns.insert(0, ("Your guess", one.guess))
    cells = "".join(
        f'<div style="flex:1 1 14em;min-width:0"><b>{html.escape(title)}</b>'
        f"{code_html(text or '(nothing)')}</div>"
        for title, text in columns
    )
    told = "".join(f"<p>{inline(sentence)}</p>" for sentence in _told(one))
    return (
        '<div role="status" style="border-left:3px solid currentColor;padding-left:12px;'
        'line-height:1.45">'
        f'<div style="display:flex;flex-wrap:wrap;gap:0 16px">{cells}</div>{told}</div>'
    )


def _heading(one: Guessed) -> str:
    if one.outcome.missing is not None:
        return "What happens elsewhere"
    return "What happened" if one.prediction.drawn or one.outcome.error else "What it printed"


def _told(one: Guessed) -> list[str]:
    """Whether the guess was right, why one might think otherwise, and why it is so."""
    about, told = one.prediction, []
    if one.outcome.missing is not None:
        told.append(f"These lines did not run here: {one.outcome.missing}.")
    if one.guess is not None:
        sign = SIGNS[bool(one.right)]
        told.append(f"{sign} You saw it coming." if one.right else f"{sign} Not what you expected?")
    if one.right is False:
        told[-1] += f" {about.why(one.guess or '')}"
    if about.fact:
        told.append(about.fact)
    if about.claim is not None:
        settled = claim(about.claim)
        told.append(f"People say: “{settled.said}” {LABELS[settled.verdict]}. {settled.fact}")
    return told


def _indented(text: str) -> list[str]:
    return [f"    {line}" for line in text.strip().splitlines()]
