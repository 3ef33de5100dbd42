"""The check table: what a learner sees below a test cell, as HTML with a plain-text twin."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from uuid import uuid4

from course.inspection.facts import TensorFacts
from course.testing import attempts
from course.testing.results import CheckResult, TestResult

__all__ = [
    "METADATA_KEY",
    "About",
    "draw_layouts",
    "headline",
    "html_table",
    "on_any_ground",
    "show_table",
    "text_table",
]

METADATA_KEY = "pytorch-measured"
_MARKS = {"passed": "✓", "failed": "✗", "open": "–", "lost": "–"}
_WORDS = {
    "passed": "holds",
    "failed": "does not hold",
    "open": "not attempted",
    "lost": "not reached",
}
# Each mark has a sign, a word for screen readers and a colour.
_COLOURS = {"passed": "#1b7f4d", "failed": "#c2410c", "open": "#6b7280", "lost": "#6b7280"}


@dataclass(frozen=True)
class About:
    """What a table says beside its checks.

    `why` is told when all of them hold, and then `then`, the heading that follows. `hidden` says
    what hidden checks try, in kinds and never in values. `place` is the exercise's number and how
    many there are. `complete` says that the table has every check that gives points, as in the
    self-study edition. `notes` stand above the checks.
    """

    why: str = ""
    hidden: str = ""
    place: tuple[int, int] | None = None
    then: str = ""
    complete: bool = False
    notes: tuple[str, ...] = ()


_NOTHING = About()


def _state(check: CheckResult) -> str:
    if check.passed or not check.attempted:
        return "passed" if check.passed else "open"
    return "failed" if check.reached else "lost"


def on_any_ground(colour: str) -> str:
    """A style for text: the colour, drawn towards the page's own ink, light or dark.

    No single colour has 4.5 : 1 on white and on the stripes of JupyterLab's dark theme. A browser
    that cannot mix colours keeps the first declaration.
    """
    return f"color:{colour};color:color-mix(in srgb,{colour} 60%,currentColor)"


def headline(result: TestResult, about: About = _NOTHING) -> str:
    """One line that sums the table up, for example `flatten: 2.5 of 4 points`.

    Points are named only where the table has every check that gives some. A learner's class
    edition has the visible ones alone: there they are counted as checks.
    """
    name = result.exercise
    if about.place is not None:
        name = f"Exercise {about.place[0]} of {about.place[1]}, {name}"
    held, all_of_them = sum(check.passed for check in result.checks), len(result.checks)
    if _has_all_checks(result, about):
        if result.status == "not attempted":
            return f"{name}: not attempted yet, 0 of {result.max:g} points"
        return (
            f"{name}: {result.score:g} of {result.max:g} points · "
            f"{held} of {all_of_them} checks hold"
        )
    if result.status == "not attempted":
        return f"{name}: not attempted yet"
    more = f"hidden ones also try {about.hidden}" if about.hidden else "grading may add hidden ones"
    return f"{name}: {held} of {all_of_them} visible checks hold; {more}"


def _has_all_checks(result: TestResult, about: About) -> bool:
    graded = os.environ.get("NBGRADER_EXECUTION") == "autograde"
    return graded or about.complete or any(check.hidden for check in result.checks)


def _label(check: CheckResult) -> str:
    name = f"{check.name} (hidden)" if check.hidden else check.name
    return f"{name}: not reached" if _state(check) == "lost" else name


def text_table(result: TestResult, about: About = _NOTHING) -> str:
    """The table as text, one line a check and one for what to look at."""
    lines = [headline(result, about), *(f"  ! {note}" for note in about.notes)]
    for row in _rows(result):
        lines.append(f"  {_MARKS[_state(row.check)]} {_label(row.check)}")
        lines += [f"      {row.message}"] if row.message else []
        lines += [f"      {name}: {value}" for name, value in row.pair]
        lines += [f"      {row.belief}"] if row.belief else []
    return "\n".join([*lines, *(f"  {line}" for line in _closing(result, about))])


@dataclass(frozen=True)
class _Row:
    """A check, and what is told below its name."""

    check: CheckResult
    message: str = ""
    pair: Sequence[tuple[str, str]] = ()
    belief: str = ""


def _rows(result: TestResult) -> Iterator[_Row]:
    """A row for each check. What a row above has told of a failure is not told again.

    An exception is told once, in the row of the first check that it took; the others that it took
    were not reached.
    """
    told: set[Any] = set()
    for check in result.checks:
        if _state(check) in ("open", "lost"):
            yield _Row(check)
        elif check.passed:
            yield _Row(check, check.message)
        else:
            message, pair, belief = check.message, _pair(check), _belief(check)
            new = [one for one in (message, tuple(pair), belief) if one not in told]
            told.update(new)
            yield _Row(
                check,
                message if message in new else "",
                pair if tuple(pair) in new else [],
                belief if belief in new else "",
            )


def _closing(result: TestResult, about: About) -> list[str]:
    """Why all checks hold and where to go on, where they do."""
    if not result.checks or not all(check.passed for check in result.checks):
        return []
    why = [f"Why it holds: {about.why}"] if about.why else []
    return [*why, f"Next: {about.then}"] if about.then else why


def _pair(check: CheckResult) -> list[tuple[str, str]]:
    told = ("called", check.call), ("yours", check.actual), ("expected", check.expected)
    return [(name, value) for name, value in told if value]


def _belief(check: CheckResult) -> str:
    """What may be believed wrongly, where the lesson has a text for it."""
    if check.misconception is None:
        return ""
    from course.claims import misconception

    try:
        found = misconception(check.misconception)
    except LookupError:
        return ""
    title = found.title.strip().rstrip(".")
    return f"You may believe: “{title}.” In fact: {found.why}"


def html_table(
    result: TestResult, about: About = _NOTHING, *, picture: Callable[..., Any] | None = None
) -> str:
    """The table as HTML; `picture(check)` draws the first failed layout check."""
    rows = "".join(map(_html_row, _rows(result)))
    drawn = _drawing(result, picture) if picture is not None else ""
    notes = "".join(f'<p role="status">⚠ {_marked(note)}</p>' for note in about.notes)
    closing = "".join(f"<p>{_marked(line)}</p>" for line in _closing(result, about))
    return (
        '<div class="pm-checks" style="max-width:56em">'
        f'<p style="margin:0.3em 0"><strong>{escape(headline(result, about))}</strong></p>{notes}'
        '<table style="border-collapse:collapse;width:100%;font-size:14px" '
        f'aria-label="Checks of {escape(result.exercise, quote=True)}">'
        f"<tbody>{rows}</tbody></table>"
        f"{closing}{drawn}</div>"
    )


def _html_row(row: _Row) -> str:
    state = _state(row.check)
    cell = "padding:4px 8px;text-align:left;vertical-align:top;border-top:1px solid #9ca3af55"
    body = [_marked(_label(row.check))]
    if state == "lost":
        body = [f'<span style="{on_any_ground(_COLOURS[state])}">{body[0]}</span>']
    if row.message:
        body.append(f'<div style="margin-top:2px">{_marked(row.message)}</div>')
    body += [f"<div>{name}: <code>{escape(value)}</code></div>" for name, value in row.pair]
    if row.belief:
        body.append(f"<div><em>{_marked(row.belief)}</em></div>")
    return (
        f'<tr><td style="{cell};width:1.5em;font-weight:bold;{on_any_ground(_COLOURS[state])}" '
        f'aria-label="{_WORDS[state]}" title="{_WORDS[state]}">{_MARKS[state]}</td>'
        f'<td style="{cell}">{"".join(body)}</td></tr>'
    )


def _marked(text: str) -> str:
    """Text as HTML, with `names` between backticks set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _drawing(result: TestResult, picture: Callable[..., Any]) -> str:
    for check in result.checks:
        if not check.passed and check.attempted and check.layouts and not check.hidden:
            try:
                return str(picture(check)._repr_html_())
            except Exception:
                # A picture is a help; the words of the check stand without it.
                return ""
    return ""


