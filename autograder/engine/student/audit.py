"""Keeps what learner code must not reach, and notices when it reaches for it.

An audit hook (PEP 578) cannot be taken out again, and nothing in Python leads to it: no name, no
module, no frame that stays.  So its closure is where secrets are kept: the session of the operator
log, the key that signs replies, and the originals of functions that end such a session.  Trusted
code reaches them through `sys.audit`, with a ticket that only its own frames hold.  For the same
reason this module has no classes, and no module that has one imports it.

What leads to those frames raises audit events: asking for frames, for all objects, for memory by
its address.  Where a learner's code does so, the hook takes it down; what was taken down goes with
every reply, under the signature.  Nobody honest needs any of it, and a person decides.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from os import fsdecode, stat
from os.path import realpath
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from autograder.engine.protocol.frames import MAC_NBYTES
from autograder.engine.student import introspection
from autograder.engine.student.audit_rules import (
    CALLED,
    CONDUITS,
    FRAMES,
    GUARDED,
    PARTS,
    REACHING,
    RENAMED,
    TORCHS_OPERATORS,
    WATCHED,
)
from autograder.engine.student.capabilities import Capabilities, HiddenProfiler

if TYPE_CHECKING:
    from course.inspection.operators import Sessions

_EVENT = "pytorch-measured"
_MOST_NOTICES = 20


def install(
    sessions: Sessions,
    *,
    trusted: Iterable[ModuleType],
    libraries: tuple[str, ...],
) -> Capabilities:
    """Add the hook to this process, for good, before any learner code runs.

    Args:
        sessions: The operator log's sessions; nobody else may keep a reference to them.
        trusted: The measuring modules; the code of their functions is not to be read.
        libraries: How the paths of files begin whose code is not the learner's.

    Returns:
        What trusted code asks the hook for. Whoever holds it is believed.
    """
    ticket, audit, event_name = object(), sys.audit, _EVENT
    own_cells = set[str]()
    answers, note = _answers(ticket, sessions, own_cells)
    trusted = list(trusted)
    own = (introspection.frames_of_a_cell, introspection.get_objects)
    ours = frozenset({*(one.__code__ for one in own), *_lookers(trusted)})
    spaces = {id(vars(module)) for module in trusted}
    watch = _watcher(spaces, ours, libraries, own_cells)
    originals = dict[str, tuple[str, Callable[..., Any]]]()
    _add_hook(answers, note, watch, originals)
    _stand_before(originals)

    # Closures, not methods: a class is found by its base class, and then it can be changed.
    def ask(what: str, *arguments: Any) -> Any:
        box: list[Any] = []
        audit(event_name, what, arguments, box)
        return box[0]

    return Capabilities(
        use_key=lambda key, cells: ask("use_key", ticket, key, cells),
        use_verifier=lambda intact: ask("use_verifier", ticket, intact),
        sign=lambda parts: ask("sign", ticket, parts),
        begin=lambda where: ask("begin", ticket, where),
        notices=lambda: ask("notices", ticket),
        profiler=HiddenProfiler(
            start=lambda known: ask("start", ticket, known),
            flush=lambda: ask("flush"),  # the modes hold it, where anybody can see it: no ticket
            stop=lambda session: ask("stop", ticket, session),
        ),
    )


Answers = dict[str, Callable[..., Any]]


def _answers(  # noqa: C901 - six short functions over what nobody else may reach
    ticket: object, sessions: Sessions, own_cells: set[str]
) -> tuple[Answers, Callable[[str], None]]:
    """What the hook answers to whom shows the ticket, and how a notice is taken down."""
    key, where, notices = [b""], [""], list[list[str]]()
    digest, most = hashlib.blake2b, _MOST_NOTICES

    def believed(answer: Callable[..., Any]) -> Callable[..., Any]:
        def checked(shown: object, *arguments: Any) -> Any:
            return answer(*arguments) if shown is ticket else None

        return checked

    def use_key(given: bytes, cells: list[str]) -> None:
        if not key[0]:
            key[0] = given
            own_cells.update(cells)

    def sign(parts: Sequence[Any]) -> bytes:
        mac = digest(key=key[0], digest_size=MAC_NBYTES)
        for part in parts:
            mac.update(part)
        return mac.digest()

    def begin(place: str) -> None:
        where[0] = place

    def copied_notices() -> list[list[str]]:
        return [list(notice) for notice in notices]

    def note(said: str) -> None:
        notice = [where[0], said]
        if notice not in notices and len(notices) < most:
            notices.append(notice)

    questions: Answers = {
        "use_key": use_key,
        "sign": sign,
        "begin": begin,
        "notices": copied_notices,
    }
    intact = [lambda: True]

    def use_verifier(given: Callable[[], bool]) -> None:
        intact[0] = given

    # The log is read by code that anybody may have replaced since the session began.
    def verified(read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*arguments: Any) -> Any:
            if not intact[0]():
                note("replaced code that measures")
            return read(*arguments)

        return reading

    questions |= {"start": sessions.start, "stop": verified(sessions.stop)}
    questions["use_verifier"] = use_verifier
    answers = {name: believed(answer) for name, answer in questions.items()}
    return {**answers, "flush": verified(sessions.flush)}, note


def _add_hook(
    answers: Answers,
    note: Callable[[str], None],
    watch: Callable[[str, Any], str | None],
    originals: dict[str, tuple[str, Callable[..., Any]]],
) -> None:
    own, watched, busy = _EVENT, WATCHED, list[bool]()
    reads, told, kind_of, text = "object.__getattr__", FRAMES | PARTS, type, str

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        said: str | None = "raised an audit event of its own"  # where its arguments are odd
        busy.append(True)  # what the watcher asks itself
        try:
            said = watch(event, arguments)
        finally:
            busy.clear()
            if said:
                note(said)

    def call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name, original = originals[name]  # our own word: a learner may ask for any
        look("pytorch-measured.call", (name, *args))
        try:
            return None, original(*args, **kwargs)
        except BaseException as error:
            return error, None

    answers = {**answers, "call": call}

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == own:
            what, given, box = arguments
            box.append(answers[what](*given))  # who asks wrongly gets the error
        elif event not in watched or busy:
            return
        # A frame's code, a hundred times in a call that a profile function follows, is everybody's.
        elif event != reads or kind_of(arguments[-1]) is not text or arguments[-1] in told:
            look(event, arguments)
            if event == "sys.addaudithook":
                raise RuntimeError  # Python's rule: then the other hook is not added

    sys.addaudithook(hook)


def _stand_before(originals: dict[str, tuple[str, Callable[..., Any]]]) -> None:
    """Have functions noticed that raise no audit event, wherever a module has a name for them."""
    for module, name in GUARDED:
        original = getattr(sys.modules[module], name)
        key = f"{module}.{name}"
        originals[key] = key, original

        guarded = _guarded(key)
        for other in list(sys.modules.values()):
            space = getattr(other, "__dict__", {})
            for found in [key for key, value in space.items() if value is original]:
                space[found] = guarded


def _guarded(key: str) -> FunctionType:
    audit, event_name = sys.audit, _EVENT

    def guarded(*args: Any, **kwargs: Any) -> Any:
        box: list[Any] = []
        audit(event_name, "call", (key, args, kwargs), box)
        error, result = box[0]
        if error is not None:
            raise error
        return result

    # Without the names of this module, which anybody who has the function could change.
    return FunctionType(guarded.__code__, {}, key.rpartition(".")[2], None, guarded.__closure__)


def _lookers(trusted: Iterable[ModuleType]) -> Iterator[CodeType]:
    """The code of trusted functions that read memory by its address, or where an error came from.

    What they find there they give to nobody.
    """
    for module in trusted:
        asked = {name for name, value in vars(module).items() if value is ctypes.string_at}
        classes = [one for one in vars(module).values() if isinstance(one, type)]
        for space in (vars(module), *map(vars, classes)):
            codes = [one.__code__ for one in space.values() if isinstance(one, FunctionType)]
            yield from (one for one in codes if not {*asked, "tb_frame"}.isdisjoint(one.co_names))


def _watcher(
    trusted: set[int],
    ours: frozenset[CodeType],
    libraries: tuple[str, ...],
    own_cells: set[str],
) -> Callable[[str, Any], str | None]:
    """A function that says what a learner's code just did, None where it was somebody else."""
    frame_of, asks, is_plain = sys._getframe, _asker(trusted, libraries, own_cells), _is_plain
    string_at = ctypes.string_at.__code__
    ours_may = {"gc.get_objects", "sys._getframe", "object.__getattr__"}

    def watch(event: str, arguments: Any) -> str | None:
        # Some fifty times a request, and all that follows takes as long as reading 100 kB. Where
        # memory is read both frames count: what our code calls may be the learner's, and may read
        # by ctypes' own means. 0 to 2 are this function, `look` and the hook.
        if event in ours_may and frame_of(3).f_code in ours:
            return None
        by_address = event == "ctypes.string_at" and frame_of(3).f_code is string_at
        if by_address and frame_of(4).f_code in ours:
            return None
        if not is_plain(event, arguments):  # code of its own would run, and nobody see it
            return "raised an audit event of its own"
        what = _sensitive(event, arguments, trusted, (*libraries, *own_cells, "<probe "))
        if what is None or not asks(frame_of(1), event, arguments):
            return None
        return what

    return watch


