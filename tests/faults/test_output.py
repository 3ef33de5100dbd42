"""However much a cell prints, and however: the grader keeps a little of it and lives on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.records.model import Status
from tests.autograder.engine.exam import (
    TOTAL,
    answers,
    code,
    exam_cells,
    grade,
    printed,
    shown,
)


@pytest.mark.parametrize(
    "flood",
    [
        "print('x' * 100_000_000)",
        "import os\nos.write(1, b'x' * 100_000_000)",
        "import os\nos.system('yes xxxxxxxxxxxxxxx | tr -d \"\\\\n\" | head -c 100000000')",
    ],
    ids=["print", "descriptor", "program"],
)
def test_a_hundred_megabytes_on_one_line_leave_a_little(tmp_path: Path, flood: str) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"{TOTAL}\n{flood}\nNone"))
    assert outcome.record.score == 5.0
    text = printed(outcome, "total")
    assert len(text) < 101_000
    assert re.search(r"99,900,0\d\d more characters were printed and left out", text)


@pytest.mark.exhaustive("endings that take seconds")
def test_endless_printing_is_stopped_by_the_clock(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total="while True:\n    print('again')"))
    assert answers(outcome)["total"].status is Status.TIMEOUT
    assert answers(outcome)["twice"].score == 2.0
    assert printed(outcome, "total").startswith("again\nagain\n")


def test_a_right_answer_that_warns_gets_its_points(tmp_path: Path) -> None:
    warning = "import warnings\ndef total(x):\n    warnings.warn('slow')\n    return x.sum()"
    assert grade(tmp_path, exam_cells(total=warning)).record.score == 5.0


def test_a_right_answer_that_writes_to_stderr_gets_its_points(tmp_path: Path) -> None:
    noisy = (
        "import sys, os\ndef total(x):\n    print('!', file=sys.stderr)\n    os.write(2, b'!')\n"
    )
    assert grade(tmp_path, exam_cells(total=f"{noisy}    return x.sum()")).record.score == 5.0


def test_a_background_thread_that_prints_disturbs_nobody(tmp_path: Path) -> None:
    thread = """
import threading, time
def talk():
    while True:
        print('chatter')
        time.sleep(0.001)
threading.Thread(target=talk, daemon=True).start()
time.sleep(0.1)"""
    outcome = grade(tmp_path, exam_cells(total=TOTAL + thread))
    assert outcome.record.score == 5.0
    assert "chatter" in printed(outcome, "total")


def test_chdir_disturbs_nobody(tmp_path: Path) -> None:
    assert grade(tmp_path, exam_cells(total=f"{TOTAL}\n%cd /")).record.score == 5.0


def test_what_programs_and_python_write_belongs_to_its_cell(tmp_path: Path) -> None:
    cells = [*exam_cells(), code("!echo out; echo err >&2\nprint('py')", "own")]
    text = printed(grade(tmp_path, cells), "own")
    assert (text.count("out"), text.count("err"), text.count("py")) == (1, 1, 1)


def test_figures_and_rich_output_are_kept(tmp_path: Path) -> None:
    draw = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    rich = "from IPython.display import HTML\nHTML('<b>hi</b>')"
    cells = [*exam_cells(), code(draw, "draw"), code(rich, "html")]
    outcome = grade(tmp_path, cells)
    assert "image/png" in shown(outcome, "draw")
    assert "<b>hi</b>" in shown(outcome, "html")
