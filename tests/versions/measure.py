"""What holds in an environment: notebooks, proofs, tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.lessons.cells import read_notebook
from autograder.lessons.model import Lesson
from tests.colab.notebooks import TABLE, errors, in_folder, is_stderr, solved, tables
from tests.colab.runtime import ROOT, Cell, Runtime
from tests.versions.environment import tree_of

PROOFS = Path(__file__).with_name("proofs.py")
# The grader's own side, which a notebook's environment has not; and the proofs, which are a row.
LEFT_OUT = (
    "--ignore=tests/course/testing/test_nbgrader_validate.py",
    "--deselect=tests/course/test_claims.py::test_the_proof_holds",
)
PROOFS_LIMIT_S = 900
TESTS_LIMIT_S = 3600
# A CUDA build without a GPU looks for one when it profiles, and says so; lesson 11 tells it.
_PROFILERS_LOG = re.compile(r"^(?:USDT|ERROR):\S+ \S+ \S+ \w+\.cpp:\d+\] .*\n?", re.M)
_REASON = 300  # characters of a reason that are kept


@dataclass(frozen=True)
class Row:
    """What came of one kind of thing: how many passed or were skipped, and why others failed.

    `names` are those of all that were measured, where they are few: of notebooks.
    """

    what: str
    passed: int
    failed: dict[str, str] = field(default_factory=dict)
    skipped: int = 0
    names: tuple[str, ...] = ()

    @classmethod
    def of(cls, what: str, outcomes: dict[str, str | None], *, named: bool = False) -> Row:
        """From the reason of each that failed; None is a pass, "skipped…" neither."""
        reasons = {name: why for name, why in outcomes.items() if why is not None}
        failed = {name: why for name, why in reasons.items() if not why.startswith("skipped")}
        skipped = len(reasons) - len(failed)
        short = {name: why[:_REASON] for name, why in failed.items()}
        names = tuple(sorted(outcomes)) if named else ()
        return cls(what, len(outcomes) - len(reasons), short, skipped, names)

    def again(self, part: Row, names: Sequence[str]) -> Row:
        """This row, after `part` measured these of its names again."""
        others = {name: why for name, why in self.failed.items() if name not in names}
        failed = others | part.failed
        all_names = tuple(sorted({*self.names, *part.names}))
        count = len(all_names) or self.passed + len(self.failed)
        return Row(self.what, count - len(failed), failed, self.skipped, all_names)


def solved_notebooks(runtime: Runtime, lessons: Sequence[Lesson], jobs: int) -> Row:
    """The self-study edition with every solution in it: each exercise has to pay in full."""
    outcomes = _each(runtime, lessons, solved, _unlike_solved, jobs)
    return Row.of("solved notebooks", outcomes, named=True)


def untouched_notebooks(runtime: Runtime, lessons: Sequence[Lesson], jobs: int) -> Row:
    """The class edition as it is handed out: it runs to its end, and blames nobody."""
    outcomes = _each(runtime, lessons, _as_released, _unlike_untouched, jobs)
    return Row.of("untouched notebooks", outcomes, named=True)


def proofs(runtime: Runtime) -> Row:
    """Every claim that the lessons judge."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "proofs.json")
        done = _in(runtime, [str(PROOFS), str(result)], PROOFS_LIMIT_S)
        if not result.exists():
            return Row.of("proofs of claims", {"all": done.stderr[-_REASON:] or "no result"})
        return Row.of("proofs of claims", json.loads(result.read_text()))


def tests_of_course(runtime: Runtime) -> Row:
    """The tests of the package that notebooks import."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *LEFT_OUT)
        command = [*words, f"--junitxml={report}", "tests/course"]
        done = _in(runtime, command, TESTS_LIMIT_S)
        if not report.exists() or done.returncode not in (0, 1):  # interrupted, for example
            return Row.of("tests/course", {"all": done.stdout[-_REASON:] or "no report"})
        return Row.of("tests/course", dict(_outcomes(ET.parse(report))))


def _each(
    runtime: Runtime,
    lessons: Sequence[Lesson],
    cells_of: Callable[[Lesson], list[Cell]],
    unlike: Callable[[Lesson, dict[str, list[Any]]], str | None],
    jobs: int,
) -> dict[str, str | None]:
    """What is wrong with each lesson's notebook, run as a person runs all of it."""

    def outcome(lesson: Lesson) -> str | None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                outputs = runtime.run(cells_of(lesson), in_folder(lesson, Path(folder)))
                _keep(outputs, runtime.root / "outputs" / cells_of.__name__, lesson.slug)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                return f"the kernel did not get to the end: {str(error)[-_REASON:]}"
            return unlike(lesson, outputs)

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip((one.slug for one in lessons), pool.map(outcome, lessons), strict=True))


def _keep(outputs: dict[str, list[Any]], folder: Path, slug: str) -> None:
    """Keep what the cells showed, to look at and to compare between versions."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{slug}.json").write_text(json.dumps(outputs, indent=1), encoding="utf-8")


def _as_released(lesson: Lesson) -> list[Cell]:
    cells = read_notebook(ROOT / "release" / lesson.slug / f"{lesson.slug}.ipynb")["cells"]
    return list(cells)


def _unlike_solved(lesson: Lesson, outputs: dict[str, list[Any]]) -> str | None:
    wrong = [*_raised_or_warned(outputs)]
    paid = tables(outputs)
    for one in lesson.exercises:
        score, most = paid.get(one.name, (0, one.points))
        if not one.manual and (score, most) != (one.points, one.points):
            wrong.append(f"{one.name} pays {score:g} of {one.points:g}")
    return "; ".join(wrong) or None


def _unlike_untouched(lesson: Lesson, outputs: dict[str, list[Any]]) -> str | None:
    shown = [one for many in outputs.values() for one in many if "data" in one]
    records = [record for one in shown if (record := one["metadata"].get(TABLE))]
    said = {one["exercise"]: one["status"] for one in records}
    tested = [one.name for one in lesson.exercises if not one.manual]
    wrong = [*_raised_or_warned(outputs)]
    wrong += [
        f"{name}: {said.get(name, 'no table')}"
        for name in tested
        if said.get(name) != "not attempted"
    ]
    return "; ".join(wrong) or None


def _raised_or_warned(outputs: dict[str, list[Any]]) -> Iterator[str]:
    for id_, error in errors(outputs).items():
        yield f"{id_} raises {error}"
    for id_, many in outputs.items():
        for one in filter(is_stderr, many):
            if said := _PROFILERS_LOG.sub("", one["text"]).strip():
                yield f"{id_} writes to stderr: {said}"


def _in(runtime: Runtime, command: Sequence[str], limit_s: int) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(runtime.python), *command],
        cwd=tree_of(runtime),
        env=os.environ | {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )


def _outcomes(report: ET.ElementTree[Any]) -> Iterator[tuple[str, str | None]]:
    """Each test of a JUnit report, and why it failed."""
    for case in report.iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        reason = None
        for found in case:
            message = (found.get("message") or found.text or "").strip()
            if found.tag in ("failure", "error"):
                reason = message or "failed"
            elif found.tag == "skipped":
                reason = f"skipped: {message}"
        yield name, reason
