"""What `inspect` and `gc` tell a learner's cell: copies of its own frames; tensors and modules.

Whoever asks in a cell which line or which function it is in gets the frames from there to the cell,
and nothing that lies behind the cell: no frame of the grader's.  Who looks for what keeps memory
gets tensors and modules of all that there is.  So nobody has to be asked about it.  What was asked
for in any other way is real, and is noticed.
"""

from __future__ import annotations

import gc
import inspect
import os
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch

__all__ = ["currentframe", "frames_of_a_cell", "get_objects", "stack"]

_frame_of, _kind_of_frame = sys._getframe, FrameType
_outer_frames = inspect.getouterframes
_real_frame, _real_stack = inspect.currentframe, inspect.stack
_all_objects, _kinds_of = gc.get_objects, vars(type)["__mro__"].__get__
_TOLD = frozenset({torch.Tensor, torch.nn.Module})
_CELL, _GRADER = "<ipython-input-", os.path.join(Path(__file__).parents[2], "")


class _Frame:
    """What a frame says of itself at one moment, and who called it, up to the cell."""

    f_trace = None
    f_trace_lines, f_trace_opcodes = True, False

    def __init__(self, frame: FrameType, caller: _Frame | None) -> None:
        self.f_back = caller
        self.f_code: CodeType = frame.f_code
        self.f_lineno, self.f_lasti = frame.f_lineno, frame.f_lasti
        self.f_globals, self.f_builtins = frame.f_globals, frame.f_builtins
        self.f_locals: dict[str, Any] = frame.f_locals

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # `inspect` asks for it
        return _kind_of_frame

    def clear(self) -> None:
        """There is nothing to clear in a frame that runs."""
        raise RuntimeError("cannot clear an executing frame")


def frames_of_a_cell() -> _Frame | None:
    """Copies of the frames from who called the caller to the cell; None where no cell is behind."""
    frame: FrameType | None = _frame_of(2)
    several: list[FrameType] = []
    while frame is not None:
        code = frame.f_code
        several.append(frame)
        if code.co_filename.startswith(_GRADER):
            return None
        if code.co_name == "<module>" and code.co_filename.startswith(_CELL):
            break
        frame = frame.f_back
    else:
        return None
    copy = None
    for one in reversed(several):
        copy = _Frame(one, copy)
    return copy


def currentframe() -> Any:
    """The frame of the caller, or None where that cannot be told."""
    copy = frames_of_a_cell()
    if copy is not None:
        return copy
    frame = _real_frame()
    return None if frame is None else frame.f_back


def stack(context: int = 1) -> Any:
    """The frames from the caller's outwards."""
    copy = frames_of_a_cell()
    return _real_stack(context)[1:] if copy is None else _outer_frames(copy, context)


def get_objects(generation: int | None = None) -> list[object]:
    """The tensors and modules among the objects that Python keeps track of."""
    if generation is not None and type(generation) is not int:
        raise TypeError("gc.get_objects() takes an int or None")  # its code is the learner's
    return [one for one in _all_objects(generation) if not _TOLD.isdisjoint(_kinds_of(type(one)))]
