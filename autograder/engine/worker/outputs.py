"""The outputs of one cell, put together from the events that a shell reports.

The events come from the learner's process and may be anything: what is not an event is a
`FrameError`, and what is too large is left out and says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from autograder.engine.kernel.output_recorder import TOO_LARGE
from autograder.engine.limits import Limits
from autograder.engine.outcomes import Output
from autograder.engine.protocol.frames import FrameError
from autograder.lessons.cell_bounds import JSON_KIND, size_of

Event = dict[str, Any]

_STREAMS = ("stdout", "stderr")
_TRACEBACK_LINES = 200
_LINE_CHARS = 20_000
_MOST_OUTPUTS = 1_000
_OUTPUT_NBYTES = 1_000  # what one counts beside its content: nbgrader takes a millisecond for each
_SMALL_NBYTES = 2_000
_MOST_CELLS = 2**31 - 1
_DEPTH = 100  # an honest shell stops at 50; what is deeper cannot travel between processes


class Budget:
    """What the cells of one submission may still show together."""

    def __init__(self, nbytes: int) -> None:
        """Allow `nbytes` bytes."""
        self._left = max(0, nbytes)

    def take(self, nbytes: int) -> bool:
        """Whether the budget had these bytes, which are now spent."""
        if nbytes > self._left:
            return False
        self._left -= nbytes
        return True

    def take_some(self, text: str) -> str:
        """As much of `text` as the budget allows."""
        kept = text[: self._left]
        # Characters, as a text is cut in characters; what is not ASCII is counted in full.
        self._left = max(0, self._left - (len(kept) if kept.isascii() else len(kept.encode())))
        return kept


class Outputs:
    """Collects events; `as_list` gives the cell's outputs in the form of nbformat 4."""

    def __init__(self, limits: Limits, budget: Budget | None = None) -> None:
        """Collect within the limits of a cell and within `budget`, one of its own by default."""
        self._limits = limits
        self._budget = budget or Budget(limits.outputs_nbytes)
        self._found: list[Output] = []
        self._shown: dict[str, list[Output]] = {}
        self._chars = 0
        self._dropped = 0
        self._left_out = 0
        self._display_nbytes = 0
        self._clear_next = False

    def add(self, event: object, nbytes: int) -> None:
        """Take one event whose frame had `nbytes` bytes."""
        if not isinstance(event, dict):
            raise FrameError("an event must be an object")
        for name, take in _TAKERS.items():
            if name in event:
                return take(self, event, nbytes)
        raise FrameError("an event of unknown kind")

    def add_text(self, name: str, text: str) -> None:
        """Take text that a program wrote past Python, straight to stdout or stderr."""
        self._stream({"stream": name, "text": text}, 0)

    def end_with(self, error: str | None, value: str) -> None:
        """The cell ended in `error`: where its traceback was suppressed, say at least that."""
        if error and not self._has("error"):
            lines = ["An error occurred while the display of tracebacks was disabled."]
            self._error({"error": error, "value": value, "traceback": lines}, 0)

    def drop_metadata(self, key: str) -> None:
        """Forget what a learner's cell put under a key that only test cells may use."""
        for output in self._found:
            output.get("metadata", {}).pop(key, None)

    def as_list(self) -> list[Output]:
        """What the cell showed, in order."""
        notes = []
        if self._dropped:
            notes.append(f"{self._dropped:,} more characters were printed and left out")
        if self._left_out:
            several = "outputs were" if self._left_out > 1 else "output was"
            notes.append(f"{self._left_out:,} more {several} left out")
        text = "".join(f"\n… {one}.\n" for one in notes)
        note = {"output_type": "stream", "name": "stdout", "text": text}
        return [*self._found, note] if notes else self._found

    def _stream(self, event: Event, nbytes: int) -> None:
        name, text = event["stream"], _text(event.get("text"))
        if name not in _STREAMS:
            raise FrameError("a stream is stdout or stderr")
        self._clear_if_asked()
        kept = self._budget.take_some(text[: self._limits.text_chars - self._chars])
        self._chars += len(kept)
        self._dropped += len(text) - len(kept)
        self._append_text(name, kept)

    def _append_text(self, name: str, text: str) -> None:
        last = self._found[-1] if self._found else {}
        if text and last.get("output_type") == "stream" and last["name"] == name:
            last["text"] += text
        elif text:
            self._append({"output_type": "stream", "name": name, "text": text})

    def _drop(self, event: Event, nbytes: int) -> None:
        if type(event["dropped"]) is not int or event["dropped"] < 0:
            raise FrameError("a number of characters is a whole number")
        self._dropped += event["dropped"]

    def _display(self, event: Event, nbytes: int) -> None:
        self._show(event, nbytes, {"output_type": "display_data"})

    def _show(self, event: Event, nbytes: int, about: Output) -> None:
        data = {kind: _shown_as(kind, one) for kind, one in _mapping(event["display"]).items()}
        metadata = _mapping(event.get("metadata"))
        name = event.get("id")
        shown = self._shown.get(str(name), []) if event.get("update") else None
        size = size_of([data, metadata])
        # An update takes its place in the notebook as often as the display that it changes.
        times = 1 if shown is None else len(shown)
        if size is None or not self._fits(max(nbytes, size) * times, event):
            data, metadata = {"text/plain": TOO_LARGE}, {}
        if shown is not None:
            for old in shown:
                old.update(data=data, metadata=metadata)
            return
        self._clear_if_asked()
        output = {**about, "data": data, "metadata": metadata}
        if self._append(output) and isinstance(name, str):
            self._shown.setdefault(name, []).append(output)

    def _fits(self, nbytes: int, event: Event) -> bool:
        # A cell's first result always does where it is short: it may be the points of a test.
        if "result" in event and nbytes <= _SMALL_NBYTES and not self._has("execute_result"):
            return True
        self._display_nbytes += nbytes
        return self._display_nbytes <= self._limits.display_nbytes and self._budget.take(nbytes)

    def _has(self, kind: str) -> bool:
        return any(one["output_type"] == kind for one in self._found)

    def _result(self, event: Event, nbytes: int) -> None:
        about = {
            "output_type": "execute_result",
            "execution_count": cell_number(event.get("count")),
        }
        self._show({**event, "display": event["result"], "update": False}, nbytes, about)

    def _error(self, event: Event, nbytes: int) -> None:
        lines = event.get("traceback")
        if not isinstance(lines, list):
            raise FrameError("an error carries a list of lines")
        self._clear_if_asked()
        name, value = _text(event["error"])[:200], _text(event.get("value"))[:_LINE_CHARS]
        kept = [_text(line)[:_LINE_CHARS] for line in lines[:_TRACEBACK_LINES]]
        if not self._budget.take(size_of([value, *kept]) or 0):
            value, kept = value[:_SMALL_NBYTES], [TOO_LARGE]
        self._append({"output_type": "error", "ename": name, "evalue": value, "traceback": kept})

    def _clear(self, event: Event, nbytes: int) -> None:
        self._clear_next = True
        if event["clear"] is not True:  # True: wait for the next output
            self._clear_if_asked()

    def _clear_if_asked(self) -> None:
        if self._clear_next:
            self._found, self._shown, self._clear_next = [], {}, False

    def _append(self, output: Output) -> bool:
        # How a cell ended is shown whatever stood before it: its first result, its first error.
        kind = output["output_type"]
        is_first = kind in ("error", "execute_result") and not self._has(kind)
        if is_first or (len(self._found) < _MOST_OUTPUTS and self._budget.take(_OUTPUT_NBYTES)):
            self._found.append(output)
            return True
        self._left_out += 1
        return False


