"""answer("name"): a handle on what the learner made, in this process or in another one.

A test cell never touches the learner's object. It sends a request and gets an observation of
plain data back. In a notebook the request is served by `LocalBackend` over the notebook's own
names; the grading engine puts another backend in its place and the same cell runs unchanged.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from types import FrameType, FunctionType
from typing import Any, Protocol, cast

from course.hidden_lines import called_from_hidden_part, cell_of
from course.inspection.error_origin import is_misspelt
from course.inspection.global_state import MISSPELT, watched
from course.notebook import keep_names_through_tests, notebook_names
from course.serialization import AnswerRef, Buffers, decode, digest_of, encode
from course.serialization.received import Deferred, Probed, Value, as_node, take_missed
from course.testing.calls import Written, call_as_code, written_call
from course.testing.compare import SideEffect, mode_changes, side_effects
from course.testing.inputs.cases import Case, columns
from course.testing.misspellings import tells_of_misspelling, texts_in
from course.testing.observe import (
    NotDefinedError,
    Observation,
    from_wire,
    is_stub,
    observe_to_wire,
    with_changes,
)
from course.testing.recording import NO_MONITOR, USUAL, ErrorFacts, Monitor, Options, Unrecorded

__all__ = ["Answer", "Backend", "LocalBackend", "Request", "answer", "outcomes", "use_backend"]


@dataclass(frozen=True)
class Request:
    """One call beside the answer: of the answer itself, or of a probe that is given answers.

    `target` is ("answer", name), ("read", name) or ("probe", name); `source` is the text of a
    probe that the test cell defines, None for a probe of `course.probes`. With `each` the one
    argument holds cases, as `columns` writes them, and a call is made for each.
    """

    target: tuple[str, str]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    options: Options = USUAL
    source: str | None = None
    each: bool = False

    @property
    def name(self) -> str:
        """How observations and messages call what is asked: the learner's own function.

        A probe that is given none bears its own name, without its module.
        """
        return next(iter(self.answers_given), self.called)

    @property
    def called(self) -> str:
        """What is called, as code names it."""
        return self.target[1].rpartition(":")[2]

    @property
    def answers_given(self) -> list[str]:
        """The names of the answers among a probe's arguments."""
        if self.target[0] != "probe":
            return []
        given = [*(self.args[0]["first"] if self.each else self.args), *self.kwargs.values()]
        return [one.name for one in given if isinstance(one, AnswerRef)]

    def to_wire(self) -> tuple[dict[str, Any], Buffers]:
        """The request as a JSON header and buffers. Raises WireError for live arguments."""
        document, buffers = encode({"args": self.args, "kwargs": self.kwargs}, strict=True)
        header = {
            "target": list(self.target),
            "options": vars(self.options),
            "source": self.source,
            "each": self.each,
            "document": document,
        }
        return header, buffers


class Backend(Protocol):
    """Where answers live."""

    def run(self, request: Request, live: Callable[..., Any] | None) -> Observation:
        """Serve a request. `live` is the probe itself where the test cell's process has it."""


_UNCOMPILED = "_torchdynamo_orig_callable"  # where `torch.compile` keeps the function itself


