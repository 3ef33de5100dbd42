"""Segments, the blocks they are cut into, and the numbers of a request that found none."""

from __future__ import annotations

from dataclasses import dataclass, field

from course.gpu.simulator.allocator.sizes import Pool
from course.gpu.simulator.allocator.trace import Frame


@dataclass(frozen=True)
class Shortage:
    """The numbers of a request that could not be served."""

    tried_nbytes: int
    total_nbytes: int
    free_nbytes: int
    limit_nbytes: int | None
    used_nbytes: int
    allocated_nbytes: int
    reserved_nbytes: int


class OutOfMemory(Exception):
    """No segment could be taken from the device, not even after releasing what was cached.

    Args:
        shortage: The numbers of the request, which stay in `shortage`: bytes asked for, free, in
            use.
    """

    def __init__(self, shortage: Shortage) -> None:
        super().__init__(f"{shortage.tried_nbytes} bytes of {shortage.free_nbytes} free ones")
        self.shortage = shortage


@dataclass(eq=False)
class Segment:
    """Bytes taken from the device in one piece (one `cudaMalloc`)."""

    address: int
    size: int
    pool: Pool
    first: Block


@dataclass(eq=False)
class Block:
    """A part of a segment: in use by one storage, or free."""

    address: int
    size: int
    pool: Pool
    requested: int = 0
    allocated: bool = False
    ordinal: int = 0  # counts the allocations of the device; 0 for a block that never was in use
    frames: tuple[Frame, ...] = field(default=(), repr=False)
    previous: Block | None = field(default=None, repr=False)
    next: Block | None = field(default=None, repr=False)

    @property
    def is_split(self) -> bool:
        """Whether the block has neighbours in its segment."""
        return self.previous is not None or self.next is not None


def by_fit(block: Block) -> tuple[int, int]:
    """Return what free blocks are sorted by: best fit, then lowest address."""
    return block.size, block.address
