"""What the probes of saving see: files, storages, runs and keepers."""

from __future__ import annotations

import copy
import io
import math
import os
import pickle
import random
import tempfile
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from course.lessons.checkpoints.best_weights_probes import weights_kept
from course.lessons.checkpoints.file_probes import opened, saved_over
from course.lessons.checkpoints.state_probes import made_plain, migrated, slimmed
from course.probes.forks import in_a_fork
from course.probes.saved_runs import carried_on, resumed


class _Armed:
    def __reduce__(self) -> Any:
        return exec, ("import os; os.environ['OPENED'] = 'yes'",)


def bytes_of(value: Any) -> bytes:
    """What torch.save writes."""
    held = io.BytesIO()
    torch.save(value, held)
    return held.getvalue()


# --- files --------------------------------------------------------------------------------------


def test_a_file_that_runs_code_is_noticed() -> None:
    content = bytes_of(_Armed())
    seen = opened.procedure(lambda path: torch.load(path, weights_only=False), content)
    assert seen["ran"] == "yes"
    assert "OPENED" not in os.environ


def test_a_file_that_is_refused_runs_nothing() -> None:
    with pytest.raises(pickle.UnpicklingError):
        opened.procedure(torch.load, bytes_of(_Armed()))
    assert "OPENED" not in os.environ


def test_what_is_left_beside_a_file_is_listed() -> None:
    seen = opened.procedure(lambda path: open(path + ".log", "w").close(), b"x", "a.pt")
    assert seen["files"] == ["a.pt", "a.pt.log"] and seen["content"] == b"x"
    assert seen["device"] == "cpu"


@pytest.mark.parametrize("path", ["absolute", "relative", "Path"])
def test_saving_is_seen_with_every_kind_of_path(path: str) -> None:
    seen = saved_over.procedure(torch.save, {"a": 1}, path=path, others=["b"])
    assert seen["loaded"] == {"a": 1} and seen["left"] == [b"b"]
    assert seen["error"] is None and seen["litter"] == 0 and seen["events"] == []


@pytest.mark.parametrize(("fails", "error"), [("an error", "RuntimeError"), ("an interrupt", "K")])
def test_a_save_can_be_made_to_fail(fails: str, error: str) -> None:
    seen = saved_over.procedure(torch.save, {}, fails=fails, old=b"old")
    assert seen["error"].startswith(error) and seen["content"] != b"old"


def beside(value: Any, path: Any) -> None:
    """A save with fsync and replace, which cleans nothing up."""
    with open(f"{path}.tmp", "wb") as file:
        torch.save(value, file)
        os.fsync(file.fileno())
    os.replace(f"{path}.tmp", path)


def test_fsync_and_replace_are_noted_and_can_fail() -> None:
    seen = saved_over.procedure(beside, {"a": 1})
    assert [name for name, _ in seen["events"]] == ["fsync", "replace"] and seen["from"] == ["."]
    for fails in ("fsync", "replace"):
        seen = saved_over.procedure(beside, {"a": 1}, fails=fails, old=b"old")
        assert (seen["error"], seen["content"], seen["litter"]) == ("OSError", b"old", 1)


def over(value: Any, path: Any) -> None:
    """A save over the old file, which calls fsync and replace all the same, and moves away."""
    with open(path, "wb") as file:
        torch.save(value, file)
        os.fsync(file.fileno())
    os.replace(path, path)
    os.chdir(os.path.dirname(path))


def test_what_lies_at_the_path_until_the_replacing_is_seen() -> None:
    seen = saved_over.procedure(beside, {"a": 1}, old=b"old", calls=2)
    assert seen["before"] == [b"old"] and seen["here"] == "."
    assert saved_over.procedure(beside, {"a": 1})["before"] == [None]
    assert b"old" not in saved_over.procedure(over, {"a": 1}, old=b"old")["before"]


def aside(value: Any, path: Any) -> None:
    """A save that moves the old file aside for a moment."""
    torch.save(value, f"{path}.tmp")
    os.replace(path, f"{path}.old")
    os.replace(f"{path}.tmp", path)


def test_a_moment_without_the_old_file_is_seen() -> None:
    assert saved_over.procedure(aside, {}, old=b"old")["before"] == [b"old", None]


