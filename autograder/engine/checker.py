"""The checker process: runs the test cells with their hidden parts, and keeps the score.

It is a fork of the worker, outside every sandbox, and never runs learner code.  Its names come
from the lesson's set-up cell.  What a test cell asks of an answer goes through the worker to the
student process and comes back as plain data, which is checked here before a test sees it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from autograder.engine.frames import FrameError, Kind, Receive, Send, endpoint
from autograder.engine.shell import Shell, record_with
from autograder.engine.verify import Contradiction, check_reply
from course.answers import Request, use_backend
from course.observe import Observation, from_wire
from course.wire import WireError


class Gone(BaseException):
    """The process beside which a request should have run is gone; the test cell ends."""


class RemoteBackend:
    """Serves requests in the student process, at the other end of a channel."""

    def __init__(self, send: Send, receive: Receive) -> None:
        self._send, self._receive = send, receive
        self.tampered: str | None = None
        self.failed: str | None = None
        self.memory = False

    def begin(self) -> None:
        """A new test cell starts."""
        self.tampered = self.failed = None
        self.memory = False

    def run(self, request: Request, live: Callable[..., Any] | None) -> Observation:
        """The observation that came back; raises `Gone` where none can be believed."""
        header, buffers = request.to_wire()
        number = int.from_bytes(os.urandom(8), "little")
        self._send(Kind.ASK, number, header, buffers)
        kind, answered, body, found = self._receive()
        if kind == Kind.GONE:
            raise Gone
        try:
            if answered != number:
                raise FrameError("an answer to another question")
            return self._believed(request, kind, body, found)
        except (FrameError, WireError, Contradiction) as error:
            self.tampered = str(error)
            raise Gone from None

    def _believed(
        self, request: Request, kind: int, body: Any, buffers: list[bytes]
    ) -> Observation:
        if kind == Kind.FAILED and isinstance(body, dict):
            self.failed = str(body.get("error"))[:200]
            raise Gone
        if kind != Kind.REPLY or not isinstance(body, dict) or set(body) != _REPLY_KEYS:
            raise FrameError("not a reply")
        split = body["before"]
        if body["intact"] is not True:
            raise Contradiction("code that measures was replaced while the notebook ran")
        if type(split) is not int or not 0 <= split <= len(buffers):
            raise FrameError("not a reply")
        seen = from_wire(body["header"], [buffers[:split], buffers[split:]], request.target[1])
        self.memory = self.memory or _wants_memory(seen)
        return check_reply(request, seen)


def _wants_memory(seen: Observation) -> bool:
    """Whether the run ended because there was no more memory to be had."""
    error = seen.error
    return error is not None and (
        error.type == "MemoryError" or (error.type == "RuntimeError" and _TORCH in error.message)
    )


_TORCH = "can't allocate memory"  # the words of torch's CPU allocator
_REPLY_KEYS = {"header", "before", "intact"}


def check(channel: int, shell: Shell, folder: str, text_chars: int) -> None:
    """Obey the worker until it closes the channel."""
    send, receive = endpoint(channel)
    os.chdir(folder)
    record_with(shell, lambda event: send(Kind.EVENT, 0, event), text_chars)
    backend = RemoteBackend(send, receive)
    use_backend(backend)
    while True:
        _, _, body, _ = receive()
        backend.begin()
        end = shell.run(body["source"])
        about = {"error": end.error, "count": end.count, "memory": backend.memory}
        send(Kind.DONE, 0, {**about, "tampered": backend.tampered, "failed": backend.failed})


