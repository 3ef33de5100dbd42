"""The checker process: runs the test cells with their hidden parts, and keeps the score.

It is a fork of the worker, outside every sandbox, and never runs learner code.  Its names come
from the lesson's set-up cell.  What a test cell asks of an answer goes to a snapshot of the student
process and comes back as plain data, which is checked here before a test sees it.
"""

from __future__ import annotations

import gc
import os
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.engine.checker.common_state import CommonState
from autograder.engine.checker.rehearsal import Generators, digest_of_frame, random_generators
from autograder.engine.checker.verify import Contradiction, check_reply
from autograder.engine.kernel.shell import Part, Shell, record_with
from autograder.engine.limits import address_space
from autograder.engine.protocol.channel import Channel, ChannelClosed, DeadlinePassed, Listener
from autograder.engine.protocol.frames import (
    Frame,
    FrameError,
    Kind,
    endpoint,
    fd_taker,
    frame_of,
    pack,
    verified_buffers,
)
from autograder.engine.protocol.transcript import Told, Transcript
from course.error_names import error_name
from course.inspection.facts import number_apart
from course.inspection.global_state import MISSPELT, RANDOM_STATE
from course.notebook import keep_names_through_tests
from course.serialization import WireError
from course.serialization.delta_encoding import Sent
from course.testing.answers import Asked, Request, go_on_with, use_backend
from course.testing.observe import Observation, from_wire, with_changes


class RequestAborted(BaseException):
    """A request of the test cell got no reply that can be used; the test cell ends."""


@dataclass
class Begun:
    """A test cell between its parts: what it asked and was told, and how random numbers go on."""

    transcript: Transcript
    asked: Asked = field(default_factory=Asked)
    generators: Generators = ()


class RemoteBackend:
    """Has a snapshot of the student process serve the requests of a test cell.

    The snapshot may be hostile: its frames are bounded and strictly read, and a reply has to carry
    the random number of its request.

    Attributes:
        learnt: Of the requests that this test cell sent: where it had come to, and the request.
    """

    def __init__(self) -> None:
        self._connection: Channel | None = None
        self._listener = Listener()
        self._key, self._told = b"", deque[Told]()
        self._transcript = Transcript("", 0)
        self.learnt: list[tuple[bytes, bytes]] = []
        self.tampered: str | None = None
        self.noticed: list[tuple[str, str]] = []
        self.failed: str | None = None
        self.grader_error: str | None = None
        self.disconnected = self.memory = self.too_large = self.left_something = False

    def start_cell(
        self,
        connection: Channel | None,
        key: bytes,
        transcript: Transcript,
        told: Sequence[Told] = (),
    ) -> None:
        """A test cell, or its rest, starts.

        Args:
            connection: That to the snapshot.
            key: What replies are signed with.
            transcript: Takes what comes back.
            told: What the worker has asked the snapshot already.
        """
        if self._connection is not None:
            self._connection.close()
        self._connection, self._key = connection, key
        self._transcript, self._told, self.learnt = transcript, deque(told), []
        self.tampered = self.failed = self.grader_error = None
        self.noticed = []
        self.disconnected = self.memory = self.too_large = self.left_something = False

    def end_cell(self) -> None:
        """The test cell, or its part, has ended."""
        if self._told and not self._has_stopped():
            self.grader_error = _OTHERWISE

    def what_was_learnt(self) -> list[tuple[bytes, bytes]]:
        """`learnt`, or nothing where that is more than is worth keeping."""
        nbytes = sum(len(asked) for _, asked in self.learnt)
        few = len(self.learnt) <= _MOST_LEARNT and nbytes <= _MOST_LEARNT_NBYTES
        return self.learnt if few else []

    def run(self, request: Request, live: Callable[..., Any] | None) -> Observation:
        """The observation that came back; raises `RequestAborted` where none can be believed."""
        header, buffers = request.to_wire()
        number = int.from_bytes(os.urandom(8), "little")
        try:
            asked = pack(Kind.ASK, number, header, buffers)
            digest = digest_of_frame(asked)
            if self._told:
                told = self._told.popleft()
                if told.asked != digest:
                    raise RuntimeError(_OTHERWISE)
                number = told.number
                frame = frame_of(told.reply) if told.reply else self._await()
            else:
                self.learnt.append((self._transcript.state, asked))
                frame = self._answer(asked)
            if frame.id != number:
                raise FrameError("an answer to another question")
            seen = self._verified(request, (header["document"], buffers), frame)
            return with_changes(seen, asked=digest)
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
        if self._connection is None or self._has_stopped():
            raise ChannelClosed
        if not self._connection.is_silent():
            raise FrameError("it spoke before it was asked")
        # The worker disconnects when time is up.
        self._connection.send_raw(raw, time.monotonic() + _FOREVER_S)
        return self._await()

    def _has_stopped(self) -> bool:
        stopped = (self.tampered, self.noticed, self.failed, self.grader_error)
        return self.disconnected or self.too_large or any(stopped)

    def _await(self) -> Frame:
        if self._connection is None:
            raise ChannelClosed
        return self._listener.wait(self._connection, time.monotonic() + _FOREVER_S)

    def _verified(self, request: Request, sent: Sent, frame: Frame) -> Observation:
        kind, body = frame.kind, frame.body()
        buffers = verified_buffers(frame, self._key)
        self._transcript.add(frame, buffers)
        if kind == Kind.FAILED and isinstance(body, dict):
            self.failed = error_name(str(body.get("error")))
            raise RequestAborted
        if kind != Kind.REPLY or not isinstance(body, dict) or set(body) != _REPLY_KEYS:
            raise FrameError("not a reply")
        split = body["before"]
        if body["notices"]:
            self.noticed = [(str(where), str(what)) for where, what in body["notices"]]
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
_RARELY = (10_000, 50, 100)  # it keeps most of what it makes, and lives for one submission
_FOREVER_S = 86_400.0
# What earlier test cells may have left here where one finds as much memory as in a fresh process.
_CROWDED_NBYTES = 256 * 2**20
_TORCH = "can't allocate memory"  # the words of torch's CPU allocator
_OTHERWISE = "a test cell asked something else than before, though it was told the same"
_MOST_LEARNT, _MOST_LEARNT_NBYTES = 1_000, 16 * 2**20  # requests that are reported of a cell
_REPLY_KEYS = {"header", "before", "intact", "notices", "beside"}


