"""What the stride explorer shows, as HTML with a plain-text twin."""

from __future__ import annotations

from html import escape

from course.figures.storage.figure import show_storage
from course.inspection.facts import TensorFacts
from course.widgets.exploration import Attempt, Exploration, Forecast, attempt

__all__ = [
    "PROSE",
    "attempts_html",
    "facts_html",
    "forecast_html",
    "forecast_words",
    "message_html",
    "state_words",
]

# The page is light or dark with JupyterLab's theme; the colours come from it where it has them.
# ipywidgets gives every line the height of a button, which tears texts apart.
PROSE = "color:var(--jp-content-font-color1,inherit);line-height:1.45"
_FORECASTS = {
    "view": "works, on the same storage",
    "copy": "copies into a new storage",
    "error": "raises an error",
}
_OUTCOMES = {"view": "the same storage", "copy": "a copy, in a storage of its own"}


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


def forecast_words(state: Exploration, seen: Forecast) -> list[str]:
    """What view and reshape will do, a line each, and why."""
    target = ", ".join(map(str, seen.target)) or "()"
    return [
        f"{state.name}.view({target}) {_FORECASTS[seen.view]}.",
        f"{state.name}.reshape({target}) {_FORECASTS[seen.reshape]}.",
        f"Why: {seen.reason}",
    ]


def forecast_html(state: Exploration, seen: Forecast) -> str:
    """The forecast as a short list."""
    return _list("Before running", forecast_words(state, seen))


def attempts_html(state: Exploration, target: tuple[int, ...]) -> str:
    """What view and reshape did, and a picture of the two results' storage."""
    tensor = state.tensor()
    tries = [attempt(tensor, method, target) for method in ("view", "reshape")]
    words = [f"{state.name}.{_attempt_words(one)}" for one in tries]
    page = _list("After running", words)
    result = tries[1].result
    if result is None:
        return page
    picture = show_storage(tensor, result, names=[state.name, f"{state.name}.{tries[1].call}"])
    return page + picture._repr_html_()


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
