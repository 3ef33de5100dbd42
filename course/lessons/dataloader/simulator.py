"""A DataLoader's epoch on a clock of its own: times go in, spans come out, nothing is run.

The rules are those of `torch.utils.data.dataloader` (torch 2.13):

- At the start `prefetch * workers` batches are handed out, the first to worker 0, the next to
  worker 1 and so on; each batch that the loop takes sends one more, again in turn.
- A worker loads its batches one after another.
- With `in_order` the loop takes batch 0, 1, 2 …; what is ready too early waits in the queue.
  Otherwise it takes what is ready first, and the next batch goes to a worker with room.
- Without workers the loop loads each batch itself and waits meanwhile.

Left out: what it costs to send a batch from one process to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle, pairwise

__all__ = ["LOOP", "LoaderPlan", "LoaderRun", "Span", "run_loader"]

LOOP = "loop"  # the lane of the training loop, in the main process


@dataclass(frozen=True)
class LoaderPlan:
    """What decides how long an epoch takes. All times are in seconds.

    Attributes:
        loads: How long it takes to load each batch, 0 or more.
        compute: How long one training step takes.
        workers: The number of worker processes; with 0 the loop loads by itself.
        prefetch: How many batches each worker is asked for ahead, 1 or more.
        in_order: Whether the loop takes batch 0, 1, 2 …, or what is ready first.
        start: The time until a worker process can load its first batch.

    Raises:
        ValueError: A time or `workers` is negative, or `prefetch` below 1 with workers.
    """

    loads: tuple[float, ...]
    compute: float
    workers: int = 2
    prefetch: int = 2
    in_order: bool = True
    start: float = 0.0

    def __post_init__(self) -> None:
        if any(time < 0 for time in (*self.loads, self.compute, self.start)):
            raise ValueError(f"times are 0 or more; got {self}")
        if self.workers < 0:
            raise ValueError(f"workers={self.workers}: take 0 (the loop loads) or more")
        if self.workers and self.prefetch < 1:
            raise ValueError(f"prefetch={self.prefetch}: with workers, take 1 or more")


@dataclass(frozen=True)
class Span:
    """Something that takes from `start` to `end` in one lane: "start", "load", "wait", "step"."""

    lane: str
    kind: str
    batch: int
    start: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return self.end - self.start


@dataclass(frozen=True)
class LoaderRun:
    """One epoch: every span, and when each batch was ready and taken, by batch number."""

    plan: LoaderPlan
    spans: tuple[Span, ...]
    ready: tuple[float, ...]
    taken: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """The duration of the epoch."""
        return max((span.end for span in self.spans if span.lane == LOOP), default=0.0)

    @property
    def order(self) -> tuple[int, ...]:
        """The batches in the order in which the loop gets them."""
        return tuple(span.batch for span in self.spans if span.kind == "step")

    @property
    def waiting(self) -> float:
        """The seconds in which the loop does not compute: it waits, or loads by itself."""
        return sum(s.seconds for s in self.spans if s.lane == LOOP and s.kind != "step")

    @property
    def lanes(self) -> tuple[str, ...]:
        """The workers, then the loop."""
        return (*(f"worker {number}" for number in range(self.plan.workers)), LOOP)

    @cached_property
    def queue(self) -> tuple[tuple[float, float, int], ...]:
        """Intervals (start, end, count): how many batches are ready and not yet taken."""
        if not self.plan.workers:
            return ()
        moments = sorted({0.0, self.seconds, *self.ready, *self.taken})
        return tuple((start, end, self.queued(start)) for start, end in pairwise(moments))

    def queued(self, at: float) -> int:
        """The batches that are ready at this moment and not yet taken."""
        return sum(r <= at < t for r, t in zip(self.ready, self.taken, strict=True))


def run_loader(plan: LoaderPlan) -> LoaderRun:
    """The epoch that this plan leads to.

    Args:
        plan: How long loading and computing take, and who loads.

    Returns:
        Every span in every lane, in seconds from the beginning.
    """
    epoch = _EpochWithWorkers(plan) if plan.workers else _EpochWithoutWorkers(plan)
    epoch.run()
    count = len(plan.loads)
    ready, taken = (tuple(times[batch] for batch in range(count)) for times in epoch.times)
    return LoaderRun(plan, tuple(epoch.spans), ready, taken)


@dataclass
class _EpochWithoutWorkers:
    """An epoch without workers."""

    plan: LoaderPlan
    spans: list[Span] = field(default_factory=list)
    taken: dict[int, float] = field(default_factory=dict)

    @property
    def times(self) -> Sequence[dict[int, float]]:
        return self.taken, self.taken

    def run(self) -> None:
        now = 0.0
        for batch, load in enumerate(self.plan.loads):
            self.taken[batch] = now + load
            self.spans.append(Span(LOOP, "load", batch, now, now + load))
            now += load + self.plan.compute
            self.spans.append(Span(LOOP, "step", batch, self.taken[batch], now))


@dataclass
class _EpochWithWorkers:
    """An epoch with workers, on its way: what each of them has been told to load."""

    plan: LoaderPlan
    spans: list[Span] = field(default_factory=list)
    ready: dict[int, float] = field(default_factory=dict)
    taken: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        workers = range(self.plan.workers)
        self.turn = cycle(workers)
        self.free = dict.fromkeys(workers, self.plan.start)
        self.tasks: dict[int, int] = {}  # batch → its worker, until the loop takes it
        self.sent = 0
        if self.plan.start:
            self.spans += [Span(f"worker {w}", "start", 0, 0, self.plan.start) for w in workers]

    @property
    def times(self) -> Sequence[dict[int, float]]:
        return self.ready, self.taken

    def run(self) -> None:
        now = 0.0
        for _ in range(self.plan.prefetch * self.plan.workers):
            self.send(now)
        for _ in self.plan.loads:
            batch = self.next_batch(now)
            taken = max(now, self.ready[batch])
            if taken > now:
                self.spans.append(Span(LOOP, "wait", batch, now, taken))
            self.taken[batch] = taken
            del self.tasks[batch]
            self.send(taken)
            now = taken + self.plan.compute
            self.spans.append(Span(LOOP, "step", batch, taken, now))

    def next_batch(self, now: float) -> int:
        """The batch that the loop gets when it asks now."""
        if self.plan.in_order:
            return min(self.tasks)
        return min(self.tasks, key=lambda batch: (self.ready[batch], batch))

    def send(self, now: float) -> None:
        """Tell a worker to load the next batch, if one is left."""
        if self.sent == len(self.plan.loads):
            return
        worker, batch = self.worker_with_room(), self.sent
        start = max(now, self.free[worker])
        self.free[worker] = self.ready[batch] = start + self.plan.loads[batch]
        self.spans.append(Span(f"worker {worker}", "load", batch, start, self.ready[batch]))
        self.tasks[batch] = worker
        self.sent += 1

    def worker_with_room(self) -> int:
        """The next worker in turn; out of order, the next that has less than its share to do."""
        for worker in self.turn:
            busy = list(self.tasks.values()).count(worker)
            if self.plan.in_order or busy < self.plan.prefetch:
                return worker
        raise AssertionError("a cycle never ends")
