"""The code that measures stands beside the answer; editing it, or going round it, earns nothing.

Each attack is a submission that a learner could hand in for an exercise that forbids `mul`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.engine.kernel import cell_file_name
from autograder.records.model import Status
from tests.autograder.engine.exam import Cell, answers, code, grade, graded_cell, solution, words
from tests.exhaustive import sampled

SETUP = "import torch\nfrom course import Check, answer"
TEST = """\
twice = answer("twice")
check = Check("twice")
seen = twice(torch.arange(3.0))
check.equal(seen.result, torch.tensor([0.0, 2.0, 4.0]))
check.avoids(seen, "mul", name="without multiplication")
### BEGIN HIDDEN TESTS
seen = twice(torch.arange(4.0).view(2, 2).t())
check.equal(seen.result, torch.tensor([[0.0, 4.0], [2.0, 6.0]]))
check.avoids(seen, "mul", "aten::mul", name="without multiplication, whatever the layout")
### END HIDDEN TESTS
check.score(4)"""
RIGHT = "def twice(x):\n    return x + x"
WRONG = "def twice(x):\n    return x * 2"
FULL = 4.0
WITHOUT_ATTACK = 2.4  # for WRONG: the values, and that the call changes nothing else


def cells(answer: str, *before: str) -> list[Cell]:
    """The notebook with this answer, and with cells of the learner's own before it."""
    return [
        words("# Measured", "title"),
        code(SETUP, "setup", locked=True),
        *(code(source, f"own-{index}") for index, source in enumerate(before)),
        solution("twice", answer),
        graded_cell("twice", TEST, FULL),
    ]


def graded(root: Path, answer: str, *before: str) -> tuple[Status, float, str]:
    """Status, points and notes of the exercise."""
    outcome = grade(root, cells(answer, *before), cells("# YOUR CODE HERE"), patient=True)
    found = answers(outcome)["twice"]
    return found.status, found.score, " ".join(found.notes)


