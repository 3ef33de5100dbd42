"""Reading what a profiler has listed: the operators and functions that ran, as a `Trace`.

The list has a scope for each operator, and for each note that a mode wrote: see `operators`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import torch

__all__ = ["FUNCTION", "LISTED_LIMIT", "MADE", "OPERATOR", "NoteReader", "Trace"]

LISTED_LIMIT = 20_000
# How notes begin; no operator has a name like that.
OPERATOR, MADE, FUNCTION = "operator ", "made ", "function "


@dataclass(frozen=True)
class Trace:
    """What ran between two moments on one thread.

    `operators` are ATen names in order ("aten::clone"), `functions` the public torch functions
    called ("torch.Tensor.reshape").  `composites` are the ATen names that Python code asked for,
    each once: also those that only call others ("aten::reshape").  After 20,000 entries a list
    names each only once more.  `new_nbytes` counts the bytes of storages that operators created.
    Where `complete_log` is False, torch's profiler did not see all of it, and an operator that ran
    while the modes were off is missing.
    """

    operators: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    composites: tuple[str, ...] = ()
    new_nbytes: int = 0
    complete_log: bool = False


@dataclass(slots=True)
class _Open:
    """A scope that has not been left: what it is, and what was seen in it."""

    name: str
    torchs: bool = False  # torch itself opened it
    own: bool = False  # an operator that somebody made beside torch's
    expects: str = ""  # the one operator that this note is about
    covered: bool = False  # a mode was asked in it
    leaf: bool = False  # an operator with a kernel of its own, outermost of its kind


@dataclass
class NoteReader:
    """Reads the profiler's list: scopes that were entered ("push") and left ("pop")."""

    known: Iterable[int]
    whole: bool = True
    operators: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    composites: dict[str, None] = field(default_factory=dict)
    new_nbytes: int = 0

    def __post_init__(self) -> None:
        self._known, self._stack = set(self.known), list[_Open]()
        self._beyond = set[tuple[int, str]]()  # names in a list that is full

    def trace(self) -> Trace:
        """What was read so far."""
        return Trace(
            operators=tuple(self.operators),
            functions=tuple(self.functions),
            composites=tuple(self.composites),
            new_nbytes=self.new_nbytes,
            complete_log=self.whole,
        )

    def read(self, events: Iterable[Any]) -> None:
        """Go through events in order; the first of them is outside of every scope."""
        stack, deep = self._stack, 0
        stack.clear()
        for event in events:
            kind = event.kind()
            if kind == "push":
                if deep:
                    deep += 1
                elif stack and stack[-1].expects:
                    # What runs in the kernel of an operator that was noted is its own affair.
                    self._in_note(event.name())
                    deep = 1
                else:
                    self._enter(event.name())
            elif kind == "pop":
                if deep:
                    deep -= 1
                elif stack:
                    self._leave(stack.pop())

    def _in_note(self, name: str) -> None:
        """This should be the operator that the note announced; nothing else may stand there."""
        if name != self._stack[-1].expects and (_NAME.fullmatch(name) or name.startswith(OPERATOR)):
            self.whole = False

    def _enter(self, name: str) -> None:
        scope = _Open(name)
        self._stack.append(scope)
        if name.startswith(OPERATOR):
            self._note(scope)
        elif name.startswith(MADE):
            self._made(name)
        elif name.startswith(FUNCTION):
            self._list(self.functions, name[len(FUNCTION) :])
        else:
            self._enter_torchs(scope)

    def _enter_torchs(self, scope: _Open) -> None:
        name = scope.name
        kind = _kind_of(name)
        if name == "PythonDispatchMode":
            self._cover()
        elif kind is not None:
            if self._is_asked_for():
                self.composites.setdefault(name)
            scope.leaf = kind == "kernel" and not self._in_kernel()
        scope.torchs = _is_torchs(name)
        scope.own = kind is not None and name not in operators_of_torch()[0]

    def _is_asked_for(self) -> bool:
        """Whether somebody's own code asked for the operator entered last, and not torch itself."""
        for one in reversed(self._stack):
            if one.own or one.torchs:
                return one.own
        return True

    def _leave(self, scope: _Open) -> None:
        if scope.leaf and not scope.covered:
            self._list(self.operators, scope.name)  # it ran while the modes were off

    def _note(self, scope: _Open) -> None:
        name, *given = scope.name[len(OPERATOR) :].split("|")
        # In the kernel of an operator that is somebody's own there is work of theirs to see.
        scope.expects = name if name in operators_of_torch()[0] else ""
        self._list(self.operators, name)
        self._known.update(map(int, given))
        self._cover()

    def _made(self, name: str) -> None:
        for pair in name.split("|")[1:]:
            number, _, nbytes = pair.partition(":")
            if int(number) not in self._known:
                self._known.add(int(number))
                self.new_nbytes += int(nbytes)

    def _cover(self) -> None:
        for scope in self._stack:
            scope.covered = True

    def _in_kernel(self) -> bool:
        """Whether an operator around this one, with no mode in between, has a kernel itself."""
        for scope in reversed(self._stack[:-1]):
            if scope.name == "PythonDispatchMode":
                return False
            if scope.leaf:
                return True
        return False

    def _list(self, names: list[str], name: str) -> None:
        if len(names) < LISTED_LIMIT:
            names.append(name)
        elif (key := (id(names), name)) not in self._beyond:
            self._beyond.add(key)
            names.append(name)


_TORCHS = re.compile(r"[a-z_]\w*::|PythonDispatchMode$|\w+Backward\d*$")


@lru_cache(maxsize=4_000)
def _is_torchs(name: str) -> bool:
    """Whether torch itself opens a scope of this name: an operator, the backward pass, a mode."""
    return _TORCHS.match(name) is not None


_NAME = re.compile(r"[a-z_]\w*::\w+")


@lru_cache(maxsize=4_000)
def _kind_of(name: str) -> str | None:
    """What an operator of this name has: a "kernel", or a "composite" of others; else None."""
    if not _NAME.fullmatch(name):
        return None
    all_of_torch, composites = operators_of_torch()
    if name in all_of_torch:
        return "composite" if name in composites else "kernel"
    # It came later, and is somebody's own: what it calls is what they call.
    return "composite" if torch._C._jit_get_schemas_for_operator(name) else None


@lru_cache(maxsize=1)
def operators_of_torch() -> tuple[frozenset[str], frozenset[str]]:
    """The names of all operators, and of those that are composites, when it is first asked.

    Both take 5 ms; to look at the schemas of one operator takes up to 1 ms (torch 2.13).
    """
    composites = torch._C._dispatch_get_registrations_for_dispatch_key(_COMPOSITE)
    names = (torch._C._dispatch_get_all_op_names(), composites)
    found = [frozenset(overload.partition(".")[0] for overload in one) for one in names]
    return found[0], found[1]


_COMPOSITE = "CompositeImplicitAutograd"
