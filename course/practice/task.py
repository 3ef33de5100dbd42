"""A task of one minute, answered in one line and checked at once, without points.

    warm_up("new-strides", yours=...)

shows the question. The learner puts an answer in place of the dots and runs the cell again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from html import escape

from course.claims.errors import ClaimError
from course.practice.same_value import kind_of, same_value, shown
from course.practice.warm_ups import Task, task

__all__ = ["WarmUp", "judged", "warm_up"]

_INVITATION = "Put your answer in place of `...` and run this cell again."
_TRIES = 2  # so many wrong answers, and the right one is told
_SIGNS = {"open": "✎", "right": "✓", "wrong": "✗", "fault": "–"}
_WORDS = {"open": "open", "right": "right", "wrong": "not right", "fault": "cannot be judged"}

# The wrong answers since the kernel started, by question: running a cell again is no new try.
_wrong_answers: dict[str, list[str]] = {}


def warm_up(id: str, *, yours: object) -> WarmUp:
    """The question with what is to be said of your answer: open, right, or wrong and why.

    An id that does not exist is told with the nearest ones: a warm-up stops no notebook.

    Args:
        id: The warm-up's name in the file of its lesson, such as "new-strides".
        yours: Your answer; `...` asks.
    """
    try:
        asked = task(id)
    except ClaimError as error:
        return WarmUp(f"`{id}`", "fault", (str(error),))
    names = sys._getframe(1).f_globals
    right = partial(_right_value, asked, dict(names))
    return judged(asked.asks, yours, right, asked.hint, asked.unanswered or _INVITATION)


def _right_value(asked: Task, names: dict[str, object]) -> object:
    """What the right answer is here; names and random numbers of the notebook stay untouched."""
    from course.inspection.random_state import random_state_kept

    with random_state_kept():
        exec(compile(asked.code, f"<warm-up {asked.id}>", "exec"), names)
        return eval(compile(asked.right, f"<warm-up {asked.id}>", "eval"), names)


def judged(
    question: str,
    yours: object,
    right: Callable[[], object],
    hint: str = "",
    invitation: str = _INVITATION,
) -> WarmUp:
    """The question with what is to be said of an answer to it.

    Args:
        question: The task, in Markdown's backticks for code; it also names the warm-up among
            others.
        yours: The answer; `...` asks.
        right: What finds the right value.
        hint: What a wrong answer is told; a second, different one is told the right value as well.
        invitation: What is said while there is no answer.
    """
    if yours is ...:
        return WarmUp(question, "open", (invitation,), hint)
    try:
        found = right()
        agree = same_value(yours, found)
        wanted = shown(found)
    except NameError as error:
        reason = f"The cells above make {_name_in(error)}. Run them first, then this one again."
        return WarmUp(question, "fault", (reason,))
    except Exception as error:
        # Whatever the author's value does: a lesson goes on, and it is not the learner's fault.
        reason = f"The right answer cannot be found here ({type(error).__name__}: {error})."
        return WarmUp(question, "fault", (reason, "That is not your fault; go on with the lesson."))
    if agree:
        _wrong_answers.pop(question, None)
        return WarmUp(question, "right", (f"Right: `{wanted}`",))
    return WarmUp(question, "wrong", _in_words(question, yours, found, hint))


def _name_in(error: NameError) -> str:
    return f"`{error.name}`" if error.name else "what this one needs"


def _in_words(question: str, yours: object, right: object, hint: str) -> tuple[str, ...]:
    """What to say of a wrong answer, one sentence each."""
    tries = _wrong_answers.setdefault(question, [])
    value = _safely_shown(yours)
    if value not in tries:
        tries.append(value)
    told = [f"Not yet: `{value}` isn't it."]
    if isinstance(yours, BaseException):
        told = [f"That is an error, not an answer: {_safely_shown(yours)}"]
    elif callable(yours) and not isinstance(yours, type):
        told = [f"`{value}` is a function. Call it, and give what it returns."]
    elif len(tries) < _TRIES:
        told += _about_kind(yours, right)
    told += [f"Hint: {hint}"] if hint else []
    if len(tries) >= _TRIES:
        told.append(f"The right answer is `{shown(right)}`.")
    else:
        told.append("Try another answer.")
    return tuple(told)


def _about_kind(yours: object, right: object) -> list[str]:
    """What kind of value is asked for, where the answer is of another one."""
    wanted = kind_of(right)
    return [f"The answer is {wanted}."] if wanted and wanted != kind_of(yours) else []


def _safely_shown(value: object) -> str:
    try:
        return shown(value)
    except Exception:
        return f"your {type(value).__name__}"


@dataclass(frozen=True, repr=False)
class WarmUp:
    """A task as it stands: `state` is open, right, wrong or fault; `told` is said of it.

    `folded` is a hint for whoever wants it before answering.
    """

    question: str
    state: str
    told: tuple[str, ...]
    folded: str = ""

    def __repr__(self) -> str:
        words = " ".join(self.told).replace("`", "")
        return f"Warm-up. {self.question.replace('`', '')}\n{_SIGNS[self.state]} {words}"

    def _repr_html_(self) -> str:
        said = " ".join(map(_marked, self.told))
        hint = f"<details><summary>Hint</summary>{_marked(self.folded)}</details>"
        weight = "bold" if self.state in ("right", "wrong") else "normal"
        return (
            '<div class="pm-warm-up" role="status" style="max-width:56em;padding-left:12px;'
            'border-left:3px solid currentColor;line-height:1.45">'
            f'<p style="margin:0.3em 0"><b>Warm-up.</b> {_marked(self.question)}</p>'
            f'<p style="margin:0.3em 0"><span style="font-weight:{weight}" role="img" '
            f'aria-label="{_WORDS[self.state]}" title="{_WORDS[self.state]}">'
            f"{_SIGNS[self.state]}</span> {said}</p>{hint if self.folded else ''}</div>"
        )


def _marked(text: str) -> str:
    """Text as HTML, with what stands between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))
