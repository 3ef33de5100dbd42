"""Ray Tune for real: the search of lesson 15, its files, and `tune.run`; no process is left.

Ray takes ten seconds to start on two free cores and a minute on busy ones. It runs in a process of
its own here, so that whatever it starts ends with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.lessons.source import Source

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.exhaustive("a search with Ray"),
    pytest.mark.needs("ray"),
    pytest.mark.skipif(
        " " in sys.executable,
        reason="Ray's workers do not start from a path with a space in it (ray-project/ray#5288)",
    ),
    pytest.mark.timeout(1300),
]
WAIT_S, STARTS = 600, 2  # for a loaded machine; no measurement

SCRIPT = """
import json, os, sys, tempfile, time
from pathlib import Path
from tests.systems.lesson_cells import run_cells

import ray
from ray import tune
from ray._private import services

asked, patience = services.get_node, time.monotonic() + 180


def registered(*which):
    # Ray gives its own processes 30 seconds, which is too little on a busy machine.
    while True:
        try:
            return asked(*which)
        except RuntimeError:
            if time.monotonic() > patience:
                raise
            time.sleep(0.2)


services.get_node = registered
end, ray.shutdown = ray.shutdown, lambda: None  # one start is slow enough
start = ray.init
small = {"num_cpus": 1, "object_store_memory": 80 * 2**20}  # one process trains all trials
ray.init = lambda **options: start(**options | small)
cells = ("ray-search", "ray-search-run", "ray-search-asked")
folder = Path(sys.argv[1])
kept = f"for folder in [{str(folder / 'kept')!r}]:"  # instead of a folder that is deleted
names = run_cells(
    "15-experiments",
    *cells,
    ray_search=("search_for_real = False", "search_for_real = True"),
    ray_search_asked=("with tempfile.TemporaryDirectory() as folder:", kept),
)
frame = names["frame"]
(folder / "told.json").write_text(json.dumps({
    "trained": frame["training_iteration"].tolist(),
    "losses": frame["loss"].tolist(),
    "rates": frame["config/lr"].tolist(),
    "found": names["found"],
}))


def breaks(config):
    from ray import tune

    tune.report({"loss": float("nan") if config["lr"] < 0.15 else 1.0})
    if config["lr"] > 0.15:
        raise RuntimeError("out of memory")


try:
    old = tune.run(
        breaks,
        config={"lr": tune.grid_search([0.1, 0.2])},
        metric="loss",
        mode="min",
        storage_path=str(folder),
        name="old",
        raise_on_failed_trial=False,
        verbose=0,
    )
    failed = [trial.config for trial in old.trials if trial.status == "ERROR"]
    (folder / "old.json").write_text(json.dumps(failed))
finally:
    end()
"""


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with what a search left: its files, and what the notebook's names held."""
    folder = tmp_path_factory.mktemp("ray")
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AIR_NEW_OUTPUT": "0"}
    quiet |= {"RAY_gcs_server_port_wait_time_s": "300"}
    paths = {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    # Ray looks for free ports first and takes them later: beside other tests, one may be gone.
    for _ in range(STARTS):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(folder)],
            cwd=ROOT,
            env=os.environ | quiet | paths,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )
        if "timed out during startup" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr[-2000:]
    return folder


def test_the_frame_has_six_trials_and_the_best_one_is_found(searched: Path) -> None:
    told = json.loads((searched / "told.json").read_text())
    assert len(told["losses"]) == 6
    best = min(range(6), key=told["losses"].__getitem__)
    assert told["found"]["lr"] == told["rates"][best]
    assert set(told["trained"]) <= {1, 3, 9}
    assert 9 in told["trained"]


def test_each_trial_has_its_settings_and_a_line_for_each_report(searched: Path) -> None:
    told = json.loads((searched / "told.json").read_text())
    lines = {}
    for settings in searched.glob("kept/search/*/params.json"):
        reports = settings.with_name("result.json").read_text().splitlines()
        lines[json.loads(settings.read_text())["lr"]] = [json.loads(line) for line in reports]
    assert sorted(lines) == sorted(told["rates"])
    for rate, trained in zip(told["rates"], told["trained"], strict=True):
        assert [line["training_iteration"] for line in lines[rate]] == list(range(1, trained + 1))


def test_tune_run_still_runs_and_a_crashed_trial_leaves_its_report_and_an_error(
    searched: Path,
) -> None:
    assert json.loads((searched / "old.json").read_text()) == [{"lr": 0.2}]
    found = {}
    for settings in (searched / "old").glob("*/params.json"):
        (line,) = settings.with_name("result.json").read_text().splitlines()
        error = settings.with_name("error.txt")
        found[json.loads(settings.read_text())["lr"]] = (line, error.exists())
    assert '"loss": NaN' in found[0.1][0]
    assert not found[0.1][1]
    assert '"loss": 1.0' in found[0.2][0]
    assert found[0.2][1]


def test_the_learners_search_results_are_those_of_the_frame(searched: Path) -> None:
    search_results = Source("15-experiments").solved("search-results")["search_results"]
    found = search_results(searched / "kept" / "search", "loss", "min")
    told = json.loads((searched / "told.json").read_text())
    assert len(found) == 6
    assert found[0][1] == told["found"]


def test_no_process_of_ray_is_left(searched: Path) -> None:
    left = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        words = " ".join(process.info["cmdline"] or ())
        if ("raylet" in words or "gcs_server" in words) and str(searched) in words:
            left.append(words)
    assert left == []
