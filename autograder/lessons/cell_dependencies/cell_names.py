"""What a notebook's cell does with names, read from its code: binds, reads, imports, spells out.

Where code may reach names that it does not spell out, the answer is None.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from autograder.lessons.definitions import may_be_parsed

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
BUILTINS = frozenset(dir(builtins))
# Modules whose import changes nothing that a notebook's other cells find.
KNOWN = sys.stdlib_module_names | {"torch", "numpy", "matplotlib", "course"}
SETTING = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "patch"})
_WORKER_INFO = "get_worker_info"
Import = tuple[str, str, str]  # a module, a name in it or "", and the name that it is bound to
# What IPython makes Python of: magics, shell, help, calls without parentheses, prompts, `await`
# outside of functions, and a cell that begins with an indent.
_IPYTHONS = re.compile(
    r"[%!?]|>>>|\bIn \[|\b(await|async)\b|^[^\S\n]*[,;/]|\A([ \t]*\n)*[ \t]+\S", re.MULTILINE
)


@dataclass(frozen=True)
class Code:
    """A cell as Python reads it."""

    body: tuple[ast.stmt, ...]
    nodes: tuple[ast.AST, ...]
    table: symtable.SymbolTable


class _Kept(dict[str, Code | None]):
    """What was read of cells, by their texts, which have so many `chars` together."""

    chars = 0


_kept = _Kept()  # each question about a cell asks for it
_KEPT_CHARS = 2**19  # of their texts: what is read of one takes hundreds of times its size


def read_code(source: str) -> Code | None:
    """The code of a cell, None where it is no plain Python; of bad syntax nothing ever runs.

    None, too, where it is longer than anyone writes.
    """
    if not may_be_parsed(source):
        return None
    if source in _kept:
        return _kept[source]
    found = _read(source)
    if _kept.chars + len(source) > _KEPT_CHARS:
        _kept.clear()
        _kept.chars = 0
    _kept[source] = found
    _kept.chars += len(source)
    return found


def _read(source: str) -> Code | None:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None if _IPYTHONS.search(source) else read_code("")
    except (ValueError, RecursionError, MemoryError):
        return None
    try:  # IPython runs one statement after the other: this error may come after some
        table = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Code(tuple(tree.body), tuple(ast.walk(tree)), table)


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
    code = read_code(source)
    if code is None:
        return False
    shared = common & _global_names(code.table)
    if common.intersection(_bound_globally(code.table)):
        return True
    if any(bound in common for *_, bound in imports_of(source) - imports):
        return True
    for node in code.nodes:
        match node:
            case ast.Attribute() | ast.Subscript() if is_changed(node):
                if root_name(node) in shared and not _is_of_a_worker(node, shared):
                    return True
        if isinstance(node, ast.Name | ast.Attribute) and called_name(node) in SETTING:
            return True
    return False


@lru_cache(maxsize=4_000)
def imports_of(source: str) -> frozenset[Import]:
    """What code imports, at any depth; nothing where it cannot be read."""
    code = read_code(source)
    return _imported_by(code.nodes if code is not None else ())


def _imported_by(nodes: Iterable[ast.AST]) -> frozenset[Import]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            for one in node.names:
                bound = one.asname or one.name.partition(".")[0]
                found.add((one.name if one.asname else bound, "", bound))
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found |= {(module, one.name, one.asname or one.name) for one in node.names}
    return frozenset(found)


def root_of(one: Import) -> str:
    """The package that is imported, or imported from."""
    return one[0].partition(".")[0]


def assigned_names(source: str) -> frozenset[str]:
    """The global names that code binds other than by an import; none of what is no Python."""
    code = read_code(source)
    return frozenset() if code is None else frozenset(_bound_globally(code.table))


def bound_names(source: str) -> frozenset[str] | None:
    """The global names that code binds other than by an import, or whose attributes it sets.

    None where it is no plain Python.
    """
    code = read_code(source)
    if code is None:
        return None
    places = (one for one in code.nodes if isinstance(one, ast.Attribute | ast.Subscript))
    changed = {root_name(one) for one in places if is_changed(one)}
    return assigned_names(source) | changed


@lru_cache(maxsize=4_000)
def leading_imports(source: str) -> frozenset[str]:
    """The names that a cell imports before it does anything else."""
    code = read_code(source)
    body = code.body if code is not None else ()
    first = takewhile(lambda one: isinstance(one, ast.Import | ast.ImportFrom), body)
    return frozenset(name for *_, name in _imported_by(first))


@lru_cache(maxsize=4_000)
def bound_first(source: str) -> frozenset[str]:
    r"""The global names that a cell binds whatever it finds, before it reads them.

    Not those that its functions read, at a time that the code does not tell.

    >>> sorted(bound_first("total = start\nfor row in (1, 2):\n    total = total + row"))
    ['row', 'total']
    >>> sorted(bound_first("def step():\n    return rate\nrate = 2"))
    []
    """
    code = read_code(source)
    if code is None:
        return frozenset()
    first, seen = set[str](), set[str]()
    _bind(code.body, first, seen)
    handlers = (one.name for one in code.nodes if isinstance(one, ast.ExceptHandler) and one.name)
    return frozenset(first | (set(handlers) - seen)) - read_later(source)


@lru_cache(maxsize=4_000)
def read_later(source: str) -> frozenset[str]:
    """The global names that code reads or binds at a time that it does not tell.

    Those of its functions, and those that a text may name; all of them where it cannot be read.
    """
    code = read_code(source)
    if code is None:
        return words_of(source)
    inside = set[str]().union(*map(_global_names, code.table.get_children()))
    return _names_by_text(code) | inside


def _bind(body: Iterable[ast.stmt], first: set[str], seen: set[str]) -> None:
    """Add the names that these statements bind to `first`, if they have not been `seen` before."""
    for one in body:
        read: list[ast.expr] = []
        bound: list[str] = []
        match one:
            case ast.Assign():
                read, bound = [one.value], [name for each in one.targets for name in _plain(each)]
            case ast.With():
                read = [item.context_expr for item in one.items]
                bound = [name for item in one.items for name in _plain(item.optional_vars)]
            case ast.For(iter=ast.Tuple(elts=[_, *_]) | ast.List(elts=[_, *_])):
                read, bound = [one.iter], _plain(one.target)
            case ast.Import() | ast.ImportFrom():
                bound = [name for *_, name in _imported_by([one])]
        seen.update(*map(_names_in, read))
        first.update(name for name in bound if name not in seen)
        if isinstance(one, ast.For) and bound:  # it runs once at least
            _bind(one.body, first, seen)
        seen |= _names_in(one)


def _plain(target: ast.expr | None) -> list[str]:
    """The names that a target is made of; none where it is something else."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _names_in(node: ast.AST) -> set[str]:
    """The names in this code, without that of a caught exception where it is handled."""
    found = {name for *_, name in _imported_by(ast.walk(node))}
    waiting = [(node, frozenset[str]())]
    while waiting:
        one, caught = waiting.pop()
        if isinstance(one, ast.Name) and one.id not in caught:
            found.add(one.id)
        elif isinstance(one, ast.ExceptHandler) and one.name:
            caught |= {one.name}
        waiting += [(below, caught) for below in ast.iter_child_nodes(one)]
    return found


