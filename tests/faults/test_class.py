"""A class with one of every fault: each is one learner's status, and the others are graded alone.

Faults are of three kinds: in the folder that was handed in, in the notebook, and in what the
grader finds where it wants to write.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from autograder.course_directory import CourseDirectory
from autograder.engine import EngineRunner, Limits
from autograder.grading.pipeline import GradingResult, grade
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.records.model import SubmissionRecord
from autograder.reporting.tables import grades_table
from autograder.submissions import folder as handed_in
from autograder.submissions.discovery import find_submissions
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, answered, classroom, deep_folder, hand_in, tiny_lesson

MiB = 2**20
LIMITS = Limits(cell_s=6.0, submission_s=60.0, memory_nbytes=512 * MiB, tmp_nbytes=16 * MiB)
NOTEBOOK = f"{SLUG}.ipynb"
HONEST = {
    "full": answered(flatten="def flatten(x):\n    return x.reshape(-1)"),
    "copies": answered(flatten="def flatten(x):\n    return x.clone().reshape(-1)"),
    "in place": answered(double="def double(x):\n    return x.mul_(2)"),
    "raises": answered(double="def double(x):\n    return x.nothing"),
}
COSTLY = "def flatten(x):\n    return 'costly'"
# The lesson's own test cannot come to an end with this answer.
TEST_FLATTEN = tiny.TEST_FLATTEN.replace(
    "check.equal(", 'while seen.result.node == "costly":\n    pass\ncheck.equal(', 1
)


# The folder.


def notebook_is_a_folder(folder: Path) -> None:
    (folder / NOTEBOOK).unlink()
    (folder / NOTEBOOK).mkdir()
    (folder / NOTEBOOK / "inside.txt").write_text("1")


def folder_named_like_a_data_file(folder: Path) -> None:
    (folder / "data.csv").mkdir()
    (folder / "data.csv" / "inside.txt").write_text("1")


def large_time(folder: Path) -> None:
    os.truncate(folder / "timestamp.txt", 3 * 2**30)


def large_data(folder: Path) -> None:
    (folder / "model.bin").touch()
    os.truncate(folder / "model.bin", 6 * 2**30)


def many_files(folder: Path) -> None:
    for number in range(300):
        (folder / f"{number}.txt").touch()


def capitals(folder: Path) -> None:
    (folder / NOTEBOOK).rename(folder / "01-Tiny.IPYNB")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "circle").symlink_to(".")
    with socket.socket(socket.AF_UNIX) as listening, chdir(folder):
        listening.bind("socket")


def pipe_for_a_notebook(folder: Path) -> None:
    (folder / NOTEBOOK).unlink()
    os.mkfifo(folder / NOTEBOOK)


# The notebook.


def changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """A fault that changes the notebook, given as plain data."""

    def apply(folder: Path) -> None:
        notebook = json.loads((folder / NOTEBOOK).read_text())
        change(notebook)
        (folder / NOTEBOOK).write_text(json.dumps(notebook))

    return apply


def nested(notebook: dict[str, Any]) -> None:
    for _ in range(900):
        notebook["cells"][0]["metadata"] = {"deep": notebook["cells"][0]["metadata"]}
    notebook["cells"].append(tiny.code("own", "1", notebook["cells"][0]["metadata"]))


def much_output(notebook: dict[str, Any]) -> None:
    source = "from IPython.display import HTML\nHTML('x' * 6_000_000)"
    notebook["cells"] += [tiny.code(f"own-{number}", source) for number in range(6)]


def beyond_all_floats(notebook: dict[str, Any]) -> None:
    notebook["cells"].append(tiny.code("own", "1", {"size": float("1e400")}))


def list_as_id(notebook: dict[str, Any]) -> None:
    notebook["cells"][0]["id"] = ["title"]


FOLDERS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a folder for a notebook": (notebook_is_a_folder, "malformed"),
    "a folder for data": (folder_named_like_a_data_file, "graded"),
    "a path without end": (deep_folder, "malformed"),
    "a time of gigabytes": (large_time, "malformed"),
    "data of gigabytes": (large_data, "malformed"),
    "many files": (many_files, "malformed"),
    "capitals": (capitals, "graded"),
    "pipes and circles": (pipe, "graded"),
    "a pipe for a notebook": (pipe_for_a_notebook, "malformed"),
    "nested metadata": (changed(nested), "graded"),
    "much output": (changed(much_output), "graded"),
    "a list for an id": (changed(list_as_id), "graded"),
    "beyond all floats": (changed(beyond_all_floats), "graded"),
    "a costly answer": (changed(lambda notebook: _answer(notebook, COSTLY)), "timeout"),
    "not readable": (lambda folder: None, "infrastructure"),
    "a shut folder": (lambda folder: folder.chmod(0), "infrastructure"),
    "x" * 251: (lambda folder: None, "graded"),
    "jos\udce9": (lambda folder: None, "graded"),
    "a\nb\x1b[2J": (lambda folder: None, "graded"),
}
# In what the grader has written before.
BEFORE = (
    *("a folder for a record", "a folder for an executed notebook"),
    *("data was a file", "data was a folder"),
)


def _answer(notebook: dict[str, Any], source: str) -> None:
    next(cell for cell in notebook["cells"] if cell["id"] == "flatten")["source"] = source


def class_of(root: Path, *, faults: bool) -> CourseDirectory:
    """Twenty honest learners; with `faults` one more for each fault."""
    course, _ = classroom(root)
    source = tiny.notebook()
    next(c for c in source["cells"] if c["id"] == "test-flatten")["source"] = TEST_FLATTEN
    tiny.write(root, source)
    (root / "source" / SLUG / "data.csv").write_text("1,2\n")
    for number in range(20):
        hand_in(root, f"honest-{number:02}", list(HONEST.values())[number % 4])
    for name, (spoil, _) in FOLDERS.items() if faults else ():
        spoil(hand_in(root, name, HONEST["full"], "2026-01-10 12:00:00 UTC"))
    for name in BEFORE if faults else ():
        hand_in(root, name, HONEST["full"])
    return course


def stand_in_the_way(course: Path) -> None:
    """Put folders where the grader wants to write files, a file where a folder belongs."""
    (course / ".autograder" / "journal" / SLUG / f"{BEFORE[0]}.json" / "full").mkdir(parents=True)
    (course / "autograded" / BEFORE[1] / SLUG / NOTEBOOK / "full").mkdir(parents=True)
    (course / "autograded" / BEFORE[2] / SLUG).mkdir(parents=True)
    (course / "autograded" / BEFORE[2] / SLUG / "more").write_text("a file")
    more = course / "submitted" / BEFORE[2] / SLUG / "more" / "data.txt"
    more.parent.mkdir()
    more.write_text("1")
    (course / "autograded" / BEFORE[3] / SLUG / "more" / "full").mkdir(parents=True)
    (course / "submitted" / BEFORE[3] / SLUG / "more").write_text("1")


def refuse_one(path: Path, flags: int) -> int:
    """Open files as for a grader who may not read one learner's notebook."""
    if "not readable" in path.parts and path.name == NOTEBOOK:
        raise PermissionError(errno.EACCES, "Permission denied")
    return os.open(path, flags)


