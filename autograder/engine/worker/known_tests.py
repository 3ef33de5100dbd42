"""Test cells whose outcome is known from another submission: the checker need not run them again.

A test cell sees an answer by the replies to its requests alone, and runs with the same names, files
and random numbers for each submission. So what it does next, another request or its end, depends
only on what it was told: see `Transcript`. The worker keeps that from the first submission whose
answer did the same, tells the other workers of the run, asks the requests itself, and takes the
outcome over where all replies are known. Where one is not, a checker runs the cell; it is handed
the replies that have come.

The replies of each submission are its own: they are asked for, signed, and verified every time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from autograder.engine.checker.rehearsal import digest_of_frame
from autograder.engine.kernel.shell import Part
from autograder.engine.outcomes import CellOutcome
from autograder.engine.protocol.channel import ChannelClosed, DeadlinePassed
from autograder.engine.protocol.frames import FrameError, Kind, verified_buffers
from autograder.engine.protocol.transcript import Told, Transcript
from autograder.engine.worker.checker_client import CellPart, Checked
from autograder.engine.worker.deadline import Deadline
from autograder.engine.worker.siblings import Siblings
from autograder.engine.worker.student_client import SnapshotConnection

_MOST_NBYTES = 128 * 2**20  # of requests and outputs that are kept of a lesson
_STATE_NBYTES = 200  # what one entry counts beside what it holds


@dataclass(frozen=True)
class _Request:
    """A request as a frame, and what tells it apart from others."""

    raw: bytes
    digest: bytes


class KnownTests:
    """What the test cells of one lesson do next, wherever one of them has come to.

    Nothing, where the lesson does not declare that they leave each other nothing, or where one was
    seen to leave something: names, files, an object of the set-up cell's, a mode of torch's. Each
    runs in a checker before anything is known of it.
    """

    def __init__(self, lesson: str = "", siblings: Siblings | None = None) -> None:
        """Know nothing yet.

        Args:
            lesson: What tells the lesson apart.
            siblings: The other workers of the run.
        """
        self._lesson, self._siblings = lesson, siblings or Siblings()
        self._listener = self._siblings.listener(lesson)
        self._next: dict[bytes, _Request | CellOutcome] = {}
        self._requests: dict[bytes, _Request] = {}
        self._nbytes = 0
        self._is_usable = True

    @property
    def is_usable(self) -> bool:
        """Whether anything can be known, now or later."""
        return self._is_usable

    def begin(self, test: CellPart) -> Replay | None:
        """The test cell at its beginning; None where nothing can be known of it."""
        for told in self._listener.hear():
            if told is None:
                self._forget()
            elif self._is_usable:
                self._keep(*told)
        return Replay(self, test) if self._is_usable else None

    def next(self, state: bytes) -> _Request | CellOutcome | None:
        """What comes next at this state: a request, or the end with this outcome."""
        return self._next.get(state)

    def learn(self, checked: Checked) -> None:
        """Keep what a checker has found by running a cell, or part of it."""
        if checked.changes_others:
            self.give_up()
        if checked.is_crowded:  # what one submission has filled is not held against the others
            return
        for state, raw in checked.asked:
            if self._is_usable:
                self._find(state, _Request(raw, digest_of_frame(raw)))
        outcome = checked.outcome
        if self._is_usable and outcome.failure is None and not outcome.memory_error:
            self._find(checked.state, outcome)

    def give_up(self) -> None:
        """Know nothing from now on."""
        if self._is_usable:
            self._siblings.say(self._lesson, None)
            self._forget()

    def _find(self, state: bytes, following: _Request | CellOutcome) -> None:
        if self._keep(state, following):
            self._siblings.say(self._lesson, (state, following))

    def _keep(self, state: bytes, following: _Request | CellOutcome) -> bool:
        """Whether that was news, and there was room for it."""
        known = self._next.get(state)
        if known is not None:
            if _asks(known) != _asks(following):
                self.give_up()  # it was told the same, and does not do the same
            return False
        if isinstance(following, CellOutcome):
            nbytes = len(str(following.outputs))
        else:  # the same request is asked in many states
            nbytes = 0 if following.digest in self._requests else len(following.raw)
        if not self._has_room(nbytes + _STATE_NBYTES):
            return False
        if isinstance(following, _Request):
            following = self._requests.setdefault(following.digest, following)
        self._next[state] = following
        return True

    def _forget(self) -> None:
        self._is_usable = False
        self._next.clear()
        self._requests.clear()

    def _has_room(self, nbytes: int) -> bool:
        if self._nbytes + nbytes > _MOST_NBYTES:
            return False
        self._nbytes += nbytes
        return True


def _asks(following: _Request | CellOutcome) -> bytes | None:
    return following.digest if isinstance(following, _Request) else None


@dataclass
class Replay:
    """One test cell of one submission, as far as it is known from others.

    Attributes:
        known: What is known of the lesson's tests.
        test: The cell; the last part that was begun.
        visible: What was asked in the visible part, where no checker has run it.
    """

    known: KnownTests
    test: CellPart
    visible: list[Told] | None = None
    told: list[Told] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._transcript = Transcript(self.test.source, self.test.count)

    def begin_rest(self) -> None:
        """The visible part has ended."""
        self.visible, self.told = self.told, []
        self.test = replace(self.test, part=Part.REST)
        self._transcript.begin_rest()

    def follow(self, connection: SnapshotConnection, until: Deadline) -> CellOutcome | None:
        """The outcome of the part; None where a checker has to go on with it.

        Args:
            connection: The snapshot that is asked.
            until: The deadline.
        """
        while not isinstance(found := self.known.next(self._transcript.state), CellOutcome):
            if found is None or not self._ask(found, connection, until):
                return None
        return found

    def _ask(self, request: _Request, connection: SnapshotConnection, until: Deadline) -> bool:
        """Ask the snapshot; false where what came has to be judged by a checker."""
        if not connection.is_silent():
            return False
        number = int.from_bytes(os.urandom(8), "little")
        told = Told(request.digest, number)
        self.told.append(told)
        try:
            frame = connection.ask(request.raw, number, until)
            self.told[-1] = replace(told, reply=frame.raw)
            buffers = verified_buffers(frame, connection.student.key)
        except (ChannelClosed, DeadlinePassed, FrameError):
            return False
        self._transcript.add(frame, buffers)
        return frame.id == number and frame.kind == Kind.REPLY
