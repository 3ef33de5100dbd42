"""Which operators ran during a call, in a list that the call cannot rewrite.

Two torch modes see what Python code does: a function mode the public functions, a dispatch mode
the ATen operators.  Code that knows how can switch both off for a while, and can clear whatever
they keep in a Python object.  So they keep nothing: they write what they see into the list of
torch's own profiler, which is kept in C++ and has every operator anyway, seen by a mode or not.
An operator there without the note of a mode ran while the modes were off, and is listed too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial
from operator import methodcaller
from typing import Any, Protocol

import torch
from torch.autograd.graph import increment_version
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode

from course.inspection.facts import storage_number
from course.inspection.operator_notes import (
    FUNCTION,
    LISTED_LIMIT,
    MADE,
    OPERATOR,
    NoteReader,
    Trace,
)

__all__ = ["PROFILER", "Profiler", "Sessions", "Trace", "recording", "torchs_profiler"]

Scope = Callable[[str], AbstractContextManager[Any]]


class Profiler(Protocol):
    """Where the notes of a recording go, and come back from as a trace."""

    def start(self, known: frozenset[int]) -> tuple[object, Scope]:
        """A ticket for `stop`, and what a note is written with."""

    def flush(self) -> None:
        """Make room: what was noted is read and let go of. Nothing of it is lost."""

    def stop(self, ticket: object) -> Trace:
        """What was noted since the start that gave this ticket."""


@contextmanager
def recording(
    known: frozenset[int], profiler: Profiler, afterwards: Callable[[], None] = lambda: None
) -> Iterator[list[Trace]]:
    """Records while it is entered; the list holds the trace once it is left.

    `known` holds the numbers of storages that do not count as new. `afterwards` looks at what was
    made; operators of anybody's hooks that run meanwhile are listed too.
    """
    found: list[Trace] = []
    ticket, scope = profiler.start(known)
    try:
        with _Functions(scope), _Operators(scope, profiler.flush):
            yield found
        afterwards()
    finally:
        found.append(profiler.stop(ticket))


class _Operators(TorchDispatchMode):
    """Notes each ATen operator, the storages that it is given and those that it returns."""

    def __init__(self, scope: Scope, flush: Callable[[], None]) -> None:
        super().__init__()
        self._scope, self._flush, self._count = scope, flush, 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise torch wraps the method below for torch.compile, and the first recorded call
        # of a process imports torch._dynamo and sympy for it: 0.9 s (torch 2.13).
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        kwargs = kwargs or {}
        self._count += 1
        if self._count % LISTED_LIMIT == 0:
            self._flush()
        given = "".join(
            [f"|{storage_number(t)}" for t in _plain((args, list(kwargs.values())), [])]
        )
        uncounted = _uncounted(func._schema.name, args)
        with self._scope(f"{OPERATOR}{func._schema.name}{given}"):
            result = func(*args, **kwargs)
        if uncounted:
            _count_writes(uncounted)
        made = "".join([f"|{storage_number(t)}:{_nbytes(t)}" for t in _plain(result, [])])
        if made:
            with self._scope(MADE + made):
                pass
        return result


class _Functions(TorchFunctionMode):
    """Notes the public torch functions and methods that Python code calls."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._scope = scope

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        with self._scope(FUNCTION + _name_of(func)):
            pass
        return func(*args, **(kwargs or {}))


def _uncounted(name: str, args: tuple[Any, ...]) -> list[tuple[torch.Tensor, int]]:
    """What a `_foreach_…_` operator writes, with versions.

    Without a dispatch mode torch counts these writes; under one it forgets to (2.13).
    """
    if not (name.startswith("aten::_foreach_") and name.endswith("_") and args):
        return []
    return [(one, one._version) for one in _plain(args[0], []) if not one.is_inference()]


def _count_writes(written: list[tuple[torch.Tensor, int]]) -> None:
    for one, version in written:
        if one._version == version:
            increment_version(one)


_START = "start "


def _plain(leaf: Any, found: list[torch.Tensor]) -> list[torch.Tensor]:
    """The plain tensors of an operator's arguments or results."""
    kind = type(leaf)
    if kind is torch.Tensor or kind is torch.nn.Parameter:
        if leaf.layout is torch.strided:
            found.append(leaf)
    elif kind is tuple or kind is list:  # an operator nests only in these
        for one in leaf:
            _plain(one, found)
    return found


