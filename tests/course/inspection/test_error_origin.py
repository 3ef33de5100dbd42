"""A probe that PyTorch's version ends is the course's fault; whatever an answer does is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.utils.data._utils import worker

from course.inspection.error_origin import is_course_error
from course.lessons.dataloader import worker_draws
from course.notebook import notebook_names
from course.testing.answers import LocalBackend, answer, use_backend
from course.testing.checks import Check
from course.testing.recording import OUR_FAULT
from course.testing.results import CheckResult, _without_values


def is_course_error_of(source: str, file: str = "<probe p>", **names: Any) -> bool:
    """Whose fault an error of these lines is, as a probe's text of this file."""
    space: dict[str, Any] = {"torch": torch, **names}
    with pytest.raises((AttributeError, TypeError, ImportError)) as caught:
        exec(compile(source, file, "exec"), space)
    return is_course_error(caught.value)


def learners(x: Any) -> Any:
    return x


def in_two(x: Any) -> Any:
    return x


in_two.__name__ = in_two.__qualname__ = "split"  # PyTorch has a function of that name


@pytest.mark.parametrize(
    "source",
    [
        "torch.not_of_this_version",
        "torch.utils.data.not_of_this_version(1)",
        "from torch.utils.data import not_of_this_version",
        "import torch.not_of_this_version",
        "torch.utils.data.DataLoader([1], not_of_this_version=2)",
    ],
)
def test_what_this_pytorch_lacks_is_the_courses_fault(source: str) -> None:
    assert is_course_error_of(source)


@pytest.mark.parametrize(
    "source",
    [
        "None.shape",
        "answer.shape",
        "answer(1, 2)",
        "split(1, 2, 3)",
        "torch.ones(2) @ None",
        "torch.stack(None)",
        "len(3)",
    ],
)
def test_what_may_come_from_the_answer_is_not(source: str) -> None:
    assert not is_course_error_of(source, answer=learners, split=in_two)


def test_what_a_learner_asks_of_pytorch_is_not() -> None:
    assert not is_course_error_of("torch.not_of_this_version", file="<ipython-input-1>")


# A worker's info of another version, for the probes that pretend one.


class WorkerInfo:
    """PyTorch's class with another word for the worker's number."""

    __module__ = worker.__name__

    def __init__(self, *, number: int, num_workers: int, seed: int, dataset: Any) -> None: ...


@pytest.fixture
def with_answer() -> Iterator[Callable[[Callable[[int], Any]], None]]:
    def given(init: Callable[[int], Any]) -> None:
        use_backend(LocalBackend(lambda: {"init": init}))

    yield given
    use_backend(LocalBackend(notebook_names))


def checked() -> CheckResult:
    """A check of an answer by a probe: what it came to."""
    check = Check("x")
    seen = worker_draws(answer("init"), [0], 2)
    check.that(lambda: len(seen.result.plain) == 2, misconception="seeds-are-equal")
    return check.result(1).checks[0]


def test_a_probe_that_cannot_run_is_told_as_the_courses_fault(
    monkeypatch: pytest.MonkeyPatch, with_answer: Any
) -> None:
    with_answer(lambda number: None)
    assert checked().passed
    monkeypatch.setattr(worker, "WorkerInfo", WorkerInfo)
    check = checked()
    assert not check.passed and check.misconception is None
    assert check.message.startswith(
        f"this check could not run with torch {torch.__version__}: a fault of the course, not of "
        "your answer (TypeError: WorkerInfo.__init__() got an unexpected keyword argument"
    )
    # Where the check is hidden, the error's words might tell its inputs.
    assert _without_values(check.message) == OUR_FAULT.format(torch=torch.__version__)


def test_an_answer_that_fails_in_a_probe_is_told_as_ever(with_answer: Any) -> None:
    with_answer(lambda number: number + "")
    check = checked()
    assert check.message.startswith("`init` ended with TypeError: unsupported operand")
    assert check.misconception == "seeds-are-equal"
