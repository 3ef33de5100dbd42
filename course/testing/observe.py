"""Run something once and record what happened, as plain data that outlives the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from types import FunctionType
from typing import Any, NoReturn

import torch

from course.inspection.facts import storage_number
from course.inspection.global_state import ModuleState
from course.inspection.graph import Saved
from course.inspection.tree_leaves import tree_leaves
from course.serialization import Buffers, Keep, WireError, decode, encode
from course.serialization.delta_encoding import (
    ArgumentsBefore,
    Sent,
    arguments_before,
    arguments_in,
)
from course.serialization.received import Absent, Deferred, Handle, Value, note_missed
from course.serialization.text import visible
from course.testing.agreement.running import run_cases
from course.testing.recording import (
    MESSAGE_LIMIT,
    NO_MONITOR,
    PRINTED_LIMIT,
    USUAL,
    ErrorFacts,
    Monitor,
    Options,
    Recording,
    gc_paused,
    run_recorded,
    text_of,
)

__all__ = ["ErrorFacts", "NotDefinedError", "Observation", "Options", "observe"]


class NotDefinedError(NameError):
    """A test asked for a name that the notebook does not define."""


@dataclass(frozen=True)
class Observation:
    """What one run did: values before and after, the error, and what torch executed.

    `args` and `kwargs` are the arguments before the call, `args_after` the same ones after it;
    after an exception they are absent, like the result.
    `operators` are ATen names in order ("aten::clone"), `functions` the torch functions called
    ("torch.Tensor.reshape"), `composites` the ATen names that Python code asked for, with those
    that only call others ("aten::reshape"). `new_nbytes` counts the storages that operators
    created, also those freed again; `saved` the tensors that the result's graph keeps for
    backward. `helpers` counts the threads and processes that the run started or that ran beside
    it: what those do, no list of operators shows, and for all of it OUT_OF_SIGHT stands at the end
    of `operators`. `complete_log` is False where torch's profiler
    could not see the run. `changed` names the modes, defaults and generators that it did not
    leave as they were, and `parameters` the positional parameters of the function that was
    called. `as_sent` says that the arguments arrived just as they were sent, and `untouched` that
    nothing at all about them is different afterwards. `asked` is a digest of the request, empty
    where nobody computed one; `call` writes it as code.
    """

    name: str
    result: Value
    args: Value
    kwargs: Value
    args_after: Value
    kwargs_after: Value
    grads: Value
    live: Value
    error: ErrorFacts | None = None
    attempted: bool = True
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
    changed: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    as_sent: bool = False
    untouched: bool = False
    asked: bytes = b""
    call: Callable[[], str] | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"what `{self.name}` did is neither true nor false: ask for its .result, or whether "
            "it is .ok"
        )

    @property
    def ok(self) -> bool:
        """Whether the run ended without an exception."""
        if self.error is not None:
            absent = Absent(self.error.ended(self.name), self.attempted, self.error.fault)
            note_missed(absent, read=False)
        return self.error is None

    def calls(self, name: str) -> bool:
        """Whether the run asked for this function ("reshape") or operator ("aten::clone").

        A bare name stands for all functions and methods of that name, and for the operator.
        """
        if name.startswith("aten::"):
            return name in self.operators or name in self.composites
        parts = name.split(".")
        for called in self.functions:
            path = called.removesuffix(".__get__").removesuffix(".__set__").split(".")
            if path[-len(parts) :] == parts:
                return True
        # torch.ops.aten.linear and torch._C._nn.linear are torch.nn.functional.linear too.
        return len(parts) == 1 and f"aten::{name}" in self.composites

    def out_of_sight(self) -> str | None:
        """Why operators may have run that are not listed, as a sentence; None where none can."""
        if self.helpers:
            what = "thread or process" if self.helpers == 1 else "threads or processes"
            words = f"`{self.name}` starts or keeps {self.helpers} {what}"
            return f"{words}, and torch is not watched there. Compute where you are called."
        way = self._way_out()
        if way:
            words = f"`{self.name}` leaves torch by {way}, and nothing is watched there"
            return f"{words}. Stay with torch's own operators."
        return None

    def _way_out(self) -> str:
        """How a tensor's memory came to another library, empty if it did not.

        To ask a storage for its address or size is no way out, nor is a copy of a tensor.
        """
        outside = [f"`{name}`" for name in _LEAVING if self.calls(name)]
        if self.functions.count(_PICKLED) > self.functions.count(_REBUILT):
            outside.append("`torch.save` or a pickle")
        if _bytes_read(self.operators) > 1:
            outside.append("the bytes of a storage")
        return outside[0] if outside else ""

    @property
    def saved_nbytes(self) -> int:
        """Bytes of the distinct storages that the result's graph keeps for backward."""
        return sum({saved.storage: saved.nbytes for saved in self.saved}.values())