class LocalBackend:
    """Serves requests in this process, over a namespace that holds the learner's names."""

    def __init__(
        self,
        namespace: Callable[[], MutableMapping[str, Any]],
        probe_names: Callable[[], dict[str, Any]] = dict,
        monitor: Monitor = NO_MONITOR,
    ) -> None:
        """Serve over `namespace()`, the learner's names.

        `probe_names()` are what a probe that arrives as text may use, new each time: the names of
        the set-up cell, not the learner's. `monitor` watches every call.
        """
        self._monitor = monitor
        self._namespace = namespace
        self._probe_names = probe_names
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}

    def run(self, request: Request, live: Callable[..., Any] | None) -> Observation:
        """The observation, after the same journey through plain data as between processes."""
        header, buffers = request.to_wire()
        reply, reply_buffers = self.serve(header, buffers, live)
        seen = from_wire(reply, reply_buffers, request.name, (header["document"], buffers))
        sent = b"".join([json.dumps(header, separators=(",", ":")).encode(), *buffers])
        return with_changes(seen, asked=digest_of(sent))

    def serve(
        self, header: dict[str, Any], buffers: Buffers, live: Callable[..., Any] | None = None
    ) -> tuple[dict[str, Any], list[Buffers]]:
        """Run a request that arrived as plain data; the reply is plain data too."""
        # Both at once: to look at what the learner made may run code that replaces them.
        observe, intact = observe_to_wire, self._monitor.intact
        kind, name = header["target"]
        options, changed = Options(**header["options"]), list[str]()
        resolve = functools.partial(self._resolve, changed)
        arguments = decode(header["document"], buffers, resolve=resolve)
        call = self._callable(kind, name, live or self._probe(kind, name, header["source"]))
        args, kwargs, each = tuple(arguments["args"]), arguments["kwargs"], header["each"]
        sent, whole = (header["document"], buffers), intact()
        seen, left = observe(call, args, kwargs, options, self._keep, self._monitor, each, sent)
        seen["intact"] = seen["intact"] and whole
        if kind == "probe":  # what the probe itself changes is its own affair
            seen["changed"] = changed
        return seen, left

    def _callable(self, kind: str, name: str, live: Callable[..., Any] | None) -> Any:
        if kind == "probe":
            if live is None:
                raise LookupError(f"the probe {name!r} is not known beside the answer")
            return live
        found = self._find(name)
        if isinstance(found, _Undefined):
            return found
        return (lambda: found) if kind == "read" else found

    def _probe(self, kind: str, name: str, source: str | None) -> Callable[..., Any] | None:
        """The probe of a name: one of the course package, or made from its text."""
        if kind != "probe":
            return None
        module, _, function = name.rpartition(":")
        if source is None:
            if module.partition(".")[0] != "course":
                return None
            found = getattr(importlib.import_module(module), function)
            return getattr(found, "procedure", found)
        names = self._probe_names()
        exec(compile(source, f"<probe {name}>", "exec"), names)
        return cast("Callable[..., Any]", names[name])

    def _find(self, name: str) -> Any:
        found = self._namespace().get(name, _Undefined(name))
        # What is measured is what was written, not what `torch.compile` makes of it meanwhile.
        return vars(found).get(_UNCOMPILED, found) if type(found) is FunctionType else found

    def _resolve(self, changed: list[str], kind: str, key: Any) -> Any:
        if kind == "answer":
            return watched(self._find(key), changed)
        if not 1 <= key <= len(self._kept):
            raise LookupError(f"no live object has the number {key}")
        return self._kept[key - 1]

    def _keep(self, value: object) -> int:
        known = self._numbers.get(id(value))
        if known is None:
            self._kept.append(value)  # which also keeps its id from being given to another
            known = self._numbers[id(value)] = len(self._kept)
        return known


