"""What travels between the grading processes: a small JSON body and raw buffers, never pickle.

A frame is a fixed head, the sizes of its buffers, its body as JSON and the buffers themselves.
Every size is checked against `FrameLimits` before anything is allocated for it, so that the
process at the other end, which may be hostile, can neither fill our memory nor make us wait for
bytes that never come.  Anything that is not a frame is a `FrameError`.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from hashlib import blake2b
from hmac import compare_digest
from typing import Any, NoReturn, Protocol

MAGIC = b"PMf1"
_HEAD = struct.Struct("<4sBxHQI")  # magic, kind, number of buffers, id, bytes of JSON
HEAD_NBYTES = _HEAD.size
_SIZE = struct.Struct("<Q")
_BLOCK_NBYTES = 2**20
MAC_NBYTES = 16  # of a signed frame's last buffer: keyed BLAKE2b

Buffer = bytes | bytearray | memoryview
Sign = Callable[[Sequence[Buffer]], bytes]
Receive = Callable[[], tuple[int, int, Any, list[bytes]]]


class Send(Protocol):
    """Writes a frame."""

    def __call__(
        self,
        kind: int,
        number: int,
        body: Any,
        buffers: Sequence[Buffer] = ...,
        sign: Sign | None = ...,
        /,
    ) -> None:
        """Write it whole, waiting where the other end does not read.

        `sign` gives one more buffer, made of what is signed: see `signed_parts`.
        """


class FrameError(Exception):
    """Bytes that are no frame, or a frame over its limits; the message says which rule broke."""


class TooLarge(FrameError):
    """A frame that the other end would refuse; nothing of it was written."""


class Kind(IntEnum):
    """What a frame says.  The upper half travels from the worker, the lower half to it."""

    FILE = 1  # a data file of the lesson: {"name"}, one buffer
    SETUP = 2  # {"source", "key"}: the names that probes may use, and what replies are signed with
    RUN = 3  # {"source", "plain", "name"}: execute a cell
    SNAPSHOT = 4  # fork a snapshot of the process; its channel comes with the frame
    ASK = 5  # a request of a test cell
    TEST = 6  # {"source", "asks", "key"}: execute a test cell (checker)
    FINISH = 7
    DRAW = 8  # {"numbers"}: draw random numbers as cells would have done that were left out
    READY = 32
    EVENT = 33  # one piece of a cell's output
    DONE = 34  # {"ok", "error", "count"}: the cell ended
    SNAPSHOT_TAKEN = 35  # {"pid"}
    REPLY = 36  # the answer to ASK with the same id, signed
    FAILED = 37  # ASK could not be served: {"error"}, signed
    ENDED = 38  # {"pid", "status"}: a process of the submission ended (from its init)


@dataclass(frozen=True)
class FrameLimits:
    """The largest frame that is accepted; sizes in bytes."""

    body_nbytes: int = 8 * 2**20
    total_nbytes: int = 64 * 2**20
    buffers: int = 60_001  # of two documents, and a signature


LIMITS = FrameLimits()


@dataclass(frozen=True)
class Frame:
    """A frame as it arrived: its body is still text, `raw` is the whole of it."""

    kind: int
    id: int
    raw: bytes
    body_span: tuple[int, int]
    sizes: tuple[int, ...] = field(default=())

    def body(self) -> Any:
        """The JSON body, strictly read: no NaN, no duplicate keys, no endless nesting."""
        start, stop = self.body_span
        return read_json(self.raw[start:stop])

    def buffers(self) -> list[bytes]:
        """Copies of the buffers, in order."""
        found, at = [], self.body_span[1]
        for size in self.sizes:
            found.append(self.raw[at : at + size])
            at += size
        return found


def read_json(text: bytes) -> Any:
    """The value of `text`, its numbers finite; raises `FrameError` for what is no strict JSON."""
    try:
        return json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique
        )
    except (ValueError, RecursionError, MemoryError):
        raise FrameError("the body is not strict JSON") from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


def _finite(digits: str) -> float:
    """The number of these digits; refuses `1e400`, which Python reads as infinity."""
    value = float(digits)
    return value if value - value == 0 else _refuse(digits[:20])


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def renumbered(raw: bytes, number: int) -> bytes:
    """The frame of these bytes with another id."""
    magic, kind, count, _, nbytes = _HEAD.unpack_from(raw)
    return _HEAD.pack(magic, kind, count, number, nbytes) + raw[_HEAD.size :]


def pack(kind: int, id_: int, body: Any, buffers: Sequence[Buffer] = ()) -> bytes:
    """The bytes of a frame.

    Args:
        kind: One of `Kind`.
        id_: A number that a reply repeats.
        body: What JSON can hold.
        buffers: Raw bytes beside it.
    """
    text = json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    views = [memoryview(one).cast("B") for one in buffers]
    sizes = b"".join(_SIZE.pack(len(view)) for view in views)
    head = _HEAD.pack(MAGIC, kind, len(views), id_, len(text))
    return b"".join([head, sizes, text, *views])


def signed_parts(frame: Frame) -> tuple[list[Buffer], bytes]:
    """What the last buffer of a signed frame signs, and that buffer.

    Kind and number, the lengths of the body and of the other buffers, the body, these buffers.
    """
    *buffers, signature = frame.buffers() or [b""]
    body = frame.raw[slice(*frame.body_span)]
    lengths = [_SIZE.pack(len(one)) for one in (body, *buffers)]
    return [_HEAD.pack(MAGIC, frame.kind, 0, frame.id, 0), *lengths, body, *buffers], signature


def verified_buffers(frame: Frame, key: bytes) -> list[bytes]:
    """The buffers of a signed frame, without its signature.

    Args:
        frame: The frame.
        key: What the measuring code signs with.

    Raises:
        FrameError: Other code has sent it.
    """
    parts, signature = signed_parts(frame)
    right = blake2b(b"".join(parts), key=key, digest_size=MAC_NBYTES).digest()
    if not compare_digest(right, signature):
        raise FrameError("a reply that other code than the grader's has sent")
    return [bytes(one) for one in parts[-len(frame.sizes) + 1 :]] if frame.sizes[1:] else []


class FrameReader:
    """Collects bytes as they come and gives whole frames back."""

    def __init__(self, limits: FrameLimits = LIMITS) -> None:
        self._limits = limits
        self._data = bytearray()

    @property
    def pending(self) -> bytes:
        """What has come of frames that were not taken yet."""
        return bytes(self._data)

    def feed(self, data: bytes) -> None:
        """Take bytes that came from the other end."""
        self._data += data

    def next(self) -> Frame | None:
        """The next whole frame, None where more bytes must come first."""
        if len(self._data) < _HEAD.size:
            return None
        kind, count, id_, body_nbytes = self._head()
        sizes_end = _HEAD.size + count * _SIZE.size
        if len(self._data) < sizes_end:
            return None
        sizes = struct.unpack_from(f"<{count}Q", self._data, _HEAD.size)
        total = sizes_end + body_nbytes + sum(sizes)
        if total > self._limits.total_nbytes:
            raise FrameError("the frame has more bytes than one may")
        if len(self._data) < total:
            return None
        raw = bytes(self._data[:total])
        del self._data[:total]
        return Frame(kind, id_, raw, (sizes_end, sizes_end + body_nbytes), sizes)

    def _head(self) -> tuple[int, int, int, int]:
        magic, kind, count, id_, body_nbytes = _HEAD.unpack_from(self._data)
        if magic != MAGIC:
            raise FrameError("the bytes do not begin as a frame does")
        if count > self._limits.buffers or body_nbytes > self._limits.body_nbytes:
            raise FrameError("the frame announces more than one may hold")
        return kind, count, id_, body_nbytes


def frame_of(raw: bytes) -> Frame:
    """The frame of just these bytes; raises `FrameError` for anything else."""
    reader = FrameReader()
    reader.feed(raw)
    found = reader.next()
    if found is None or reader.pending:
        raise FrameError("the bytes are not one whole frame")
    return found


def endpoint(fd: int) -> tuple[Send, Receive]:
    """Two functions that write and read frames on a blocking file descriptor."""
    return endpoint_maker()(fd)


def endpoint_maker() -> Callable[[int], tuple[Send, Receive]]:  # noqa: C901 - all it uses is inside
    """A function like `endpoint` that closes over everything it uses.

    Code that later replaces `os.write`, `json.dumps`, `len` or the names of this module does not
    change what it does, nor what the functions do that it gives.
    """
    write, read, to_json, from_json = os.write, os.read, _json_writer(), _json_reader()
    head, size, unpack_from, magic = _HEAD, _SIZE, struct.unpack_from, MAGIC
    view, length, join, total, Error = memoryview, len, b"".join, sum, FrameError
    Large, most_body, most = TooLarge, LIMITS.body_nbytes, LIMITS.total_nbytes
    most_buffers = LIMITS.buffers
    block, text_of, bytes_of, frozen = _BLOCK_NBYTES, str, bytearray, bytes

    def open_endpoint(fd: int) -> tuple[Send, Receive]:  # noqa: C901 - likewise
        def send(
            kind: int,
            id_: int,
            body: Any,
            buffers: Sequence[Buffer] = (),
            sign: Sign | None = None,
            /,
        ) -> None:
            text = to_json(body)
            views = [view(one).cast("B") for one in buffers]
            if sign is not None:
                lengths = [size.pack(length(one)) for one in (text, *views)]
                views = [
                    *views,
                    view(sign([head.pack(magic, kind, 0, id_, 0), *lengths, text, *views])),
                ]
            whole = head.size + length(views) * size.size + length(text)
            is_large = length(text) > most_body or length(views) > most_buffers
            if is_large or whole + total([length(one) for one in views]) > most:
                raise Large("more than fits into a frame")
            sizes = [size.pack(length(one)) for one in views]
            start = head.pack(magic, kind, length(views), id_, length(text))
            for part in [view(join([start, *sizes, text])), *views]:
                while length(part):
                    part = part[write(fd, part) :]

        def exactly(nbytes: int) -> bytearray:
            data = bytes_of()
            while length(data) < nbytes:
                wanted = nbytes - length(data)
                piece = read(fd, wanted if wanted < block else block)
                if not piece:
                    raise Error("the other end closed the channel")
                data += piece
            return data

        def receive() -> tuple[int, int, Any, list[bytes]]:
            mark, kind, count, id_, body_nbytes = head.unpack(exactly(head.size))
            if mark != magic:
                raise Error("the bytes do not begin as a frame does")
            sizes = unpack_from(f"<{count}Q", exactly(count * size.size))
            body = from_json(text_of(exactly(body_nbytes), "utf-8"))
            data = exactly(total(sizes))
            buffers, at = [], 0
            for one in sizes:
                buffers.append(frozen(data[at : at + one]))
                at += one
            return kind, id_, body, buffers

        return send, receive

    return open_endpoint


def fd_taker(channel: int) -> Callable[[], int]:
    """A function that takes one file descriptor sent through a blocking channel.

    Like `endpoint`, it closes over what it uses.
    """
    receive = socket.socket(fileno=channel).recvmsg
    space, number = socket.CMSG_SPACE(4), int.from_bytes

    def take() -> int:
        _, ancillary, _, _ = receive(1, space)
        return number(ancillary[0][2][:4], "little")

    return take


def _json_writer() -> Callable[[Any], bytes]:
    """`json.dumps` as one closed function; the C encoder looks nothing up in Python modules."""
    make = getattr(json.encoder, "c_make_encoder", None)

    def refuse(value: object) -> Any:
        raise TypeError(f"{type(value).__name__} has no place in a frame")

    if make is None:  # an interpreter without the C part: the plain way
        return lambda value: json.dumps(value, allow_nan=False).encode()
    escape = json.encoder.encode_basestring_ascii
    encode = make(None, refuse, escape, None, ":", ",", False, False, False)
    join = "".join
    return lambda value: join(encode(value, 0)).encode("ascii")


def _json_reader() -> Callable[[str], Any]:
    scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # not declared in typeshed
    return lambda text: scan(text, 0)[0]
