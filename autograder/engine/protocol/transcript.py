"""What a test cell was told, as one digest: what it does next depends on nothing else.

A test cell sees an answer by the replies to its requests alone. Replies hold serial numbers of
storages, and those depend on what ran before in the same process. So that two answers which did
the same have the same digest, the numbers are given anew, in the order in which they first appear;
which tensors share a storage, in one reply or over several, stays to be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from autograder.engine.protocol.frames import Buffer, Frame

_DIGEST_NBYTES = 16
# Keys of an object in the reply, never within a text: JSON escapes the quotes there. No learner
# chooses a key: a dict travels as a list of pairs. A node of a tensor has a key "storage", too,
# which is a place in its document.
_NUMBERS = re.compile(
    rb'"storage":(?P<storage>\d+)(?=,"storage_nbytes":)|"memory":(?P<memory>\d+)'
    rb'|"marks":\[(?P<marks>[\dnul,]*)\]'
)
_MARKS = 4  # of a tensor: storage, memory, version, alignment


@dataclass(frozen=True)
class Told:
    """What a snapshot was asked before the checker that would have asked it.

    Attributes:
        asked: What tells the request apart, see `digest_of_frame`.
        number: That of the request.
        reply: The bytes of the frame that came back, none where it is still to come.
    """

    asked: bytes
    number: int
    reply: bytes = b""


class Transcript:
    """Where a test cell has come to.

    Attributes:
        state: A digest of the test cell and of all that it was told until now.
    """

    def __init__(self, source: str, count: int) -> None:
        """Begin.

        Args:
            source: The test cell.
            count: Its execution count, which stands in its outputs.
        """
        self._numbers: dict[bytes, bytes] = {b"0": b"0"}  # where nobody looked
        self.state = _digest([b"%d" % count, source.encode(errors="surrogatepass")])

    def begin_rest(self) -> None:
        """The visible part has ended, and the rest of the cell begins."""
        self.state = _digest([self.state, b"rest"])

    def add(self, frame: Frame, buffers: Iterable[Buffer]) -> None:
        """Take a reply.

        Args:
            frame: The reply.
            buffers: Its buffers without the signature.
        """
        body = _NUMBERS.sub(self._numbered, frame.raw[slice(*frame.body_span)])
        self.state = _digest([self.state, b"%d" % frame.kind, body, *buffers])

    def _numbered(self, found: re.Match[bytes]) -> bytes:
        kind = found.lastgroup
        if kind == "marks":
            return b'"marks":[%b]' % self._numbered_marks(found["marks"])
        return b'"%b":%b' % (str(kind).encode(), self._number(found[str(kind)]))

    def _numbered_marks(self, marks: bytes) -> bytes:
        words = marks.split(b",")
        if len(words) % _MARKS:
            return marks
        for at in range(0, len(words), _MARKS):
            words[at : at + 2] = map(self._number, words[at : at + 2])
        return b",".join(words)

    def _number(self, found: bytes) -> bytes:
        return self._numbers.setdefault(found, b"%d" % len(self._numbers))


def _digest(parts: Iterable[Buffer]) -> bytes:
    found = blake2b(digest_size=_DIGEST_NBYTES)
    for one in parts:
        found.update(b"%d:" % len(one))
        found.update(one)
    return found.digest()
