"""How CUDA's caching allocator rounds a request, and from which segment it serves it.

The numbers are torch's own. `c10/core/AllocatorConfig.h` (installed with torch, under
`include/`) holds the constants; `round_size`, `get_allocation_size` and `should_split` in
`c10/cuda/CUDACachingAllocator.cpp` hold the rules. A test compares the constants with the
installed header.
"""

from __future__ import annotations

from typing import Literal

Pool = Literal["small", "large"]

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

MIN_BLOCK_NBYTES = 512  # kMinBlockSize: every request is rounded up to a multiple of it
SMALL_NBYTES = 1_048_576  # kSmallSize: the largest request of the small pool, 1 MiB
SMALL_SEGMENT_NBYTES = 2_097_152  # kSmallBuffer: one segment of the small pool, 2 MiB
MIN_LARGE_ALLOC_NBYTES = 10_485_760  # kMinLargeAlloc: below 10 MiB a request shares a segment
LARGE_SEGMENT_NBYTES = 20_971_520  # the shared segment of the large pool, 20 MiB (kLargeBuffer)
ROUND_LARGE_NBYTES = 2_097_152  # kRoundLarge: segments of larger requests, in steps of 2 MiB


def round_up(nbytes: int, step: int) -> int:
    """Return the smallest multiple of `step` that is at least `nbytes`."""
    return -(-nbytes // step) * step


def block_size(requested: int) -> int:
    """Return the bytes of the block that serves a request (`round_size`).

    >>> block_size(1), block_size(513)
    (512, 1024)
    """
    return max(MIN_BLOCK_NBYTES, round_up(requested, MIN_BLOCK_NBYTES))


def pool_of(size: int) -> Pool:
    """Return the pool that serves a block of `size` bytes (`get_pool`)."""
    return "small" if size <= SMALL_NBYTES else "large"


def segment_size(size: int) -> int:
    """Return the bytes taken from the device for a block of `size` bytes (`get_allocation_size`).

    >>> [segment_size(n * MIB) // MIB for n in (1, 2, 9, 10, 11)]
    [2, 20, 20, 10, 12]
    """
    if size <= SMALL_NBYTES:
        return SMALL_SEGMENT_NBYTES
    if size < MIN_LARGE_ALLOC_NBYTES:
        return LARGE_SEGMENT_NBYTES
    return round_up(size, ROUND_LARGE_NBYTES)


def leaves_a_rest(pool: Pool, block: int, size: int) -> bool:
    """Return whether a free block of `block` bytes is split to serve `size` (`should_split`)."""
    rest = block - size
    return rest >= MIN_BLOCK_NBYTES if pool == "small" else rest > SMALL_NBYTES


def format_size(nbytes: int) -> str:
    """Return a size as CUDA's messages print it (`format_size` in `c10/core/Allocator.h`).

    >>> format_size(80), format_size(512), format_size(3 << 20)
    ('80 bytes', '512 bytes', '3.00 MiB')
    """
    if nbytes <= KIB:
        return f"{nbytes} bytes"
    for unit, name in ((KIB, "KiB"), (MIB, "MiB")):
        if nbytes <= unit * KIB:
            return f"{nbytes / unit:.2f} {name}"
    return f"{nbytes / GIB:.2f} GiB"
