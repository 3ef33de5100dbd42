"""The outputs of one cell, put together from the events that a shell reports.

The events come from the learner's process and may be anything: what is not an event is a
`FrameError`, and what is too large is left out and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autograder.engine.frames import FrameError
from autograder.engine.limits import Limits

Event = dict[str, Any]
Output = dict[str, Any]

TABLE_KEY = "pytorch-measured"  # where a check table puts its record
_STREAMS = ("stdout", "stderr")
_TRACEBACK_LINES = 200
_LINE_CHARS = 20_000
_MOST_OUTPUTS = 1_000


class Outputs:
    """Collects events; `as_list` gives the cell's outputs in the form of nbformat 4."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._found: list[Output] = []
        self._shown: dict[str, list[Output]] = {}
        self._chars = 0
        self._dropped = 0
        self._display_nbytes = 0
        self._clear_next = False

    def add(self, event: object, nbytes: int) -> None:
        """Take one event whose frame had `nbytes` bytes."""
        if not isinstance(event, dict):
            raise FrameError("an event must be an object")
        for name, take in _TAKERS.items():
            if name in event:
                return take(self, event, nbytes)
        raise FrameError(f"an event of unknown kind, with keys {sorted(map(str, event))[:5]}")

    def add_text(self, name: str, text: str) -> None:
        """Take text that a program wrote past Python, straight to stdout or stderr."""
        self._stream({"stream": name, "text": text}, 0)

    def end_with(self, error: str | None, value: str) -> None:
        """The cell ended in `error`: where its traceback was suppressed, say at least that."""
        if error and not any(one["output_type"] == "error" for one in self._found):
            lines = ["An error occurred while the display of tracebacks was disabled."]
            self._error({"error": error, "value": value, "traceback": lines}, 0)

    def drop_metadata(self, key: str) -> None:
        """Forget what a learner's cell put under a key that only test cells may use."""
        for output in self._found:
            output.get("metadata", {}).pop(key, None)

    def as_list(self) -> list[Output]:
        """What the cell showed, in order."""
        if not self._dropped:
            return self._found
        note = f"\n… {self._dropped:,} more characters were printed and left out.\n"
        return [*self._found, {"output_type": "stream", "name": "stdout", "text": note}]

    def _stream(self, event: Event, nbytes: int) -> None:
        name, text = event["stream"], _text(event.get("text"))
        if name not in _STREAMS:
            raise FrameError("a stream is stdout or stderr")
        self._make_way()
        room = self._limits.text_chars - self._chars
        self._chars += min(len(text), room)
        self._dropped += max(0, len(text) - room)
        self._append_text(name, text[:room])

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
        data, metadata = _mapping(event["display"]), _mapping(event.get("metadata"))
        self._display_nbytes += nbytes
        if self._display_nbytes > self._limits.display_nbytes:
            data, metadata = {"text/plain": "[an output was too large and is left out]"}, {}
        name = event.get("id")
        if event.get("update"):
            for old in self._shown.get(str(name), []):
                old.update(data=data, metadata=metadata)
            return
        self._make_way()
        output = {"output_type": "display_data", "data": data, "metadata": metadata}
        if self._append(output) and isinstance(name, str):
            self._shown.setdefault(name, []).append(output)

    def _result(self, event: Event, nbytes: int) -> None:
        count = event.get("count")
        if type(count) is not int:
            raise FrameError("a result carries the number of its cell")
        self._display({**event, "display": event["result"], "update": False}, nbytes)
        if self._found and self._found[-1]["output_type"] == "display_data":
            self._found[-1].update(output_type="execute_result", execution_count=count)

    def _error(self, event: Event, nbytes: int) -> None:
        lines = event.get("traceback")
        if not isinstance(lines, list):
            raise FrameError("an error carries a list of lines")
        self._make_way()
        self._append(
            {
                "output_type": "error",
                "ename": _text(event["error"])[:200],
                "evalue": _text(event.get("value"))[:_LINE_CHARS],
                "traceback": [_text(line)[:_LINE_CHARS] for line in lines[:_TRACEBACK_LINES]],
            }
        )

    def _clear(self, event: Event, nbytes: int) -> None:
        self._clear_next = True
        if event["clear"] is not True:  # True: wait for the next output
            self._make_way()

    def _make_way(self) -> None:
        if self._clear_next:
            self._found, self._shown, self._clear_next = [], {}, False

    def _append(self, output: Output) -> bool:
        if len(self._found) >= _MOST_OUTPUTS:
            return False
        self._found.append(output)
        return True


_TAKERS: Mapping[str, Callable[[Outputs, Event, int], None]] = {
    "stream": Outputs._stream,
    "dropped": Outputs._drop,
    "display": Outputs._display,
    "result": Outputs._result,
    "error": Outputs._error,
    "clear": Outputs._clear,
}


def _text(value: object) -> str:
    """`value` as text that can be written as UTF-8."""
    if type(value) is not str:
        raise FrameError("text expected")
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _mapping(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FrameError("an object expected")
    return {_text(key): _clean(one) for key, one in value.items()}


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return _mapping(value)
    if isinstance(value, list):
        return [_clean(one) for one in value]
    return value
