"""The checker process: runs the test cells with their hidden parts, and keeps the score.

It is a fork of the worker, outside every sandbox, and never runs learner code.  Its names come
from the lesson's set-up cell.  What a test cell asks of an answer goes to a snapshot of the student
process and comes back as plain data, which is checked here before a test sees it.
"""

from __future__ import annotations

import gc
import os
import random
import socket
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

import numpy as np
import torch

from autograder.engine.checker.rehearsal import digest_of
from autograder.engine.checker.verify import Contradiction, check_reply
from autograder.engine.kernel.shell import Part, Shell, record_with
from autograder.engine.protocol.channel import Channel, ChannelClosed, DeadlinePassed, Listener
from autograder.engine.protocol.frames import (
    MAC_NBYTES,
    Frame,
    FrameError,
    Kind,
    endpoint,
    fd_taker,
    pack,
    signed_parts,
)
from course.error_names import error_name
from course.inspection.facts import number_apart
from course.inspection.global_state import MISSPELT, RANDOM_STATE
from course.serialization import WireError
from course.serialization.delta_encoding import Sent
from course.testing.answers import Asked, Request, go_on_with, use_backend
from course.testing.observe import Observation, from_wire, with_changes


class RequestAborted(BaseException):
    """A request of the test cell got no reply that can be used; the test cell ends."""