def _asker(  # noqa: C901 - closes over what it uses, which nobody can replace then
    trusted: set[int], libraries: tuple[str, ...], own_cells: set[str]
) -> Callable[[FrameType | None, str, Any], bool]:
    conduits, own_files = CONDUITS, {__file__, introspection.__file__}
    known_name = lru_cache(maxsize=1_000)(lambda name: name.startswith(libraries))

    def is_library(name: str) -> bool:
        return type(name) is str and known_name(name)  # a subclass says what it likes

    def module_of(frame: FrameType) -> str:
        return _module_name(frame.f_globals)

    def is_conduit(frame: FrameType) -> bool:
        module = module_of(frame)
        known = conduits.get(module, frozenset())
        known = conduits.get(module.partition(".")[0], known)
        return known is None or frame.f_code.co_name in known

    def asks(frame: FrameType | None, event: str, arguments: Any) -> bool:
        """Whether a learner's code asked.

        Itself, by a function that hands on the answer, or by one that calls what it is given.
        """
        passed = list[FrameType]()  # of libraries: the first asked, the last was called by it
        file = ""
        while frame is not None and is_library(file := frame.f_code.co_filename):
            if file not in own_files:
                passed.append(frame)
            frame = frame.f_back
        if frame is not None and file in own_cells:
            return False
        name = _asked_name(event, arguments)
        if passed and name and not {name, CALLED.get(name)}.intersection(passed[0].f_code.co_names):
            return True  # a library's own code says what it asks for; in a thread of its own, too
        if frame is None:
            return False
        given = arguments[0].f_code.co_filename if event == "sys._getframe" else ""
        beyond = given not in ("", *own_files) and arguments[0] not in passed
        if (
            not passed
            or event in ("open", "import")
            or (beyond and id(arguments[0].f_globals) in trusted)
        ):
            return True
        makes = event == "pytorch-measured.call"
        return is_conduit(passed[-1]) or (makes and module_of(passed[-1]) == "torch.library")

    return asks


