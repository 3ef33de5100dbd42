"""Cells that were compiled before the fork run as IPython would have run them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CELL = "x = 2\nx + 1"
AHEAD = [CELL, "1 / 0", "def f(:", "await f()", "'a';  # no value", "return 1"]
TRANSFORMER = """
import ast
class Fives(ast.NodeTransformer):
    def visit_Constant(self, node): return ast.Constant(5)
get_ipython().ast_transformers.append(Fives())
"""
REWRITES = "get_ipython().input_transformers_post.append(lambda lines: ['x = 7\\n', 'x + 1\\n'])"

CASES = {
    "as it is": ([CELL], "3"),
    "other interactivity": (["get_ipython().ast_node_interactivity = 'all'", CELL], "3"),
    "other compiler flags": (["from __future__ import annotations", CELL], "3"),
    "an AST transformer": ([TRANSFORMER, CELL], "10"),
    "an AST transformer that is gone": (
        [TRANSFORMER, CELL, "get_ipython().ast_transformers.clear()", f"{CELL}\n"],
        "3",
    ),
    "an empty line behind": ([f"{CELL}\n"], "3"),
    "an input transformer": ([REWRITES, CELL], "8"),
    "an error": (["1 / 0"], "ZeroDivisionError"),
    "no Python": (["def f(:"], "SyntaxError"),
    "what only compiling refuses": (["return 1"], "SyntaxError"),
    "await": (["async def f(): return 'awaited'", "await f()"], "'awaited'"),
    "a semicolon before a comment": (["'a';  # no value"], None),
    "a semicolon in a comment": (["'a'  # a; value"], "'a'"),
    "a semicolon in a text": (["'a;'\n# end"], "'a;'"),
    "a semicolon before empty lines": (["'a';\n\n# end"], None),
    "a text that ends like a comment": (["'''\n# a''';"], None),
    "a text that ends like a comment with a semicolon": (["'''\n# a;'''"], r"'\n# a;'"),
}

# Forks for each case, as the fork server does, and prints what its last cell showed.
DRIVER = """
import json, os, sys
from autograder.engine.kernel.shell import new_shell, record_with
ahead, cases = json.load(sys.stdin)
shell, out = new_shell(), os.dup(1)
shell.compile_ahead(ahead)
for cells in cases:
    if os.fork() == 0:
        shown = []
        record_with(shell, shown.append, 10_000)
        for cell in cells:
            shown.clear()
            shell.run(cell)
        found = [one.get("error") or one["result"]["text/plain"] for one in shown]
        os.write(out, json.dumps(found).encode() + b"\\n")
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def shown() -> dict[str, list[str]]:
    """Case → the value or the error that its last cell showed, as a list of at most one."""
    cases = [cells for cells, _ in CASES.values()]
    done = subprocess.run(
        [sys.executable, "-c", DRIVER],
        input=json.dumps([AHEAD, cases]),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return dict(zip(CASES, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_it_shows_what_ipython_shows(shown: dict[str, list[str]], case: str) -> None:
    wanted = CASES[case][1]
    assert shown[case] == ([] if wanted is None else [wanted])


TWO_PARTS = """\
found = ["visible"]
def told():
    return found
### BEGIN HIDDEN TESTS
found.append(hidden)
### END HIDDEN TESTS
told()"""
IN_PARTS = """
import json, os, sys
from autograder.engine.kernel.shell import Part, new_shell, record_with
cells, steps = json.load(sys.stdin)
shell, shown, out = new_shell(), [], os.dup(1)
shell.compile_ahead(cells.values())
record_with(shell, shown.append, 10_000)
ends = []
for name, part in steps:
    shown.clear()
    end = shell.run_part(cells[name], Part(part), name)
    texts = [one.get("error") or one["result"]["text/plain"] for one in shown]
    ends.append([end.count, end.has_rest, texts])
os.write(out, json.dumps(ends).encode())
"""


def in_parts(cells: dict[str, str], *steps: tuple[str, str]) -> list[object]:
    """Number, whether a rest is left, and outputs, of each part in turn."""
    run = subprocess.run(
        [sys.executable, "-c", IN_PARTS],
        input=json.dumps([cells, steps]),
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[object] = json.loads(run.stdout)
    return found


def test_a_cell_runs_in_two_parts_and_others_in_between() -> None:
    cells = {"a": TWO_PARTS, "b": "hidden = 'b'\nfound = told = 0\nhidden"}
    assert in_parts(cells, ("a", "visible"), ("b", "visible"), ("a", "rest")) == [
        [1, True, []],
        [2, False, ["'b'"]],
        [1, False, ["['visible', 'b']"]],
    ]


def test_a_cell_that_raises_in_its_visible_part_has_no_rest() -> None:
    cells = {"a": f"1 / 0\n{TWO_PARTS}"}
    assert in_parts(cells, ("a", "visible")) == [[1, False, ["ZeroDivisionError"]]]


def test_what_belongs_to_one_statement_is_run_as_the_rest() -> None:
    cells = {"a": "x = 1\nfor y in 2, 3:\n    x += y\n    ### BEGIN HIDDEN TESTS\n    x += 1\nx"}
    assert in_parts(cells, ("a", "visible"), ("a", "rest")) == [[1, True, []], [1, False, ["8"]]]


def test_two_cells_of_one_text_have_names_of_their_own() -> None:
    text = "found = [len(In)]\n### BEGIN HIDDEN TESTS\nfound.append(0)\n### END HIDDEN TESTS\nfound"
    steps = [("a", "visible"), ("b", "visible"), ("a", "rest"), ("b", "rest")]
    (_, _, (first,)), (_, _, (second,)) = in_parts({"a": text, "b": text}, *steps)[2:]
    assert first != second


def test_a_cell_that_cannot_be_cut_is_the_rest_as_a_whole() -> None:
    awaits = "import asyncio\nawait asyncio.sleep(0)\n### BEGIN HIDDEN TESTS\n7"
    assert in_parts({"a": awaits}, ("a", "visible"), ("a", "rest")) == [
        [1, True, []],
        [1, False, ["7"]],
    ]


def test_the_value_of_a_cell_is_shown_where_one_statement_is_all_of_it() -> None:
    magic = "%%capture\nx = 1\n### BEGIN HIDDEN TESTS\nx"
    cells = {"a": magic, "b": "(7,\n### BEGIN HIDDEN TESTS\n8)"}
    assert in_parts(cells, ("a", "visible"), ("a", "rest"), ("b", "visible"), ("b", "rest"))[
        1:
    ] == [
        [1, False, []],
        [2, True, []],
        [2, False, ["(7, 8)"]],
    ]


def test_a_value_above_the_hidden_tests_is_shown_too() -> None:
    cells = {"a": "7\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS"}
    assert in_parts(cells, ("a", "visible"), ("a", "rest")) == [[1, True, ["7"]], [1, False, []]]


def test_the_lines_of_a_cell_are_kept_as_python_numbers_them() -> None:
    code = """
import linecache
from autograder.engine.kernel.shell import new_shell
shell = new_shell()
name = shell.compile.cache("a\\u2028b\\x0cc\\nd", 1)
print(linecache.getline(name, 2).strip())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "d\n"
