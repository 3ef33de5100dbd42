"""What the tests of saving by several ranks need: ranks with a disk each, and a line to talk.

What `saved_by_ranks` tells:

    removed   the names of all files that were removed
    moved     those that files got by `os.replace` or `os.rename`
    files     those on each disk
    loaded    what rank 0's file holds
    there     what it held whenever rank 0 called `tell`
    during    what it held when rank 0 tried to write what can't be written
    touched   whether any file was made or removed on the disks of the others
    calls     those of `tell`, by rank
    errors    by class; `words`, those of each; `reason`, what those of the error must hold
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import torch

from course.inspection.class_names import class_name
from course.lessons.devices.ring_probes import Meeting, error_in_words
from course.probes.decorator import probe

__all__ = ["saved_by_ranks"]


WORDS = "no space left on device"
NOWHERE = "nowhere"  # the name of a folder that isn't there


class _Unsaved:
    """What cannot be saved, for a reason in these words; it says when somebody tries."""

    def __init__(self, error: Exception, tried: Callable[[], None]) -> None:
        self._error, self._tried = error, tried

    def __reduce__(self) -> NoReturn:
        self._tried()
        raise self._error


@contextmanager
def _files_noted() -> Iterator[tuple[list[str], list[str]]]:
    """A block in which the names of files are noted that are removed, or moved into place."""
    removed, moved = list[str](), list[str]()
    remove, unlink, replace, rename = os.remove, os.unlink, os.replace, os.rename

    def noted(path: Any, **options: Any) -> None:
        removed.append(Path(os.fsdecode(path)).name)
        unlink(path, **options)

    def moving(source: Any, target: Any, **options: Any) -> None:
        moved.append(Path(os.fsdecode(target)).name)
        replace(source, target, **options)

    os.remove = os.unlink = noted
    os.replace = os.rename = moving  # type: ignore[assignment]
    try:
        yield removed, moved
    finally:
        os.remove, os.unlink, os.replace, os.rename = remove, unlink, replace, rename


class _Line:
    """A collective: whoever calls waits for all, and gets what rank 0 said."""

    def __init__(self, meeting: Meeting, folder: Path) -> None:
        self._meeting, self._folder = meeting, folder
        self._rounds: list[dict[int, Any]] = []
        self.calls = [0] * meeting.count
        self.there: list[Any] = []

    def tell(self, rank: int, message: Any) -> Any:
        """Rank 0's message, once all ranks have called as often as this one."""
        number = self.calls[rank]
        if rank == 0:
            self.there.append(_loaded(self._folder))

        def arrive() -> None:
            self.calls[rank] += 1
            while len(self._rounds) <= number:
                self._rounds.append({})
            self._rounds[number][rank] = message

        self._meeting.change(arrive)
        heard = self._rounds[number]
        return self._meeting.wait(lambda: len(heard) == self._meeting.count, lambda: heard.get(0))


def _loaded(folder: Path) -> Any:
    """What the file holds, None without one, or the class of the error that reading it raises."""
    path = folder / "model.pt"
    if not path.exists():
        return None
    try:
        return torch.load(path, weights_only=True)
    except Exception as error:
        return class_name(error)


def _disks(top: Path, count: int, old: dict[str, Any] | None) -> list[Path]:
    """A folder for each rank, the first with an old file.

    The others were changed long ago: whoever makes a file there, and takes it away, changes that.
    """
    folders = [top / str(rank) for rank in range(count)]
    for folder in folders:
        folder.mkdir()
    if old is not None:
        torch.save(old, folders[0] / "model.pt")
    for folder in folders[1:]:
        os.utime(folder, ns=(0, 0))
    return folders


def _given(
    states: Sequence[dict[str, Any]], error: Exception | None, tried: Callable[[], None]
) -> list[dict[str, Any]]:
    """Copies of the states, the first with something that raises this error when it's saved."""
    given = [dict(state) for state in states]
    if error is not None:
        given[0]["module.broken"] = _Unsaved(error, tried)
    return given


def _ended(ends: Sequence[tuple[Any, BaseException | None]]) -> dict[str, Any]:
    """How each rank ended."""
    return {
        "results": [result for result, _ in ends],
        "errors": [error_in_words(error) for _, error in ends],
        "words": ["" if error is None else str(error) for _, error in ends],
    }


@probe
def saved_by_ranks(
    procedure: Callable[..., Any],
    states: Sequence[dict[str, Any]],
    *,
    old: dict[str, Any] | None = None,
    breaks: bool = False,
    nowhere: bool = False,
    runs: int = 1,
    facts: Sequence[str] = (),
) -> dict[str, Any]:
    """What `procedure(rank, state, path, tell)` leaves on the disks of ranks that have one each.

    The keys of what it returns stand at the head of this module.

    Args:
        procedure: The answer.
        states: What each rank is to save.
        old: What the file of rank 0 holds before; None for no file.
        breaks: Whether the state of rank 0 can't be saved: an OSError.
        nowhere: Whether the folder of each path is missing, so that no file can be opened there.
        runs: How often each rank calls it.
        facts: The keys asked for; none for all.
    """
    ranks = len(states)
    with tempfile.TemporaryDirectory() as top, _files_noted() as (removed, moved):
        folders, during = _disks(Path(top), ranks, old), list[Any]()
        error = OSError(WORDS) if breaks else None
        given = _given(states, error, lambda: during.append(_loaded(folders[0])))
        line = _Line(meeting := Meeting(ranks), folders[0])

        def work(rank: int) -> Any:
            path = folders[rank].joinpath(*[NOWHERE] * nowhere, "model.pt")
            for _ in range(runs):
                tell = partial(line.tell, rank)
                result = procedure(rank, given[rank], str(path), tell)
            return result

        seen = _ended(meeting.run(work)) | {
            "removed": removed,
            "moved": moved,
            "files": [sorted(os.listdir(folder)) for folder in folders],
            "loaded": _loaded(folders[0]),
            "there": line.there,
            "during": during[:1],
            "reason": NOWHERE if nowhere else WORDS if breaks else "",
            "touched": [bool(folder.stat().st_mtime_ns) for folder in folders[1:]],
            "calls": line.calls,
        }
        return {name: seen[name] for name in facts or seen}
