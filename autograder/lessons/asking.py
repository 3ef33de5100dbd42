"""Which test cells reach the learner's work through the course's `answer`.

Such a cell runs in a process of its own, any other beside the learner's code, which can read and
fool it there.  So what counts is what a cell uses, not how the call is spelt: another name for
`answer`, `map(answer, …)` and `course.answer` ask, too, and so do cells with magics.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache

from autograder.lessons.cells import RawCell, is_answer, is_test

_ANSWER, _COURSE = "answer", "course"
_MAGICS = ("run_line_magic", "run_cell_magic")


_CLOCKS = frozenset(
    {
        *("perf_counter", "monotonic", "process_time", "thread_time", "clock_gettime", "timeit"),
        *("perf_counter_ns", "monotonic_ns", "process_time_ns", "thread_time_ns", "time_ns"),
        "getrusage",
    }
)


@dataclass(frozen=True)
class Asking:
    """What cells beside the tests say of the course's `answer`.

    Attributes:
        names: The names that they give it, and those of functions that use it.
        modules: The names that they give the package `course` and its modules.
        is_learners: Whether `answer` is what the lesson asks its learners to write.
    """

    names: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    is_learners: bool = False


NOTHING = Asking()


def asking_in(cells: Iterable[RawCell]) -> Asking:
    """What the cells of a source say of `answer`, apart from its tests.

    Args:
        cells: Those of the source. A submission's own cells must not decide how it is tested.
    """
    names, modules, is_learners = set[str](), set[str](), False
    for cell in cells:
        if cell["cell_type"] != "code" or (is_test(cell) and not is_answer(cell)):
            continue
        tree = _tree(cell["source"])
        if tree is None:
            continue
        if is_answer(cell):
            is_learners = is_learners or _ANSWER in _bound(tree)
            continue
        more, others = _imported(tree)
        names |= more
        modules |= others
        names |= {name for name, used in _defined(tree) if _uses(used, names, modules)}
    return Asking(frozenset(names), frozenset(modules), is_learners)


@lru_cache(maxsize=1_000)  # the test cells of a lesson are the same in each submission
def asks_for_answers(source: str, beside: Asking = NOTHING) -> bool:
    """Whether a test cell reaches the learner's work through the course's `answer`.

    >>> asks_for_answers("flatten = answer('flatten')"), asks_for_answers("assert f(1) == 2")
    (True, False)

    Args:
        source: The test cell.
        beside: What the other cells of its notebook's source say of `answer`.
    """
    tree = _tree(source)
    if tree is None:  # it will not run; apart from the learner nothing can be read of it
        words = set(re.findall(r"\w+", source))
        return _COURSE in words and _ANSWER in words
    names, modules = _imported(tree)
    others = beside.names - _bound(tree)
    if _uses(tree, names | others, modules | beside.modules):
        return True
    # Where the import cannot be seen: the gradebook, for one, does not keep the cells in between.
    is_own = beside.is_learners or _ANSWER in {name for name, _ in _defined(tree)}
    return not is_own and any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _ANSWER
        for node in ast.walk(tree)
    )


def reads_a_clock(source: str) -> bool:
    r"""Whether code may find another time each time it runs, apart from probes.

    Those run beside the answer; what they have measured is a reply like any other.

    >>> reads_a_clock("import time\nstart = time.time()"), reads_a_clock("time = 3")
    (True, False)
    """
    tree = _tree(source)
    if tree is None:
        return not _CLOCKS.isdisjoint(re.findall(r"\w+", source))
    beside = {inner for node in ast.walk(tree) if _is_probe(node) for inner in ast.walk(node)}
    return any(_is_clock(node) for node in ast.walk(tree) if node not in beside)


def _is_probe(node: ast.AST) -> bool:
    marks = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    called = (one.func if isinstance(one, ast.Call) else one for one in marks)
    return any("probe" in (getattr(one, "id", ""), getattr(one, "attr", "")) for one in called)


def _is_clock(node: ast.AST) -> bool:
    match node:
        case ast.Name(id) | ast.Attribute(attr=id) if id in _CLOCKS:
            return True
        case ast.Attribute(ast.Name("time"), "time") | ast.Attribute(attr="now" | "today"):
            return True
        case ast.ImportFrom(module="time" | "timeit"):
            return not {one.name for one in node.names} <= {"sleep"}
    return False


def _tree(source: str) -> ast.Module | None:
    """The syntax tree of a cell, with that of the code in its magics; None of what is no Python."""
    tree = _parsed(source)
    if tree is None:
        # IPython takes a while to import, and few cells need it.
        from IPython.core.inputtransformer2 import TransformerManager

        try:
            tree = _parsed(TransformerManager().transform_cell(source))
        except (SyntaxError, ValueError, RecursionError):
            return None
    if tree is None:
        return None
    for inner in [*_code_in_magics(tree)]:
        tree.body += inner.body
    return tree


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _code_in_magics(tree: ast.Module) -> Iterator[ast.Module]:
    """What the magics of a cell may run: the line of one, and the cell below it."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(attr=called), [_, *given]) if called in _MAGICS:
                texts = (one.value for one in given if isinstance(one, ast.Constant))
                found = (_tree(text) for text in texts if isinstance(text, str) and text.strip())
                yield from (one for one in found if one is not None)


def _imported(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The names that a cell gives to the course's `answer`, and to modules of the course."""
    names, modules = set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _is_of_course(node.module or ""):
            for one in node.names:
                called = one.asname or one.name
                names |= {called} if one.name == _ANSWER else set()
                names |= {_ANSWER} if one.name == "*" else set()
                modules.add(called)  # or it is none, and has no `answer`
        elif isinstance(node, ast.Import):
            found = (one for one in node.names if _is_of_course(one.name))
            modules |= {one.asname or _COURSE for one in found}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _is_answer(node.value, names, modules):
            names |= {one.id for one in node.targets if isinstance(one, ast.Name)}
    return names, modules


def _is_of_course(module: str) -> bool:
    return module.partition(".")[0] == _COURSE


def _bound(tree: ast.Module) -> set[str]:
    """The names that a cell assigns or defines."""
    stored = (one for one in ast.walk(tree) if isinstance(one, ast.Name))
    names = {one.id for one in stored if isinstance(one.ctx, ast.Store)}
    return names | {name for name, _ in _defined(tree)}


def _defined(tree: ast.Module) -> list[tuple[str, ast.AST]]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [(one.name, one) for one in ast.walk(tree) if isinstance(one, kinds)]


def _uses(tree: ast.AST, names: Set[str], modules: Set[str]) -> bool:
    """Whether `answer` is used under one of `names`, or as an attribute of one of `modules`."""
    return any(_is_answer(node, names, modules) for node in ast.walk(tree))


def _is_answer(node: ast.AST, names: Set[str], modules: Set[str]) -> bool:
    match node:
        case ast.Name(name, ast.Load()):
            return name in names
        case ast.Attribute(value, attr):
            return attr == _ANSWER and _is_module(value, modules)
        case ast.Call(ast.Name("getattr"), [value, ast.Constant(attr), *_]):
            return attr == _ANSWER and _is_module(value, modules)
    return False


def _is_module(node: ast.AST, modules: Set[str]) -> bool:
    """Whether an expression is the course or a module of it, as far as can be seen."""
    match node:
        case ast.Name(name):
            return name in modules or name == _COURSE
        case ast.Attribute(value):
            return _is_module(value, modules)
        case ast.Call(_, [ast.Constant(str(module)), *_]):
            return _is_of_course(module)
    return False
