"""Snapshots in the form of torch's own, so that torch's memory viewer reads them.

The forms are those that `_snapshot` in torch/cuda/memory.py documents. `torch.cuda._memory_viz`
and https://docs.pytorch.org/memory_viz show what is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from course.gpu.simulator.allocator.blocks import Block, Segment
from course.gpu.simulator.allocator.caching import CachingAllocator
from course.gpu.simulator.allocator.trace import Entry, Frame

_DEFAULT_STREAM = 0
_NO_PRIVATE_POOL = (0, 0)


def segments_of(allocator: CachingAllocator, index: int) -> list[dict[str, Any]]:
    """Return the segments of one device and their blocks (`torch.cuda.memory_snapshot`).

    Args:
        allocator: The device's allocator.
        index: The device's number, which each segment names.

    Returns:
        One dict a segment, under torch's keys; addresses are numbers, sizes are in bytes.
    """
    return [_segment(allocator, segment, index) for segment in allocator.segments()]


def snapshot_of(allocators: Sequence[CachingAllocator]) -> dict[str, Any]:
    """Return segments and history of all devices (`torch.cuda.memory._snapshot`)."""
    numbered = list(enumerate(allocators))
    return {
        "segments": [found for index, each in numbered for found in segments_of(each, index)],
        "device_traces": [[_entry(entry) for entry in each.trace.entries] for each in allocators],
        "allocator_settings": {
            "PYTORCH_CUDA_ALLOC_CONF": "",
            "max_split_size": -1,
            "garbage_collection_threshold": 0.0,
            "expandable_segments": False,
            "pinned_num_register_threads": 1,
            "release_lock_on_cudamalloc": False,
            "pinned_use_cuda_host_register": False,
            "roundup_power2_divisions": {},
        },
        "external_annotations": [],
    }


def _segment(allocator: CachingAllocator, segment: Segment, index: int) -> dict[str, Any]:
    blocks = list(allocator.blocks(segment))
    used = [block for block in blocks if block.allocated]
    return {
        "device": index,
        "address": segment.address,
        "total_size": segment.size,
        "allocated_size": sum(block.size for block in used),
        "active_size": sum(block.size for block in used),
        "requested_size": sum(block.requested for block in used),
        "stream": _DEFAULT_STREAM,
        "segment_type": segment.pool,
        "segment_pool_id": _NO_PRIVATE_POOL,
        "is_expandable": False,
        "frames": [],
        "blocks": [_block(block) for block in blocks],
    }


def _block(block: Block) -> dict[str, Any]:
    return {
        "address": block.address,
        "size": block.size,
        "requested_size": block.requested if block.allocated else 0,
        "state": "active_allocated" if block.allocated else "inactive",
        "frames": _frames(block.frames if block.allocated else ()),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    place = "device_free" if entry.action == "oom" else "addr"
    more = {"block_size": entry.block_size} if entry.block_size else {}
    return more | {
        "action": entry.action,
        place: entry.address,
        "size": entry.size,
        "stream": _DEFAULT_STREAM,
        "time_us": entry.time_us,
        "frames": _frames(entry.frames),
    }


def _frames(frames: tuple[Frame, ...]) -> list[dict[str, Any]]:
    return [{"filename": frame[0], "line": frame[1], "name": frame[2]} for frame in frames]