WALK = """\
import sys
def walk(visit):
    frame = sys._getframe()
    while frame:
        visit(frame)
        frame = frame.f_back
"""
# What a person is told of: the learner's code reached for frames, objects or memory.
NOTICED = {
    "a limit set through frames": WALK
    + """\
def twice(x):
    walk(lambda frame: frame.f_globals.__setitem__("LISTED_LIMIT", 0))
    return x * 2""",
    "a loop of its own, with the functions of the frames": WALK
    + """\
def twice(x):
    found = {}
    walk(lambda frame: found.update(frame.f_locals))
    _, number, _, _ = found["receive"], found["number"], 0, 0
    return x * 2""",
    "a tracer on the function that observes": WALK
    + """\
def tracer(frame, event, argument):
    return tracer
def twice(x):
    sys.settrace(tracer)
    walk(lambda frame: setattr(frame, "f_trace", tracer))
    return x * 2""",
    "all objects": """\
import importlib, sys
del sys.modules["gc"]
def twice(x):
    gc = importlib.import_module("gc")
    logs = [one for one in gc.get_objects() if type(one).__name__ == "_Operators"]
    return x * 2""",
    "frames, by what the hook asks of an object": """\
import sys
class Caller:
    @property
    def f_code(self):
        self.found = sys._getframe(2)
        raise ValueError
def twice(x):
    try:
        sys.audit("sys._getframe", Caller())
    except ValueError:
        pass
    return x * 2""",
    "a traceback's frame": """\
def twice(x):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame.f_back
    return x * 2""",
    "a generator's frame": """\
def steps():
    yield
def twice(x):
    running = steps()
    next(running)
    frame = running.gi_frame
    return x * 2""",
    "inspect": """\
import inspect
def twice(x):
    outer = inspect.currentframe().f_back
    return x * 2""",
    "inspect's stack": """\
import inspect
def twice(x):
    inspect.stack()
    return x * 2""",
    "the code of what copies frames": """\
import inspect
code = inspect.currentframe.__globals__["frames_of_a_cell"].__code__
def twice(x):
    return x * 2""",
    "logging": """\
import logging
def twice(x):
    outer = logging.currentframe()
    return x * 2""",
    "attrgetter": """\
import operator
def twice(x):
    try:
        raise ValueError
    except ValueError as error:
        frame = operator.attrgetter("__traceback__.tb_frame")(error)
    return x * 2""",
    "a signal's frame": """\
import os, signal
def handler(number, frame):
    frame.f_back.f_globals["LISTED_LIMIT"] = 0
def twice(x):
    signal.signal(signal.SIGUSR1, handler)
    os.kill(os.getpid(), signal.SIGUSR1)
    return x * 2""",
    "an audit hook of its own": """\
import sys
def twice(x):
    sys.addaudithook(lambda event, arguments: None)
    return x * 2""",
    "memory by address": """\
import ctypes
def twice(x):
    ctypes.string_at(id(x), 16)
    return x * 2""",
    "memory by address, in a method that the measuring code calls": """\
import ctypes, torch
original, calls = torch.Tensor.untyped_storage, []
def untyped_storage(tensor):
    calls.append(tensor)
    if len(calls) == 2:  # by what reads the bytes of tensors
        ctypes._string_at(id(tensor), 16)
    return original(tensor)
def twice(x):
    torch.Tensor.untyped_storage = untyped_storage
    return x * 2""",
    "code under a library's name": """\
import torch
def twice(x):
    source = "import sys\\nframe = sys._getframe(1)"
    exec(compile(source, torch.__file__, "exec"), {})
    return x * 2""",
    "code under the name of a probe": """\
exec(compile("def fault(torch):\\n    return torch.no_such_name", "<probe one>", "exec"))
def twice(x):
    import torch
    try:
        fault(torch)
    except AttributeError:
        return x * 2""",
    "frames, by a library that shows tracebacks": """\
import executing
def twice(x):
    try:
        raise LookupError
    except LookupError as error:
        executing.Source.executing(error.__traceback__)
    return x * 2""",
    "code under a name that says now this, now that": """\
class Name(str):
    asked = 0
    def startswith(self, *prefixes):
        Name.asked += 1
        return Name.asked > 1
def twice(x):
    import sys
    outer = sys._getframe(1)
    return x * 2
twice.__code__ = twice.__code__.replace(co_filename=Name("x"))""",
    "memory as a file": """\
class Path(str):
    def __str__(self):
        return "notes.txt"
def twice(x):
    open(Path("/proc/self/mem"), "rb").close()
    return x * 2""",
    "memory as a file of the working directory": """\
import os
def twice(x):
    here = os.getcwd()
    os.chdir("/proc/self")
    open("mem", "rb").close()
    os.chdir(here)
    return x * 2""",
    "memory as a file of another name": """\
import os
def twice(x):
    os.symlink("/proc/self/mem", "/tmp/notes.txt")
    open("/tmp/notes.txt", "r+b").close()
    return x * 2""",
    "memory as a file that an object names": """\
import os
class Notes:
    def __fspath__(self):
        return "/proc/self/mem"
def twice(x):
    os.close(os.open(Notes(), os.O_RDWR))
    return x * 2""",
    "a note of its own in the operator log": """\
import torch
def twice(x):
    note = torch._C._profiler._RecordFunctionFast
    with torch._C.DisableTorchFunction(), note("operator aten::add"), note("aten::add"):
        with torch._C._DisableTorchDispatch():
            return x * 2""",
    "no operator log for a while": """\
import torch
def twice(x):
    torch._C._autograd._enable_record_function(False)
    y = x * 2
    torch._C._autograd._enable_record_function(True)
    return y""",
    "an operator log that nobody writes": """\
import torch
def twice(x):
    torch._C._autograd._clear_callbacks()
    return x * 2""",
    "an operator of torch that does something else": """\
import torch
library = torch.library.Library("aten", "IMPL")
library.impl("add.Tensor", lambda a, b, alpha=1: a * 2, "CPU")
def twice(x):
    return x + x""",
    "an operator of torch that Python dispatches": """\
import torch
product = torch.ops.aten.mul.Tensor
torch.ops.aten.add.Tensor.py_impl(torch._C.DispatchKey.CPU)(lambda a, b, alpha=1: product(a, 2))
def twice(x):
    with torch._C._EnablePythonDispatcher():
        return x + x""",
    "frames, by a library's function that calls what it is given": """\
import functools, sys
def twice(x):
    frame = functools.singledispatch(sys._getframe)(1)
    return x * 2""",
    "all objects, by a thread where no cell's code is": """\
import gc
from concurrent.futures import ThreadPoolExecutor
everything = ThreadPoolExecutor(1).submit(gc.get_referrers, gc).result()
def twice(x):
    return x * 2""",
    "a traceback's frame, by a look at all its attributes": """\
import inspect
def twice(x):
    try:
        raise ValueError
    except ValueError as error:
        frame = dict(inspect.getmembers(error.__traceback__))["tb_frame"]
    return x * 2""",
    "IPython's local scope": """\
def twice(x):
    names = get_ipython().get_local_scope(4)
    return x * 2""",
    "IPython's local scope, by a magic": """\
from IPython.core.magic import needs_local_scope
@needs_local_scope
def peek(line, local_ns=None):
    pass
get_ipython().register_magic_function(peek, "line", "peek")
def twice(x):
    get_ipython().run_line_magic("peek", "", _stack_depth=2)
    return x * 2""",
    "IPython's helpers": """\
from IPython.utils.frame import extract_module_locals
def twice(x):
    module, names = extract_module_locals(2)
    return x * 2""",
    "TorchScript's look at a caller's names": """\
from torch._jit_internal import createResolutionCallbackFromFrame
def twice(x):
    look = createResolutionCallbackFromFrame(2)
    return x * 2""",
    "a task's stack": """\
import asyncio
def twice(x):
    async def stack():
        return asyncio.current_task().get_stack()
    frames = asyncio.run(stack())
    return x * 2""",
    "the frames of a greenlet": """\
import greenlet
def twice(x):
    found = []
    inner = greenlet.greenlet(lambda: found.append(greenlet.getcurrent().parent.gr_frame))
    inner.switch()
    return x * 2""",
    "compiled code of its own": """\
import importlib.util, shutil
from numpy.random import mtrand  # Python's own compiled modules may be built in
shutil.copy(mtrand.__file__, "/tmp/mine.so")
spec = importlib.util.spec_from_file_location("mtrand", "/tmp/mine.so")
module = importlib.util.module_from_spec(spec)
def twice(x):
    return x * 2""",
    "a profiler in Python": """\
import profile
def twice(x):
    profile.Profile().runcall(int)
    return x * 2""",
    "every frame, by what torch compiles with": """\
import torch
def twice(x):
    before = torch._C._dynamo.eval_frame.set_eval_frame(lambda frame, *_: None)
    torch._C._dynamo.eval_frame.set_eval_frame(before)
    return x * 2""",
    "every frame, by torch's own function for that": """\
import torch._dynamo.eval_frame
def twice(x):
    torch._dynamo.eval_frame._maybe_set_eval_frame(None)
    return x * 2""",
    "another operator log": """\
import torch
def twice(x):
    torch._C._autograd._disable_profiler_legacy()
    return x * 2""",
}