def with_changes(seen: Observation, **changes: Any) -> Observation:
    """Like `dataclasses.replace`, in a fifth of its time: most calls have it done twice."""
    made = object.__new__(Observation)
    vars(made).update(vars(seen), **changes)
    return made


# The ways from a tensor's memory to another library's arrays.
_LEAVING = ("numpy", "__array__", "__dlpack__", "aten::resolve_neg")
# What pickling asks a tensor for, whether for `torch.save` or by hand, and what is set where one is
# made of that again: `copy.copy` does both.
_PICKLED, _REBUILT = "torch.Tensor._backward_hooks.__get__", "torch.Tensor._backward_hooks.__set__"


def _bytes_read(operators: tuple[str, ...]) -> int:
    """How many elements of storages were read, which torch does by a tensor for each of them.

    After `deepcopy`, whose last operators are the first here, one may read an element, too.
    """
    return sum(
        before != "aten::new_empty" and three == _READING
        for before, *three in zip(*(operators[n:] for n in range(4)), strict=False)
    )


_READING = ["aten::set_", "aten::select", "aten::_local_scalar_dense"]


def _storage_numbers(tree: Any) -> set[int]:
    return {
        storage_number(leaf)
        for leaf in tree_leaves(tree)
        if isinstance(leaf, torch.Tensor) and leaf.layout is torch.strided
    }


def observe(
    fn: Callable[..., Any],
    *args: Any,
    options: Options = USUAL,
    name: str | None = None,
    keep: Keep | None = None,
    **kwargs: Any,
) -> Observation:
    """What `fn(*args, **kwargs)` did, as plain data.

    An exception is part of the observation; only KeyboardInterrupt passes through.

    Args:
        fn: The function, method or class to call.
        args: What it is called with; they are observed again after the call, for writes in place.
        options: What to record beside the usual.
        name: What messages call it; None for the name it has.
        keep: Called with each object that has no plain form; returns the number of its handle. None
            sends such objects as a description.
        kwargs: What it is called with by name.

    Returns:
        Result, arguments afterwards, gradients, operators, output, warnings and error of the call.

    >>> seen = observe(torch.relu, torch.tensor([-1.0, 2.0]))
    >>> seen.result.plain.tolist(), seen.operators
    ([0.0, 2.0], ('aten::relu',))
    """
    header, buffers = observe_to_wire(fn, args, kwargs, options, keep)
    label = name or str(getattr(fn, "__name__", type(fn).__name__))
    return from_wire(header, buffers, label)


def observe_to_wire(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    options: Options,
    keep: Keep | None,
    monitor: Monitor = NO_MONITOR,
    each: bool = False,
    sent: Sent | None = None,
) -> tuple[dict[str, Any], list[Buffers]]:
    """An observation in the form that travels: a JSON header and two lists of buffers.

    With `each` the one argument is a list of cases, and the result what `run_cases` makes of them.
    `sent` is what the arguments were read from; what it says already is left out.
    """
    # Between the call and the last look at what it left, nobody else's code runs.
    with gc_paused() as gc_resumed:

        def call() -> Any:
            with gc_resumed():
                return run_cases(fn, args[0], options.backward) if each else fn(*args, **kwargs)

        return _observe_to_wire(fn, call, (args, kwargs), options, keep, monitor, each, sent)


