"""Lesson 14: it teaches what it promises, and its numbers are the allocator's."""

from __future__ import annotations

import functools
import gc
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from autograder.lessons import find_lesson
from autograder.notebooks import anchor
from autograder.regions import without_markers
from autograder.trial import Trial, TrialResult, run_trials
from course import gpu
from course.claims import claims, misconceptions

ROOT = Path(__file__).parents[2]
SLUG = "14-gpu-memory"
LESSON = find_lesson(ROOT, SLUG)
EXERCISES = [one for one in LESSON.exercises if not one.manual]
TOPICS = {
    *("000-18", "000-25", "000-26", "000-27", "000-28", "000-29", "000-30", "000-31", "000-32"),
    *("002-33", "002-34", "002-37", "002-42", "002-57", "002-80", "004-10"),
}
MIB = 2**20


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


@pytest.fixture
def device() -> Iterator[torch.device]:
    """The device, with an empty cache before and after."""
    found = gpu.device()
    gc.collect()
    gpu.empty_cache()
    yield found
    gc.collect()
    gpu.empty_cache()


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


def test_every_misconception_points_to_a_section_of_the_lesson() -> None:
    sections = {anchor(heading) for heading in LESSON.sections.values()}
    assert {known.section for known in misconceptions(SLUG)} <= sections


def test_every_misconception_can_be_revealed_by_a_check() -> None:
    tests = "".join(exercise.test_source for exercise in EXERCISES)
    silent = [known.id for known in misconceptions(SLUG) if f'"{known.id}"' not in tests]
    assert silent == []


def test_there_are_fourteen_exercises_of_every_difficulty() -> None:
    levels = [exercise.difficulty for exercise in EXERCISES]
    assert len(levels) == 14
    assert levels[0] == 1
    assert set(levels) == {1, 2, 3}


def test_the_exercises_are_numbered_in_order() -> None:
    texts = "\n".join(cell["source"] for cell in cells().values())
    numbers = re.findall(r"^### Exercise (\d+):", texts, flags=re.M)
    assert numbers == [str(number) for number in range(1, 15)]


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
    assert [name for name, count in lines.items() if count > 15] == []


@pytest.mark.parametrize("exercise", [exercise.name for exercise in EXERCISES])
def test_an_untouched_answer_cell_runs_without_an_error(exercise: str) -> None:
    names: dict[str, Any] = {}
    exec(cells()["setup"]["source"], names)
    exec(next(one.stub for one in EXERCISES if one.name == exercise), names)


# --- what the texts say -------------------------------------------------------------------------


def test_the_verdicts_of_the_summary_are_those_of_the_claims() -> None:
    rows = re.findall(r"^\| (\w+) \| (.*) \|$", cells()["claims-judged"]["source"], flags=re.M)
    told = {verdict: len(words.split(" · ")) for verdict, words in rows if verdict != "verdict"}
    found = [claim.verdict for claim in claims(SLUG)]
    assert told == {verdict: found.count(verdict) for verdict in set(found)}


STEPS: dict[str, Callable[..., Any]] = {
    "new": lambda names, nbytes, a: names.update(
        {a: torch.empty(nbytes, dtype=torch.uint8, device=gpu.device())}
    ),
    "name": lambda names, nbytes, b, a: names.update({b: names[a]}),
    "slice": lambda names, nbytes, b, a: names.update({b: names[a][:1]}),
    "del": lambda names, nbytes, a: names.pop(a) is None,
    "empty_cache": lambda names, nbytes: gpu.empty_cache(),
}


@pytest.mark.parametrize(
    "program",
    [
        [("new", "a"), ("new", "a"), ("new", "a"), ("empty_cache",), ("del", "a")],
        [("new", "a"), ("slice", "b", "a"), ("del", "a"), ("empty_cache",), ("del", "b")],
        [("new", "a"), ("name", "b", "a"), ("new", "a"), ("del", "b"), ("new", "c")],
        [("new", "a"), ("new", "b"), ("del", "a"), ("empty_cache",), ("new", "c"), ("del", "c")],
    ],
)
def test_the_three_numbers_of_a_program_are_those_of_the_device(
    device: torch.device, program: list[tuple[str, ...]]
) -> None:
    nbytes, names = 42 * MIB, dict[str, torch.Tensor]()
    free, _ = gpu.mem_get_info()
    start = gpu.memory_allocated(), gpu.memory_reserved()
    measured = []
    for kind, *words in program:
        STEPS[kind](names, nbytes, *words)
        counters = gpu.memory_allocated() - start[0], gpu.memory_reserved() - start[1]
        measured.append((*counters, free - gpu.mem_get_info()[0]))
    assert solved("counters")["three_numbers"](program, nbytes, 0) == measured


