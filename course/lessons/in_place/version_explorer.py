"""The version explorer: walk through a program, and say before each line which counters move."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from course.figures.storage.descriptions import listed
from course.lessons.in_place.versions_figure import (
    Moment,
    lines_of,
    moments_of,
    picture_of,
    show_versions,
)
from course.widgets.explorer import Explorer, at_most
from course.widgets.pages import PROSE

__all__ = ["VersionExplorer", "VersionPanel", "explore_versions"]

_OWN = "the one in the cell"
_WEIGHT = "w = torch.ones(2, requires_grad=True)\n"
_EXAMPLES = {
    "a saved result, written": _WEIGHT + "y = w.exp()\ny += 1\ny.sum().backward()",
    "a result that nobody saved": _WEIGHT + "y = w * 2\ny += 1\ny.sum().backward()",
    "a saved input, written off the record": (
        _WEIGHT + "y = w.sin()\nwith torch.no_grad(): w.mul_(1)\ny.sum().backward()"
    ),
    "past the counter, with .data": (
        _WEIGHT + "y = w.exp()\nd = y.data\nd += 1\ny.sum().backward()"
    ),
    "a view of a view": "x = torch.zeros(6)\ny = x[2:]\nz = y[:2]\nx.t_()\nz += 1\nx = x + 1",
}
_RAISES = "it raises an error"


def explore_versions(program: str = _EXAMPLES["a saved result, written"]) -> VersionExplorer:
    """An explorer that runs a program line by line and asks first which counters will go up.

    The lines see `torch` and nothing of the notebook, so yours stays as it is. In a live notebook
    there are boxes to tick and a button for the next line. Anywhere else it is the figure of
    `show_versions`, with all lines run.

    Args:
        program: Lines of Python, run one after the other.

    Raises:
        ValueError: There are no lines.
    """
    return VersionExplorer(program)


class VersionExplorer(Explorer["VersionPanel"]):
    """What `explore_versions` shows: a panel of widgets, or the figure of the whole program."""

    def __init__(self, program: str) -> None:
        if not lines_of(program):
            raise ValueError("explore_versions() walks through a program; this one has no lines.")
        self._program = program

    def _make_panel(self) -> VersionPanel:
        return VersionPanel(self._program)

    def __repr__(self) -> str:
        return repr(show_versions(self._program))

    def _repr_html_(self) -> str:
        return show_versions(self._program)._repr_html_()


def risen(before: Moment | None, after: Moment) -> set[str]:
    """The names whose number a line made go up; a name that is new has none that could."""
    old = before.versions if before is not None else {}
    return {name for name, version in after.versions.items() if version > old.get(name, version)}


def judged(said: set[str], error: bool, before: Moment | None, after: Moment) -> tuple[bool, str]:
    """Whether a prediction came true, and what happened in a sentence or two."""
    up = risen(before, after)
    told = f"{listed(sorted(up))} went up." if up else "No number went up."
    raised = f" It raised {after.error}." if after.error else ""
    if said != up:
        guess = listed(sorted(said)) if said else "none"
        return False, f"✗ You ticked {guess}. {told}{raised}"
    if error == bool(after.error):
        return True, f"✓ Right. {told}{raised}"
    return False, f"✗ Not quite. {told}{raised or ' It raised nothing.'}"


class VersionPanel:
    """The widgets of one explorer: the program, a prediction, one button for the next line.

    Only what ipywidgets 7 and 8 both have is used. Every control has its label as text, and the
    button keeps the focus, so that a program can be walked through with the keyboard.
    """

    def __init__(self, program: str) -> None:
        from ipywidgets import HTML, Button, Dropdown, HBox, Layout, Textarea, VBox

        self._given = "\n".join(lines_of(program))
        label = {"style": {"description_width": "initial"}}
        wide, examples = Layout(width="max-content"), [_OWN, *_EXAMPLES]
        self.example = Dropdown(options=examples, description="Program:", layout=wide, **label)
        self.code = Textarea(
            value=self._given,
            description="Code:",
            rows=8,
            continuous_update=False,
            layout=at_most("60ch"),
            **label,
        )
        self.question, self.message, self.picture = HTML(), HTML(), HTML()
        self.boxes: tuple[Any, ...] = ()
        self.choices = HBox(layout=Layout(flex_flow="row wrap"))
        self.next = Button(description="Run this line", layout=Layout(width="auto"))
        self.again = Button(description="Start again", layout=Layout(width="auto"))
        buttons = HBox([self.next, self.again], layout=Layout(flex_flow="row wrap"))
        parts = [self.example, self.code, self.question, self.choices, buttons]
        self.box = VBox([*parts, self.message, self.picture])
        self.example.observe(lambda _: self._take_example(), names="value")
        self.code.observe(lambda _: self.start(), names="value")
        self.next.on_click(lambda _: self.step())
        self.again.on_click(lambda _: self.start())
        self.start()

    def start(self) -> None:
        """Go back to the first line of what the field holds."""
        self._lines = lines_of(self.code.value)
        self._moments = moments_of(self.code.value)
        self._done = self._right = 0
        self._show("")

    def step(self) -> None:
        """Run the next line and compare it with the boxes."""
        if self._over():
            return
        said = {box.description for box in self.boxes if box.value}
        right, words = judged(
            said - {_RAISES}, _RAISES in said, self._before(), self._moments[self._done]
        )
        self._done += 1
        self._right += right
        if self._over():
            words += f" You were right about {self._right} of {self._done} lines."
        self._show(words)

    def _over(self) -> bool:
        return self._done >= len(self._moments)

    def _before(self) -> Moment | None:
        return self._moments[self._done - 1] if self._done else None

    def _take_example(self) -> None:
        self.code.value = _EXAMPLES.get(self.example.value, self._given)

    def _show(self, words: str) -> None:
        self.question.value = _question(self._lines, self._done, over=self._over())
        self._offer()
        self.message.value = _line(words, status=True)
        waiting = [] if self._over() else self._lines[self._done :]
        shown = self._moments[: self._done]
        self.picture.value = picture_of(shown, waiting)._repr_html_() if shown or waiting else ""

    def _offer(self) -> None:
        """A box for each counter that there is, and one for an error; none after the last line."""
        from ipywidgets import Checkbox, Layout

        before = self._before()
        known = [] if self._over() else [*(before.versions if before else ()), _RAISES]
        wide = Layout(width="auto", margin="0 16px 0 0")
        self.boxes = tuple(Checkbox(description=one, indent=False, layout=wide) for one in known)
        self.choices.children = self.boxes
        self.next.disabled = self._over()


def _question(lines: Sequence[str], done: int, *, over: bool) -> str:
    if not lines:
        return _line("Write a program into the field, one statement a line.")
    if over:
        return _line("The program has ended. Choose another one, or change this one.")
    line = f"<code>{escape(lines[done])}</code>"
    return f'<div style="{PROSE}">Next: {line}. Which numbers will go up? Tick them first.</div>'


def _line(text: str, *, status: bool = False) -> str:
    role = ' role="status"' if status else ""
    return f'<div{role} style="{PROSE}">{escape(text)}</div>'