def test_a_name_that_is_taken_every_time_is_found_out() -> None:
    seen = saved_over.procedure(beside, {}, taken=True)
    assert seen["left"] == [None] and seen["moved"] == ["model.pt.tmp"] * 2


def test_a_value_may_need_more_than_weights_only() -> None:
    assert saved_over.procedure(beside, {"a": 1}, odd=True)["loaded"] == {"a": 1, "odd": "odd"}


def test_a_save_that_moves_to_another_folder_is_seen() -> None:
    here = os.getcwd()
    assert saved_over.procedure(over, {"a": 1})["here"] != "."
    assert os.getcwd() == here


def test_an_exercise_that_is_not_written_yet_is_not_caught() -> None:
    def stub(value: Any, path: Any) -> None:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        saved_over.procedure(stub, {})


# --- states -------------------------------------------------------------------------------------


def test_storages_and_ties_are_numbered() -> None:
    table = torch.zeros(4, 2)

    def slim(state: dict[str, Any]) -> dict[str, Any]:
        made = table.clone()
        return {"a": made, "b": made[0], "c": state["table"], "d": made.clone(), "n": 1}

    seen = slimmed.procedure(slim, {"table": table})
    assert seen["ties"] == [1, 1, -1, 2] and seen["bytes"] == [32] * 4
    assert seen["keys"] == [*"abcdn"]


def test_an_argument_that_is_written_into_is_seen() -> None:
    def slim(state: dict[str, Any]) -> dict[str, Any]:
        state["a"] = state["a"].clone()
        return state

    assert slimmed.procedure(slim, {"a": torch.ones(2), "n": 1})["kept"] == [False, True]


def test_copies_of_an_earlier_call_are_seen() -> None:
    kept: dict[str, Any] = {}

    def slim(state: dict[str, Any]) -> dict[str, Any]:
        kept.setdefault("a", state["a"].clone())
        return {"a": kept["a"], "b": state["b"].clone()}

    seen = slimmed.procedure(slim, {"a": torch.zeros(1), "b": torch.zeros(1)}, then=7.0)
    assert seen["values"] == [0, 7] and seen["ties"] == [-1, 1]


def test_tensors_of_a_checkpoint_are_told_by_identity() -> None:
    one = torch.ones(1)
    checkpoint = {"state_dict": {"a": one, "b": one}, "c": [one[:]]}
    seen = migrated.procedure(lambda given: {"m": [one, one[:]]}, checkpoint)
    assert seen["others"] == 1 and seen["keys"] == [["state_dict", "c"], ["a", "b"]]


def test_a_dataclass_may_have_no_dict() -> None:
    assert made_plain.procedure(lambda one: one.rate, ("slotted", 2, 3))["result"] == 2


def test_objects_are_made_from_words() -> None:
    said = ("dict", [("a", ("numpy", "float64", 0.5)), ("s", ("settings", ("tensor", 0), None))])
    seen = made_plain.procedure(lambda value: value, said)
    assert seen["opens"] == "PicklingError" and seen["tensors"] == [0]
    assert seen["classes"][1][2] == "float64"


# --- runs ---------------------------------------------------------------------------------------


class File:
    """A file of a run that keeps everything."""

    def __init__(self, path: str, parts: dict[str, Any], generators: list[torch.Generator]) -> None:
        self.path, self.parts, self.generators = path, parts, generators

    def save(self, step: int) -> None:
        """Write all."""
        numbers = list(np.random.get_state())
        numbers[1] = numbers[1].tolist()  # type: ignore[union-attr]
        states = [one.get_state() for one in self.generators]
        parts = {name: part.state_dict() for name, part in self.parts.items()}
        held = [step, parts, states, torch.get_rng_state(), random.getstate(), numbers]
        torch.save(held, self.path)

    def resume(self) -> int:
        """Put all back."""
        step, parts, states, own, python, numbers = torch.load(self.path)
        for name, part in self.parts.items():
            part.load_state_dict(parts[name])
        for one, state in zip(self.generators, states, strict=True):
            one.set_state(state)
        torch.set_rng_state(own)
        random.setstate(python)
        np.random.set_state(tuple(numbers))
        return int(step)


@pytest.mark.parametrize("kind", ["linear", "norm", "dropout", "tied"])
def test_a_run_that_keeps_everything_goes_on_as_it_was(kind: str) -> None:
    draws = ("torch", "python", "python normal", "numpy", "numpy normal")
    seen = resumed.procedure(File, kind, draws, generators=2)
    assert seen["later"] == [seen["losses"][2:]] and seen["said"] == [2]
    assert seen["opens"] == "yes" and seen["files"] == ["run.pt"]


