"""The timeline, the segment map and the explorer: what they say and what they draw."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from course import gpu
from course.figures.picture import not_drawn
from course.figures.scene import Box
from course.gpu.segment_map import Piece, Row
from course.gpu.timeline import Mark, Moment, Note, Timeline, timeline_of
from course.lessons.gpu_memory.memory_explorer import explore_memory
from course.lessons.gpu_memory.memory_figure import (
    _name_rows,
    _row_scene,
    _segments_scene,
    _widths,
    _yours,
    segments_picture,
    show_segments,
    show_timeline,
)

MIB = 1 << 20
SEGMENT = {"action": "segment_alloc", "addr": 0, "size": 20 * MIB}


@pytest.fixture
def timeline() -> Timeline:
    """Two blocks in one segment: 4 MiB of a parameter, and 2 MiB for a while."""
    history = [
        SEGMENT,
        {"action": "alloc", "addr": 0, "size": 4 * MIB},
        {"action": "alloc", "addr": 4 * MIB, "size": 2 * MIB},
        {"action": "free_completed", "addr": 4 * MIB, "size": 2 * MIB},
    ]
    notes = [Note(1, 0, "parameters", "weight"), Note(2, 4 * MIB, "activations", "8×9")]
    return timeline_of([], history, 4, notes=notes, marks=[Mark("forward", 3)])


def test_the_timeline_says_its_numbers(timeline: Timeline) -> None:
    alt = show_timeline(timeline).alt
    assert "At most 6.00 MiB in use after event 3: parameters 4.00 MiB, activations" in alt
    assert "At the end 4.00 MiB in use and 20.00 MiB reserved. forward: 6.00 MiB." in alt


def test_the_timeline_is_drawn_the_same_every_time(timeline: Timeline) -> None:
    first, second = (show_timeline(timeline, title="A title").svg() for _ in range(2))
    assert first == second
    assert b"<svg" in first


def test_a_shortage_is_said_and_drawn(timeline: Timeline) -> None:
    short = replace(timeline, shortages=(4,))
    picture = show_timeline(short)
    assert "Memory ran out once." in picture.alt
    assert "Memory ran out 2 times." in show_timeline(replace(timeline, shortages=(3, 4))).alt
    assert picture.svg() != show_timeline(timeline).svg()


def test_names_of_close_marks_stand_in_rows_of_their_own(timeline: Timeline) -> None:
    crowded = [Mark("forward", 3), Mark("backward", 4), Mark("", 0), Mark("a very long name", 4)]
    marked = replace(timeline, moments=_long(timeline), marks=(Mark("step", 100), *crowded))
    assert _name_rows(marked) == [0, 0, 1, 0, 2]
    assert show_timeline(marked).svg()


def _long(timeline: Timeline) -> tuple[Moment, ...]:
    later = range(len(timeline.moments), 101)
    return (*timeline.moments, *(replace(timeline.moments[-1], at=number) for number in later))


def test_the_chosen_event_is_said_and_drawn(timeline: Timeline) -> None:
    chosen = show_timeline(timeline, at=0)
    assert chosen.alt.endswith("A line stands after event 0.")
    assert chosen.svg() != show_timeline(timeline).svg()


def test_an_empty_recording_is_drawn() -> None:
    picture = show_timeline(timeline_of([], [], 0))
    assert "At most 0 bytes in use" in picture.alt
    assert picture.svg()


def test_the_segment_map_names_the_holders(timeline: Timeline) -> None:
    picture = segments_picture(timeline)
    assert "Segment 1, large, 20.00 MiB: 2 blocks in use, 6.00 MiB (weight: 4.00 MiB" in picture.alt
    assert picture.svg()


def test_the_segment_map_of_another_moment_shows_that_moment(timeline: Timeline) -> None:
    assert "1 block in use, 4.00 MiB" in segments_picture(timeline, 4).alt
    assert segments_picture(timeline, 0).alt == (
        "The allocator has no segment: nothing is reserved."
    )


def test_boxes_fill_the_row_and_none_is_too_narrow_to_see() -> None:
    pieces = (Piece(0, 512, "inputs", "x"), Piece(512, 512), Piece(1024, 2 * MIB - 1024))
    widths = _widths(Row(2 * MIB, pieces), 836)
    assert sum(widths) == pytest.approx(836)
    assert min(widths) >= 5


def test_more_blocks_than_a_row_can_show_still_fit() -> None:
    pieces = tuple(Piece(512 * i, 512, "inputs", "x") for i in range(4096))
    assert sum(_widths(Row(2 * MIB, pieces), 836)) == pytest.approx(836)


def test_a_free_piece_is_dashed_and_says_so() -> None:
    boxes = [i for i in _row_scene(1, Row(MIB, (Piece(0, MIB),)), MIB).items if isinstance(i, Box)]
    assert [(box.text, box.dashed) for box in boxes] == [("free: 1024.00 KiB", True)]


def test_a_name_that_ends_in_a_number_stands_apart_from_its_size() -> None:
    pieces = (Piece(0, MIB, "temporaries", "hidden 0"),)
    boxes = [one for one in _row_scene(1, Row(MIB, pieces), MIB).items if isinstance(one, Box)]
    assert [box.text for box in boxes] == ["hidden 0: 1024.00 KiB"]


def test_the_map_of_now_names_model_optimizer_and_tensors(device: torch.device) -> None:
    model = torch.nn.Linear(1000, 1000).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    batch = torch.ones(3, 1000, device=device)
    model(batch).sum().backward()
    optimizer.step()
    alt = show_segments(model, optimizer, batch=batch).alt
    for name in ("weight: 3.81 MiB", "weight.grad", "weight: exp_avg", "batch: 12.00 KiB"):
        assert name in alt
    assert gpu.memory_allocated() > 0


def test_the_map_of_now_calls_your_tensors_yours() -> None:
    mine, nameless = Piece(0, 512, "temporaries", "x"), Piece(512, 512, "temporaries")
    rows = [Row(MIB, (Piece(0, 512, "parameters", "weight"), mine, Piece(1024, 512)))]
    assert _yours(rows) == "yours"
    assert _yours([*rows, Row(MIB, (nameless,))]) == "yours, and blocks without a name"


def test_nothing_is_drawn_while_a_submission_is_graded(timeline: Timeline) -> None:
    with not_drawn():
        page = show_timeline(timeline)._repr_html_() + segments_picture(timeline)._repr_html_()
    assert "<img" not in page


def test_the_explorer_is_a_static_page_where_no_widget_can_live(timeline: Timeline) -> None:
    bundle = explore_memory(timeline)._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "parameters: weight, 4.00 MiB" in bundle["text/plain"]


def test_the_slider_shows_the_chosen_event(timeline: Timeline) -> None:
    panel = explore_memory(timeline).panel
    assert "After event 3: 6.00 MiB in use" in panel.page.value
    panel.event.value = 4
    assert "After event 4: 4.00 MiB in use" in panel.page.value
    assert "A line stands after event 4." in panel.overview.value
    panel.peak.click()
    assert panel.event.value == 3


def test_segments_are_as_wide_as_they_are_large() -> None:
    rows = [Row(n * MIB, (Piece(0, n * MIB),)) for n in (2, 20, 12)]
    widths = [box.width for box in _segments_scene(rows, "yours").items if isinstance(box, Box)]
    assert [round(width / 836, 2) for width in widths] == [0.1, 1.0, 0.6]


def test_a_tiny_segment_beside_a_huge_one_can_still_be_seen() -> None:
    rows = [Row(n * MIB, (Piece(0, n * MIB),)) for n in (2, 2000)]
    widths = [box.width for box in _segments_scene(rows, "yours").items if isinstance(box, Box)]
    assert min(widths) == 24
