"""A test cell leaves the names of the lesson as they were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import IPython
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from course.notebook import keep_names_through_tests, notebook_names

TEST_CELL = """
import io as images
halved = answer("half")
check = Check("half")
for n in range(3):
    seen = halved(n)
check.score(2)
"""


class _Check:
    def __init__(self, exercise: str) -> None:
        self.exercise = exercise

    def score(self, points: float) -> float:
        return points


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    config = Config()
    config.HistoryManager.enabled = False
    made = InteractiveShell(config=config)
    monkeypatch.setattr(IPython, "get_ipython", lambda: made)
    keep_names_through_tests()
    made.user_ns.update(
        Check=_Check, answer=lambda name: lambda x: made.user_ns[name](x), half=lambda x: x / 2
    )
    yield made


def run(shell: InteractiveShell, cell: str) -> Any:
    done = shell.run_cell(cell)
    done.raise_error()
    return done.result


def test_names_that_a_test_cell_takes_are_given_back(shell: InteractiveShell) -> None:
    run(shell, "n, seen, images = 64, 'a picture', [1]")
    assert run(shell, TEST_CELL) == 2
    assert [shell.user_ns[name] for name in ("n", "seen", "images")] == [64, "a picture", [1]]


def test_names_that_nobody_had_are_gone(shell: InteractiveShell) -> None:
    run(shell, TEST_CELL)
    assert notebook_names().keys().isdisjoint({"images", "halved", "check", "n", "seen"})


def test_names_are_given_back_after_an_error_as_well(shell: InteractiveShell) -> None:
    run(shell, "n = 64")
    with pytest.raises(TypeError):
        run(shell, TEST_CELL.replace("halved(n)", "halved(None)"))
    assert shell.user_ns["n"] == 64
    assert "seen" not in shell.user_ns


def test_what_the_answer_itself_changes_stays(shell: InteractiveShell) -> None:
    run(shell, "def half(x):\n    global calls\n    calls = x + 1\n    return x / 2")
    run(shell, TEST_CELL)
    assert shell.user_ns["calls"] == 3


def test_an_answer_in_the_test_cell_itself_stays(shell: InteractiveShell) -> None:
    run(shell, "def half(x):\n    return x / 2\n" + TEST_CELL)
    assert shell.user_ns["half"](4) == 2
    assert "halved" not in shell.user_ns


@pytest.mark.parametrize(
    "cell",
    [
        "n = 64",
        'halved = answer("half")\nn = 64',
        TEST_CELL + "\nn = 64",
        "n = 64\ncheck = None  # no .score( here",
    ],
)
def test_a_cell_that_is_no_test_keeps_its_names(shell: InteractiveShell, cell: str) -> None:
    run(shell, cell)
    assert shell.user_ns["n"] == 64


def test_a_cell_that_python_cannot_read_is_left_to_python(shell: InteractiveShell) -> None:
    assert isinstance(shell.run_cell("check.score(2").error_before_exec, SyntaxError)
