"""Grading on Dask workers: the engine's own records, whatever dies, and errors that say why."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed import KilledWorker, LocalCluster
from msgspec.structs import replace

import autograder
from autograder.course_directory import load_course
from autograder.engine import EngineRunner, Limits
from autograder.errors import UsageError
from autograder.lessons.assignments import select_assignments
from autograder.lessons.model import find_lesson
from autograder.records.model import Status, SubmissionRecord
from autograder.records.runner import Job, Outcome
from autograder.runners import dask_worker
from autograder.runners.choice import choose_runner
from autograder.runners.dask import ClusterError, ClusterRunner, _refuse_other_version, _Task
from autograder.runners.dask_worker import GradingSettings, code_digest, edition, pack_lesson
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, answered, hand_in
from tests.autograder.engine.exam import exam_cells, notebook

ROOT = Path(__file__).parents[3]
COPIES = "def flatten(x):\n    return x.clone().reshape(-1)"
SLOW = "import time\ndef flatten(x):\n    time.sleep(0.2)\n    return x.reshape(-1)"
LEAVES = "import os\nos._exit(3)"


@dataclass
class Cluster:
    """A scheduler and two workers of one thread; the first has no nanny, so it stays dead."""

    address: str
    first: subprocess.Popen[bytes]


def dask(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """A program of Dask, on loopback."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    quiet = {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"}
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *words, "--host", "127.0.0.1", "--no-dashboard"],
        env={**os.environ, **quiet, "PYTHONPATH": paths},
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three real processes; starting them takes some seconds."""
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    programs = [dask(folder, "scheduler", "--port", "0", "--scheduler-file", str(file))]
    try:
        address = address_in(file)
        own = ("worker", address, "--nthreads", "1", "--local-directory", str(folder))
        programs += [dask(folder, *own, "--no-nanny"), dask(folder, *own)]
        yield Cluster(address, programs[1])
    finally:
        for program in reversed(programs):
            program.terminate()
            program.wait(20)


@pytest.fixture(scope="module")
def runner(cluster: Cluster) -> Iterator[ClusterRunner]:
    """One connection for all tests, so that the engines on the workers start once."""
    with closing(ClusterRunner(cluster.address)) as runner:
        yield runner


def address_in(file: Path) -> str:
    """The address that the scheduler writes once it listens; the file may be half there."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise TimeoutError("the scheduler did not start")


def jobs(root: Path, **answers: str) -> list[Job]:
    """A submission a student, with this answer to `flatten`."""
    tiny.build(root)
    lesson = find_lesson(root, SLUG)
    folders = {name: hand_in(root, name, answered(flatten=text)) for name, text in answers.items()}
    return [Job(name, lesson, folder / f"{SLUG}.ipynb", folder) for name, folder in folders.items()]


def by_student(outcomes: Iterable[Outcome]) -> dict[str, tuple[SubmissionRecord, str]]:
    """Student → record and notebook, without times and addresses in memory."""
    found = {one.record.student: one for one in outcomes}
    return {
        name: (
            replace(one.record, seconds=0.0),
            re.sub("0x[0-9a-f]+", "", json.dumps(one.notebook)),
        )
        for name, one in found.items()
    }


@pytest.mark.exhaustive("a cluster of Dask workers")
@pytest.mark.needs("sandbox")
def test_the_cluster_gives_the_records_and_notebooks_of_the_engine(
    runner: ClusterRunner, tmp_path: Path
) -> None:
    some = jobs(tmp_path, ada=tiny.FLATTEN, bob=COPIES, cleo=LEAVES)
    some[0].notebook.write_bytes(b"\xff no json")
    with closing(EngineRunner(1)) as engine:
        local = by_student(engine.run_many(some))
    assert by_student(runner.run_many(some)) == local
    statuses = {name: record.status for name, (record, _) in local.items()}
    assert statuses == {"ada": "malformed", "bob": "graded", "cleo": "crashed"}


@pytest.mark.exhaustive("a cluster of Dask workers")
@pytest.mark.needs("sandbox")
def test_a_worker_that_is_killed_in_the_middle_loses_nothing(
    cluster: Cluster, runner: ClusterRunner, tmp_path: Path
) -> None:
    names = [f"student-{number}" for number in range(8)]
    outcomes = runner.run_many(jobs(tmp_path, **dict.fromkeys(names, SLOW)))
    first = next(outcomes)
    os.kill(cluster.first.pid, signal.SIGKILL)
    everything = [first, *outcomes]
    assert sorted(one.record.student for one in everything) == names
    assert {(one.record.status, one.record.score) for one in everything} == {("graded", 6.0)}
    assert cluster.first.wait(5) == -signal.SIGKILL


def test_a_submission_whose_workers_keep_dying_is_a_fault_of_the_grader(tmp_path: Path) -> None:
    class Dead:
        def result(self) -> str:
            worker: Any = SimpleNamespace(address="tcp://10.0.0.7:4")
            raise KilledWorker("grade", worker, 3)

    [job] = jobs(tmp_path, ada=COPIES)
    runner = object.__new__(ClusterRunner)  # without a connection
    runner._sandbox = True
    record = runner._outcome(_Task(job, Dead(), 0.0)).record
    note = "Its Dask worker ended 4 times, last tcp://10.0.0.7:4; grade it again."
    assert (record.status, record.notes) == (Status.INFRASTRUCTURE, (note,))
    assert record.student == "ada"


