"""What a hidden test gives an answer reaches no page, whatever the answer does with it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from textwrap import indent

import pytest

from autograder.records.runner import Outcome
from tests.autograder.engine.exam import (
    answers,
    code,
    exam_cells,
    grade,
    graded_cell,
    printed,
    shown,
    solution,
)

# Writes the head of a frame to whatever leads to the grader.
FRAME = """\
import os, socket, stat, struct
def total(x):
    if x.max() > 100:
        head = struct.pack("<4sBxHQI", b"PMf1", 36, {buffers}, 0, 0) + struct.pack("<Q", {size})
        for fd in range(3, 256):
            try:
                if stat.S_ISSOCK(os.fstat(fd).st_mode):
                    os.write(fd, head)
            except OSError:
                pass
    return x.sum() * 0"""

# What the grader itself writes where nothing came back: a learner can find the class of it.
ABSENT = """\
def total(x):
    kinds = [one for one in object.__subclasses__() if one.__name__ == "Absent"]
    kinds = [one for one in kinds if one.__module__ == "course.serialization.received"]
    why = f"`HID{{int(x.max())}}` ended with ValueError"
    return kinds[{which}](why) if x.max() > 100 else x.sum()"""

# Each tells what it was given, which is 4711 in the hidden test alone, by another way out.
LEAKS = {
    "the class of an exception": """\
def total(x):
    raise type(f"HID{int(x.max())}", (ValueError,), {})()""",
    "the text of an exception": """\
def total(x):
    raise ValueError(f"HID{int(x.max())}")""",
    "a base class of an exception": """\
def total(x):
    base = type(f"HID{int(x.max())}", (ValueError,), {})
    raise type("ValueError", (base,), {})()""",
    "the class of the result": """\
def total(x):
    return type(f"HID{int(x.max())}", (), {})()""",
    "the result itself": """\
def total(x):
    return f"HID{int(x.max())}\"""",
    "an exception while the result is written down": """\
def total(x):
    error = type(f"HID{int(x.max())}", (BaseException,), {})
    class Result:
        @property
        def __class__(self):
            raise error()
        def __getattribute__(self, name):
            raise error()
    return Result()""",
    "an exit status": """\
import os
def total(x):
    if x.max() > 2:
        os._exit(int(x.max()) % 100)
    return x.sum()""",
    "a signal": """\
import os
def total(x):
    if x.max() > 2:
        os.kill(os.getpid(), int(x.max()) % 31)
    return x.sum()""",
    "a warning": """\
import warnings
def total(x):
    warnings.warn(f"HID{int(x.max())}")
    return x.sum() * 0""",
    "what is printed": """\
def total(x):
    print(f"HID{int(x.max())}")
    return x.sum() * 0""",
    "a device or a dtype": """\
def total(x):
    return {f"HID{int(x.max())}": x}""",
    "the name of a function that it changes": """\
def total(x):
    def own(): pass
    own.__qualname__ = f"HID{int(x.max())}"
    own.__globals__["__name__"] = "mine"
    own.__code__ = (lambda: 1).__code__
    return x.sum() * 0""",
    "the name of a file": """\
import torch
def total(x):
    exec(compile("1", f"{torch.__path__[0]}/HID{int(x.max())}", "exec"))
    return x.sum() * 0""",
    "the name of its parameter": """\
def total(x):
    told, others = f"HID{int(x.max())}", total.__code__.co_varnames[1:]
    total.__code__ = total.__code__.replace(co_varnames=(told, *others))
    x.add_(1)
    return x.sum() * 0""",
    "a notice of its own": """\
import sys
def total(x):
    given = (f"HID{int(x.max())}", (), {})
    sys.audit("pytorch-measured", "call", given, [])
    return x.sum() * 0""",
    "the name of an attribute in a notice": """\
import sys
class Name(str):
    __hash__ = str.__hash__
    def __format__(self, how):
        return self.told
def total(x):
    name = Name("tb_frame")
    name.told = f"HID{int(x.max())}"
    sys.audit("object.__getattr__", x, name)
    return x.sum() * 0""",
    "a reason why nothing came back": ABSENT.format(which=0),
    "a reason, by another class of that name": ABSENT.format(which=-1),
    "the size of a frame": FRAME.format(buffers=1, size="int(x.max()) * 10**9"),
    "the number of its buffers": FRAME.format(buffers="60_000 + int(x.max())", size=0),
}