@pytest.mark.parametrize("missing", ["model", "optimizer", "scheduler"])
def test_whatever_part_is_missing_shows_in_the_losses(missing: str) -> None:
    parts = [name for name in ("model", "optimizer", "scheduler") if name != missing]
    seen = resumed.procedure(File, "linear", steps=5, parts=parts)
    assert seen["later"] != [seen["losses"][2:]]


def test_a_run_may_have_two_models_of_one_class() -> None:
    class ByClass(File):
        def __init__(self, path: str, parts: dict[str, Any], generators: list[Any]) -> None:
            super().__init__(path, {type(one).__name__: one for one in parts.values()}, generators)

    for file, same in ((File, True), (ByClass, False)):
        every = ("model", "teacher", "optimizer", "scheduler")
        seen = resumed.procedure(file, "linear", parts=every)
        assert (seen["later"] == [seen["losses"][2:]]) is same


@pytest.mark.parametrize("kind", ["resting", "drawing"])
@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_file_may_be_resumed_often_and_from_another_process(kind: str, elsewhere: bool) -> None:
    draws, also = ("torch", "python", "numpy"), ("step", "torch")
    seen = resumed.procedure(File, kind, draws, also=also, rewound=True, elsewhere=elsewhere)
    assert seen["later"] == [seen["losses"][2:]] * 2 and seen["said"] == [2, 2, 4]
    assert "random" in seen["modules"] and "pickle" not in seen["modules"]


def dulled(model: nn.Module) -> None:
    """Have a model say 0, whatever its parameters are."""
    model.forward = lambda x: torch.zeros(1, dtype=x.dtype)
    model.register_forward_hook(lambda *_: torch.zeros(1, dtype=torch.float64))


def test_losses_are_those_of_the_parameters_whatever_is_hung_on_the_model() -> None:
    class Dull(File):
        def resume(self) -> int:
            dulled(self.parts["model"])
            return super().resume()

    seen = resumed.procedure(Dull)
    assert seen["later"] == [seen["losses"][2:]] == [resumed.procedure(File)["losses"][2:]]


def test_a_file_that_resuming_makes_is_seen() -> None:
    class Eager(File):
        def resume(self) -> int:
            if not os.path.exists(self.path):
                self.save(0)
            return super().resume()

    assert resumed.procedure(Eager, stops=(), missing=True)["made"] == ["copied.pt"]
    assert resumed.procedure(Eager)["made"] == []


def test_a_part_that_draws_while_it_loads_shifts_what_was_set_before() -> None:
    class Early(File):
        def resume(self) -> int:
            step = super().resume()
            self.parts["model"].load_state_dict(self.parts["model"].state_dict())
            return step

    seen = resumed.procedure(Early, "drawing", ("numpy",))
    assert seen["later"] != [seen["losses"][2:]]


def test_what_stays_in_a_class_is_not_there_in_another_process() -> None:
    class Held(File):
        held: ClassVar[dict[str, Any]] = {}

        def save(self, step: int) -> None:
            super().save(step)
            self.held["random"] = random.getstate()

    resumed.procedure(Held, "linear", elsewhere=True)
    assert not Held.held
    resumed.procedure(Held, "linear")
    assert Held.held


def test_a_fork_computes_with_threads_though_this_process_has_done_so() -> None:
    """OpenMP's threads stay behind in a fork; whoever waited for them would wait for ever."""
    before, x = torch.get_num_threads(), torch.randn(1000, 1000)
    torch.set_num_threads(2)
    try:
        total = x.exp().sum().item()
        assert in_a_fork(lambda: x.exp().sum().item(), limit_s=30) == total
    finally:
        torch.set_num_threads(before)


def test_a_fork_that_does_not_end_is_ended() -> None:
    with pytest.raises(TimeoutError, match=r"took more than 0\.2 s"):
        in_a_fork(lambda: time.sleep(60), limit_s=0.2)


