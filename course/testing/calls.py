"""A request as the line of code that a learner would write."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import torch

from course.notebook import parsed_cell
from course.serialization import AnswerRef
from course.serialization.received import Handle, as_node, describe

if TYPE_CHECKING:
    from course.testing.answers import Request

__all__ = ["Written", "call_as_code", "written_call"]

_PACKAGE = str(Path(__file__).parents[1])
_MOST_ELEMENTS = 12
_MOST_CHARACTERS = 200
_MOST_OF_EACH = 40  # of an argument, where all together would be too long


def call_as_code(request: Request, written: Written | None = None) -> str:
    """The call of a request, as code to paste where its arguments are small.

    Where they are not, it is what the test cell says, if that is `written` in one line of it. What
    else has no plain form, larger tensors among it, is described in angle brackets.

    >>> from course.testing.answers import Request
    >>> call_as_code(Request(("answer", "flatten"), (torch.arange(4.0).view(2, 2).t(),)))
    'flatten(torch.tensor([[0.0, 1.0], [2.0, 3.0]]).t())'
    """
    given = [("", one) for one in request.args]
    given += [(f"{name}=", one) for name, one in request.kwargs.items()]
    parts = [(name, one, _written(one)) for name, one in given]
    text = _joined(request, [f"{name}{code}" for name, _, code in parts])
    is_plain = len(text) <= _MOST_CHARACTERS and not any("<" in code for _, _, code in parts)
    if written is not None and not is_plain and (line := written.text()):
        return line
    if len(text) > _MOST_CHARACTERS:
        parts = [(name, one, _shortened(code, one)) for name, one, code in parts]
        text = _joined(request, [f"{name}{code}" for name, _, code in parts])
    return text if len(text) <= _MOST_CHARACTERS else _joined(request, ["…"])


@dataclass(frozen=True)
class Written:
    """Where a call stands in a test cell, outside of any function: its code, and which of it.

    `names` are the cell's own, and `handle` is the class of those that stand for an answer.
    """

    code: CodeType
    instruction: int
    names: Mapping[str, Any]
    handle: type[Any]

    def text(self) -> str:
        """What stands there; nothing where it is longer than a line, or its text is not known."""
        places = next(islice(self.code.co_positions(), self.instruction // 2, None), None)
        line, last, start, end = places or (None, None, None, None)
        if line is None or line != last:
            return ""
        words = linecache.getline(self.code.co_filename, line).encode()[start:end].decode()
        words = ast.unparse(_AsLearnersCall(self).visit(parsed_cell(words)))
        return words if len(words) <= _MOST_CHARACTERS else ""


class _AsLearnersCall(ast.NodeTransformer):
    """Answers by their names; what a test cell records beside a call is its own affair."""

    def __init__(self, written: Written) -> None:
        self._written = written

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self._written.names.get(node.id)
        return ast.Name(found.name) if isinstance(found, self._written.handle) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match self.generic_visit(node):
            case ast.Call(ast.Name("answer"), [ast.Constant(str(name))]):
                return ast.Name(name)
            case ast.Call(ast.Attribute(value, "watch")):
                return value
        return node


def written_call(handle: type[Any]) -> Written | None:
    """Where the running test cell calls the course, None where one of its functions does."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None or frame.f_code.co_name != "<module>":
        return None
    return Written(frame.f_code, frame.f_lasti, frame.f_globals, handle)


def _joined(request: Request, parts: Iterable[str]) -> str:
    return f"{request.called}({', '.join(parts)})"


def _shortened(code: str, value: Any) -> str:
    return code if len(code) <= _MOST_OF_EACH else f"<{describe(as_node(value))}>"


def _written(value: Any) -> str:
    node = as_node(value)
    match node:
        case AnswerRef():
            return node.name
        case torch.Tensor():
            return _tensor(node)
        case list():
            return f"[{', '.join(map(_written, node))}]"
        case tuple():
            return f"({', '.join(map(_written, node))}{',' * (len(node) == 1)})"
        case dict():
            return f"{{{', '.join(f'{key!r}: {_written(one)}' for key, one in node.items())}}}"
        case None | bool() | int() | float() | complex() | str() | torch.dtype() | torch.device():
            return repr(node)
        case Handle():
            return f"<{node.type_name}>"
    return f"<{describe(node)}>"


def _tensor(tensor: torch.Tensor) -> str:
    turned = tensor.dim() == 2 and not tensor.is_contiguous() and tensor.t().is_contiguous()
    plain = tensor.layout is torch.strided and (turned or tensor.is_contiguous())
    if not plain or tensor.numel() > _MOST_ELEMENTS or 0 in tensor.shape:
        return f"<{str(tensor.dtype).removeprefix('torch.')} tensor of size {tuple(tensor.shape)}>"
    values = (tensor.t() if turned else tensor).tolist()
    usual = torch.tensor(values).dtype == tensor.dtype
    more = "" if usual else f", dtype={tensor.dtype}"
    more += ", requires_grad=True" if tensor.requires_grad else ""
    return f"torch.tensor({values}{more}){'.t()' if turned else ''}"
