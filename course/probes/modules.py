"""What an answer leans on: for what a task forbids by every name, or the course has solved."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dis import get_instructions
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from course.inspection.global_state import unwatched
from course.probes.decorator import probe

__all__ = ["modules_named", "names_used"]


@probe
def modules_named(function: Any) -> list[str]:
    """The modules of the functions, classes and modules that `function` is, imports or names.

    Functions of the learner's own are followed. Sorted, each once. A function of `course` is named
    by its module, `course.inspection.strides`, whatever the name it was imported under.

    Args:
        function: The answer: a function, class or module.

    Raises:
        NotImplementedError: Nothing has been written yet; a call would raise it, too.
    """
    function = unwatched(function)
    _refuse_stub(function)
    return sorted(set(_modules(function, set())))


@probe
def names_used(function: Any) -> list[str]:
    """The globals and attributes that the code of `function` names, of its helpers as well.

    For what is forbidden by every name: `reshape` of NumPy is seen like that of torch, and
    `ShortTensor` under whatever name it was imported. Helpers are the learner's own functions, and
    the methods of their classes.

    Args:
        function: The answer: a function, class or module.

    Raises:
        NotImplementedError: Nothing has been written yet; a call would raise it, too.
    """
    function = unwatched(function)
    _refuse_stub(function)
    found = set[str]()
    for code, names in _own_codes(function, set()):
        found.update(code.co_names)
        found.update(filter(None, (_own_name(names.get(one)) for one in code.co_names)))
    return sorted(found)


def _own_name(value: Any) -> str | None:
    """The name that a function or class was defined with, None for anything else."""
    if not isinstance(value, type | FunctionType | BuiltinFunctionType):
        return None
    return str(value.__name__)


def _refuse_stub(function: Any) -> None:
    """An exercise as it was handed out counts as not attempted; a look must not change that."""
    code = function.__code__ if isinstance(function, FunctionType) else None
    if code is None or code.co_names != ("NotImplementedError",):
        return
    if not any(one.opname.startswith("RETURN") for one in get_instructions(code)):
        raise NotImplementedError()


def _own_codes(value: Any, seen: set[int]) -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """The code of what is the learner's own, and of all such that it names; with its globals."""
    if id(value) in seen:
        return
    seen.add(id(value))
    kind = type(value)
    if kind is FunctionType and _is_own(value):
        for code in _codes(value.__code__):
            yield code, value.__globals__
            for name in code.co_names:
                yield from _own_codes(value.__globals__.get(name), seen)
        for cell in value.__closure__ or ():
            yield from _own_codes(cell.cell_contents, seen)
    else:
        for one in _below_class(value, kind):
            yield from _own_codes(one, seen)


def _below_class(value: Any, kind: type) -> list[Any]:
    """What of a class, an object or a method may be the learner's own code."""
    if kind is MethodType:
        return [value.__func__, value.__self__]
    if kind in (staticmethod, classmethod):
        return [value.__func__]
    if kind is property:
        return [value.fget]
    if issubclass(kind, type):
        return [*vars(value).values()] if _is_own(value) else []
    return [kind] if _is_own(kind) else []


def _is_own(value: Any) -> bool:
    """Whether the learner may have written this function or class."""
    module = str(value.__module__).partition(".")[0]
    return _FOREIGN.isdisjoint([module])


def _modules(value: Any, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, ModuleType):
        yield value.__name__
        return
    if value is None:
        return
    module = getattr(value, "__module__", None)
    if isinstance(module, str):
        yield module
    if isinstance(value, FunctionType) and (module or "").partition(".")[0] not in _LIBRARIES:
        yield from _named_in(value, seen)


_PATH = re.compile(r"[a-z_]\w*(\.\w+)+", re.IGNORECASE)
_LIBRARIES = {"course", "torch", "numpy"}  # their own imports are not the learner's
_FOREIGN = _LIBRARIES | sys.stdlib_module_names


def _named_in(function: FunctionType, seen: set[int]) -> Iterator[str]:
    """The modules behind the globals, closures and imports of a function's code."""
    for code in _codes(function.__code__):
        for number, name in enumerate(code.co_names):
            found = function.__globals__.get(name)
            yield from _modules(found, seen)
            yield from _below(found, code.co_names[number + 1 :], seen)
        steps = get_instructions(code)
        yield from (str(one.argval) for one in steps if one.opname == "IMPORT_NAME")
        texts = (one for one in code.co_consts if isinstance(one, str))  # imported by its name
        yield from (one for one in texts if one in _LIBRARIES or _PATH.fullmatch(one))
    for cell in function.__closure__ or ():
        yield from _modules(cell.cell_contents, seen)


def _below(value: Any, names: Sequence[str], seen: set[int]) -> Iterator[str]:
    """The modules of what is reached from a module by these attributes: `a.b.c`."""
    for name in names:
        value = vars(value).get(name) if isinstance(value, ModuleType) else None
        yield from _modules(value, seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)
