"""What remains possible, and that it gains no more than docs/trust.md says."""

from __future__ import annotations

import ast
import json
import re
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.answer_bank.bank import read_bank
from autograder.course_directory import load_course
from autograder.lessons.model import select_lessons
from autograder.records.model import ExerciseRecord
from autograder.records.runner import Outcome
from autograder.submissions.collect import collect
from autograder.submissions.matching import read_roster
from course import Check, answer, inputs
from course.testing import results
from tests.attacks.test_references import ROOT, graded
from tests.autograder import tiny
from tests.autograder.classroom import SLUG
from tests.autograder.engine.exam import answers, exam_cells, grade, graded_cell, shown, solution
from tests.course.cells import learner, run_cell


def asked(root: Path, total: str, test: str) -> Outcome:
    """What becomes of an answer to a test of the instructor's own, worth 4 points."""
    source = exam_cells()
    source[3] = graded_cell("total", f'total = answer("total")\n{test}', 4)
    cells = list(source)
    cells[2] = solution("total", total)
    return grade(root, cells, source)


def told(outcome: Outcome) -> tuple[ExerciseRecord, str]:
    """The record of `total`, and all that a page says of it."""
    record = answers(outcome)["total"]
    return record, json.dumps({**outcome.record.to_json(), "seconds": 0}) + shown(outcome, "total")


HIDDEN = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS\n"
GIVEN = "x = torch.tensor([5.0, 8.0, 4711.0])\nfound = float(total(x).result.plain)\n"
FORMULA = HIDDEN.format(f"{GIVEN}error = abs(found - 4724.0) / 4724.0") + "{}"
DIGITS = "round(4 * (1 - error), 2)"
STEPS = "4 if error < 0.01 else 2 if error < 0.5 else 0"
# Its points are 2.{last two digits of the largest element}: 4711 gives 2.11.
CHOOSES = """\
def total(x):
    points = 2 + float(x.max()) % 100 / 100
    return 4724.0 * points / 4"""


def test_points_by_a_formula_are_digits_that_an_answer_chooses(tmp_path: Path) -> None:
    record, text = told(asked(tmp_path, CHOOSES, FORMULA.format(DIGITS)))
    assert record.score == 2.11  # the last digits of 4711; as many as the formula rounds to
    assert "4711" not in text


def test_points_in_a_few_steps_tell_which_step(tmp_path: Path) -> None:
    record, text = told(asked(tmp_path, CHOOSES, FORMULA.format(STEPS)))
    assert record.score == 2.0 and "2.11" not in text


NO_SHARE = {
    "below 0": "4724.0 * (2 + 47.11 / 4)",
    "nan": "float('nan')",
    "below 0, and large": "4.711e99",
}


@pytest.mark.parametrize("kind", NO_SHARE)
def test_a_last_value_that_is_no_share_of_the_points_is_worth_none(
    tmp_path: Path, kind: str
) -> None:
    total = f"def total(x):\n    return {NO_SHARE[kind]}"
    record, _ = told(asked(tmp_path, total, FORMULA.format("4 * (1 - error)")))
    assert (record.score, record.manual) == (0.0, False)
    assert record.notes == (
        "Its test cell ended in a value that is no number of points: below 0, nan or False.",
    )


def test_nor_is_false_and_true_is_worth_all_of_them(tmp_path: Path) -> None:
    right, wrong = (f"def total(x):\n    return x.sum() * {n}" for n in (1, 0))
    test = FORMULA.format("error < 0.01")
    assert told(asked(tmp_path / "right", right, test))[0].score == 4.0
    assert told(asked(tmp_path / "wrong", wrong, test))[0].score == 0.0


def test_no_note_says_a_number_above_the_points_that_an_answer_chose(tmp_path: Path) -> None:
    test = FORMULA.format("found")
    record, _ = told(asked(tmp_path, "def total(x):\n    return x.max()", test))
    assert record.manual
    assert record.notes == (
        "Its test cell gave more points than it has, which is 4. A person gives the points.",
    )


