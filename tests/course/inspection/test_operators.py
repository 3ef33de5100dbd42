"""The list of operators is what ran, whatever the code that ran did to hide it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.utils._python_dispatch as dispatch

from course.inspection import operator_notes, operators
from course.inspection.concurrency import counting_started
from course.inspection.facts import storage_number
from course.inspection.operators import LISTED_LIMIT, PROFILER, Sessions, Trace, recording

X, W = torch.arange(12.0).view(3, 4), torch.ones(5, 4)


def traced(call: Callable[[], Any], known: frozenset[int] = frozenset()) -> Trace:
    with recording(known, PROFILER) as found:
        call()
    return found[0]


def in_scope(scope: Any, call: Callable[[], Any]) -> Callable[[], Any]:
    def inside() -> Any:
        with scope():
            return call()

    return inside


def clear_the_stack() -> None:
    for mode in [*dispatch._get_current_dispatch_mode_stack(), *_function_modes()]:
        for name, value in vars(mode).items():
            if hasattr(value, "clear") and not name.startswith("old_"):  # torch's own
                value.clear()


def _function_modes() -> list[Any]:
    return torch.overrides._get_current_function_mode_stack()


def test_names_come_in_order_with_functions_and_composites() -> None:
    trace = traced(lambda: X.t().reshape(-1))
    assert trace.operators == ("aten::t", "aten::clone", "aten::_unsafe_view")
    assert trace.functions == ("torch.Tensor.t", "torch.Tensor.reshape")
    assert trace.composites == ("aten::t", "aten::reshape")
    assert trace.new_nbytes == 48
    assert trace.complete_log


@pytest.mark.parametrize(
    "scope",
    [torch._C._DisableTorchDispatch, dispatch._disable_current_modes],
    ids=["_DisableTorchDispatch", "_disable_current_modes"],
)
def test_operators_that_run_while_the_modes_are_off_are_listed(scope: Any) -> None:
    trace = traced(in_scope(scope, lambda: torch.nn.functional.linear(X, W)))
    assert "aten::mm" in trace.operators
    assert "aten::linear" in trace.composites


def test_a_function_without_its_mode_leaves_its_operator() -> None:
    off = in_scope(torch._C.DisableTorchFunction, lambda: X.t().reshape(-1))
    trace = traced(off)
    assert "torch.Tensor.reshape" not in trace.functions
    assert "aten::reshape" in trace.composites


@pytest.mark.parametrize(
    "linear",
    [torch.ops.aten.linear.default, torch._C._nn.linear, torch.nn.Linear(4, 5, bias=False)],
    ids=["torch.ops", "torch._C._nn", "nn.Linear"],
)
def test_every_name_of_a_function_leads_to_one_operator(linear: Any) -> None:
    assert (
        "aten::linear"
        in traced(lambda: linear(X) if _is_module(linear) else linear(X, W)).composites
    )


def _is_module(found: Any) -> bool:
    return isinstance(found, torch.nn.Module)


def test_a_mode_that_is_cleared_has_lost_nothing() -> None:
    def clearing() -> None:
        X.clone()
        clear_the_stack()

    assert traced(clearing).operators == ("aten::clone",)


def test_a_list_that_was_ended_is_not_complete() -> None:
    def end() -> None:
        torch._C._autograd._disable_profiler_legacy()

    assert not traced(end).complete_log
    assert traced(X.clone).complete_log


def test_a_list_that_was_ended_and_begun_again_is_not_complete() -> None:
    begin, end, _ = operators.torchs_profiler() or pytest.fail("torch has no profiler")

    def again() -> None:
        end()
        X.clone()
        begin()

    assert not traced(again).complete_log


def test_another_operator_under_a_notes_name_shows() -> None:
    def disguised() -> None:
        with torch._C._profiler._RecordFunctionFast("operator aten::view"):
            X.clone()

    trace = traced(disguised)
    assert not trace.complete_log


def test_an_inner_recording_sees_its_part_and_the_outer_one_all() -> None:
    inner: list[Trace] = []
    outer = traced(lambda: (inner.append(traced(X.clone)), X.neg()))
    assert inner[0].operators == ("aten::clone",)
    assert not inner[0].complete_log
    assert outer.operators == ("aten::clone", "aten::neg")


def test_under_somebody_elses_profiler_the_modes_notes_remain() -> None:
    # torch 2.11 warns without acc_events.
    only_cpu = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=only_cpu, acc_events=True):
        trace = traced(X.clone)
    assert (trace.operators, trace.complete_log) == (("aten::clone",), False)


def test_an_error_leaves_no_profiler_behind() -> None:
    with pytest.raises(RuntimeError), recording(frozenset(), PROFILER):
        torch.mm(X, X)
    assert not torch.autograd._profiler_enabled()
    assert traced(X.clone).complete_log


def test_known_storages_are_not_new_and_freed_ones_are() -> None:
    def calls() -> None:
        X.view(-1)
        X.clone()
        X.clone()

    assert traced(calls, frozenset({storage_number(X)})).new_nbytes == 2 * X.nbytes


def test_after_the_limit_a_name_is_listed_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "LISTED_LIMIT", 10)
    monkeypatch.setattr(operator_notes, "LISTED_LIMIT", 10)

    def many() -> None:
        for _ in range(35):
            X.neg()
        X.clone()

    trace = traced(many)
    assert trace.operators == ("aten::neg",) * 11 + ("aten::clone",)
    assert trace.new_nbytes == 36 * X.nbytes
    assert trace.complete_log


def test_without_torchs_profiler_the_modes_notes_remain() -> None:
    with recording(frozenset(), Sessions(None)) as found:
        X.clone()
    assert (found[0].operators, found[0].complete_log) == (("aten::clone",), False)


def test_a_session_without_a_start_says_nothing() -> None:
    assert Sessions(None).stop(object()) == Trace()


def test_the_limit_is_what_the_documentation_says() -> None:
    assert LISTED_LIMIT == 20_000


def test_threads_and_processes_are_counted_and_nothing_else() -> None:
    thread = threading.Thread(target=X.clone)
    with counting_started() as started:
        X.clone()
        assert started.count == 0
        thread.start()
        thread.join()
        subprocess.run([sys.executable, "-c", ""], check=True)
    assert started.count == 2


def test_a_process_of_ones_own_is_counted_after_one_of_subprocess() -> None:
    with counting_started() as started:
        subprocess.run([sys.executable, "-c", ""], check=True)
        for _ in range(2):
            os.waitpid(os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}), 0)
    assert started.count in (2, 3)  # Python 3.11's `subprocess` hides the next one


def test_counting_leaves_the_profile_function_of_new_threads_alone() -> None:
    with counting_started():
        pass
    assert threading.getprofile() is None


def test_a_write_to_many_tensors_is_counted_as_without_a_recording() -> None:
    plain, seen = torch.zeros(2), torch.zeros(2)
    torch._foreach_add_([plain], [torch.ones(2)])
    traced(lambda: torch._foreach_add_([seen], [torch.ones(2)]))
    assert seen._version == plain._version == 1
