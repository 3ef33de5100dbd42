"""Lesson 09: it teaches what it promises, and its tables, rules and numbers are PyTorch's."""

from __future__ import annotations

import inspect
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from autograder.lessons import find_lesson
from autograder.notebooks import anchor
from autograder.regions import without_markers
from autograder.trial import Trial, TrialResult, run_trials
from course import gpu
from course.claims import claims, misconceptions
from course.loader_model import LoaderPlan, run_loader
from course.probes_workers import forked

ROOT = Path(__file__).parents[2]
SLUG = "09-dataloader"
LESSON = find_lesson(ROOT, SLUG)
EXERCISES = [one for one in LESSON.exercises if not one.manual]
TOPICS = {
    *("000-11", "000-16", "000-17", "001-12", "001-13"),
    *("002-35", "002-36", "002-59", "002-70", "002-78"),
}
PARAMETERS = inspect.signature(DataLoader).parameters


class Stream(IterableDataset[int]):
    """Five numbers without indices."""

    def __iter__(self) -> Iterator[int]:
        """From 0."""
        return iter(range(5))


def cells() -> dict[str, dict[str, Any]]:
    """The cells of the source notebook by id."""
    return {cell["id"]: cell for cell in LESSON.cells()}


def course_of(cell: dict[str, Any]) -> dict[str, Any]:
    """The course's metadata of a cell."""
    found: dict[str, Any] = cell["metadata"].get("course", {})
    return found


def solved(name: str) -> dict[str, Any]:
    """What the source's own solution of an exercise defines."""
    names: dict[str, Any] = {}
    for source in (cells()["setup"]["source"], cells()[name]["source"]):
        exec(without_markers(source), names)
    return names


@pytest.fixture(scope="module")
def tables() -> dict[str, TrialResult]:
    """The check table of each exercise, with the source's own solution."""
    setup = cells()["setup"]["source"]
    trials = [
        Trial(setup, without_markers(one.answer_source), one.test_source, one.points)
        for one in EXERCISES
    ]
    results = run_trials(trials)
    return {one.name: result for one, result in zip(EXERCISES, results, strict=True)}


def test_every_topic_has_its_section() -> None:
    taught = [topic for cell in cells().values() for topic in course_of(cell).get("topics", [])]
    assert set(taught) == TOPICS


def test_every_claim_is_predicted_or_judged() -> None:
    used = [name for cell in cells().values() for name in course_of(cell).get("claims", [])]
    assert sorted(used) == sorted(claim.id for claim in claims(SLUG))


def test_a_quiz_cell_names_the_claim_that_it_asks_about() -> None:
    asking = [cell for cell in cells().values() if course_of(cell).get("role") == "predict"]
    asked = [re.findall(r'predict\("([^"]+)"\)', cell["source"]) for cell in asking]
    assert asked == [course_of(cell)["claims"] for cell in asking]


def test_the_summary_counts_every_verdict() -> None:
    rows = re.findall(r"^\| (\w+) \| (.*) \|$", cells()["claims-judged"]["source"], flags=re.M)
    listed = {verdict: len(text.split(" · ")) for verdict, text in rows if verdict != "verdict"}
    found = [claim.verdict for claim in claims(SLUG)]
    # "pin when memory is plentiful, always, with workers" are three claims in one entry
    listed["depends"] += 2
    assert listed == {verdict: found.count(verdict) for verdict in listed}


def test_every_misconception_points_to_a_section_of_the_lesson() -> None:
    sections = {anchor(heading) for heading in LESSON.sections.values()}
    assert {known.section for known in misconceptions(SLUG)} <= sections


def test_every_misconception_can_be_revealed_by_a_check() -> None:
    tests = "".join(exercise.test_source for exercise in EXERCISES)
    silent = [known.id for known in misconceptions(SLUG) if f'"{known.id}"' not in tests]
    assert silent == []


def test_there_are_twelve_exercises_from_easy_to_hard() -> None:
    levels = [exercise.difficulty for exercise in EXERCISES]
    assert len(levels) == 12
    assert levels[0] == 1
    assert set(levels) == {1, 2, 3}


