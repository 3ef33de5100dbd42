"""Which of a lesson's own cells need not run for a submission, because they only show.

A cell that says so (`metadata.course.shows`) leaves nothing behind but its output and the names
that it binds: `autograder.simulation.effects` runs the lesson and proves it. Whether
anything needs those names depends on the submission, and is read from the code here. A cell that
shares a name with an answer, a test, a changed cell or one of the learner's own runs, and so does
each cell that shares a name with such a cell. Where code may reach names that it does not spell
out, every cell runs.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import sys
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from autograder.lessons.cells import RawCell, grader, is_answer, role

# With one of these, code finds names by their text, or counts what was run before it.
_REACHING_NAMES = frozenset(
    {
        *("eval", "exec", "compile", "globals", "locals", "vars", "dir", "__import__"),
        *("get_ipython", "exit", "quit", "In", "Out", "__builtins__", "__loader__", "__spec__"),
    }
)
_REACHING_MODULES = frozenset(
    {
        *("__main__", "builtins", "ctypes", "importlib", "inspect", "IPython", "pdb"),
        *("pickle", "runpy", "sys", "traceback", "*"),
    }
)
# Modules too: many hold `sys` under its own name, and by it the notebook's names.
_REACHING_ATTRIBUTES = (_REACHING_MODULES - {"*", "ctypes", "pickle", "traceback"}) | {
    *("get_objects", "get_referents", "get_referrers", "currentframe", "_getframe"),
    *("__dict__", "__globals__", "__builtins__", "__self__", "__getattribute__", "__reduce__"),
    *("f_globals", "f_locals", "f_builtins", "user_ns", "user_global_ns", "gi_frame", "tb_frame"),
}
_ALWAYS = frozenset(dir(builtins))
# Modules whose import changes nothing that a notebook's other cells find.
KNOWN = sys.stdlib_module_names | {"torch", "numpy", "matplotlib", "course"}
_SETTING = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "patch"})
_CHANGING = _SETTING | {"manual_seed", "seed", "set_default_dtype"}

Import = tuple[str, str, str]  # a module, a name in it or "", and the name that it is bound to


def shows(cell: RawCell) -> bool:
    """Whether a cell of the source says that it only shows; a submission's word counts nothing."""
    return cell["cell_type"] == "code" and role(cell).get("shows") is True and not grader(cell)


def shown_texts(source: Iterable[RawCell]) -> frozenset[str]:
    """The texts of a lesson's cells that only show."""
    return frozenset(cell["source"] for cell in source if shows(cell))


class ShownCells:
    """The cells of one lesson that only show."""

    def __init__(self, source: Iterable[RawCell]) -> None:
        """Read the lesson's own cells, `Lesson.cells()`."""
        cells = list(source)
        self.texts = shown_texts(cells)
        own = (one["source"] for one in cells if one["cell_type"] == "code" and not is_answer(one))
        self._words = {text: _words_of(text) for text in own if mentioned(text) is None}
        setup = [one["source"] for one in cells if grader(one).get("grade_id") == "setup"]
        self.common = _ALWAYS.union(*map(imported_names, setup))
        every = [one["source"] for one in cells if one["cell_type"] == "code"]
        self.imported = self.common.union(*map(imported_names, every))  # by any of its cells
        self._imports = frozenset(one for text in setup for one in imports_of(text))
        self._modules = KNOWN.union(_root_of(one) for text in every for one in imports_of(text))
        self._own = frozenset(one["source"] for one in cells if not is_answer(one))

    def left_out(self, cells: Iterable[RawCell], apart: Container[int]) -> frozenset[int]:
        """The numbers of the cells that need not run.

        Args:
            cells: All cells of a repaired submission, in their order.
            apart: The numbers of those test cells that see nothing of the notebook but what they
                ask for by its name.
        """
        code = {n: one["source"] for n, one in enumerate(cells) if one["cell_type"] == "code"}
        if any(self.changes_common(text) for text in code.values() if text not in self._own):
            return frozenset()
        read = {n: texts_in(t) if n in apart else self.mentioned(t) for n, t in code.items()}
        if any(names is None for names in read.values()):
            return frozenset()
        mentions = {n: (names or frozenset()) - self.common for n, names in read.items()}
        waiting = {n for n, text in code.items() if text in self.texts}
        needed = set().union(*(mentions[n] for n in mentions.keys() - waiting))
        while run := {n for n in waiting if mentions[n] & needed}:
            waiting -= run
            needed = needed.union(*(mentions[n] for n in run))
        return frozenset(waiting)

    def has(self, source: str) -> bool:
        """Whether a cell is the lesson's own, and no answer."""
        return source in self._own

    def mentioned(self, source: str) -> frozenset[str] | None:
        """The global names that a cell may read or bind; None where it may reach others."""
        found = self._words.get(source)  # the lesson's own magics hide nothing
        return mentioned(source) if found is None else found

    def changes_common(self, source: str) -> bool:
        """Whether a cell may change what cells share besides the notebook's names."""
        if any(_root_of(one) not in self._modules for one in imports_of(source)):
            return True  # a module that the learner wrote may do anything
        return changes_common(source, self.common, self._imports)


