"""What an answer leans on: for what a task forbids by every name, or the course has solved."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from dis import get_instructions, hasname
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from torch.overrides import TorchFunctionMode

from course.inspection.global_state import unwatched
from course.inspection.parts import held_within, parts_of
from course.probes.decorator import probe

__all__ = ["modules_named", "names_used"]


@probe
def modules_named(function: Any, calls: Sequence[Sequence[Any]] = ()) -> list[str]:
    """The modules of the functions, classes and modules that `function` is, imports or names.

    Functions and classes of the learner's own are followed, and so are partials, containers and
    attributes of objects that these name. Sorted, each once. A function of `course` is named by
    its module, `course.inspection.strides`, whatever the name it was imported under.

    No list of ways to a function is complete: with `calls` it is called, too, and the modules of
    all functions of torch, NumPy and the course count that run meanwhile.

    Args:
        function: The answer: a function, class or module.
        calls: The arguments of each call; hidden ones, or an answer may tell what it is asked.

    Raises:
        NotImplementedError: Nothing has been written yet; a call would raise it, too.
    """
    function = unwatched(function)
    _refuse_stub(function)
    with running() as ran:
        _call_each(function, calls)
    return sorted({*_modules(function, set()), *(module for module, _ in ran)})


@probe
def names_used(function: Any, calls: Sequence[Sequence[Any]] = ()) -> list[str]:
    """The globals and attributes that the code of `function` names, of its helpers as well.

    For what is forbidden by every name: `reshape` of NumPy is seen like that of torch, and
    `ShortTensor` under whatever name it was imported, or inside of a partial, a container or an
    object. Helpers are the learner's own functions, and the methods of their classes. With `calls`,
    the names of all functions of torch, NumPy and the course count that run meanwhile.

    Args:
        function: The answer: a function, class or module.
        calls: The arguments of each call; hidden ones, or an answer may tell what it is asked.

    Raises:
        NotImplementedError: Nothing has been written yet; a call would raise it, too.
    """
    function = unwatched(function)
    _refuse_stub(function)
    with running() as ran:
        _call_each(function, calls)
    return sorted({*_names_of(function, set(), is_answer=True), *(name for _, name in ran)})


@contextmanager
def running() -> Iterator[set[tuple[str, str]]]:
    """Notes which functions of torch, NumPy and the course run while it is entered.

    Each is its module and its name. What Python code calls is seen in every thread; what code in C
    calls, as `map` does, where it is torch's and in this thread.
    """
    ran: set[tuple[str, str]] = set()

    def note(module: object, name: Callable[[], object]) -> None:
        module = str(module)
        if module.partition(".")[0] in _LIBRARIES and not f"{module}.".startswith(_OURS):
            ran.add((module, str(name())))

    def noted(frame: FrameType, event: str, called: Any) -> None:
        if event == "call":
            # Most code is the answer's own, and each look at code is audited.
            note(frame.f_globals.get("__name__"), lambda: frame.f_code.co_name)
        elif event == "c_call":
            owner = called.__module__ or type(called.__self__).__module__
            note(owner, lambda: called.__name__)

    class Noting(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            note("torch", lambda: getattr(function, "__name__", ""))
            return function(*args, **(kwargs or {}))

    before = sys.getprofile()
    with Noting():
        sys.setprofile(noted)
        threading.setprofile(noted)
        try:
            yield ran
        finally:
            sys.setprofile(before)
            threading.setprofile(None)


# What runs around any call: the modes, what is printed, the notes themselves.
_OURS = ("course.testing.", "course.probes.", "course.inspection.concurrency.", "torch.overrides.")


def _call_each(function: Any, calls: Sequence[Sequence[Any]]) -> None:
    for args in calls:
        with suppress(Exception):  # which inputs are refused is another check's affair
            function(*args)


def _own_name(value: Any) -> str | None:
    """The name that a function or class was defined with, None for anything else."""
    if not isinstance(value, type | FunctionType | BuiltinFunctionType | MethodDescriptorType):
        return None
    return str(value.__name__)


def _refuse_stub(function: Any) -> None:
    """An exercise as it was handed out counts as not attempted; a look must not change that."""
    code = function.__code__ if isinstance(function, FunctionType) else None
    if code is None or code.co_names != ("NotImplementedError",):
        return
    if not any(one.opname.startswith("RETURN") for one in get_instructions(code)):
        raise NotImplementedError()


def _names_of(value: Any, seen: set[int], is_answer: bool = False) -> Iterator[str]:
    """The names of the functions and classes that `value` is or holds, and those that it uses."""
    for one in held_within(value, _parts):
        # What learners call a function of theirs says nothing.
        named = not (is_answer and one is value) and not _is_own(one)
        yield from filter(None, [_own_name(one) if named else None])
        yield from _names_in(one, seen)


def _names_in(function: Any, seen: set[int]) -> Iterator[str]:
    """The globals and attributes that a function's code names, with those of its helpers."""
    if id(function) in seen or type(function) is not FunctionType or not _is_own(function):
        return
    seen.add(id(function))
    for code in _codes(function.__code__):
        loaded = _Loaded.of(code)
        for name in code.co_names:
            found = function.__globals__.get(name) if name in loaded.globals else None
            # A function of the learner's own is followed: what it is called says nothing.
            if name in loaded.attributes or not (callable(found) and _is_own(found)):
                yield name
            yield from _names_of(found, seen)


