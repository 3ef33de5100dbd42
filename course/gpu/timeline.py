"""Who held how much memory when: the history of an allocator, with a category for each block.

Built from snapshots in torch's form, so it is the same on CUDA and on the simulated device. A
position counts events: 0 is the beginning of the recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from course.gpu.simulator.allocator.sizes import block_size

Category = Literal[
    "parameters", "gradients", "optimizer state", "inputs", "activations", "temporaries"
]
# A block that was several of these is the first of them: a parameter that is saved for backward
# is a parameter. What was none of them is temporary.
CATEGORIES: tuple[Category, ...] = (
    "parameters",
    "gradients",
    "optimizer state",
    "inputs",
    "activations",
    "temporaries",
)
_BEGINS = {"segment_alloc", "segment_map"}
_ENDS = {"segment_free", "segment_unmap"}
_COUNTED = {"alloc", "free_completed", "oom"} | _BEGINS | _ENDS
# The counters of memory_stats that move by one with each of these events.
_COUNTERS = (
    "allocation.all.allocated",
    "allocation.all.freed",
    "segment.all.allocated",
    "segment.all.freed",
    "num_ooms",
)


@dataclass(frozen=True)
class Note:
    """What a block was found to be, after `ordinal` allocations of the device."""

    ordinal: int
    address: int
    category: Category
    name: str


@dataclass(frozen=True)
class Held:
    """A block in use, from one position to another; `end` is None while it is in use."""

    address: int
    nbytes: int
    begin: int
    end: int | None
    category: Category = "temporaries"
    name: str = ""


@dataclass(frozen=True)
class Taken:
    """A segment, from one position to another."""

    address: int
    nbytes: int
    begin: int
    end: int | None


@dataclass(frozen=True)
class Moment:
    """The bytes in use and reserved after an event; `by_category` adds up to `allocated`."""

    at: int
    allocated: int
    reserved: int
    by_category: Mapping[Category, int]


@dataclass(frozen=True)
class Mark:
    """A name for a position."""

    name: str
    at: int


@dataclass(frozen=True)
class Timeline:
    """A recording: every block and segment, every moment, the marks, and where memory ran out.

    Attributes:
        held: Every block that was in use at some time of the recording, with bytes and category.
        taken: Every segment that was there at some time.
        moments: Bytes in use and reserved, one moment a position from 0 on.
        marks: The names that `Recorder.mark` gave to positions.
        shortages: The positions at which a request could not be served.
    """

    held: tuple[Held, ...]
    taken: tuple[Taken, ...]
    moments: tuple[Moment, ...]
    marks: tuple[Mark, ...]
    shortages: tuple[int, ...]

    @property
    def peak(self) -> Moment:
        """The first moment with the most bytes in use."""
        return max(self.moments, key=lambda moment: moment.allocated)

    def at(self, name: str) -> Moment:
        """Return the moment of the last mark with that name."""
        places = {mark.name: mark.at for mark in self.marks}
        if name not in places:
            raise KeyError(f"no mark {name!r}; the marks are {sorted(places)}")
        return self.moments[places[name]]

    def holders(self, at: int) -> list[Held]:
        """Return the blocks in use at a position, the largest first."""
        found = [one for one in self.held if _covers(one, at)]
        return sorted(found, key=lambda one: (-one.nbytes, one.address))

    def segments(self, at: int) -> list[Taken]:
        """Return the segments at a position, in the order of their addresses."""
        return sorted((one for one in self.taken if _covers(one, at)), key=lambda one: one.address)


def events_so_far(statistics: Mapping[str, int]) -> int:
    """Return how many events the counters of `memory_stats` have counted."""
    return sum(statistics.get(name, 0) for name in _COUNTERS)


def timeline_of(
    before: Sequence[Mapping[str, Any]],
    history: Iterable[Mapping[str, Any]],
    count: int,
    *,
    ordinal: int = 0,
    notes: Sequence[Note] = (),
    marks: Sequence[Mark] = (),
) -> Timeline:
    """Return the timeline of the last `count` events of a history.

    `before` are the segments of the device when it began, and `ordinal` the number of allocations
    until then.
    """
    counted = [entry for entry in history if entry["action"] in _COUNTED]
    if count > len(counted):
        raise RuntimeError(
            f"the recording has {count} events, but the history keeps only the last "
            f"{len(counted)}; record less at a time"
        )
    replay = _Replay(before, ordinal)
    for position, entry in enumerate(counted[len(counted) - count :], start=1):
        replay.take(position, entry)
    held = replay.held(notes)
    return Timeline(
        held=held,
        taken=tuple(replay.taken),
        moments=_moments(held, replay.taken, count),
        marks=tuple(marks),
        shortages=tuple(replay.shortages),
    )


class _Replay:
    """The blocks and segments of a history, while it is read."""

    def __init__(self, before: Sequence[Mapping[str, Any]], ordinal: int) -> None:
        self.taken = [Taken(s["address"], s["total_size"], 0, None) for s in before]
        self.shortages: list[int] = []
        self._open: dict[int, int] = {}
        self._held: list[tuple[int, Held]] = []
        self._ordinal = ordinal
        for segment in before:
            for block in segment["blocks"]:
                if block["state"] == "active_allocated":
                    self._begin(0, block["address"], block["size"])

    def take(self, position: int, entry: Mapping[str, Any]) -> None:
        action = entry["action"]
        if action == "alloc":
            self._ordinal += 1
            nbytes = entry.get("block_size", block_size(entry["size"]))
            self._begin(position, entry["addr"], nbytes)
        elif action == "free_completed":
            place = self._open.pop(entry["addr"], None)
            if place is not None:
                ordinal, held = self._held[place]
                self._held[place] = (ordinal, _ended(held, position))
        elif action in _BEGINS:
            self.taken.append(Taken(entry["addr"], entry["size"], position, None))
        elif action in _ENDS:
            self._end_segment(position, entry["addr"])
        else:
            self.shortages.append(position)

    def held(self, notes: Sequence[Note]) -> tuple[Held, ...]:
        """Return the blocks, each with the category and name that the notes give it."""
        at: dict[int, list[Note]] = {}
        for note in notes:
            at.setdefault(note.address, []).append(note)
        found = []
        next_ordinal = self._next_ordinals()
        for place, (ordinal, held) in enumerate(self._held):
            until = next_ordinal[place]
            mine = [n for n in at.get(held.address, ()) if ordinal <= n.ordinal < until]
            found.append(_named(held, mine))
        return tuple(found)

    def _next_ordinals(self) -> list[float]:
        """Return, for each block, the ordinal at which its address was handed out again."""
        later: dict[int, float] = {}
        found = [float("inf")] * len(self._held)
        for place in range(len(self._held) - 1, -1, -1):
            ordinal, held = self._held[place]
            found[place] = later.get(held.address, float("inf"))
            later[held.address] = ordinal
        return found

    def _begin(self, position: int, address: int, nbytes: int) -> None:
        self._open[address] = len(self._held)
        self._held.append((self._ordinal, Held(address, nbytes, position, None)))

    def _end_segment(self, position: int, address: int) -> None:
        for place in range(len(self.taken) - 1, -1, -1):
            one = self.taken[place]
            if one.address == address and one.end is None:
                self.taken[place] = Taken(one.address, one.nbytes, one.begin, position)
                return


def _ended(held: Held, end: int) -> Held:
    return Held(held.address, held.nbytes, held.begin, end, held.category, held.name)


def _named(held: Held, notes: Sequence[Note]) -> Held:
    if not notes:
        return held
    first = min(notes, key=lambda note: CATEGORIES.index(note.category))
    return Held(held.address, held.nbytes, held.begin, held.end, first.category, first.name)


def _covers(one: Held | Taken, at: int) -> bool:
    return one.begin <= at and (one.end is None or at < one.end)


def _moments(held: Sequence[Held], taken: Sequence[Taken], count: int) -> tuple[Moment, ...]:
    """Return the sums after each event, from the beginnings and ends of blocks and segments."""
    steps: list[Counter[str]] = [Counter() for _ in range(count + 1)]
    for one in held:
        steps[one.begin][one.category] += one.nbytes
        if one.end is not None:
            steps[one.end][one.category] -= one.nbytes
    for segment in taken:
        steps[segment.begin]["reserved"] += segment.nbytes
        if segment.end is not None:
            steps[segment.end]["reserved"] -= segment.nbytes
    now: dict[str, int] = dict.fromkeys((*CATEGORIES, "reserved"), 0)
    moments = []
    for position, step in enumerate(steps):
        for name, change in step.items():
            now[name] += change
        sums = {category: now[category] for category in CATEGORIES}
        moments.append(Moment(position, sum(sums.values()), now["reserved"], sums))
    return tuple(moments)