USUAL = (
    *(
        "a limit set through frames",
        "all objects",
        "a traceback's frame",
        "an audit hook of its own",
    ),
    *("memory by address", "memory as a file", "code under a library's name"),
    *("a note of its own in the operator log", "IPython's local scope"),
)


@pytest.mark.parametrize("attack", sampled(NOTICED, *USUAL, why="attacks of every kind"))
def test_reaching_for_what_measures_is_a_case_for_a_person(tmp_path: Path, attack: str) -> None:
    status, score, notes = graded(tmp_path, NOTICED[attack])
    assert (status, score) == (Status.TAMPERED, 0.0)
    assert "was not graded: " in notes


def test_no_code_of_a_learner_runs_where_the_hook_looks_away(tmp_path: Path) -> None:
    asked = """\
import sys
class Generation:
    def __index__(self):
        sys._getframe(1)
        return 0
def twice(x):
    sys.audit("pytorch-measured", "objects", (Generation(),), [])
    return x * 2"""
    status, score, _ = graded(tmp_path, asked)
    assert (status, score) == (Status.GRADED, 0.0)  # the call is refused


def test_the_note_names_the_cell_and_what_it_did(tmp_path: Path) -> None:
    _, _, notes = graded(tmp_path, RIGHT, "import gc\nfound = gc.get_referrers(gc)")
    assert notes == "Its test was not graded: Cell 3 used gc.get_referrers."


