"""The allocator model: where a block comes from, where it goes, and what is counted."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.gpu.simulator.allocator.blocks import OutOfMemory
from course.gpu.simulator.allocator.caching import CachingAllocator
from course.gpu.simulator.allocator.sizes import GIB, MIB, block_size


def sizes_of(allocator: CachingAllocator) -> list[list[tuple[int, bool]]]:
    return [
        [(block.size, block.allocated) for block in allocator.blocks(segment)]
        for segment in allocator.segments()
    ]


def test_small_requests_share_a_segment_of_2_mib() -> None:
    allocator = CachingAllocator(GIB)
    blocks = [allocator.allocate(1000) for _ in range(3)]
    assert [block.address - blocks[0].address for block in blocks] == [0, 1024, 2048]
    assert allocator.allocated == 3 * 1024
    assert allocator.reserved == 2 * MIB


def test_a_request_of_3_mib_takes_a_segment_of_20_mib_and_the_next_one_shares_it() -> None:
    allocator = CachingAllocator(GIB)
    allocator.allocate(3 * MIB)
    allocator.allocate(3 * MIB)
    assert sizes_of(allocator) == [[(3 * MIB, True), (3 * MIB, True), (14 * MIB, False)]]


def test_a_request_of_11_mib_takes_a_segment_of_12_mib_whole() -> None:
    allocator = CachingAllocator(GIB)
    block = allocator.allocate(11 * MIB)
    assert allocator.reserved == 12 * MIB
    assert block.size == 12 * MIB  # 1 MiB of rest is not worth a block, so it counts as allocated


def test_small_and_large_requests_never_share_a_segment() -> None:
    allocator = CachingAllocator(GIB)
    allocator.allocate(2 * MIB)
    allocator.allocate(1 * MIB)
    assert [segment.pool for segment in allocator.segments()] == ["large", "small"]


def test_the_smallest_block_that_fits_is_taken() -> None:
    allocator = CachingAllocator(GIB)
    wide, _, narrow, _ = [allocator.allocate(n * MIB) for n in (5, 2, 3, 2)]
    allocator.free(wide.address)
    allocator.free(narrow.address)
    assert allocator.allocate(2 * MIB + 512).address == narrow.address


def test_freed_neighbours_become_one_block() -> None:
    allocator = CachingAllocator(GIB)
    blocks = [allocator.allocate(600) for _ in range(3)]
    for block in (blocks[0], blocks[2], blocks[1]):
        allocator.free(block.address)
    assert sizes_of(allocator) == [[(2 * MIB, False)]]


def test_a_freed_block_stays_reserved_until_the_cache_is_emptied() -> None:
    allocator = CachingAllocator(GIB)
    allocator.free(allocator.allocate(30 * MIB).address)
    assert (allocator.allocated, allocator.reserved) == (0, 30 * MIB)
    allocator.release_cached()
    assert allocator.reserved == 0


def test_a_segment_with_one_block_in_use_cannot_be_given_back() -> None:
    allocator = CachingAllocator(GIB)
    large, small = allocator.allocate(8 * MIB), allocator.allocate(2 * MIB)
    allocator.free(large.address)
    allocator.release_cached()
    assert allocator.reserved == 20 * MIB
    allocator.free(small.address)
    allocator.release_cached()
    assert allocator.reserved == 0


def test_cached_segments_are_given_back_before_memory_runs_out() -> None:
    allocator = CachingAllocator(100 * MIB)
    allocator.free(allocator.allocate(60 * MIB).address)
    allocator.allocate(80 * MIB)
    counts = allocator.statistics.flat()
    assert allocator.reserved == 80 * MIB
    assert (counts["num_alloc_retries"], counts["num_ooms"]) == (1, 0)


def test_free_memory_in_pieces_does_not_serve_a_request_for_one_piece() -> None:
    allocator = CachingAllocator(60 * MIB)
    blocks = [allocator.allocate(5 * MIB) for _ in range(12)]
    for block in blocks[::2]:
        allocator.free(block.address)
    with pytest.raises(OutOfMemory) as raised:
        allocator.allocate(10 * MIB)
    shortage = raised.value.shortage
    assert shortage.reserved_nbytes - shortage.allocated_nbytes == 30 * MIB


def test_the_limit_counts_segments_not_blocks() -> None:
    allocator = CachingAllocator(GIB)
    allocator.limit_nbytes = 10 * MIB
    with pytest.raises(OutOfMemory) as raised:
        allocator.allocate(2 * MIB)
    assert raised.value.shortage.tried_nbytes == 20 * MIB
    assert allocator.allocate(MIB).size == MIB


def test_what_the_driver_keeps_is_not_free() -> None:
    allocator = CachingAllocator(100 * MIB, context_nbytes=30 * MIB)
    allocator.allocate(20 * MIB)
    assert allocator.free_nbytes == 50 * MIB


def test_a_peak_stays_until_it_is_reset() -> None:
    allocator = CachingAllocator(GIB)
    allocator.free(allocator.allocate(40 * MIB).address)
    assert allocator.statistics.of("allocated_bytes").peak == 40 * MIB
    allocator.statistics.reset_peaks()
    assert allocator.statistics.of("allocated_bytes").peak == 0
    assert allocator.statistics.of("reserved_bytes").peak == 40 * MIB


def test_freeing_twice_is_refused_with_the_address() -> None:
    allocator = CachingAllocator(GIB)
    address = allocator.allocate(1).address
    allocator.free(address)
    with pytest.raises(ValueError, match=f"free\\({address:#x}\\): no block in use"):
        allocator.free(address)


def test_a_request_for_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="ask for at least one byte"):
        CachingAllocator(GIB).allocate(0)


requests = st.lists(
    st.one_of(
        st.integers(1, 3000),
        st.integers(MIB - 600, MIB + 600),
        st.integers(2 * MIB, 12 * MIB),
        st.integers(-40, 0),  # free the block of that many requests ago, or empty the cache
    ),
    max_size=60,
)


def replay(steps: list[int]) -> tuple[CachingAllocator, dict[int, int]]:
    """Return an allocator and what is in use after the steps: address and requested bytes."""
    allocator, live = CachingAllocator(64 * MIB), {}
    for step in steps:
        if step > 0:
            try:
                live[allocator.allocate(step).address] = step
            except OutOfMemory:
                continue
        elif -step < len(live):
            address = list(live)[step - 1]
            allocator.free(address)
            del live[address]
        else:
            allocator.release_cached()
    return allocator, live


@settings(deadline=None)
@given(requests)
def test_blocks_tile_their_segments_without_gap_or_overlap(steps: list[int]) -> None:
    allocator, _ = replay(steps)
    for segment in allocator.segments():
        at = segment.address
        for block in allocator.blocks(segment):
            assert block.address == at
            at += block.size
        assert at == segment.address + segment.size


@settings(deadline=None)
@given(requests)
def test_segments_never_overlap_and_never_exceed_the_device(steps: list[int]) -> None:
    allocator, _ = replay(steps)
    segments = allocator.segments()
    for one, other in pairwise(segments):
        assert one.address + one.size <= other.address
    assert sum(segment.size for segment in segments) == allocator.reserved <= 64 * MIB


@settings(deadline=None)
@given(requests)
def test_exactly_what_was_not_freed_is_in_use(steps: list[int]) -> None:
    allocator, live = replay(steps)
    used = [b for s in allocator.segments() for b in allocator.blocks(s) if b.allocated]
    assert {block.address: block.requested for block in used} == live
    assert allocator.allocated == sum(block.size for block in used)
    assert all(block.size >= block_size(block.requested) for block in used)


@settings(deadline=None)
@given(requests)
def test_two_free_blocks_are_never_neighbours(steps: list[int]) -> None:
    allocator, _ = replay(steps)
    for row in sizes_of(allocator):
        assert all(one[1] or other[1] for one, other in pairwise(row))


@settings(deadline=None)
@given(requests)
def test_every_counter_balances(steps: list[int]) -> None:
    allocator, live = replay(steps)
    counts = allocator.statistics.flat()
    for name in (key.removesuffix(".current") for key in counts if key.endswith(".current")):
        assert counts[f"{name}.allocated"] - counts[f"{name}.freed"] == counts[f"{name}.current"]
        assert counts[f"{name}.peak"] >= counts[f"{name}.current"] >= 0
    assert counts["allocation.all.current"] == len(live)


@settings(deadline=None)
@given(requests)
def test_what_cannot_be_released_is_counted(steps: list[int]) -> None:
    allocator, _ = replay(steps)
    rows = [row for row in sizes_of(allocator) if len(row) > 1]
    split = [size for row in rows for size, used in row if not used]
    counts = allocator.statistics.flat()
    assert counts["inactive_split.all.current"] == len(split)
    assert counts["inactive_split_bytes.all.current"] == sum(split)


@settings(deadline=None)
@given(requests)
def test_freeing_everything_and_emptying_the_cache_leaves_nothing(steps: list[int]) -> None:
    allocator, live = replay(steps)
    for address in live:
        allocator.free(address)
    allocator.release_cached()
    assert (allocator.allocated, allocator.reserved, allocator.segments()) == (0, 0, [])


@settings(deadline=None)
@given(requests, st.integers(1, 40 * MIB), st.none() | st.integers(1, 64 * MIB))
def test_what_can_be_served_is_known_without_asking(
    steps: list[int], wanted: int, limit: int | None
) -> None:
    allocator, _ = replay(steps)
    allocator.limit_nbytes = limit
    before = allocator.statistics.flat()
    known = allocator.can_serve(wanted)
    assert allocator.statistics.flat() == before
    try:
        allocator.allocate(wanted)
    except OutOfMemory:
        assert not known
    else:
        assert known
