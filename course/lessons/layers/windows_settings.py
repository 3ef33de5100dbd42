"""What the windows explorer runs: an operation, its numbers, its code, and a question about it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import torch
from torch.nn import functional

from course.lessons.layers.inputs_read import Reading, reading_of

__all__ = ["KINDS", "POOLS", "Setting", "SettingError", "judged", "question"]

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
