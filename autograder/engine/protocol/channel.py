"""Waiting for frames from several processes at once, with a deadline on the clock."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from autograder.engine.protocol.frames import Frame, FrameReader, Kind, pack

_BLOCK_NBYTES = 2**18
_SEND_S = 30.0


class Closed(Exception):
    """The other end closed the channel, or is not there any more."""


class Late(Exception):
    """The deadline passed before the frame came."""


class Channel:
    """The grader's end of a channel: never waits longer than it is told."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._reader = FrameReader()

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._sock.fileno()

    def send(self, kind: Kind, number: int, body: object, buffers: tuple[bytes, ...] = ()) -> None:
        """Write a frame to a process that reads whenever it is not busy."""
        self.send_raw(pack(kind, number, body, buffers))

    def send_raw(self, raw: bytes, until: float | None = None) -> None:
        """Write a whole frame; raises `Late` where the other end does not read it in time."""
        until = time.monotonic() + _SEND_S if until is None else until
        left = memoryview(raw)
        while left:
            try:
                left = left[self._sock.send(left) :]
            except BlockingIOError:
                self._wait_for_room(until)
            except OSError:
                raise Closed from None

    def _wait_for_room(self, until: float) -> None:
        left = max(0.0, until - time.monotonic())
        if not select.select([], [self._sock], [], left)[1]:
            raise Late

    def send_fd(self, fd: int) -> None:
        """Hand a file descriptor to the process at the other end."""
        try:
            socket.send_fds(self._sock, [b"F"], [fd])
        except OSError:
            raise Closed from None

    def read(self) -> None:
        """Take what has come; raises `Closed` at the end."""
        try:
            data = self._sock.recv(_BLOCK_NBYTES)
        except BlockingIOError:
            return
        except OSError:
            raise Closed from None
        if not data:
            raise Closed
        self._reader.feed(data)

    def next(self) -> Frame | None:
        """The next whole frame that has come; raises `FrameError` for anything else."""
        return self._reader.next()

    def silent(self) -> bool:
        """Whether nothing has come that was not asked for."""
        with suppress(Closed):
            self.read()
        return self._reader.pending == 0

    def close(self) -> None:
        """Close this end."""
        self._sock.close()


class Listener:
    """Waits for one channel while looking after others."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._others: dict[int, Callable[[], None]] = {}

    def look_after(self, fd: int, react: Callable[[], None]) -> None:
        """Call `react` whenever `fd` has something to say."""
        self._others[fd] = react
        self._poll.register(fd, select.POLLIN)

    def forget(self, fd: int) -> None:
        """Stop looking after `fd`."""
        if self._others.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def wait(
        self, channel: Channel, until: float, ended: Callable[[], bool] = lambda: False
    ) -> Frame:
        """The next frame; raises `Late`, `Closed` or `FrameError` where none comes.

        `ended` tells that the process at the other end is gone: others may still hold its channel.
        """
        found = channel.next()
        if found is not None:
            return found
        fd = channel.fileno()
        self._poll.register(fd, select.POLLIN)
        try:
            return self._wait(channel, fd, until, ended)
        finally:
            with suppress(KeyError):
                self._poll.unregister(fd)

    def pause(self, until: float, done: Callable[[], bool]) -> None:
        """Look after the others until `done`, at the latest until the deadline."""
        while not done() and time.monotonic() < until:
            self._turn(until)

    def _wait(self, channel: Channel, fd: int, until: float, ended: Callable[[], bool]) -> Frame:
        while True:
            if fd in self._turn(until):
                channel.read()
                found = channel.next()
                if found is not None:
                    return found
            elif ended():
                raise Closed
            if time.monotonic() >= until:
                raise Late

    def _turn(self, until: float) -> set[int]:
        left = max(0.0, until - time.monotonic())
        ready = {fd for fd, _ in self._poll.poll(left * 1000)}
        for fd in ready & self._others.keys():
            self._others[fd]()
        return ready


def drain(fd: int, take: Callable[[bytes], None]) -> bool:
    """Read what a pipe holds, at most a few blocks; False at its end."""
    for _ in range(16):
        try:
            data = os.read(fd, _BLOCK_NBYTES)
        except BlockingIOError:
            return True
        if not data:
            return False
        take(data)
    return True
