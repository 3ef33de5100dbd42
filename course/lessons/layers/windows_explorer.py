"""The windows explorer: choose an operation, predict, then walk through its outputs.

What the windows explorer runs: an operation, its numbers, its code, and a question about it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

import torch
from torch.nn import functional

from course.figures.picture import Picture
from course.lessons.layers.inputs_read import Reading, reading_of
from course.lessons.layers.windows_figure import picture_of, sum_words
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE, message_html

__all__ = [
    "KINDS",
    "POOLS",
    "Setting",
    "SettingError",
    "WindowsExplorer",
    "WindowsPanel",
    "explore_windows",
    "judged",
    "question",
]

POOLS = ("average pooling", "max pooling")
_RESIZING = {
    "nearest": 'mode="nearest"',
    "nearest-exact": 'mode="nearest-exact"',
    "linear": 'mode="linear", align_corners=False',
    "linear, align_corners": 'mode="linear", align_corners=True',
}
KINDS = ("average pooling", "adaptive average", "max pooling", *_RESIZING)


class SettingError(ValueError):
    """Numbers with which torch does not run the operation, in torch's own words."""


@dataclass(frozen=True)
class Setting:
    """An operation on x = 0, 1, 2, …; pools have a kernel, all others a size of the result."""

    kind: str = "average pooling"
    n: int = 8
    kernel: int = 3
    stride: int = 2
    padding: int = 0
    ceil: bool = False
    size: int = 5

    @property
    def code(self) -> str:
        """The call, as one would write it."""
        if self.kind in POOLS:
            name = "avg_pool1d" if self.kind == "average pooling" else "max_pool1d"
            padding = f", padding={self.padding}" if self.padding else ""
            ceil = ", ceil_mode=True" if self.ceil else ""
            return f"F.{name}(x, {self.kernel}, stride={self.stride}{padding}{ceil})"
        if self.kind == "adaptive average":
            return f"F.adaptive_avg_pool1d(x, {self.size})"
        return f"F.interpolate(x, size={self.size}, {_RESIZING[self.kind]})"

    def reading(self) -> Reading:
        """What torch does with these numbers."""
        try:
            return reading_of(self._run, self.n)
        except (RuntimeError, ValueError) as error:
            raise SettingError(str(error).splitlines()[0]) from error

    def _run(self, x: torch.Tensor) -> torch.Tensor:
        if self.kind == "average pooling":
            return functional.avg_pool1d(x, self.kernel, self.stride, self.padding, self.ceil)
        if self.kind == "max pooling":
            return functional.max_pool1d(
                x, self.kernel, self.stride, self.padding, ceil_mode=self.ceil
            )
        if self.kind == "adaptive average":
            return functional.adaptive_avg_pool1d(x, self.size)
        mode, _, aligned = self.kind.partition(", ")
        how = {"align_corners": bool(aligned)} if mode == "linear" else {}
        return functional.interpolate(x, size=self.size, mode=mode, **how)


def _asked(found: Reading) -> int:
    """The output that is asked for: a middle one, since the first is easy."""
    return len(found.outputs) // 2


def question(setting: Setting, found: Reading) -> str:
    """What to say before the outputs are shown."""
    if setting.kind in POOLS:
        return "How many outputs are there? Type the number and press Enter."
    return (
        f"Which inputs does out[{_asked(found)}] read? Type their numbers, such as 0 1, and "
        "press Enter."
    )


def judged(setting: Setting, found: Reading, text: str) -> tuple[bool, str]:
    """Whether what was typed is so, and why or where to look.

    >>> setting = Setting()
    >>> judged(setting, setting.reading(), "4")
    (False, '✗ Not 4. Count the places where a window of 3 can start: 0, 2, …')
    """
    said = [int(number) for number in re.findall(r"-?\d{1,6}", text)]
    if not said:
        return False, f"{text.strip()!r} has no number in it."
    if setting.kind in POOLS:
        return _count_judged(setting, len(found.outputs), said[0])
    asked = _asked(found)
    read = found.read_by(asked)
    listed = ", ".join(map(str, sorted(set(said))))
    if set(said) == set(read):
        return True, f"✓ Right: out[{asked}] reads {listed}."
    return False, f"✗ Not {listed}. {_hint(setting)}"


def _count_judged(setting: Setting, right: int, said: int) -> tuple[bool, str]:
    if said == right:
        return True, f"✓ Right: {right}."
    first = -setting.padding
    starts = f"{first}, {first + setting.stride}, …"
    over = ", the last one also where it hangs over" if setting.ceil else ""
    hint = f"Count the places where a window of {setting.kernel} can start{over}: {starts}"
    return False, f"✗ Not {said}. {hint}"


def _hint(setting: Setting) -> str:
    n, m = setting.n, setting.size
    if m == 1 and setting.kind == "linear, align_corners":
        return "There's only one output, and the first corner is aligned."
    hints = {
        "adaptive average": f"Output i reads from floor(i · {n} / {m}) to "
        f"ceil((i + 1) · {n} / {m}), the end left out.",
        "nearest": f"Output i reads the input at i · {n} / {m}, rounded down.",
        "nearest-exact": f"Output i reads the input at (i + 0.5) · {n} / {m}, rounded down.",
        "linear": f"Output i lies at (i + 0.5) · {n} / {m} - 0.5, between two inputs or on one.",
        "linear, align_corners": f"Output i lies at i · {n - 1} / {m - 1}, between two inputs or "
        "on one.",
    }
    return hints[setting.kind]


_MOST = 16  # inputs and outputs that a picture holds


