"""Whatever a notebook does to Python, torch, IPython or the course: points come from the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.records.model import Status
from autograder.records.runner import Outcome
from tests.autograder.engine.exam import (
    SECRET,
    TOTAL,
    WRONG,
    answers,
    code,
    exam_cells,
    grade,
    graded_cell,
    shown,
    solution,
)

WITHOUT_ATTACK = 0.0  # the points of WRONG: that it leaves its argument unchanged is no work
EARNED = {"changed input": 1.0}  # it changes its argument and is right about what it sees then

PATCHED_TORCH = """\
import torch
for owner in (torch, torch.Tensor):
    for name in ("equal", "allclose", "isclose", "eq", "all", "any", "__eq__", "__bool__"):
        if hasattr(owner, name):
            setattr(owner, name, lambda *a, **k: True)
torch.Tensor.tolist = lambda self: 3.0
torch.testing.assert_close = lambda *a, **k: None
"""
PATCHED_COMPARISONS = "import math, operator\nmath.isclose = operator.eq = lambda *a, **k: True\n"
LYING_BUILTINS = dict.fromkeys(("all", "any", "bool", "isinstance", "issubclass"), True)
LYING_BUILTINS |= {"abs": 0, "float": 3.0, "len": 3, "sum": 3.0}
STRIPPED = """\
import ast
class Strip(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Expr(self, node):
        text = ast.unparse(node)
        return ast.parse("3.0").body[0] if "check" in text else node
get_ipython().ast_transformers.append(Strip())
get_ipython().input_transformers_post.append(lambda lines: ["3.0\\n"])
get_ipython().input_transformer_manager.cleanup_transforms.append(lambda lines: ["3.0\\n"])
"""
HOOKED = """\
shell = get_ipython()
shell.events.register("pre_run_cell", lambda info: setattr(info, "raw_cell", "3.0"))
shell.events.register("post_run_cell", lambda result: setattr(result, "error_in_exec", None))
type(shell).run_cell = lambda self, *a, **k: None
shell.showtraceback = lambda *a, **k: None
"""
PUBLISHED = """\
from IPython.display import display
table = {"exercise": "total", "status": "graded", "score": 3.0, "max": 3.0, "checks": []}
display({"text/plain": "all right"}, raw=True, metadata={"pytorch-measured": table})
get_ipython().displayhook(3.0)
"""
EQUAL_TO_ALL = """\
class Same(float):
    __eq__ = __ge__ = __le__ = lambda self, other: True
    __hash__ = None
    __sub__ = __rsub__ = lambda self, other: 0.0
def total(x):
    return Same()
"""
EQUAL_TENSOR = """\
import torch
class Same(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return True
def total(x):
    return torch.zeros(()).as_subclass(Same)
"""
COURSE_PATCHED = """\
import course, course.testing.checks, course.testing.answers, course.inspection.facts
import course.testing.observe, course.serialization
course.testing.checks.Check.score = lambda self, points: points
course.Check = course.testing.checks.Check
course.testing.answers.use_backend(None)
measuring = course.inspection.facts, course.testing.observe, course.testing.answers
for module in (*measuring, course.serialization):
    for name in list(vars(module)):
        if callable(getattr(module, name)) and not name.startswith("__"):
            setattr(module, name, lambda *a, **k: 3.0)
"""
RENAMED = (
    "answer = lambda name: (lambda *a: 3.0)\nclass Check:\n    score = lambda s, p: p\ncheck = 3\n"
)
TRACED = """\
import sys, threading
def trace(frame, event, arg):
    if "check" in frame.f_code.co_filename:
        frame.f_locals["points"] = 3.0
    return trace
sys.settrace(trace); sys.setprofile(lambda *a: None); threading.settrace(trace)
"""
JSON_PATCHED = """\
import json, struct, os, io
json.dumps = lambda *a, **k: "{}"
json.loads = lambda *a, **k: {}
json.JSONEncoder.encode = lambda *a, **k: "{}"
json.encoder.c_make_encoder = None
struct.Struct = None
os.read = os.write = os.fork = os._exit = lambda *a: 0
"""
MODULES_REMOVED = """\
import sys
for name in list(sys.modules):
    if name.startswith(("course", "autograder", "json", "struct")):
        del sys.modules[name]
"""
BUILTINS_REMOVED = "import builtins\ndel builtins.isinstance, builtins.len, builtins.getattr\n"
ATTACKS = {
    "patched torch": PATCHED_TORCH + WRONG,
    "patched comparisons": PATCHED_COMPARISONS + WRONG,
    "stripped checks": STRIPPED + WRONG,
    "hooked shell": HOOKED + WRONG,
    "published table": PUBLISHED + WRONG + "3.0",
    "equal to all": EQUAL_TO_ALL,
    "equal tensor": EQUAL_TENSOR,
    "patched course": COURSE_PATCHED + WRONG,
    "renamed": RENAMED + WRONG,
    "traced": TRACED + WRONG,
    "patched json": JSON_PATCHED + WRONG,
    "modules removed": MODULES_REMOVED + WRONG,
    "builtins removed": WRONG + BUILTINS_REMOVED,
    "changed input": "def total(x):\n    x.zero_()[0:1].fill_(3)\n    return x.max()",
}

ATTACKS |= {
    f"lying {name}": f"import builtins\nbuiltins.{name} = lambda *a, **k: {lie!r}\n{WRONG}"
    for name, lie in LYING_BUILTINS.items()
}
# What an attack costs the honest exercise after it, where it costs anything: the notebook is not
# as it was, and that is the learner's own doing.
COSTS = {
    "stripped checks": (Status.GRADED, 0.0),
    "hooked shell": (Status.CRASHED, 0.0),
    "lying len": (Status.GRADED, 0.0),
    "traced": (Status.TAMPERED, 0.0),
}


def assert_nothing_leaked(outcome: Outcome) -> None:
    """Neither outputs nor record hold the text, the inputs or the results of the hidden test."""
    assert outcome.notebook is not None
    outputs = [cell.outputs for cell in outcome.notebook.cells if cell.cell_type == "code"]
    record = {**outcome.record.to_json(), "seconds": 0}  # any digits
    text = json.dumps([outputs, record])
    for secret in (SECRET, "4711", "4724"):
        assert secret not in text


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_on_python_torch_or_the_course_brings_no_points(
    tmp_path: Path, attack: str
) -> None:
    outcome = grade(tmp_path, exam_cells(total=ATTACKS[attack]))
    assert answers(outcome)["total"].score <= EARNED.get(attack, WITHOUT_ATTACK)
    assert "pytorch-measured" not in shown(outcome, "total")
    twice = answers(outcome)["twice"]
    assert (twice.status, twice.score) == COSTS.get(attack, (Status.GRADED, 2.0))
    assert_nothing_leaked(outcome)


def test_the_answer_of_an_attack_that_fails_is_still_judged_by_its_worth(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total=PATCHED_TORCH + COURSE_PATCHED + TOTAL))
    assert answers(outcome)["total"].score == 3.0


FORGE = f"""\
import os, struct, threading, time
def forge():
    head = struct.pack("<4sBxHQI", b"PMf1", 36, 0, 1, 2) + b"{{}}"
    while True:
        for fd in range(3, 256):
            try:
                os.write(fd, head)
            except OSError:
                pass
        time.sleep(0.01)
{WRONG}"""


@pytest.mark.parametrize(
    "when",
    [
        "threading.Thread(target=forge, daemon=True).start()\ntime.sleep(0.2)",
        "if os.fork() == 0:\n    forge()\ntime.sleep(0.2)",
        "os.register_at_fork(after_in_child=lambda: threading.Thread(target=forge).start())",
    ],
    ids=["thread", "child", "snapshot"],
)
def test_forged_frames_are_tampering_and_bring_no_points(tmp_path: Path, when: str) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"{FORGE}\n{when}"))
    assert answers(outcome)["total"].score <= WITHOUT_ATTACK
    assert outcome.record.status in (Status.TAMPERED, Status.CRASHED, Status.TIMEOUT)


FALSE_FACTS = """\
import torch, sys
def total(x):
    return x.sum()
def twice(x):
    x += x
    return x
"""


@pytest.mark.parametrize(
    "patch",
    [
        "import torch.utils._pytree as p\np.tree_leaves = lambda *a, **k: []",
        "import torch.utils._python_dispatch as d\n"
        "d.TorchDispatchMode.__enter__ = lambda self: self",
        "import torch.overrides as o\no.TorchFunctionMode.__exit__ = lambda *a: None",
        # through the frames of the process that called the answer
        "import sys\n"
        "def lie(x):\n"
        "    frame = sys._getframe()\n"
        "    while frame:\n"
        "        for name in ('facts', 'encode', 'run_recorded', '_read'):\n"
        "            if name in frame.f_globals:\n"
        "                frame.f_globals[name] = frame.f_globals[name].__class__(\n"
        "                    (lambda *a, **k: 1).__code__, {})\n"
        "        frame = frame.f_back\n"
        "    return x * 2\n"
        "twice = lie",
    ],
    ids=["pytree", "dispatch mode", "function mode", "frames"],
)
def test_replacing_what_measures_is_noticed(tmp_path: Path, patch: str) -> None:
    outcome = grade(tmp_path, exam_cells(twice=f"def twice(x):\n    return x * 2\n{patch}"))
    twice = answers(outcome)["twice"]
    assert (twice.status, twice.score) in [(Status.TAMPERED, 0.0), (Status.CRASHED, 0.0)]


def test_cells_that_claim_points_of_their_own_count_nothing(tmp_path: Path) -> None:
    cells = [*exam_cells(total=WRONG), graded_cell("bonus", "100.0", 100)]
    outcome = grade(tmp_path, cells)
    assert (outcome.record.score, outcome.record.max) == (WITHOUT_ATTACK + 2.0, 5.0)
    assert any("`test-bonus` is marked as graded" in note for note in outcome.record.notes)


def test_a_rewritten_test_cell_is_not_what_runs(tmp_path: Path) -> None:
    cells = exam_cells(total=WRONG)
    cells[3]["source"] = "3.0"
    cells[3]["metadata"]["nbgrader"]["points"] = 300
    outcome = grade(tmp_path, cells)
    assert answers(outcome)["total"].score == WITHOUT_ATTACK
    assert any("`test-total` was changed" in note for note in outcome.record.notes)


SHOWN_TWICE = """\
total = answer("total")
check = Check("total")
check.equal(total(torch.arange(3.0)).result, torch.tensor(3.0))
### BEGIN HIDDEN TESTS
seen = total(torch.arange(3.0))
check.equal(seen.result, torch.tensor(3.0), weight=3)
check.that(lambda: seen.result.facts.shape == (), weight=3)
check.equal(total(torch.arange(5.0)).result, torch.tensor(10.0), weight=3)
### END HIDDEN TESTS
check.score(3)"""


def test_a_hidden_check_that_asks_the_visible_call_again_is_no_work(tmp_path: Path) -> None:
    source = exam_cells()
    source[3] = graded_cell("total", SHOWN_TWICE, 3)
    by_heart = "def total(x):\n    return torch.tensor({3: 3.0}.get(len(x), 0.0))"
    for name, answer, points in (("by heart", by_heart, 0.6), ("right", TOTAL, 3.0)):
        cells = [*source[:2], solution("total", answer), *source[3:]]
        found = answers(grade(tmp_path / name, cells, source))["total"]
        assert (found.score, found.checks[1].passed) == (points, True)


ODD_RESULTS = {
    "nested": "x = []\n    for _ in range(100_000):\n        x = [x]\n    return x",
    "cyclic": "x = []\n    x.append(x)\n    return x",
    "endless": "return iter(int, 1)",
    "long number": "return 10 ** 100_000",
    "large": "return torch.zeros(40_000_000)",
    "large text": "return 'x' * 200_000_000",
    "many": "return list(range(3_000_000))",
    "surrogate": "return '\\ud800'",
    "nan": "return float('nan')",
    "sparse": "return torch.eye(3).to_sparse()",
    "meta": "return torch.zeros(3, device='meta')",
    "expanded": "return torch.zeros(1).expand(10**9)",
    "quantised": "return torch.quantize_per_tensor(torch.zeros(3), 0.1, 0, torch.qint8)",
    "raising": "class R:\n        def __getattribute__(self, name): raise SystemExit\n"
    "    return R()",
    "leaving": "import os\n    class R:\n        __class__ = property(lambda s: os._exit(0))\n"
    "    return R()",
    "code": "return (lambda: 1).__code__",
}


@pytest.mark.parametrize("result", ODD_RESULTS)
def test_no_result_is_odd_enough_to_stop_the_grader(tmp_path: Path, result: str) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"def total(x):\n    {ODD_RESULTS[result]}"))
    assert answers(outcome)["total"].score <= WITHOUT_ATTACK
    assert answers(outcome)["total"].status is not Status.INFRASTRUCTURE
    assert answers(outcome)["twice"].score == 2.0


def test_hidden_inputs_cannot_be_carried_into_an_output(tmp_path: Path) -> None:
    keep = """\
import mmap, os
file = open("/tmp/shared", "w+b")
file.truncate(4096)
seen, shared = [], mmap.mmap(file.fileno(), 4096)
def total(x):
    seen.append(x.tolist())
    shared.seek(0); shared.write(repr(seen).encode())
    open("/tmp/seen", "a").write(repr(x.tolist()))
    print(x.tolist()); os.system(f"echo {x.tolist()}")
    return x.sum()"""
    tell = "print(seen, bytes(shared[:400]))\n!cat /tmp/seen"
    cells = [*exam_cells(total=keep), code(tell, "tell")]
    outcome = grade(tmp_path, cells)
    assert answers(outcome)["total"].score == 3.0
    assert_nothing_leaked(outcome)
