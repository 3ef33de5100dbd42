"""TensorBoard for real: what lesson 15 writes is read back, after a kill and by the viewer, too."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.lessons.source import Source
from tests.systems.lesson_cells import run_cells
from tests.systems.viewer import WAIT_S, viewer

pytestmark = pytest.mark.needs("tensorboard")
SLUG = "15-experiments"


def test_the_lesson_writes_scalars_and_reads_them_back(capsys: pytest.CaptureFixture[str]) -> None:
    run_cells(SLUG, "setup", "tensorboard-imported", "written-and-read")
    told = capsys.readouterr()
    assert told.out == "[(0, 1.0), (1, 0.5), (2, 0.333), (3, 0.25)]\n"
    assert told.err == ""


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_histograms_images_graphs_and_hparams_are_in_the_files(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_cells(SLUG, "setup", "two-kinds", "tensorboard-imported", "more-than-scalars")
    run, settings = capsys.readouterr().out.splitlines()[-2:]
    assert {"images", "histograms", "graph"} <= set(re.findall(r"\w+", run))
    assert settings == "['scalars']"


def test_a_resumed_log_goes_back_unless_it_is_purged(capsys: pytest.CaptureFixture[str]) -> None:
    cells = ("tensorboard-imported", "written-and-read", "resumed", "resumed-twice")
    run_cells(SLUG, "setup", *cells)
    told = capsys.readouterr()
    as_it_is, purged = told.out.splitlines()[-2:]
    assert as_it_is == "purge_step None [0, 1, 2, 3, 4, 5, 4, 5, 6, 7, 8]"
    assert purged == "purge_step 4 [0, 1, 2, 3, 4, 5, 6, 7, 8]"
    assert told.err == ""


def test_what_was_flushed_outlives_a_killed_process(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    script = f"""
        import os
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter({str(tmp_path)!r})
        for step in range(500):
            writer.add_scalar("loss", float(step), step)
        writer.flush()
        os._exit(9)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=WAIT_S)
    assert done.returncode == 9
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("loss")] == list(range(500))


def test_the_learners_reader_finds_the_records_of_a_real_file(tmp_path: Path) -> None:
    from torch.utils.tensorboard import SummaryWriter

    from course.lessons.experiments.event_file_probes import masked_crc

    with SummaryWriter(str(tmp_path)) as writer:
        for step in range(20):
            writer.add_scalar("loss", 1.0, step)
    read_records = Source(SLUG).solved("read-records")["read_records"]
    (file,) = tmp_path.iterdir()
    records = read_records(file, masked_crc)
    assert len(records) == 21  # the first one says which version wrote the file
    assert all(b"loss" in record for record in records[1:])


def test_the_learners_history_is_the_purged_one(capsys: pytest.CaptureFixture[str]) -> None:
    cells = ("tensorboard-imported", "written-and-read", "resumed", "resumed-twice")
    names = run_cells(SLUG, "setup", *cells)
    purged = capsys.readouterr().out.splitlines()[-1]
    merged = Source(SLUG).solved("merged-history")["merged_history"]
    steps = [step for step, _ in merged([names["killed"], names["resumed"]])]
    assert purged == f"purge_step 4 {steps}"


def test_the_viewer_serves_the_points_that_were_logged(tmp_path: Path) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path / "runs" / "first")) as writer:
        for step in range(3):
            writer.add_scalar("loss/train", 1.0 / (step + 1), step)
    with viewer(tmp_path / "runs", tmp_path / "log") as address:
        page = urllib.request.urlopen(address, timeout=WAIT_S).read().decode()
        assert "<title>TensorBoard</title>" in page
        asked = f"{address}data/plugin/scalars/scalars?tag=loss/train&run=first"
        end = time.monotonic() + WAIT_S
        points: list[list[float]] = []
        while len(points) < 3 and time.monotonic() < end:  # it reads the files as it finds the time
            try:
                points = json.load(urllib.request.urlopen(asked, timeout=WAIT_S))
            except urllib.error.HTTPError:
                time.sleep(0.5)
    assert [step for _, step, _ in points] == [0, 1, 2]