class RemoteBackend:
    """Has a snapshot of the student process serve the requests of a test cell.

    The snapshot may be hostile: its frames are bounded and strictly read, and a reply has to carry
    the random number of its request.
    """

    def __init__(self) -> None:
        self._connection: Channel | None = None
        self._listener = Listener()
        self._key = b""
        self.tampered: str | None = None
        self.noticed: str | None = None
        self.failed: str | None = None
        self.grader_error: str | None = None
        self.disconnected = self.memory = self.too_large = self.left_something = False

    def start_cell(self, connection: Channel | None, key: bytes) -> None:
        """A test cell, or its rest, starts, with a connection; replies are signed with `key`."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._key = connection, key
        self.tampered = self.noticed = self.failed = self.grader_error = None
        self.disconnected = self.memory = self.too_large = self.left_something = False

    def run(self, request: Request, live: Callable[..., Any] | None) -> Observation:
        """The observation that came back; raises `RequestAborted` where none can be believed."""
        header, buffers = request.to_wire()
        number = int.from_bytes(os.urandom(8), "little")
        try:
            asked = pack(Kind.ASK, number, header, buffers)
            frame = self._answer(asked)
            if frame.id != number:
                raise FrameError("an answer to another question")
            seen = self._verified(request, (header["document"], buffers), frame)
            return with_changes(seen, asked=digest_of(asked)) if request.each else seen
        except (ChannelClosed, DeadlinePassed):
            self.disconnected = True
        except (FrameError, WireError, Contradiction) as error:
            self.tampered = str(error)
        except MemoryError:
            self.too_large = True
        except Exception as error:  # ours: never to be held against the answer
            self.grader_error = f"{type(error).__name__}: {error}"
        raise RequestAborted

    def _answer(self, raw: bytes) -> Frame:
        stopped = (self.tampered, self.noticed, self.failed, self.grader_error)
        ended = self.disconnected or self.too_large or any(stopped)
        if self._connection is None or ended:
            raise ChannelClosed
        if not self._connection.is_silent():
            raise FrameError("it spoke before it was asked")
        forever = time.monotonic() + _FOREVER_S  # the worker disconnects when time is up
        self._connection.send_raw(raw, forever)
        return self._listener.wait(self._connection, forever)

    def _signed(self, frame: Frame) -> list[bytes]:
        """The buffers of a frame that the measuring code itself has sent."""
        parts, signature = signed_parts(frame)
        right = blake2b(b"".join(parts), key=self._key, digest_size=MAC_NBYTES).digest()
        if not compare_digest(right, signature):
            raise FrameError("a reply that other code than the grader's has sent")
        return [bytes(one) for one in parts[-len(frame.sizes) + 1 :]] if frame.sizes[1:] else []

    def _verified(self, request: Request, sent: Sent, frame: Frame) -> Observation:
        kind, body, buffers = frame.kind, frame.body(), self._signed(frame)
        if kind == Kind.FAILED and isinstance(body, dict):
            self.failed = error_name(str(body.get("error")))
            raise RequestAborted
        if kind != Kind.REPLY or not isinstance(body, dict) or set(body) != _REPLY_KEYS:
            raise FrameError("not a reply")
        split = body["before"]
        if body["notices"]:
            self.noticed = _told(body["notices"])
            raise RequestAborted
        if body["intact"] is not True:
            raise Contradiction("code that measures was replaced while the notebook ran")
        if type(split) is not int or not 0 <= split <= len(buffers):
            raise FrameError("not a reply")
        seen = from_wire(body["header"], [buffers[:split], buffers[split:]], request.name, sent)
        self.memory = self.memory or _wants_memory(seen)
        left = body["beside"] != 0 or not _HARMLESS.issuperset(seen.changed)
        self.left_something = self.left_something or left
        return check_reply(request, seen)


def _told(notices: list[list[str]]) -> str:
    """What was noticed, a cell after the other: "Cell 3 used a, read b".

    In the order of the alphabet, and no more than three things of a cell: the order in which a call
    does things, and which of them, could tell what it was given.
    """
    cells: dict[str, list[str]] = {}
    for where, what in notices:
        said = cells.setdefault(str(where)[:100], [])
        if (short := str(what)[:100]) not in said:
            said.append(short)
    told = [f"{where} {_listed(sorted(said))}" for where, said in cells.items()]
    left = len(told) - _TOLD
    return "; ".join(told[:_TOLD]) + (f"; and {left} more" if left > 0 else "")


def _listed(said: list[str]) -> str:
    return ", ".join(said[:_TOLD] + ["and more"] * (len(said) > _TOLD))


def _wants_memory(seen: Observation) -> bool:
    """Whether the run ended because there was no more memory to be had."""
    error = seen.error
    return error is not None and (
        error.type == "MemoryError" or (error.type == "RuntimeError" and _TORCH in error.message)
    )


# What `run_recorded` puts back, what belongs to the arguments, and random generators: no answer may
# rely on what was drawn before it.
_HARMLESS = frozenset(
    {
        *("grad mode", "default dtype", "number of threads", "working directory"),
        *("training mode", "hooks", MISSPELT, RANDOM_STATE),
    }
)
_TOLD = 3  # cells, and things that each did
_RARELY = (10_000, 50, 100)  # it keeps most of what it makes, and lives for one submission
_FOREVER_S = 86_400.0
_TORCH = "can't allocate memory"  # the words of torch's CPU allocator
_REPLY_KEYS = {"header", "before", "intact", "notices", "beside"}


Generators = Sequence[tuple[Callable[[Any], None], Any]]


def _generators() -> Generators:
    """The random generators of this process: how to restore each, and its state of now."""
    return (
        (torch.set_rng_state, torch.get_rng_state()),
        (random.setstate, random.getstate()),
        (np.random.set_state, np.random.get_state()),
    )


def run_checker(channel: int, shell: Shell, folder: str, text_chars: int) -> None:
    """Run the test cells that the worker sends, until it closes the channel.

    Args:
        channel: The file descriptor of this end of the channel.
        shell: A prepared shell, in which they run.
        folder: Their working directory.
        text_chars: How many characters of text a cell may show.

    Raises:
        FrameError: The worker has closed the channel.
    """
    gc.set_threshold(*_RARELY)
    number_apart()  # what comes back is numbered in the snapshot
    send, receive = endpoint(channel)
    take_fd = fd_taker(channel)
    os.chdir(folder)
    record_with(shell, lambda event: send(Kind.EVENT, 0, event), text_chars)
    backend = RemoteBackend()
    use_backend(backend)
    # Of test cells of which a rest is left: what they asked, and how random numbers go on.
    begun: dict[int, tuple[Asked, Generators]] = {}
    while True:
        _, _, body, key = receive()
        connection = Channel(socket.socket(fileno=take_fd())) if body["asks"] else None
        backend.start_cell(connection, key[0] if key else b"")
        number, part = body["number"], Part(body["part"])
        # One that is tried once more begins anew.
        asked, generators = begun[number] if part is Part.REST else (Asked(), ())
        asked.all_hidden = part is Part.REST
        go_on_with(asked)
        for restore, state in generators:
            restore(state)
        end = shell.run_part(body["source"], part, number)
        if end.has_rest:
            begun[number] = asked, _generators()
        about = {"error": end.error, "count": end.count, "memory": backend.memory}
        about["has_rest"] = end.has_rest
        about |= {"tampered": backend.tampered, "failed": backend.failed}
        about |= {"noticed": backend.noticed, "left_something": backend.left_something}
        about |= {"disconnected": backend.disconnected, "too_large": backend.too_large}
        about |= {"grader_error": backend.grader_error}
        send(Kind.DONE, 0, about)