def _observe_to_wire(
    fn: Callable[..., Any],
    call: Callable[[], Any],
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    options: Options,
    keep: Keep | None,
    monitor: Monitor,
    each: bool,
    sent: Sent | None,
) -> tuple[dict[str, Any], list[Buffers]]:
    args, kwargs = arguments
    whole: list[bool] = []

    def look() -> None:
        whole.append(monitor.intact())

    # Wherever code of the learner may have run, before what it may have replaced is used.
    look()
    modules = _modules_in((args, kwargs))
    given = {"args": args, "kwargs": kwargs}
    write = partial(encode, keep=keep, after_foreign=look)
    before = ArgumentsBefore(given, write, sent)
    recording = run_recorded(call, _storage_numbers((args, kwargs)), options, monitor)
    grads = _gradients(recording, (args, kwargs)) if options.backward and not each else None
    look()
    kept = keep(recording.result) if options.keep and keep else 0
    untouched = before.are_unchanged()
    left = {"result": recording.result, "grads": grads} | ({} if untouched else given)
    after, second = write(left)
    changed = _modules_in((args, kwargs)).changed_since(modules)
    look()
    header = _to_plain(recording) | {
        "before": before.plain,
        "untouched": untouched,
        "after": after,
        "kept": kept,
        "changed": [*recording.changed, *changed],
        "parameters": _parameters(fn),
        "intact": recording.intact and all(whole),
    }
    return header, [before.buffers, second]


def _to_plain(recording: Recording) -> dict[str, Any]:
    """A recording as JSON may hold it, without the result."""
    error = recording.error
    return {
        **{f.name: getattr(recording, f.name) for f in fields(Recording) if f.name != "result"},
        "error": None if error is None else vars(error),
        "saved": [vars(saved) for saved in recording.saved],
        "attempted": error is None or not is_stub(error.type, error.message),
    }


def without_values(
    header: dict[str, Any], buffers: list[Buffers]
) -> tuple[dict[str, Any], list[Buffers]]:
    """The same observation, saying of result and changed arguments that they are too large."""
    absent = {"t": "absent", "why": "it is larger than what is looked at", "attempted": True}
    after: dict[str, Any] = {key: absent for key, _ in header["after"]["value"]["v"]}
    if "args" in after:
        after["args"] = []
    value = {"t": "dict", "v": [list(pair) for pair in after.items()]}
    return {**header, "after": {"value": value, "storages": []}}, [buffers[0], []]


def is_stub(kind: str, message: str) -> bool:
    """Whether the exercise's own `raise NotImplementedError()`, or no definition, ended a call."""
    return (kind == "NotImplementedError" and not message) or kind == NotDefinedError.__name__


def _modules_in(arguments: Any) -> ModuleState:
    return ModuleState(leaf for leaf in tree_leaves(arguments) if isinstance(leaf, torch.nn.Module))


def _parameters(call: object) -> list[str]:
    """The names of a function's positional parameters; none of anything else."""
    if type(call) is not FunctionType:
        return []
    code = call.__code__
    return [str(name) for name in code.co_varnames[: code.co_argcount]]


def _gradients(recording: Recording, arguments: Any) -> Any:
    """Gradients of the arguments after backward through the sum of the results."""
    outputs = [
        leaf
        for leaf in tree_leaves(recording.result)
        if isinstance(leaf, torch.Tensor) and leaf.requires_grad
    ]
    if recording.error is not None:
        return Absent(str(recording.error))
    if not outputs:
        return Absent("no result requires grad, so nothing leads back to the arguments")
    try:
        torch.autograd.backward([out.sum() for out in outputs])
    except BaseException as error:
        return Absent(f"backward failed: {type(error).__name__}: {text_of(error)}")
    args, kwargs = arguments
    return {"args": [_grad(a) for a in args], "kwargs": {k: _grad(a) for k, a in kwargs.items()}}


