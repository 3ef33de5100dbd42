"""Events become a cell's outputs; what is no event is refused, what is too large is left out."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from autograder.engine.kernel.output_recorder import Recorder, Stream
from autograder.engine.limits import Limits
from autograder.engine.protocol.frames import FrameError
from autograder.engine.worker.outputs import Budget, Outputs


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


def display(text: str, **about: Any) -> dict[str, Any]:
    return {"display": {"text/plain": text}, "metadata": {}, "id": None, **about}


def test_the_cells_of_a_submission_share_one_budget() -> None:
    limits, budget = Limits(), Budget(12_000)
    cells = [Outputs(limits, budget) for _ in range(3)]
    for cell in cells:
        cell.add(display("x" * 4_000), 4_000)
    assert [cell.as_list()[0]["data"]["text/plain"][:3] for cell in cells] == ["xxx", "xxx", "[an"]


def test_many_lines_and_values_without_a_character_count_too() -> None:
    outputs = Outputs(Limits(), Budget(100_000))
    for _ in range(100):
        outputs.add({"error": "ValueError", "value": "", "traceback": [""] * 200}, 700)
        outputs.add({"display": {"application/json": [[]] * 200}, "metadata": {}}, 700)
    shown = str(outputs.as_list())
    assert shown.count("''") + shown.count("[]") < 100_000 / 32
    assert 0 < shown.count("output was too large") < 100_000 / 1_000


def test_a_display_that_is_nested_deeply_is_left_out() -> None:
    deep: object = "x"
    for _ in range(60):  # each line of it would have as many blanks in the notebook
        deep = [deep]
    (found,) = collected({"display": {"application/json": deep}, "metadata": {}, "id": None})
    assert "too large" in found["data"]["text/plain"]


def test_text_is_cut_where_the_budget_ends_and_counted() -> None:
    outputs = Outputs(Limits(), Budget(1_100))
    outputs.add(stream("é" * 30), 0)
    outputs.add(stream("x" * 60), 0)
    assert outputs.as_list()[0]["text"] == "é" * 30 + "x" * 40
    assert "20 more characters were printed and left out" in outputs.as_list()[-1]["text"]


def test_an_update_counts_for_each_display_that_it_changes() -> None:
    outputs = Outputs(Limits(), Budget(25_000))
    for _ in range(20):
        outputs.add(display("x", id="d"), 100)
    outputs.add(display("y" * 1_000, id="d", update=True), 1_000)
    assert {one["data"]["text/plain"][:3] for one in outputs.as_list()} == {"[an"}


def test_what_a_cell_ends_with_is_shown_whatever_stood_before_it() -> None:
    outputs = Outputs(Limits(), Budget(0))
    outputs.add(display("x"), 100)
    outputs.add({"result": {"text/plain": "2.5"}, "metadata": {}, "count": 1}, 100)
    outputs.add({"error": "KeyError", "value": "no", "traceback": ["line"]}, 100)
    result, error, note = outputs.as_list()
    assert result["data"] == {"text/plain": "2.5"}
    assert (error["ename"], error["evalue"]) == ("KeyError", "no")
    assert note["text"] == "\n… 1 more output was left out.\n"


def test_a_display_among_too_many_never_becomes_the_result() -> None:
    outputs = Outputs(Limits())
    for _ in range(1_100):
        outputs.add(display("x"), 10)
    outputs.add({"result": {"text/plain": "2.5"}, "metadata": {}, "count": 1}, 10)
    results = [one for one in outputs.as_list() if one["output_type"] == "execute_result"]
    assert [one["data"]["text/plain"] for one in results] == ["2.5"]


def test_an_output_too_deep_to_travel_is_no_output() -> None:
    deep: object = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(FrameError, match="nested too deeply"):
        collected({"display": {"application/json": deep}, "metadata": {}, "id": None})


def test_all_outputs_are_valid_in_a_notebook() -> None:
    found = collected(
        stream("text \ud800"),
        {"display": {"text/plain": "shown"}, "metadata": {}, "id": None},
        {"display": {"text/html": {"a": [1]}, "image/png": 3}, "metadata": {}, "id": None},
        {"display": {"text/plain": ["a", "b"], "a": None}, "metadata": {"a": 1}, "id": None},
        {"display": {"application/x+json": {"a": [1]}}, "metadata": {}, "id": None},
        {"result": {"text/plain": "3.0"}, "metadata": {}, "count": 0},
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
        {"result": {}, "count": -5},
        {"result": {}, "count": True},
        {"result": {}, "count": 2**31},
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
    recorder.start_cell()
    out = Stream("stdout", recorder, 1)
    for _ in range(1_000):
        print("x" * 99, file=out)
    recorder.end_cell()
    assert sum(len(event.get("text", "")) for event in events) == 1_000
    assert events[-1] == {"dropped": 99_000}


def test_a_write_during_a_report_waits_for_its_turn() -> None:
    events: list[dict[str, Any]] = []

    def emit(event: dict[str, Any]) -> None:
        if not events:
            recorder.write("stdout", "from within")
        events.append(event)

    recorder = Recorder(emit, 1_000)
    recorder.start_cell()
    recorder.write("stdout", "first\n")
    recorder.end_cell()
    assert [event["text"] for event in events] == ["first\n", "from within"]
