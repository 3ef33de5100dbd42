"""A prediction of what happens: lines to run, and what a learner may think that they print.

Those of a lesson stand in `course/lessons/<name>/predictions.toml`:

    [[prediction]]
    id = "…"                        # its name in predict("…"); no claim has the same
    asks = "…"                      # the question; "What does it print?" where it is left out
    code = '''…'''                  # run as a cell, after the preamble of course.claims.proofs
    prints = "…"                    # what comes of it: a test runs the lines and compares
    choices = ["…", "…"]            # optional: to be picked from; without it, it is typed
    drawn = { A = "…", B = "…" }    # optional: an expression for each choice, drawn as a picture
    fact = "…"                      # why that is so
    claim = "…"                     # optional: the claim that it settles, with its fact
    otherwise = "…"                 # why one might think something else: one sentence
    needs = "fork"                  # optional: what a claim's proof may need

    [prediction.because]            # optional: the sentence for one wrong guess
    "…" = "…"

What comes of a cell is what it prints and the value of its last line, or the error that it raises:
"RuntimeError".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from course.claims.errors import MalformedClaims, UnknownId
from course.claims.guess import same_outcome
from course.claims.lesson_files import mentioning, texts, unknown
from course.claims.schema import NEEDS
from course.claims.toml_tables import check_choice, check_keys, only_entries

__all__ = ["PREDICTIONS", "Prediction", "parse_predictions", "prediction", "predictions"]

PREDICTIONS = "predictions.toml"
_KIND = "prediction"
_REQUIRED = ("id", "code", "prints", "otherwise")
_OPTIONAL = ("asks", "choices", "drawn", "fact", "claim", "needs", "because")


@dataclass(frozen=True)
class Prediction:
    """Lines of code, what comes of them, and what to say of other guesses.

    Attributes:
        id: Its name, which no other prediction and no claim has.
        code: The lines; they are shown, and run once something was predicted.
        prints: What they print, or the class of the error that they raise.
        otherwise: Why one might think something else.
        asks: The question.
        choices: The guesses to pick from; none where the guess is typed.
        drawn: For choices that are pictures, the expression of each.
        fact: Why it is so; empty where the claim's fact says it.
        claim: The id of the claim that it settles.
        needs: What the lines cannot do without, as for a claim's proof.
        because: Why one might think so, by guess.
    """

    id: str
    code: str
    prints: str
    otherwise: str
    asks: str = "What does it print?"
    choices: tuple[str, ...] = ()
    drawn: Mapping[str, str] = field(default_factory=dict)
    fact: str = ""
    claim: str | None = None
    needs: str | None = None
    because: Mapping[str, str] = field(default_factory=dict)

    def why(self, guess: str) -> str:
        """Why one might have guessed that."""
        fitting = (why for wrong, why in self.because.items() if same_outcome(guess, wrong))
        return next(fitting, self.otherwise)


def parse_predictions(text: str, file: str) -> tuple[Prediction, ...]:
    """The predictions of one file's text.

    Args:
        text: What is in the file.
        file: What an error calls it.

    Raises:
        MalformedClaims: It breaks the form above.
    """
    return tuple(_prediction(*one) for one in only_entries(text, _KIND, file))


def _prediction(entry: Mapping[str, object], where: str) -> Prediction:
    forms = {"choices": list, "drawn": dict, "because": dict}
    check_keys(entry, _REQUIRED, _OPTIONAL, where, forms)
    check_choice(entry, "needs", NEEDS, where)
    given = {**entry, "choices": tuple(entry.get("choices", ()))}  # type: ignore[arg-type]
    made = Prediction(**given)  # type: ignore[arg-type]
    if not made.fact and not made.claim:
        raise MalformedClaims(f'{where}: nothing says why it is so. Add fact = "…" or claim = "…".')
    if made.choices and made.prints not in made.choices:
        raise MalformedClaims(f"{where}: what it prints is none of the choices. Add it.")
    if made.drawn and tuple(made.drawn) != made.choices:
        raise MalformedClaims(f"{where}: drawn and choices name different pictures.")
    if any(same_outcome(wrong, made.prints) for wrong in made.because):
        raise MalformedClaims(f"{where}: because has a sentence for the right guess. Remove it.")
    return made


@cache
def _load(folder: str) -> tuple[Prediction, ...]:
    return parse_predictions(texts(PREDICTIONS)[folder], f"{folder}/{PREDICTIONS}")


def prediction(id: str) -> Prediction:
    """The prediction with that id.

    Raises:
        UnknownId: None has it; the message names the nearest ones.
        MalformedClaims: A file breaks its form.
    """
    for folder, _ in mentioning(id, PREDICTIONS):
        for one in _load(folder):
            if one.id == id:
                return one
    raise UnknownId(unknown(_KIND, id, (one.id for one in predictions())))


def predictions(folder: str | None = None) -> tuple[Prediction, ...]:
    """The predictions of one lesson's folder, such as "memory_layout", or of all lessons."""
    folders = texts(PREDICTIONS) if folder is None else [folder]
    return tuple(one for name in folders if name in texts(PREDICTIONS) for one in _load(name))