def _failed(x: torch.Tensor, keep: bool) -> object:
    def fail(x: torch.Tensor) -> None:
        raise ValueError(x.shape)

    try:
        fail(x)
    except ValueError as error:
        return error if keep else str(error)


def _hooked(x: torch.Tensor) -> object:
    layer, outputs = nn.Identity(), list[torch.Tensor]()
    layer.register_forward_hook(lambda module, inputs, output: outputs.append(output))
    layer(x)
    return outputs


def _backward(x: torch.Tensor, w: torch.Tensor) -> object:
    loss = (x * w).sum()
    loss.backward()
    return loss


HOLDERS: dict[str, Callable[[torch.Tensor, torch.Tensor], object]] = {
    "A": lambda x, w: x[:1],
    "B": lambda x, w: x.mean(),
    "C": lambda x, w: (x * w).sum(),
    "D": _backward,
    "E": lambda x, w: (x + w).sum(),
    "F": lambda x, w: torch.no_grad()(lambda: (x * w).sum())(),
    "G": lambda x, w: functools.partial(torch.mean, x),
    "H": lambda x, w: _failed(x, keep=True),
    "I": lambda x, w: _failed(x, keep=False),
    "J": lambda x, w: _hooked(x),
    "K": lambda x, w: x.detach(),
}


@pytest.mark.parametrize("program", HOLDERS)
def test_somebody_holds_x_exactly_where_the_solution_names_a_holder(
    device: torch.device, program: str
) -> None:
    w = torch.ones(1, device=device, requires_grad=True)
    (torch.ones(1, device=device) * w).sum().backward()  # what comes once, comes now
    before = gpu.memory_allocated()
    kept = HOLDERS[program](torch.ones(MIB // 4, device=device), w)
    gc.collect()
    held = gpu.memory_allocated() - before >= MIB
    del kept
    assert held == (solved("holder")["holder"](program) != "nobody")


def test_a_summed_loss_leaves_nothing_on_the_card_after_backward_but_a_metric_does(
    device: torch.device,
) -> None:
    w = torch.ones(256, 64, device=device, requires_grad=True)
    x = torch.ones(256, 64, device=device)

    def grown(metric: bool) -> int:
        total, after = torch.zeros((), device=device), []
        for _ in range(4):
            out = torch.tanh(x * w)
            loss = out.square().mean()
            loss.backward()
            total = total + ((out - x).abs().mean() if metric else loss)
            after.append(gpu.memory_allocated())
        return after[-1] - after[0]

    assert (grown(metric=False), grown(metric=True)) == (0, 3 * 4 * 256 * 64)


def test_the_reentrant_checkpoint_gives_no_gradient_where_no_input_requires_one(
    device: torch.device,
) -> None:
    run_blocks = solved("lower-peak")["run_blocks"]
    layer, x = nn.Linear(4, 4).to(device), torch.ones(2, 4, device=device)
    assert run_blocks([layer], x).requires_grad
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        out = torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=True)
    assert not out.requires_grad


def test_inference_tensors_are_refused_with_the_words_of_the_text(device: torch.device) -> None:
    w = torch.ones(3, device=device, requires_grad=True)
    with torch.inference_mode():
        y = torch.ones(3, device=device) * 2
    with pytest.raises(RuntimeError, match="do not track version counter"):
        _ = y._version
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        y * w
    assert "Inference tensors cannot be saved for backward" in cells()["modes-rule"]["source"]


def test_an_inplace_relu_overwrites_what_a_hook_has_stored_unless_it_is_a_copy() -> None:
    stored, copied = list[torch.Tensor](), list[torch.Tensor]()
    model = nn.Sequential(nn.Identity(), nn.ReLU(inplace=True))
    model[0].register_forward_hook(lambda m, i, output: stored.append(output.detach().cpu()))
    model[0].register_forward_hook(
        lambda m, i, output: copied.append(output.detach().to("cpu", copy=True))
    )
    model(torch.tensor([-1.0, 1.0]))
    assert (stored[0].tolist(), copied[0].tolist()) == ([0, 1], [-1, 1])
