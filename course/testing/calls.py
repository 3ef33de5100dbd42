"""A request as the line of code that a learner would write."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch

from course.serialization import AnswerRef
from course.serialization.received import Handle, as_node, describe

if TYPE_CHECKING:
    from course.testing.answers import Request

__all__ = ["call_as_code"]

_MOST_ELEMENTS = 12
_MOST_CHARACTERS = 200
_MOST_OF_EACH = 40  # of an argument, where all together would be too long


def call_as_code(request: Request) -> str:
    """The call of a request, as code to paste where its arguments are small.

    Larger tensors, and what has no plain form, are described in angle brackets.

    >>> from course.testing.answers import Request
    >>> call_as_code(Request(("answer", "flatten"), (torch.arange(4.0).view(2, 2).t(),)))
    'flatten(torch.tensor([[0.0, 1.0], [2.0, 3.0]]).t())'
    """
    given = [("", one) for one in request.args]
    given += [(f"{name}=", one) for name, one in request.kwargs.items()]
    written = [(name, one, _written(one)) for name, one in given]
    text = _joined(request, [f"{name}{code}" for name, _, code in written])
    if len(text) > _MOST_CHARACTERS:
        written = [(name, one, _shortened(code, one)) for name, one, code in written]
        text = _joined(request, [f"{name}{code}" for name, _, code in written])
    return text if len(text) <= _MOST_CHARACTERS else _joined(request, ["…"])


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