def test_a_fork_tells_what_it_returns_and_raises() -> None:
    class Own(Exception):
        pass

    def raises(error: BaseException) -> Any:
        raise error

    assert in_a_fork(lambda: [os.getpid()]) != [os.getpid()]
    with pytest.raises(KeyError, match="gone"):
        in_a_fork(lambda: raises(KeyError("gone")))
    with pytest.raises(RuntimeError, match="Own: local"):
        in_a_fork(lambda: raises(Own("local")))
    with pytest.raises(RuntimeError, match="without a word"):
        in_a_fork(lambda: os._exit(3))


def test_the_random_states_are_as_they_were_afterwards() -> None:
    before = random.getstate(), torch.get_rng_state()
    resumed.procedure(File)
    assert random.getstate() == before[0] and torch.equal(torch.get_rng_state(), before[1])


class Keeper:
    """A keeper whose copying can be chosen."""

    copied: Callable[[Any], Any] = staticmethod(copy.deepcopy)

    def __init__(self, patience: int) -> None:
        self.best, self.stop, self.held = math.inf, False, None

    def see(self, model: nn.Module, loss: float) -> bool:
        """Keep it if it's better."""
        better = loss < self.best
        if better:
            self.best, self.held = loss, type(self).copied(model.state_dict())
        return better

    def restore(self, model: nn.Module) -> None:
        """Put it back."""
        if self.held is not None:
            model.load_state_dict(self.held)


def test_what_a_keeper_puts_back_is_seen() -> None:
    seen = weights_kept.procedure(Keeper, [0.5, 0.2, 0.3])
    assert seen["new"] == [True, True, False]
    for held in seen["restored"]:
        assert held["0.weight"][0].tolist() == [2, 2 + 1 / 3]
        assert held["1.num_batches_tracked"] == 2**54 + 3
    assert all(seen["same"])


def test_a_keeper_of_live_tensors_is_found_out() -> None:
    class Alias(Keeper):
        copied = staticmethod(dict)

    seen = weights_kept.procedure(Alias, [0.5, 0.2, 0.3], kind="linear")
    assert [float(held["bias"]) for held in seen["restored"]] == [100, 200]


# --- runs that are carried on ---------------------------------------------------------------------


def taken(run: Any) -> dict[str, Any]:
    """A snapshot of all that a run holds."""
    states = run.model.state_dict(), run.optimizer.state_dict(), run.best
    streams = run.rng.get_state(), torch.get_rng_state()
    return {"states": copy.deepcopy(states), "streams": streams, "epoch": run.epoch}


def put(run: Any, saved: dict[str, Any]) -> None:
    """Restore it, into a run that has just begun."""
    model, optimizer, run.best = copy.deepcopy(saved["states"])
    run.model.load_state_dict(model)
    run.optimizer.load_state_dict(optimizer)
    run.rng.set_state(saved["streams"][0])
    torch.set_rng_state(saved["streams"][1])
    run.epoch = saved["epoch"]


@pytest.mark.parametrize("kind", ["linear", "norm", "dropout", "tied"])
@pytest.mark.parametrize("filed", [True, False])
def test_a_whole_snapshot_carries_a_run_on(kind: str, filed: bool) -> None:
    seen = carried_on.procedure(taken, put, kind=kind, filed=filed, twice=True)
    assert seen["later"] == [seen["losses"][2:]] * 2
    assert all(map(torch.equal, seen["weights"], seen["reference"]))
    assert seen["epoch"] == [2, 2] and seen["drawn"] == [0, 0]
    assert seen["best"][0]["score"] == seen["kept"]["score"] == seen["losses"][0]
    assert len(seen["left"]) == 3 and all(before == after for before, after in seen["left"])
    assert all(seen["left"][0][1]["modes"]) is (kind != "tied")
    assert seen["opens"] == ("yes" if filed else "not asked")


def test_a_run_computes_with_its_parameters_whatever_is_hung_on_its_model() -> None:
    def dull(run: Any) -> dict[str, Any]:
        dulled(run.model)
        return {}

    seen = carried_on.procedure(dull, lambda run, saved: dulled(run.model), ())
    assert seen["losses"] == carried_on.procedure(taken, put, ())["losses"]
    assert seen["later"] != [seen["losses"][2:]]


