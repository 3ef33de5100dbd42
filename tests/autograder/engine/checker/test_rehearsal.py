"""What tells one request of a test cell from another."""

from __future__ import annotations

from itertools import count

import torch

from autograder.engine.checker.rehearsal import digest_of_frame
from autograder.engine.protocol.frames import Kind, pack
from course.testing.answers import Request

numbers = count()


def digest(*tensors: torch.Tensor, name: str = "f") -> bytes:
    request = Request(("answer", name), tensors, each=True)
    return digest_of_frame(pack(Kind.ASK, next(numbers), *request.to_wire()))


def test_the_same_request_has_the_same_digest_wherever_its_tensors_live() -> None:
    kept = [torch.arange(6.0)]
    first = digest(kept[0])
    kept += [torch.arange(6.0).clone() for _ in range(3)]
    assert [digest(one) for one in kept] == [first] * 4
    assert len(first) == 16


def test_values_layout_sharing_and_target_tell_requests_apart() -> None:
    x, y = torch.arange(6.0), torch.arange(6.0)
    z = y.clone()
    z[3] = -1
    found = [
        digest(x, y),
        digest(x, x),
        digest(x, z),
        digest(x, y.double()),
        digest(x, y.view(2, 3)),
        digest(x, torch.arange(12.0)[::2].div_(2)),
        digest(x, y.clone().requires_grad_()),
        digest(x, y, name="g"),
        digest(x),
    ]
    assert len(set(found)) == len(found)
