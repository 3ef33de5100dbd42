"""Test cells that may look at one moment ask one process; none finds a trace of another there.

Each test cell of this lesson prints the process that its answer runs in.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from autograder.records.model import Status
from autograder.records.runner import Outcome
from tests.autograder.engine.exam import (
    SETUP,
    Cell,
    answers,
    code,
    grade,
    graded_cell,
    printed,
    solution,
    words,
)

FIRST = "import os\n\ndef first():\n    return os.getpid()"
SECOND = "import os\n\ndef second():\n    return os.getpid()"
THIRD = "import os\n\ndef third():\n    return os.getpid()"


def _test(name: str) -> Cell:
    lines = [
        f"seen = answer({name!r})()",
        f"check = Check({name!r})",
        "print('process', seen.result.plain)",
        "check.that(lambda: seen.result.plain > 0)",
        "check.score(2)",
    ]
    return graded_cell(name, "\n".join(lines), 2)


def _cells(first: str = FIRST, second: str = SECOND, third: str = THIRD) -> list[Cell]:
    return [
        words("# Processes", "title"),
        code(f"{SETUP}\nimport torch", "setup", locked=True),
        solution("first", first),
        _test("first"),
        code("print('between')", "between"),
        solution("second", second),
        _test("second"),
        solution("third", third),
        _test("third"),
    ]


def _graded(root: Path, *, patient: bool = False, **sources: str) -> Outcome:
    return grade(root, _cells(**sources), _cells(), patient=patient)


def _processes(outcome: Outcome) -> list[str]:
    names = ("test-first", "test-second", "test-third")
    return [printed(outcome, name).split("process ")[-1].split("\n")[0] for name in names]


def _points(outcome: Outcome) -> list[float]:
    return [one.score for one in answers(outcome).values()]


def test_answers_without_a_common_name_run_in_one_process(tmp_path: Path) -> None:
    outcome = _graded(tmp_path)
    assert _points(outcome) == [2, 2, 2]
    assert len(set(_processes(outcome))) == 1


def test_answers_that_share_a_name_run_in_processes_of_their_own(tmp_path: Path) -> None:
    counting = "calls = []\ndef first():\n    calls.append(1)\n    return len(calls)"
    also = "def second():\n    calls.append(1)\n    return len(calls)"
    outcome = _graded(tmp_path, first=counting, second=also)
    assert _processes(outcome)[:2] == ["1", "1"]


def test_a_folder_that_a_cell_goes_to_is_not_there_before_it(tmp_path: Path) -> None:
    asks = "import os\ndef {}():\n    return len(os.getcwd().strip('/').split('/'))"
    later = f"import os\nos.makedirs('a/b')\nos.chdir('a/b')\n{asks.format('second')}"
    outcome = _graded(tmp_path, first=asks.format("first"), second=later)
    first, second = map(int, _processes(outcome)[:2])
    assert second == first + 2
    assert _points(outcome) == [2, 2, 2]


def test_a_mode_that_an_answers_cell_leaves_is_put_back_for_each_answer(tmp_path: Path) -> None:
    asks = "import torch\ndef {}():\n    return torch.empty(0).element_size()"
    later = f"torch.set_default_dtype(torch.float64)\n{asks.format('second')}"
    outcome = _graded(tmp_path, first=asks.format("first"), second=later)
    assert _processes(outcome)[:2] == ["4", "4"]
    assert _points(outcome) == [2, 2, 2]


def test_a_mode_that_a_call_leaves_is_not_there_for_the_next_answer(tmp_path: Path) -> None:
    leaves = (
        "import torch\ndef first():\n    torch.use_deterministic_algorithms(True)\n    return 1"
    )
    asks = "def second():\n    return 1 + torch.are_deterministic_algorithms_enabled()"
    # torch loads its compiler's settings first, which takes seconds.
    outcome = _graded(tmp_path, patient=True, first=leaves, second=asks)
    assert _processes(outcome)[:2] == ["1", "1"]


def test_a_thread_that_a_call_leaves_is_not_there_for_the_next_answer(tmp_path: Path) -> None:
    leaves = (
        "import threading, time\ndef first():\n"
        "    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n    return 1"
    )
    asks = "def second():\n    return threading.active_count()"
    outcome = _graded(tmp_path, first=leaves, second=asks)
    alone = _graded(tmp_path / "alone", second=asks.replace("def", "import threading\ndef"))
    assert _processes(outcome)[1] == _processes(alone)[1]


@pytest.mark.exhaustive("whole processes of the engine")
@pytest.mark.parametrize(
    ("call", "status"),
    [("os._exit(3)", Status.CRASHED), ("while True: pass", Status.TIMEOUT)],
    ids=["ends", "never ends"],
)
def test_a_call_that_ends_the_process_costs_its_own_exercise(
    tmp_path: Path, call: str, status: Status
) -> None:
    outcome = _graded(tmp_path, second=f"import os\ndef second():\n    {call}")
    assert _points(outcome) == [2, 0, 2]
    assert [one.status for one in answers(outcome).values()] == [
        Status.GRADED,
        status,
        Status.GRADED,
    ]


def test_what_a_later_cell_is_noticed_for_is_not_held_against_an_earlier_answer(
    tmp_path: Path,
) -> None:
    reaching = "import sys\nframe = sys._getframe()\ndef second():\n    return 1"
    outcome = _graded(tmp_path, second=reaching)
    found = {one.id: one.status for one in answers(outcome).values()}
    assert found["first"] is Status.GRADED
    assert found["second"] is Status.TAMPERED
    assert _points(outcome)[0] == 2


HIDDEN = """\
### BEGIN HIDDEN TESTS
check.that(lambda: answer({name!r})().result.plain >= 0)
### END HIDDEN TESTS
check.score(2)"""


def _with_hidden_tests(cells: list[Cell]) -> list[Cell]:
    for cell in cells:
        if cell["id"].startswith("test-"):
            name = cell["id"].removeprefix("test-")
            source = cell["source"].removesuffix("check.score(2)")
            cell["source"] = source + HIDDEN.format(name=name)
    return cells


def test_an_answer_that_a_hidden_test_ends_costs_no_other_its_points(tmp_path: Path) -> None:
    ends = "import os\ncalls = []\ndef first():\n    calls.append(1)\n"
    ends += "    len(calls) > 1 and os._exit(3)\n    return 1"
    cells = _with_hidden_tests(_cells(first=ends))
    outcome = grade(tmp_path, cells, _with_hidden_tests(_cells()))
    assert [one.status for one in answers(outcome).values()] == ["crashed", "graded", "graded"]
    assert _points(outcome) == [0, 2, 2]


def test_what_a_hidden_test_left_behind_is_not_found_by_another(tmp_path: Path) -> None:
    leaves = "import torch\ncalls = []\ndef first():\n    calls.append(1)\n"
    leaves += "    len(calls) > 1 and torch.autograd.set_detect_anomaly(True)\n    return 1"
    finds = "import torch\ndef second():\n    return -1 if torch.is_anomaly_enabled() else 1"
    cells = _with_hidden_tests(_cells(first=leaves, second=finds))
    outcome = grade(tmp_path, cells, _with_hidden_tests(_cells()), patient=True)
    first, *others = _points(outcome)
    assert (first < 2, others) == (True, [2, 2])


def test_what_an_answer_does_before_the_hidden_tests_of_another_is_not_held_against_that(
    tmp_path: Path,
) -> None:
    draws = "import torch\ndef second():\n    torch.rand(1)\n    return 1"
    cells = _with_hidden_tests(_cells(second=draws))
    outcome = grade(tmp_path, cells, _with_hidden_tests(_cells()), patient=True)
    first, second, third = _points(outcome)
    assert (first, second < 2, third) == (2, True, 2)


def test_random_numbers_of_a_test_cell_go_on_where_its_visible_part_ended(tmp_path: Path) -> None:
    draws = "torch.manual_seed({})\nfirst = torch.rand(1)\n### BEGIN HIDDEN TESTS\n"
    draws += "print('drawn', torch.rand(1).item())\n### END HIDDEN TESTS"
    cells = _cells()
    for seed, cell in enumerate(one for one in cells if one["id"].startswith("test-")):
        cell["source"] = cell["source"].replace(
            "check.score(2)", f"{draws.format(seed)}\ncheck.score(2)"
        )
    outcome = grade(tmp_path, cells, cells)
    for seed, name in enumerate(("first", "second", "third")):
        generator = torch.Generator().manual_seed(seed)
        torch.rand(1, generator=generator)
        drawn = torch.rand(1, generator=generator).item()
        assert f"drawn {drawn}" in printed(outcome, f"test-{name}")


def test_a_test_that_is_tried_once_more_begins_anew(tmp_path: Path) -> None:
    leaves = "import torch\ncalls = []\ndef first():\n    calls.append(1)\n"
    leaves += "    len(calls) > 1 and torch.autograd.set_detect_anomaly(True)\n    return 1"
    counted = "from course.testing.answers import outcomes\nprint('asked', len(outcomes()))\n"
    cells = _with_hidden_tests(_cells(first=leaves))
    for cell in cells:
        if cell["id"].startswith("test-"):
            cell["source"] = cell["source"].replace("check.score", f"{counted}check.score")
    outcome = grade(tmp_path, cells, cells, patient=True)
    assert _points(outcome)[1:] == [2, 2]
    for name in ("first", "second", "third"):  # once in each part of its test
        assert printed(outcome, f"test-{name}").split("asked ")[-1].split("\n")[0] == "2"
