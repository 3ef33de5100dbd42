"""Reports what a cell shows, piece by piece, with a bound on how much is ever reported."""

from __future__ import annotations

import io
import time
from collections import deque
from collections.abc import Callable
from threading import get_ident
from typing import Any

Emit = Callable[[dict[str, Any]], None]

TOO_LARGE = "[an output was too large and is left out]"

_FLUSH_CHARS = 16_384
_FLUSH_S = 0.25


class Recorder:
    """Turns writes and displays into events, in the order in which they happened.

    Only the thread that runs the cell emits: text of other threads waits in `_others` until that
    thread writes or the cell ends.  A write that happens while another is being emitted (from a
    signal handler or a `__del__`) waits too, so that frames never interleave.
    """

    def __init__(self, emit: Emit, text_chars: int) -> None:
        self._emit = emit
        self._limit = text_chars
        self._chars_left = text_chars
        self._dropped = 0
        self._pending: list[str] = []
        self._pending_name = "stdout"
        self._pending_chars = 0
        self._others: deque[tuple[str, str]] = deque(maxlen=1_000)
        self._owner = get_ident()
        self._busy = False
        self._flushed_at = 0.0

    def start_cell(self) -> None:
        """A cell starts: its text is counted from zero."""
        self._chars_left, self._dropped, self._owner = self._limit, 0, get_ident()

    def end_cell(self) -> None:
        """The cell ended: report what is still waiting."""
        self.flush()
        if self._dropped:
            self._send({"dropped": self._dropped})
            self._dropped = 0

    def write(self, name: str, text: str) -> None:
        """Take text for stdout or stderr."""
        if self._busy or get_ident() != self._owner:
            self._others.append((name, text[: self._limit]))
            return
        self._take_others()
        self._take(name, text)
        late = text.endswith("\n") and time.monotonic() - self._flushed_at > _FLUSH_S
        if self._pending and (late or self._pending_chars > _FLUSH_CHARS):
            self._send_pending()

    def show(self, event: dict[str, Any]) -> None:
        """Report a display, a result, an error or a clearing."""
        self.flush()
        self._send(event)

    def flush(self) -> None:
        """Report the text that is waiting."""
        if not self._busy and get_ident() == self._owner:
            self._take_others()
            self._send_pending()

    def _take_others(self) -> None:
        while self._others:
            self._take(*self._others.popleft())

    def _take(self, name: str, text: str) -> None:
        kept = text[: self._chars_left]
        self._dropped += len(text) - len(kept)
        self._chars_left -= len(kept)
        if not kept:
            return
        if name != self._pending_name:
            self._send_pending()
            self._pending_name = name
        self._pending.append(kept)
        self._pending_chars += len(kept)

    def _send_pending(self) -> None:
        if not self._pending:
            return
        text = "".join(self._pending)
        self._pending, self._pending_chars = [], 0
        self._flushed_at = time.monotonic()
        self._send({"stream": self._pending_name, "text": text})

    def _send(self, event: dict[str, Any]) -> None:
        if self._busy:
            return
        self._busy = True
        try:
            self._emit(event)
        finally:
            self._busy = False


class Stream(io.TextIOBase):
    """Stands where sys.stdout or sys.stderr stood."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, name: str, recorder: Recorder, fd: int) -> None:
        super().__init__()
        self._name, self._recorder, self._fd = name, recorder, fd

    @property
    def name(self) -> str:
        """`<stdout>` or `<stderr>`, as the interpreter's own streams say it."""
        return f"<{self._name}>"

    def writable(self) -> bool:
        """Text may be written."""
        return True

    def write(self, text: str) -> int:
        """Report `text`; the number of its characters."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._recorder.write(self._name, text)
        return len(text)

    def flush(self) -> None:
        """Report what is waiting."""
        self._recorder.flush()

    def fileno(self) -> int:
        """The descriptor that a program started from a cell writes to."""
        return self._fd
