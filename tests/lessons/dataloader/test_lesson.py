"""Lesson 09: it teaches what it promises, and its tables, rules and numbers are PyTorch's."""

from __future__ import annotations

import inspect
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from course import gpu
from course.lessons.dataloader.simulator import LoaderPlan, run_loader
from course.lessons.dataloader.worker_probes import forked
from tests.lessons.source import ROOT, Source

SOURCE = Source("09-dataloader")
PARAMETERS = inspect.signature(DataLoader).parameters


class Stream(IterableDataset[int]):
    """Five numbers without indices."""

    def __iter__(self) -> Iterator[int]:
        """From 0."""
        return iter(range(5))


# --- the warm-ups --------------------------------------------------------------------------------


def test_the_warm_ups_about_workers_take_their_answers() -> None:
    names = SOURCE.run("setup")
    right = {"main-process": None, "worker-seed": 1003}
    assert SOURCE.warm_up_states(right, names) == dict.fromkeys(right, ("right", "wrong"))


# --- the scene -----------------------------------------------------------------------------------


def noise(options: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> list[list[float]]:
    """The numbers of the scene, an epoch a row, with these options of the loader."""
    source = SOURCE.cells()["scene"]["source"]
    exec(source.replace("num_workers=2", "num_workers=2, **options"), {"options": options})
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_scene_gives_four_numbers_of_sixteen(capsys: pytest.CaptureFixture[str]) -> None:
    epochs = noise({}, capsys)
    assert [len(epoch) for epoch in epochs] == [8, 8]
    assert epochs[0] == epochs[1]
    assert epochs[0][::2] == epochs[0][1::2]
    assert len({number for epoch in epochs for number in epoch}) == 4


def test_the_scene_is_mended_by_the_exercise(capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(9)
    seed_worker = SOURCE.solved("worker-seed")["seed_worker"]
    epochs = noise({"worker_init_fn": seed_worker}, capsys)
    assert epochs[0] != epochs[1]
    assert all(epoch[::2] != epoch[1::2] for epoch in epochs)


def test_the_scene_is_short_and_needs_nothing_of_the_course() -> None:
    source = SOURCE.cells()["scene"]["source"]
    assert "course" not in source
    assert sum(bool(line.strip()) for line in source.splitlines()) <= 10
    told = SOURCE.cells()["title"]["source"] + SOURCE.cells()["scene-symptom"]["source"]
    assert len(told.split()) <= 150


# --- the core ------------------------------------------------------------------------------------


def test_five_exercises_stand_before_the_first_deep_dive() -> None:
    sections = [SOURCE.lesson.sections[one.section] for one in SOURCE.exercises]
    assert [name.startswith("Deep dive") for name in sections] == [False] * 5 + [True] * 7


# --- parameters ----------------------------------------------------------------------------------


def test_the_table_has_every_parameter_with_its_default_and_a_section_that_exists() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (?:`(.*?)`|–) \| .* \| (.*) \|$",
        SOURCE.cells()["parameter-table"]["source"],
        flags=re.M,
    )
    defaults = {
        name: "" if one.default is inspect.Parameter.empty else repr(one.default)
        for name, one in PARAMETERS.items()
    }
    assert {name: default for name, default, _ in rows} == defaults
    assert {section for _, _, section in rows} <= set(SOURCE.lesson.sections.values())


def test_every_parameter_is_used_in_an_exercise() -> None:
    exercises = "".join(one.answer_source + one.test_source for one in SOURCE.exercises)
    exercises += " ".join(forked(1))  # some exercises use these by their short name
    missing = [name for name in PARAMETERS if not re.search(rf"\b{name}\b", exercises)]
    assert missing == []


def test_every_parameter_is_explained_in_bold() -> None:
    texts = "".join(cell["source"] for cell in SOURCE.with_role("text"))
    bold = set(re.findall(r"\*\*`(\w+)", texts))
    assert set(PARAMETERS) <= bold


def loader_over(data: Any, *args: Any, **options: Any) -> DataLoader[Any]:
    """A loader over anything that torch takes, which is more than its types say."""
    return DataLoader(data, *args, **options)


def outcome(iterable: bool, **options: Any) -> str | None:
    """When torch refuses these options."""
    try:
        loader = loader_over(Stream() if iterable else range(5), **options)
    except ValueError:
        return "made"
    try:
        next(iter(loader))
    except AssertionError:
        return "iterated"
    return None


OPTIONS: dict[str, list[Any]] = {
    "batch_size": [1, 2, None],
    "shuffle": [None, False, True],
    "sampler": [None, [0, 1]],
    "batch_sampler": [None, [[0, 1]]],
    "drop_last": [False, True],
}


@pytest.mark.filterwarnings("ignore:'pin_memory'")
def test_the_bank_of_rules_agrees_with_torch_on_every_combination() -> None:
    bank = (ROOT / "autograder" / "answers" / f"{SOURCE.slug}.py").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(bank.split("# %% right refused: by rules\n")[1].split("# %%")[0], names)
    others: list[dict[str, Any]] = [
        {},
        {"timeout": 5},
        {"prefetch_factor": 2},
        {"in_order": False},
        {"num_workers": -1},
    ]
    for values in itertools.product(*OPTIONS.values()):
        options = dict(zip(OPTIONS, values, strict=True))
        for iterable, more in itertools.product((False, True), others):
            said = names["when_refused"](options | more, iterable)
            assert said == outcome(iterable, **options | more), (options, more, iterable)


# The iterator that refuses is incomplete, and its __del__ stumbles over that (torch 2.13).
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_is_refused_only_when_iterating_is_what_the_table_says() -> None:
    assert outcome(False, timeout=5) == "iterated"
    assert outcome(False, num_workers=1, prefetch_factor=0) == "iterated"
    assert SOURCE.cells()["refused-table"]["source"].count("with 0 workers |") == 2


def test_a_loader_protects_what_it_is_made_of() -> None:
    for name in ("batch_size", "dataset", "sampler", "batch_sampler"):
        with pytest.raises(ValueError, match="should not be set after"):
            setattr(loader_over(range(3)), name, None)


# --- sentences and numbers -----------------------------------------------------------------------


def test_the_order_does_not_depend_on_the_number_of_workers() -> None:
    def order(**workers: Any) -> list[int]:
        generator = torch.Generator().manual_seed(7)
        loader = loader_over(range(6), None, shuffle=True, generator=generator, **workers)
        return [int(i) for i in loader]

    assert order() == order(num_workers=2, multiprocessing_context="fork")


@pytest.mark.filterwarnings("ignore:'pin_memory' argument")
def test_a_deprecated_device_for_pinning_is_ignored_with_a_warning() -> None:
    loader = loader_over(range(2), pin_memory=True, pin_memory_device="cuda")
    with pytest.warns(UserWarning, match="pin_memory_device is deprecated"):
        next(iter(loader))


def test_the_closed_form_of_the_text_is_the_models() -> None:
    names: dict[str, Any] = {"run_loader": run_loader, "LoaderPlan": LoaderPlan}
    exec(SOURCE.cells()["closed-form-measured"]["source"], names)
    for n, load, compute, workers in itertools.product((1, 5, 8), (1, 4), (0, 1, 3), (1, 2, 3)):
        seconds = run_loader(LoaderPlan((load,) * n, compute, workers)).seconds
        assert names["closed_form"](n, load, compute, workers) == seconds


def test_the_exercises_clock_is_the_models() -> None:
    epoch_seconds = SOURCE.solved("epoch-time")["epoch_seconds"]
    for workers, prefetch in itertools.product((1, 2, 3), (1, 2, 4)):
        loads = torch.rand(20, generator=torch.Generator().manual_seed(workers)).tolist()
        plan = LoaderPlan(tuple(loads), 0.2, workers, prefetch)
        assert epoch_seconds(loads, 0.2, workers, prefetch) == pytest.approx(
            run_loader(plan).seconds
        )


def test_workers_share_a_stream_for_real() -> None:
    data = SOURCE.solved("shards")["Shards"](list(range(9)))
    options = {"num_workers": 2, "multiprocessing_context": "fork"}
    assert sorted(loader_over(data, None, **options)) == list(range(9))


def test_the_file_beside_the_notebook_is_the_one_that_the_cell_writes() -> None:
    magic, _, text = SOURCE.cells()["squares-module"]["source"].partition("\n")
    assert magic == "%%writefile squares.py"
    assert (SOURCE.lesson.source.parent / "squares.py").read_text(encoding="utf-8") == text + "\n"


@pytest.mark.exhaustive("whole notebooks and trainings")
def test_a_spawned_worker_finds_the_class_in_the_file_but_not_one_of_the_notebook() -> None:
    program = "\n".join(
        [
            "import json, pickle, subprocess, sys",
            "from torch.utils.data import DataLoader",
            "from squares import Squares",
            "class Here(Squares): pass",
            "spawn = {'num_workers': 1, 'multiprocessing_context': 'spawn', 'timeout': 100}",
            "found = [b.tolist() for b in DataLoader(Squares(4), 2, **spawn)]",
            "try: list(DataLoader(Here(4), 2, **spawn)); died = False",
            "except RuntimeError: died = True",
            "print(json.dumps([found, died]))",
        ]
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=SOURCE.lesson.source.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert json.loads(ran.stdout) == [[[0, 1], [4, 9]], True]
    assert "Can't get attribute 'Here'" in ran.stderr


# --- pinned memory and copies ---------------------------------------------------------------------


@pytest.mark.skipif(torch.cuda.is_available(), reason="a race on a real device")
def test_a_pinned_source_is_read_late_and_a_pageable_one_at_once() -> None:
    found: dict[str, Any] = {}
    for name in ("setup", "pinning-here", "copies-late"):
        exec(SOURCE.cells()[name]["source"], found)
    assert (found["batch"].is_pinned(), found["batch"].device.type) == (True, "cpu")
    assert [x.tolist() for x in found["moved"]] == [[1, 1, 1], [0, 0, 0]]


def test_a_clone_of_a_pinned_tensor_is_pageable_and_a_device_tensor_cannot_be_pinned() -> None:
    x = torch.ones(2, device=gpu.device())
    pinned = torch.ones(2).pin_memory()
    assert (pinned.is_pinned(), pinned.clone().is_pinned()) == (True, False)
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        x.pin_memory()


def test_what_is_computed_with_a_copy_comes_after_it() -> None:
    device = gpu.device()
    doubled = torch.ones(2).pin_memory().to(device, non_blocking=True) * 2
    assert doubled.tolist() == [2, 2]


@pytest.mark.exhaustive("whole notebooks and trainings")
def test_without_an_accelerator_the_loader_pins_nothing_and_warns() -> None:
    program = "\n".join(
        [
            "import torch, warnings",
            "from torch.utils.data import DataLoader",
            "with warnings.catch_warnings(record=True) as heard:",
            "    warnings.simplefilter('always')",
            "    (batch,) = DataLoader(torch.ones(2), 2, pin_memory=True)",
            "print(batch.is_pinned(), any('no accelerator' in str(w.message) for w in heard))",
        ]
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    cuda = torch.cuda.is_available()
    assert ran.stdout.split() == [str(cuda), str(not cuda)]


# --- the question in words ------------------------------------------------------------------------


def cached_hits(epochs: int, **options: Any) -> tuple[list[float], int]:
    """The share of samples found in the question's cache, epoch by epoch; what is left of it."""
    names: dict[str, Any] = {"Dataset": Dataset, "decode": lambda path: path}
    (code,) = re.findall(r"```python\n(.*?)```", SOURCE.cells()["lost-cache-task"]["source"], re.S)
    exec(code.partition("\n\n\nloader")[0], names)

    class Asked(names["Cached"]):  # type: ignore[misc]
        def __getitem__(self, i: int) -> bool:
            hit = i in self.cache
            super().__getitem__(i)
            return hit

    data = Asked(range(2000))
    seeded = torch.Generator().manual_seed(9)
    loader = DataLoader(data, 10, generator=seeded, **forked(4), **options)
    hits = [sum(int(batch.sum()) for batch in loader) / 2000 for _ in range(epochs)]
    return hits, len(data.cache)


@pytest.mark.exhaustive("whole notebooks and trainings")
@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker processes")
def test_the_model_answer_to_the_question_in_words_holds() -> None:
    assert cached_hits(2, shuffle=True) == ([0, 0], 0)
    (first, second), left = cached_hits(2, shuffle=True, persistent_workers=True)
    assert (first, left) == (0, 0)
    assert abs(second - 1 / 4) < 0.05  # five standard deviations are 0.048; the draw is seeded
