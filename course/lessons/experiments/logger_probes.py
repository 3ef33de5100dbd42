"""What the tests of loggers need: what they're given, what becomes of it, what they hold on to.

Of a record, the values that were logged are overwritten each time; "asked" are the torch functions
that are called when it's read at last.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from course.inspection.class_names import class_name
from course.probes.decorator import probe
from course.probes.sealing import sealed

__all__ = ["logger_run", "record_kept"]


class _Saved:
    """A tensor that a graph has saved for its backward pass."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


class _Values:
    """Makes the values that are logged, and knows later which of them still live.

    A value is a number or a tensor as it is, or a list: ["graph", 1.5] is a tensor with a graph
    behind it ([1.5] instead gives it a dimension), ["called", 1.5] a function that makes one, and
    ["parameter", 1.5] an `nn.Parameter`.
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
            case ["parameter", number]:
                return self._noted(torch.nn.Parameter(torch.tensor(number)))
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

    def _called(self, number: float | list[Any]) -> torch.Tensor:
        self.calls.append(torch.is_grad_enabled())
        with self._work.paused():
            return self._recorded(number)


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
        """Add a name, unless there's a pause; `no_grad` as a decorator asks for nothing."""
        if not self._paused and name != "_set_grad_enabled":
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
    """Change lists and dicts, and those inside them and inside tuples."""
    if isinstance(value, dict):
        for one in list(value.values()):
            _spoil(one)
        value["spoilt"] = 1
    elif isinstance(value, list):
        for one in value:
            _spoil(one)
        value.append("spoilt")
    elif isinstance(value, tuple):
        for one in value:
            _spoil(one)


def _logged(
    record: Any, values: _Values, work: _Work, row: dict[str, Any]
) -> list[tuple[str, bool]]:
    """What `record.log(…)` leaves of the dict that it's given.

    For each name in it that's whether it still stands for the same object. All of it is changed
    afterwards.
    """
    given = {name: values.made(value) for name, value in row.items()}
    before = dict(given)
    with work.watched():
        record.log(given)
    left = [(name, value is before.get(name)) for name, value in given.items()]
    values.overwrite()
    _spoil(given)
    return left


def _types(row: dict[str, Any]) -> dict[str, str]:
    return {name: class_name(value) for name, value in row.items()}


@probe
def record_kept(
    made: Callable[..., Any], config: dict[str, Any], script: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    """What a record made by `made(config)` holds after a script.

    Args:
        made: The answer; returns what has `log(values)`, `config` and `rows`.
        config: What it is called with.
        script: Its lines are ["log", values], ["spoil config"] (what was handed over), ["spoil
            results"] (what the record gave) and ["another"] (a second record is made, which logs
            something, too); any other one, such as ["look"], looks at everything.
    """
    work, asked = _Work(), _Work()
    given, values = deepcopy(config), _Values(work)
    record = made(given)
    left, others = list[list[tuple[str, bool]]](), list[Any]()
    for what, *more in script:
        if what == "log":
            left.append(_logged(record, values, work, *more))
        elif what == "spoil config":
            _spoil(given)
        elif what == "another":
            others.append(made({"other": 1}))
            others[-1].log({"other": 9.0})
        else:
            for one in (record.config, record.rows):
                (_spoil if what == "spoil results" else repr)(one)
    with asked.watched():
        config, rows = record.config, record.rows
    return {
        "config": config,
        "rows": rows,
        "left": left,
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
        script: Its lines are ["add", name, value, step], ["flush"] and ["overwrite"] (the tensors
            that were given).
        on: Passed on; None calls `made(write)`.
        facts: The keys asked for; none for all.
    """
    written, work = list[list[Any]](), _Work()

    def write(name: str, number: float, step: int) -> None:
        written.append([name, number, step])

    values = _Values(work)
    logger = made(sealed(write)) if on is None else made(sealed(write), on)
    after = list[tuple[int, bool]]()
    with torch.enable_grad():
        for what, *more in script:
            if what == "add":
                _added(logger, values, work, *more)
            elif what == "flush":
                logger.flush()
            else:
                values.overwrite()
            after.append((len(written), values.graphs))
    seen = {
        "written": written,
        "types": [class_name(one[1]) for one in written],
        "counts": [count for count, _ in after],
        "graphs": [graph for _, graph in after],
        "alive": values.alive,
        "functions": work.functions,
        "calls": values.calls,
        "attached": values.attached,
    }
    return {name: seen[name] for name in facts or seen}


def _added(logger: Any, values: _Values, work: _Work, name: str, value: Any, step: int) -> None:
    """Call `logger.add(…)`, and note the torch functions that it calls."""
    given = values.made(value)
    with work.watched():
        logger.add(name, given, step)
    if isinstance(given, torch.Tensor):
        values.attached.append(given.requires_grad)
