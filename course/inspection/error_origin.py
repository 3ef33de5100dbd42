"""Whose fault an exception is: of the answer, or of the course on this version of PyTorch.

A probe asks PyTorch for names and calls them. A version may lack one, or take other arguments; that
ends the probe whatever the learner wrote, and must not be told as the learner's error.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any

__all__ = ["is_course_error", "is_misspelt"]

_COURSE = str(Path(__file__).parents[1])
# This calls answers, so an answer that takes other arguments ends right there.
_CALLS_ANSWERS = str(Path(_COURSE, "testing"))
_LIBRARIES = frozenset({"torch", "numpy"})
_UNKNOWN_NAME = ("NameError", "UnboundLocalError")
_LACKING = re.compile(
    r"module '(torch|numpy)[\w.]*' has no attribute|'(Tensor|Parameter)' object has no attribute"
)
_OTHER_ARGUMENTS = re.compile(r"(\w+)(?:\.[\w.]+)?\(\) (?:takes|got|missing) ")


def is_misspelt(kind: str, message: str) -> bool:
    """Whether an exception of this class, with this text, speaks of a name that does not exist.

    That is a slip of the pen, whatever the learner believes. An attribute that an int, `None`, a
    layer or a module of one's own lacks is none: there the object is another one than was thought.
    """
    lacks = kind == "AttributeError" and _LACKING.match(message) is not None
    return kind in _UNKNOWN_NAME or lacks


def is_course_error(error: BaseException) -> bool:
    """Whether code of the course asked PyTorch or NumPy for what this version does not have.

    Only what can be told for sure counts: a name that a module of theirs lacks, or a call of theirs
    that takes other arguments, in the course's own line. Anything else may come from the answer.

    Args:
        error: The exception, with its traceback.
    """
    if not isinstance(error, AttributeError | ImportError | TypeError):
        return False  # before any frame is asked for: beside an answer each look is audited
    frame = _last_frame(error.__traceback__)
    if frame is None or not _is_of_the_course(frame):
        return False
    if isinstance(error, AttributeError):
        return isinstance(error.obj, ModuleType) and _is_theirs(error.obj.__name__)
    if isinstance(error, ImportError):
        return _is_theirs(error.name)
    called = _OTHER_ARGUMENTS.match(str(error))
    return called is not None and _calls_theirs(called[1], frame)


def _last_frame(traceback: TracebackType | None) -> FrameType | None:
    """The frame that asked; a module of theirs may answer by a function of its own."""
    found = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_name != "__getattr__":
            found = traceback.tb_frame
        traceback = traceback.tb_next
    return found


def _is_of_the_course(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    ours = file.startswith(_COURSE) and not file.startswith(_CALLS_ANSWERS)
    return ours or file.startswith("<probe ")


def _is_theirs(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in _LIBRARIES


def _calls_theirs(name: str, frame: FrameType) -> bool:
    """Whether the class or function of this name is theirs, and nothing at hand here has it too."""
    at_hand = [one for one in frame.f_locals.values() if _named(one) == name]
    if not all(_is_theirs(getattr(one, "__module__", None)) for one in at_hand):
        return False
    # A copy: other threads import meanwhile.
    modules = [module for path, module in sys.modules.copy().items() if _is_theirs(path)]
    found = [vars(module).get(name) for module in modules if isinstance(module, ModuleType)]
    return any(_is_theirs(getattr(one, "__module__", None)) for one in found)


def _named(value: Any) -> str | None:
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else None