class _Undefined:
    """Stands where a name is not defined; using it says so."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotDefinedError(
            f"`{self._name}` is not defined. Run the cell that defines it, and keep the name."
        )

    def __getattr__(self, attribute: str) -> Any:
        # Python and torch look for special names on any object; those must stay quiet.
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return self()


@dataclass(frozen=True)
class CallOutcome:
    """What is remembered of a request; its values would keep every input of a lesson alive.

    `side_effects` is None where nobody asked for them: of a probe without an answer, and of a look
    at an object. `returned` says whether calls of the answer itself came to any result but None;
    it is None for a probe, and for a look. `misspelt` says that a name which does not exist ended
    it, or one of its calls, or was caught by the probe. `call` is the call as code, where it ended
    in an exception.
    """

    name: str
    attempted: bool
    error: ErrorFacts | None
    printed_count: int
    side_effects: tuple[SideEffect, ...] | None = None
    misconception: str | Mapping[str, str] | None = None
    returned: bool | None = None
    misspelt: bool = False
    call: str = ""


@dataclass
class Asked:
    """What came of requests, and what was given out and seen for them.

    Attributes:
        seen: The outcomes.
        shown: The digests of the requests of visible lines.
        handles: Those of the answers, by name.
        parameters: The answers' parameters, by name.
        keywords: The names of arguments in visible calls, by answer.
        hidden_in: The cells, by file name, that have come to a hidden line.
        all_hidden: Whether the rest of a test cell runs, behind its visible part: all of it is
            hidden then, also what stands above the mark in a statement that holds it.
    """

    seen: list[CallOutcome] = field(default_factory=list)
    shown: set[bytes] = field(default_factory=set)
    handles: dict[str, Answer] = field(default_factory=dict)
    parameters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    keywords: dict[str, set[str]] = field(default_factory=dict)
    hidden_in: set[str] = field(default_factory=set)
    all_hidden: bool = False


@dataclass
class _Session:
    """The backend in use, and what was asked."""

    backend: Backend
    asked: Asked = field(default_factory=Asked)


_session = _Session(LocalBackend(notebook_names))
keep_names_through_tests()


def use_backend(backend: Backend) -> None:
    """Serve all requests from now on with another backend (the grading engine's seam)."""
    _session.backend = backend


def go_on_with(asked: Asked) -> None:
    """Remember requests there from now on: the grading engine runs test cells by turns.

    What another cell looked at in vain is forgotten: it is nothing to the next check.
    """
    _session.asked = asked
    take_missed()


def outcomes() -> list[CallOutcome]:
    """The outcomes of all requests so far; a check looks at those since it was made."""
    return _session.asked.seen


def is_hidden(frame: FrameType | None) -> bool:
    """Whether what this frame asks or checks is hidden.

    Its line is, or one that the same cell has come to before: an answer may have kept what it was
    given there, and what a visible check tells in full would tell it.
    """
    if _session.asked.all_hidden:
        return True
    cell, begun = cell_of(frame), _session.asked.hidden_in
    if called_from_hidden_part(frame):
        begun.add(cell)
    return cell in begun


def submit(
    request: Request,
    live: Callable[..., Any] | None = None,
    leaves: Leaves | None = None,
) -> Observation:
    """Run a request on the backend in use and remember what was seen.

    `leaves` says what the call has to leave as it was; None: nobody asks.
    """
    hidden = is_hidden(sys._getframe(1))  # from here on, where this line is
    seen, shown = _session.backend.run(request, live), _session.asked.shown
    if seen.asked and not hidden:
        shown.add(seen.asked)
    is_shown = not hidden or seen.asked in shown
    if request.each:
        seen = with_changes(seen, attempted=seen.attempted and _any_attempted(seen))
    if not request.options.operators:
        none = cast(Any, Unrecorded())
        seen = with_changes(seen, operators=none, functions=none, composites=none, new_nbytes=none)
    written = written_call(Answer)
    docstring = inspect.getdoc(live) if request.target[0] == "probe" else None
    seen = _placed(seen, request, Call(request, written, docstring, is_shown))
    misspelt = _misspelt(seen, request)
    if MISSPELT in seen.changed:
        seen = with_changes(seen, changed=tuple(one for one in seen.changed if one != MISSPELT))
    effects = misconception = None
    given = request.answers_given
    if leaves is None and given:
        leaves = _leaves_of(given)
        effects = tuple(mode_changes(seen, leaves.may_change, given[0]))
        misconception = leaves.misconception
    elif leaves is not None:
        gradients = request.options.backward and not request.each  # those fill no `.grad`
        named = with_changes(seen, parameters=_known_parameters(seen, hidden))
        told = _names_told(named, request, hidden)
        effects = tuple(side_effects(named, leaves.may_change, request.each, gradients, told))
        misconception = leaves.misconception
    returned = _returned(seen, request.each) if request.target[0] == "answer" else None
    about = seen.name, seen.attempted, seen.error, seen.printed_count
    call = "" if seen.error is None or request.each else call_as_code(request, written)
    came = CallOutcome(*about, effects, misconception, returned, misspelt, call)
    _session.asked.seen.append(came)
    return seen


def _known_parameters(seen: Observation, hidden: bool) -> tuple[str, ...]:
    """The parameters' names as the last visible call showed them; messages name them.

    A function can rename its own, and would tell by them what a hidden call has given it.
    """
    known = _session.asked.parameters
    if hidden:
        return known.get(seen.name, ())
    known[seen.name] = seen.parameters
    return seen.parameters


def _names_told(seen: Observation, request: Request, hidden: bool) -> Collection[str] | None:
    """The names of arguments that may be told of this call, None for all.

    Of a hidden one those of the parameters, and those that visible calls have named.
    """
    known = _session.asked.keywords.setdefault(seen.name, set())
    if hidden:
        return {*known, *seen.parameters}
    several = request.args[0]["kwargs"] if request.each else [request.kwargs]
    known.update(name for named in several for name in named)
    return None


def _misspelt(seen: Observation, request: Request) -> bool:
    """Whether a name that does not exist ended the run, one of its calls or what a probe tried."""
    if MISSPELT in seen.changed:
        return True
    if seen.error is not None:
        return is_misspelt(seen.error.type, seen.error.message)
    if request.each:
        errors = [one.node for one in seen.result["error"]]
        told = (one for one in errors if isinstance(one, dict))
        return any(is_misspelt(str(one["type"]), str(one["message"])) for one in told)
    return request.target[0] == "probe" and any(map(tells_of_misspelling, texts_in(seen.result)))


def _returned(seen: Observation, each: bool) -> bool:
    """Whether a call ended with anything but None; an error counts as something."""
    if seen.error is not None or not each:
        return seen.error is not None or seen.result.node is not None
    columns = seen.result["result"].node, seen.result["error"].node
    return any(one != [None] * len(one) if isinstance(one, list) else True for one in columns)


def _leaves_of(names: Sequence[str]) -> Leaves:
    """What a probe that is given these answers may see them change."""
    several = [handle(name).leaves for name in names]
    misconception = next((one.misconception for one in several if one.misconception), None)
    return Leaves(tuple(may for one in several for may in one.may_change), misconception)


def _any_attempted(seen: Observation) -> bool:
    errors = [one.node for one in seen.result["error"]]
    return any(error is None or not is_stub(error["type"], error["message"]) for error in errors)


@dataclass(frozen=True, eq=False)
class Call:
    """A call that was made, as code once somebody asks; `shown` where a visible line makes it, too.

    No learner has met a probe, so what its `docstring` begins with stands beside it.
    """

    request: Request
    written: Written | None
    docstring: str | None
    shown: bool

    def __call__(self) -> str:
        return self._text

    @functools.cached_property
    def _text(self) -> str:
        about_probe = f"  # {self.docstring.splitlines()[0]}" if self.docstring else ""
        return f"{call_as_code(self.request, self.written)}{about_probe}"


def _placed(seen: Observation, request: Request, made: Call) -> Observation:
    """The observation, whose values know what would stand there had the answer done nothing.

    They also know the call that they came from, and those of a probe whom they are about.
    """
    given: tuple[Value, ...] = ()
    if request.target[0] == "answer" and not request.each:
        given = (
            *(_deferred(seen.args, n) for n in range(len(request.args))),
            *(_deferred(seen.kwargs, name) for name in request.kwargs),
        )
    call = None if request.each or request.target[0] == "read" else made
    about = next(iter(request.answers_given), None)
    result = seen.result
    if about is not None and not request.each:
        result = Probed(as_node(result), about)
    elif request.target[0] == "read":
        result = Value(as_node(result), f"`{request.name}`")
    return with_changes(
        seen,
        call=call,
        result=result.of_call(call, given),
        args_after=seen.args_after.of_call(call, (seen.args,)),
        kwargs_after=seen.kwargs_after.of_call(call, (seen.kwargs,)),
    )


def _deferred(arguments: Value, key: int | str) -> Value:
    return Deferred(lambda: arguments[key].node, "argument")


@dataclass(frozen=True)
class Leaves:
    """What calls of an answer may change beside their result, and whoever changes more believes."""

    may_change: tuple[str | int, ...] = ()
    misconception: str | Mapping[str, str] | None = None


class Answer:
    """The learner's object of one name. Calling it gives an `Observation`, never an error."""

    def __init__(self, name: str, options: Options = USUAL, leaves: Leaves | None = None) -> None:
        if not (isinstance(name, str) and name.isidentifier()):
            raise ValueError(f"answer() takes the name of a Python object, not {name!r}")
        self.name = name
        self.options = options
        self.leaves = Leaves() if leaves is None else leaves

    def __call__(self, *args: Any, **kwargs: Any) -> Observation:
        """Call the object once with copies of the arguments and observe it."""
        request = Request(("answer", self.name), args, kwargs, self.options)
        return submit(request, leaves=self.leaves)

    def each(self, cases: Sequence[Case]) -> Observation:
        """Call the object once for each case, in one request; see `Check.agrees`."""
        options = replace(self.options, operators=False)
        request = Request(("answer", self.name), (columns(cases),), {}, options, each=True)
        return submit(request, leaves=self.leaves)

    def standing_in(self, reference: Callable[..., Any]) -> Callable[..., Any]:
        """What the test cell calls to have a reference do what the answer does: itself."""
        return reference

    def read(self) -> Observation:
        """Look at the object itself; the result is its plain form."""
        return submit(Request(("read", self.name), options=self.options))

    def watch(self, **options: bool) -> Answer:
        """The same answer, recording more: `backward`, `keep`, `operators` (see `Options`)."""
        return Answer(self.name, replace(self.options, **options), self.leaves)

    def reference(self) -> AnswerRef:
        """What stands for this answer among the arguments of a probe."""
        return AnswerRef(self.name)

    def __repr__(self) -> str:
        return f"answer({self.name!r})"


def answer(
    name: str,
    *,
    changes: str | int | Iterable[str | int] = (),
    misconception: str | Mapping[str, str] | None = None,
) -> Answer:
    """A handle on the learner's object called `name`; it need not exist yet.

    Args:
        name: The name that the learner gives it.
        changes: What its calls may change beside their result; everything else has to be left as
            it was. A parameter by its name in the stub or by its position, and any of "random
            state", "grad mode", "default dtype", "default device", "number of threads", "anomaly
            mode", "deterministic algorithms", "working directory", "environment", "training
            mode", "hooks".
        misconception: What somebody may believe who changes more; a dict has one for each kind:
            "arguments", or a name of those above.

    Raises:
        ValueError: `name` cannot be the name of an object.
    """
    may_change = (changes,) if isinstance(changes, str | int) else tuple(changes)
    made = _session.asked.handles[name] = Answer(name, leaves=Leaves(may_change, misconception))
    return made


def handle(name: str) -> Answer:
    """The handle that `answer(name, ...)` gave last, or a new one."""
    return _session.asked.handles.get(name) or answer(name)
