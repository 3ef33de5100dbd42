"""A submission sees nothing of the course, changes nothing, and leaves nothing behind."""

from __future__ import annotations

import errno
import json
import os
import platform
import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.engine import EngineRunner
from autograder.engine.sandbox.seccomp import REFUSED
from autograder.records.model import Status
from tests.attacks.test_score import WITHOUT_ATTACK, assert_nothing_leaked
from tests.autograder.engine.exam import (
    LIMITS,
    SECRET,
    TOTAL,
    WRONG,
    Outcome,
    answers,
    code,
    engine,
    exam_cells,
    grade,
    hand_in,
    printed,
    write_lesson,
)


def run(root: Path, attack: str, *, patient: bool = False) -> tuple[Outcome, str]:
    """The outcome of a right submission with an attack in a cell at its end, and what it said."""
    outcome = grade(root, [*exam_cells(), code(attack, "attack")], patient=patient)
    return outcome, printed(outcome, "attack")


SEARCH_FILES = f"""\
import os, sys
word = "{SECRET[:4]}" + "{SECRET[4:]}"
known = ("/proc", "/dev", "/usr", "/etc/alternatives", sys.prefix, sys.base_prefix)
for folder, folders, names in os.walk("/"):
    if folder.startswith(known):
        folders.clear()
        continue
    for name in names:
        try:
            path = os.path.join(folder, name)
            if name.endswith((".ipynb", ".db")) or word in open(path, errors="ignore").read():
                print("FOUND", path)
        except OSError:
            pass
print("searched")"""


@pytest.mark.exhaustive("what a sandbox keeps out, at length")
def test_no_file_of_the_course_can_be_found_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "gradebook.db").write_text(SECRET)
    outcome, said = run(tmp_path, SEARCH_FILES, patient=True)
    assert said == "searched\n"
    assert outcome.record.score == 5.0


@pytest.mark.exhaustive("what a sandbox keeps out, at length")
def test_the_course_directory_the_home_and_the_answers_are_not_there(tmp_path: Path) -> None:
    places = [str(tmp_path), os.path.expanduser("~/.ssh"), str(Path(__file__).parent)]
    probe = f"""\
import os, importlib.util
for place in {places!r}:
    print(os.path.exists(place))
import autograder
root = os.path.dirname(autograder.__file__)
for folder, _, files in sorted(os.walk(root)):
    print(os.path.relpath(folder, root), *sorted(name for name in files if name[0] != "_"))"""
    _, said = run(tmp_path, probe)
    assert said.splitlines() == [
        *["False"] * 3,
        ". descendants.py fork_server.py linux.py",
        "engine limits.py loaded_ahead.py",
        "engine/forkserver process_usage.py student_fork_server.py",
        "engine/kernel output_recorder.py shell.py",
        "engine/protocol frames.py",
        "engine/sandbox init.py seccomp.py",
        "engine/student audit.py audit_rules.py capabilities.py cell_modes.py frozen_modules.py"
        " integrity.py introspection.py student_process.py thread_pools.py trusted_modules.py",
    ]


def test_a_socket_is_of_the_domain_unix_or_of_none(tmp_path: Path) -> None:
    probe = """\
import socket
for name in ("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_VSOCK", "AF_ALG"):
    for make in (socket.socket, socket.socketpair):
        try:
            made = make(getattr(socket, name), socket.SOCK_DGRAM)
            print(name, "opened")
        except OSError as error:
            print(name, error.errno)"""
    _, said = run(tmp_path, probe)
    opened, others = said.splitlines()[:2], said.splitlines()[2:]
    assert opened == ["AF_UNIX opened"] * 2
    assert {line.split()[1] for line in others} == {str(errno.EAFNOSUPPORT)}
    assert len(others) == 12