def _is_plain(event: str, arguments: Any) -> bool:
    """Whether the arguments of an event are what Python itself gives: anybody may raise one."""
    if event.startswith("object."):
        return type(arguments[1]) is str
    return event != "sys._getframe" or type(arguments[0]) is FrameType


def _module_name(names: dict[str, Any]) -> str:
    """The name of the module that these are the names of; both may be of a learner's class."""
    name = dict.get(names, "__name__")
    return name if type(name) is str else ""


def _asked_name(event: str, arguments: Any) -> str | None:
    """What the code of a function has to name that asks for this; None where nobody has to."""
    if event.startswith("object."):
        return str(arguments[1])
    if event == "pytorch-measured.call":
        name = str(arguments[0]).rpartition(".")[2]
        return None if name in RENAMED else name
    if event == "sys.setprofile":  # raised by cProfile's own `enable`, too
        return None
    return event.rpartition(".")[2] if event.startswith(("gc.", "sys.")) else None


def _sensitive(
    event: str, arguments: Any, trusted: set[int], libraries: tuple[str, ...]
) -> str | None:
    """The words for an event that matters, None for one that is everybody's."""
    if event == "pytorch-measured.call":
        return None if _makes_its_own(*arguments) else f"used {arguments[0]}"
    if event.startswith("object."):
        return _attribute(event, arguments, trusted)
    if event == "import":
        return _native(arguments[0], arguments[1], libraries)
    if event == "open":
        return _opened(arguments[0])
    if event in ("exec", "code.__new__", "function.__new__"):
        name = _file_of(event, arguments)
        disguised = isinstance(name, str) and (type(name) is not str or name.startswith(libraries))
        return "ran code under the name of a library's file" if disguised else None
    return f"used {event.removesuffix('/buffer').removesuffix('/handle')}"


