"""A cell that only shows runs where something in the submission may need it, and else not."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.lessons.cell_bounds import CellBounds
from autograder.lessons.cell_dependencies.cell_names import mentioned
from autograder.lessons.cell_dependencies.unneeded_cells import (
    ShownCells,
    draws,
    said_by_code,
    shows,
)
from tests.autograder.engine.exam import Cell, code

SETUP = code("import torch\nfrom course import observe\nlimit = [3]", "setup", locked=True)
MORE = code("import json", "more")
ANSWER = code("def total(x):\n    return x.sum()", "total", solution=True)
TEST = code("seen = answer('total')(rows)", "test-total", grade=True, locked=True)


def showing(source: str, id_: str) -> Cell:
    cell = code(source, id_)
    cell["metadata"]["course"] = {"role": "measure", "shows": True}
    return cell


LESSON = [
    SETUP,
    showing("rows = torch.arange(6)\nprint(rows)", "made"),
    showing("print(rows.stride())", "looked-at"),
    showing("print(torch.zeros(limit))", "apart"),
    showing("print(torch.ones(2))", "alone"),
    code("limit.append(1)", "changes"),
    ANSWER,
    TEST,
]
NUMBER = {cell["id"]: number for number, cell in enumerate(LESSON)}


def left_out(*changes: Cell, apart: bool = True) -> set[str]:
    """The ids that are left out where `changes` replace cells of the same id or follow at last."""
    new = {cell["id"]: cell for cell in changes}
    cells = [new.pop(cell["id"], cell) for cell in LESSON] + list(new.values())
    found = ShownCells(LESSON).left_out(cells, {NUMBER["test-total"]} if apart else ())
    return {cells[number]["id"] for number in found}


def test_what_nothing_needs_is_left_out_and_what_the_set_up_cell_made_is_needed() -> None:
    assert left_out() == {"made", "looked-at", "alone"}


def test_who_uses_a_name_has_every_cell_run_that_shares_it() -> None:
    # looked-at may change what made has made, so both run.
    assert left_out(code("def total(x):\n    return rows.sum()", "total")) == {"alone"}
    assert left_out(code("print(rows)", "own")) == {"alone"}


OWN = "rows = []\nfor row in (1, 2):\n    rows = rows + [row]"


@pytest.mark.parametrize(
    ("cells", "left"),
    [
        ([OWN], {"made", "looked-at", "alone"}),
        (["if limit:\n    rows = []", "print(row)"], {"alone"}),  # or they stay what they were
        (["rows = rows + []"], {"alone"}),
        (["def last():\n    return rows\nrows = []"], {"alone"}),  # it asks for them later
        ([OWN, "print(rows)"], {"alone"}),
        (["other = rows = []", "print(other)"], {"alone"}),  # what is the same under two names
        (["try:\n    f()\nexcept E as rows:\n    print(rows)"], {"made", "looked-at", "alone"}),
        (["try:\n    rows\nexcept E as rows:\n    print(rows)"], {"alone"}),
    ],
)
def test_a_name_that_a_cell_binds_before_it_reads_it_is_shared_with_readers_alone(
    cells: list[str], left: set[str]
) -> None:
    found = left_out(*(code(text, f"own-{n}") for n, text in enumerate(cells)))
    assert found == left


def test_the_set_up_cells_constants_are_everybodys() -> None:
    setup = code("import torch\nMIB, rows = 2**20, [1]", "setup", locked=True)
    lesson = [setup, showing("print(rows, MIB)", "both"), showing("print(MIB)", "one")]

    def kept(own: str) -> frozenset[int]:
        return ShownCells(lesson).left_out([*lesson, code(own, "own")], ())

    assert kept("print(-MIB)") == {1, 2}
    assert kept("print(rows, 1)") == {2}
    assert kept("MIB = 1") == set()  # proved with what the set-up cell made of it


def test_more_text_than_anyone_writes_is_not_read_and_has_every_cell_run() -> None:
    many = [code("a = 0\n" * 10_000, f"own-{n}") for n in range(4)]
    assert left_out(*many[:1]) == {"made", "looked-at", "alone"}
    assert left_out(*many) == set()
    assert mentioned("a = 0\n" * 40_000) is None
    # Python would put these marks in order for minutes; a rule of dashes is nothing.
    assert mentioned("a" + "\u0301\u0323" * 90_000 + " = 1") is None
    assert mentioned("# " + "\u2500" * 70 + "\na = 0") == {"a"}


def test_a_name_of_a_parameter_is_not_the_notebooks() -> None:
    assert "made" in left_out(code("def total(rows):\n    return rows.sum()", "total"))


def test_a_test_that_runs_beside_the_answer_sees_the_notebooks_names() -> None:
    assert left_out(apart=False) == {"alone"}


def test_a_text_may_be_a_name() -> None:
    assert left_out(code("def total(x):\n    return find('rows')", "total")) == {"alone"}


def test_a_cell_that_was_changed_runs_and_what_it_shares_names_with() -> None:
    assert left_out(code("print(rows.stride(), 1)", "looked-at")) == {"alone"}
    assert left_out(code("print(torch.ones(3))", "alone")) == {"made", "looked-at"}


def test_an_answer_that_a_shown_cell_uses_has_it_run() -> None:
    assert left_out(code("def rows(x):\n    return x", "total")) == {"alone"}


@pytest.mark.parametrize(
    "source",
    [
        "globals()['ro' + 'ws']",
        "eval('r' + 'ows')",
        "import sys\nspace = sys.modules['__main__']",
        "from inspect import currentframe",
        "def total(x):\n    return total.__globals__['ro' + 'ws']",
        "get_ipython().user_ns",
        "print(_)",
        "print(_12, __)",
        "Out[3]",
        "%time total(1)",
        "!ls",
        *(
            "  if 1\n  print(1)",
            ">>> print(1)",
            "In [1]: rows",
            "rows?",
            "/print rows",
        ),
        *(",print rows", "x = !ls", "def f():\n    return 1\nnonlocal x"),
        "from math import *",
        "space = torch.sys",
        "names = print.__self__",
        "def total(x):\n    return getattr(total, '__globals__')",
        "found = gc.get_objects()",
        "first = _",
        "def total(x):\n    return _ih[-1]",
    ],
)
def test_code_that_may_reach_any_name_has_every_cell_run(source: str) -> None:
    assert left_out(code(source, "total")) == set()
    assert mentioned(source) is None


@pytest.mark.parametrize("source", ["def total(:", "x = = 1", "print 'rows'", "return (rows"])
def test_of_a_cell_that_python_cannot_read_nothing_runs(source: str) -> None:
    assert left_out(code(source, "total")) == {"made", "looked-at", "alone"}
    assert mentioned(source) == frozenset()
    with pytest.raises(SyntaxError):
        ast.parse(TransformerManager().transform_cell(source))


@pytest.mark.parametrize(
    "source",
    [
        *("model.eval()", "re.compile('a')", "torch.compile(f)", "_private = 1", "net.vars"),
        *(
            "gc.collect()",
            "array.ctypes.data",
            "for _ in range(3):\n    print(1)",
            "[x for x, _ in pairs]",
        ),
        "def total(x):\n    _, dir = x\n    return _, dir",
    ],
)
def test_methods_and_variables_of_the_same_names_reach_nothing(source: str) -> None:
    assert mentioned(source) is not None


@pytest.mark.parametrize(
    "source",
    [
        "torch = None",
        "def print(*words): ...",
        "def total(x):\n    global observe\n    observe = None",
        "import numpy as torch",
        "from functools import partial as observe",
        "import helper",
        "def total(x):\n    from .helper import total\n    return total(x)",
        "torch.Tensor.stride = None",
        "torch.ones.cache = {}",
        "torch.backends.flags['a'] = 1",
        "del torch.Tensor.stride",
        "setattr(torch, 'ones', None)",
        "for owner in (torch, torch.Tensor):\n    owner.__setattr__('ones', None)",
        "with mock.patch('torch.ones'):\n    pass",
    ],
)
def test_who_changes_what_all_cells_share_has_every_cell_run(source: str) -> None:
    assert left_out(code(source, "own")) == set()
    assert left_out(code(source, "total")) == set()


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nfrom course import observe",  # as the set-up cell does
        "import torch.nn.functional",
        "import numpy as np\nimport unittest.case",
        "import math\nfrom collections import deque",
        "def total(x):\n    x.grad = None\n    return x.sum()",
        "def total(input):\n    input[0] = 1\n    return input",
        "def total(x):\n    torch = x\n    return torch",
    ],
)
def test_imports_and_variables_of_ones_own_change_nothing_for_others(source: str) -> None:
    assert left_out(code(source, "total")) == {"made", "looked-at", "alone"}


def test_a_cell_of_an_id_that_only_shows_runs_where_its_text_is_another() -> None:
    assert "alone" not in left_out(showing("print(torch.ones(2) + 1)", "alone"))


def test_a_mark_counts_where_the_lesson_has_it_and_nowhere_else() -> None:
    plain = [code(one["source"], one["id"]) if shows(one) else one for one in LESSON]
    assert ShownCells(plain).left_out(LESSON, {NUMBER["test-total"]}) == frozenset()
    found = ShownCells(LESSON).left_out(plain, {NUMBER["test-total"]})
    assert found == {NUMBER[id_] for id_ in ("made", "looked-at", "alone")}


def test_cells_that_stand_twice_or_in_another_order_are_told_by_their_text() -> None:
    alone = LESSON[NUMBER["alone"]]
    rows = LESSON[NUMBER["made"]]
    cells = [alone, *LESSON, alone, code("print(rows)", "own"), rows]
    found = ShownCells(LESSON).left_out(cells, {1 + NUMBER["test-total"]})
    # The second time, nobody behind asks for the rows.
    assert found == {0, 1 + NUMBER["alone"], len(LESSON) + 1, len(LESSON) + 3}


def test_the_lessons_own_magics_name_what_they_use_and_hide_nothing() -> None:
    magic = code("%%writefile rows.py\nrows = 1", "file")
    source = [*LESSON, magic]
    assert ShownCells(source).left_out(source, {NUMBER["test-total"]}) == {NUMBER["alone"]}


def test_a_name_that_no_cell_binds_or_none_reads_is_not_shared() -> None:
    answer = "def total(x):\n    return x.sum({'rows': 1}['rows'], names)"
    cells = [SETUP, showing("print('names')", "a"), showing("_ = unused = 3", "b")]
    cells += [code("_ = unused = 2", "c"), code(answer, "total", solution=True)]
    assert ShownCells(cells).left_out(cells, set()) == {1, 2}
    cells.append(code("names = 2", "own"))  # now its text may be the name of something
    assert ShownCells(cells[:-1]).left_out(cells, set()) == {2}
    cells.append(code("print(unused)", "more"))
    assert ShownCells(cells[:-2]).left_out(cells, set()) == set()


def test_a_test_sees_what_it_asks_for_and_not_every_text_in_it() -> None:
    test = code("ask = answer('rows')\nassert ask('total')", "test-total", grade=True, locked=True)
    assert left_out(test) == {"alone"}
    test = code("ask = answer('total')\nassert ask('rows')", "test-total", grade=True, locked=True)
    assert left_out(test) == {"made", "looked-at", "alone"}
    test = code("ask = answer(name := 'rows')", "test-total", grade=True, locked=True)
    assert left_out(test) == {"alone"}  # who knows what it asks for


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("import os\n\n\ndef total(x):\n    return os.getcwd()", {1, 2}),
        ("def total(x):\n    return os.getcwd()", set()),
        ("x = 1\nimport os\n\n\ndef total(x):\n    return os.getcwd()", set()),
        ("if torch:\n    import os\n\n\ndef total(x):\n    return os.getcwd()", set()),
        ("import posix as os\n\n\ndef total(x):\n    return os.getcwd()", set()),
        ("import os\n\nos = os\ndef total(x):\n    return os.getcwd()", set()),
    ],
)
def test_a_module_that_both_import_is_not_shared(answer: str, expected: set[int]) -> None:
    cells = [SETUP, showing("import os\nfiles = os.listdir()", "a")]
    cells += [showing("print(files, os.name)", "b"), code(answer, "total", solution=True)]
    assert ShownCells(cells).left_out(cells, set()) == expected


@pytest.mark.parametrize(
    ("changed", "all_run"),
    [
        ("get_worker_info().dataset.rng = 3", False),
        ("get_worker_info()[0] = 3", False),
        (f"torch{'.a' * 900}().x = 1", True),  # as deep as a learner likes
        ("get_worker_info(torch).ones = 3", True),
        ("get_worker_info.ones = 3", True),
        ("torch.get_worker_info().ones = 3", True),
        ("def get_worker_info():\n    return torch\n\nget_worker_info().ones = 3", True),
    ],
)
def test_what_a_worker_is_told_is_no_librarys(changed: str, all_run: bool) -> None:
    setup = code("import torch\nfrom torch.utils.data import get_worker_info", "setup", locked=True)
    lesson = [setup, showing("print(torch.ones(2))", "alone")]
    found = ShownCells(lesson).left_out([*lesson, code(changed, "own")], set())
    assert found == (set() if all_run else {1})


def test_what_a_cell_draws_is_said_once_for_each_text() -> None:
    cells = [showing("torch.rand(1)", id_) for id_ in "ab"]
    for cell in cells:
        cell["metadata"]["course"]["draws"] = 1
    assert ShownCells(cells).draws == {"torch.rand(1)": 1}
    cells[1]["metadata"]["course"]["draws"] = 2
    assert ShownCells(cells).draws == {}
    assert ShownCells(cells).left_out(cells, set()) == set()


@pytest.mark.parametrize("said", [0, -1, 2**21, True, "2", None, 2.0])
def test_what_is_no_count_of_draws_counts_nothing(said: object) -> None:
    cell = showing("torch.rand(1)", "a")
    cell["metadata"]["course"]["draws"] = said
    assert draws(cell) == 0


def test_a_submission_cannot_say_that_a_cell_only_shows() -> None:
    assert left_out(showing("print(limit + 1)", "own"), showing("def f(): ...", "more")) == {
        *("made", "looked-at", "alone")
    }


def test_a_cell_of_nbgraders_never_only_shows() -> None:
    locked = code("print(1)", "setup", locked=True)
    locked["metadata"]["course"] = {"shows": True}
    assert not shows(locked)
    assert shows(showing("print(1)", "a"))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("torch = None", "binds torch anew"),
        ("def print(x): ...", "binds print anew"),
        ("torch.Tensor.view = None", "changes torch.Tensor.view"),
        ("del torch.relu", "changes torch.relu"),
        ("setattr(torch, 'x', 1)", "uses setattr"),
        ("seed(0)", "uses seed"),
        ("np.random.seed(0)", "uses seed"),
        ("torch.set_default_dtype(torch.float64)", "uses set_default_dtype"),
        ("layer.register_forward_hook(print)", "uses register_forward_hook"),
        ("json.dumps = None", "changes json.dumps"),
        ("%time x = 1", "no plain Python"),
    ],
)
def test_code_tells_of_an_effect(source: str, said: str) -> None:
    found = list(said_by_code(code(source, "a"), ShownCells([SETUP, MORE])))
    assert any(said in one for one in found), found


def test_plain_code_has_no_effect() -> None:
    source = (
        "x = torch.arange(6)\nx[0] = 1\nx.grad = None\nprint(x, observe(x.sum))\n"
        "for seed in (0, 1):\n    torch.Generator().manual_seed(seed)"
    )
    assert list(said_by_code(code(source, "a"), ShownCells([SETUP, MORE]))) == []


SHOWN: list[dict[str, Any]] = [
    {"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]},
    {"output_type": "display_data", "data": {"text/plain": "x"}, "metadata": {}},
    {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["t"]},
]


def test_what_a_learner_saw_is_kept_without_its_metadata() -> None:
    marked = [{**one, "metadata": {"pytorch-measured": {"score": 3}}} for one in SHOWN]
    kept = CellBounds().outputs(marked)
    assert [one["output_type"] for one in kept] == ["stream", "display_data", "error"]
    assert "pytorch-measured" not in str(kept)


@pytest.mark.parametrize(
    "outputs",
    [
        None,
        "text",
        [3],
        [{"output_type": "stream", "name": "stdin", "text": ""}],
        [{"output_type": "stream", "name": "stdout", "text": [1]}],
        [{"output_type": "display_data", "data": {"text/html": 3}}],
        [{"output_type": "display_data", "data": {"own/json": 3}}],
        [{"output_type": "error", "ename": "E"}],
        [{"output_type": "error", "ename": "E", "evalue": ["no"], "traceback": []}],
        [{"output_type": "error", "ename": "E", "evalue": "no", "traceback": "line"}],
        [{"output_type": "stream", "name": "stdout", "text": "x" * 2**24}],
    ],
)
def test_what_is_no_output_or_too_large_is_left_out(outputs: object) -> None:
    assert CellBounds().outputs(outputs) == []


@pytest.mark.parametrize("depth", [90, 900, 9_000])
def test_code_that_is_nested_deep_is_read_or_has_every_cell_run(depth: int) -> None:
    nested = "total = " + "lambda: " * depth + "rows"
    assert left_out(code(nested, "total")) in ({"alone"}, set())
    assert left_out(code("(" * depth + "1" + ")" * depth, "own")) <= {"made", "looked-at", "alone"}
