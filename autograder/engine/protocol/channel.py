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


class ChannelClosed(Exception):
    """The other end closed the channel, or is not there any more."""


class DeadlinePassed(Exception):
    """The deadline passed before the frame came."""


class Channel:
    """The grader's end of a channel: each call waits until its deadline at most."""

    def __init__(self, sock: socket.socket, pending: bytes = b"") -> None:
        """Make one of a connected socket; `pending` is what somebody else has read from it."""
        sock.setblocking(False)
        self._sock = sock
        self._reader = FrameReader()
        self._reader.feed(pending)

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._sock.fileno()

    def send(self, kind: Kind, number: int, body: object, buffers: tuple[bytes, ...] = ()) -> None:
        """Write a frame to a process that reads whenever it is not busy."""
        self.send_raw(pack(kind, number, body, buffers))

    def send_raw(self, raw: bytes, until: float | None = None) -> None:
        """Write a whole frame.

        Args:
            raw: The bytes of the frame.
            until: The deadline, on the clock of `time.monotonic()`; 30 s from now by default.

        Raises:
            DeadlinePassed: The other end does not read it in time.
            ChannelClosed: There is no other end any more.
        """
        until = time.monotonic() + _SEND_S if until is None else until
        left = memoryview(raw)
        while left:
            try:
                left = left[self._sock.send(left) :]
            except BlockingIOError:
                self._wait_until_writable(until)
            except OSError:
                raise ChannelClosed from None

    def _wait_until_writable(self, until: float) -> None:
        left = max(0.0, until - time.monotonic())
        if not select.select([], [self._sock], [], left)[1]:
            raise DeadlinePassed

    def send_fd(self, fd: int) -> None:
        """Hand a file descriptor to the process at the other end."""
        try:
            socket.send_fds(self._sock, [b"F"], [fd])
        except OSError:
            raise ChannelClosed from None

    def read(self) -> None:
        """Take what has come; raises `ChannelClosed` at the end."""
        try:
            data = self._sock.recv(_BLOCK_NBYTES)
        except BlockingIOError:
            return
        except OSError:
            raise ChannelClosed from None
        if not data:
            raise ChannelClosed
        self._reader.feed(data)

    def next(self) -> Frame | None:
        """The next whole frame that has come; raises `FrameError` for anything else."""
        return self._reader.next()

    def is_silent(self) -> bool:
        """Whether nothing has come that was not asked for."""
        with suppress(ChannelClosed):
            self.read()
        return not self._reader.pending

    def take_pending(self) -> bytes:
        """What has come and was not read as a frame; it is gone from here then."""
        found = self._reader.pending
        self._reader = FrameReader()
        return found

    def close(self) -> None:
        """Close this end."""
        self._sock.close()


class Listener:
    """Waits for one channel while handlers serve other file descriptors."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}

    def watch(self, fd: int, handler: Callable[[], None]) -> None:
        """Call `handler` whenever `fd` can be read."""
        self._handlers[fd] = handler
        self._poll.register(fd, select.POLLIN)

    def unwatch(self, fd: int) -> None:
        """Stop calling the handler of `fd`."""
        if self._handlers.pop(fd, None) is not None:
            self._poll.unregister(fd)

    def wait(
        self, channel: Channel, until: float, ended: Callable[[], bool] = lambda: False
    ) -> Frame:
        """The next frame of `channel`.

        Args:
            channel: Where the frame comes from.
            until: The deadline, on the clock of `time.monotonic()`.
            ended: Whether the process at the other end has ended: others may hold its channel.

        Raises:
            DeadlinePassed: No whole frame came in time.
            ChannelClosed: The other end closed, or its process ended.
            FrameError: What came is no frame.
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

    def wait_until(self, until: float, done: Callable[[], bool]) -> None:
        """Serve the handlers until `done`, at the latest until the deadline."""
        while not done() and time.monotonic() < until:
            self._poll_once(until)

    def _wait(self, channel: Channel, fd: int, until: float, ended: Callable[[], bool]) -> Frame:
        while True:
            if fd in self._poll_once(until):
                channel.read()
                found = channel.next()
                if found is not None:
                    return found
            elif ended():
                raise ChannelClosed
            if time.monotonic() >= until:
                raise DeadlinePassed

    def _poll_once(self, until: float) -> set[int]:
        left = max(0.0, until - time.monotonic())
        ready = {fd for fd, _ in self._poll.poll(left * 1000)}
        for fd in ready & self._handlers.keys():
            self._handlers[fd]()
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
