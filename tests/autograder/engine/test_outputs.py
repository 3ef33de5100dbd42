"""Events become a cell's outputs; what is no event is refused, what is too large is left out."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from autograder.engine.frames import FrameError
from autograder.engine.limits import Limits
from autograder.engine.outputs import Outputs
from autograder.engine.recorder import Recorder, Stream


def collected(*events: dict[str, Any], **limits: int) -> list[dict[str, Any]]:
    outputs = Outputs(Limits(**limits))
    for event in events:
        outputs.add(event, 100)
    return outputs.as_list()


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"stream": name, "text": text}


def test_text_of_one_stream_is_one_output() -> None:
    found = collected(stream("a"), stream("b"), stream("!", "stderr"), stream("c"))
    assert [(one["name"], one["text"]) for one in found] == [
        ("stdout", "ab"),
        ("stderr", "!"),
        ("stdout", "c"),
    ]


def test_text_beyond_the_limit_is_counted() -> None:
    found = collected(stream("x" * 30), {"dropped": 5}, text_chars=20)
    assert found[0]["text"] == "x" * 20
    assert found[1]["text"] == "\n… 15 more characters were printed and left out.\n"


def test_a_display_can_be_updated_and_cleared() -> None:
    show = {"display": {"text/plain": "old"}, "metadata": {}, "id": "d", "update": False}
    new = {**show, "display": {"text/plain": "new"}, "update": True}
    assert collected(show, new)[0]["data"] == {"text/plain": "new"}
    assert collected(show, {"clear": False}) == []
    assert len(collected(show, {"clear": True})) == 1
    assert len(collected(show, {"clear": True}, show)) == 1


def test_a_large_display_is_left_out_and_says_so() -> None:
    show = {"display": {"image/png": "x" * 99}, "metadata": {}, "id": None}
    assert "too large" in collected(show, display_nbytes=50)[0]["data"]["text/plain"]


def test_all_outputs_are_valid_in_a_notebook() -> None:
    found = collected(
        stream("text \ud800"),
        {"display": {"text/plain": "shown"}, "metadata": {}, "id": None},
        {"result": {"text/plain": "3.0"}, "metadata": {}, "count": 4},
        {"error": "ValueError", "value": "no", "traceback": ["line"]},
    )
    cell = nbformat.v4.new_code_cell("x", outputs=[nbformat.from_dict(one) for one in found])
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))


@pytest.mark.parametrize(
    "event",
    [
        [],
        {},
        {"stream": "stdin", "text": "x"},
        {"stream": "stdout", "text": 3},
        {"display": "x"},
        {"result": {}, "count": "x"},
        {"error": "x", "traceback": 3},
        {"dropped": -1},
    ],
)
def test_what_is_no_event_is_refused(event: Any) -> None:
    with pytest.raises(FrameError):
        collected(event)


def test_a_recorder_reports_little_of_much() -> None:
    events: list[dict[str, Any]] = []
    recorder = Recorder(events.append, 1_000)
    recorder.begin()
    out = Stream("stdout", recorder, 1)
    for _ in range(1_000):
        print("x" * 99, file=out)
    recorder.end()
    assert sum(len(event.get("text", "")) for event in events) == 1_000
    assert events[-1] == {"dropped": 99_000}


def test_a_write_during_a_report_waits_for_its_turn() -> None:
    events: list[dict[str, Any]] = []

    def emit(event: dict[str, Any]) -> None:
        if not events:
            recorder.write("stdout", "from within")
        events.append(event)

    recorder = Recorder(emit, 1_000)
    recorder.begin()
    recorder.write("stdout", "first\n")
    recorder.end()
    assert [event["text"] for event in events] == ["first\n", "from within"]