def _parts(value: Any) -> Iterator[Any]:
    """What an object holds that may be the learner's way to a function, and its class.

    Only the learner's own objects are looked into, and what Python has for holding and wrapping:
    those of other people's classes would lead to functions that the learner never chose.
    """
    kind = type(value)
    if _is_own(kind):
        yield kind
    looked_into = issubclass(kind, _HOLDERS) or _is_own(value)
    if kind is MethodType:
        looked_into = _is_own(value.__func__) or _is_own(value.__self__)
    if looked_into or kind.__module__ == "functools":
        yield from parts_of(value)


_CONTAINERS = (dict, list, tuple, set, frozenset)
_HOLDERS = (*_CONTAINERS, CellType, property, staticmethod, classmethod)


def _is_own(value: Any) -> bool:
    """Whether the learner may have written this function or class, or the class of this object."""
    kind = type(value)
    written = value if kind is FunctionType or issubclass(kind, type) else kind
    return _FOREIGN.isdisjoint([str(written.__module__).partition(".")[0]])


def _modules(value: Any, seen: set[int]) -> Iterator[str]:
    """The modules of what `value` is, holds and names."""
    for one in held_within(value, _parts):
        if one is value or callable(one) or isinstance(one, ModuleType):  # the rest is data
            yield from _modules_at(one, seen)


def _modules_at(value: Any, seen: set[int]) -> Iterator[str]:
    """The modules of what `value` is and names; what it holds is not looked into."""
    if id(value) in seen or value is None:
        return
    seen.add(id(value))
    if isinstance(value, ModuleType):
        yield value.__name__
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
    """The modules behind the globals and imports of a function's code."""
    # A container of Python's own library is not the learner's: the one that `copy` names has NumPy.
    look = _modules if _is_own(function) else _modules_at
    for code in _codes(function.__code__):
        loaded = _Loaded.of(code)
        for number, name in enumerate(code.co_names):
            found = function.__globals__.get(name) if name in loaded.globals else None
            yield from look(found, seen)
            yield from _below(found, code.co_names[number + 1 :], seen)
        steps = get_instructions(code)
        yield from (str(one.argval) for one in steps if one.opname == "IMPORT_NAME")
        texts = (one for one in code.co_consts if isinstance(one, str))  # imported by its name
        yield from (one for one in texts if one in _LIBRARIES or _PATH.fullmatch(one))
    if look is _modules_at:
        for cell in function.__closure__ or ():
            yield from _modules_at(cell.cell_contents, seen)


def _below(value: Any, names: Sequence[str], seen: set[int]) -> Iterator[str]:
    """The modules of what is reached from a module by these attributes: `a.b.c`."""
    for name in names:
        value = vars(value).get(name) if isinstance(value, ModuleType) else None
        yield from _modules_at(value, seen)


@dataclass(frozen=True)
class _Loaded:
    """The names that a code looks up: a global and an attribute may have one name."""

    globals: frozenset[str]
    attributes: frozenset[str]

    @classmethod
    def of(cls, code: CodeType) -> _Loaded:
        """Those of this code; names that it only writes, and imports, count as attributes."""
        steps = [one for one in get_instructions(code) if one.opcode in hasname]
        loads = {one.argval for one in steps if one.opname in _LOADS_GLOBAL}
        others = {one.argval for one in steps if one.opname not in _LOADS_GLOBAL}
        return cls(frozenset(loads), frozenset(others))


_LOADS_GLOBAL = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)
