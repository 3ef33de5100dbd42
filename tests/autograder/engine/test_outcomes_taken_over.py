"""A submission is graded as if it were alone, whatever is known from others before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.records.model import Status
from autograder.records.runner import Outcome
from tests.autograder.engine.exam import (
    SETUP,
    TOTAL,
    TWICE,
    WRONG,
    Cell,
    answers,
    code,
    engine,
    exam_cells,
    graded_cell,
    hand_in,
    rehearsed,
    solution,
    write_lesson,
)

OTHERWISE = "def total(x):\n    return sum(x.unbind())"
ENDS = "def total(x):\n    import os\n    return x.sum() if x[0] == 0 else os._exit(3)"
RAISES = "def total(x):\n    return x.sum() if x[0] == 0 else 1 / 0"
LISTENS = "def total(x):\n    return x.sum() if x[0] == 0 else print(x)"


def class_of(root: Path, source: list[Cell], handed_in: list[list[Cell]]) -> list[Outcome]:
    """What becomes of these submissions of one lesson, one after the other."""
    lesson = write_lesson(root, [rehearsed(), *source])
    jobs = [hand_in(root, lesson, cells, f"s{n}") for n, cells in enumerate(handed_in)]
    return list(engine().run_many(jobs))


def said(outcome: Outcome) -> Any:
    """What a grade consists of, without times."""
    assert outcome.notebook is not None
    cells = [(cell.get("outputs"), cell.get("execution_count")) for cell in outcome.notebook.cells]
    return cells, outcome.record.exercises, outcome.record.notes, outcome.record.status


def test_a_class_gets_what_each_would_get_alone(tmp_path: Path) -> None:
    totals = [TOTAL, TOTAL, WRONG, OTHERWISE, TOTAL, WRONG, RAISES, LISTENS, RAISES, TOTAL]
    handed_in = [exam_cells(total, TWICE) for total in totals]
    together = class_of(tmp_path / "together", exam_cells(), handed_in)
    for number in (0, 2, 3, 6, 7):
        (alone,) = class_of(tmp_path / f"alone-{number}", exam_cells(), [handed_in[number]])
        same = [one for one, total in zip(together, totals, strict=True) if total == totals[number]]
        assert [said(one) for one in same] == [said(alone)] * len(same)


def test_an_answer_that_ends_in_a_hidden_call_costs_itself_alone(tmp_path: Path) -> None:
    handed_in = [exam_cells(total) for total in (TOTAL, TOTAL, ENDS, TOTAL)]
    found = [answers(one)["total"] for one in class_of(tmp_path, exam_cells(), handed_in)]
    assert [one.score for one in found] == [3, 3, 0, 3]
    assert found[2].status is Status.CRASHED


@pytest.mark.parametrize(
    ("setup", "first", "second"),
    [
        ("seen = []", "seen.append(got)", "assert len(seen) == 1"),
        ("", "torch.set_default_dtype(torch.float64)", "assert torch.ones(1).element_size() == 8"),
        ("", "later = 1", "assert later == 1"),
        ("", "open('f', 'w').close()", "import os; assert os.path.exists('f')"),
        ("import collections; seen = collections.deque()", "seen.append(1)", "assert seen"),
        ("import itertools; seen = itertools.count()", "next(seen)", "assert next(seen) == 1"),
        ("class Seen: n = 0", "Seen.n += 1", "assert Seen.n == 1"),
        ("def seen(): pass", "seen.n = 1", "assert seen.n == 1"),
        ("seen = torch.Generator()", "seen.manual_seed(7)", "assert seen.initial_seed() == 7"),
    ],
    ids=[
        *("an object", "a mode", "a name", "a file"),
        *("a deque", "an iterator", "a class", "a function", "a generator"),
    ],
)
def test_test_cells_that_depend_on_each_other_go_on_doing_so(
    tmp_path: Path, setup: str, first: str, second: str
) -> None:
    def cells(f: str = "def f():\n    return 1") -> list[Cell]:
        return [
            code(f"{SETUP}\nimport torch\n{setup}", "setup", locked=True),
            solution("f", f),
            graded_cell("f", f"got = answer('f')().result.plain\n{first}\nassert got == 1", 1),
            solution("g", "def g():\n    return 1"),
            graded_cell("g", f"assert answer('g')().result.plain == 1\n{second}", 2),
        ]

    wrong = cells("def f():\n    return 2")
    found = class_of(tmp_path, cells(), [cells(), wrong, cells(), wrong])
    assert [[one.score for one in answers(outcome).values()] for outcome in found] == [
        [1, 2],
        [0, 2],
        [1, 2],
        [0, 2],
    ]


def test_what_a_test_measures_of_time_is_each_answers_own(tmp_path: Path) -> None:
    def cells() -> list[Cell]:
        return [
            code(f"{SETUP}\nimport time", "setup", locked=True),
            solution("f", "def f():\n    return 1"),
            graded_cell("f", "print(time.perf_counter_ns())\nassert answer('f')().result == 1", 1),
        ]

    found = class_of(tmp_path, cells(), [cells()] * 4)
    assert [answers(one)["f"].score for one in found] == [1] * 4
    assert len({str(said(one)[0]) for one in found}) == 4
