"""What the stride explorer shows, as HTML with a plain-text twin."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from course.figures.storage.figure import show_storage
from course.inspection.facts import TensorFacts
from course.widgets.exploration import Attempt, Exploration, attempt, forecast

__all__ = [
    "GUESSES",
    "PROSE",
    "facts_html",
    "message_html",
    "outcome_html",
    "outcome_words",
    "state_words",
]

# The page is light or dark with JupyterLab's theme; the colours come from it where it has them.
# ipywidgets gives every line the height of a button, which tears texts apart.
PROSE = "color:var(--jp-content-font-color1,inherit);line-height:1.45"
_OUTCOMES = {"view": "the same storage", "copy": "a copy, in a storage of its own"}
# What a reader can predict of a call, in the words of the choice, and what it comes to.
GUESSES = {"share the storage": "view", "copy": "copy", "raise an error": "error"}


def facts_html(state: Exploration) -> str:
    """The code that makes the tensor, its facts and its picture."""
    seen = state.facts()
    picture = show_storage(state.tensor(), names=[state.name])
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left;padding:2px 16px 2px 0">{escape(name)}</th>'
        f'<td style="text-align:left;padding:2px 0"><code>{escape(value)}</code></td></tr>'
        for name, value in _fact_rows(seen)
    )
    return (
        f'<div style="{PROSE}"><pre style="margin:4px 0">{escape(state.code)}</pre>'
        f"<table>{rows}</table></div>{picture._repr_html_()}"
    )


def _fact_rows(seen: TensorFacts) -> list[tuple[str, str]]:
    return [
        ("shape", str(seen.shape)),
        ("stride", str(seen.stride)),
        ("storage_offset", str(seen.storage_offset)),
        ("is_contiguous", str(seen.is_contiguous)),
    ]


def state_words(state: Exploration) -> str:
    """The same in plain text."""
    lines = [f"{name}: {value}" for name, value in _fact_rows(state.facts())]
    return "\n".join([state.code, *lines, repr(show_storage(state.tensor(), names=[state.name]))])


def outcome_words(
    state: Exploration, target: tuple[int, ...], guesses: Mapping[str, str] | None = None
) -> list[str]:
    """What view and reshape did, beside what was predicted of them, and why they did."""
    words = []
    for one in _attempts(state, target):
        method = one.call.partition("(")[0]
        said = "" if guesses is None else _judged(guesses[method], one.outcome) + " "
        words.append(f"{said}{state.name}.{_attempt_words(one)}")
    return [*words, f"Why: {forecast(state.facts(), target).reason}"]


def outcome_html(
    state: Exploration, target: tuple[int, ...], guesses: Mapping[str, str] | None = None
) -> str:
    """The same as a list, with a picture of the result's storage."""
    page = _list("After running", outcome_words(state, target, guesses))
    last = _attempts(state, target)[-1]
    if last.result is None:
        return page
    names = [state.name, f"{state.name}.{last.call}"]
    return page + show_storage(state.tensor(), last.result, names=names)._repr_html_()


def _attempts(state: Exploration, target: tuple[int, ...]) -> list[Attempt]:
    tensor = state.tensor()
    return [attempt(tensor, method, target) for method in ("view", "reshape")]


def _judged(guess: str, outcome: str) -> str:
    """Whether the prediction of a call came true."""
    return (
        f"✓ You predicted “{guess}”:"
        if GUESSES[guess] == outcome
        else (f"✗ You predicted “{guess}”, but")
    )


def _attempt_words(one: Attempt) -> str:
    if one.result is None:
        return f"{one.call} raised {one.message}"
    stride = tuple(one.result.stride())
    return f"{one.call} returned {_OUTCOMES[one.outcome]}, with stride {stride}."


def message_html(text: str) -> str:
    """A sentence for the reader, announced by screen readers; empty for none."""
    return f'<div role="status" style="{PROSE}">{escape(text)}</div>'


def _list(title: str, lines: list[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<div role="status" style="{PROSE}"><b>{escape(title)}</b><ul>{items}</ul></div>'
