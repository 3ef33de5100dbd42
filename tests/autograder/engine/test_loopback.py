"""A lesson that asks for it gets a network of its own in the sandbox; nobody else, and no more."""

from __future__ import annotations

import errno
import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from autograder.engine import EngineRunner
from autograder.engine.limits import LOOPBACK_TIMES, Limits
from autograder.lessons.cells import declares_loopback
from autograder.records.model import Status
from tests.autograder.engine.exam import (
    LIMITS,
    TOTAL,
    Cell,
    Outcome,
    answers,
    code,
    engine,
    exam_cells,
    hand_in,
    printed,
    write_lesson,
)
from tests.machine import require


def lesson_cells(*, loopback: object = True, total: str = TOTAL) -> list[Cell]:
    """The exam, as a lesson that asks for a loopback network."""
    cells = exam_cells(total)
    cells[0]["metadata"]["course"] = {"role": "title", "loopback": loopback}
    return cells


def run(
    root: Path, said: str, *, source: list[Cell] | None = None, patient: bool = False
) -> tuple[Outcome, str]:
    """The outcome of a right submission with one cell more, and what that cell printed."""
    lesson = write_lesson(root, lesson_cells() if source is None else source)
    job = hand_in(root, lesson, [*lesson_cells(), code(said, "more")])
    (outcome,) = engine(patient).run_many([job])
    return outcome, printed(outcome, "more")


REDUCE = """\
import os, torch.distributed as dist
for rank in range(2):
    if os.fork() == 0:
        dist.init_process_group("gloo", init_method=METHOD, rank=rank, world_size=2)
        x = torch.full((3,), rank + 1.0)
        dist.all_reduce(x)
        print(x.tolist(), flush=True)
        dist.destroy_process_group()
        os._exit(0)
print([os.wait()[1] for _ in range(2)])"""


@pytest.mark.exhaustive("whole processes of the engine")
def test_two_processes_reduce_over_gloo_by_a_file_and_by_a_port(tmp_path: Path) -> None:
    for number, method in enumerate(("file:///tmp/meet", "tcp://localhost:29500")):
        cell = f'METHOD = "{method}"\n{REDUCE}'
        outcome, said = run(tmp_path / str(number), cell, patient=True)
        assert said.splitlines() == ["[3.0, 3.0, 3.0]"] * 2 + ["[0, 0]"]
        assert (outcome.record.status, outcome.record.score) == (Status.GRADED, 5.0)


NAMES = """\
import socket
for address in (("127.0.0.1", 1), ("::1", 1, 0, 0), ("::ffff:127.0.0.1", 1, 0, 0)):
    print(socket.getnameinfo(address, socket.NI_NAMEREQD)[0])
for family in (socket.AF_INET, socket.AF_INET6):
    print(socket.getaddrinfo("localhost", 1, family)[0][4][0])"""


@pytest.mark.exhaustive("whole processes of the engine")
def test_every_address_of_this_machine_has_a_name_without_asking_anybody(tmp_path: Path) -> None:
    _, said = run(tmp_path, NAMES)
    assert said.split() == ["localhost"] * 3 + ["127.0.0.1", "::1"]


SOCKETS = """\
import socket
for name, kind, protocol in (("UNIX", "STREAM", 0), ("INET", "STREAM", 0), ("INET6", "STREAM", 0),
                             ("INET", "DGRAM", 0), ("INET", "RAW", 1), ("NETLINK", "RAW", 0),
                             ("NETLINK", "RAW", 4), ("PACKET", "RAW", 0), ("VSOCK", "STREAM", 0)):
    try:
        family = getattr(socket, f"AF_{name}")
        socket.socket(family, getattr(socket, f"SOCK_{kind}"), protocol)
        print(0)
    except OSError as error:
        print(error.errno)"""
REFUSED = errno.EAFNOSUPPORT


def test_sockets_of_the_internet_and_the_list_of_interfaces_are_all_there_is(
    tmp_path: Path,
) -> None:
    _, said = run(tmp_path, SOCKETS)
    raw = errno.EPERM
    assert list(map(int, said.split())) == [0, 0, 0, 0, raw, 0, REFUSED, REFUSED, REFUSED]


def test_without_the_flag_a_socket_is_refused(tmp_path: Path) -> None:
    outcome, said = run(tmp_path, SOCKETS, source=exam_cells())
    assert list(map(int, said.split())) == [0] + [REFUSED] * 8
    assert outcome.record.score == 5.0