def _nbytes(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().nbytes()


@lru_cache(maxsize=1_000)
def _name_of(func: Any) -> str:
    name = resolve_name(func) or getattr(func, "__qualname__", None) or repr(func)
    return str(name)[:200]


def torchs_profiler() -> tuple[Callable[[], None], Callable[[], Any], Scope] | None:
    """What begins a session of torch's legacy profiler, ends it, and writes into it.

    None for a torch that has none of it; then the modes' notes are all there is.
    """
    try:  # private, and the only way to a list that Python code cannot reach
        from torch._C import _autograd
        from torch._C import _profiler as c

        config = (c.ProfilerState.CPU, False, False, False, False, False, c._ExperimentalConfig())
        begin = partial(_autograd._enable_profiler_legacy, c.ProfilerConfig(*config))
        return begin, _autograd._disable_profiler_legacy, c._RecordFunctionFast
    except (AttributeError, ImportError, TypeError):
        return None


class Sessions:
    """torch's legacy profiler, one session after another: its list is read when it is stopped.

    Where a profiler is on already (the caller's own, or an outer recording), notes are kept in a
    Python list, and the trace is not complete.
    """

    def __init__(
        self, profiler: tuple[Callable[[], None], Callable[[], Any], Scope] | None
    ) -> None:
        self._profiler = profiler
        self._reader: NoteReader | None = None
        self._ticket: object = None
        self._token = ""

    def start(self, known: frozenset[int]) -> tuple[object, Scope]:
        """Begin a session."""
        busy = self._reader is not None or torch.autograd._profiler_enabled()
        if busy or self._profiler is None:
            lines = _Lines(known)
            return lines, lines.scope
        self._reader, self._ticket = NoteReader(known), object()
        self._begin()
        return self._ticket, self._profiler[2]

    def flush(self) -> None:
        """Read what there is and begin anew."""
        if self._reader is not None:
            self._end()
            self._begin()

    def stop(self, ticket: object) -> Trace:
        """End the session."""
        if isinstance(ticket, _Lines):
            return ticket.trace()
        if ticket is not self._ticket or self._reader is None:
            return Trace()
        self._end()
        trace, self._reader, self._ticket = self._reader.trace(), None, None
        return trace

    def _begin(self) -> None:
        # Whoever ends the session and begins another one does not know this line.
        self._token = _START + os.urandom(16).hex()
        assert self._profiler is not None
        begin, _, scope = self._profiler
        begin()
        with scope(self._token):
            pass

    def _end(self) -> None:
        assert self._reader is not None and self._profiler is not None
        try:
            threads = self._profiler[1]()
        except RuntimeError:  # somebody ended it
            self._reader.whole = False
            return
        # The lists of several threads; notes are written on ours alone.
        events = next((one for one in threads if self._token in map(_name, one[:3])), ())
        self._reader.whole = self._reader.whole and bool(events)
        self._reader.read(events)


_name = methodcaller("name")
PROFILER = Sessions(torchs_profiler())


class _Line:
    """One event of a list that is kept in Python, asked like one of the profiler's."""

    __slots__ = ("_kind", "_name")

    def __init__(self, kind: str, name: str) -> None:
        self._kind, self._name = kind, name

    def kind(self) -> str:
        return self._kind

    def name(self) -> str:
        return self._name


class _Lines:
    """Notes in a Python list."""

    def __init__(self, known: frozenset[int]) -> None:
        self._reader, self._events = NoteReader(known), list[_Line]()

    @contextmanager
    def scope(self, name: str) -> Iterator[None]:
        """Note the name, and where its scope ends."""
        self._events.append(_Line("push", name))
        if len(self._events) > 4 * LISTED_LIMIT:
            self._read()
        try:
            yield
        finally:
            self._events.append(_Line("pop", ""))

    def _read(self) -> None:
        self._reader.read(self._events)
        self._events.clear()

    def trace(self) -> Trace:
        """What was noted."""
        self._read()
        self._reader.whole = False
        return self._reader.trace()
