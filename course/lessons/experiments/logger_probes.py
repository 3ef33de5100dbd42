"""What the tests of loggers need: what they're given, what becomes of it, what they hold on to.

Of a record, the values that were logged are overwritten each time; "asked" are the torch functions
that are called when it's read at last.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from course.probes.decorator import probe

__all__ = ["logger_run", "record_kept"]


class _Saved:
    """A tensor that a graph has saved for its backward pass."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class _Values:
    """Makes the values that are logged, and knows later which of them still live.

    A value is a number or a tensor as it is, or a list: ["graph", 1.5] is a tensor with a graph
    behind it ([1.5] instead gives it a dimension), ["called", 1.5] a function that makes one,
    ["broken"] a function that raises an error, ["elsewhere"] a tensor of which no number can be
    read, for it has no memory, and ["called", "elsewhere"] a function that makes such a one.
    """

    def __init__(self, work: _Work) -> None:
        self.saved: weakref.WeakSet[_Saved] = weakref.WeakSet()
        self.tensors: list[weakref.ref[torch.Tensor]] = []
        self.memory: list[torch.Tensor] = []  # of these tensors, whether they live or not
        self.calls: list[bool] = []
        self.attached: list[bool] = []  # those that still require grad, after they were taken
        self._work = work

    def made(self, value: Any) -> Any:
        """The value to be handed over; tensors are noted."""
        match value:
            case ["graph", number]:
                return self._recorded(number)
            case ["called", number]:
                return lambda: self._called(number)
            case ["broken"]:
                return self._broken
            case ["elsewhere"]:
                return self._noted(torch.empty((), device="meta"))
            case torch.Tensor():
                return self._noted(value.clone())
            case _:
                return value

    def overwrite(self) -> None:
        """Write another number into the memory of each tensor that was handed over."""
        with torch.inference_mode():  # no_grad refuses tensors that were made in such a block
            for memory in self.memory:
                memory.fill_(77)

    @property
    def alive(self) -> bool:
        """Whether a graph, a tensor that was handed over, or one made of it still lives."""
        tensors = (*self.tensors, *self._work.made)
        return bool(self.saved) or any(one() is not None for one in tensors)

    @property
    def graphs(self) -> bool:
        """Whether a graph still lives."""
        return bool(self.saved)

    def _noted(self, tensor: torch.Tensor) -> torch.Tensor:
        self.tensors.append(weakref.ref(tensor))
        self.memory.append(tensor.detach())
        return tensor

    def _recorded(self, number: float | list[Any]) -> torch.Tensor:
        weight = torch.tensor(number, requires_grad=True)

        def noted(tensor: torch.Tensor) -> _Saved:
            box = _Saved(tensor)
            self.saved.add(box)
            return box

        with torch.autograd.graph.saved_tensors_hooks(noted, lambda box: box.tensor):
            return self._noted(weight * torch.ones(()))

    def _called(self, number: float | list[Any] | str) -> torch.Tensor:
        self.calls.append(torch.is_grad_enabled())
        with self._work.paused():
            if isinstance(number, str):
                return self._noted(torch.empty((), device="meta"))
            return self._recorded(number)

    def _broken(self) -> torch.Tensor:
        raise ZeroDivisionError("no batches")


class _Work:
    """Notes down the torch functions that are called, and the tensors that they make.

    Operators would need a dispatch mode, whose first use imports torch._dynamo: a second of
    processor time for each submission.
    """

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.made: list[weakref.ref[torch.Tensor]] = []
        self._paused = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A block whose functions are noted."""
        with _Functions(self):
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A block of which nothing is noted."""
        self._paused = True
        try:
            yield
        finally:
            self._paused = False

    def note(self, name: str) -> None:
        """Add a name, unless there's a pause."""
        if not self._paused:
            self.functions.append(name)

    def note_made(self, result: Any) -> None:
        """Add the tensors of a result, unless there's a pause."""
        for one in result if isinstance(result, tuple | list) else (result,):
            if isinstance(one, torch.Tensor) and not self._paused:
                self.made.append(weakref.ref(one))


class _Functions(TorchFunctionMode):
    def __init__(self, work: _Work) -> None:
        super().__init__()
        self._work = work

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._work.note(getattr(func, "__name__", str(func)))
        result = func(*args, **(kwargs or {}))
        self._work.note_made(result)
        return result


def _spoil(value: Any) -> None:
    """Change lists and dicts, and those inside them."""
    if isinstance(value, dict):
        for one in list(value.values()):
            _spoil(one)
        value["spoilt"] = 1
    elif isinstance(value, list):
        for one in value:
            _spoil(one)
        value.append("spoilt")


def _error(call: Callable[[], Any]) -> str | None:
    """The name of the error that ends the call; None without one.

    A class of one's own has the name of Python's class that it's made of.
    """
    try:
        call()
    except Exception as raised:
        kinds = type(raised).__mro__
        return next(one.__name__ for one in kinds if one.__module__ == "builtins")
    return None