@pytest.mark.exhaustive("attacks that take seconds")
def test_the_note_says_each_thing_once_and_does_not_break_off(tmp_path: Path) -> None:
    often = "import gc, sys\nfor _ in range(30):\n    gc.get_referents(gc), sys._getframe()"
    _, _, notes = graded(tmp_path, RIGHT, often, *["gc.get_referrers(gc)"] * 4)
    assert notes == (
        "Its test was not graded: Cell 3 used gc.get_referents, used sys._getframe; "
        "Cell 4 used gc.get_referrers; Cell 5 used gc.get_referrers; and 2 more."
    )


SUBCLASSES = """\
import torch
def classes(base):
    for one in type.__subclasses__(base):
        yield one
        yield from classes(one)
def named(name):
    found = [one for one in classes(object) if type.__getattribute__(one, "__name__") == name]
    assert found, name
    return found
"""
# Noticed by the measuring code itself: what it is made of is not what it was.
CHANGED = {
    "a handler of the modes": SUBCLASSES
    + """\
def silent(self, func, types, args=(), kwargs=None):
    return func(*args, **(kwargs or {}))
for one in named("_Operators"):
    one.__torch_dispatch__ = silent
for one in named("_Functions"):
    one.__torch_function__ = silent
"""
    + WRONG,
    "what copies a cell's frames": """\
import inspect
frames, space = [], inspect.currentframe.__globals__
copied, space["_Frame"] = space["_Frame"], lambda frame, caller: frames.append(frame) or frames
inspect.currentframe()
space["_Frame"] = copied
assert frames[0].f_back
"""
    + WRONG,
    "a property in a class that had none": SUBCLASSES
    + """\
for one in named("_Operators"):
    one._flush = property(lambda self: None, lambda self, value: None)
"""
    + WRONG,
    "a limit": SUBCLASSES
    + """\
for one in named("Sessions"):
    one.start.__globals__["LISTED_LIMIT"] = 0
"""
    + WRONG,
    "other attributes of a constant": SUBCLASSES
    + """\
for one in named("LocalBackend"):
    limits = one.serve.__globals__["encode"].__globals__["LIMITS"]
    object.__setattr__(limits, "__dict__", {**vars(limits), "nbytes": 1})
"""
    + WRONG,
    "another class of a constant": SUBCLASSES
    + """\
for one in named("LocalBackend"):
    limits = one.serve.__globals__["encode"].__globals__["LIMITS"]
    kind = type(limits)
    object.__setattr__(limits, "__class__", type("Odd", (kind,), {"nbytes": 1}))
"""
    + WRONG,
    "a built-in function hidden by a new name": SUBCLASSES
    + """\
for one in named("NoteReader"):
    one.read.__globals__["set"] = lambda *a: type("S", (), {"update": print, "add": print})()
"""
    + WRONG,
    "encode, put back when it has served": SUBCLASSES
    + """\
def twice(x):
    for one in named("LocalBackend"):
        space = one.serve.__globals__["observe_to_wire"].__globals__
        encode = space["encode"]
        def lying(*args, **kwargs):
            space["encode"] = encode
            return encode(*args, **kwargs)
        space["encode"] = lying
    return x * 2""",
    "facts, by a class that is looked at in between": SUBCLASSES
    + """\
class Meta(type):
    @property
    def __name__(cls):
        for one in named("_Encoder"):
            one.tensor = lambda self, value: {"t": "absent", "why": "", "attempted": True}
        return "Odd"
class Odd(metaclass=Meta):
    pass
def twice(x):
    return (Odd(), x * 2)""",
}