EMPTY = """\
wanted = torch.tensor([1.0, 2.0])
got = total(torch.arange(2.0)).result.plain
{}
"""
HOLD_OF_NOTHING = {
    "allclose": "assert torch.allclose(got, torch.tensor(1.0))",
    "all": "assert (got == 1.0).all()",
    "a loop": "for one in got:\n    assert one == 1.0",
}


@pytest.mark.parametrize("way", HOLD_OF_NOTHING)
def test_asserts_hold_of_an_empty_tensor_unless_they_ask_for_its_shape(
    tmp_path: Path, way: str
) -> None:
    empty = "def total(x):\n    return torch.empty(0)"
    cell = EMPTY.format(HOLD_OF_NOTHING[way])
    assert told(asked(tmp_path / "empty", empty, cell))[0].score == 4.0
    shaped = f"{cell}assert got.shape == (2,)"
    assert told(asked(tmp_path / "shape", empty, shaped))[0].score == 0.0


HOLD_OF_NO_RESULT = {
    "not": ("assert not total(torch.ones(2)).result", ".plain"),
    "len": ("assert len(total(torch.ones(2)).result", ".plain) == 0"),
}


@pytest.mark.parametrize("way", HOLD_OF_NO_RESULT)
def test_no_result_at_all_is_false_and_empty_unless_it_is_asked_for_as_plain(
    tmp_path: Path, way: str
) -> None:
    raises = "def total(x):\n    raise ValueError()"
    held, plain = HOLD_OF_NO_RESULT[way]
    as_it_is = held + plain.removeprefix(".plain")
    assert told(asked(tmp_path / "value", raises, as_it_is))[0].score == 4.0
    assert told(asked(tmp_path / "plain", raises, held + plain))[0].score == 0.0


LOOPS = {
    "a loop": "for one in seen.result:\n    assert one.plain == 1.0",
    "a comprehension": "assert all(one.plain == 1.0 for one in seen.result)",
    "zip": "for one, w in zip(seen.result, (1.0, 1.0)):\n    assert one.plain == w",
    "enumerate": "for n, one in enumerate(seen.result):\n    assert one.plain == 1.0",
    "in": "assert 3.0 not in seen.result",
    "unequal": "assert seen.result != 3.0",
    "not": "assert not seen.result",
}


@pytest.mark.parametrize("way", LOOPS)
def test_no_assert_on_a_result_holds_for_want_of_one(tmp_path: Path, way: str) -> None:
    test = f"seen = total(torch.arange(2.0))\n{LOOPS[way]}"
    score = told(asked(tmp_path, "def total(x):\n    return 3.0", test))[0].score
    assert score == 0.0
    right = {"not": "0.0"}.get(way, "[1.0, 1.0]")
    score = told(asked(tmp_path / "right", f"def total(x):\n    return {right}", test))[0].score
    assert score == 4.0


IDLE = """\
check = Check("x")
f = answer("total")
{}
check.score(4)
"""
ROLLS = "\n".join(
    f"check.close(f(torch.ones({n})).result, {mean}, rtol=0.05)"
    for n, mean in ((2, 3.51), (3, 3.47), (4, 3.52))
)
SAME_TENSOR = "\n".join(
    f"check.equal(f(torch.tensor([{x}, 1.0])).result, torch.tensor([{y}, 1.0]))"
    for x, y in ((-1.0, 0.0), (-2.0, 0.0), (-3.0, 0.0), (4.0, 4.0))
)
ALL_OF = """\
check.equal(f(torch.ones(2)).result, [1.0, 1.0])
some, more = f(torch.ones(3)), f(torch.ones(4))
check.that(lambda: {0}all(one.plain == 1.0 for one in some.result))
check.that(lambda: {1}all(one.plain == 1.0 for one in more.result))"""
LENGTHS = ("len(some.result) == 3 and ", "len(more.result) == 4 and ")
ONE_MESSAGE = """\
check.equal(f(torch.ones(2)).result, 2.0)
check.raises(f(torch.zeros(0)), ValueError, match="{}")
check.raises(f(torch.zeros(0, 2)), ValueError, match="{}")"""
# Other classes than the builtins are known by their names, and a notebook's own are the learner's.
ALL_NAMES = """made = Exception
    for name in ("Empty", "Flat"):
        made = type(name, (made,), {"__module__": "__main__"})
    raise made(list(x.shape))"""