@lru_cache(maxsize=4_000)
def constants(source: str) -> frozenset[str]:
    r"""The names that a cell binds to what nobody can change: numbers, texts, a device.

    >>> sorted(constants("MIB, device = 2**20, gpu.device()\nKIB = MIB // 2**10\nrows = []"))
    ['KIB', 'MIB', 'device']
    >>> constants("calls = 0\ndef count():\n    global calls\n    calls += 1")
    frozenset()
    """
    code, found = read_code(source), set[str]()
    if code is None:
        return frozenset()
    bound = Counter(one.id for one in code.nodes if isinstance(one, ast.Name) and is_changed(one))
    for one in code.body:
        if isinstance(one, ast.Assign) and len(one.targets) == 1:
            names = _plain(one.targets[0])
            values = one.value.elts if isinstance(one.value, ast.Tuple) else [one.value]
            if len(names) == len(values):
                pairs = zip(names, values, strict=True)
                found |= {name for name, value in pairs if _is_fixed(value, found)}
    return frozenset(name for name in found if bound[name] == 1)


def _is_fixed(value: ast.expr, known: set[str]) -> bool:
    match value:
        case ast.Constant():
            return True
        case ast.Name():
            return value.id in known
        case ast.BinOp():
            return _is_fixed(value.left, known) and _is_fixed(value.right, known)
        case ast.Call(ast.Attribute(attr="device"), args, []):
            return all(_is_fixed(one, known) for one in args)
    return False


@lru_cache(maxsize=4_000)
def bound_anyhow(source: str) -> frozenset[str]:
    """The global names that code binds in any way, none where it is no plain Python."""
    return frozenset(name for *_, name in imports_of(source)) | (bound_names(source) or frozenset())


