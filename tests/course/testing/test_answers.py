"""Answers and probes reach the learner's objects only through plain data."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from course import Check, answer, probe
from course.serialization import AnswerRef
from course.testing.answers import LocalBackend, Request
from course.testing.observe import from_wire
from tests.course.cells import learner, run_cell


def test_calling_an_answer_observes_it() -> None:
    with learner({"double": lambda x: x * 2}):
        seen = answer("double")(torch.ones(2))
    assert seen.result.plain.tolist() == [2.0, 2.0] and seen.name == "double"


def test_an_answer_gets_copies_of_the_arguments() -> None:
    x = torch.zeros(2)
    with learner({"spoil": lambda t: t.add_(1)}):
        answer("spoil")(x)
    assert x.tolist() == [0.0, 0.0]


def test_an_undefined_answer_is_not_an_attempt_and_names_the_remedy() -> None:
    with learner({}):
        seen = answer("nowhere")(1)
    assert seen.error is not None and not seen.attempted
    assert "`nowhere` is not defined. Run the cell" in seen.error.message


def test_a_value_is_read() -> None:
    with learner({"table": {"a": [1, 2]}}):
        assert answer("table").read().result["a"][1].plain == 2


def test_an_answer_that_is_no_function_fails_with_its_type() -> None:
    with learner({"f": 3}):
        seen = answer("f")(1)
    assert seen.error is not None and "'int' object is not callable" in seen.error.message


def test_a_name_that_cannot_be_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="takes the name of a Python object, not 'a b'"):
        answer("a b")


def test_a_kept_result_is_passed_on_alive() -> None:
    names: dict[str, Any] = {"make": lambda: torch.nn.Linear(2, 1), "use": lambda m: type(m)}
    with learner(names):
        made = answer("make").watch(keep=True)()
        used = answer("use")(made.live)
    assert used.result.node.kind == "function" or used.result.node.type_name.endswith("Linear")


def test_a_handle_inside_a_result_is_passed_on_alive() -> None:
    names: dict[str, Any] = {
        "make": lambda: [torch.nn.Linear(2, 1)],
        "size": lambda m: m.in_features,
    }
    with learner(names):
        made = answer("make")()
        assert answer("size")(made.result[0]).result.plain == 2


def test_a_probe_runs_beside_the_answer() -> None:
    @probe
    def twice(f: Any, x: torch.Tensor) -> list[Any]:
        return [f(x), f(f(x))]

    with learner({"inc": lambda x: x + 1}):
        seen = twice(answer("inc"), torch.zeros(1))
    assert [v.plain.item() for v in seen.result] == [1.0, 2.0]


def test_a_probe_records_operators_only_where_it_is_asked_to() -> None:
    @probe
    def doubled(double: Any, x: torch.Tensor) -> Any:
        return double(x)

    with learner({"double": lambda x: x * 2}):
        seen = doubled(answer("double"), torch.ones(2))
        asked = doubled.watch(operators=True)(answer("double"), torch.ones(2))
    assert "aten::mul" in asked.operators
    assert asked.new_nbytes == 8
    for look in (
        lambda: not seen.operators,
        lambda: "aten::mul" in seen.operators,
        lambda: seen.new_nbytes <= 8,
        lambda: seen.calls("mul"),
    ):
        with pytest.raises(LookupError, match="watch\\(operators=True\\)"):
            look()
    check = Check("a check")
    check.avoids(seen, "div")
    assert not check.result(1.0).checks[0].passed


def test_a_probe_of_an_undefined_answer_is_not_an_attempt() -> None:
    @probe
    def call(f: Any) -> Any:
        return f()

    with learner({}):
        assert not call(answer("nowhere")).attempted


@pytest.mark.parametrize(("body", "result"), [("torch.sum(f(x))", 4.0), ("secret", None)])
def test_a_probe_arrives_as_text_and_knows_the_names_of_the_set_up(body: str, result: Any) -> None:
    cell = f"@probe\ndef total(f, x):\n    return {body}\n"
    made = run_cell(cell, {"probe": probe, "torch": torch})["total"]
    arguments = (AnswerRef("double"), torch.ones(2))
    header, buffers = Request(("probe", "total"), arguments, source=made.source).to_wire()
    learner_names = {"secret": 1, "double": lambda x: x * 2}
    reply, back = LocalBackend(lambda: learner_names, lambda: {"torch": torch}).serve(
        header, buffers
    )
    seen = from_wire(reply, back, "total", (header["document"], buffers))
    if result is None:
        assert seen.error is not None and seen.error.type == "NameError"
    else:
        assert seen.result.plain.item() == result


def test_a_probe_among_the_hidden_tests_is_refused() -> None:
    source = "### BEGIN HIDDEN TESTS\n@probe\ndef p():\n    return 1\n### END HIDDEN TESTS\n"
    with pytest.raises(ValueError, match="Move it above"):
        run_cell(source, {"probe": probe})


def test_one_cell_runs_the_same_in_its_own_process_and_over_plain_data() -> None:
    cell = (
        "check = Check('f')\nseen = answer('f')(torch.ones(2))\n"
        "check.equal(seen.result, torch.ones(2) * 3)\nrecord = check.result(2).to_dict()\n"
    )
    with learner({"f": lambda x: x * 3}):
        names = run_cell(cell, {"Check": Check, "answer": answer, "torch": torch})
    assert names["record"]["score"] == 2.0