def test_a_submission_that_sets_the_flag_itself_gets_nothing(tmp_path: Path) -> None:
    asking: list[Cell] = [*lesson_cells(), code(SOCKETS, "more")]
    for cell in asking:
        cell["metadata"]["course"] = {"role": "title", "loopback": True}
    lesson = write_lesson(tmp_path, exam_cells())
    (outcome,) = engine().run_many([hand_in(tmp_path, lesson, asking)])
    assert list(map(int, printed(outcome, "more").split())) == [0] + [REFUSED] * 8


def test_only_true_in_the_title_cell_of_the_source_counts() -> None:
    assert declares_loopback(lesson_cells())
    for value in (False, None, 1, "true", [True]):
        assert not declares_loopback(lesson_cells(loopback=value))
    elsewhere: list[Cell] = exam_cells()
    elsewhere[1]["metadata"]["course"] = {"role": "text", "loopback": True}
    assert not declares_loopback(elsewhere)


SERVE = """\
import socket, time
servers = []
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    servers.append(socket.socket(family))
    servers[-1].bind((address, 29500))
    servers[-1].listen()
begun = time.time()
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    socket.create_connection((address, 29500)).close()  # it can be reached from here
time.sleep(SECONDS)
print([begun, time.time()])"""
CALL = """\
import socket, time
begun, met = time.time(), 0
while time.time() < begun + SECONDS:
    for address in ("127.0.0.1", "::1", "localhost"):
        try:
            socket.create_connection((address, 29500)).close()
            met += 1
        except ConnectionRefusedError:
            pass
    time.sleep(0.05)
print([begun, time.time(), met])"""


@pytest.mark.exhaustive("whole processes of the engine")
def test_the_server_of_another_submission_is_not_reached(tmp_path: Path) -> None:
    require("sandbox")
    lesson = write_lesson(tmp_path, lesson_cells())
    cells = {"first": f"SECONDS = 4\n{SERVE}", "second": f"SECONDS = 4\n{CALL}"}
    jobs = [
        hand_in(tmp_path, lesson, [*lesson_cells(), code(cell, "more")], student)
        for student, cell in cells.items()
    ]
    with EngineRunner(2, limits=LIMITS) as both:
        outcomes = {one.record.student: one for one in both.run_many(jobs)}
    begun, ended = json.loads(printed(outcomes["first"], "more"))
    called, given_up, met = json.loads(printed(outcomes["second"], "more"))
    assert max(begun, called) < min(ended, given_up), "they did not run at the same time"
    assert met == 0


LEAVE = """\
import os, socket, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        server = socket.socket()
        server.bind(("127.0.0.1", 29500))
        server.listen()
        open("/tmp/listening", "w").close()
        time.sleep(86420)
    os._exit(0)
while not os.path.exists("/tmp/listening"):
    time.sleep(0.01)
print("left")"""


def test_a_server_that_is_left_behind_is_ended_and_its_port_is_free(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, lesson_cells())
    said: dict[str, Any] = {}
    for student, cell in (("first", LEAVE), ("second", f"SECONDS = 0.3\n{CALL}")):
        job = hand_in(tmp_path, lesson, [*lesson_cells(), code(cell, "more")], student)
        (outcome,) = engine().run_many([job])
        said[student] = printed(outcome, "more")
    assert said["first"] == "left\n"
    assert json.loads(said["second"])[2] == 0


OUTSIDE = """\
import socket
for address in (("127.0.0.1", PORT), ("1.1.1.1", 53), ("10.0.0.1", 80), ("224.0.0.1", 9),
                ("169.254.169.254", 80), ("2606:4700:4700::1111", 53), ("example.org", 80)):
    try:
        socket.create_connection(address, timeout=2)
        print("reached")
    except OSError as error:
        print("not")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagram:
    try:
        datagram.sendto(b"x", ("8.8.8.8", 53))
        print("sent")
    except OSError as error:
        print("not")
print(socket.if_nameindex())"""


def test_nothing_outside_is_reachable(tmp_path: Path) -> None:
    with socket.socket() as of_this_machine:
        of_this_machine.bind(("127.0.0.1", 0))
        of_this_machine.listen()
        port = of_this_machine.getsockname()[1]
        _, said = run(tmp_path, f"PORT = {port}\n{OUTSIDE}", patient=True)
    assert said.splitlines() == ["not"] * 8 + ["[(1, 'lo')]"]