@lru_cache(maxsize=4_000)
def used_names(source: str) -> frozenset[str]:
    """The global names that code reads, and every text in it that could be one."""
    code = read_code(source)
    return frozenset() if code is None else _names_by_text(code) | _read_globally(code.table)


def is_changed(node: ast.Name | ast.Attribute | ast.Subscript) -> bool:
    """Whether something is stored or deleted here."""
    return isinstance(node.ctx, ast.Store | ast.Del)


def called_name(node: ast.Name | ast.Attribute) -> str:
    """The name, or the last part of the dotted one."""
    return node.id if isinstance(node, ast.Name) else node.attr


def _is_of_a_worker(node: ast.expr, shared: frozenset[str]) -> bool:
    """Whether it lies in what a loader's worker is told about itself, which is no library's."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    # By its node: ast.unparse recurses, and a learner may write 900 dots.
    return isinstance(node.func, ast.Name) and node.func.id == _WORKER_INFO in shared


def root_name(node: ast.expr) -> str:
    """The name that attributes, items and calls begin with, empty where it is none.

    >>> root_name(ast.parse("a.b[0].c()", mode="eval").body)
    'a'
    """
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


@lru_cache(maxsize=4_000)  # most cells are the same in each submission
def mentioned(source: str) -> frozenset[str] | None:
    r"""The global names that a cell reads or binds, and every text in it that may name one.

    None where it may reach others: it looks names up by their text, or cannot be read.

    >>> sorted(mentioned("def f(x):\n    return x + step\nprint(f, 'rows')"))
    ['f', 'print', 'rows', 'step']
    >>> mentioned("exec(text)") is None, mentioned("%time f()") is None
    (True, True)
    """
    code = read_code(source)
    if code is None:
        return None
    names, texts = frozenset(_global_names(code.table)), _texts(code)
    if names & _REACHING_NAMES or (names | texts) & _REACHING_ATTRIBUTES:
        return None
    if any(map(_is_history, _read_globally(code.table))) or any(map(_reaches, code.nodes)):
        return None
    return names | _names_by_text(code)


@lru_cache(maxsize=1_000)
def texts_in(source: str) -> frozenset[str] | None:
    """Every text in a cell that could be a name, None where it cannot be read."""
    code = read_code(source)
    return None if code is None else _texts(code)


@lru_cache(maxsize=1_000)
def asked_for(source: str) -> frozenset[str]:
    """The names that a test cell asks answers for; every text in it, where they are not spelt out.

    >>> sorted(asked_for("check('fit', answer('fit'), answer('step'))"))
    ['fit', 'step']
    >>> sorted(asked_for("map(answer, ('fit', 'step'))"))
    ['fit', 'step']
    """
    code = read_code(source)
    if code is None:  # a magic stands in it
        return words_of(source)
    names, called = set[str](), set[ast.expr]()
    for node in code.nodes:
        match node:
            case ast.Call(ast.Name("answer") | ast.Attribute(attr="answer"), [given, *_]):
                if not (isinstance(given, ast.Constant) and isinstance(given.value, str)):
                    return _texts(code)
                called.add(node.func)
                names.add(given.value)
    uses = {one for one in code.nodes if isinstance(one, ast.Name) and one.id == "answer"}
    return frozenset(names) if names and uses <= called else _texts(code)


def _texts(code: Code, beside: Container[ast.AST | None] = ()) -> frozenset[str]:
    values = (
        one.value for one in code.nodes if isinstance(one, ast.Constant) and one not in beside
    )
    return frozenset(one for one in values if isinstance(one, str) and one.isidentifier())


def _names_by_text(code: Code) -> frozenset[str]:
    """Every text that could be a name and be looked up as one: no key of a dict, none compared."""
    keys = set[ast.AST | None]()
    for node in code.nodes:
        match node:
            case ast.Subscript():
                keys.add(node.slice)
            case ast.Compare():
                keys.update((node.left, *node.comparators))
            case ast.Dict():
                keys.update(node.keys)
    return _texts(code, keys)


def imported_names(source: str) -> frozenset[str]:
    """The names that a cell imports at its top level, none where it cannot be read."""
    code = read_code(source)
    symbols = code.table.get_symbols() if code is not None else ()
    return frozenset(one.get_name() for one in symbols if one.is_imported())


def words_of(source: str) -> frozenset[str]:
    """What a cell of a lesson mentions that may reach names by their text, which it spells out."""
    code = read_code(source)
    if code is None:
        return frozenset(re.findall(r"[^\W\d]\w*", source))
    return _names_by_text(code) | _global_names(code.table)


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