@pytest.mark.parametrize(("stream", "number"), [("own", 0), ("torch", 1)])
def test_a_stream_that_is_missing_shows_in_the_losses(stream: str, number: int) -> None:
    def forgetful(run: Any, saved: dict[str, Any]) -> None:
        streams = run.rng.get_state(), torch.get_rng_state()
        kept = [
            a if n != number else b
            for n, (a, b) in enumerate(zip(saved["streams"], streams, strict=True))
        ]
        put(run, {**saved, "streams": kept})

    seen = carried_on.procedure(taken, forgetful, (stream,))
    assert seen["later"][0] != seen["losses"][2:]


def test_a_snapshot_that_draws_or_shares_or_is_no_data_is_noticed() -> None:
    def drawing(run: Any) -> dict[str, Any]:
        torch.rand(1)
        return taken(run)

    def live(run: Any) -> dict[str, Any]:
        states = run.model.state_dict(), run.optimizer.state_dict(), run.best
        return {**taken(run), "states": states}

    def whole(run: Any) -> dict[str, Any]:
        return {**taken(run), "model": run.model}

    assert carried_on.procedure(drawing, put)["drawn"][0] > 0
    seen = carried_on.procedure(live, put, filed=False)
    assert seen["later"][0] != seen["losses"][2:]
    assert carried_on.procedure(whole, put)["opens"] == "UnpicklingError"


def test_a_snapshot_that_changes_the_run_is_noticed() -> None:
    def resting(run: Any) -> dict[str, Any]:
        run.model.eval()
        run.optimizer.zero_grad()
        return taken(run)

    (_, after), _ = carried_on.procedure(resting, put)["left"]
    assert not any(after["modes"]) and after["grads"] == [None] * 2


def test_restoring_that_changes_more_is_noticed() -> None:
    def anew(run: Any, saved: dict[str, Any]) -> None:
        run.rng = torch.Generator()
        put(run, saved)
        run.model.train()
        torch.set_num_threads(torch.get_num_threads() + 1)

    threads = torch.get_num_threads()
    try:
        before, after = carried_on.procedure(taken, anew, kind="tied")["left"][-1]
    finally:
        torch.set_num_threads(threads)
    assert (before["own"], after["own"]) == ([True] * 3, [True, True, False])
    assert before["modes"] != after["modes"] == [True] * 3
    assert before["settings"] != after["settings"]


def test_a_snapshot_of_the_beginning_has_no_best() -> None:
    seen = carried_on.procedure(taken, put, stop=0)
    assert seen["kept"] is None and seen["best"] == [None]
    assert seen["later"] == [seen["losses"]]


def test_a_snapshot_that_names_a_file_finds_it_gone() -> None:
    def elsewhere(run: Any) -> dict[str, Any]:
        with tempfile.NamedTemporaryFile(delete=False) as file:
            torch.save(taken(run), file)
        return {"path": file.name}

    def opened(run: Any, saved: dict[str, Any]) -> None:
        put(run, torch.load(saved["path"], weights_only=True))

    with pytest.raises(FileNotFoundError):
        carried_on.procedure(elsewhere, opened)


@pytest.mark.parametrize("forgotten", [("lr", 1), ("decay", 0), ("decay", 1)])
def test_every_setting_of_every_group_matters(forgotten: tuple[str, int]) -> None:
    name, number = forgotten

    def partly(run: Any, saved: dict[str, Any]) -> None:
        usual = run.optimizer.param_groups[number][name]
        put(run, saved)
        run.optimizer.param_groups[number][name] = usual

    seen = carried_on.procedure(taken, partly)
    assert seen["later"][0] != seen["losses"][2:]


def test_an_earlier_snapshot_and_the_learning_rate_matter() -> None:
    held: dict[str, Any] = {}

    def one_for_all(run: Any) -> dict[str, Any]:
        held.update(taken(run))
        return held

    def at_full_rate(run: Any, saved: dict[str, Any]) -> None:
        put(run, saved)
        run.optimizer.param_groups[0]["lr"] = 0.1

    for snapshot, restore in ((one_for_all, put), (taken, at_full_rate)):
        seen = carried_on.procedure(snapshot, restore)
        assert seen["later"][0] != seen["losses"][2:]


def test_a_run_that_counts_its_epochs_needs_their_number() -> None:
    def from_the_start(run: Any, saved: dict[str, Any]) -> None:
        put(run, {**saved, "epoch": 0})

    for restore, same in ((put, True), (from_the_start, False)):
        seen = carried_on.procedure(taken, restore, ("epoch",))
        assert (seen["later"][0] == seen["losses"][2:]) is same