def said_by_code(cell: RawCell, lesson: ShownCells) -> Iterator[str]:
    """Give the effects that the text of a cell shows.

    Args:
        cell: One of the lesson's own.
        lesson: All of them.
    """
    names, code = mentioned(cell["source"]), _read(cell["source"])
    if names is None or code is None:
        yield "it may look names up by their text, or is no plain Python"
        return
    bound = {one.id for one in code.nodes if isinstance(one, ast.Name) and _is_changed(one)}
    bound |= {one.name for one in code.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
    if bound & lesson.common:
        yield f"it binds {', '.join(sorted(bound & lesson.common))} anew"
    for node in code.nodes:
        if isinstance(node, ast.Attribute) and _is_changed(node) and _root(node) in lesson.imported:
            yield f"it changes {ast.unparse(node)}"
        if isinstance(node, ast.Name | ast.Attribute) and _called(node) in _CHANGING:
            yield f"it uses {_called(node)}"
        if isinstance(node, ast.Attribute) and node.attr.startswith("register_"):
            yield f"it uses {node.attr}"


# What IPython makes Python of: magics, shell, help, calls without parentheses, prompts, `await`
# outside of functions, and a cell that begins with an indent.
_IPYTHONS = re.compile(
    r"[%!?]|>>>|\bIn \[|\b(await|async)\b|^\s*[,;/]|\A([ \t]*\n)*[ \t]+\S", re.MULTILINE
)


@dataclass(frozen=True)
class _Code:
    """A cell as Python reads it."""

    body: tuple[ast.stmt, ...]
    nodes: tuple[ast.AST, ...]
    table: symtable.SymbolTable


@lru_cache(maxsize=256)  # each question about a cell asks for it
def _read(source: str) -> _Code | None:
    """The code of a cell, None where it is no plain Python; of bad syntax nothing ever runs."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None if _IPYTHONS.search(source) else _read("")
    except (ValueError, RecursionError, MemoryError):
        return None
    try:  # IPython runs one statement after the other: this error may come after some
        table = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _Code(tuple(tree.body), tuple(ast.walk(tree)), table)


@lru_cache(maxsize=4_000)
def changes_common(source: str, common: frozenset[str], imports: frozenset[Import]) -> bool:
    """Whether code binds a common name to something else, or sets what one holds.

    A cell that only shows was proved to do so with torch and Python as they are. Code that cannot
    be read changes nothing here; it has every cell run by itself.

    Args:
        source: A cell that the lesson does not have.
        common: The names that the set-up cell imports, and Python's own.
        imports: What the set-up cell imports.
    """
    code = _read(source)
    if code is None:
        return False
    shared = common & _global_names(code.table)
    if common.intersection(_bound_globally(code.table)):
        return True
    if any(bound in common for *_, bound in imports_of(source) - imports):
        return True
    for node in code.nodes:
        match node:
            case ast.Attribute() | ast.Subscript() if _is_changed(node):
                if _root(node) in shared:
                    return True
        if isinstance(node, ast.Name | ast.Attribute) and _called(node) in _SETTING:
            return True
    return False


@lru_cache(maxsize=4_000)
def imports_of(source: str) -> frozenset[Import]:
    """What code imports, at any depth; nothing where it cannot be read."""
    code = _read(source)
    found = set()
    for node in code.nodes if code is not None else ():
        if isinstance(node, ast.Import):
            for one in node.names:
                bound = one.asname or one.name.partition(".")[0]
                found.add((one.name if one.asname else bound, "", bound))
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found |= {(module, one.name, one.asname or one.name) for one in node.names}
    return frozenset(found)


def _root_of(one: Import) -> str:
    return one[0].partition(".")[0]


def bound_names(source: str) -> frozenset[str] | None:
    """The global names that code binds other than by an import, or whose attributes it sets.

    None where it is no plain Python.
    """
    code = _read(source)
    if code is None:
        return None
    places = (one for one in code.nodes if isinstance(one, ast.Attribute | ast.Subscript))
    changed = {_root(one) for one in places if _is_changed(one)}
    return frozenset(_bound_globally(code.table)) | changed


def _is_changed(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Store | ast.Del)


def _called(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=4_000)  # most cells are the same in each submission
def mentioned(source: str) -> frozenset[str] | None:
    r"""The global names that a cell reads or binds, and every text in it that could be one.

    None where it may reach others: it looks names up by their text, or cannot be read.

    >>> sorted(mentioned("def f(x):\n    return x + step\nprint(f, 'rows')"))
    ['f', 'print', 'rows', 'step']
    >>> mentioned("exec(text)") is None, mentioned("%time f()") is None
    (True, True)
    """
    code = _read(source)
    if code is None:
        return None
    names, texts = frozenset(_global_names(code.table)), _texts(code)
    if names & _REACHING_NAMES or (names | texts) & _REACHING_ATTRIBUTES:
        return None
    if any(map(_is_history, _read_globally(code.table))) or any(map(_reaches, code.nodes)):
        return None
    return names | texts


@lru_cache(maxsize=1_000)
def texts_in(source: str) -> frozenset[str] | None:
    """Every text in a cell that could be a name, None where it cannot be read."""
    code = _read(source)
    return None if code is None else _texts(code)


def _texts(code: _Code) -> frozenset[str]:
    values = (one.value for one in code.nodes if isinstance(one, ast.Constant))
    return frozenset(one for one in values if isinstance(one, str) and one.isidentifier())


def imported_names(source: str) -> frozenset[str]:
    """The names that a cell imports at its top level, none where it cannot be read."""
    code = _read(source)
    symbols = code.table.get_symbols() if code is not None else ()
    return frozenset(one.get_name() for one in symbols if one.is_imported())


def _words_of(source: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W\d]\w*", source))


def _reaches(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _REACHING_ATTRIBUTES
    name = node.name if isinstance(node, ast.alias) else getattr(node, "module", None)
    return (name or "").partition(".")[0] in _REACHING_MODULES


def _is_history(name: str) -> bool:
    """Whether IPython keeps an earlier cell's text or value under this name."""
    return re.fullmatch(r"_+|_i+|_i?\d+|_[iod]h", name) is not None


def _global_names(table: symtable.SymbolTable) -> set[str]:
    return {one.get_name() for one in _global_symbols(table)}


def _bound_globally(table: symtable.SymbolTable) -> set[str]:
    return {one.get_name() for one in _global_symbols(table) if one.is_assigned()}


def _read_globally(table: symtable.SymbolTable) -> set[str]:
    """Without those that are only bound, as `_` is in most loops."""
    return {one.get_name() for one in _global_symbols(table) if one.is_referenced()}


def _global_symbols(table: symtable.SymbolTable) -> Iterator[symtable.Symbol]:
    waiting = [table]  # no recursion: a learner's functions may be nested as deep as Python allows
    while waiting:
        table = waiting.pop()
        top = table.get_type() == "module"
        yield from (one for one in table.get_symbols() if top or one.is_global())
        waiting += table.get_children()
