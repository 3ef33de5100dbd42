"""Lesson 14: it teaches what it promises, and its numbers are the allocator's."""

from __future__ import annotations

import ast
import functools
import gc
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from course import gpu
from tests.lessons.source import Source

SOURCE = Source("14-gpu-memory")
MIB = 2**20


@pytest.fixture(scope="module", autouse=True)
def _collections_that_take_no_time() -> Iterator[None]:
    """Each test collects garbage several times, and what other tests have left is not theirs."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def device() -> Iterator[torch.device]:
    """The device, with an empty cache before and after."""
    found = gpu.device()
    gc.collect()
    gpu.empty_cache()
    yield found
    gc.collect()
    gpu.empty_cache()


# --- the scene -----------------------------------------------------------------------------------


def test_the_scene_is_refused_forty_of_sixty_free_mib(
    device: torch.device, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        exec(SOURCE.cells()["scene"]["source"], {})
    finally:
        gpu.set_capacity(None)
    said = capsys.readouterr().out
    assert "Tried to allocate 40.00 MiB" in said
    assert "60.00 MiB is reserved by PyTorch but unallocated" in said


def test_the_scene_is_short_and_needs_nothing_but_the_device() -> None:
    source = SOURCE.cells()["scene"]["source"]
    assert re.findall(r"course.*", source) == [
        "course import gpu  # torch.cuda's words; without a GPU it simulates one"
    ]
    told = SOURCE.cells()["title"]["source"] + SOURCE.cells()["scene-symptom"]["source"]
    assert len(told.split()) <= 150


@pytest.mark.parametrize(
    ("keep", "gets"),
    [
        (torch.Tensor.detach, "refused"),
        (torch.Tensor.clone, "refused"),
        (torch.Tensor.cpu, 40),
        (lambda result: float(result[0]), 40),
    ],
)
def test_the_scene_is_mended_by_results_that_leave_the_card(
    device: torch.device, keep: Callable[[torch.Tensor], object], gets: object
) -> None:
    assert SOURCE.solved("the-run-again")["run_again"](keep) == gets


def test_an_empty_cache_changes_nothing_in_the_scene(
    device: torch.device, capsys: pytest.CaptureFixture[str]
) -> None:
    source = SOURCE.cells()["scene"]["source"]
    try:
        exec(source.replace("hidden.clear()", "hidden.clear(); gpu.empty_cache()"), {})
    finally:
        gpu.set_capacity(None)
    assert "60.00 MiB is reserved by PyTorch but unallocated" in capsys.readouterr().out


# --- the form ------------------------------------------------------------------------------------


def test_five_exercises_stand_before_the_first_deep_dive() -> None:
    sections = [SOURCE.lesson.sections[one.section] for one in SOURCE.exercises]
    assert [name.startswith("Deep dive") for name in sections] == [False] * 5 + [True] * 9


def _shown(source: str, names: dict[str, Any]) -> str:
    """What the last line of a cell shows, as text; nothing for an assignment."""
    *body, last = ast.parse(source).body
    whole = [*body] if isinstance(last, ast.Expr) else [*body, last]
    exec(compile(ast.Module(whole, []), "cell", "exec"), names)
    if not isinstance(last, ast.Expr):
        return ""
    return repr(eval(compile(ast.Expression(last.value), "cell", "eval"), names))


@pytest.mark.exhaustive("whole notebooks and trainings")
def test_run_twice_in_one_kernel_the_lesson_shows_the_same(
    device: torch.device, capsys: pytest.CaptureFixture[str]
) -> None:
    roles = ("scene", "measure", "figure", "warm-up")
    ids = [one["id"] for one in SOURCE.with_role(*roles) if one["cell_type"] == "code"]
    code = [cell for id_, cell in SOURCE.cells().items() if id_ in ("setup", *ids)]
    names: dict[str, Any] = {}

    def run() -> dict[str, str]:
        shown = {cell["id"]: _shown(cell["source"], names) for cell in code}
        return {**shown, "printed": capsys.readouterr().out}

    assert run() == run()


# --- what the texts say -------------------------------------------------------------------------


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
    assert SOURCE.solved("counters")["three_numbers"](program, nbytes, 0) == measured


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
    assert held == (SOURCE.solved("holder")["holder"](program) != "nobody")


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
    run_blocks = SOURCE.solved("lower-peak")["run_blocks"]
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
    assert (
        "Inference tensors cannot be saved for backward" in SOURCE.cells()["modes-rule"]["source"]
    )


def test_an_inplace_relu_overwrites_what_a_hook_has_stored_unless_it_is_a_copy() -> None:
    stored, copied = list[torch.Tensor](), list[torch.Tensor]()
    model = nn.Sequential(nn.Identity(), nn.ReLU(inplace=True))
    model[0].register_forward_hook(lambda m, i, output: stored.append(output.detach().cpu()))
    model[0].register_forward_hook(
        lambda m, i, output: copied.append(output.detach().to("cpu", copy=True))
    )
    model(torch.tensor([-1.0, 1.0]))
    assert (stored[0].tolist(), copied[0].tolist()) == ([0, 1], [-1, 1])
