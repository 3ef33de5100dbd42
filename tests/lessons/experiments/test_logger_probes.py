"""What the probes of loggers hand over, and what they see: numbers, graphs, work, what lives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from course.lessons.experiments import logger_run, record_kept

Write = Callable[[str, Any, int], None]


class Logger:
    """A logger that keeps what it's given, changed by `keep`, until it's flushed."""

    def __init__(self, write: Write, on: bool, keep: Callable[[Any], Any]) -> None:
        self.write, self.on, self.keep, self.rows = write, on, keep, list[Any]()

    def add(self, name: str, value: Any, step: int) -> None:
        """Keep a value."""
        if self.on:
            value = value() if callable(value) else value
            self.rows.append((name, self.keep(value), step))

    def flush(self) -> None:
        """Write all values, and forget each."""
        while self.rows:
            name, value, step = self.rows[0]
            self.write(name, float(torch.as_tensor(value).detach()), step)
            self.rows.pop(0)


def ran(keep: Callable[[Any], Any], script: list[Any], on: bool = True) -> dict[str, Any]:
    """What the probe saw of a logger that keeps values in this way."""
    seen: dict[str, Any] = logger_run.procedure(
        lambda write, on: Logger(write, on, keep), script, on
    )
    return seen


def copy_of(value: torch.Tensor) -> torch.Tensor:
    """A copy without a graph."""
    return value.detach().clone()


GRAPH = [["add", "loss", ["graph", 1.5], 3], ["overwrite"], ["flush"]]


def test_a_tensor_that_is_kept_keeps_its_graph() -> None:
    assert ran(lambda value: value, GRAPH)["graphs"] == [True, True, False]
    assert ran(copy_of, GRAPH)["graphs"] == [False, False, False]


def test_a_write_in_place_shows_in_what_shares_memory() -> None:
    assert ran(copy_of, GRAPH)["written"] == [["loss", 1.5, 3]]
    assert ran(lambda value: value.detach(), GRAPH)["written"] == [["loss", 77.0, 3]]


def test_work_is_noted_in_add_alone() -> None:
    plain = [["add", "x", torch.tensor(2.0), 0], ["flush"]]
    assert "item" in ran(lambda value: value.item(), plain)["functions"]
    seen = ran(copy_of, plain)
    assert not {"item", "__float__"} & {*seen["functions"]}
    assert "clone" in seen["functions"]
    off = ran(copy_of, plain, on=False)
    assert (off["functions"], off["alive"]) == ([], False)


def test_what_a_function_does_is_its_own_affair() -> None:
    called = [["add", "x", ["called", 2.0], 0]]
    seen = ran(copy_of, called)
    assert seen["calls"] == [True]
    assert not any("mul" in one for one in seen["functions"])


def test_what_is_written_is_counted_after_each_line() -> None:
    values = [["add", "x", float(k), k] for k in range(2)]
    seen = ran(float, [*values, ["flush"], ["flush"]])
    assert seen["counts"] == [0, 0, 2, 2]
    assert seen["types"] == ["float"] * 2


def test_a_tensor_that_loses_its_graph_is_noticed() -> None:
    plain = ["add", "x", torch.tensor(1.0), 0]
    assert ran(copy_of, [*GRAPH, plain])["attached"] == [True, False]
    assert ran(lambda value: value.detach_().clone(), GRAPH)["attached"] == [False]


def test_whether_it_is_on_may_be_left_to_the_logger() -> None:
    made = lambda write, on=True: Logger(write, on, float)  # noqa: E731
    script = [["add", "x", 1.0, 0], ["flush"]]
    for on, written in ((None, [["x", 1.0, 0]]), (True, [["x", 1.0, 0]]), (False, [])):
        assert logger_run.procedure(made, script, on)["written"] == written


def test_only_the_facts_asked_for_come_back() -> None:
    made = lambda write, on: Logger(write, on, float)  # noqa: E731
    assert logger_run.procedure(made, [["flush"]], facts=("written",)) == {"written": []}


def test_a_copy_that_is_kept_lives() -> None:
    plain = [["add", "x", torch.tensor(1.0), 0]]
    assert ran(copy_of, plain)["alive"]
    assert not ran(copy_of, [*plain, ["flush"]])["alive"]
    assert not ran(float, plain)["alive"]


# --- records ------------------------------------------------------------------------------------


class Record:
    """A record that trusts everybody."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config, self.rows = config, list[Any]()

    def log(self, values: dict[str, Any]) -> None:
        """Keep the values."""
        self.rows.append(values)


def kept(config: dict[str, Any], *script: list[Any]) -> dict[str, Any]:
    """What the probe saw of such a record."""
    seen: dict[str, Any] = record_kept.procedure(Record, config, script)
    return seen


def test_everything_that_was_handed_over_is_changed() -> None:
    seen = kept({"a": [1], "b": ([],)}, ["log", {"x": torch.tensor(1.0)}], ["spoil config"])
    assert seen["config"] == {"a": [1, "spoilt"], "b": (["spoilt"],), "spoilt": 1}
    assert seen["rows"] == [{"x": 77.0, "spoilt": 1}]
    assert seen["types"] == [{"x": "Tensor", "spoilt": "int"}]
    assert seen["alive"]


def test_what_is_left_of_the_given_dict() -> None:
    class Filling(Record):
        def log(self, values: dict[str, Any]) -> None:
            values["x"] = float(values["x"])
            values["step"] = 0

    script = [["log", {"x": torch.tensor(1.0), "y": 2}]]
    assert kept({}, *script)["left"] == [[("x", True), ("y", True)]]
    seen = record_kept.procedure(Filling, {}, script)
    assert seen["left"] == [[("x", False), ("y", True), ("step", False)]]


def test_results_are_written_into() -> None:
    seen = kept({}, ["log", {"x": 1.0}], ["look"], ["spoil results"])
    assert seen["rows"][-1] == "spoilt"
    assert seen["config"] == {"spoilt": 1}


def test_the_given_config_itself_stays_as_it_was() -> None:
    config = {"a": [1]}
    kept(config, ["spoil config"], ["another"])
    assert config == {"a": [1]}


def test_a_record_that_makes_numbers_when_asked_is_found_out() -> None:
    class Late(Record):
        def log(self, values: dict[str, Any]) -> None:
            self.kept = values["x"].detach().clone()

        @property
        def rows(self) -> Any:
            return [{"x": self.kept.item()}]

        @rows.setter
        def rows(self, value: Any) -> None:
            pass

    seen = record_kept.procedure(Late, {}, [["log", {"x": ["graph", [2.0]]}]])
    assert (seen["rows"], seen["alive"], seen["asked"]) == ([{"x": 2.0}], True, ["item"])
    assert kept({}, ["log", {"x": 1.0}])["asked"] == []


def test_a_number_holds_nothing() -> None:
    class Numbers(Record):
        def log(self, values: dict[str, Any]) -> None:
            self.rows.append(
                {name: torch.as_tensor(value).item() for name, value in values.items()}
            )

    seen = record_kept.procedure(Numbers, {}, [["log", {"x": ["graph", 2.0]}]])
    assert not seen["alive"]


def test_a_parameter_is_handed_over_as_one() -> None:
    kinds = list[str]()

    def kept(value: torch.Tensor) -> torch.Tensor:
        kinds.append(type(value).__name__)
        return copy_of(value)

    ran(kept, [["add", "w", ["parameter", 1.5], 0], ["overwrite"], ["flush"]])
    assert kinds == ["Parameter"]
