"""Two answers that did the same are told apart by nothing, and others by everything."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from autograder.engine.protocol.frames import FrameReader, Kind, pack
from autograder.engine.protocol.transcript import Transcript
from course.testing.observe import observe_to_wire
from course.testing.recording import USUAL

SOURCE = "check = Check('f')"


def id_(value: Any) -> Any:
    return value


def state(*results: Any, call: Any = None, kind: Kind = Kind.REPLY) -> bytes:
    """Where a test cell is after replies with these results."""
    transcript = Transcript(SOURCE, 2)
    for number, result in enumerate(results):
        given = partial(id_, result) if call is None else call
        header, (before, after) = observe_to_wire(given, (), {}, USUAL, None)
        buffers = [*before, *after]
        reader = FrameReader()
        reader.feed(pack(kind, number, {"header": header, "before": len(before)}, buffers))
        frame = reader.next()
        assert frame is not None
        transcript.add(frame, frame.buffers())
    return transcript.state


def test_serial_numbers_of_storages_and_requests_do_not_count() -> None:
    kept = [torch.arange(6.0) for _ in range(4)]
    assert len({state(one, 5) for one in kept}) == 1
    assert len({state(one, one.view(2, 3)) for one in kept}) == 1


def test_which_results_share_a_storage_counts_within_a_reply_and_over_several() -> None:
    x, y = torch.zeros(4), torch.zeros(4)
    assert state([x, x]) != state([x, y])
    assert state(x, x) != state(x, y)
    assert state(x, x) == state(y, y)
    assert state([x, y, x]) != state([x, y, y])


def test_which_storage_holds_what_counts() -> None:
    x, y = torch.zeros(4), torch.ones(4)
    a, b = torch.zeros(4), torch.ones(4)
    assert state([x, y]) == state([a, b]) != state([y, x])
    assert state([x, y, x[:2]]) != state([x, y, y[:2]])


def test_values_layouts_kinds_and_errors_count() -> None:
    def raises() -> None:
        raise ValueError("no")

    found = [
        state(torch.zeros(4)),
        state(torch.zeros(2, 2)),
        state(torch.zeros(4).double()),
        state(torch.zeros(8)[::2]),
        state(torch.zeros(4), torch.zeros(4)),
        state(torch.zeros(4), kind=Kind.FAILED),
        state(5),
        state("5"),
        state(None, call=raises),
        Transcript(SOURCE, 2).state,
        Transcript(SOURCE, 3).state,
        Transcript(SOURCE + " ", 2).state,
    ]
    assert len(set(found)) == len(found)


def test_a_text_or_a_dict_that_reads_like_a_storage_is_no_storage() -> None:
    written = '"storage":{},"storage_nbytes":4'
    assert state(written.format(5)) != state(written.format(6))
    made = [{"storage": n, "storage_nbytes": 4, "memory": n, "marks": [n] * 4} for n in (5, 6)]
    assert state(made[0]) != state(made[1])


def test_of_an_object_counts_what_travels_of_it() -> None:
    def layer(weight: float) -> torch.nn.Module:
        made = torch.nn.Linear(1, 1)
        torch.nn.init.constant_(made.weight, weight)
        torch.nn.init.zeros_(made.bias)
        return made

    assert state(layer(1.0)) == state(layer(1.0)) != state(layer(2.0))


def test_the_rest_of_a_cell_is_not_its_visible_part() -> None:
    transcript = Transcript(SOURCE, 2)
    before = transcript.state
    transcript.begin_rest()
    assert transcript.state != before