@contextmanager
def as_an_ordinary_owner() -> Iterator[None]:
    """Without root's right to pass over a file's mode, where root runs this."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this thread
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their upper halves
    assert libc.capget(header, sets) == 0
    before = sets[0]
    sets[0] &= ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = before
        assert libc.capset(header, sets) == 0


def graded(course: CourseDirectory, runner: EngineRunner) -> GradingResult:
    from autograder.lessons.model import find_lesson

    lesson = find_lesson(course.root, SLUG)
    with as_an_ordinary_owner():
        return grade(course, find_submissions(course, (lesson,), opened=refuse_one), runner)


def without_clock(done: GradingResult) -> list[SubmissionRecord]:
    """The honest learners' records, but for how long each took."""
    honest = [one for one in done.records if one.student.startswith("honest")]
    return [replace(one, seconds=0.0) for one in honest]


@pytest.mark.exhaustive("a class with every fault")
def test_honest_learners_beside_every_fault_are_graded_as_if_they_were_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handed_in, "FILES_LIMIT", 200)
    alone, beside = class_of(tmp_path / "1", faults=False), class_of(tmp_path / "2", faults=True)
    stand_in_the_way(beside.root)
    runner = EngineRunner(2, limits=LIMITS)
    try:
        quiet, done = graded(alone, runner), graded(beside, runner)
        again = graded(beside, runner)
    finally:
        runner.close()
    assert again.records == done.records  # with their seconds: nobody was run twice
    assert without_clock(done) == without_clock(quiet)
    assert (len(without_clock(quiet)), done.trouble) == (20, None)
    check_the_others(done)
    check_what_is_kept(beside, done)


def check_the_others(done: GradingResult) -> None:
    """Each fault has its own status, and the table ends with whom it needs."""
    wanted = {name: status for name, (_, status) in FOLDERS.items()} | dict.fromkeys(
        BEFORE, "graded"
    )
    wanted["jos\\xe9"] = wanted.pop("jos\udce9")
    others = {one.student: one for one in done.records if not one.student.startswith("honest")}
    assert {name: str(one.status) for name, one in others.items()} == wanted
    costly = others["a costly answer"]
    assert [str(one.status) for one in costly.exercises] == ["timeout", "graded"]
    last = grades_table(done.records).split("\n")[-1]
    # Processor time, or the clock where other processes leave it too little.
    assert re.match(
        r"9 need you: a costly answer \(timeout: Its test (used more|ran longer) than", last
    )
    assert "not readable (infrastructure: 01-tiny.ipynb cannot be read: Permission den" in last


def check_what_is_kept(course: CourseDirectory, done: GradingResult) -> None:
    """Everybody is in the gradebook and has an executed notebook of a usual size."""
    with GradebookWriter(course) as writer:
        points = {name: one.score for name, one in writer.entries(tiny_lesson()).items()}
    assert points == {one.student: one.score for one in done.records}
    for one in done.records:
        notebook = course.autograded(one.student, SLUG) / NOTEBOOK
        assert notebook.stat().st_size < 17 * MiB
        json.loads(notebook.read_bytes(), parse_constant=pytest.fail)
    folder, file = (course.autograded(name, SLUG) / "more" for name in BEFORE[2:])
    assert ((folder / "data.txt").read_text(), file.read_text()) == ("1", "1")
