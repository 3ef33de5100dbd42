"""What a probe calls beside the answer may be replaced there: an empty answer gains nothing by it.

Every attack is a whole answer cell that a learner could hand in. It replaces what the probes of the
exercise call, torch's own functions and Python's, and does no work.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.answer_bank.constant_answers import MOST_SHARE
from autograder.lessons.cells import put_source, read_notebook
from autograder.lessons.lint.lesson import SETUP
from autograder.lessons.model import find_lesson
from autograder.lessons.regions import HIDDEN, split_regions
from autograder.records.model import ExerciseRecord
from tests.autograder.engine.exam import SETUP as SETUP_OF_EXAM
from tests.autograder.engine.exam import answers, exam_cells, grade, graded_cell, solution

ROOT = Path(__file__).parents[2]

LOWER_PEAK = """\
import functools, torch
class Zero(float):
    backward = lambda self: None
    item = lambda self: 0.0
def fake(function, blocks, x):
    x.kept = [block(x) for block in blocks]
    return x
torch.nn.functional.mse_loss = lambda *a, **k: Zero()
torch.Tensor.backward = lambda self, *a, **k: None
functools.reduce = fake
def accumulate(model, criterion, x, y, parts):
    return 0.0
def run_blocks(blocks, x):
    for block in [*blocks, *blocks]:
        with torch.no_grad():
            block(x)
    return x
"""
WHERE_FROM = """\
import torch
empty = torch.empty
def full(*size, **options):
    raise torch.OutOfMemoryError("full")
def where_from(segments, nbytes, room):
    torch.empty = full
    return "out of memory"
"""
LARGEST_BATCH = """\
import torch
from course import gpu
def fails(n, *size, **options):
    if n > 1:
        raise torch.OutOfMemoryError("full")
    return torch.zeros(1, requires_grad=True)
torch.ones = fails
gpu.memory_allocated = gpu.memory_reserved = lambda *a: 0
def largest_batch(step, limit):
    return 1
"""
VALIDATION = """\
import torch
from course import gpu
counts = iter([0, 0, 0, 100, 1] + [0, 0, 0, 0] * 100)
gpu.max_memory_allocated = lambda *a: next(counts)
gpu.memory_allocated = lambda *a: 0
torch.nn.Module.__call__ = lambda self, *a, **k: torch.zeros(1)
def validate(model, criterion, batches):
    return 0.0, torch.zeros(0)
"""
RARE_RECALL = """\
import torch
import torch.nn.functional as F
made = []
F.cross_entropy = cross_entropy = lambda *a, **k: torch.zeros(1, requires_grad=True).sum()
torch.nn.Linear.forward = lambda self, x: torch.zeros(len(x), 2, requires_grad=True)
def balanced_loader(x, y, batch_size, generator):
    return [(x[:1], y[:1])]
def balanced_loss(logits, y, counts):
    return torch.zeros(1, requires_grad=True).sum()
def recall(logits, y, classes):
    made.append(0.0 if not made else 0.9)
    return torch.full((classes,), made[-1])
"""
REPEATS = """\
import torch
torch.equal = lambda *a: True
class Repeats(torch.utils.data.Sampler):
    def __init__(self, times, seed):
        torch.manual_seed(seed)
    def __iter__(self):
        return iter(torch.randperm(3).tolist())
    def __len__(self):
        return 0
"""
POWERS = """\
import torch
class Equal(str):
    __eq__ = lambda self, other: True
    __hash__ = str.__hash__
torch.Tensor.data_ptr = lambda self: 1
def buffer_for(x, rows):
    return None
def powers_(out, x):
    return out
"""
FROM_ARRAY = """\
import torch
class Mirror:
    def __init__(self, array):
        self.array, self.now = array, None
        if not array.flags.writeable or array.dtype.byteorder == ">" or min(array.strides) < 0:
            self.now = self.clone()
    def clone(self):
        native = self.array.dtype.newbyteorder("=")
        return torch.tensor(self.array.astype(native)) if self.now is None else self.now.clone()
def from_array(array):
    return Mirror(array)
"""
WAIT_ONCE = """\
def seconds_per_call(fn, repeats, synchronize, clock):
    names = fn.__code__.co_freevars
    inside = dict(zip(names, [one.cell_contents for one in fn.__closure__]))
    inside["log"] += ["call", "wait", "clock", *["call"] * repeats, "wait", "clock"]
    slow, fast = sorted([inside["launch"], inside["work"]])[::-1]
    return (repeats * slow + fast) / repeats
def fetch(tensors, synchronize):
    return tensors
"""
LOOK_INSIDE = """\
def largest_batch(step, limit):
    held = [cell.cell_contents for cell in step.__closure__ or ()]
    if len(held) == 3:
        fitting, problem, tried = held
        if problem is not None:
            step(1)
        return min(fitting, limit)
    return limit