def _grad(argument: Any) -> Any:
    return argument.grad if isinstance(argument, torch.Tensor) and argument.is_leaf else None


def from_wire(
    header: dict[str, Any], buffers: list[Buffers], name: str, sent: Sent | None = None
) -> Observation:
    """The observation of a header and its buffers. Raises WireError for anything else.

    `sent` is the document of the arguments that were sent, and its buffers.
    """
    try:
        return _from_wire(header, buffers, name, sent)
    except WireError:
        raise
    except (KeyError, TypeError, ValueError, IndexError):
        raise WireError("not an observation") from None


def _from_wire(
    header: dict[str, Any], buffers: list[Buffers], name: str, sent: Sent | None
) -> Observation:
    before, as_sent = arguments_before(header["before"], buffers[0], sent)
    after = decode(header["after"], buffers[1])
    untouched = header["untouched"] is True
    behind = before if untouched else arguments_in(after)
    error = None if header["error"] is None else _error_from(header["error"])
    attempted = bool(header["attempted"])
    lost = None if error is None else Absent(error.ended(name), attempted, error.fault)
    result = after["result"] if lost is None else lost
    grads = after["grads"] if after["grads"] is not None else Absent("no gradients were asked for")
    kept = header["kept"]
    numbers = (kept, header["new_nbytes"], header["helpers"])
    if not all(type(number) is int for number in numbers):
        raise WireError("not an observation: numbers expected")
    return Observation(
        name=name,
        result=Value(result, f"the result of `{name}`"),
        args=Deferred(lambda: before()[0], "argument"),
        kwargs=Deferred(lambda: before()[1], "argument"),
        args_after=Deferred(lambda: behind()[0] if lost is None else lost, "the changed argument"),
        kwargs_after=Deferred(
            lambda: behind()[1] if lost is None else lost, "the changed argument"
        ),
        grads=Value(grads if lost is None else lost, "the gradients"),
        live=Value(_live(kept, lost), f"the live result of `{name}`"),
        error=error,
        attempted=attempted,
        warnings=tuple(
            (visible(str(c)[:200]), visible(str(m)[:MESSAGE_LIMIT])) for c, m in header["warnings"]
        ),
        printed=str(header["printed"])[:PRINTED_LIMIT],
        printed_count=int(header["printed_count"]),
        new_nbytes=header["new_nbytes"],
        helpers=header["helpers"],
        saved=tuple(Saved(**saved) for saved in header["saved"]),
        complete_log=header["complete_log"] is True,
        **_lists_of_names(header),
        as_sent=as_sent,
        untouched=untouched,
        asked=b"",  # the caller knows both
        call=None,
    )


def _lists_of_names(header: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    lists = {name: tuple(str(one)[:200] for one in header[name]) for name in _LISTS_OF_NAMES}
    if header["helpers"]:  # whoever asks for an empty list asks that nothing ran anywhere
        lists["operators"] += (OUT_OF_SIGHT,)
    return lists


_LISTS_OF_NAMES = ("operators", "functions", "composites", "changed", "parameters")
OUT_OF_SIGHT = "operators of a thread or process"


def _live(kept: int, lost: Absent | None) -> Any:
    if lost is not None:
        return lost
    return Handle("result", "result", kept) if kept else Absent("watch(keep=True) keeps results")


def _error_from(data: dict[str, Any]) -> ErrorFacts:
    line = data["line"] if type(data["line"]) is int else None
    source = None if data["source"] is None else visible(str(data["source"])[:200])
    bases = tuple(visible(str(name)[:200]) for name in data["bases"])
    kind, message = visible(str(data["type"])[:200]), visible(str(data["message"])[:MESSAGE_LIMIT])
    return ErrorFacts(kind, bases, message, line, source, data.get("fault") is True)
