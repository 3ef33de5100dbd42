"""Probes of a model's wiring: what learns, what a trace leaves, what is loaded and tied."""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import torch
from torch import nn

from course.lessons.modules.wiring_probes import class_loaded, idle_found, traced, untied

BATCH = torch.ones(3, 4)


class Nothing:
    """A trace that registers nothing, and swallows what its block raises."""

    def __init__(self, model: nn.Module) -> None:
        self.outputs: list[Any] = []

    def __enter__(self) -> Nothing:
        return self

    def __exit__(self, *problem: object) -> bool:
        return True


def test_gradients_that_a_look_writes_are_seen() -> None:
    def writing(model: nn.Module, x: torch.Tensor) -> list[str]:
        model(x).sum().backward()
        return [name for name, one in model.named_parameters() if one.grad is None]

    seen = idle_found.here(writing, "no last", BATCH, True, False)
    assert seen["names"][:3] == ["scale", "last.weight", "last.bias"]
    assert any(one is not None for one in seen["gradients"])


def test_an_error_that_a_block_swallows_is_not_raised() -> None:
    assert traced.here(Nothing, "an error", BATCH)["raised"] == "nothing"


def test_hooks_that_were_there_before_are_counted() -> None:
    assert traced.here(Nothing, "plain", BATCH)["hooks"] == [[1] * 4, [2] * 4, [2] * 4]


def test_a_run_in_another_mode_names_other_parameters() -> None:
    def in_eval(model: nn.Module, x: torch.Tensor) -> list[str]:
        model.eval()(x).sum().backward()
        return [name for name, one in model.named_parameters() if one.grad is None]

    names = idle_found.here(in_eval, "modes", BATCH, False, False)["names"]
    assert "extra.b.weight" not in names
    assert "extra.b.weight" in idle_found.here(in_eval, "plain", BATCH, False, False)["names"]


def test_what_a_load_leaves_in_path_and_modules_is_told_and_taken_back() -> None:
    def registering(path: str, name: str) -> type:
        sys.path.append(path)
        sys.modules["model"] = sys
        return dict

    before = list(sys.path)
    seen = class_loaded.here(registering, [("model.py", "")], [(0, "Net")])
    assert (seen["path"], seen["named"]) == ([len(before)], ["model"])
    assert sys.path == before
    assert "model" not in sys.modules


def test_an_error_of_a_load_is_told_by_its_class() -> None:
    def failing(path: str, name: str) -> type:
        raise KeyError(name)

    assert class_loaded.here(failing, [("model.py", "")], [(0, "Net")])["said"] == ["KeyError"]


def test_an_error_of_the_file_is_told_with_its_text() -> None:
    def failing(path: str, name: str) -> type:
        raise KeyError("the file itself")

    said = class_loaded.here(failing, [("model.py", "")], [(0, "Net")])["said"]
    assert said == ["KeyError the file itself"]


def test_files_that_change_are_of_one_time() -> None:
    times: list[float] = []

    def looking(path: str, name: str) -> type:
        times.append(os.stat(path).st_mtime)
        return dict

    class_loaded.here(looking, [("m.py", "a = 1\n"), ("m.py", "a = 22\n")], [(0, "a"), (1, "a")])
    assert times[0] == times[1]


def test_a_tie_that_nobody_cuts_is_one_parameter_in_two_places() -> None:
    seen = untied.here(lambda model: [], "tied", True)
    assert (seen["distinct"], len(seen["names"])) == (6, 7)
    assert untied.here(lambda model: [], "not tied", True)["distinct"] == 7


def test_a_module_that_stays_registered_is_seen_under_any_name() -> None:
    def registered(path: str, name: str) -> type:
        spec = spec_from_file_location("of_no_name", path)
        assert spec is not None and spec.loader is not None
        module = sys.modules["of_no_name"] = module_from_spec(spec)
        spec.loader.exec_module(module)
        made: type = getattr(module, name)
        return made

    seen = class_loaded.here(registered, [("m.py", "class Net:\n    pass\n")], [(0, "Net")])
    assert seen["named"] == ["of_no_name"]
    assert "of_no_name" not in sys.modules


def test_empty_parameters_and_shared_memory_are_no_ties() -> None:
    assert untied.here(lambda model: [], "empty parameters", False)["distinct"] == 8
    shared = untied.here(lambda model: [], "two parameters in one memory", False)
    assert shared["distinct"] == shared["storages"] + 1 == 7


def test_hooks_that_a_look_leaves_on_modules_and_parameters_are_counted() -> None:
    def hooked(model: nn.Module, x: torch.Tensor) -> list[str]:
        for one in model.parameters():
            if one.requires_grad:
                one.register_hook(lambda gradient: gradient)
        next(model.children()).register_forward_pre_hook(lambda *_: None)
        return []

    none = idle_found.here(lambda model, x: [], "no last", BATCH, True, False)["hooks"]
    seen = idle_found.here(hooked, "no last", BATCH, True, False)
    assert sum(none) == 1
    assert sum(seen["hooks"]) == 1 + len(seen["flags"])


def test_a_load_that_changes_the_working_directory_is_seen_and_taken_back() -> None:
    def moving(path: str, name: str) -> type:
        os.chdir(os.path.dirname(path))
        return dict

    before = os.getcwd()
    assert class_loaded.here(moving, [("m.py", "")], [(0, "Net")])["folder"] != "."
    assert os.getcwd() == before
    stays = class_loaded.here(lambda path, name: dict, [("m.py", "")], [(0, "a")])
    assert stays["folder"] == "."


def test_an_exit_of_the_file_is_told_like_an_error() -> None:
    def running(path: str, name: str) -> Any:
        raise SystemExit("the file itself")

    said = class_loaded.here(running, [("m.py", "")], [(0, "Net")])["said"]
    assert said == ["SystemExit the file itself"]


def test_an_answer_that_is_kept_is_the_same_when_the_model_has_changed() -> None:
    kept: dict[nn.Module, list[str]] = {}

    def asked(model: nn.Module, x: torch.Tensor) -> list[str]:
        found = torch.autograd.grad(model(x).sum(), [*model.parameters()], allow_unused=True)
        names = dict(model.named_parameters())
        return [name for name, one in zip(names, found, strict=True) if one is None]

    def remembered(model: nn.Module, x: torch.Tensor) -> list[str]:
        return kept.setdefault(model, asked(model, x))

    seen = idle_found.here(remembered, "plain", BATCH, True, False)
    assert seen["later"] == seen["names"]
    seen = idle_found.here(asked, "plain", BATCH, True, False)
    assert set(seen["later"]) - set(seen["names"]) == {"last.weight", "last.bias"}
