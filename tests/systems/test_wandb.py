"""wandb for real, offline: what lesson 15 logs is in the run file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.systems.lesson_cells import run_cells

pytestmark = pytest.mark.needs("wandb")
SLUG = "15-experiments"
CELLS = ("wandb-asked", "wandb-run-measured", "wandb-file-read", "wandb-file-shown")
ASKED = ("log_for_real = False", "log_for_real = True")


@pytest.mark.exhaustive("other systems")
def test_the_run_file_says_what_was_logged(capfd: pytest.CaptureFixture[str]) -> None:
    run_cells(SLUG, "setup", *CELLS, wandb_asked=ASKED)
    told = capfd.readouterr()
    assert told.out.splitlines() == [
        "config: {'lr': 0.1, 'layers': [64, 64], 'batch_size': 32}",
        "after two calls of log the step is 2",
        "run     {'lr': '0.1', 'layers': '[64,64]'}",
        "config  {'batch_size': '32'}",
        "history {'loss': '1'}",
        "history {'accuracy': '0.5'}",
    ]
    assert told.err == ""


def test_a_smaller_step_is_dropped_and_a_setting_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    import wandb
    from wandb.proto import wandb_internal_pb2 as protocol

    quiet = wandb.Settings(console="off", silent=True, x_disable_stats=True)
    run = wandb.init(mode="offline", dir=str(tmp_path), config={"lr": 0.1}, settings=quiet)
    try:
        for step, loss in ((5, 1.0), (3, 9.0), (6, 2.0)):
            run.log({"loss": loss}, step=step)
        with pytest.raises(wandb.sdk.lib.config_util.ConfigError):
            run.config.lr = 0.5
        run.config.update({"lr": 0.2}, allow_val_change=True)
        assert (run.config.lr, run.offline) == (0.2, True)
    finally:
        run.finish()
        wandb.teardown()
    names = run_cells(SLUG, "wandb-asked", "wandb-file-read")
    (file,) = tmp_path.rglob("run-*.wandb")
    records = [protocol.Record.FromString(data) for data in names["records_of"](file.read_bytes())]
    rows = [names["told"](one.history.item) for one in records if one.history.item]
    assert rows == [{"loss": "1"}, {"loss": "2"}]