# The pattern does not match its own text, so the search does not find itself.
SEARCH_MEMORY = f"""\
import gc, sys, os, re
pattern = re.compile("{SECRET[:4]}[{SECRET[4]}]{SECRET[5:]}")
print(len([o for o in gc.get_objects() if isinstance(o, (str, list, dict)) and
           pattern.search(str(o)[:9999])]))
frame, frames = sys._getframe(), 0
while frame:
    frames += bool(pattern.search(str(frame.f_locals)[:99999]))
    frame = frame.f_back
print(frames)
pattern = re.compile(pattern.pattern.encode())
def memory(pid):
    hits = 0
    with open(f"/proc/{{pid}}/maps") as maps, open(f"/proc/{{pid}}/mem", "rb", 0) as mem:
        for line in maps:
            fields = line.split()
            start, stop = (int(x, 16) for x in fields[0].split("-"))
            if fields[1].startswith("rw") and (len(fields) < 6 or "heap" in line):
                mem.seek(start)
                hits += len(pattern.findall(mem.read(stop - start)))
    return hits
for pid in sorted(int(p) for p in os.listdir("/proc") if p.isdigit()):
    try:
        print(pid, memory(pid))
    except OSError as error:
        print(pid, type(error).__name__)
print([text for text in In[:-1] if "check" in text])"""


def test_the_hidden_tests_are_in_no_memory_that_can_be_read(tmp_path: Path) -> None:
    outcome, said = run(tmp_path, SEARCH_MEMORY, patient=True)
    lines = said.splitlines()
    assert lines[:3] == ["0", "0", "1 PermissionError"]
    assert [line for line in lines[3:-1] if not line.endswith(" 0")] == []
    assert lines[-1] == "[]"
    assert_nothing_leaked(outcome)


PROCESSES = """\
import os
print(sorted(int(p) for p in os.listdir("/proc") if p.isdigit()))
for name in ("environ", "mem", "maps", "fd", "root", "cwd"):
    try:
        path = f"/proc/1/{name}"
        print(name, len(os.listdir(path)) if name == "fd" else open(path).read(10))
    except (OSError, UnicodeDecodeError) as error:
        print(name, type(error).__name__)
print(open("/proc/1/cmdline").read().count("ipynb"))"""


def test_only_the_submissions_own_processes_are_seen(tmp_path: Path) -> None:
    _, said = run(tmp_path, PROCESSES)
    lines = said.splitlines()
    pids = json.loads(lines[0])
    assert pids[0] == 1
    assert len(pids) <= 4  # init, the notebook, and a snapshot for each test cell
    assert [line.split()[1] for line in lines[1:-1]] == ["PermissionError"] * 6
    assert lines[-1] == "0"


WRITE_EVERYWHERE = """\
import os
written = set()
for folder, folders, names in os.walk("/"):
    if folder.startswith("/proc"):
        folders.clear(); continue
    try:
        open(os.path.join(folder, "mine"), "w").close()
        written.add("/" + folder.split("/")[1])
    except OSError:
        pass
print(sorted(written))"""


def test_only_its_own_directories_can_be_written_to(tmp_path: Path) -> None:
    outcome, said = run(tmp_path, WRITE_EVERYWHERE, patient=True)
    assert said == "['/dev', '/submission', '/tmp']\n"  # /dev: /dev/shm, which is its own
    assert not list(tmp_path.rglob("mine"))
    assert outcome.record.score == 5.0


LEAVE = """\
import os, ctypes, subprocess, socket
for folder in ("/tmp", "/submission", "/submission/home", "/dev/shm", os.getcwd()):
    open(f"{folder}/left", "w").write("left")
libc = ctypes.CDLL(None)
print("shm", libc.shmget(4711, 4096, 0o1777 | 0o1000) >= 0)
server = socket.socket(socket.AF_UNIX); server.bind("\\0left"); server.listen()
subprocess.Popen(["/bin/sh", "-c", "trap '' TERM HUP; exec sleep 98765"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        import time
        time.sleep(98765)
    os._exit(0)"""
LOOK = """\
import os, ctypes, socket
print([f for f in ("/tmp", "/submission", "/submission/home", "/dev/shm", os.getcwd())
       if os.path.exists(f"{f}/left")])
print(ctypes.CDLL(None).shmget(4711, 4096, 0) >= 0)
try:
    socket.socket(socket.AF_UNIX).connect("\\0left"); print("met")
except OSError:
    print("alone")"""


