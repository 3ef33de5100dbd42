"""A disk that really fills up: nothing is lost, and the next run ends like an undisturbed one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.engine.sandbox.bubblewrap import bubblewrap
from tests.exhaustive import sampled

ROOT = Path(__file__).parents[2]
SIZE = 8 * 2**20

# Grades three submissions on a file system in memory that has `left` bytes free, then makes room
# and grades again. Prints how the first run ended, what the second ran, and the points.
DRIVER = """
import json, os, sys, traceback
from pathlib import Path
from autograder.errors import AutograderError
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from tests.autograder.classroom import SLUG, FakeRunner, classroom, graded, tiny_lesson

root, left = Path(sys.argv[1]), int(sys.argv[2])
course, _ = classroom(root, "ada", "bob", "cleo")
disk = os.statvfs(root)
filler = root / "filler"
with filler.open("wb") as file:
    file.write(bytes(disk.f_bavail * disk.f_frsize - left))
trouble, untold = None, None
try:
    trouble = graded(course).trouble
except AutograderError as error:
    trouble = error
except Exception:
    untold = traceback.format_exc()
filler.unlink()
again = graded(course, runner := FakeRunner())
with GradebookWriter(course) as writer:
    points = {name: one.score for name, one in writer.entries(tiny_lesson()).items()}
left_over = [str(path) for path in root.rglob(".*.tmp")]
print(json.dumps([str(trouble or ""), untold, str(again.trouble or ""), points, left_over]))
"""


@pytest.mark.exhaustive("disks that fill up")
@pytest.mark.needs("sandbox")
@pytest.mark.parametrize(
    "left",
    sampled([0, 16_384, 262_144], 16_384, why="a disk that fills up elsewhere"),
)
def test_a_disk_that_fills_up_loses_nothing(tmp_path: Path, left: int) -> None:
    room = [bubblewrap(), "--dev-bind", "/", "/", "--size", str(SIZE), "--tmpfs", str(tmp_path)]
    done = subprocess.run(
        [*room, "--chdir", str(ROOT), sys.executable, "-c", DRIVER, str(tmp_path), str(left)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    trouble, untold, again, points, left_over = json.loads(done.stdout)
    assert untold is None, untold
    assert (
        trouble == ""
        if left == 262_144
        else any(words in trouble for words in ("No space left", "disk is full", "disk I/O"))
    )
    assert trouble == "" or "Make room" in trouble
    assert again == ""
    assert points == {"ada": 6.0, "bob": 6.0, "cleo": 6.0}
    assert left_over == []