CHANGE = """\
import fcntl, os, socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    for request, body in ((0x8914, struct.pack("16sH22x", b"lo", 0)),
                          (0x8916, struct.pack("16sHH4s16x", b"lo", 2, 0, bytes([10, 0, 0, 1])))):
        try:
            fcntl.ioctl(any_socket, request, body)
            print("changed")
        except OSError as error:
            print("refused")
try:
    socket.socket().bind(("127.0.0.1", 80))
    print("bound")
except OSError:
    print("refused")
print(sorted(os.listdir("/etc")) and open("/etc/hosts").read().split()[:2])"""


def test_the_network_cannot_be_changed(tmp_path: Path) -> None:
    _, said = run(tmp_path, CHANGE)
    assert said.splitlines() == ["refused"] * 3 + ["['127.0.0.1', 'localhost']"]


BOMB = """\
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(0.1)
"""


@pytest.mark.exhaustive("a fork bomb over loopback")
def test_a_fork_bomb_stays_bounded(tmp_path: Path) -> None:
    lesson, begun = write_lesson(tmp_path, lesson_cells()), time.monotonic()
    job = hand_in(tmp_path, lesson, lesson_cells(total=BOMB))
    (outcome,) = engine(patient=True).run_many([job])
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert (total.status, twice.score) == (Status.CRASHED, 2.0)
    assert "started more processes or threads than a submission may" in total.notes[0]
    assert time.monotonic() - begun < 60


ANSWER = '''\
def total(x):
    import torch.distributed as dist
    if dist.is_initialized():
        x = x * (dist.get_rank() + 1)
        dist.all_reduce(x)
        return x
    return x.sum()
script = """
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Linear(2, 1))
model(torch.full((3, 2), float(dist.get_rank()))).sum().backward()
result = model.module.weight.grad
"""'''
CHECKED = """\
from course import probe

@probe
def run_ranks(program, ranks, each=None):
    from course.lessons.devices.rank_launch import launch
    return launch(program, ranks, each=each)

total = answer("total")
check = Check("total")
seen = run_ranks(total, 2, each=[(torch.ones(2),), (torch.ones(2) * 2,)])
check.equal([one["ended"] for one in seen.result], ["finished"] * 2)
check.equal([one["result"] for one in seen.result], [torch.full((2,), 5.0)] * 2)
seen = run_ranks(answer("script"), 4)
check.equal([one["error"] for one in seen.result], [""] * 4)
check.equal([one["result"] for one in seen.result], [torch.full((1, 2), 4.5)] * 4)
check.score(3)"""


@pytest.mark.exhaustive("ranks beside an answer")
def test_a_probe_runs_a_function_and_a_script_in_ranks(tmp_path: Path) -> None:
    def cells(answer: str, *, loopback: bool) -> list[Cell]:
        found = lesson_cells(total=answer, loopback=loopback)
        found[3]["source"] = CHECKED
        return found

    for loopback, points in ((True, 3.0), (False, 0.0)):
        folder = tmp_path / str(loopback)
        lesson = write_lesson(folder, cells(TOTAL, loopback=loopback))
        job = hand_in(folder, lesson, cells(ANSWER, loopback=True))
        (outcome,) = engine(patient=True).run_many([job])
        assert (answers(outcome)["total"].score, outcome.record.notes) == (points, ())
        assert answers(outcome)["total"].status is Status.GRADED


def test_the_limits_of_other_lessons_stay_and_memory_and_files_do_for_all() -> None:
    usual, more = Limits(), Limits().with_loopback()
    assert (more.cell_s, more.submission_s) == (60, 600)
    assert more.cell_s == usual.cell_s * LOOPBACK_TIMES
    assert (usual.processes, more.processes) == (64, 96)
    same = ("memory_nbytes", "tmp_nbytes", "files", "open_files", "started", "patience")
    assert [getattr(more, name) for name in same] == [getattr(usual, name) for name in same]


@pytest.mark.exhaustive("time limits of processes that talk")
def test_the_time_of_such_a_lesson_is_named_where_it_ends(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, lesson_cells())
    job = hand_in(tmp_path, lesson, lesson_cells(total="while True: pass"))
    (outcome,) = engine().run_many([job])
    note = answers(outcome)["total"].notes[0]
    assert f"used more than a cell's {LIMITS.cell_s * LOOPBACK_TIMES:g} s" in note
