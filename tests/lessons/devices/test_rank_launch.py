"""Ranks run scripts and functions, say how they ended, and are gone afterwards."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from course.lessons.devices.rank_launch import launch
from course.probes import probe

run_ranks = probe(launch)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing can be forked here")


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """No test leaves a process behind that says `left-behind` in its command."""
    yield
    assert _left_behind() == []


def _left_behind() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"left-behind" in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def summed(rank: int, x: torch.Tensor) -> dict[str, Any]:
    """All ranks' `x`, each multiplied by its rank and one more."""
    x = x * (rank + 1)
    dist.all_reduce(x)
    return {"x": x, "world": dist.get_world_size()}


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_function_finds_a_process_group(ranks: int) -> None:
    found = launch(summed, ranks, args=(torch.ones(2),))
    total = ranks * (ranks + 1) / 2
    for number, one in enumerate(found):
        assert (one["rank"], one["exit"], one["ended"]) == (number, 0, "finished")
        assert (one["result"]["x"].tolist(), one["result"]["world"]) == ([total] * 2, ranks)
        assert (one["error"], one["printed"]) == ("", "")


def test_each_rank_may_get_arguments_of_its_own() -> None:
    def own(x: torch.Tensor, name: str) -> list[Any]:
        return [name, x * 2, dist.is_initialized()]

    given = [(torch.tensor(1), "a"), (torch.tensor(2), "b")]
    found = launch(own, 2, each=given, group=False)
    assert [one["result"] for one in found] == [["a", 2, False], ["b", 4, False]]


SCRIPT = """\
import os, sys
import torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

def main():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    model(torch.full((3, 2), float(dist.get_rank()))).sum().backward()
    print("rank", os.environ["RANK"], sys.argv, __file__ == sys.argv[0])
    return {"grad": model.module.weight.grad, "text": open("data.txt").read()}

if __name__ == "__main__":
    result = main()
"""


@pytest.mark.parametrize("fresh", [False, True])
def test_a_script_runs_as_torchrun_runs_it(fresh: bool) -> None:
    found = launch(SCRIPT, 2, files={"data.txt": "beside it"}, fresh=fresh, timeout_s=200)
    assert [one["error"] for one in found] == ["", ""]
    for number, one in enumerate(found):
        assert one["result"]["grad"].tolist() == [[1.5, 1.5]]
        assert one["result"]["text"] == "beside it"
        assert one["printed"].startswith(f"rank {number} ['/")
        assert one["printed"].endswith("script.py'] True\n")


@pytest.mark.exhaustive("processes that train together")
def test_a_rank_starts_as_a_new_process_does() -> None:
    script = "import torch\nsingle = torch.ones(1).dtype == torch.float32\n"
    script += "result = [torch.rand(2), torch.is_grad_enabled(), single]"
    torch.manual_seed(5)
    before = torch.get_rng_state()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            (forked,) = launch(script, 1)
    finally:
        torch.set_default_dtype(torch.float32)
    (fresh,) = launch(script, 1, fresh=True, timeout_s=200)
    assert forked["result"][0].tolist() == fresh["result"][0].tolist()
    assert forked["result"][1:] == fresh["result"][1:] == [True, True]
    assert torch.equal(torch.get_rng_state(), before)


def test_modes_of_the_process_that_asks_do_not_go_on_in_ranks() -> None:
    seen = run_ranks.watch(operators=True)("import torch\nresult = torch.ones(2) + 1", 2)
    assert [one["result"].plain.tolist() for one in seen.result] == [[2, 2], [2, 2]]
    assert "aten::add" not in str(seen.operators)


def test_an_error_is_told_in_one_line_and_the_others_are_stopped() -> None:
    script = """
import os, time
if os.environ["RANK"] == "1":
    raise ValueError("no such shard\\nand more")
time.sleep(1000)
"""
    begun = time.monotonic()
    waiting, failed = launch(script, 2, timeout_s=60)
    assert (failed["exit"], failed["ended"]) == (1, "failed")
    assert failed["error"] == "ValueError: no such shard"
    assert (waiting["exit"], waiting["ended"], waiting["error"]) == (None, "stopped", "")
    assert time.monotonic() - begun < 30


@pytest.mark.exhaustive("processes that train together")
def test_a_deadlock_ends_with_the_timeout_and_what_was_said_is_kept() -> None:
    script = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
print("before", flush=True)
if dist.get_rank() == 0:
    dist.recv(torch.ones(1), src=1)
else:
    dist.recv(torch.ones(1), src=0)
"""
    found = launch(script, 2, timeout_s=4)
    assert [one["ended"] for one in found] == ["timeout"] * 2
    assert [one["printed"] for one in found] == ["before\n"] * 2


def test_exit_codes_and_signals_are_told() -> None:
    script = "import os, sys\nn = int(os.environ['RANK'])\n"
    script += "sys.exit([None, 3, 'words'][n]) if n < 3 else os.kill(os.getpid(), 9)"
    found = launch(script, 4)
    assert [one["exit"] for one in found] == [0, 3, 1, -9]
    assert [one["ended"] for one in found] == ["finished", "failed", "failed", "failed"]
    assert found[3]["error"] == "ended by SIGKILL"


LEAVE = """\
import os, subprocess, sys
sleep = [sys.executable, "-c", "import time; time.sleep(1000)  # left-behind"]
subprocess.Popen(sleep)
subprocess.Popen(sleep, start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sleep[0], sleep)
    os._exit(0)
result = "done"
"""


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are looked for in /proc")
def test_what_ranks_start_and_leave_is_ended() -> None:
    found = launch(LEAVE, 2)
    assert [one["result"] for one in found] == ["done"] * 2
    assert _left_behind() == []


def test_a_result_is_plain_data_or_none() -> None:
    script = "import os, torch\nfirst = os.environ['RANK'] == '0'\n"
    script += "result = torch.nn.Linear(1, 1) if first else [1, {'a': torch.ones(1)}]"
    thing, plain = launch(script, 2)
    assert thing["result"] is None
    assert thing["error"].startswith("the result is not plain data")
    assert plain["result"] == [1, {"a": torch.ones(1)}]


def test_what_is_asked_wrongly_is_refused() -> None:
    with pytest.raises(ValueError, match="0 ranks"):
        launch(summed, 0)
    with pytest.raises(ValueError, match="one sequence each"):
        launch(summed, 2, each=[(1,)])
    with pytest.raises(ValueError, match="write a script"):
        launch(summed, 2, fresh=True)


def test_where_nothing_can_be_forked_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with pytest.raises(RuntimeError, match="this system cannot"):
        launch("result = 1")


def test_the_probe_gives_what_launch_gives() -> None:
    seen = run_ranks("result = 7", 2)
    assert [one["result"].plain for one in seen.result] == [7, 7]
    assert run_ranks.here("result = 7", 1)[0]["ended"] == "finished"