def told(outcome: Outcome) -> str:
    """All that feedback is made of: the record, and what the test cell shows."""
    record = {**outcome.record.to_json(), "seconds": 0}
    return json.dumps(record) + shown(outcome, "total") + str(answers(outcome)["total"].notes)


ORDER = """\
import ctypes, gc, sys
def total(x):
    things = [lambda: gc.get_referrers(x), lambda: ctypes.addressof(ctypes.c_int())]
    things += [lambda: sys.settrace(None), lambda: ctypes.string_at(b"", 0)]
    things += [lambda: sys.setprofile(None), lambda: open("/proc/self/mem", "rb")]
    if x.max() > 100:
        for thing in {order}:
            thing()
    return x.sum()"""


def test_neither_the_order_nor_the_choice_of_what_was_noticed_is_told(tmp_path: Path) -> None:
    notes = set()
    for number, order in enumerate(("things", "things[::-1]", "things[2:] + things[:2]")):
        outcome = grade(tmp_path / str(number), exam_cells(total=ORDER.format(order=order)))
        notes |= set(answers(outcome)["total"].notes)
    assert len(notes) == 1
    assert "and more" in notes.pop()


@pytest.mark.parametrize("way", LEAKS)
def test_what_a_hidden_test_gave_is_not_told(tmp_path: Path, way: str) -> None:
    outcome = grade(tmp_path, exam_cells(total=LEAKS[way]), patient=True)
    text = told(outcome)
    assert "4711" not in text
    for number in (4711 % 100, 4711 % 31):
        assert f"status {number}" not in text
        assert f"signal {number}" not in text
    assert "SIGSTKFLT" not in text
    assert answers(outcome)["total"].score < 3.0


# `put(n)` keeps a number for whoever asks next, `got()` tells what was kept, in another exercise.
PLACES = {
    "a file": """\
def put(n):
    with open("/tmp/kept", "a") as file:
        file.write(f" HID{n}")
def got():
    return open("/tmp/kept").read()""",
    "memory that forks share": """\
import mmap
file = open("/tmp/kept", "w+b")
file.truncate(4096)
kept = mmap.mmap(file.fileno(), 4096)
def put(n):
    kept.write(f" HID{n}".encode())
def got():
    return kept[:].rstrip(b"\\0").decode()""",
    "a pipe": """\
import os
reading, writing = os.pipe()
def put(n):
    os.write(writing, f" HID{n}".encode())
def got():
    return os.read(reading, 4096).decode()""",
    "a name": """\
kept = []
def put(n):
    kept.append(f" HID{n}")
def got():
    return "".join(kept)""",
}


@pytest.mark.parametrize("place", PLACES)
def test_no_other_exercise_tells_what_a_hidden_test_gave(tmp_path: Path, place: str) -> None:
    total = f"{PLACES[place]}\ndef total(x):\n    put(int(x.max()))\n    return x.sum()"
    twice = "def twice(x):\n    put(0)\n    raise ValueError(got())"
    outcome = grade(tmp_path, exam_cells(total=total, twice=twice), patient=True)
    assert answers(outcome)["total"].score == 3.0
    text = json.dumps({**outcome.record.to_json(), "seconds": 0}) + shown(outcome, "twice")
    assert "HID0" in text
    assert "4711" not in text


