"""The allocator's numbers are torch's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course.gpu.simulator.allocator import sizes

HEADER = Path(torch.__file__).parent / "include/c10/core/AllocatorConfig.h"


@pytest.mark.parametrize(
    ("torchs", "ours"),
    [
        ("kMinBlockSize", sizes.MIN_BLOCK_NBYTES),
        ("kSmallSize", sizes.SMALL_NBYTES),
        ("kSmallBuffer", sizes.SMALL_SEGMENT_NBYTES),
        ("kMinLargeAlloc", sizes.MIN_LARGE_ALLOC_NBYTES),
        ("kRoundLarge", sizes.ROUND_LARGE_NBYTES),
    ],
)
def test_a_constant_is_the_one_in_the_installed_header(torchs: str, ours: int) -> None:
    match = re.search(rf"{torchs} = (\d+);", HEADER.read_text())
    assert match is not None, f"{HEADER.name} no longer defines {torchs}"
    assert int(match[1]) == ours


def test_a_shared_large_segment_is_as_large_as_in_the_installed_header() -> None:
    assert re.search(r"\b20971520\b", HEADER.read_text())
    assert sizes.LARGE_SEGMENT_NBYTES == 20_971_520


@given(st.integers(1, 1 << 32))
def test_a_block_is_the_smallest_multiple_of_512_that_fits(requested: int) -> None:
    size = sizes.block_size(requested)
    assert size % 512 == 0
    assert size - 512 < requested <= size


@given(st.integers(1, 1 << 32).map(sizes.block_size))
def test_a_segment_holds_its_block(size: int) -> None:
    assert sizes.segment_size(size) >= size
    assert sizes.segment_size(size) % sizes.ROUND_LARGE_NBYTES == 0


@pytest.mark.parametrize(
    ("pool", "rest", "split"),
    [
        ("small", 511, False),
        ("small", 512, True),
        ("large", 1 << 20, False),
        ("large", (1 << 20) + 512, True),
    ],
)
def test_a_block_is_split_only_when_the_rest_is_worth_it(
    pool: sizes.Pool, rest: int, split: bool
) -> None:
    assert sizes.leaves_a_rest(pool, 4096 + rest, 4096) is split


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 bytes"),
        (1024, "1024 bytes"),
        (1025, "1.00 KiB"),
        (1 << 20, "1024.00 KiB"),
        (20 << 20, "20.00 MiB"),
        (1 << 30, "1024.00 MiB"),
        (3 << 30, "3.00 GiB"),
    ],
)
def test_a_size_is_printed_as_in_cudas_messages(nbytes: int, text: str) -> None:
    assert sizes.format_size(nbytes) == text
