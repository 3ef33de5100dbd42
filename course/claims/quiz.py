"""Predict, then measure: a claim to judge, and what happens when its proof runs.

    predict("reshape-always-copies")

shows the claim with four buttons. A click reveals your prediction, the verdict, the fact and the
proof, which runs at that moment. Where buttons cannot live, the same question is text with the
answer folded; `predict("…").reveal()` measures there. There are no points.
"""

import html
import re
from dataclasses import dataclass

from course.claims.proofs import Proof, prove
from course.claims.reader import claim
from course.claims.schema import VERDICTS, Claim, ClaimError
from course.widgets.front_end import widgets_alive

__all__ = ["Question", "Revealed", "predict"]

_LABELS = {"true": "True", "false": "False", "depends": "It depends", "outdated": "Outdated"}
_MEANINGS = {
    "true": "it holds as stated",
    "false": "it does not hold",
    "depends": "it holds under a condition, or only in part",
    "outdated": "it was true of an older release",
}


def predict(id: str) -> "Question | Message":
    """The question whether that claim holds, ready to be answered.

    An id that does not exist gives a message with the nearest ids, never a traceback: the quiz
    must not stop a notebook that is run from top to bottom.
    """
    try:
        return Question(claim(id))
    except ClaimError as error:
        return Message(f"predict({id!r}): {error}")


@dataclass(frozen=True)
class Message:
    """A sentence for the learner where no question can be shown."""

    text: str

    def reveal(self, prediction: str | None = None) -> "Message":
        """The same message: there is nothing to reveal."""
        return self

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.text)}</p>"


class Question:
    """A claim waiting for your prediction."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self._buttons: object | None = None  # made when first shown: it needs a live front end

    def reveal(self, prediction: str | None = None) -> "Revealed | Message":
        """The verdict, the fact and the proof, measured now; `prediction` is compared with it."""
        if prediction is not None and _verdict_of(prediction) is None:
            return Message(f"no verdict {prediction!r}. Predict one of {', '.join(VERDICTS)}.")
        said = None if prediction is None else _verdict_of(prediction)
        return Revealed(self.claim, said, prove(self.claim))

    def __repr__(self) -> str:
        return question_text(self.claim)

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, str | dict[str, object]]:
        """Every form at once: the front end shows the richest one that it can."""
        bundle: dict[str, str | dict[str, object]] = {
            "text/plain": repr(self),
            "text/html": question_html(self.claim),
        }
        view = self._widget_view()
        if view is not None:
            bundle["application/vnd.jupyter.widget-view+json"] = view
        return bundle

    def _widget_view(self) -> dict[str, object] | None:
        if not widgets_alive():
            return None
        if self._buttons is None:
            self._buttons = buttons_for(self.claim)
        model_id = getattr(self._buttons, "model_id", None)
        return {"version_major": 2, "version_minor": 0, "model_id": model_id}


@dataclass(frozen=True, repr=False)
class Revealed:
    """An answered question; `proof` is None while it is being measured."""

    claim: Claim
    prediction: str | None
    proof: Proof | None

    def reveal(self, prediction: str | None = None) -> "Revealed | Message":
        """The question answered once more, measured anew."""
        return Question(self.claim).reveal(prediction)

    def __repr__(self) -> str:
        return revealed_text(self)

    def _repr_html_(self) -> str:
        return f"{_said_html(self.claim)}{revealed_html(self)}"


# ---------------------------------------------------------------- words, without any front end


def compared(verdict: str, prediction: str | None) -> str:
    """One sentence that sets your prediction beside the verdict."""
    meant = f"{_LABELS[verdict]}: {_MEANINGS[verdict]}"
    if prediction is None:
        return f"The verdict is {meant}."
    if prediction == verdict:
        return f"✓ You predicted {_LABELS[prediction]}, and so it is. {meant}."
    return f"✗ You predicted {_LABELS[prediction]}. The verdict is {meant}."


def measured(claim: Claim, proof: Proof) -> str:
    """One sentence on how the proof came out."""
    if proof.error is not None:
        return f"The proof gave no result here: {proof.error}."
    if proof.holds:
        return f"Measured just now, and it holds: `{claim.shows}`"
    return f"Measured just now, this does not hold here: `{claim.shows}`"


def question_text(claim: Claim) -> str:
    """The question as plain text, with the way to the answer."""
    return (
        f"Claim: {_plain(claim.said)}\n"
        f"Predict: {', '.join(_LABELS[v] for v in VERDICTS)}?\n"
        f'Then run predict("{claim.id}").reveal()'
    )


def revealed_text(revealed: Revealed) -> str:
    """The answer as plain text."""
    claim, proof = revealed.claim, revealed.proof
    lines = [
        f"Claim: {_plain(claim.said)}",
        compared(claim.verdict, revealed.prediction),
        f"Fact: {_plain(claim.fact)}",
    ]
    if claim.source:
        lines.append(f"Source: {_plain(claim.source)}")
    lines += ["Proof:", *(f"    {line}" for line in claim.proof.strip().splitlines())]
    if proof is not None:
        lines += [_plain(measured(claim, proof)), *(f"    {line}" for line in _shown_lines(proof))]
    return "\n".join(lines)


def question_html(claim: Claim) -> str:
    """The question with its answer folded, for pages on which nothing can run."""
    words = ", ".join(_LABELS[v] for v in VERDICTS)
    return (
        f"{_said_html(claim)}<p>Predict: {words}?</p>"
        f"<details><summary>Show the verdict</summary>"
        f"{revealed_html(Revealed(claim, None, None))}"
        f'<p>To measure it: <code>predict("{html.escape(claim.id)}").reveal()</code></p></details>'
    )


def revealed_html(revealed: Revealed) -> str:
    """The answer as HTML in the page's own colours, so that it reads in light and dark."""
    claim, proof = revealed.claim, revealed.proof
    source = f"<p>Source: {_inline(claim.source)}</p>" if claim.source else ""
    if proof is None:
        outcome = ""
    else:
        shown = "\n".join(_shown_lines(proof))
        outcome = f"<p>{_inline(measured(claim, proof))}</p>{_code(shown) if shown else ''}"
    return (
        '<div role="status" style="border-left:3px solid currentColor;padding-left:12px;'
        'line-height:1.45">'
        f"<p><b>{html.escape(compared(claim.verdict, revealed.prediction))}</b></p>"
        f"<p>{_inline(claim.fact)}</p>{source}{_code(claim.proof.strip())}{outcome}</div>"
    )