def stand_in(folder: str) -> None:
    """Make the lesson's folder the working directory, whose modules a cell may import."""
    os.chdir(folder)
    if "" not in sys.path:  # the last place: a file of a lesson shadows nothing
        sys.path.append("")


def run_checker(
    channel: int, shell: Shell, folder: str, text_chars: int, *, compares: bool
) -> None:
    """Run the test cells that the worker sends, until it closes the channel.

    Args:
        channel: The file descriptor of this end of the channel.
        shell: A prepared shell, in which they run.
        folder: Their working directory.
        text_chars: How many characters of text a cell may show.
        compares: Whether it is looked at what a test cell leaves for others, objects of any size.

    Raises:
        FrameError: The worker has closed the channel.
    """
    gc.set_threshold(*_RARELY)
    number_apart()  # what comes back is numbered in the snapshot
    send, receive = endpoint(channel)
    take_fd = fd_taker(channel)
    stand_in(folder)
    record_with(shell, lambda event: send(Kind.EVENT, 0, event), text_chars)
    keep_names_through_tests()  # as in a learner's notebook
    backend = RemoteBackend()
    use_backend(backend)
    begun: dict[int, Begun] = {}  # test cells of which a rest is left
    at_start = address_space()
    fresh = random_generators()
    while True:
        _, _, body, buffers = receive()
        key, pending, *told = buffers or (b"", b"")
        asks, number, part = body["asks"], body["number"], Part(body["part"])
        connection = Channel(socket.socket(fileno=take_fd()), pending) if asks else None
        if part is Part.REST:
            cell = begun[number]
            cell.transcript.begin_rest()
        else:  # one that is tried once more begins anew
            cell = Begun(Transcript(body["source"], body["count"]), generators=fresh)
        already = [
            Told(bytes.fromhex(asked), id_, raw)
            for (asked, id_), raw in zip(body["told"], told, strict=True)
        ]
        backend.start_cell(connection, key, cell.transcript, already)
        cell.asked.all_hidden = part is Part.REST
        go_on_with(cell.asked)
        for restore, state in cell.generators:
            restore(state)
        common = CommonState(shell.user_ns) if asks and compares else None
        is_crowded = address_space() - at_start > _CROWDED_NBYTES
        if asks:
            shell.execution_count = body["count"]
        end = shell.run_part(body["source"], part, number)
        backend.end_cell()
        cell.generators = random_generators()
        if not asks:
            fresh = cell.generators  # the set-up cell's
        if end.has_rest:
            begun[number] = cell
        about: dict[str, Any] = {"error": end.error, "count": end.count, "has_rest": end.has_rest}
        about |= {"tampered": backend.tampered, "failed": backend.failed, "memory": backend.memory}
        about |= {"noticed": backend.noticed, "left_something": backend.left_something}
        about |= {"disconnected": backend.disconnected, "too_large": backend.too_large}
        about |= {"grader_error": backend.grader_error}
        about["state"] = cell.transcript.state.hex()
        changes_others = common is not None and common.has_changed(shell.user_ns)
        about |= {"is_crowded": is_crowded, "changes_others": changes_others}
        learnt = backend.what_was_learnt()
        states = [state.hex() for state, _ in learnt]
        send(Kind.DONE, 0, {**about, "states": states}, [asked for _, asked in learnt])