_TAKERS: Mapping[str, Callable[[Outputs, Event, int], None]] = {
    "stream": Outputs._stream,
    "dropped": Outputs._drop,
    "display": Outputs._display,
    "result": Outputs._result,
    "error": Outputs._error,
    "clear": Outputs._clear,
}


def cell_number(value: object) -> int:
    """`value` where a notebook may have it as the number of a cell; raises `FrameError`."""
    if type(value) is not int or not 0 <= value <= _MOST_CELLS:
        raise FrameError("the number of a cell expected")
    return value


def _shown_as(kind: str, value: Any) -> Any:
    """What a notebook may hold for a MIME type: text, lines of text, or for JSON anything."""
    is_text = isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(one, str) for one in value)
    )
    return value if is_text or JSON_KIND.match(kind) else json.dumps(value)


def _text(value: object) -> str:
    """`value` as text that can be written as UTF-8."""
    if type(value) is not str:
        raise FrameError("text expected")
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _mapping(value: object, depth: int = 0) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FrameError("an object expected")
    return {_text(key): _clean(one, depth + 1) for key, one in value.items()}


def _clean(value: Any, depth: int) -> Any:
    if depth > _DEPTH:
        raise FrameError("an output nested too deeply")
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return _mapping(value, depth)
    if isinstance(value, list):
        return [_clean(one, depth + 1) for one in value]
    return value