def _logged(
    record: Any, values: _Values, work: _Work, row: dict[str, Any], *step: int
) -> tuple[str | None, list[tuple[str, bool]]]:
    """The error that ends `record.log(…)`, and what was left of the dict that was handed over.

    For each name in it that's whether it still stands for the same object. All of it is changed
    afterwards.
    """
    given = {name: values.made(value) for name, value in row.items()}
    before = dict(given)
    with work.watched():
        found = _error(partial(record.log, given, *step))
    left = [(name, value is before.get(name)) for name, value in given.items()]
    values.overwrite()
    _spoil(given)
    return found, left


def _types(row: dict[str, Any]) -> dict[str, str]:
    return {name: type(value).__name__ for name, value in row.items()}


@probe
def record_kept(
    made: Callable[..., Any], config: dict[str, Any], script: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    """What a record made by `made(config)` holds after a script.

    Args:
        made: The answer; returns what has `log(values, step)`, `config`, `rows` and `summary`.
        config: What it is called with.
        script: Its lines are ["log", values] or ["log", values, step], ["spoil config"] (what was
            handed over), ["spoil results"] (what the record gave) and ["another"] (a second record
            is made, which logs something, too); any other one, such as ["look"], looks at
            everything.
    """
    work, asked = _Work(), _Work()
    given, values = deepcopy(config), _Values(work)
    record = made(given)
    logged, others = list[tuple[str | None, list[tuple[str, bool]]]](), list[Any]()
    for what, *more in script:
        if what == "log":
            logged.append(_logged(record, values, work, *more))
        elif what == "spoil config":
            _spoil(given)
        elif what == "another":
            others.append(made({"other": 1}))
            others[-1].log({"other": 9.0}, 40)
        else:
            for one in (record.config, record.rows, record.summary):
                (_spoil if what == "spoil results" else repr)(one)
    with asked.watched():
        config, rows, summary = record.config, record.rows, record.summary
    return {
        "config": config,
        "rows": rows,
        "summary": summary,
        "errors": [error for error, _ in logged],
        "left": [left for _, left in logged],
        "alive": values.alive,
        "asked": asked.functions,
        "types": [_types(row) for row in rows if isinstance(row, dict)],
    }


@probe
def logger_run(
    made: Callable[..., Any],
    script: Sequence[Sequence[Any]],
    on: bool | None = True,
    *,
    facts: Sequence[str] = (),
) -> dict[str, Any]:
    """What becomes of the values that a logger is given.

    Args:
        made: Called with `(write, on)`; returns what has `add(name, value, step)` and `flush()`.
        script: Its lines are ["add", name, value, step], ["flush"], ["overwrite"] (the tensors that
            were given), ["grad mode", on] and ["fail", count]: the function `write` breaks after
            this many more calls.
        on: Passed on; None calls `made(write)`.
        facts: The keys asked for; none for all.
    """
    sink, work = _Sink(), _Work()
    values = _Values(work)
    logger = made(sink.write) if on is None else made(sink.write, on)
    errors, after = list[str | None](), list[tuple[int, bool, bool]]()
    with torch.enable_grad():
        for what, *more in script:
            if what == "add":
                errors.append(_added(logger, values, work, *more))
            elif what == "flush":
                errors.append(_error(logger.flush))
            else:
                _prepared(what, *more, values=values, sink=sink)
            after.append((len(sink.written), values.graphs, torch.is_grad_enabled()))
    seen = {
        "written": sink.written,
        "types": [type(one[1]).__name__ for one in sink.written],
        "counts": [count for count, _, _ in after],
        "graphs": [graph for _, graph, _ in after],
        "alive": values.alive,
        "errors": errors,
        "functions": work.functions,
        "calls": values.calls,
        "attached": values.attached,
        "modes": [mode for _, _, mode in after],
    }
    return {name: seen[name] for name in facts or seen}


def _prepared(what: str, *more: Any, values: _Values, sink: _Sink) -> None:
    """Do a line of a script that isn't the logger's."""
    if what == "overwrite":
        values.overwrite()
    elif what == "grad mode":
        torch.set_grad_enabled(more[0])
    else:
        sink.left = more[0]


class _Sink:
    """Where a logger writes to; breaks once, after `left` more calls."""

    def __init__(self) -> None:
        self.written: list[list[Any]] = []
        self.left = float("inf")

    def write(self, name: str, number: float, step: int) -> None:
        """Note down a value, or break."""
        if self.left < 1:
            self.left = float("inf")
            raise OSError("No space left on device")
        self.left -= 1
        self.written.append([name, number, step])


def _added(
    logger: Any, values: _Values, work: _Work, name: str, value: Any, step: int
) -> str | None:
    """The error that ends `logger.add(…)`; the torch functions that it calls are noted."""
    given = values.made(value)
    with work.watched():
        found = _error(partial(logger.add, name, given, step))
    if isinstance(given, torch.Tensor):
        values.attached.append(given.requires_grad)
    return found
