"""How the engine compares with stock nbgrader: the same submissions, graded in turns.

Three contenders grade copies of one class, a simulated one of a lesson or one in the course that
`nbgrader quickstart` makes: `nbgrader autograde` in one process, a pool
of processes over `NbGraderAPI`, and `autograder grade` with the sandbox on. Each grading is one
command; its wall time is measured outside. Its CPU time is that of all processes it starts, by a
clock that they inherit; where the kernel refuses one, it is what the machine's cores were busy for
meanwhile, and nothing else may run. The scores of all three must agree.

The fastest that any grader could be is the cells' own CPU time divided by the cores. It is
measured too: the same cells in one warm IPython shell each, with no grader around them.

Stock nbgrader takes hours for what the engine does in minutes. It may be given a part of the class:
its start is what two submissions take beyond their share, and each further one costs the same.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

from autograder.errors import AutograderError, UsageError
from autograder.lessons.model import Lesson
from autograder.simulation.simulate import simulate
from tools.contenders import CONTENDERS, POOL_SIZE, QUICKSTART, QUICKSTARTS, WARM_CELLS
from tools.supervisor import supervised
from tools.task_clock import TaskClock

ENGINE = "engine"
_GRADED_WITH_NEEDS = 1  # how `autograder grade` ends where some submission needs a person
_REPOSITORY = str(Path(__file__).resolve().parents[1])
_BUSY = (0, 1, 2, 5, 6)  # user, nice, system, irq and softirq in the first line of /proc/stat


class BenchError(AutograderError):
    """A contender failed, or the contenders disagree."""


@dataclass(frozen=True)
class Cost:
    """What one grading took, in seconds."""

    wall_s: float
    cpu_s: float

    def continued(self, few: Cost, steps: float) -> Cost:
        """What the whole class costs, `steps` as many more as this has more than `few`."""
        wall = few.wall_s + steps * (self.wall_s - few.wall_s)
        return Cost(wall, few.cpu_s + steps * (self.cpu_s - few.cpu_s))


@dataclass(frozen=True)
class Comparison:
    """The medians over all rounds, and what they mean a submission.

    Attributes:
        graded: How many of the `students` stock nbgrader graded; the rest is computed.
    """

    lesson: str
    students: int
    graded: int
    rounds: int
    cores: int
    costs: dict[str, Cost]
    cells_cpu_s: float
    start_cpu_s: float

    @property
    def limit_s(self) -> float:
        """The wall time below which no grader on these cores can get."""
        return self.cells_cpu_s / self.cores

    def ratio(self, contender: str) -> float:
        """How many times longer the contender takes than the engine."""
        return self.costs[contender].wall_s / self.costs[ENGINE].wall_s

    @property
    def overhead_ms(self) -> float:
        """CPU a submission above running its cells, without the engine's start."""
        above = self.costs[ENGINE].cpu_s - self.start_cpu_s - self.cells_cpu_s
        return 1000 * above / self.students


@dataclass(frozen=True)
class Sizes:
    """How much is measured: submissions, those of them that stock nbgrader grades, and rounds."""

    students: int
    graded: int
    rounds: int

    def __post_init__(self) -> None:
        if self.graded != self.students and not POOL_SIZE < self.graded < self.students:
            raise UsageError(
                f"nbgrader cannot be given {self.graded} of {self.students} submissions",
                remedy=f"Give it more than {POOL_SIZE}, or leave --stock out: it gets all of them.",
            )

    @property
    def steps(self) -> float:
        """How many times what `graded` have more than POOL_SIZE the class has more."""
        return (self.students - POOL_SIZE) / (self.graded - POOL_SIZE)


def run(course: Path, lessons: tuple[Lesson, ...], sizes: Sizes, *, as_json: bool) -> int:
    """Measure each lesson and print it. Exit code 0; a failure raises BenchError."""
    found = []
    for one in lessons:
        found.append(_measure(one.slug, partial(_simulated, course, one), sizes))
        if not as_json:  # at once: the next lesson may end in an error
            print(_report(found[-1]), end="\n\n", flush=True)
    return _shown(found, as_json=True) if as_json else 0


def run_quickstart(sizes: Sizes, *, as_json: bool) -> int:
    """Measure nbgrader's own course and print it. Exit code 0; a failure raises BenchError."""
    return _shown([_measure(QUICKSTARTS, _quickstart, sizes)], as_json=as_json)


def _quickstart(folder: Path, students: int) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    _execute([*QUICKSTART, str(folder), str(students)])


def _simulated(course: Path, lesson: Lesson, folder: Path, students: int) -> None:
    simulate(course, (lesson,), students=students, seed=1, out=folder)


def _shown(found: Sequence[Comparison], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps([_plain(one) for one in found], indent=1))
    else:
        print("\n\n".join(_report(one) for one in found))
    return 0


def show_profile(course: Path, lessons: tuple[Lesson, ...], *, students: int) -> int:
    """Print where the engine's CPU time goes in each lesson, each in a process of its own."""
    for lesson in lessons:
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                from tools.profile import profile

                print("\n".join(profile(course, lesson, students).lines()), flush=True)
                code = 0
            finally:
                os._exit(code)
        if os.waitpid(pid, 0)[1]:
            raise BenchError(
                f"{lesson.slug} cannot be profiled here",
                remedy="It needs the sandbox and perf_event_open; see `autograder doctor`.",
            )
    return 0


def _plain(found: Comparison) -> dict[str, object]:
    ratios = {name: found.ratio(name) for name in found.costs if name != ENGINE}
    more = {"limit_s": found.limit_s, "overhead_ms": found.overhead_ms, "ratios": ratios}
    return {**asdict(found), **more}