def _makes_its_own(name: str, *arguments: object) -> bool:
    """Whether somebody makes operators of their own, and leaves those of torch alone."""
    own = name == "torch._C._dispatch_library" and type(arguments[1]) is str
    return own and arguments[1] not in TORCHS_OPERATORS


def _native(name: object, path: object, libraries: tuple[str, ...]) -> str | None:
    """The words for an import of compiled code that reaches frames or memory as it likes."""
    if path is None:  # Python's own code, or compiled code that is looked for and comes later
        return None
    if not isinstance(path, str) or not str.startswith(path, libraries):
        return "loaded compiled code that is no library's"
    package = str.partition(name, ".")[0] if isinstance(name, str) else ""
    return f"imported {package}" if package in REACHING else None


def _opened(path: object) -> str | None:
    """The words for a file that is a process's memory, whatever it is called; None for others."""
    kind = type(path)
    if kind is int:
        return None
    # Not by methods of the path's own class, which may be the learner's.
    if issubclass(kind, str):
        name = str.__str__(path)
    elif issubclass(kind, bytes):
        name = bytes.decode(path, "utf-8", "surrogateescape")  # type: ignore[arg-type]
    elif kind in _PATHS:
        name = fsdecode(path)  # type: ignore[arg-type]
    else:
        return "opened a file by an object that may name another one each time"
    return "opened the memory of a process" if _is_memory(name) else None


_PATHS = {type(Path()), os.DirEntry}


def _is_memory(name: str) -> bool:
    if str.endswith(name, "/mem") or str.__eq__(name, "mem"):
        return True
    try:
        return stat(name).st_dev == stat("/proc").st_dev and realpath(name).endswith("/mem")
    except (OSError, ValueError):
        return False


def _file_of(event: str, arguments: Any) -> object:
    if event == "code.__new__":
        return arguments[1]  # code, file name, …
    code = arguments[0]
    return code.co_filename if isinstance(code, CodeType) else None


def _attribute(event: str, arguments: Any, trusted: set[int]) -> str | None:
    owner, name = arguments[:2]
    if name in FRAMES:
        return f"read {name}"
    if not isinstance(owner, FunctionType) or name not in PARTS:
        return None
    measures = id(owner.__globals__) in trusted
    if event == "object.__setattr__":
        own = not measures and _module_name(owner.__globals__) == "__main__"
        return None if own else f"changed {name} of a function that is not its own"
    return f"read {name} of a function that measures" if measures else None
