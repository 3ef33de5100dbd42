"""Lesson 15: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import math
import os
import random
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from course.lessons.experiments.successive_halving import halving_plan
from course.lessons.experiments.trials import trial_losses
from tests.lessons.source import Source
from tests.systems.lesson_cells import run_cells

SOURCE = Source("15-experiments")
text = SOURCE.text
Function = Callable[..., Any]
PICTURES = ("asha-by-hand", "asha-halving")


def told_by(capsys: pytest.CaptureFixture[str], *ids: str) -> list[str]:
    """The lines that the last of these cells prints, after the others."""
    names: dict[str, Any] = {}
    for id_ in ("setup", *ids):
        capsys.readouterr()
        exec(text(id_), names)
    told = capsys.readouterr()
    assert told.err == ""
    return told.out.splitlines()


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_calls_nan_the_best_and_forgets_every_rate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert text("scene").count("\n") < 11
    assert "course" not in text("scene")
    exec(text("scene"), {})
    best, rates = capsys.readouterr().out.splitlines()
    assert best == "{'loss': nan, 'config': {'steps': 40, 'lr': 0.001}}"
    assert rates == "[0.001, 0.001, 0.001, 0.001]"


def test_one_of_the_scenes_rates_was_excellent() -> None:
    losses = {lr: 9 * (1 - 2 * lr) ** 80 for lr in (0.01, 0.1, 0.001)}
    assert min(losses, key=losses.__getitem__) == 0.1
    assert losses[0.1] < 1e-6


@pytest.mark.parametrize("repaired", [False, True])
def test_the_two_answers_find_a_run_with_its_rate(
    repaired: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    names = SOURCE.solved("sample-config", "best-run", "repaired-sloppy", "repaired-lines")
    if repaired:
        names |= {"draw_of": names["sample_config"], "best_of": names["best_run"]}
    capsys.readouterr()
    exec(text("repaired-run"), names)
    best, rates = capsys.readouterr().out.splitlines()
    assert ("loss nan" in best) == (not repaired)
    assert rates == f"different rates in the records: {8 if repaired else 1}"
    if repaired:
        assert math.isfinite(float(re.findall(r"loss (\S+),", best)[0]))


# --- the form -------------------------------------------------------------------------------------


# What a learner types who knows it.
WARM_UPS = {
    "framing": 26,
    "shallow": [64],
    "learned": 4,
    "logged": 16,
    "kept": 12,
    "samples": 8000,
    "share": 67,
    "middle": 0.01,
    "grid": 625,
    "survivors": 3,
    "spent": 20,
    "sorted": 2.0,
    "first-nan": float("nan"),
    "argmin": 1,
    "mode": "a",
}


def test_every_warm_up_takes_its_answer_and_refuses_another() -> None:
    names = SOURCE.solved("min-and-nan")
    cells = [cell["id"] for cell in SOURCE.with_role("warm-up")]
    assert cells == [f"warm-up-{name}" for name in WARM_UPS]
    states = SOURCE.warm_up_states(WARM_UPS, names)
    assert states == dict.fromkeys(WARM_UPS, ("right", "wrong"))


# --- what the texts say ---------------------------------------------------------------------------


def test_a_shallow_copy_keeps_the_rate_and_not_the_list(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert told_by(capsys, "record-is-a-copy") == [
        "kept:   {'lr': 0.001, 'layers': [64, 64, 10]}",
        "copied: {'lr': 30.0, 'layers': [64, 64, 10]}",
    ]


def test_nine_of_ten_uniform_rates_lie_in_the_top_decade(
    capsys: pytest.CaptureFixture[str],
) -> None:
    uniform, by_factors = (
        [int(n) for n in re.findall(r"\d+", line.split(": ")[1])]
        for line in told_by(capsys, "decades")
    )
    assert 0.88 < uniform[2] / sum(uniform) < 0.92
    assert all(abs(n / 3000 - 1 / 3) < 0.03 for n in by_factors)


def test_a_trial_draws_its_rate_from_a_stream_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rates, alone, texts = told_by(capsys, "own-draws-measured")
    assert texts == str(
        [random.Random(text).random() for text in ("trial 2, lr", "trial 2, width")]
    )
    assert rates.split("] [")[0].endswith(rates.split("] [")[1].rstrip("]"))
    assert alone.endswith("True")


def test_trial_3_leads_and_trial_7_ends_best(capsys: pytest.CaptureFixture[str]) -> None:
    names = SOURCE.solved("halving-figure")
    capsys.readouterr()
    exec(text("halving-checked"), names)
    lines = capsys.readouterr().out.splitlines()
    rankings = [[int(n) for n in line.split("[")[1].strip("]").split(",")] for line in lines]
    assert [ranking[0] for ranking in rankings] == [0, 3, 4, 7]
    assert rankings[-1][7] == 3
    rungs = halving_plan(trial_losses()[:9], 1, 27, 3)
    assert (rungs[-1].ranking, rungs[-1].spent) == ((3,), 9 + 3 * 2 + 1 * 6 + 1 * 18)
    later = halving_plan(trial_losses()[:9], 18, 27, 2)
    assert (later[-1].ranking[0], later[-1].spent) == (7, 198)


def test_the_asynchronous_rule_lets_trial_0_through_and_stops_trial_7(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (line,) = told_by(capsys, "asha-by-hand")
    assert line == "epochs of each trial: [27, 1, 1, 27, 1, 1, 1, 1, 1] sum 61"
    last = sorted(range(9), key=lambda trial: trial_losses()[trial][-1])
    assert (last[0], last[-2:]) == (7, [3, 0])


def test_asha_is_drawn_as_it_decided_and_halving_beside_it() -> None:
    names = SOURCE.solved("asha-by-hand")
    asha, halving = (eval(text(id_).splitlines()[-1], names) for id_ in PICTURES)
    assert "Finished after 27 epochs: trials 0, 3. 61 epochs in all." in asha.alt
    assert "The best one there is trial 3" in halving.alt
    assert "39 epochs were spent" in halving.alt
    after_one, after_three, after_nine = (
        sorted(range(9), key=lambda trial: trial_losses()[trial][epoch - 1]) for epoch in (1, 3, 9)
    )
    assert after_one[:2] == [0, 3]  # what the text says of the two that finished
    assert all(ranking.index(3) < ranking.index(0) for ranking in (after_three, after_nine))


@pytest.mark.parametrize(
    ("package", "how", "cells"),
    [
        ("wandb", "pip install wandb", ("wandb-asked", "wandb-run-measured")),
        ("ray", 'pip install "ray[tune]"', ("ray-search", "ray-search-run", "ray-search-asked")),
        ("optuna", "pip install optuna", ("optuna-search", "optuna-asked")),
    ],
)
def test_what_is_off_says_how_to_get_its_package_where_it_is_missing(
    package: str,
    how: str,
    cells: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable in ("WANDB_SILENT", "WANDB_ERROR_REPORTING"):
        monkeypatch.setenv(variable, "true")  # the cells set them, and so it is undone
    for variable in ("RAY_USAGE_STATS_ENABLED", "RAY_AIR_NEW_OUTPUT"):
        monkeypatch.setenv(variable, "0")
    for found in (None, object()):
        monkeypatch.setattr("importlib.util.find_spec", lambda name, found=found: found)
        (line,) = told_by(capsys, *cells)
        assert line.startswith("not ")
        assert " is False" in line
        assert line.endswith(how) == (found is None), package


def test_the_best_of_many_guessers_looks_like_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    validated, tested = (float(line.split()[-1]) for line in told_by(capsys, "winners-curse"))
    assert validated > 0.6 > 0.55 > tested


def test_a_detached_tensor_goes_on_to_change(capsys: pytest.CaptureFixture[str]) -> None:
    kept, copied = told_by(capsys, "detached-is-shared")
    assert kept.endswith("[3.0, 3.0, 3.0]")
    assert copied.endswith("[1.0, 2.0, 3.0]")


# --- the solutions against what they imitate ------------------------------------------------------


@pytest.mark.parametrize(("low", "high", "eta"), [(1, 27, 3), (2, 9, 2), (3, 27, 4), (5, 5, 2)])
def test_halving_ranks_like_the_simulator(low: int, high: int, eta: int) -> None:
    halving: Function = SOURCE.solved("halving")["halving"]
    losses = trial_losses()[:11]
    found = halving(lambda trial, epochs: losses[trial][epochs - 1], 11, low, high, eta)
    plan = halving_plan(losses, low, high, eta)
    assert [(epochs, list(ranking)) for epochs, ranking in found] == [
        (rung.epochs, list(rung.ranking)) for rung in plan
    ]


def test_a_sampled_config_leaves_torchs_stream_alone() -> None:
    sample: Function = SOURCE.solved("sample-config")["sample_config"]
    before = torch.get_rng_state()
    space = {"lr": ("log", 1e-4, 1e-1), "width": ("int", 2, 64), "act": ("choice", ["a", "b"])}
    drawn = [sample(space, 0, number) for number in range(40)]
    assert torch.equal(torch.get_rng_state(), before)
    assert len({config["lr"] for config in drawn}) == 40
    assert drawn[7] == sample(dict(reversed(space.items())), 0, 7)
    below = sum(config["lr"] < 10**-2.5 for config in drawn)
    assert 10 < below < 30  # half of them, by factors


def test_where_rays_workers_cannot_start_nobody_waits_for_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", "/srv/my courses/.venv/bin/python")
    monkeypatch.setattr(os, "environ", dict(os.environ))
    wanted = ("search_for_real = False", "search_for_real = True")
    run_cells("15-experiments", "ray-search", "ray-search-asked", ray_search=wanted)
    assert "there's a space in /srv/my courses" in capsys.readouterr().out
