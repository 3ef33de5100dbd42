"""Snapshots and summaries have torch's own form: torch's tools read them."""

from __future__ import annotations

import pytest
import torch
from torch.cuda import _memory_viz as viewer

from course.gpu.simulator.allocator.caching import CachingAllocator
from course.gpu.simulator.allocator.sizes import GIB, MIB
from course.gpu.simulator.allocator.snapshot import segments_of, snapshot_of
from course.gpu.simulator.allocator.summary import summary_of


@pytest.fixture
def allocator() -> CachingAllocator:
    found = CachingAllocator(GIB)
    found.trace.with_frames = True
    kept = [found.allocate(n) for n in (1000, 3 * MIB, 700_000, 12 * MIB)]
    found.free(kept[1].address)
    found.free(kept[3].address)
    return found


def test_sizes_of_segments_and_blocks_add_up(allocator: CachingAllocator) -> None:
    segments = segments_of(allocator, 0)
    assert sum(s["total_size"] for s in segments) == allocator.reserved
    assert sum(s["allocated_size"] for s in segments) == allocator.allocated
    assert all(s["total_size"] == sum(b["size"] for b in s["blocks"]) for s in segments)


def test_the_memory_viewer_lists_the_segments(allocator: CachingAllocator) -> None:
    text = viewer.segsum(snapshot_of([allocator]))
    assert f"total_reserved: {allocator.reserved / MIB:.1f}MiB" in text
    assert "total_allocated: 684.6KiB" in text


def test_the_memory_viewer_replays_the_history(allocator: CachingAllocator) -> None:
    text = viewer.trace(snapshot_of([allocator]))
    assert text.count("cudaMalloc(") == 2
    assert "del d # 3.0MiB" in text


@pytest.mark.parametrize("plot", ["trace_plot", "segment_plot"])
def test_the_memory_viewer_draws_a_page(allocator: CachingAllocator, plot: str) -> None:
    page = getattr(viewer, plot)(snapshot_of([allocator]))
    assert "<script" in page


def test_a_block_names_the_line_that_asked_for_it(allocator: CachingAllocator) -> None:
    block = next(b for s in segments_of(allocator, 0) for b in s["blocks"] if b["frames"])
    assert block["frames"][0]["name"] == "<listcomp>" or block["frames"][0]["name"] == "allocator"
    assert block["frames"][0]["filename"] == __file__


def test_an_entry_of_running_out_of_memory_says_how_much_was_free() -> None:
    allocator = CachingAllocator(10 * MIB)
    with pytest.raises(Exception, match="bytes"):
        allocator.allocate(11 * MIB)
    last = snapshot_of([allocator])["device_traces"][0][-1]
    assert (last["action"], last["device_free"]) == ("oom", 10 * MIB)


@pytest.mark.parametrize("abbreviated", [False, True])
def test_a_summary_is_laid_out_as_torchs(
    allocator: CachingAllocator, abbreviated: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = allocator.statistics.flat()
    monkeypatch.setattr(torch.cuda.memory, "memory_stats", lambda device=None: counts)
    monkeypatch.setattr(torch.cuda.memory, "_get_device_index", lambda device, optional: 0)
    torchs = torch.cuda.memory.memory_summary(abbreviated=abbreviated)
    assert summary_of(counts, 0, abbreviated=abbreviated) == torchs


def test_the_counters_have_the_names_that_torch_documents(allocator: CachingAllocator) -> None:
    documented = torch.cuda.memory.memory_stats.__doc__ or ""
    names = {name.split(".")[0] for name in allocator.statistics.flat()}
    undocumented = {name for name in names if f'"{name}' not in documented}
    # torch's page calls the first one `allocated`; the second came with torch 2.13.
    assert undocumented - {"num_oom_rejections"} == {"allocation"}