def explore_windows(
    kind: str = "average pooling",
    n: int = 8,
    *,
    kernel: int = 3,
    stride: int = 2,
    padding: int = 0,
    size: int = 5,
) -> WindowsExplorer:
    """An explorer of pooling and resizing in one dimension: it asks, then shows each output.

    Outside of a live notebook it is the figure of `show_windows`.

    Args:
        kind: "average pooling" and "max pooling" take kernel, stride and padding; "adaptive
            average", "nearest", "nearest-exact", "linear" and "linear, align_corners" take a size.
        n: Elements of the input, which counts from 0.
        kernel: Elements of a window.
        stride: Elements from one window to the next.
        padding: Elements that are added at each end.
        size: Elements of the result.

    Raises:
        ValueError: There is no such kind; the message lists them.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is not an operation. Take one of {', '.join(KINDS)}.")
    return WindowsExplorer(Setting(kind, n, kernel, stride, padding, size=size))


class WindowsExplorer(Explorer["WindowsPanel"]):
    """What `explore_windows` shows: a panel of widgets, or the figure of its first setting.

    Args:
        setting: The operation and its numbers to begin with.

    Raises:
        SettingError: With these numbers there is no output.
    """

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._reading = setting.reading()

    def _make_panel(self) -> WindowsPanel:
        return WindowsPanel(self._setting)

    def __repr__(self) -> str:
        return repr(self._picture())

    def _repr_html_(self) -> str:
        return self._picture()._repr_html_()

    def _picture(self) -> Picture:
        return picture_of({self._setting.code: self._reading})


class WindowsPanel:
    """The widgets of one explorer. Every control has its label as text.

    Args:
        setting: The operation and its numbers to begin with.
    """

    def __init__(self, setting: Setting) -> None:
        from ipywidgets import HTML, Button, Checkbox, Dropdown, HBox, IntSlider, Layout, Text, VBox

        self.kind = Dropdown(options=list(KINDS), value=setting.kind, **labelled("Operation:"))
        self.n = _number(setting.n, 1, "Inputs:")
        self.kernel = _number(setting.kernel, 1, "Kernel:")
        self.stride = _number(setting.stride, 1, "Stride:")
        self.padding = _number(setting.padding, 0, "Padding:")
        self.ceil = Checkbox(value=setting.ceil, indent=False, description="ceil_mode")
        self.size = _number(setting.size, 1, "Outputs:")
        field = {"continuous_update": False, "layout": Layout(width="30ch")}
        self.guess = Text(value="", **field, **labelled("Your answer:"))
        self.reveal = Button(description="Show the outputs", layout=Layout(width="auto"))
        self.output = IntSlider(value=0, min=0, max=0, **labelled("Output:"))
        self.message, self.page = HTML(), HTML()
        row = Layout(flex_flow="row wrap")
        self.numbers, self.walk = HBox(layout=row), VBox()
        ask = HBox([self.guess, self.reveal], layout=row)
        top = HBox([self.kind, self.n], layout=row)
        self.box = VBox([top, self.numbers, ask, self.message, self.walk, self.page])
        self._busy = False
        pools = (self.kernel, self.stride, self.padding, self.ceil)
        for control in (self.kind, self.n, *pools, self.size):
            control.observe(lambda _: self._start(), names="value")
        self.guess.observe(lambda change: self._judge(change["new"]), names="value")
        self.reveal.on_click(lambda _: self._show(""))
        self.output.observe(lambda _: self._draw(), names="value")
        self._start()

    def _start(self) -> None:
        """Run what is set; its outputs stay hidden until something is said about them."""
        pool = self.kind.value in POOLS
        self.numbers.children = (
            (self.kernel, self.stride, self.padding, self.ceil) if pool else (self.size,)
        )
        self._setting = Setting(
            self.kind.value,
            self.n.value,
            self.kernel.value,
            self.stride.value,
            self.padding.value,
            self.ceil.value,
            self.size.value,
        )
        self._found: Reading | None = None
        try:
            self._found = self._setting.reading()
            words = question(self._setting, self._found)
        except SettingError as error:
            words = f"torch refuses: {error}"
        self._busy = True
        self.guess.value, self.output.value, self.output.max = "", 0, 0
        self._busy = False
        self.walk.children = ()
        self.message.value = message_html(words)
        self._draw()

    def _judge(self, text: str) -> None:
        if self._busy or self._found is None or not text.strip():
            return
        right, words = judged(self._setting, self._found, text)
        if right:
            self._show(words)
        else:
            self.message.value = message_html(words)

    def _show(self, words: str) -> None:
        """Show the outputs from the first one on."""
        if self._found is None:
            return
        self.output.max = len(self._found.outputs) - 1
        self.walk.children = (self.output,)
        told = words or f"There are {len(self._found.outputs)} outputs."
        self.message.value = message_html(f"{told} Move the slider to see what each is made of.")
        self._draw()

    def _draw(self) -> None:
        if self._busy:
            return
        if self._found is None:
            self.page.value = ""
            return
        shown = bool(self.walk.children)
        code = self._setting.code
        picture = picture_of(
            {code: self._found}, self.output.value if shown else None, asked=not shown
        )
        lines = [code, *([sum_words(self._found, self.output.value)] if shown else [])]
        self.page.value = (
            f'<div style="{PROSE}"><pre style="margin:4px 0">{escape(chr(10).join(lines))}</pre>'
            f"</div>{picture._repr_html_()}"
        )


def _number(value: int, least: int, label: str) -> Any:
    """A field for a whole number."""
    from ipywidgets import BoundedIntText, Layout

    return BoundedIntText(
        value=value, min=least, max=_MOST, layout=Layout(width="18ch"), **labelled(label)
    )