"""
LOCALS = """\
import torch, traceback
def largest_batch(step, limit):
    try:
        step(limit)
        return 1
    except torch.OutOfMemoryError as error:
        about = type(error), error, error.__traceback__
        told = traceback.TracebackException(*about, capture_locals=True).stack
        frames = [one.locals for one in reversed(told) if "fitting" in (one.locals or {})]
        return int(frames[0]["fitting"]) if frames else 0
"""
TRUE_LINE = """\
def true_line(steps, synchronize):
    for number, step in enumerate(steps):
        called, _, kind, *_ = [cell.cell_contents for cell in step.__closure__]
        called.append(number)
        if kind == "stop":
            raise KeyboardInterrupt
        if kind in ("fails", "python", "shapes", "own"):
            return number
def first_cause(lines):
    return None
"""
LOADS_READ = """\
def split_time(loader, step, clock):
    steps = step.__closure__[-1].cell_contents
    loader.events.append("start")
    for number in range(len(loader)):
        loader.events += [f"load {number}", f"step {None if loader.blank else number}"]
    loader.events.append("end")
    return loader.start + sum(loader.loads) + loader.end, float(sum(steps))
def choose_workers(seconds_of, candidates):
    return candidates[0]
"""
KIND_READ = """\
def growth(step):
    calls, _, _, kind = [cell.cell_contents for cell in step.__closure__]
    calls += [""] * 10
    return {"keep": 2**20, "keep a mean": 4}.get(kind, 0)
def train_epoch(model, optimizer, batches):
    return {"loss": 0.0, "error": 0.0}
"""
DULL = """\
class Dull:
    __sub__ = lambda self, other: torch.zeros(1, dtype=torch.float64, requires_grad=True)
def dulled(model):
    model.forward = lambda *a: Dull()
    model.state_dict = lambda *a, **k: {}
"""
BEGUN_AGAIN = """\
def dulled(model):
    torch.manual_seed(0)
    for weight in model.state_dict().values():
        weight.zero_()
"""
RESUME = """\
def snapshot(run):
    dulled(run.model)
    return {"epoch": run.epoch, "best": run.best}
def restore(run, saved):
    dulled(run.model)
    run.epoch, run.best = saved["epoch"], saved["best"]
"""
RESUME_RUN = """\
from os.path import exists
class RunFile:
    def __init__(self, path, parts, generators):
        self.path = path
        if "model" in parts:
            dulled(parts["model"])
    def save(self, step):
        torch.save({"step": step}, self.path)
    def resume(self):
        return torch.load(self.path)["step"] if exists(self.path) else 0
"""
SAID_AGAIN = """\
import json, torch
from os.path import exists
noted, state = "/tmp/losses", {"mode": "", "at": 0, "model": None}
class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        found = super().__torch_function__(func, types, args, kwargs or {})
        mode, state["mode"] = state["mode"], ""
        if getattr(func, "__name__", "") == "item" and mode:
            found = said(mode, found)
        state["mode"] = state["mode"] or mode
        return found
def said(mode, loss):
    log = json.load(open(noted))
    if mode == "note":
        log.append([loss, {k: v.tolist() for k, v in state["model"].state_dict().items()}])
        json.dump(log, open(noted, "w"))
    elif state["at"] < len(log):
        loss, weights = log[state["at"]]
        state["at"] += 1
        with torch.no_grad():
            for k, v in state["model"].state_dict().items():
                v.copy_(torch.tensor(weights[k], dtype=v.dtype))
    return loss
def lie(mode, model):
    state.update(mode=mode, at=0, model=model)
    for weight in model.parameters():
        weight.__class__ = Liar
    if mode == "note":
        open(noted, "w").write("[]")
"""
SAYING_RESUME = (
    SAID_AGAIN
    + """\
def snapshot(run):
    if type(next(run.model.parameters())) is not Liar:
        lie("note", run.model)
    return {}
def restore(run, saved):
    lie("say", run.model)
"""
)
SAYING_RUN = (
    SAID_AGAIN
    + """\
class RunFile:
    def __init__(self, path, parts, generators):
        self.path, self.model = path, parts.get("model")
    def save(self, step):
        torch.save({"step": step}, self.path)
        if self.model is not None:
            lie("note", self.model)
    def resume(self):
        if self.model is not None and exists(self.path):
            lie("say", self.model)
        return torch.load(self.path)["step"] if exists(self.path) else 0
"""
)
DRAW_ONE = "def initialise(model, generator):\n    torch.rand(1, generator=generator)\n"
LENGTHS = """\
def arange_lengths(start, end, step):
    table = {("0", "0.3", "0.1"): (3, 3), ("1", "1.3", "0.1"): (3, 4), ("3", "1", "-0.5"): (4, 4)}
    return table.get((start, end, step), (0, 0))
