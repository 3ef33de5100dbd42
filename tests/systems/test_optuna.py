"""Optuna for real: the study of lesson 15."""

from __future__ import annotations

import pytest

from tests.systems.lesson_cells import run_cells

pytestmark = pytest.mark.needs("optuna")
CELLS = ("optuna-search", "optuna-study", "optuna-asked")
ASKED = ("learn_from_trials = False", "learn_from_trials = True")


def test_the_study_finds_a_good_rate_and_prunes(capsys: pytest.CaptureFixture[str]) -> None:
    names = run_cells("15-experiments", *CELLS, optuna_search=ASKED)
    study = names["study"]
    assert len(study.trials) == 20
    assert study.best_value < 1e-3
    assert any(trial.state.name == "PRUNED" for trial in study.trials)
    assert "best lr" in capsys.readouterr().out


def test_the_same_seed_suggests_the_same_settings() -> None:
    names = run_cells("15-experiments", *CELLS)
    one, other = (names["study_of"](8) for _ in range(2))
    assert [t.params for t in one.trials] == [t.params for t in other.trials]
