"""What an answer does elsewhere or later is known too, or of no use.

Each attack is a submission for an exercise that forbids `mul`, as in `test_measuring`, and has a
product made where nobody records: by a process or a thread that waits for it, in an operator of
its own, or once the recording is over.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.records.model import Status
from course.testing.points import MOST_SHARE
from tests.attacks.test_measuring import FULL, RIGHT, WITHOUT_ATTACK, graded

WAITING_PROCESS = """\
import os, select, torch
asks, told = os.pipe(), os.pipe()
shared = {n: [torch.zeros(n).share_memory_() for _ in range(2)] for n in (3, 4)}
if os.fork() == 0:
    while True:
        given, made = shared[os.read(asks[0], 1)[0]]
        made.copy_(given * 2)
        os.write(told[1], b"!")"""
ASKING = """\
def twice(x):
    given, made = shared[x.numel()]
    given.copy_(x.reshape(-1))
    os.write(asks[1], bytes([x.numel()]))
    select.select([told[0]], [], [], 2)
    return made.clone().view(x.shape)"""
THREAD = """\
import os, threading, queue
asks, told = queue.SimpleQueue(), queue.SimpleQueue()
def work():
    while True:
        told.put(asks.get() * 2)
def begin():
    threading.Thread(target=work, daemon=True).start()
"""
ATTACKS = {
    "a process that an earlier cell left": (ASKING, WAITING_PROCESS),
    "a thread that begins with the snapshot": (
        THREAD + "os.register_at_fork(after_in_child=begin)\n"
        "def twice(x):\n    asks.put(x)\n    return told.get()",
    ),
    "an operator of its own": (
        """\
import torch
@torch.library.custom_op("mine::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2
def twice(x):
    return double(x)""",
    ),
    "an operator of its own, modes off": (
        """\
import torch
library = torch.library.Library("mine", "DEF")
library.define("double(Tensor x) -> Tensor")
library.impl("double", lambda x: x * 2, "CPU")
def twice(x):
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return torch.ops.mine.double(x)""",
    ),
    "a warning that is read later": (
        """\
import torch, warnings
def twice(x):
    y = torch.zeros(x.shape)
    class Late(UserWarning):
        def __str__(self):
            if not torch._C._len_torch_dispatch_stack():
                y.copy_(x * 2)
            return "late"
    warnings.warn(Late())
    return y""",
    ),
    "a warning that is thrown away later": (
        """\
import torch, warnings
def twice(x):
    y = torch.zeros(x.shape)
    class Late(UserWarning):
        def __del__(self):
            y.copy_(x * 2)
    warnings.warn(Late())
    return y""",
    ),
    "a saved tensor that is unpacked later": (
        """\
import torch
def twice(x):
    y = torch.zeros(x.shape)
    def unpack(saved):
        if not torch._C._len_torch_dispatch_stack():
            y.data.copy_(x * 2)
        return saved
    w = torch.zeros(x.shape, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, unpack):
        z = w.exp()
    y = y + (z - z)
    return y""",
    ),
    "garbage that is collected later": (
        """\
import gc, torch
work = []
def late(phase, info):
    if work and not torch.autograd._profiler_enabled():
        y, x = work.pop()
        y.copy_(x * 2)
gc.callbacks.append(late)
def twice(x):
    y = torch.zeros(x.shape)
    work.append((y, x))
    gc.set_threshold(1, 1, 1)
    return y""",
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_product_that_is_made_elsewhere_earns_no_more_than_the_wrong_answer(
    tmp_path: Path, attack: str
) -> None:
    answer, *before = ATTACKS[attack]
    status, score, _ = graded(tmp_path, answer, *before)
    assert status is Status.GRADED
    assert score <= WITHOUT_ATTACK


BY_HEART = """\
import torch
def twice(x):
    if torch._C._len_torch_dispatch_stack():
        return torch.tensor([0.0, 2.0, 4.0])
    return x * 2"""


def test_an_answer_by_heart_where_somebody_records_fails_the_hidden_calls_that_are_recorded(
    tmp_path: Path,
) -> None:
    status, score, _ = graded(tmp_path, BY_HEART)
    assert status is Status.GRADED
    assert score == MOST_SHARE * FULL < WITHOUT_ATTACK  # no other hidden call is right here


def test_a_thread_that_the_first_call_starts_is_known_in_the_second(tmp_path: Path) -> None:
    answer = (
        THREAD
        + """\
running = []
def twice(x):
    if not running:
        running.append(begin())
    asks.put(x)
    return told.get()"""
    )
    assert graded(tmp_path, answer)[1] <= WITHOUT_ATTACK


def test_what_an_honest_cell_leaves_running_costs_nothing(tmp_path: Path) -> None:
    left = """\
import subprocess, threading, time
subprocess.Popen(["sleep", "1000"])
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()"""
    assert graded(tmp_path, RIGHT, left) == (Status.GRADED, 4.0, "")
