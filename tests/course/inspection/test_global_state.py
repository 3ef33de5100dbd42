"""What a call may leave behind: modes, defaults, generators, a module's mode and hooks."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from course.inspection.global_state import (
    RANDOM_STATE,
    GlobalState,
    ModuleState,
    restore_modes,
    unwatched,
    watched,
)


@pytest.fixture(autouse=True)
def _left_as_it_was() -> Iterator[None]:
    before, threads = GlobalState(), torch.get_num_threads()
    yield
    restore_modes(before)
    torch.set_default_device(None)
    torch.autograd.set_detect_anomaly(False)
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(threads)


CHANGES: dict[str, list[Callable[[], object]]] = {
    "grad mode": [lambda: torch.set_grad_enabled(False)],
    "default dtype": [lambda: torch.set_default_dtype(torch.float64)],
    "default device": [lambda: torch.set_default_device("meta")],
    "number of threads": [lambda: torch.set_num_threads(torch.get_num_threads() + 1)],
    "anomaly mode": [lambda: torch.autograd.set_detect_anomaly(True)],
    "deterministic algorithms": [lambda: torch.use_deterministic_algorithms(True)],
    "random state": [
        lambda: torch.rand(1),
        lambda: torch.manual_seed(torch.initial_seed() + 1),
        random.random,
        lambda: random.seed(3),
        lambda: np.random.rand(1),
        lambda: np.random.seed(5),
    ],
}


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, all_ in CHANGES.items() for change in all_]
)
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_a_change_is_told_by_its_name(name: str, change: Callable[[], object]) -> None:
    before = GlobalState()
    change()
    assert GlobalState().changed_since(before) == [name]


def test_a_generator_of_ones_own_changes_nothing() -> None:
    before = GlobalState()
    torch.rand(2, generator=torch.Generator().manual_seed(1))
    np.random.default_rng(1).random()
    random.Random(1).random()
    assert GlobalState().changed_since(before) == []


def test_modes_are_put_back() -> None:
    before = GlobalState()
    torch.set_grad_enabled(False)
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(torch.get_num_threads() + 1)
    restore_modes(before)
    assert GlobalState().changed_since(before) == []


def _hooked(model: torch.nn.Module) -> None:
    model.get_submodule("0").register_forward_hook(lambda *_: None)


@pytest.mark.parametrize(
    ("name", "change"),
    [("training mode", lambda m: m.eval()), ("hooks", _hooked)],
)
def test_a_module_that_was_changed_below_is_told(
    name: str, change: Callable[[torch.nn.Module], object]
) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    before = ModuleState([model])
    change(model)
    assert ModuleState([model]).changed_since(before) == [name]


def test_a_class_that_hides_its_mode_is_read_all_the_same() -> None:
    class Sly(torch.nn.Module):
        def __getattribute__(self, name: str) -> object:
            return True if name == "training" else super().__getattribute__(name)

    model = Sly()
    before = ModuleState([model])
    model.train(False)
    assert ModuleState([model]).changed_since(before) == ["training mode"]


def test_what_a_watched_function_changes_is_noted_once_and_by_name() -> None:
    changed: list[str] = []

    def careless(x: int, *, y: int) -> int:
        random.random()
        torch.set_grad_enabled(False)
        return x + y

    with torch.enable_grad():
        found = watched(careless, changed)
        assert (found(1, y=2), found(3, y=4)) == (3, 7)
    assert sorted(changed) == ["grad mode", "random state"]
    assert found.__name__ == "careless"


def test_what_changed_before_an_error_is_noted_and_the_error_arrives(tmp_path: Path) -> None:
    changed: list[str] = []

    def lost() -> None:
        os.chdir(tmp_path)
        raise LookupError("x")

    before = GlobalState()
    with pytest.raises(LookupError, match="x"):
        watched(lost, changed)()
    assert changed == ["working directory"]
    restore_modes(before)
    assert GlobalState().changed_since(before) == []


def test_a_variable_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    before = GlobalState()
    monkeypatch.setenv("LEFT_BEHIND", "1")
    assert GlobalState().changed_since(before) == ["environment"]


def test_a_variable_that_a_library_adds_when_it_is_imported_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("THERE_BEFORE", "1")
    before = GlobalState()
    monkeypatch.setitem(sys.modules, "a_library_with_a_cache", ModuleType("a_library_with_a_cache"))
    monkeypatch.setenv("CACHE_OF_A_LIBRARY", "/tmp")
    assert GlobalState().changed_since(before) == []
    monkeypatch.setenv("THERE_BEFORE", "2")
    assert GlobalState().changed_since(before) == ["environment"]


def test_classes_are_not_wrapped_and_a_wrapper_is_taken_off() -> None:
    assert watched(dict, []) is dict
    assert unwatched(watched(restore_modes, [])) is restore_modes
    assert unwatched(restore_modes) is restore_modes
    assert unwatched(dict) is dict


def test_a_look_is_no_operator_of_torch() -> None:
    with torch.profiler.profile(acc_events=True) as profiler:
        GlobalState()
    assert [one.name for one in profiler.events() if "::" in one.name] == []


def test_every_draw_from_pythons_generator_is_seen() -> None:
    random.seed(7)
    for draw in (random.random, lambda: random.gauss(0, 1), lambda: random.gauss(0, 1)):
        before = GlobalState()
        assert GlobalState().changed_since(before) == []
        draw()  # the second Gaussian number was made with the first one
        assert GlobalState().changed_since(before) == [RANDOM_STATE]
    state, before = random.getstate(), GlobalState()
    random.seed(8)
    random.setstate(state)
    assert GlobalState().changed_since(before) == []


def test_a_default_device_is_seen_as_a_context_too() -> None:
    before = GlobalState()
    with torch.device("meta"):
        assert GlobalState().changed_since(before) == ["default device"]
    assert GlobalState().changed_since(before) == []