# What reads the list of operators leaves products out, once: then all is as it was.
BLIND = (
    SUBCLASSES
    + """\
def blind():
    for one in named("NoteReader"):
        read = one.read
        def reading(self, events, read=read, one=one):
            one.read = read
            return read(self, [event for event in events if "mul" not in event.name()])
        if read.__name__ != "reading":
            one.read = reading
"""
)
REPLACED = {
    "a reader of the log, when the graph's tensors are unpacked": BLIND
    + """\
def unpack(tensor):
    blind()
    return tensor
def twice(x):
    x = x.clone().requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        return (x * 2).exp().log()""",
    "a reader of the log, which then is read at once": BLIND
    + """\
import torch.utils._python_dispatch as dispatch
def twice(x):
    y = x * 2
    blind()
    for mode in dispatch._get_current_dispatch_mode_stack():
        mode._flush()
    return y""",
    "anything, for a moment": SUBCLASSES
    + """\
def twice(x):
    for one in named("NoteReader"):
        read = one.read
        one.read = None
        one.read = read
    return x * 2""",
    "a reader of the log, when warnings are caught": BLIND
    + """\
import warnings
original = warnings._filters_mutated
def mutated():
    blind()
    original()
warnings._filters_mutated = mutated
"""
    + WRONG,
    "the record of a call, when warnings are no longer caught": SUBCLASSES
    + """\
import warnings
original, called = warnings._filters_mutated, []
def mutated():
    serve = named("LocalBackend")[0].serve
    space = serve.__globals__["observe_to_wire"].__globals__["run_recorded"].__globals__
    record = space["Recording"]
    def lying(**about):
        space["Recording"] = record
        called.clear()
        for key in ("operators", "functions", "composites"):
            about[key] = tuple(name for name in about[key] if "mul" not in name)
        return record(**about)
    if called:
        space["Recording"] = lying
    original()
warnings._filters_mutated = mutated
def twice(x):
    called.append(x)
    return x * 2""",
}


@pytest.mark.exhaustive("attacks that take seconds")
@pytest.mark.parametrize("attack", REPLACED)
def test_measuring_code_that_was_changed_for_a_moment_is_noticed(
    tmp_path: Path, attack: str
) -> None:
    status, score, _ = graded(tmp_path, REPLACED[attack])
    assert (status, score) == (Status.TAMPERED, 0.0)


# Runs in the middle of a request, and has the next function that is looked up tell no product.
LYING = (
    SUBCLASSES
    + """\
def lie():
    space = named("LocalBackend")[0].serve.__globals__
    observe = space["observe_to_wire"]
    def lying(*args, **kwargs):
        space["observe_to_wire"] = observe
        header, buffers = observe(*args, **kwargs)
        for key in ("operators", "functions", "composites"):
            header[key] = [one for one in header[key] if "mul" not in one]
        return header, buffers
    if observe.__name__ != "lying":
        space["observe_to_wire"] = lying
"""
)
CHANGED |= {
    "a method of storages that reading arguments calls": LYING
    + """\
def data_ptr(storage):
    lie()
    return torch._C.StorageBase.data_ptr(storage)
torch.UntypedStorage.data_ptr = data_ptr
"""
    + WRONG,
    "a method of tensors that has a first look, then puts back what it changed": SUBCLASSES
    + """\
original, readers = torch.Tensor.untyped_storage, []
def untyped_storage(tensor):
    for one in named("_Encoder"):
        readers.append((one, one._read))
        one._read = lambda self, *entry: {"nbytes": 12, "start": 0, "buffer": -1}
    while len(readers) > 4:
        one, read = readers.pop(0)
        one._read = read
    return original(tensor)
def twice(x):
    torch.Tensor.untyped_storage = untyped_storage
    return x * 2""",
}


CHANGES = ("a limit", "facts, by a class that is looked at in between", "a handler of the modes")


@pytest.mark.parametrize("attack", sampled(CHANGED, *CHANGES, why="attacks of every kind"))
def test_measuring_code_that_was_changed_is_noticed(tmp_path: Path, attack: str) -> None:
    status, score, _ = graded(tmp_path, CHANGED[attack])
    assert (status, score) in [(Status.TAMPERED, 0.0), (Status.CRASHED, 0.0)]


