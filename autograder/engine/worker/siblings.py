"""What the workers of one run tell each other: each writes into a file of its own, all read it.

The files have no names, and what a submission runs holds none of them. Nobody waits for anybody: a
worker reads what has come until now.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_SIZE_NBYTES = 8


class Siblings:
    """One worker's part in it.

    What is said has a topic, and everybody hears what others have said about one.
    """

    def __init__(self, own: int | None = None, others: Sequence[int] = ()) -> None:
        """Take the files.

        Args:
            own: The descriptor of the file that this worker writes, None where nobody reads it.
            others: Those that it reads.
        """
        self._own, self._others, self._end = own, tuple(others), 0

    @classmethod
    def family(cls, count: int, folder: Path) -> list[Siblings]:
        """So many of them, before they are forked; the files lie in `folder`."""
        files = [_unnamed(folder) for _ in range(count)]
        if count == 1:
            return [cls()]
        return [cls(own, [one for one in files if one != own]) for own in files]

    def say(self, topic: str, words: Any) -> None:
        """Tell the others; `words` is anything that can be pickled."""
        if self._own is None:
            return
        said = pickle.dumps((topic, words))
        record = memoryview(len(said).to_bytes(_SIZE_NBYTES, "little") + said)
        while record:
            written = os.pwrite(self._own, record, self._end)
            record, self._end = record[written:], self._end + written

    def listener(self, topic: str) -> Listener:
        """One who hears all that the others have said, and will say, about this topic."""
        return Listener(topic, self._others)


class Listener:
    """Hears what is said about one topic, each of it once."""

    def __init__(self, topic: str, files: Sequence[int]) -> None:
        """Listen from the beginning to what is written into these files."""
        self._topic, self._heard = topic, dict.fromkeys(files, 0)

    def hear(self) -> Iterator[Any]:
        """What has come since."""
        for file in self._heard:
            while (said := self._next(file)) is not None:
                topic, words = pickle.loads(said)
                if topic == self._topic:
                    yield words

    def _next(self, file: int) -> bytes | None:
        """The next record of this file; None where it has not come whole."""
        at = self._heard[file]
        size = int.from_bytes(os.pread(file, _SIZE_NBYTES, at), "little")
        said = os.pread(file, size, at + _SIZE_NBYTES)
        if not size or len(said) < size:
            return None
        self._heard[file] = at + _SIZE_NBYTES + size
        return said


def _unnamed(folder: Path) -> int:
    with tempfile.TemporaryFile(dir=folder) as file:
        return os.dup(file.fileno())