@pytest.mark.parametrize("exercise", [exercise.name for exercise in EXERCISES])
def test_a_table_has_eight_checks_of_which_three_are_hidden(
    tables: dict[str, TrialResult], exercise: str
) -> None:
    record = tables[exercise].record
    assert record is not None
    assert len(record.checks) >= 8
    assert sum(check.hidden for check in record.checks) >= 3
    assert record.score == record.max


def test_cells_are_short_enough_to_read() -> None:
    texts = [c for c in cells().values() if course_of(c).get("role") == "text"]
    words = {c["id"]: len(c["source"].split()) for c in texts if "|---" not in c["source"]}
    codes = [c for c in cells().values() if course_of(c).get("role") in ("measure", "figure")]
    lines = {c["id"]: c["source"].count("\n") + 1 for c in codes}
    assert [name for name, count in words.items() if count > 85] == []
    # A module is written to a file as it has to be: with docstrings.
    assert [name for name, count in lines.items() if count > 8] == ["squares-module"]


# --- parameters ----------------------------------------------------------------------------------


def test_the_table_has_every_parameter_with_its_default_and_a_section_that_exists() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (?:`(.*?)`|–) \| .* \| (.*) \|$",
        cells()["parameter-table"]["source"],
        flags=re.M,
    )
    defaults = {
        name: "" if one.default is inspect.Parameter.empty else repr(one.default)
        for name, one in PARAMETERS.items()
    }
    assert {name: default for name, default, _ in rows} == defaults
    assert {section for _, _, section in rows} <= set(LESSON.sections.values())


def test_every_parameter_is_used_in_an_exercise() -> None:
    exercises = "".join(one.answer_source + one.test_source for one in EXERCISES)
    exercises += " ".join(forked(1))  # some exercises use these by their short name
    missing = [name for name in PARAMETERS if not re.search(rf"\b{name}\b", exercises)]
    assert missing == []


def test_every_parameter_is_explained_in_bold() -> None:
    texts = "".join(c["source"] for c in cells().values() if course_of(c).get("role") == "text")
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
    bank = (ROOT / "autograder" / "answers" / f"{SLUG}.py").read_text(encoding="utf-8")
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
    assert cells()["refused-table"]["source"].count("with 0 workers |") == 2


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
    names: dict[str, Any] = {"run_loader": run_loader, "four": LoaderPlan((1,), 1)}
    exec(cells()["closed-form-measured"]["source"], names)
    for n, load, compute, workers in itertools.product((1, 5, 8), (1, 4), (0, 1, 3), (1, 2, 3)):
        seconds = run_loader(LoaderPlan((load,) * n, compute, workers)).seconds
        assert names["closed_form"](n, load, compute, workers) == seconds


def test_the_exercises_clock_is_the_models() -> None:
    epoch_seconds = solved("epoch-time")["epoch_seconds"]
    for workers, prefetch in itertools.product((1, 2, 3), (1, 2, 4)):
        loads = torch.rand(20, generator=torch.Generator().manual_seed(workers)).tolist()
        plan = LoaderPlan(tuple(loads), 0.2, workers, prefetch)
        assert epoch_seconds(loads, 0.2, workers, prefetch) == pytest.approx(
            run_loader(plan).seconds
        )


def test_workers_share_a_stream_for_real() -> None:
    data = solved("shards")["Shards"](list(range(9)))
    options = {"num_workers": 2, "multiprocessing_context": "fork"}
    assert sorted(loader_over(data, None, **options)) == list(range(9))


def test_the_file_beside_the_notebook_is_the_one_that_the_cell_writes() -> None:
    magic, _, text = cells()["squares-module"]["source"].partition("\n")
    assert magic == "%%writefile squares.py"
    assert (LESSON.source.parent / "squares.py").read_text(encoding="utf-8") == text + "\n"


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
        cwd=LESSON.source.parent,
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
        exec(cells()[name]["source"], found)
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
    (code,) = re.findall(r"```python\n(.*?)```", cells()["lost-cache-task"]["source"], re.S)
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


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker processes")
def test_the_model_answer_to_the_question_in_words_holds() -> None:
    assert cached_hits(2, shuffle=True) == ([0, 0], 0)
    (first, second), left = cached_hits(2, shuffle=True, persistent_workers=True)
    assert (first, left) == (0, 0)
    assert abs(second - 1 / 4) < 0.05  # five standard deviations are 0.048; the draw is seeded