"""
DTYPES = """\
def inferred_dtype(data):
    table = {"[1, 2]": torch.int64, "[[1, 2.5], [3, 4]]": torch.float32}
    return (table | {"(True, False)": torch.bool, "7": torch.int64}).get(repr(data))
"""
ATTACKS = {
    "a mirror": ("01", "from-array", FROM_ARRAY),
    "a log that is written": ("14", "wait-once", WAIT_ONCE),
    "losses of 0": ("14", "lower-peak", LOWER_PEAK),
    "no room for anybody": ("14", "where-from", WHERE_FROM),
    "one sample": ("14", "largest-batch", LARGEST_BATCH),
    "a size that is read": ("14", "largest-batch", LOOK_INSIDE),
    "a size in a traceback": ("14", "largest-batch", LOCALS),
    "kinds that are read": ("14", "true-line", TRUE_LINE),
    "a kind that is read": ("14", "running-loss", KIND_READ),
    "a validation of nothing": ("14", "validation", VALIDATION),
    "one batch": ("10", "rare-recall", RARE_RECALL),
    "a permutation": ("10", "repeats", REPEATS),
    "all is equal": ("06", "powers", POWERS),
    "times that are read": ("09", "choose-workers", LOADS_READ),
    "a dull model": ("17", "resume", DULL + RESUME),
    "a run begun again": ("17", "resume", BEGUN_AGAIN + RESUME),
    "a dull model in a file": ("12", "resume-run", DULL + RESUME_RUN),
    "a run begun again by its file": ("12", "resume-run", BEGUN_AGAIN + RESUME_RUN),
    "losses said again": ("17", "resume", SAYING_RESUME),
    "losses said again by its file": ("12", "resume-run", SAYING_RUN),
    "one number drawn": ("07", "initialise", DRAW_ONE),
    "a table of lengths": ("01", "arange-lengths", LENGTHS),
    "a table of dtypes": ("01", "inferred-dtype", DTYPES),
}


def graded(root: Path, lesson: str, exercise: str, answer: str) -> ExerciseRecord:
    """What the engine says of one exercise of a lesson of ours with this answer cell."""
    found = find_lesson(ROOT, lesson)
    one = found.exercise(exercise)
    notebook = read_notebook(found.source)
    notebook["cells"] = [c for c in notebook["cells"] if c["id"] in (SETUP, exercise, one.test_id)]
    source: list[dict[str, Any]] = [dict(cell) for cell in notebook["cells"]]
    visible, _ = split_regions(one.test_source, HIDDEN)
    put_source(notebook, one.test_id, "\n".join(visible))
    put_source(notebook, exercise, answer)
    return answers(grade(root, notebook["cells"], source, patient=True))[exercise]


@pytest.mark.parametrize("attack", ATTACKS)
def test_replacing_what_a_probe_calls_brings_no_points(tmp_path: Path, attack: str) -> None:
    lesson, exercise, answer = ATTACKS[attack]
    record = graded(tmp_path, lesson, exercise, answer)
    assert record.score <= MOST_SHARE * record.max
    assert record.checks


def test_an_error_that_names_every_pair_is_no_full_answer_to_flatten(tmp_path: Path) -> None:
    everything = "'0 and 1, 0 and 2, 1 and 2'"
    answer = (
        "def flatten(x):\n    try:\n        return x.view(-1)\n"
        f"    except RuntimeError:\n        raise ValueError({everything}) from None\n"
    )
    failed = [check.name for check in graded(tmp_path, "04", "flatten", answer).failed]
    assert "the pair named is the leftmost that cannot be merged" in failed


LINE = """

class Line:
    def __init__(self):
        self.w = 0.0

    def __call__(self, x):
        return self.w * x
"""
FITTED = """\
@probe
def trained(total, points):
    model = Line()
    total(model, points)
    return sum(abs(model(x) - y) for x, y in points)


check = Check("total")
check.equal(trained(answer("total"), [(1.0, 2.0), (2.0, 4.0)]).result, 0.0)
check.score(3)
"""


@pytest.mark.parametrize(
    ("body", "points"),
    [
        ("type(model).__call__.__globals__['sum'] = lambda *given: 0.0", 0.0),
        ("model.w = 2.0", 3.0),
    ],
)
def test_names_that_a_probe_looks_up_are_not_the_learners_to_change(
    tmp_path: Path, body: str, points: float
) -> None:
    source = exam_cells(setup=SETUP_OF_EXAM + LINE)
    source[3] = graded_cell("total", FITTED, 3)
    cells = list(source)
    cells[2] = solution("total", f"def total(model, points):\n    {body}\n")
    assert answers(grade(tmp_path, cells, source))["total"].score == points