def test_nothing_is_left_for_the_next_submission(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, exam_cells())
    first = hand_in(tmp_path, lesson, [*exam_cells(), code(LEAVE, "attack")], "first")
    second = hand_in(tmp_path, lesson, [*exam_cells(), code(LOOK, "attack")], "second")
    one, two = engine().run_many([first, second])
    assert one.record.score == two.record.score == 5.0
    assert printed(two, "attack") == "[]\nFalse\nalone\n"
    assert not _processes("98765")


def _processes(word: str) -> list[str]:
    """The processes of this machine with `word` in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word in path.read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                found.append(path.parent.name)
        except OSError:
            continue
    return found


NETWORK = """\
import socket
for family, address in ((socket.AF_INET, ("127.0.0.1", {port})), (socket.AF_INET, ("1.1.1.1", 53)),
                        (socket.AF_UNIX, "\\0{name}")):
    try:
        connection = socket.socket(family); connection.settimeout(1); connection.connect(address)
        print("connected")
    except OSError as error:
        print("refused")
try:
    socket.getaddrinfo("example.org", 80); print("resolved")
except OSError:
    print("refused")"""


def test_there_is_no_network(tmp_path: Path) -> None:
    name = f"measured-{os.getpid()}"
    with socket.socket() as tcp, socket.socket(socket.AF_UNIX) as unix:
        tcp.bind(("127.0.0.1", 0))
        unix.bind(f"\0{name}")
        tcp.listen()
        unix.listen()
        _, said = run(tmp_path, NETWORK.format(port=tcp.getsockname()[1], name=name))
    assert said == "refused\n" * 4


# While as many descriptors are under way as a process may open, no process of that user sends one.
SENDING = """\
import os, socket, time
ours, theirs = socket.socketpair()
refused = 0
for _ in range(20):
    try:
        socket.send_fds(ours, [b"x"], [0])
        _, fds, _, _ = socket.recv_fds(theirs, 1, 1)
        os.close(fds[0])
    except OSError:
        refused += 1
    time.sleep(0.1)
print("refused" if refused else "sent", "uid", os.getuid())"""
IN_FLIGHT = """\
import socket, time
ours, theirs = socket.socketpair()
theirs.setblocking(False)
held = []
try:
    while True:
        if len(held) % 100 == 0:
            ours, theirs = socket.socketpair()
            ours.setblocking(False)
            held += [ours, theirs]
        socket.send_fds(ours, [b"x"], [0] * 200)
        held.append(None)
except OSError as error:
    print(type(error).__name__)
print("uid", __import__("os").getuid())
time.sleep(4)"""


@pytest.mark.exhaustive("two workers at a time")
def test_each_worker_runs_as_a_user_of_its_own_and_none_takes_descriptors_from_another(
    tmp_path: Path,
) -> None:
    lesson = write_lesson(tmp_path, exam_cells())
    jobs = [
        hand_in(tmp_path, lesson, [*exam_cells(), code(attack, "attack")], str(number))
        for number, attack in enumerate((IN_FLIGHT, SENDING))
    ]
    with EngineRunner(2, limits=replace(LIMITS, cell_s=40.0, submission_s=120.0)) as runner:
        found = {one.record.student: one for one in runner.run_many(jobs)}
    said = [printed(found[name], "attack").split() for name in ("0", "1")]
    assert said[0][0] == "OSError"
    uids = {words[words.index("uid") + 1] for words in said}
    assert len(uids) == (2 if os.geteuid() == 0 else 1)
    assert "refused" not in said[1] or os.geteuid() != 0
    assert [one.record.score for one in found.values()] == [5.0, 5.0]


PRIVILEGES = """\
import ctypes, os, resource
libc = ctypes.CDLL(None, use_errno=True)
def tried(what, result):
    print(what, "worked" if result == 0 else "refused")