# Not noticed, and of no use: what the answer did is known all the same.
USELESS = {
    "the wrong answer alone": WRONG,
    "modes that are emptied": """\
import torch
import torch.utils._python_dispatch as dispatch
def twice(x):
    y = x * 2
    for mode in torch.overrides._get_current_function_mode_stack():
        vars(mode).pop("_scope", None)
    for mode in dispatch._get_current_dispatch_mode_stack():
        for value in vars(mode).values():
            getattr(value, "clear", int)()
    return y""",
    "a function of the standard library that serving calls": LYING
    + """\
import functools
original = functools.partial
def partial(function, *args, **kwargs):
    if type(getattr(function, "__self__", None)).__name__ == "LocalBackend":
        lie()
    return original(function, *args, **kwargs)
functools.partial = partial
"""
    + WRONG,
    "a class of the standard library that recording calls": LYING
    + """\
import contextlib
original = contextlib.redirect_stdout
def redirect_stdout(*args):
    lie()
    return original(*args)
contextlib.redirect_stdout = redirect_stdout
"""
    + WRONG,
    "a context manager's way in": """\
import contextlib
enter = contextlib.redirect_stdout.__enter__
contextlib.redirect_stdout.__enter__ = lambda self: enter(self)
"""
    + WRONG,
    "a frame that looks like a cell's": """\
SOURCE = "import inspect\\nassert inspect.currentframe().f_back is None"
def twice(x):
    exec(compile(SOURCE, "<ipython-input-1>", "exec"), {})
    return x * 2""",
    "torch functions switched off": """\
def twice(x):
    with torch._C.DisableTorchFunction():
        return x * 2""",
    "both modes switched off": """\
def twice(x):
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return x * 2""",
    "all modes taken off the stack": """\
import torch.utils._python_dispatch as dispatch
def twice(x):
    with dispatch._disable_current_modes():
        return x * 2""",
    "the operator by its other name": "def twice(x):\n    return torch.ops.aten.mul.Tensor(x, 2)",
    "a method of the base class": "def twice(x):\n    return torch._C.TensorBase.mul(x, 2)",
    "a function in C": "def twice(x):\n    return torch._C._VariableFunctions.mul(x, 2)",
    "a thread": """\
import threading
def twice(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(x * 2))
    thread.start()
    thread.join()
    return found[0]""",
    "a thread without threading": """\
import _thread, time
def twice(x):
    found = []
    _thread.start_new_thread(lambda: found.append(x * 2), ())
    while not found:
        time.sleep(0.001)
    return found[0]""",
    "a child process": """\
import os
def twice(x):
    x = x.contiguous().share_memory_()
    y = torch.zeros(x.shape).share_memory_()
    child = os.fork()
    if child == 0:
        y.copy_(x * 2)
        os._exit(0)
    os.waitpid(child, 0)
    return y""",
    "NumPy": "def twice(x):\n    return torch.from_numpy(x.numpy() * 2)",
    "NumPy by the buffer": """\
import numpy as np
def twice(x):
    return torch.from_numpy(np.asarray(x) * 2)""",
    "NumPy by DLPack": """\
import numpy as np
def twice(x):
    return torch.from_numpy(np.from_dlpack(x) * 2)""",
}


DETOURS = ("the wrong answer alone", "both modes switched off", "a thread", "NumPy")


@pytest.mark.parametrize("attack", sampled(USELESS, *DETOURS, why="attacks of every kind"))
def test_going_round_what_measures_earns_no_more_than_the_wrong_answer(
    tmp_path: Path, attack: str
) -> None:
    _, score, _ = graded(tmp_path, USELESS[attack])
    assert score <= WITHOUT_ATTACK


SERVING = """\
import json, os, struct
HEAD = struct.Struct("<4sBxHQI")
def answer_all(fd, reply):
    while True:
        _, _, count, number, nbytes = HEAD.unpack(os.read(fd, HEAD.size))
        rest = os.read(fd, 8 * count + nbytes + 2**16)
        text, buffers = reply
        start = HEAD.pack(b"PMf1", 36, len(buffers), number, len(text))
        sizes = b"".join(struct.pack("<Q", len(one)) for one in buffers)
        os.write(fd, start + sizes + text + b"".join(buffers))
def twice(x):
    if os.fork() == 0:
        for fd in range(3, 64):
            try:
                if os.fstat(fd).st_mode & 0o170000 == 0o140000:  # a socket
                    body = b'{"header":{},"before":0,"intact":true,"notices":[]}'
                    answer_all(fd, (body, [b"0" * 16]))
            except OSError:
                pass
        os._exit(0)
    return x * 2"""


def test_a_loop_of_its_own_cannot_sign_what_it_sends(tmp_path: Path) -> None:
    _, score, _ = graded(tmp_path, SERVING)  # which of the two loops reads a request is chance
    assert score <= WITHOUT_ATTACK


