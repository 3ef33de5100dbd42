"""Running a call once under torch's recording modes: the raw material of an observation."""

from __future__ import annotations

import builtins
import contextlib
import gc
import io
import linecache
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

import torch

from course.inspection.concurrency import counting_started
from course.inspection.error_origin import is_course_error
from course.inspection.global_state import GlobalState, restore_modes
from course.inspection.graph import Saved, saved_by
from course.inspection.operators import PROFILER, Profiler, Trace, recording

__all__ = [
    "USUAL",
    "ErrorFacts",
    "Options",
    "Recording",
    "Unrecorded",
    "error_facts",
    "gc_paused",
    "run_recorded",
    "text_of",
]

PRINTED_LIMIT = 16_384
MESSAGE_LIMIT = 4_000
OUR_FAULT = "this check could not run with torch {torch}: a fault of the course, not of your answer"


@dataclass(frozen=True)
class Options:
    """What to record beside the usual.

    `backward` sums every floating result that requires grad, calls backward and records the
    gradients of the arguments; where a call is made for each of many cases, the gradients of each
    are taken instead. `keep` keeps the result alive beside the answer, so that
    `Observation.live` can be passed on. `operators=False` runs without any recording mode.
    """

    backward: bool = False
    keep: bool = False
    operators: bool = True


USUAL = Options()


class Unrecorded:
    """Stands where operators were not recorded; to look at it is an error of the test cell's."""

    def _refuse(self, *_: object) -> NoReturn:
        raise LookupError("no operator was recorded: ask a probe for it, `watch(operators=True)`")

    __bool__ = __iter__ = __len__ = __contains__ = __getitem__ = __index__ = _refuse
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = _refuse
    __hash__ = object.__hash__


@dataclass(frozen=True)
class ErrorFacts:
    """An exception that ended a run: its class, its text and the learner's line.

    `fault` is True where it is the course's own, on this version of PyTorch.
    """

    type: str
    bases: tuple[str, ...]
    message: str
    line: int | None = None
    source: str | None = None
    fault: bool = False

    def __str__(self) -> str:
        where = f" (line {self.line}: `{self.source}`)" if self.source else ""
        return f"{self.type}: {self.message}{where}" if self.message else f"{self.type}{where}"

    def ended(self, name: str) -> str:
        """What to tell of a run that this ended: of the answer or probe called `name`."""
        if not self.fault:
            return f"`{name}` ended with {self}"
        return f"{OUR_FAULT.format(torch=torch.__version__)} ({self.type}: {self.message})"


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
    composites: tuple[str, ...] = ()
    new_nbytes: int = 0
    helpers: int = 0
    saved: tuple[Saved, ...] = ()
    complete_log: bool = True
    intact: bool = True
    changed: tuple[str, ...] = ()


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


@dataclass(frozen=True)
class Monitor:
    """What watches a call from outside of Python's reach; the engine puts its own in.

    `intact` tells whether the code that measures is what it was, `profiler` keeps the list of
    operators, `helpers` counts the threads and processes that the system has started until now,
    `beside` those that run beside the call.
    """

    intact: Callable[[], bool] = lambda: True
    profiler: Profiler = PROFILER
    helpers: Callable[[], int] = lambda: 0
    beside: Callable[[], int] = lambda: 0


NO_MONITOR = Monitor()


def run_recorded(
    call: Callable[[], Any], known: set[int], options: Options, monitor: Monitor = NO_MONITOR
) -> Recording:
    """Run `call` once and record it. Only KeyboardInterrupt passes through.

    `known` holds the storage numbers of the arguments, which do not count as new.
    """
    printed, error, result, intact = _CappedText(), None, None, monitor.intact
    traces, warned, saved = [Trace()], list[tuple[str, str]](), list[Saved]()

    def look() -> None:
        saved.extend(saved_by(result))  # unpacks them, by hooks that may be the learner's

    beside, before, state = monitor.beside(), monitor.helpers(), GlobalState()
    with counting_started() as started, _Captured(printed) as caught:
        before_call = intact()  # to enter may have run the learner's code, and so may to leave
        try:
            with _log(options.operators, known, monitor.profiler, look) as traces:
                try:
                    result = call()
                finally:
                    whole = intact()  # before anything that the call may have replaced is used
                    warned += _told(caught)
        except KeyboardInterrupt:
            raise
        except BaseException as raised:
            error = error_facts(raised)
            # The traceback would keep the learner's tensors alive for as long as it lives.
            raised.__traceback__ = None
    whole = intact() and before_call and whole
    return Recording(
        changed=_put_back(state),
        result=result,
        error=error,
        warnings=tuple(warned),
        printed="".join(printed.kept),
        printed_count=printed.count,
        **vars(traces[0]),
        helpers=beside + max(started.count, monitor.helpers() - before),
        saved=tuple(saved),
        intact=whole,
    )


