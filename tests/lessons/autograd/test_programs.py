"""Small programs: what they compute is what Python would, and nothing else is let in."""

from __future__ import annotations

import doctest

import pytest
import torch

from course.lessons.autograd import programs
from course.lessons.autograd.programs import ProgramError, run_program

GIVEN = {
    "w": torch.tensor([1.0, 2.0], requires_grad=True),
    "x": torch.tensor([3.0, 4.0]),
    "note": "no tensor",
}


def _message(text: str) -> str:
    with pytest.raises(ProgramError) as caught:
        run_program(text, GIVEN)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "(w * x + 1).sum() / 2",
        "-w ** 2 @ x",
        "torch.cat([w, x])[1:3]",
        "w.view(2, 1).expand(2, 3).sum(dim=0, keepdim=True)",
        "torch.where(w > 1.5, w, x)",
        "F.softmax(w, dim=0)",
        "w.unsqueeze(0).mT @ x[None]",
        "torch.einsum('i,j->ij', w, x)",
        "w[0] - x[-1]",
    ],
)
def test_an_expression_gives_what_python_gives(text: str) -> None:
    wanted = eval(text, {"torch": torch, "F": torch.nn.functional, **GIVEN})
    found = run_program(text, GIVEN).result
    assert torch.equal(found, wanted)
    assert (found.grad_fn is None) == (wanted.grad_fn is None)


def test_names_assigned_are_kept_and_the_last_value_is_the_result() -> None:
    program = run_program("h = w * x\ng = h.exp()", GIVEN)
    assert program.result is program.names["g"]
    assert set(program.names) == {"w", "x", "h", "g"}


def test_an_in_place_step_changes_the_copy_and_not_the_readers_tensor() -> None:
    program = run_program("x *= 2; x.add_(1)", GIVEN)
    assert program.result.tolist() == [7.0, 9.0]
    assert (GIVEN["x"].tolist(), GIVEN["x"]._version) == ([3.0, 4.0], 0)  # type: ignore[attr-defined]


def test_a_block_under_no_grad_records_nothing_and_ends() -> None:
    program = run_program("with torch.no_grad():\n    h = w * 2\n(h * w).sum()", GIVEN)
    assert program.names["h"].grad_fn is None
    assert program.result.grad_fn is not None


def test_recording_is_as_before_when_a_block_fails() -> None:
    _message("with torch.no_grad():\n    w @ torch.ones(3)")
    assert torch.is_grad_enabled()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("w +", "Line 1 is not Python: invalid syntax."),
        ("h = w\nh.foo()", "Line 2: PyTorch says AttributeError"),
        ("w @ torch.ones(3)", "Line 1: PyTorch says RuntimeError: inconsistent tensor size"),
        ("w += 1", "Line 1: PyTorch says RuntimeError: a leaf Variable that requires grad"),
        ("q * 2", "no tensor is called 'q'. Known: w, x."),
        ("note", "no tensor is called 'note'"),
        ("w.sum().item()", "The last line gives no tensor."),
        ("", "The last line gives no tensor."),
        ("w.tolist()[0]", "is no tensor"),
        ("x.shape()", "calls what is no function"),
    ],
)
def test_what_does_not_work_is_said_with_its_line(text: str, words: str) -> None:
    assert words in _message(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').getcwd()",
        "open('/etc/passwd')",
        "w.__class__",
        "w._backward_hooks",
        "torch.load('x.pt')",
        "torch.save",
        "torch.os.getcwd()",
        "F.torch.load('x.pt')",
        "w.untyped_storage()",
        "w.register_hook(w)",
        "import os",
        "def f(): pass",
        "[t for t in w]",
        "lambda: w",
        "w if w else x",
        "f'{w}'",
        "with torch.autograd.detect_anomaly():\n    w",
        "with open('x') as file:\n    w",
        "w.grad = x",
        "w, x = x, w",
        "w.sum(*x)",
        "w.sum(**x)",
        "(h := w)",
        "b'bytes'",
    ],
)
def test_what_is_not_a_small_program_is_refused(text: str) -> None:
    assert "Line 1" in _message(text)


@pytest.mark.parametrize(
    "text",
    [
        "torch.ones(9999, 9999)",
        "torch.ones((5000, 5000))",
        "w * 100000000",
        "torch.ones(100, 100).repeat(9, 9).sum()",
        "w * 9 ** 9 ** 9",
        "w + " * 400 + "w",
        "torch.linspace(0, 1, 10001)",
    ],
)
def test_a_program_that_would_fill_the_memory_is_refused(text: str) -> None:
    assert _message(text)


def test_a_deeply_nested_program_is_refused_in_words() -> None:
    assert _message("(" * 400 + "w" + ")" * 400)


def test_a_given_tensor_may_be_too_large() -> None:
    with pytest.raises(ProgramError, match="large has 20000 elements"):
        run_program("large.sum()", {"large": torch.zeros(20_000)})


def test_the_example_shows_what_it_returns() -> None:
    seen = doctest.testmod(programs)
    assert (seen.failed, seen.attempted) == (0, 2)