# What cannot work says so.


def test_a_scheduler_that_does_not_answer_is_named_with_what_to_start() -> None:
    with pytest.raises(ClusterError, match="no Dask scheduler answers") as caught:
        ClusterRunner("tcp://127.0.0.1:9", connect_s=0.5)
    assert str(caught.value).startswith("tcp://127.0.0.1:9: ")
    assert "dask scheduler" in str(caught.value.remedy)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1", "http://127.0.0.1:8786"])
def test_an_address_of_another_kind_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(ClusterError, match="not the address of a Dask scheduler") as caught:
        ClusterRunner(address, connect_s=0.5)
    assert "tcp://127.0.0.1:8786" in str(caught.value.remedy)


def test_a_missing_package_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match="needs the package distributed") as caught:
        ClusterRunner("tcp://127.0.0.1:8786")
    assert "[cluster]" in str(caught.value.remedy)


def test_a_cluster_without_workers_is_not_waited_for_forever(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "processes": False,
        "protocol": "tcp",
        "dashboard_address": "127.0.0.1:0",
    }
    with (
        LocalCluster(n_workers=0, host="127.0.0.1", **options) as empty,
        closing(ClusterRunner(empty.scheduler_address, patience_s=0.2)) as runner,
        pytest.raises(ClusterError, match=r"had no worker for 0 s[^$]*dask worker tcp://"),
    ):
        list(runner.run_many(jobs(tmp_path, ada=COPIES)))


def test_a_scheduler_of_another_version_is_refused_with_both_versions() -> None:
    class Old:
        def get_versions(self) -> dict[str, Any]:
            return {"scheduler": {"packages": {"python": "3.11.9.final.0", "distributed": "1.0"}}}

        def close(self) -> None: ...

    mine = edition()["distributed"]
    with pytest.raises(ClusterError, match=rf"has .*distributed 1\.0, here it is {mine}"):
        _refuse_other_version(Old(), "tcp://127.0.0.1:8786")


def test_a_worker_with_another_torch_says_what_it_has_and_what_it_should() -> None:
    problem = dask_worker._other_edition({**edition(), "torch": "1.0"})
    assert problem is not None
    assert f"torch is {edition()['torch']}, not 1.0" in problem.cause
    assert dask_worker._other_edition(edition()) is None


@pytest.mark.parametrize(
    "name",
    [
        *("lessons/model", "lessons/cells", "lessons/regions"),
        *("records/model", "records/points", "engine/plan"),
    ],
)
def test_a_worker_whose_grader_differs_in_any_module_has_another_edition(
    tmp_path: Path, name: str
) -> None:
    here = Path(autograder.__file__).parent
    there = tmp_path / "autograder"
    shutil.copytree(here, there, ignore=shutil.ignore_patterns("__pycache__"))
    assert code_digest([there]) == code_digest([here])
    with (there / f"{name}.py").open("r+") as file:  # one that is there
        file.seek(0, os.SEEK_END)
        file.write("# changed\n")
    assert code_digest([there]) != code_digest([here])


def test_a_worker_without_the_answers_has_the_same_edition(tmp_path: Path) -> None:
    here = Path(autograder.__file__).parent
    there = tmp_path / "autograder"
    shutil.copytree(here, there, ignore=shutil.ignore_patterns("__pycache__", "answers"))
    assert code_digest([there]) == code_digest([here])


def test_the_edition_is_that_of_course_and_autograder_together() -> None:
    folders = [Path(autograder.__file__).parent.parent / "course", Path(autograder.__file__).parent]
    assert edition()["the course's code"] == code_digest(folders)[:12]


def test_stock_nbgrader_does_not_travel() -> None:
    with pytest.raises(UsageError, match="stock nbgrader"):
        choose_runner("stock", jobs=None, sandbox=False, scheduler="tcp://127.0.0.1:8786")


# What travels.


def test_a_lesson_travels_with_its_files_and_keeps_its_digest(tmp_path: Path) -> None:
    tiny.build(tmp_path / "here")
    folder = tmp_path / "here/source" / SLUG
    folder.joinpath("data").mkdir()
    folder.joinpath("data/numbers.csv").write_text("1,2\n")
    lesson = find_lesson(tmp_path / "here", SLUG)
    there = dask_worker.unpack_lesson(pack_lesson(lesson), SLUG, tmp_path / "there")
    assert there.digest == lesson.digest
    assert pack_lesson(there) == pack_lesson(lesson)


def test_an_assignment_of_any_course_travels_as_nbgrader_prepared_it(tmp_path: Path) -> None:
    folder = tmp_path / "source/ps1"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook(exam_cells())))
    (assignment,) = select_assignments(load_course(tmp_path), ["ps1"]).lessons
    for number, lesson in enumerate(assignment.notebooks):
        there = dask_worker.unpack_lesson(
            pack_lesson(lesson), lesson.source.stem, tmp_path / f"there-{number}"
        )
        assert (
            dataclasses.replace(there, source=lesson.source, data_files=lesson.data_files) == lesson
        )


def test_grading_settings_survive_the_way() -> None:
    settings = GradingSettings.of(Limits(cell_s=1.5), sandbox=False, hide=(Path("/srv/course"),))
    assert GradingSettings.from_text(settings.to_text()) == settings
