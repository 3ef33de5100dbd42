"""A model of CUDA's caching allocator: requests in, decisions out; no torch, no memory inside.

`c10/cuda/CUDACachingAllocator.cpp` is the original; each method names the function it follows.
Left out: streams other than the default one, private pools, expandable segments and the settings
of PYTORCH_ALLOC_CONF. The addresses are numbers without memory behind them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

from course.gpu.simulator.allocator.blocks import Block, OutOfMemory, Segment, Shortage, by_fit
from course.gpu.simulator.allocator.sizes import (
    ROUND_LARGE_NBYTES,
    Pool,
    block_size,
    leaves_a_rest,
    pool_of,
    segment_size,
)
from course.gpu.simulator.allocator.statistics import Statistics
from course.gpu.simulator.allocator.trace import Trace

__all__ = ["Block", "CachingAllocator", "OutOfMemory", "Segment", "Shortage"]


class CachingAllocator:
    """The allocator of one device.

    What the driver leaves of the memory can become segments. `limit_nbytes` bounds all segments
    together (`set_per_process_memory_fraction`).

    Args:
        total_nbytes: The memory of the device, in bytes.
        context_nbytes: The bytes of it that the driver keeps for itself.
        base: The address at which the first segment may lie.
        trace: Where events are written down; None for a trace of its own.

    >>> device = CachingAllocator(total_nbytes=1 << 30)
    >>> device.allocate(1000).size, device.reserved
    (1024, 2097152)
    """

    def __init__(
        self,
        total_nbytes: int,
        *,
        context_nbytes: int = 0,
        base: int = 0x7000_0000_0000,
        trace: Trace | None = None,
    ) -> None:
        self.total_nbytes = total_nbytes
        self.context_nbytes = context_nbytes
        self.limit_nbytes: int | None = None
        self.statistics = Statistics()
        self.trace = trace if trace is not None else Trace()
        self._base = base
        self._segments: dict[int, Segment] = {}
        self._in_use: dict[int, Block] = {}
        self._free: dict[Pool, list[Block]] = {"small": [], "large": []}

    @property
    def allocated(self) -> int:
        """Bytes of the blocks in use."""
        return self.statistics.of("allocated_bytes").current

    @property
    def reserved(self) -> int:
        """Bytes of all segments."""
        return self.statistics.of("reserved_bytes").current

    @property
    def free_nbytes(self) -> int:
        """Bytes of the device that nobody has taken (the first number of `mem_get_info`)."""
        return max(0, self.total_nbytes - self.context_nbytes - self.reserved)

    @property
    def ordinal(self) -> int:
        """How many allocations there were so far."""
        return self.trace.allocations

    def segments(self) -> list[Segment]:
        """Return the segments in the order of their addresses."""
        return [self._segments[address] for address in sorted(self._segments)]

    def blocks(self, segment: Segment) -> Iterator[Block]:
        """Yield the blocks of a segment in the order of their addresses."""
        block: Block | None = segment.first
        while block is not None:
            yield block
            block = block.next

    def allocate(self, requested: int) -> Block:
        """Return a block of at least `requested` bytes, or raise OutOfMemory (`malloc`)."""
        if requested <= 0:
            raise ValueError(f"allocate({requested}): ask for at least one byte")
        size = block_size(requested)
        pool = pool_of(size)
        block = self._take_free(pool, size) or self._take_segment(pool, segment_size(size))
        if block is None:
            self.release_cached()
            block = self._take_segment(pool, segment_size(size), retry=True)
        if block is None:
            raise self._out_of_memory(size)
        return self._hand_out(block, requested, size)

    def can_serve(self, requested: int) -> bool:
        """Return whether `allocate` would find a block, without looking for one."""
        size = block_size(requested)
        kept = self._free[pool_of(size)]
        if kept and kept[-1].size >= size:
            return True
        room = self.free_nbytes
        if self.limit_nbytes is not None:
            room = min(room, self.limit_nbytes - self.reserved)
        cached = (one for kept in self._free.values() for one in kept if not one.is_split)
        return segment_size(size) <= room + sum(block.size for block in cached)

    def free(self, address: int) -> None:
        """Take back the block at `address`; it stays reserved (`free_block`)."""
        block = self._in_use.pop(address, None)
        if block is None:
            raise ValueError(f"free({address:#x}): no block in use starts there")
        count = self.statistics.add
        count("allocation", block.pool, -1)
        count("allocated_bytes", block.pool, -block.size)
        count("requested_bytes", block.pool, -block.requested)
        self.trace.add("free_requested", address, block.requested)
        self.trace.add("free_completed", address, block.requested)
        block.allocated = False
        self._merge_and_keep(block)

    def release_cached(self) -> None:
        """Give back every segment without a block in use (`release_cached_blocks`)."""
        self.statistics.count("num_sync_all_streams")
        pools: tuple[Pool, Pool] = ("large", "small")
        for pool in pools:
            whole = [block for block in self._free[pool] if not block.is_split]
            self._free[pool] = [block for block in self._free[pool] if block.is_split]
            for block in whole:
                self._release(block)

    def _take_free(self, pool: Pool, size: int) -> Block | None:
        """Return the smallest free block that fits, lowest address first (`get_free_block`)."""
        kept = self._free[pool]
        at = bisect_left(kept, (size, 0), key=by_fit)
        return kept.pop(at) if at < len(kept) else None

    def _take_segment(self, pool: Pool, size: int, *, retry: bool = False) -> Block | None:
        """Return a new segment as one block, or None when the device is full (`alloc_block`)."""
        if retry:
            self.statistics.count("num_alloc_retries")
        over = self.limit_nbytes is not None and self.reserved + size > self.limit_nbytes
        if over or size > self.free_nbytes:
            return None
        block = Block(self._gap(size), size, pool)
        self._segments[block.address] = Segment(block.address, size, pool, block)
        self.statistics.add("segment", pool, 1)
        self.statistics.add("reserved_bytes", pool, size)
        self.statistics.count("num_device_alloc")
        self.trace.add("segment_alloc", block.address, size)
        return block

    def _hand_out(self, block: Block, requested: int, size: int) -> Block:
        """Return `block`, cut to `size` where the rest is worth keeping (`alloc_found_block`)."""
        count, pool, was_split = self.statistics.add, block.pool, block.is_split
        if leaves_a_rest(pool, block.size, size):
            rest = self._split(block, size)
            count("inactive_split_bytes", pool, -size if was_split else rest.size)
            count("inactive_split", pool, 0 if was_split else 1)
        elif was_split:
            count("inactive_split_bytes", pool, -block.size)
            count("inactive_split", pool, -1)
        block.allocated, block.requested = True, requested
        self._in_use[block.address] = block
        count("allocation", pool, 1)
        count("allocated_bytes", pool, block.size)
        count("requested_bytes", pool, requested)
        block.frames = self.trace.add("alloc", block.address, requested, block.size).frames
        block.ordinal = self.trace.allocations
        return block

    def _split(self, block: Block, size: int) -> Block:
        """Cut `block` to `size` and keep the rest as a free block, which is returned."""
        rest = Block(block.address + size, block.size - size, block.pool)
        rest.previous, rest.next = block, block.next
        if rest.next is not None:
            rest.next.previous = rest
        block.next, block.size = rest, size
        self._keep(rest)
        return rest

    def _merge_and_keep(self, block: Block) -> None:
        """Join a freed block with its free neighbours and keep the result (`free_block`)."""
        split_count = split_nbytes = 0
        for neighbour in (block.previous, block.next):
            if neighbour is None or neighbour.allocated:
                continue
            kept = self._free[block.pool]
            del kept[bisect_left(kept, by_fit(neighbour), key=by_fit)]
            split_count, split_nbytes = split_count - 1, split_nbytes - neighbour.size
            self._join(block, neighbour)
        self._keep(block)
        if block.is_split:
            split_count, split_nbytes = split_count + 1, split_nbytes + block.size
        self.statistics.add("inactive_split", block.pool, split_count)
        self.statistics.add("inactive_split_bytes", block.pool, split_nbytes)

    def _join(self, block: Block, neighbour: Block) -> None:
        """Let `block` cover `neighbour`, which lies directly before or after it."""
        if neighbour is block.previous:
            block.address, block.previous = neighbour.address, neighbour.previous
            if block.previous is not None:
                block.previous.next = block
            else:
                self._segments[block.address].first = block
        else:
            block.next = neighbour.next
            if block.next is not None:
                block.next.previous = block
        block.size += neighbour.size

    def _keep(self, block: Block) -> None:
        insort(self._free[block.pool], block, key=by_fit)

    def _release(self, block: Block) -> None:
        """Give one segment back to the device (`release_block`)."""
        del self._segments[block.address]
        self.statistics.count("num_device_free")
        self.statistics.add("segment", block.pool, -1)
        self.statistics.add("reserved_bytes", block.pool, -block.size)
        self.trace.add("segment_free", block.address, block.size)

    def _gap(self, size: int) -> int:
        """Return the lowest address with `size` free bytes behind it."""
        address = self._base
        for segment in self.segments():
            if segment.address - address >= size:
                break
            address = segment.address + segment.size
        # Segments are multiples of 2 MiB, and so are their addresses.
        return -(-address // ROUND_LARGE_NBYTES) * ROUND_LARGE_NBYTES

    def _out_of_memory(self, size: int) -> OutOfMemory:
        self.statistics.count("num_ooms")
        self.trace.add("oom", self.free_nbytes, size)
        shortage = Shortage(
            tried_nbytes=segment_size(size),
            total_nbytes=self.total_nbytes,
            free_nbytes=self.free_nbytes,
            limit_nbytes=self.limit_nbytes,
            used_nbytes=self.context_nbytes + self.reserved,
            allocated_nbytes=self.allocated,
            reserved_nbytes=self.reserved,
        )
        return OutOfMemory(shortage)
