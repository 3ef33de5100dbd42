"""Twelve predictions that say where to begin.

    placement()

asks one claim of each of twelve lessons, with the buttons of the lessons. From the answers follows,
for each path through the map, which lessons to skim and with which one to begin. Where buttons
cannot live, the questions are text with folded answers, and `placement(missed=[4, 5])` gives the
same advice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from course.claims.quiz import Message, QuizButtons
from course.claims.quiz_words import LEGEND, question_html, question_text
from course.claims.reader import claim
from course.claims.schema import Claim
from course.guide.lesson_cards import PATHS, Card, cards, on_path
from course.widgets.last_state import Shown

__all__ = ["ASKED", "Placement", "placement"]

# One claim a lesson, with the belief that makes people miss it. Each is what a lesson is about, not
# a detail of it; nobody knows it from the documentation's first page; and whoever always presses
# the same button misses most of them. Lessons that build on all of these ask nothing: they are new
# to whoever needs one of them.
ASKED: Mapping[str, str] = {
    "to-moves-what-it-is-called-on": "what is so for modules is taken to be so for tensors",
    "repeated-index-adds-twice": "`+=` is read as a loop over the indices",
    "float32-keeps-growing": "the largest number is mistaken for the range of exact ones",
    "view-works-on-regular-strides": "`view` is believed to need a contiguous tensor",
    "no-grad-results-do-not-require-grad": "views made under `no_grad` are forgotten",
    "rebinding-breaks-at-step-two": "the new tensor is taken for the old weight",
    "list-layers-get-no-gradient": "registration is mixed up with the graph",
    "no-grad-protects-running-statistics": "`no_grad` is mixed up with `eval()`",
    "pin-memory-saves-the-copy": "the copy is believed to vanish; it moves",
    "one-step-an-epoch-accumulates": "a sum of gradients is taken for their mean",
    "learnt-parameters-are-enough": "buffers are forgotten",
    "total-loss-piles-up-graphs": "a graph is taken for the memory that it had before backward",
}
_CAUTION = (
    "One question a lesson is a hint, no exam: one in four is right by chance. To skim a lesson, "
    "read its rules and take the quiz at its end."
)


class Placement(Shown):
    """The questions, and the advice that follows from the answers."""

    def __init__(self, asked: Sequence[Claim], lessons: Sequence[Card]) -> None:
        self.asked = tuple(asked)
        self.lessons = tuple(lessons)

    def __repr__(self) -> str:
        questions = "\n\n".join(
            [LEGEND, *(f"{_about(one)}\n{question_text(one, legend=False)}" for one in self.asked)]
        )
        return f"{questions}\n\n{_BY_HAND}"

    def _repr_html_(self) -> str:
        questions = "".join(
            f"<p>{escape(_about(one))}</p>{question_html(one, legend=False)}" for one in self.asked
        )
        return f"<p>{LEGEND}</p>{questions}<p>{escape(_BY_HAND)}</p>"

    def _buttons(self) -> Panel:
        return Panel(self.asked, self.lessons)


_BY_HAND = (
    "Predict each, then look at its answer. Run placement(missed=[4, 5]) with the numbers of the "
    "lessons whose questions you missed: it says where to begin."
)


class Panel:
    """The widgets: the questions, how many were right, and below them the advice."""

    def __init__(self, asked: Sequence[Claim], lessons: Sequence[Card]) -> None:
        from ipywidgets import HTML, VBox

        self.lessons = tuple(lessons)
        self.advice = HTML()
        self.quiz = QuizButtons(asked, answered=self._advise)
        self._advise()
        self.box = VBox([self.quiz.box, self.advice])

    def page(self) -> str:
        """The questions as they stand, and the advice, as HTML without buttons."""
        return f"{self.quiz.page()}{self.advice.value}"

    def words(self) -> str:
        """The same as plain text."""
        advice = self._advice()
        return "\n\n".join([self.quiz.words(), *([repr(advice)] if advice else [])])

    def _advise(self) -> None:
        advice = self._advice()
        self.advice.value = f'<div role="status">{advice._repr_html_() if advice else ""}</div>'

    def _advice(self) -> Advice | None:
        """What follows from the answers, once all are given."""
        right = {one.claim.lesson[:2]: one.right for one in self.quiz.questions}
        if None in right.values():
            return None
        missed = [number for number, one in right.items() if not one]
        return Advice(self.lessons, tuple(right), tuple(missed))


@dataclass(frozen=True, repr=False)
class Advice:
    """Where to begin on each path, from the numbers of the lessons asked about and missed."""

    lessons: tuple[Card, ...]
    asked: tuple[str, ...]
    missed: tuple[str, ...]

    def __repr__(self) -> str:
        paths = [f"{name}: {' '.join(self.steps(path))}" for path, name in PATHS.items()]
        return "\n".join([*paths, _CAUTION])

    def _repr_html_(self) -> str:
        parts = [
            f"<p><b>{escape(name)}</b></p><ul>"
            + "".join(f"<li>{escape(line)}</li>" for line in self.steps(path))
            + "</ul>"
            for path, name in PATHS.items()
        ]
        return f'<div style="line-height:1.45">{"".join(parts)}<p>{_CAUTION}</p></div>'

    def steps(self, path: str) -> list[str]:
        """What to do on a path, a sentence each: where to begin, what to skim, what comes after.

        A lesson that was not asked about counts as new, for what was asked says nothing of it.
        """
        way = on_path(self.lessons, path)
        new = [card for card in way if card.number in self.missed or card.number not in self.asked]
        known = [card for card in way if card not in new]
        if not way:
            return ["No lesson of this path is here."]
        if not new:
            return [f"You know what this path is about. Skim {_named(known)}."]
        first, *rest = new
        steps = [f"Begin with {first.number} {first.name}."]
        if known:
            steps.append(f"Skim {_named(known)}.")
        if rest:
            steps.append(f"After it come {_named(rest)}." if len(rest) > 1 else _last(rest[0]))
        return steps


def placement(
    *, missed: Iterable[int | str] | None = None, lessons: Sequence[Card] | None = None
) -> Placement | Advice | Message:
    """Twelve claims to judge, and where to begin.

    Args:
        missed: The numbers of the lessons whose claims you missed, where there are no buttons.
        lessons: Other cards than the course's own.

    Returns:
        The questions; with `missed`, the advice, or what is wrong with it.
    """
    known = cards() if lessons is None else tuple(lessons)
    asked = [claim(id) for id in ASKED]
    if missed is None:
        return Placement(asked, known)
    numbers = tuple(one.lesson[:2] for one in asked)
    found = tuple(str(one).zfill(2) for one in missed)
    unknown = [one for one in found if one not in numbers]
    if unknown:
        some = ", ".join(sorted(numbers))
        return Message(f"No question is about lesson {unknown[0]}. Give some of {some}.")
    return Advice(known, numbers, found)


def _about(claim: Claim) -> str:
    return f"Lesson {claim.lesson[:2]}"


def _named(lessons: Sequence[Card]) -> str:
    *rest, last = [card.number for card in lessons]
    return f"{', '.join(rest)} and {last}" if rest else last


def _last(card: Card) -> str:
    return f"After it comes {card.number}."
