"""Running a call once under torch's recording modes: the raw material of an observation."""

from __future__ import annotations

import contextlib
import io
import linecache
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._python_dispatch import TorchDispatchMode

from course.inspection.facts import storage_number
from course.inspection.graph import Saved, saved_by

__all__ = ["USUAL", "ErrorFacts", "Options", "Recording", "error_facts", "run_recorded", "text_of"]

PRINTED_LIMIT = 16_384
MESSAGE_LIMIT = 4_000
_LISTED_LIMIT = 20_000


@dataclass(frozen=True)
class Options:
    """What to record beside the usual.

    `backward` sums every floating result that requires grad, calls backward and records the
    gradients of the arguments. `keep` keeps the result alive beside the answer, so that
    `Observation.live` can be passed on. `operators=False` runs without any recording mode.
    """

    backward: bool = False
    keep: bool = False
    operators: bool = True


USUAL = Options()


@dataclass(frozen=True)
class ErrorFacts:
    """An exception that ended a run: its class, its text and the learner's line."""

    type: str
    bases: tuple[str, ...]
    message: str
    line: int | None = None
    source: str | None = None

    def __str__(self) -> str:
        where = f" (line {self.line}: `{self.source}`)" if self.source else ""
        return f"{self.type}: {self.message}{where}" if self.message else f"{self.type}{where}"


@dataclass(frozen=True)
class Recording:
    """The raw outcome of one run inside the process that ran it."""

    result: Any = None
    error: ErrorFacts | None = None
    warnings: tuple[tuple[str, str], ...] = ()
    printed: str = ""
    printed_count: int = 0
    operators: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    new_nbytes: int = 0
    saved: tuple[Saved, ...] = ()


class _OperatorLog(TorchDispatchMode):
    """Lists ATen operators and adds up the storages that they create."""

    def __init__(self, known: set[int]) -> None:
        super().__init__()
        self.names: list[str] = []
        self.known = known
        self.new_nbytes = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Otherwise torch wraps the method below for torch.compile, and the first recorded call
        # of a process imports torch._dynamo and sympy for it: 0.9 s (torch 2.13).
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        kwargs = kwargs or {}
        if len(self.names) < _LISTED_LIMIT:
            self.names.append(str(func._schema.name))
        self._see((args, list(kwargs.values())))
        result = func(*args, **kwargs)
        self.new_nbytes += self._see(result)
        return result

    def _see(self, leaf: Any) -> int:
        """The bytes of storages met for the first time; an operator nests only in lists."""
        if type(leaf) in (list, tuple):
            return sum(map(self._see, leaf))
        if type(leaf) is not torch.Tensor and type(leaf) is not torch.nn.Parameter:
            return 0
        if leaf.layout is not torch.strided:
            return 0
        number = storage_number(leaf)
        if number in self.known:
            return 0
        self.known.add(number)
        return int(leaf.untyped_storage().nbytes())


class _FunctionLog(TorchFunctionMode):
    """Lists the public torch functions and methods that Python code calls."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        if len(self.names) < _LISTED_LIMIT:
            self.names.append(_name_of(func))
        return func(*args, **(kwargs or {}))


@lru_cache(maxsize=1_000)
def _name_of(func: Any) -> str:
    name = resolve_name(func) or getattr(func, "__qualname__", None) or repr(func)
    return str(name)[:200]


class _CappedText(io.TextIOBase):
    """Keeps the first characters that are printed and counts the rest."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[str] = []
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        room = PRINTED_LIMIT - self.count
        if room > 0:
            self.kept.append(text[:room])
        self.count += len(text)
        return len(text)


@contextlib.contextmanager
def _logs(on: bool, known: set[int]) -> Iterator[tuple[_OperatorLog, _FunctionLog]]:
    operators, functions = _OperatorLog(known), _FunctionLog()
    if not on:
        yield operators, functions
        return
    with functions, operators:
        yield operators, functions


def run_recorded(call: Callable[[], Any], *, known: set[int], options: Options) -> Recording:
    """Run `call` once and record it. Only KeyboardInterrupt passes through.

    `known` holds the storage numbers of the arguments, which do not count as new.
    """
    printed, error, result = _CappedText(), None, None
    logs: tuple[_OperatorLog, _FunctionLog] = (_OperatorLog(known), _FunctionLog())
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        try:
            with _logs(options.operators, known) as logs:
                result = call()
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            error = error_facts(raised)
            # The traceback would keep the learner's tensors alive for as long as it lives.
            raised.__traceback__ = None
    return Recording(
        result=result,
        error=error,
        warnings=tuple((w.category.__name__, text_of(w.message)) for w in caught[:100]),
        printed="".join(printed.kept),
        printed_count=printed.count,
        operators=tuple(logs[0].names),
        functions=tuple(logs[1].names),
        new_nbytes=logs[0].new_nbytes,
        saved=saved_by(result) if error is None else (),
    )


def error_facts(error: BaseException) -> ErrorFacts:
    """The plain form of an exception, with the deepest line that the learner wrote."""
    line, source = _own_line(error.__traceback__)
    bases = tuple(f"{c.__module__}.{c.__qualname__}"[:200] for c in type(error).__mro__[:20])
    return ErrorFacts(type(error).__name__[:200], bases, text_of(error), line, source)


def text_of(error: object) -> str:
    """What `str` makes of an object that may be hostile, at most MESSAGE_LIMIT characters."""
    try:
        text = str(error)
    except BaseException:
        return "(its text could not be read)"
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 1] + "…"


_PACKAGE = str(Path(__file__).parents[1])
_LIBRARIES = tuple(
    {_PACKAGE, *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib"))}
)


def _own_line(traceback: TracebackType | None) -> tuple[int | None, str | None]:
    found: tuple[int | None, str | None] = (None, None)
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if not name.startswith(_LIBRARIES) and not name.startswith("<frozen"):
            source = linecache.getline(name, traceback.tb_lineno).strip()
            if source:
                found = traceback.tb_lineno, source[:200]
        traceback = traceback.tb_next
    return found