def _said_html(claim: Claim) -> str:
    return f"<p><b>Claim.</b> {_inline(claim.said)}</p>"


def _shown_lines(proof: Proof) -> list[str]:
    values = [f"{name} = {value}" for name, value in proof.shown]
    return values + proof.printed.rstrip().splitlines()


def _code(text: str) -> str:
    style = (
        "background:rgba(127,127,127,.14);color:inherit;padding:8px;white-space:pre-wrap;"
        "font-family:monospace;line-height:1.4"
    )
    return f'<pre style="{style}">{html.escape(text)}</pre>'


def _inline(text: str) -> str:
    """Text with `code` marked up, everything else escaped."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def _plain(text: str) -> str:
    return text.replace("`", "")


def _verdict_of(word: str) -> str | None:
    """The verdict that a word from the keyboard means: `"It depends"`, `"depends"`, `True`."""
    folded = str(word).strip().lower()
    return {"it depends": "depends"}.get(folded, folded if folded in VERDICTS else None)


# ---------------------------------------------------------------- widget glue


def buttons_for(claim: Claim) -> object:
    """A widget: the claim, four buttons, and room for the answer."""
    import ipywidgets

    answer = ipywidgets.HTML(value="")
    buttons = [
        ipywidgets.Button(
            description=_LABELS[verdict],
            tooltip=f"Predict: {_MEANINGS[verdict]}",
            layout=ipywidgets.Layout(width="auto", min_width="96px"),
        )
        for verdict in VERDICTS
    ]

    def answer_with(verdict: str) -> None:
        for label, button in zip(VERDICTS, buttons, strict=True):
            button.disabled = True
            button.icon = "check" if label == verdict else ""
        answer.value = revealed_html(Revealed(claim, verdict, None))
        answer.value = revealed_html(Revealed(claim, verdict, prove(claim)))

    for verdict, button in zip(VERDICTS, buttons, strict=True):
        button.on_click(lambda _, verdict=verdict: answer_with(verdict))
    question = ipywidgets.HTML(value=_said_html(claim))
    return ipywidgets.VBox([question, ipywidgets.HBox(buttons), answer])
