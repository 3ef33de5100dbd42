"""Refuses observations that contradict what was sent, or themselves.

The facts come from a process that runs learner code.  Here, where it cannot reach, they are held
against the values that were sent and against each other. Learners read what is found: it names no
value, no number and no place, or a hidden input would leave by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from course.inspection.facts import TensorFacts
from course.inspection.global_state import STATES
from course.serialization.received import Absent, SeenTensor, Value, as_node
from course.testing.answers import Request
from course.testing.observe import Observation


class Contradiction(Exception):
    """Facts that cannot be true; the message says which."""


_PLAIN = frozenset({int, float, str, bool, bytes, type(None)})


def check_reply(request: Request, seen: Observation) -> Observation:
    """`seen` where it can be true of `request`; raises `Contradiction` where it cannot."""
    if not STATES.issuperset(seen.changed):
        raise Contradiction("a change of what nobody looks at")
    if request.options.operators and not seen.complete_log:
        raise Contradiction("the list of operators was ended, or a profiler was left on")
    values = [seen.result, seen.grads]
    if not seen.as_sent:
        _same_arguments(list(request.args), seen.args.node)
        _same_arguments(request.kwargs, seen.kwargs.node)
        values += [seen.args, seen.kwargs]
    if not seen.untouched:
        values += [seen.args_after, seen.kwargs_after]
    for value in values:
        for facts in _facts_in(value):
            _consistent(facts)
    return seen


def _same_arguments(sent: Any, reported: Any) -> None:  # noqa: C901 - a branch a type
    """The arguments before the call must be the ones that the test cell passed."""
    if isinstance(sent, torch.Tensor):
        if type(sent) in (torch.Tensor, torch.nn.Parameter) and sent.layout is torch.strided:
            _same_tensor(sent, reported)
    elif isinstance(reported, Absent):
        return  # more than travels; a value that is absent earns nothing
    elif type(sent) in (list, tuple):
        if type(reported) not in (list, tuple):
            raise Contradiction("an argument with another value than was sent")
        if len(sent) != len(reported):
            raise Contradiction("an argument with more or fewer values than were sent")
        if _PLAIN.issuperset(map(type, sent)) and list(sent) == list(reported):
            return  # nearly all of them, and ten times as fast as one by one
        for one, other in zip(sent, reported, strict=True):
            _same_arguments(one, other)
    elif type(sent) is dict:
        if type(reported) is not dict or sent.keys() != reported.keys():
            raise Contradiction("an argument with other keys than were sent")
        for key, one in sent.items():
            _same_arguments(one, reported[key])
    elif type(sent) in (int, str, bool, bytes, type(None)) and sent != reported:
        raise Contradiction("an argument with another value than was sent")


def _same_tensor(sent: torch.Tensor, reported: Any) -> None:
    if not isinstance(reported, SeenTensor):
        raise Contradiction("no tensor where one was sent")
    facts = reported.facts
    reported_layout = (facts.shape, facts.stride, facts.requires_grad)
    if reported_layout != (tuple(sent.shape), tuple(sent.stride()), sent.requires_grad):
        raise Contradiction("a tensor with another layout than was sent")
    if facts.dtype != str(sent.dtype).removeprefix("torch."):
        raise Contradiction("a tensor with another dtype than was sent")
    if reported.tensor is not None and not _same_bytes(sent, reported.tensor):
        raise Contradiction("a tensor with other elements than were sent")


def _same_bytes(a: torch.Tensor, b: torch.Tensor) -> bool:
    with torch.no_grad():
        one, other = (t.detach().resolve_conj().resolve_neg() for t in (a, b))
        if one.dtype != other.dtype or one.shape != other.shape:
            return False
        return torch.equal(_bytes(one), _bytes(other))


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    # A copy: a tensor of one element counts as contiguous whatever its stride, but has no bytes.
    copy = torch.empty(tensor.numel(), dtype=tensor.dtype)
    return copy.copy_(tensor.reshape(-1)).view(torch.uint8)


def _facts_in(value: Value) -> Iterator[TensorFacts]:
    stack = [as_node(value)]
    while stack:
        node = stack.pop()
        if isinstance(node, SeenTensor):
            yield node.facts
        elif isinstance(node, list | tuple | dict):
            below = node.values() if isinstance(node, dict) else node
            if not _PLAIN.issuperset(map(type, below)):
                stack.extend(below)


def _consistent(facts: TensorFacts) -> None:
    if facts.layout != "strided" or facts.device != "cpu":
        return
    if len(facts.shape) != len(facts.stride) or min((0, *facts.shape)) < 0:
        raise Contradiction("a shape and strides that do not belong together")
    reach = 0 if 0 in facts.shape else facts.storage_offset + 1
    if reach:
        steps = zip(facts.shape, facts.stride, strict=True)
        reach += sum((size - 1) * step for size, step in steps)
    # One whose memory was given back is still a tensor; without elements it earns nothing.
    if facts.storage_nbytes and reach * facts.itemsize > facts.storage_nbytes:
        raise Contradiction("a tensor that reaches beyond its storage")
    if facts.is_contiguous != _is_contiguous(facts.shape, facts.stride):
        raise Contradiction("strides that contradict `is_contiguous`")


def _is_contiguous(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """PyTorch's rule: dimensions of size 1 do not count, and an empty tensor is contiguous."""
    if 0 in shape:
        return True
    expected = 1
    for size, step in reversed(list(zip(shape, stride, strict=True))):
        if size != 1:
            if step != expected:
                return False
            expected *= size
    return True