HONEST = {
    "nothing special": "",
    "classes": """\
import dataclasses, collections, enum, typing
@dataclasses.dataclass(frozen=True)
class Point:
    x: int = 0
Pair = collections.namedtuple("Pair", "a b")
class Colour(enum.Enum):
    RED = 1
class Typed(typing.NamedTuple):
    a: int
T = typing.TypeVar("T")
print(Point(1), Pair(1, 2), Colour.RED, Typed(3))""",
    "a training step": """\
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.ones(2, 3)).sum().backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
model.load_state_dict(torch.load("model.pt"))""",
    "a loader with workers": """\
from torch.utils.data import DataLoader, TensorDataset
for batch in DataLoader(TensorDataset(torch.arange(8.0)), batch_size=2, num_workers=2):
    print(batch)""",
    "an operator of one's own": """\
@torch.library.custom_op("mine::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2
double(torch.ones(3))
library = torch.library.Library("mine", "FRAGMENT")
library.define("triple(Tensor x) -> Tensor")
library.impl("triple", lambda x: x * 3, "CPU")
torch.ops.mine.triple(torch.ones(3))""",
    "a task, a pool and a magic": """\
import asyncio, inspect
from concurrent.futures import ThreadPoolExecutor
async def soon():
    await asyncio.sleep(0)
    return 1
print(asyncio.new_event_loop().run_until_complete(soon()))
print(list(ThreadPoolExecutor(2).map(abs, [-1, 2])))
print(inspect.getmembers(soon, inspect.iscoroutinefunction))
get_ipython().run_line_magic("timeit", "-n1 -r1 1 + 1")""",
    "a compiled function": """\
@torch.jit.script
def double(x: torch.Tensor):
    return x + x
print(double(torch.ones(2)), torch.func.vmap(torch.sum)(torch.ones(2, 2)))""",
    "an autograd function": """\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + x
    @staticmethod
    def backward(ctx, g):
        return g + g
Double.apply(torch.ones(2, requires_grad=True)).sum().backward()""",
    "functions replaced for a look": """\
import math, random, time
torch.Tensor.__repr__ = lambda self: f"a tensor of shape {tuple(self.shape)}"
torch.Tensor.halved = lambda self: self / 2
call = torch.nn.Module.__call__
torch.nn.Module.__call__ = lambda self, *args, **kwargs: call(self, *args, **kwargs)
random.choice = lambda options: options[0]
time.sleep = lambda seconds: None
torch.rand = lambda *shape: torch.zeros(shape)
print(torch.ones(2).halved(), torch.nn.Linear(2, 2)(torch.rand(1, 2)))""",
    "copies and pickles": """\
import copy, pickle
copy.deepcopy(torch.nn.Linear(2, 2))
pickle.loads(pickle.dumps([torch.ones(2), {"a": 1}]))""",
    "generators, closures and context managers": """\
import contextlib, functools, itertools
@contextlib.contextmanager
def timed():
    yield
@functools.lru_cache
def cached(n):
    return list(itertools.islice((i for i in range(100)), n))
with timed():
    cached(3)""",
    "looking at functions": """\
import inspect
def own(a, b=1):
    return a
print(inspect.signature(own), own.__code__.co_varnames, inspect.signature(torch.nn.Linear))
print(inspect.getdoc(torch.relu)[:20])""",
    "an iterator that is thrown away": """\
from torch.utils.data import DataLoader
try:
    for _ in DataLoader([1, 2], timeout=1, num_workers=0):
        pass
except (AssertionError, ValueError) as error:
    print(error)""",
    "errors": """\
import logging, traceback, warnings
try:
    torch.ones(2) @ torch.ones(3)
except RuntimeError:
    print(traceback.format_exc())
logging.getLogger("mine").warning("careful")
warnings.warn("once")""",
    "an error that leaves the cell": "torch.ones(2) @ torch.ones(3)",
    "a forgotten breakpoint": "x = 1\nbreakpoint()",
    "a forgotten debugger": "import pdb\npdb.set_trace()\nx = 1",
    "IPython's debugger": "from IPython.core.debugger import set_trace\nset_trace()",
    "a debugger of its own": "import pdb\npdb.Pdb().set_trace()",
    "where one is": """\
import inspect, traceback
class Looking(torch.nn.Module):
    def forward(self, x):
        frame = inspect.currentframe()
        print(frame.f_lineno, frame.f_back.f_code.co_name, inspect.getframeinfo(frame).function)
        print([one.function for one in inspect.stack()])
        return x
Looking()(torch.ones(1))
traceback.print_stack(inspect.currentframe())
frame = inspect.currentframe()
assert frame.f_code.co_name == "<module>" and frame.f_back is None""",
    "torch's compilers": """\
double = torch.compile(lambda x: x + x, backend="eager")
class Doubling(torch.nn.Module):
    def forward(self, x):
        return x + x
print(double(torch.ones(3)), torch.export.export(Doubling(), (torch.ones(3),)))""",
    "measuring time": """\
import cProfile, time, timeit
print(timeit.timeit(lambda: torch.ones(3), number=10), time.perf_counter())
profile = cProfile.Profile()
profile.runcall(torch.ones, 3)""",
    "torch's profiler": """\
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU]) as seen:
    torch.ones(3) + 1
print(seen.key_averages().table(row_limit=3))""",
    "a figure": """\
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.show()""",
    "tensors that live": """\
import gc
layer = torch.nn.Linear(2, 3)
found = [one for one in gc.get_objects() if torch.is_tensor(one)]
assert any(one is layer.weight for one in found)
assert any(one is layer for one in gc.get_objects())
others = [one for one in gc.get_objects() if not isinstance(one, torch.Tensor | torch.nn.Module)]
assert others == []""",
    "a profiler that is left on": """\
profile = torch.profiler.profile()
profile.start()
torch.ones(3) + 1""",
    "memory": "import gc, sys\ngc.collect()\nprint(sys.getsizeof([]), sys.getrefcount([]))",
    "another program": "!echo hello\nimport subprocess\nsubprocess.run(['true'], check=True)",
    "what the course offers": """\
from course import facts
from course.testing.observe import observe
print(facts(torch.ones(2)), observe(torch.relu, torch.ones(2)).operators)""",
}


