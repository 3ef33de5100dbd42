"""Lesson 16: several ranks do what one would do, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DistributedSampler

from course.lessons.devices import by_rank
from tests.lessons.source import Source

SOURCE = Source("16-devices")
PATIENCE = 300  # s, for what starts Pythons of its own on a loaded machine


def text(id_: str) -> str:
    """The source of a cell."""
    return str(SOURCE.cells()[id_]["source"])


@pytest.fixture
def names() -> dict[str, Any]:
    """What the set-up cell defines."""
    return SOURCE.solved()


def printed(capsys: pytest.CaptureFixture[str], names: dict[str, Any], *ids: str) -> list[str]:
    """The lines that these cells print, one after another; they print nothing to stderr."""
    capsys.readouterr()
    for id_ in ids:
        exec(text(id_), names)
    told = capsys.readouterr()
    assert told.err == ""
    return told.out.splitlines()


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_ends_with_two_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert text("scene").count("\n") < 15
    assert "course" not in text("scene")
    assert printed(capsys, {}, "scene", "scene-run") == ["tensor([0.1389, 0.6617])"]
    assert "0.14 and 0.66" in text("scene-symptom")


@pytest.mark.parametrize("repaired", [False, True])
def test_the_answer_makes_any_number_of_ranks_take_the_step_of_one(
    repaired: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    names = SOURCE.solved("train-rank", "repaired")
    names["step_of"] = names["train_rank" if repaired else "sloppy_rank"]
    lines = printed(capsys, names, "repaired-run")
    found = [set(re.findall(r"\d\.\d+", line)) for line in lines]
    assert found[0] == {"0.22"}
    assert (found == [{"0.22"}] * 3) == repaired


def test_the_end_runs_before_there_is_an_answer(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(printed(capsys, names, "repaired", "repaired-line", "repaired-run")) == 3


# --- the form -------------------------------------------------------------------------------------


# What a learner types who knows it.
WARM_UPS = {
    "weighed": 5.0,
    "sum": 3,
    "summed-loss": -110,
    "length": 3,
    "twice": 1,
    "rank": [1, 4],
    "bubble": 1 / 3,
    "device": 0,
    "visible": 1,
    "ranks": 3.0,
    "state": "module.weight",
    "gathered": 5,
    "first": 1,
    "default": 30,
    "joined": 0.5,
}


def test_every_warm_up_takes_its_answer_and_refuses_another() -> None:
    names = SOURCE.solved("shards-measured", "stages-measured", "pipeline")
    cells = [cell["id"] for cell in SOURCE.with_role("warm-up")]
    assert cells == [f"warm-up-{name}" for name in WARM_UPS]
    for name, right in WARM_UPS.items():
        before, asked = text(f"warm-up-{name}").split("warm_up(", 1)
        for yours, state in ((right, "right"), ("something else", "wrong")):
            told = asked.replace("yours=...", f"yours={yours!r}")
            exec(f"{before}answer = warm_up({told}", names)
            assert names["answer"].state == state, name


# --- what the texts say ---------------------------------------------------------------------------


def test_only_the_weighed_mean_is_the_gradient_of_the_batch(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    whole, shards, weighed = printed(capsys, names, "shards-measured")
    assert whole.endswith("-22.00")
    assert shards == "shards: -9.33 and -41.00, their mean: -25.17"
    assert weighed.endswith("-22.00")


def test_all_reduce_adds_and_broadcast_overwrites(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, names, "collectives") == [str([(33.0, 10.0)] * 3)]


def test_padding_repeats_the_beginning_and_dropping_leaves_the_end_out(
    names: dict[str, Any],
) -> None:
    exec(text("dealt").rsplit("\n", 1)[0], names)
    padded, dropped = names["dealt"](shuffle=False), names["dealt"](shuffle=False, drop_last=True)
    assert [len(shard) for shard in padded.values()] == [3] * 4
    assert (padded["rank 2"][-1], padded["rank 3"][-1]) == (0, 1)
    assert sorted(index for shard in dropped.values() for index in shard) == list(range(8))


def test_epochs_differ_after_set_epoch_only(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    first, again, later = printed(capsys, names, "epochs")
    assert first[8:] == again[8:]
    assert not later.startswith(again)
    told = printed(capsys, names, "both-shuffle")
    assert told == [
        "sampler option is mutually exclusive with shuffle",
        "[3, 2] batches on this rank",
    ]


def test_the_order_of_an_epoch_has_the_seed_plus_the_epoch() -> None:
    sampler = DistributedSampler(range(9), num_replicas=1, rank=0, seed=4)
    sampler.set_epoch(3)
    generator = torch.Generator().manual_seed(7)
    assert list(sampler) == torch.randperm(9, generator=generator).tolist()


def test_model_parallel_keeps_each_stage_on_its_device(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    one, other, refused, gradients = printed(capsys, names, "stages-measured")
    assert (one, other) == ("0 514 KiB", "1 128 KiB")
    assert refused == "Expected all tensors to be on the same device"
    assert gradients == "gradients on 0 and 1"


@pytest.mark.parametrize("pieces", [1, 2, 4, 8])
def test_a_stage_is_idle_as_long_as_the_text_says(pieces: int, names: dict[str, Any]) -> None:
    exec(text("pipeline").rsplit("\n", 1)[0], names)
    rows = names["pipeline"](pieces)
    end = max(stop for row in rows.values() for *_, stop in row)
    for row in rows.values():
        busy = sum(stop - start for _, start, stop in row)
        assert 1 - busy / end == pytest.approx(1 / (pieces + 1))


def test_data_parallel_scatters_replicates_and_gathers(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(capsys, names, "shards-measured", "stages-measured", "data-parallel-measured")
    assert lines[-3:] == [
        "device and samples: [(0, 3), (1, 2)]",
        "outputs on device 0 (5, 1)",
        "calls that the model has counted: 0",
    ]


def test_data_parallel_sums_what_its_replicas_add(names: dict[str, Any]) -> None:
    first, _ = names["gpu"].devices(2)
    x = torch.arange(1.0, 6, device=first).view(-1, 1)
    layer = nn.Linear(1, 1, bias=False).to(first)
    nn.DataParallel(layer, device_ids=[0, 1])(x).sum().backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.item() == 15


def test_ddp_runs_in_two_processes_from_a_script(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(capsys, names, "ddp-script", "launcher", "ddp-launched")
    assert _ranks_of(lines) == _as_the_text_says()


def _ranks_of(lines: list[str]) -> list[tuple[str, ...]]:
    form = r"rank (\d) drew (\S+), starts from (\S+), has the gradient (\S+)"
    return sorted(found for line in lines for found in re.findall(form, line))


def _as_the_text_says() -> list[tuple[str, ...]]:
    drawn = []
    for rank in (0, 1):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(rank)
            drawn.append(f"{nn.Linear(1, 1, bias=False).weight.item():.3f}")
    return [("0", drawn[0], drawn[0], "2.0"), ("1", drawn[1], drawn[0], "2.0")]


def test_forward_passes_past_ddp_let_the_models_drift_apart(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, names, "bypassed") == ["[[-0.1, -0.2, -0.3], [-0.3, -0.6, -0.9]]"]


@pytest.mark.exhaustive("processes that train together")
def test_the_rank_that_waits_is_not_the_one_that_misses_the_call(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    waits = "Timed out waiting 1000ms for recv operation to complete"
    assert printed(capsys, names, "one-missing") == [f"0 {waits}", "1 done"]
    lines = printed(capsys, names, "uneven")
    assert lines == [waits, "[2.0, 2.0]", "[[2.0, 2.0, 0.5], [2.0, 2.0]]"]


def test_join_can_divide_by_those_that_are_left() -> None:
    def joined(rank: int, ranks: int) -> float:
        ddp = nn.parallel.DistributedDataParallel(nn.Linear(1, 1, bias=False))
        with ddp.join(divide_by_initial_world_size=False):
            for _ in range(2 - rank):
                ddp.zero_grad()
                ddp(torch.ones(1, 1)).sum().backward()
        return float(ddp.module.weight.grad.item())

    assert by_rank(joined)[0] == 1.0


def test_an_unused_parameter_is_told_in_the_next_forward_pass(
    names: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    refused, found = printed(capsys, names, "unused")
    assert refused.startswith("RuntimeError: Expected to have finished reduction in the prior")
    assert found == "two steps"


def test_without_sync_gradients_wait_and_the_forward_pass_decides(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert printed(capsys, {}, "no-sync-measured", "forward-decides") == [
        "[[1.0, 4.0], [3.0, 4.0]]",
        "averaged all the same: [2.0, 2.0]",
    ]


def test_one_rank_writes_and_all_can_read(capsys: pytest.CaptureFixture[str]) -> None:
    names, told = printed(capsys, {}, "saved-names", "told-to-all")
    assert names == "(['module.weight', 'module.bias'], ['weight', 'bias'])"
    assert told == "['the disk is full', 'the disk is full']"


def test_a_step_of_the_ring_passes_to_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, {}, "ring-counted", "ring-step")
    assert "  8 ranks: in a ring each sends 1.75 GiB, a boss alone  7 GiB" in lines
    assert lines[-1] == "[2, 0, 1]"


def test_shards_of_a_large_model_are_counted_without_memory(
    capsys: pytest.CaptureFixture[str],
) -> None:
    count, *_, last = printed(capsys, {}, "meta-counted")
    assert count == "6.4 billion parameters on meta"
    assert last == "in 64 shards:    1.5 GiB on each rank"


def test_fsdp_and_tensor_parallel_hold_halves(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"torch": torch, "nn": nn}
    lines = printed(capsys, names, "fully-sharded-measured", "tensor-parallel-measured")
    assert lines == ["((6, 4), (3, 4), (3, 4))", "the sum of two halves: True"]


# --- systems, run for real: docs/systems.md -------------------------------------------------------


def test_a_pool_maps_with_its_guard(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, {}, "pool-run") == ["[1, 4, 9]"]


def test_a_pool_without_its_guard_is_stopped(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(text("pool-run").split("print(run_script")[0], names)
    script = tmp_path / "squares.py"
    script.write_text(names["POOL"].replace('if __name__ == "__main__":', "if True:"))
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        try:
            assert any("bootstrapping phase" in line for line in run.stderr)
        finally:
            run.kill()


@pytest.mark.exhaustive("processes that train together")
def test_torchrun_tells_each_rank_who_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    source = text("torchrun-run").replace("try_it = False", "try_it = True")
    exec(source, {})
    found = re.findall(r"RANK=(\d) LOCAL_RANK=(\d) WORLD_SIZE=(\d)", capsys.readouterr().out)
    assert sorted(found) == [("0", "0", "2"), ("1", "1", "2")]


@pytest.mark.exhaustive("processes that train together")
def test_torchrun_runs_the_script_that_the_notebook_writes(tmp_path: Path) -> None:
    names = SOURCE.solved("ddp-script")
    script = tmp_path / "train.py"
    script.write_text(names["SCRIPT"])
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    logs = ["--redirects=3", f"--log-dir={tmp_path}"]  # a file for each rank: lines stay whole
    command = [*torchrun, *logs, "--nproc-per-node=2", str(script)]
    subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    told = [log.read_text() for log in tmp_path.rglob("stdout.log")]
    assert _ranks_of(told) == _as_the_text_says()
