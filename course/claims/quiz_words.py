"""What a question and its answer say, as plain text and as HTML."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from course.claims.proofs import Proof
from course.claims.schema import VERDICTS, Claim

__all__ = [
    "LABELS",
    "LEGEND",
    "MEANINGS",
    "Answer",
    "answer_html",
    "answer_text",
    "code_html",
    "compared",
    "inline",
    "measured",
    "plain",
    "question_html",
    "question_text",
    "said_html",
    "verdict_of",
]

LABELS = {"true": "True", "false": "False", "depends": "It depends", "outdated": "Outdated"}
MEANINGS = {
    "true": "the claim is right as it stands",
    "false": "the claim is wrong",
    "depends": "the claim is right under a condition, or only in part",
    "outdated": "the claim was right for an older release",
}

# What the less obvious answers mean is said before one is given.
LEGEND = (
    "“It depends” means right under a condition, or only in part. "
    "“Outdated” means right for an older release."
)


@dataclass(frozen=True)
class Answer:
    """What was predicted of a claim, if anything, and its proof, if it has run."""

    claim: Claim
    prediction: str | None
    proof: Proof | None


def compared(verdict: str, prediction: str | None) -> str:
    """Whether the prediction was right, and which answer is."""
    right = f"{LABELS[verdict]}: {MEANINGS[verdict]}."
    if prediction is None:
        return f"The right answer is {right}"
    if prediction == verdict:
        return f"✓ You predicted {LABELS[prediction]}, and that's right: {MEANINGS[verdict]}."
    return f"✗ You predicted {LABELS[prediction]}. The right answer is {right}"


def measured(claim: Claim, proof: Proof) -> str:
    """One sentence on what the code showed."""
    if proof.error is not None:
        return f"The code gave no result here: {proof.error}."
    if proof.holds:
        return f"Run here, the code shows it: `{claim.shows}` is true."
    return f"Run here, the code shows something else: `{claim.shows}` is not true."


def question_text(claim: Claim, legend: bool = True) -> str:
    """The question as plain text, with the way to the answer."""
    meant = f" {LEGEND}" if legend else ""
    return (
        f"Claim: {plain(claim.said)}\n"
        f"Predict: {', '.join(LABELS[v] for v in VERDICTS)}?{meant}\n"
        f'Then run predict("{claim.id}").reveal()'
    )


def answer_text(answer: Answer) -> str:
    """The answer as plain text."""
    claim, proof = answer.claim, answer.proof
    lines = [
        f"Claim: {plain(claim.said)}",
        compared(claim.verdict, answer.prediction),
        f"Fact: {plain(claim.fact)}",
    ]
    if claim.source:
        lines.append(f"Source: {plain(claim.source)}")
    lines += ["Code:", *(f"    {line}" for line in claim.proof.strip().splitlines())]
    if proof is not None:
        lines += [plain(measured(claim, proof)), *(f"    {line}" for line in _shown_lines(proof))]
    return "\n".join(lines)


def question_html(claim: Claim, legend: bool = True) -> str:
    """The question with its answer folded, for pages on which nothing can run."""
    meant = f" {LEGEND}" if legend else ""
    words = ", ".join(LABELS[v] for v in VERDICTS)
    return (
        f"{said_html(claim)}<p>Predict: {words}?{meant}</p>"
        f"<details><summary>Show the right answer</summary>"
        f"{answer_html(Answer(claim, None, None))}"
        f'<p>To measure it: <code>predict("{html.escape(claim.id)}").reveal()</code></p></details>'
    )


def answer_html(answer: Answer) -> str:
    """The answer as HTML in the page's own colours, so that it reads in light and dark."""
    claim, proof = answer.claim, answer.proof
    source = f"<p>Source: {inline(claim.source)}</p>" if claim.source else ""
    if proof is None:
        outcome = ""
    else:
        shown = "\n".join(_shown_lines(proof))
        outcome = f"<p>{inline(measured(claim, proof))}</p>{code_html(shown) if shown else ''}"
    return (
        '<div role="status" style="border-left:3px solid currentColor;padding-left:12px;'
        'line-height:1.45">'
        f"<p><b>{html.escape(compared(claim.verdict, answer.prediction), quote=False)}</b></p>"
        f"<p>{inline(claim.fact)}</p>{source}{_proof_html(claim.proof.strip())}{outcome}</div>"
    )


def _proof_html(code: str) -> str:
    """The code of a proof; a long one is folded, for those who want to see how it was measured."""
    count = len(code.splitlines())
    if count <= _LONG_PROOF:
        return code_html(code)
    summary = f"How it was measured: {count} lines"
    return f"<details><summary>{summary}</summary>{code_html(code)}</details>"


_LONG_PROOF = 8


def said_html(claim: Claim) -> str:
    """The claim, named as one."""
    return f'<p style="line-height:1.45"><b>Claim.</b> {inline(claim.said)}</p>'


def inline(text: str) -> str:
    """Text with `code` marked up, everything else escaped."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))


def verdict_of(word: object) -> str | None:
    """The verdict that a word from the keyboard means: `"It depends"`, `"depends"`, `True`."""
    folded = str(word).strip().lower()
    return {"it depends": "depends"}.get(folded, folded if folded in VERDICTS else None)


def _shown_lines(proof: Proof) -> list[str]:
    values = [f"{name} = {value}" for name, value in proof.shown]
    return values + proof.printed.rstrip().splitlines()


def code_html(text: str) -> str:
    """Lines of code or output, set as they stand."""
    style = (
        "background:rgba(127,127,127,.14);color:inherit;padding:8px;white-space:pre-wrap;"
        "word-break:normal;overflow-wrap:anywhere;"
        "font-family:monospace;line-height:1.4"
    )
    return f'<pre style="{style}">{html.escape(text)}</pre>'


def plain(text: str) -> str:
    """Text without the marks of code."""
    return text.replace("`", "")