def _measure(assignment: str, write: Callable[[Path, int], None], sizes: Sizes) -> Comparison:
    students = sizes.students
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        room = Path(folder)
        write(room / "class", students)
        _execute(CONTENDERS["prepare"](room / "class", assignment))
        _copy(room / "class", room / "cells", sizes.graded)
        alone = float(_execute([*WARM_CELLS, str(room / "cells"), assignment])[1])
        cells = alone * students / sizes.graded
        costs: dict[str, list[Cost]] = {name: [] for name in CONTENDERS if name != "prepare"}
        few = _costs_of_few(room, list(costs), assignment) if sizes.graded < students else {}
        for turn in range(sizes.rounds):
            for name in _turn(list(costs), turn):
                _say(f"{assignment}, round {turn + 1} of {sizes.rounds}: {name}")
                share = sizes.graded if name in few else students
                cost = _grade(room, name, assignment, share)
                costs[name].append(cost.continued(few[name], sizes.steps) if name in few else cost)
        _must_agree(room, list(costs), assignment)
        start = max(0.0, _grade(room, ENGINE, assignment, 1).cpu_s - cells / students)
    medians = {name: _median(several) for name, several in costs.items()}
    cores = len(os.sched_getaffinity(0))
    return Comparison(
        *(assignment, students, sizes.graded, sizes.rounds), cores, medians, cells, start
    )


def _costs_of_few(room: Path, names: list[str], assignment: str) -> dict[str, Cost]:
    """What stock nbgrader takes for as many submissions as its pool has processes."""
    return {name: _grade(room, name, assignment, POOL_SIZE) for name in names if name != ENGINE}


def _turn(names: list[str], turn: int) -> list[str]:
    """The contenders in another order each round, so that a drift of the machine hits all."""
    first = turn % len(names)
    return names[first:] + names[:first]


def _grade(room: Path, name: str, lesson: str, students: int) -> Cost:
    """Have a contender grade the first submissions of a fresh copy of the class."""
    _copy(room / "class", room / name, students)
    return _execute(CONTENDERS[name](room / name, lesson))[0]


def _copy(whole: Path, part: Path, students: int) -> None:
    shutil.rmtree(part, ignore_errors=True)
    shutil.copytree(whole, part)
    for student in sorted((part / "submitted").iterdir())[students:]:
        shutil.rmtree(student)


def _execute(command: Sequence[str]) -> tuple[Cost, str]:
    """Run a command to its end; what it cost, with all that it started, and what it printed."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        used = _cpu_clock()
        began, before = time.perf_counter(), used()
        alone = supervised(list(command), os.getpid())
        process = subprocess.run(alone, stdout=output, stderr=errors, env=_finding_tools())
        wall, cpu = time.perf_counter() - began, used() - before
        output.seek(0)
        errors.seek(0)
        needs_somebody = _GRADED_WITH_NEEDS if command[2:3] == ["autograder"] else 0
        if process.returncode not in (0, needs_somebody):
            raise BenchError(
                f"a contender ended with exit code {process.returncode}: {errors.read()[-2000:]}",
                place=" ".join(command[:4]),
                remedy="Run the command by hand; `autograder doctor` says what is missing.",
            )
        return Cost(wall, cpu), output.read()


def _finding_tools() -> dict[str, str]:
    """The environment in which `python -m tools.…` is found, whatever folder it starts in."""
    paths = os.pathsep.join(filter(None, [_REPOSITORY, os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": paths}


@cache
def _cpu_clock() -> Callable[[], float]:
    try:
        return TaskClock().seconds
    except OSError:
        return _busy_s


def _busy_s() -> float:
    """The CPU seconds that all cores of this machine were busy since it started."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    except OSError:
        raise BenchError("the engine and its CPU time are measured on Linux only") from None
    return sum(int(fields[index]) for index in _BUSY) / os.sysconf("SC_CLK_TCK")


def _must_agree(room: Path, names: list[str], lesson: str) -> None:
    from tools.contenders import points

    mine = points(room / ENGINE, lesson)
    for name in names:
        theirs = points(room / name, lesson)
        graded = {student for student, _, _ in theirs}
        ours = {key for key in mine if key[0] in graded}
        differing = sorted(key for key in ours | theirs.keys() if mine.get(key) != theirs.get(key))
        if differing:
            key = differing[0]
            raise BenchError(
                f"{ENGINE} and {name} disagree on {len(differing)} grades, first on {key}: "
                f"{mine.get(key)} and {theirs.get(key)} points",
                remedy="The engine must give what nbgrader gives; look at that submission.",
            )


def _median(several: list[Cost]) -> Cost:
    walls, cpus = [one.wall_s for one in several], [one.cpu_s for one in several]
    return Cost(statistics.median(walls), statistics.median(cpus))


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _report(found: Comparison) -> str:
    lines = [
        f"{found.lesson}: {found.students} submissions, {found.cores} cores, "
        f"medians of {found.rounds} rounds, equal scores"
    ]
    if found.graded < found.students:
        lines.append(f"  stock nbgrader graded {found.graded} of them; what all take is computed")
    for name, cost in found.costs.items():
        ratio = "" if name == ENGINE else f"  {found.ratio(name):5.1f} × the engine's wall"
        lines.append(f"  {name:<20} wall {cost.wall_s:7.1f} s  CPU {cost.cpu_s:7.1f} s{ratio}")
    engine = found.costs[ENGINE].wall_s
    lines += [
        f"  the cells alone      CPU {found.cells_cpu_s:.1f} s, so at least {found.limit_s:.1f} s "
        f"of wall; the engine takes {engine / found.limit_s:.2f} × that",
        f"  the engine           starts for {found.start_cpu_s:.1f} s of CPU, then spends "
        f"{found.overhead_ms:.0f} ms of CPU a submission above its cells",
    ]
    return "\n".join(lines)
