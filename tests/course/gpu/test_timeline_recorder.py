"""Recordings: every byte has a category, and the sums are the allocator's."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course import gpu
from course.gpu.segment_map import rows_at, rows_of
from course.gpu.timeline import CATEGORIES, Note, Timeline, timeline_of

MIB = 1 << 20


def one_step(device: torch.device) -> tuple[Timeline, int]:
    """Return a recording of a training step, and the bytes in use at its end."""
    model = nn.Sequential(nn.Linear(512, 512, bias=False), nn.ReLU()).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    with gpu.Recorder(model, optimizer) as recorder:
        batch = torch.ones(1024, 512, device=device)
        loss = model(batch).sum()
        recorder.mark("forward")
        loss.backward()
        recorder.mark("backward")
        optimizer.step()
        recorder.mark("step")
        end = gpu.memory_allocated()
    return recorder.timeline, end


def test_a_step_is_divided_into_its_categories(device: torch.device) -> None:
    timeline, _ = one_step(device)
    forward, backward, step = (
        timeline.at(name).by_category for name in ("forward", "backward", "step")
    )
    assert (forward["parameters"], forward["inputs"], forward["gradients"]) == (MIB, 2 * MIB, 0)
    assert forward["activations"] == 2 * MIB  # the result of ReLU; its input is the linear layer's
    assert (backward["gradients"], backward["activations"]) == (MIB, 0)
    assert step["optimizer state"] == 2 * MIB


def test_the_sums_are_the_allocators_own(device: torch.device) -> None:
    timeline, end = one_step(device)
    last = timeline.moments[-1]
    assert last.allocated == end
    assert last.reserved == gpu.memory_reserved()
    assert timeline.peak.allocated == gpu.max_memory_allocated()
    for moment in timeline.moments:
        assert sum(moment.by_category.values()) == moment.allocated <= moment.reserved


def test_a_block_bears_the_name_of_its_holder(device: torch.device) -> None:
    timeline, _ = one_step(device)
    names = {one.name for one in timeline.holders(timeline.at("step").at)}
    assert {"0.weight", "0.weight.grad", "0.weight: exp_avg"} <= names


def test_recording_changes_no_lifetime(device: torch.device) -> None:
    with gpu.Recorder() as recorder:
        x = torch.ones(MIB, device=device, requires_grad=True)
        y = x.exp()
        del x, y
        assert gpu.memory_allocated() == 0
    assert recorder.timeline.peak.allocated == 8 * MIB


def test_what_was_there_before_counts_from_the_beginning(device: torch.device) -> None:
    kept = torch.ones(MIB, device=device)
    with gpu.Recorder() as recorder:
        recorder.note("inputs", kept, name="kept")
    assert recorder.timeline.moments[0].by_category["inputs"] == 4 * MIB
    assert recorder.timeline.holders(0)[0].name == "kept"


def test_running_out_of_memory_is_part_of_the_recording(device: torch.device) -> None:
    gpu.set_capacity(20 * MIB)
    with pytest.raises(gpu.OutOfMemoryError), gpu.Recorder() as recorder:
        torch.ones(8 * MIB, device=device)
    assert len(recorder.timeline.shortages) == 1


def test_an_unknown_mark_names_the_known_ones(device: torch.device) -> None:
    timeline, _ = one_step(device)
    with pytest.raises(KeyError, match="no mark 'end'; the marks are"):
        timeline.at("end")


def test_the_map_of_a_moment_covers_its_segments(device: torch.device) -> None:
    timeline, _ = one_step(device)
    rows = rows_at(timeline, timeline.peak.at)
    assert sum(row.nbytes for row in rows) == timeline.peak.reserved
    assert sum(row.used for row in rows) == timeline.peak.allocated
    for row in rows:
        assert sum(piece.nbytes for piece in row.pieces) == row.nbytes


def test_the_map_of_now_is_the_map_of_the_end_of_a_recording(device: torch.device) -> None:
    with gpu.Recorder() as recorder:
        kept = [torch.ones(n, device=device) for n in (100, MIB, 3 * MIB)]
        del kept[1]
    last = recorder.timeline.moments[-1].at
    now = rows_of(gpu.memory_snapshot(), {})
    assert rows_at(recorder.timeline, last) == now


def test_a_history_that_was_cut_is_not_replayed() -> None:
    with pytest.raises(RuntimeError, match="keeps only the last 1; record less at a time"):
        timeline_of([], [{"action": "alloc", "addr": 0, "size": 512}], 2)


def test_an_address_that_is_used_again_has_a_category_for_each_time() -> None:
    take = {"action": "alloc", "addr": 512, "size": 512}
    back = {"action": "free_completed", "addr": 512, "size": 512}
    notes = [Note(1, 512, "inputs", "first"), Note(2, 512, "gradients", "second")]
    timeline = timeline_of([], [take, back, take], 3, notes=notes)
    assert [one.name for one in timeline.held] == ["first", "second"]
    assert timeline.moments[1].by_category["inputs"] == 512
    assert timeline.moments[3].by_category["gradients"] == 512


@pytest.mark.parametrize("order", [1, -1])
def test_a_block_that_was_several_things_is_the_one_that_lasts_longest(order: int) -> None:
    notes = [Note(1, 0, category, category) for category in CATEGORIES[::order]]
    timeline = timeline_of([], [{"action": "alloc", "addr": 0, "size": 1}], 1, notes=notes)
    assert timeline.held[0].category == "parameters"