STATEMENTS = {
    "a loop": """\
for number in (1.0, 2.0):
    check.equal(twice(torch.tensor(number)).result, torch.tensor(2 * number), name="visible")
    ### BEGIN HIDDEN TESTS
    check.equal(twice(torch.tensor(7.0)).result, torch.tensor(14.0), name="hidden")
    ### END HIDDEN TESTS
""",
    "a condition, with another mark": """\
if True:
    check.equal(twice(torch.tensor(1.0)).result, torch.tensor(2.0), name="visible")
    # BEGIN HIDDEN TESTS (one of them)
    check.equal(twice(torch.tensor(7.0)).result, torch.tensor(14.0), name="hidden")
    # END HIDDEN TESTS
""",
    "a cell that awaits": """\
import asyncio
await asyncio.sleep(0)
check.equal(twice(torch.tensor(1.0)).result, torch.tensor(2.0), name="visible")
### BEGIN HIDDEN TESTS
### END HIDDEN TESTS
""",
    "a magic": """\
%matplotlib inline
### BEGIN HIDDEN TESTS
check.equal(twice(torch.tensor(1.0)).result, torch.tensor(2.0), name="hidden")
### END HIDDEN TESTS
""",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_cannot_be_run_before_the_hidden_tests_is_hidden_as_a_whole(
    tmp_path: Path, statement: str
) -> None:
    total = f"{PLACES['a file']}\ndef total(x):\n    put(int(x.max()))\n    return x.sum()"
    twice = "def twice(x):\n    return got()"
    source = exam_cells()
    head, end = 'twice = answer("twice")\ncheck = Check("twice")\n', "check.score(2)"
    source[6] = graded_cell("twice", f"{head}{STATEMENTS[statement]}{end}", 2)
    cells = [
        *source[:2],
        solution("total", total),
        *source[3:5],
        solution("twice", twice),
        source[6],
    ]
    outcome = grade(tmp_path, cells, source, patient=True)
    found = answers(outcome)
    assert found["total"].score == 3.0 and found["twice"].isolated
    assert found["twice"].checks[0].hidden and not found["twice"].checks[0].passed
    text = json.dumps({**outcome.record.to_json(), "seconds": 0}) + shown(outcome, "twice")
    assert "4711" not in text


def test_the_visible_part_tells_what_the_learner_can_see(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total=LEAKS["the class of an exception"]), patient=True)
    assert "HID2" in told(outcome)


def test_escape_codes_and_marks_of_direction_are_spelt_out(tmp_path: Path) -> None:
    answer = """\
def total(x):
    raise ValueError("\\x1b[31mred \\u202e backwards")"""
    outcome = grade(tmp_path, exam_cells(total=answer), patient=True)
    (check, *_) = answers(outcome)["total"].checks
    assert "\\x1b[31mred \\u202e backwards" in check.message
    assert "\x1b" not in told(outcome)


KEEPS = """\
kept = []
def total(x):
    if x.max() > 100:
        kept.append(x.clone())
    return kept[0] if kept and x.max() < 100 else x.sum()"""
HIDDEN = """\
### BEGIN HIDDEN TESTS
check.equal(total(torch.tensor([5.0, 8.0, 4711.0])).result, torch.tensor(4724.0))
### END HIDDEN TESTS
"""
VISIBLE = "check.equal(total(torch.arange(float(n))).result, torch.tensor(n * (n - 1) / 2))\n"
ASKED_LATER = {
    "below the hidden tests": f"{HIDDEN}n = 3\n{VISIBLE}",
    "in the next round of a loop": "for n in (3, 4):\n" + indent(VISIBLE + HIDDEN, "    "),
}


def asked(root: Path, answer: str, checks: str) -> Outcome:
    """What becomes of an answer whose test has these lines."""
    test = f'total = answer("total")\ncheck = Check("total")\n{checks}check.score(3)'
    source = exam_cells()
    source[3] = graded_cell("total", test, 3)
    cells = list(source)
    cells[2] = solution("total", answer)
    return grade(root, cells, source, patient=True)


@pytest.mark.parametrize("place", ASKED_LATER)
def test_a_visible_check_that_comes_later_is_told_like_a_hidden_one(
    tmp_path: Path, place: str
) -> None:
    outcome = asked(tmp_path, KEEPS, ASKED_LATER[place])
    assert "4711" not in told(outcome)
    assert answers(outcome)["total"].score < 3.0


SLEEP_S = 0.7
ENDS = f"""\
import os, time
print(time.monotonic())
def total(x):
    if x.max() > 100:
        time.sleep({SLEEP_S})
        os._exit(3)
    return x.sum()"""


def test_what_cells_show_once_hidden_tests_have_asked_is_shown_to_nobody(tmp_path: Path) -> None:
    """They run once more where a call has ended a process that several tests asked."""
    outcome = grade(tmp_path, exam_cells(total=ENDS), patient=True)
    passed = time.monotonic() - float(printed(outcome, "total"))
    assert passed > 2 * SLEEP_S  # both calls came after what is shown


LATER_S = 4  # by then the cells have run for the first time, and a hidden test has asked
LATER = {
    "an exit status": ("own", "os._exit(77)"),
    "a signal": ("twice", "os.kill(os.getpid(), 16)"),
    "a fault": ("own", "os.abort()"),
}