LESSON_CELL = "import gc\ngc.get_referrers([])"


def test_a_cell_of_the_lesson_itself_may_do_what_it_does(tmp_path: Path) -> None:
    source = cells("# YOUR CODE HERE", LESSON_CELL)
    outcome = grade(tmp_path, cells(RIGHT, LESSON_CELL), source, patient=True)
    assert (outcome.record.status, outcome.record.score) == (Status.GRADED, FULL)


def test_code_under_the_name_of_a_cell_of_the_lesson_is_noticed(tmp_path: Path) -> None:
    name = cell_file_name(LESSON_CELL)
    disguised = f"exec(compile('import gc; gc.get_referrers(gc)', {name!r}, 'exec'))"
    source = cells("# YOUR CODE HERE", LESSON_CELL)
    outcome = grade(tmp_path, cells(RIGHT, LESSON_CELL, disguised), source, patient=True)
    assert outcome.record.status is Status.TAMPERED


def test_a_debugger_in_an_answer_is_an_error_of_that_line(tmp_path: Path) -> None:
    outcome = grade(tmp_path, cells("def twice(x):\n    breakpoint()\n    return x + x"), cells(""))
    found = answers(outcome)["twice"]
    assert (found.status, found.score) == (Status.GRADED, 0.0)
    assert "nobody is there to answer" in found.failed[0].message
    assert "(line 2: `breakpoint()`)" in found.failed[0].message


@pytest.mark.exhaustive("attacks that take seconds")
@pytest.mark.parametrize("backend", ["inductor", "eager"])
def test_an_answer_that_is_compiled_is_measured_as_it_was_written(
    tmp_path: Path, backend: str
) -> None:
    compiled = f"@torch.compile(backend={backend!r})\n{RIGHT}"
    assert graded(tmp_path, compiled) == (Status.GRADED, FULL, "")


HARMLESS = (
    "a training step",
    "looking at functions",
    "errors",
    "a forgotten breakpoint",
    "a figure",
)


@pytest.mark.parametrize("what", sampled(HONEST, *HARMLESS, why="honest code of every kind"))
def test_honest_code_is_not_noticed(tmp_path: Path, what: str) -> None:
    assert graded(tmp_path, RIGHT, HONEST[what]) == (Status.GRADED, FULL, "")