tried("unshare user", libc.unshare(0x10000000))
tried("unshare mount", libc.unshare(0x00020000))
tried("mount", libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
tried("umount", libc.umount2(b"/submission", 2))
tried("setuid", libc.setuid(0))
tried("chroot", libc.chroot(b"/tmp"))
tried("sethostname", libc.sethostname(b"x", 1))
tried("ptrace init", libc.ptrace(16, 1, 0, 0))
tried("memfd", min(0, libc.memfd_create(b"x", 0)))
tried("shm", min(0, libc.shmget(4711, 4096, 0o1777 | 0o1000)))
import mmap
for name, how in (("shared memory", lambda: mmap.mmap(-1, 4096)),
                  ("zeros to be shared", lambda: open("/dev/zero", "r+b"))):
    try:
        how(); print(name, "worked")
    except OSError:
        print(name, "refused")
mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for number in NUMBERS:
    tried(number, min(0, libc.syscall(number, 0, -3, 1)))
for name in ("RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_CPU", "RLIMIT_NOFILE"):
    which = getattr(resource, name)
    try:
        resource.setrlimit(which, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print(name, "worked")
    except (ValueError, OSError):
        print(name, "refused")
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger",
             "/proc/sys/user/max_user_namespaces"):
    try:
        open(path, "w").write("1"); print(path, "worked")
    except OSError:
        print(path, "refused")"""


PAGES = """\
import os
def is_in_memory(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        return bool(os.preadv(handle, [bytearray(1)], 0, os.RWF_NOWAIT))
    finally:
        os.close(handle)
def forget(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)
for asked in (is_in_memory, forget):
    try:
        print(asked(torch.__file__))
    except OSError:
        print("refused")"""


def test_what_another_submission_has_read_cannot_be_asked(tmp_path: Path) -> None:
    _, said = run(tmp_path, PAGES)
    assert said == "refused\n" * 2


WATCHES = """\
import ctypes, fcntl, os, signal
libc = ctypes.CDLL(None, use_errno=True)
print(libc.inotify_init(), libc.inotify_init1(0))
signal.signal(signal.SIGIO, signal.SIG_IGN)
folder = os.open(os.path.dirname(torch.__file__), os.O_RDONLY)
try:
    fcntl.fcntl(folder, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
    print("watched")
except PermissionError:
    print("refused")
print(fcntl.fcntl(folder, fcntl.F_GETFD))"""


def test_what_another_submission_reads_now_cannot_be_watched(tmp_path: Path) -> None:
    _, said = run(tmp_path, WATCHES)
    assert said == "-1 -1\nrefused\n1\n"


LEAVES = """\
import fcntl, struct, tempfile, torch
F_GET_RW_HINT, F_SET_RW_HINT = 1035, 1036
with open(torch.__file__, "rb") as shared:
    for command, given in [(fcntl.F_SETLEASE, fcntl.F_RDLCK), (fcntl.F_GETLEASE, 0)] + [
        (command, struct.pack("Q", 5)) for command in (F_SET_RW_HINT, F_GET_RW_HINT)
    ]:
        try:
            fcntl.fcntl(shared, command, given)
            print("left")
        except PermissionError:
            print("refused")
with tempfile.TemporaryFile() as own:
    fcntl.lockf(own, fcntl.LOCK_EX)
    fcntl.fcntl(own, fcntl.F_SETFL, fcntl.fcntl(own, fcntl.F_GETFL) | 0)
    print(fcntl.fcntl(own, fcntl.F_DUPFD_CLOEXEC, 100) >= 100)"""


def test_nothing_is_left_at_files_that_all_see_and_nobody_waits_for_them(tmp_path: Path) -> None:
    _, said = run(tmp_path, LEAVES)
    assert said == "refused\n" * 4 + "True\n"


def test_privileges_and_limits_cannot_be_raised(tmp_path: Path) -> None:
    numbers = [both[platform.machine() == "aarch64"] for both in REFUSED.values()]
    outcome, said = run(tmp_path, f"NUMBERS = {numbers}\n{PRIVILEGES}")
    lines = said.splitlines()
    assert len(lines) == 20 + len(numbers)
    assert [line for line in lines if not line.endswith("refused")] == []
    assert outcome.record.score == 5.0


@pytest.mark.parametrize(
    "target", ["1", "os.getppid()", "-1", "0"], ids=["init", "parent", "everyone", "group"]
)
def test_killing_hurts_nobody_else(tmp_path: Path, target: str) -> None:
    kill = f"import os, signal\nfor number in (9, 15, 2, 1, 19):\n    os.kill({target}, number)\n"
    outcome = grade(tmp_path, exam_cells(total=kill + TOTAL))
    assert outcome.record.status is not Status.INFRASTRUCTURE
    assert answers(outcome)["twice"].score == 2.0


def test_a_fork_bomb_is_bounded_and_gone_afterwards(tmp_path: Path) -> None:
    bomb = "import os, time\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n"
    bomb += "        time.sleep(0.1)\n"
    begun = time.monotonic()
    outcome = grade(tmp_path, exam_cells(total=bomb), patient=True)
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert (total.status, twice.score) == (Status.CRASHED, 2.0)
    assert "started more processes or threads than a submission may" in total.notes[0]
    assert time.monotonic() - begun < 60


# At most three at a time, each with a number of its own.
RELAY = """\
import os, time
if os.fork() == 0:
    while os.fork() == 0:
        pass
    os._exit(0)
time.sleep(600)"""


@pytest.mark.exhaustive("what a sandbox keeps out, at length")
def test_processes_that_follow_one_another_are_counted(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total=RELAY), patient=True)
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert (total.status, twice.score) == (Status.CRASHED, 2.0)
    assert "started more processes or threads than a submission may" in total.notes[0]


FILL = """\
import os
for folder in ("/tmp", "/dev/shm", "/submission/home"):
    try:
        with open(f"{folder}/full", "wb") as file:
            while True:
                file.write(bytes(1 << 20))
    except OSError as error:
        print(type(error).__name__)
try:
    for number in range(100_000):
        open(f"/submission/home/{number}", "w").close()
except OSError:
    print("no more files")
print(sum(os.path.getsize(f"{f}/full") for f in ("/tmp", "/dev/shm", "/submission/home")) >> 20)"""


def test_a_full_disk_is_the_submissions_own(tmp_path: Path) -> None:
    outcome, said = run(tmp_path, FILL)
    lines = said.splitlines()
    assert lines[-2] == "no more files"
    assert int(lines[-1]) <= 16
    assert outcome.record.score == 5.0


def test_a_module_beside_the_notebook_is_not_imported(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, exam_cells())
    job = hand_in(tmp_path, lesson, exam_cells(total=f"import torch, os\n{TOTAL}"))
    for name in ("torch", "course", "sitecustomize", "json", "autograder"):
        (job.directory / f"{name}.py").write_text("print('fake')\nraise SystemExit")
    (outcome,) = engine().run_many([job])
    assert answers(outcome)["total"].score == 3.0
    assert "fake" not in json.dumps(outcome.notebook)


def test_modules_written_by_a_cell_do_not_replace_what_measures(tmp_path: Path) -> None:
    write = """\
import sys, os
for name in ("warnings", "contextlib", "statistics", "course", "torch", "numpy", "linecache"):
    for folder in (".", "/tmp", "/submission/home"):
        open(f"{folder}/{name}.py", "w").write("raise SystemExit")
sys.path.insert(0, "/tmp")
for name in list(sys.modules):
    if name.startswith(("torch", "numpy", "course", "warnings")):
        del sys.modules[name]
"""
    outcome = grade(tmp_path, exam_cells(total=write + WRONG))
    assert answers(outcome)["total"].score <= WITHOUT_ATTACK


def test_links_out_of_the_sandbox_lead_nowhere(tmp_path: Path) -> None:
    target = tmp_path / "outside.txt"
    target.write_text("outside")
    attack = f"""\
import os
os.symlink({str(target)!r}, "link")
os.symlink("/proc/1/root", "/tmp/root")
for path in ("link", "/tmp/root/etc/passwd", "/proc/self/root{target}"):
    try:
        print(open(path).read())
    except OSError:
        print("nothing")"""
    _, said = run(tmp_path, attack)
    assert said == "nothing\n" * 3


@pytest.mark.parametrize(
    "call", ["os.closerange(0, 4096)", "sys.stdout = None", "sys.stdout.close()"]
)
def test_closing_what_the_grader_listens_to_costs_at_most_the_exercise(
    tmp_path: Path, call: str
) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"import os, sys\n{TOTAL}\n{call}"))
    assert outcome.record.status in (Status.GRADED, Status.CRASHED)
    assert answers(outcome)["twice"].score == 2.0