def _log(
    on: bool, known: set[int], profiler: Profiler, afterwards: Callable[[], None]
) -> contextlib.AbstractContextManager[list[Trace]]:
    return recording(frozenset(known), profiler, afterwards) if on else _Unrecorded(afterwards)


def _put_back(state: GlobalState) -> tuple[str, ...]:
    """What is no longer as it was then; modes become what they were."""
    changed = tuple(GlobalState().changed_since(state))
    restore_modes(state)
    return changed


def _told(caught: list[warnings.WarningMessage]) -> list[tuple[str, str]]:
    """Class and text of the first warnings; none is kept.

    What a warning says, and what becomes of it, may be the learner's code: it runs while recorded.
    """
    told = [(one.category.__name__, text_of(one.message)) for one in caught[:100]]
    caught.clear()
    return told


_collects, _collect, _do_not_collect = gc.isenabled, gc.enable, gc.disable


@contextlib.contextmanager
def gc_paused() -> Iterator[Callable[[], contextlib.AbstractContextManager[None]]]:
    """No garbage is collected while it is entered, but in the context that it gives.

    What is collected may have a `__del__`, and `gc.callbacks` may hold anybody's functions.
    """
    before = _collects()

    @contextlib.contextmanager
    def gc_resumed() -> Iterator[None]:
        if before:
            _collect()
        try:
            yield
        finally:
            _do_not_collect()

    _do_not_collect()
    try:
        yield gc_resumed
    finally:
        if before:
            _collect()


_sys = vars(sys)  # its streams; beside an answer the name `sys` stands for a copy


class _Captured:
    """What is printed and warned of while it is entered."""

    def __init__(self, printed: _CappedText) -> None:
        self._printed = printed
        self._warnings = warnings.catch_warnings(record=True)

    def __enter__(self) -> list[warnings.WarningMessage]:
        self._streams = _sys["stdout"], _sys["stderr"]
        _sys["stdout"] = _sys["stderr"] = self._printed
        caught = self._warnings.__enter__()
        warnings.simplefilter("always")
        return caught

    def __exit__(self, *raised: Any) -> None:
        self._warnings.__exit__(*raised)
        _sys["stdout"], _sys["stderr"] = self._streams


class _Unrecorded:
    """Stands where no operators are recorded."""

    def __init__(self, afterwards: Callable[[], None]) -> None:
        self._afterwards = afterwards

    def __enter__(self) -> list[Trace]:
        return [Trace(complete_log=True)]

    def __exit__(self, kind: type[BaseException] | None, *raised: Any) -> None:
        if kind is None:
            self._afterwards()


def error_facts(error: BaseException) -> ErrorFacts:
    """The plain form of an exception that the caller has caught, with the learner's last line."""
    traceback = error.__traceback__  # begins with the caller; beside an answer each look is audited
    line, source = _own_line(None if traceback is None else traceback.tb_next)
    bases = tuple(_names_of(type(error)))
    name, message = type(error).__name__[:200], text_of(error)
    return ErrorFacts(name, bases, message, line, source, is_course_error(error))


def _names_of(kind: type) -> Iterator[str]:
    """The names of a class and of its line of bases, without any that is another class's.

    An answer must not be right whichever exception is wanted: its own class may call itself
    "builtins.IndexError", or have many bases. Of these the main one counts.
    """
    classes, following = 20, kind
    while following is not None and classes:
        name = f"{_module_of(following)}.{_name_of(following)}"[:200]
        known = _named(name)
        if known is None or known is following:
            yield name
        classes, following = classes - 1, _base_of(following)


def _named(name: str) -> Any:
    """What a module holds under this name; None where none does."""
    if name.startswith("builtins."):
        return _BUILTINS.get(name.removeprefix("builtins."))
    parts = name.split(".")
    for count in range(len(parts) - 1, 0, -1):
        found: Any = sys.modules.get(".".join(parts[:count]))
        if found is not None:
            for part in parts[count:]:
                found = getattr(found, "__dict__", {}).get(part)
            return found
    return None


# As they are before an answer is run, which may write others to `builtins`; a metaclass may do
# the same to what a class says of itself.
_BUILTINS = dict(vars(builtins))
_module_of, _name_of, _base_of = (
    vars(type)[name].__get__ for name in ("__module__", "__qualname__", "__base__")
)


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