class Table:
    """A test result that Jupyter can show; its metadata carries the record for the grader."""

    def __init__(self, result: TestResult, about: About = _NOTHING) -> None:
        self.result, self.about = result, about

    def __repr__(self) -> str:
        return text_table(self.result, self.about)

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        data = {
            "text/plain": text_table(self.result, self.about),
            "text/html": html_table(self.result, self.about, picture=_picture_of),
        }
        return data, {METADATA_KEY: self.result.to_dict()}


def _picture_of(check: CheckResult) -> Any:
    return draw_layouts(check.layouts, check.expected)


# What a check of two tensors expects: the second one is then no model of the first.
_OF_TWO = {"the same storage", "a storage of its own", "a common element", "no common element"}


def draw_layouts(layouts: Sequence[TensorFacts], expected: str | None) -> Any:
    """The picture of a failed layout check: your tensor, and the other one or the expected one."""
    from course.figures import compare_storage, show_storage

    if len(layouts) == 1:
        return show_storage(*layouts, names=["yours"])
    if expected in _OF_TWO:
        return show_storage(*layouts, names=["yours", "the other one"])
    return compare_storage(*layouts)


def show_table(result: TestResult, about: About = _NOTHING) -> None:
    """Display the table in a notebook; print it where there is none.

    In a learner's notebook it says when it judges an older version of the answer, and goes on to
    say when the answer has changed since.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        print(text_table(result, about))
        return
    about = replace(about, notes=(*about.notes, *attempts.unread_answers()))
    data, metadata = Table(result, about)._repr_mimebundle_()
    display_id = {"display_id": f"pm-checks-{uuid4().hex}"}

    def tell(changed: bool) -> None:
        now = replace(about, notes=(*about.notes, _CHANGED)) if changed else about
        data, metadata = Table(result, now)._repr_mimebundle_()
        shell.display_pub.publish(data, metadata, transient=display_id, update=True)

    if attempts.watch(result.exercise, tell):
        shell.display_pub.publish(data, metadata, transient=display_id)
    else:
        shell.display_pub.publish(data, metadata)


_CHANGED = "Your answer has changed since this table was made. Run this cell again."