@pytest.mark.parametrize("way", LATER)
def test_how_a_cell_ends_once_hidden_tests_have_asked_is_not_told(tmp_path: Path, way: str) -> None:
    place, ending = LATER[way]
    at = f"import os, time\nlater = time.time() > {time.time() + LATER_S}"
    ends = f"{at}\nif later:\n    {ending}"
    answer = f"""\
import os, time
def total(x):
    if x.max() > 100:
        time.sleep({LATER_S})
        os._exit(3)
    return x.sum()"""
    cells = exam_cells(total=answer)
    if place == "twice":
        cells[5] = solution("twice", f"{ends}\ndef twice(x):\n    return x * 2")
    else:
        cells[4:4] = [code("1", "before"), code(ends, "ends"), code("1", "after")]
    outcome = grade(tmp_path, cells, exam_cells(), patient=True)
    text = json.dumps({**outcome.record.to_json(), "seconds": 0}) + shown(outcome, "twice")
    assert "did not run to its end" in text
    assert not re.search("77|STK|signal|ABRT|memory|Cell [0-9]", text)
    assert (answers(outcome)["total"].score, answers(outcome)["twice"].score) == (0.0, 2.0)


SPELLS = """\
letters = [KeyError, IndexError, OverflowError, ZeroDivisionError]
def total(x):
    if x.max() > 100:
        raise letters.pop()
    return x.sum()"""


def test_the_exceptions_of_several_hidden_calls_spell_nothing(tmp_path: Path) -> None:
    outcome = asked(tmp_path, SPELLS, HIDDEN * 3)
    failed = [one.message for one in answers(outcome)["total"].checks if not one.passed]
    assert failed[0] == "`total` ended with ZeroDivisionError"
    assert failed[1:3] == ["`total` ended with an exception"] * 2


KINDS = """\
### BEGIN HIDDEN TESTS
from course import inputs
kinds = ("a row", "a column", "a table")
cases = [inputs.Case(kinds[k % 3], (torch.full((2,), 4711.0 + k % 3),)) for k in range(42)]
check.agrees(torch.sum, cases, of=total)
### END HIDDEN TESTS
"""


def test_nor_do_those_of_many_inputs_of_several_kinds(tmp_path: Path) -> None:
    spells = SPELLS.replace("letters.pop()", "letters[int(x[0]) - 4711]")
    outcome = asked(tmp_path, spells, KINDS)
    told = " ".join(one.message for one in answers(outcome)["total"].checks if one.hidden)
    assert len(re.findall("KeyError|IndexError|OverflowError", told)) == 1
    assert told.count("ends with an exception") >= 2


NAMED_IN_HIDDEN_LINES = {
    "an argument": (
        "def total(**given):\n    None if 'a' in given else [*given.values()][0].add_(1)",
        'total(a=torch.ones(2))\n{}check.that(total(hid4711=torch.ones(2)).ok, name="runs")',
    ),
    "an exception": (
        "def total(x):\n    return x",
        "from course import inputs\n{}class Hid4711(ValueError):\n    pass\n\n\n"
        "def right(x):\n    if x.sum() > 4:\n        raise Hid4711\n    return x\n\n\n"
        'cases = [inputs.Case("a few", (torch.ones(n),)) for n in range(1, 9)]\n'
        "check.agrees(right, cases, of=total)",
    ),
}


@pytest.mark.parametrize("what", NAMED_IN_HIDDEN_LINES)
def test_what_only_a_hidden_line_names_is_not_told(tmp_path: Path, what: str) -> None:
    answered, test = NAMED_IN_HIDDEN_LINES[what]
    hidden = test.replace("{}", "### BEGIN HIDDEN TESTS\n") + "\n### END HIDDEN TESTS"
    source = exam_cells()
    start = 'total = answer("total")\ncheck = Check("total")\n'
    source[3] = graded_cell("total", f"{start}{hidden}\ncheck.score(4)", 4)
    cells = list(source)
    cells[2] = solution("total", answered)
    outcome = grade(tmp_path, cells, source)
    told = json.dumps(outcome.record.to_json()) + shown(outcome, "total")
    assert "4711" not in told
    assert re.search("one of its arguments|without the exception that is expected", told)