TWO_CLASSES = """\
class Empty(Exception): pass
class Flat(Exception): pass
check.equal(f(torch.ones(2)).result, 2.0)
check.raises(f(torch.zeros(0)), Empty, "[0]")
check.raises(f(torch.zeros(0, 2)), Flat, "[0, 2]")"""
# What an idle answer earns, of 4 points, and what it does once the test is mended.
EARNS_IDLY = {
    "a constant within the tolerance": ("return 3.5", ROLLS, 4.0),
    "a constant, checked closely": ("return 3.5", ROLLS.replace("0.05", "1e-4"), 0.0),
    "a constant tensor": ("return torch.tensor([0.0, 1.0])", SAME_TENSOR, 3.2),
    "all of nothing": ("return []", ALL_OF.format("", ""), 3.0),
    "all of some": ("return []", ALL_OF.format(*LENGTHS), 0.0),
    "all messages at once": (
        "raise ValueError('empty or flat')",
        ONE_MESSAGE.format("empty", "flat"),
        3.0,
    ),
    "a class of all names": (ALL_NAMES, TWO_CLASSES, 3.0),
    "a class of one name": (ALL_NAMES.replace(', "Flat"', ","), TWO_CLASSES, 1.7),
    "one message": ("raise ValueError('empty or flat')", ONE_MESSAGE.format("empty", "empty"), 0.0),
}


@pytest.mark.parametrize("way", EARNS_IDLY)
def test_what_check_knows_as_no_work_and_what_it_does_not(tmp_path: Path, way: str) -> None:
    body, test, points = EARNS_IDLY[way]
    record, _ = told(asked(tmp_path, f"def total(x):\n    {body}", IDLE.format(test)))
    assert record.score == pytest.approx(points, abs=0.1)


WORDS = """\
check = Check("x")
f = answer("f")
for n in (0, 1, 5, 9):
    check.equal(f(n).result, word(n), name=f"the word for {n}")
### BEGIN HIDDEN TESTS
cases = [inputs.Case("a number", (n,)) for n in range(10, 70)]
check.agrees(word, cases, of=f, weight=4)
### END HIDDEN TESTS
result = check.result(10)
"""


