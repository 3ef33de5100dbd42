"""An iterator that runs ahead in a thread of its own, while its reader is busy elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from queue import Full, Queue
from types import TracebackType
from typing import Generic, TypeVar

T = TypeVar("T")
_WAIT_S = 0.2  # how long a full queue is waited for before asking whether to stop


class Prefetch(Generic[T]):
    """The items of `source`, made up to `most` ahead of the reader; errors arrive at the reader.

    Use it in a `with` statement: leaving it closes `source`, which has to be a generator.
    """

    def __init__(self, source: Iterator[T], most: int = 8) -> None:
        """Start at once."""
        self._queue: Queue[tuple[T | None, BaseException | None]] = Queue(most)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(source,), daemon=True)
        self._thread.start()

    def __enter__(self) -> Iterator[T]:
        """Give the items."""
        return self._items()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the thread; after an interrupt it is not waited for."""
        self._stop.set()
        self._thread.join(None if kind is None else 1.0)

    def _items(self) -> Iterator[T]:
        while True:
            item, error = self._queue.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]  # T may itself be None

    def _run(self, source: Iterator[T]) -> None:
        try:
            with closing(source) as items:  # type: ignore[type-var]
                for item in items:
                    if not self._put((item, None)):
                        return
        except BaseException as error:
            self._put((None, error))
        else:
            self._put((None, StopIteration()))

    def _put(self, entry: tuple[T | None, BaseException | None]) -> bool:
        while not self._stop.is_set():
            try:
                self._queue.put(entry, timeout=_WAIT_S)
                return True
            except Full:
                continue
        return False