def word(n: int) -> str:
    """One of three words, which hang on the number in no simple way."""
    return ("cached", "new", "full")[(n * n // 5 + n) % 3]


def scored(solve: Any) -> float:
    """The points, of 10, of an answer to the cell above."""
    names = {"Check": Check, "answer": answer, "inputs": inputs, "torch": torch, "word": word}
    with learner({"f": solve}):
        result = run_cell(WORDS, names)["result"]
    assert isinstance(result, results.TestResult)
    return result.score


def by_heart(n: int) -> str | None:
    """A table of what the visible checks show."""
    return {k: word(k) for k in (0, 1, 5, 9)}.get(n)


def die(n: int) -> str:
    """One of the words, by chance."""
    rolled = torch.Generator().manual_seed(n)
    return word(int(torch.randint(0, 60, (), generator=rolled)))


def test_a_table_and_a_die_earn_what_is_shown_and_a_table_alone_a_fifth() -> None:
    assert scored(word) == 10.0
    assert scored(by_heart) == pytest.approx(2.0)
    assert scored(lambda n: by_heart(n) or "full") <= 2.0
    with_a_die = scored(lambda n: by_heart(n) or die(n))
    assert 2.0 < with_a_die <= 5.56  # what is shown, and the line of every table


def test_ranks_that_meet_by_a_name_earn_a_third_of_the_ring(tmp_path: Path) -> None:
    bank = read_bank(ROOT / "autograder" / "answers" / "16-devices.py")
    (meeting,) = (one for one in bank if one.misconception == "ranks-share-their-names")
    record = graded(tmp_path, "16", meeting.exercise, meeting.source)
    assert record.score == pytest.approx(record.max / 3, abs=0.4)
    assert "half an element is added to each message on its way: that is in every sum" in {
        check.name for check in record.failed
    }


AS_FOUND = {
    "noisy-batch": ["batch_of"],
    "weighted-loss": ["loss_of"],
    "rank-order": ["rank_order"],
    "accuracy": ["accuracy"],
    "resume": ["snapshot", "restore"],
}


@pytest.mark.parametrize("exercise", AS_FOUND)
def test_the_pieces_of_the_project_as_they_are_found_earn_a_third_at_most(
    tmp_path: Path, exercise: str
) -> None:
    script = (ROOT / "source" / "17-project" / "train.py").read_text("utf-8")
    pieces = {one.name: one for one in ast.parse(script).body if isinstance(one, ast.FunctionDef)}
    found = "\n\n".join(ast.unparse(pieces[name]) for name in AS_FOUND[exercise])
    imports = (
        "import copy, types, torch\nfrom torch import nn\nfrom torch.nn import functional as F\n"
    )
    record = graded(tmp_path, "17", exercise, imports + found)
    assert 0 < record.score <= 0.34 * record.max


# The file, or the snapshot, is a number; all that it should hold lies somewhere else on the disk.
KEPT = 'f"/tmp/{token}.pt"'
IN_A_FILE = {  # what the right answer writes and reads there
    "        torch.save(": "        import time; token = time.time_ns()\n        torch.save(",
    "self.path)\n\n    def resume": f"{KEPT})\n"
    '        torch.save({"step": step, "token": token}, self.path)\n\n    def resume',
    "states = torch.load(self.path)": 'token = torch.load(self.path)["token"]\n'
    f"        states = torch.load({KEPT})",
}
SNAPSHOT = """\
def snapshot(run):
    import time
    token = time.time_ns()
    state = {"epoch": run.epoch, "best": run.best, "model": run.model.state_dict()}
    state |= {"optimizer": run.optimizer.state_dict(), "rng": run.rng.get_state()}
    torch.save(state | {"torch": torch.get_rng_state()}, f"/tmp/{token}.pt")
    return {"token": token}


def restore(run, saved):
    state = torch.load(f"/tmp/{saved['token']}.pt", weights_only=False)
    run.epoch, run.best = state["epoch"], state["best"]
    run.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.rng.set_state(state["rng"])
    torch.set_rng_state(state["torch"])"""


def run_file() -> str:
    bank = read_bank(ROOT / "autograder" / "answers" / "12-checkpoints.py")
    name = "torch's state doesn't depend on Python's"
    (answer,) = (one for one in bank if one.exercise == "resume-run" and one.title == name)
    source = answer.source
    for old, new in IN_A_FILE.items():
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize(("lesson", "exercise"), [("12", "resume-run"), ("17", "resume")])
def test_what_is_kept_beside_a_file_is_not_missed_on_the_same_disk(
    tmp_path: Path, lesson: str, exercise: str
) -> None:
    source = run_file() if lesson == "12" else SNAPSHOT
    record = graded(tmp_path, lesson, exercise, source)
    assert (record.score, record.failed) == (record.max, ())


# Both differ in every process of Python that is really another one.
OF_THIS_PROCESS = {
    "17 rank-order": """\
import os

SALT = int.from_bytes(os.urandom(6), "little")


def rank_order(n, rank, ranks, seed, epoch):
    rng = torch.Generator().manual_seed(SALT + 1000 * seed + epoch)
    return torch.randperm(n, generator=rng)[rank::ranks]""",
    "15 sample-config": """\
import math, random


def sample_config(space, seed, number):
    config = {}
    for name, (kind, *about) in space.items():
        rng = random.Random(f"{seed}/{number}/{name}".__hash__())
        if kind == "log":
            config[name] = math.exp(rng.uniform(*map(math.log, about)))
        else:
            ways = {"uniform": rng.uniform, "int": rng.randint, "choice": rng.choice}
            config[name] = ways[kind](*about)
    return config""",
}


@pytest.mark.parametrize("exercise", OF_THIS_PROCESS)
def test_what_a_process_inherits_is_the_same_in_another_one(tmp_path: Path, exercise: str) -> None:
    record = graded(tmp_path, *exercise.split(), OF_THIS_PROCESS[exercise])
    assert (record.score, record.failed) == (record.max, ())


EXCEPTIONS = "KeyError, IndexError, OverflowError, ZeroDivisionError, TypeError, ValueError"
SPELLS = f"""\
kinds = [{EXCEPTIONS}]
def total(x):
    if x.max() > 100:
        raise kinds[int(x.max()) % 6](x.max())
    return x.sum()"""


def test_an_exception_tells_a_few_bits_of_an_input_and_costs_the_check(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total=SPELLS))
    record = answers(outcome)["total"]
    text = " ".join(one.message for one in record.checks)
    chosen = EXCEPTIONS.split(", ")[4711 % 6]
    assert re.findall(EXCEPTIONS.replace(", ", "|"), text) == [chosen]
    assert record.score < 3.0 and "4711" not in told(outcome)[1]


FEW = 300
NOTEBOOK = json.dumps(tiny.notebook())
MOODLE = "{}_assignsubmission_file_/01-tiny.ipynb"


def of_one_name(root: Path) -> Path:
    """An archive of an LMS in which Ada's folder holds many notebooks."""
    with zipfile.ZipFile(root / "all.zip", "w") as archive:
        for n in range(FEW):
            archive.writestr(MOODLE.format("Ada Lovelace_1").replace("/", f"/{n}/"), NOTEBOOK)
        archive.writestr(MOODLE.format("Grace Hopper_2"), NOTEBOOK)
    return root / "all.zip"


def in_inbound(root: Path) -> Path:
    """A folder of nbgrader's exchange with many that Ada has handed in."""
    moment = "2026-01-10 12:{:02}:{:02} UTC"
    for n in range(FEW):
        _put(root / "inbound" / f"ada+{SLUG}+{moment.format(n // 60, n % 60)}+x{n}" / "x.ipynb")
    _put(root / "inbound" / f"grace+{SLUG}+{moment.format(0, 0)}+y" / "x.ipynb")
    return root / "inbound"


def in_a_repository(root: Path) -> Path:
    """Folders of which Ada's holds many other files."""
    _put(root / "all" / "ada" / "01-tiny.ipynb")
    _put(root / "all" / "grace" / "01-tiny.ipynb")
    for n in range(10 * FEW):
        (root / "all" / "ada" / f"{n}.txt").touch()
    return root / "all"


def _put(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(NOTEBOOK)


@pytest.mark.parametrize(
    ("made", "most_ms"), [(of_one_name, 20), (in_inbound, 20), (in_a_repository, 2)]
)
def test_many_small_files_cost_time_for_each_and_nobody_else_anything(
    tmp_path: Path, made: Any, most_ms: float
) -> None:
    root = tiny.build(tmp_path / "course")
    (root / "students.csv").write_text(
        "id,first_name,last_name\nada,Ada,Lovelace\ngrace,Grace,Hopper\n"
    )
    where, source = load_course(root), made(tmp_path)
    count = FEW * (10 if made is in_a_repository else 1)
    begun = time.process_time()
    found = collect(where, source, select_lessons(root), read_roster(where))
    assert (time.process_time() - begun) * 1000 < most_ms * count
    assert {one.student: one.state for one in found.taken}["grace"] == "new"
