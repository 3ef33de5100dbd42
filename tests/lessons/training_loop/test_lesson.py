"""Lesson 11: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tests.lessons.source import Source

SOURCE = Source("11-training-loop")
text, run = SOURCE.text, SOURCE.run
Loop = Callable[..., Any]


@pytest.fixture(autouse=True)
def _same_days_each_time() -> None:
    torch.manual_seed(0)  # the scene draws, and sets no seed: that is its bug


def losses_of(printed: str) -> list[str]:
    """The losses that the two days print."""
    return re.findall(r"loss (\S+)", printed)


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_prints_two_losses_and_neither_is_the_mean_over_samples(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert text("scene").count("\n") < 11
    assert "course" not in text("scene")
    losses = run("scene")["losses"]
    monday, tuesday = losses_of(capsys.readouterr().out)
    assert monday != tuesday
    weighed = sum(loss.item() * n for loss, n in zip(losses, (32, 32, 1), strict=True)) / 65
    assert float(tuesday) != pytest.approx(weighed, abs=0.01)


def test_the_scene_keeps_its_graphs_and_never_clears_a_gradient() -> None:
    assert all(loss.grad_fn is not None for loss in run("scene")["losses"])
    assert "zero_grad" not in text("scene")


@pytest.mark.parametrize("repaired", [False, True])
def test_the_two_answers_make_monday_and_tuesday_agree(
    repaired: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    names = SOURCE.solved("scene", "train-epoch", "batch-order", "repaired")
    epoch, order = names["sloppy_epoch"], names["sloppy_order"]
    if repaired:
        epoch, order = names["train_epoch"], names["batch_order"]
    names |= {"epoch_of": epoch, "order_of": order}
    capsys.readouterr()
    exec(text("repaired-run"), names)
    told = capsys.readouterr()
    monday, tuesday = losses_of(told.out)
    assert (monday == tuesday) == repaired
    assert f"kept: {not repaired}" in told.out
    assert told.err == ""


# --- the form -------------------------------------------------------------------------------------


# What a learner types who knows it.
WARM_UPS = {
    "twice": 6.0,
    "no-grad": 1.0,
    "zero": 0.75,
    "uneven": 4,
    "batches": 6,
    "fork": True,
    "share": 0.25,
    "unscaled": 8,
    "steps": 13,
    "step-lr": 1e-10,
    "patience": 4,
    "nan": 1,
    "same-seed": True,
    "global": False,
    "shared-epochs": 11,
}


def test_every_warm_up_takes_its_answer_and_refuses_another() -> None:
    names = SOURCE.solved("scene", "rates-measured")
    cells = [cell["id"] for cell in SOURCE.with_role("warm-up")]
    assert cells == [f"warm-up-{name}" for name in WARM_UPS]
    states = SOURCE.warm_up_states(WARM_UPS, names)
    assert states == dict.fromkeys(WARM_UPS, ("right", "wrong"))


# --- what the texts say ---------------------------------------------------------------------------


def test_none_is_skipped_and_zero_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    run("none-or-zero", torch=torch)
    none, zero = capsys.readouterr().out.splitlines()
    assert none == "grad None  weight 1.70 -> 1.70"
    assert zero == "grad tensor([0.])  weight 1.70 -> 1.43"


def test_only_the_share_of_the_samples_gives_the_gradient_of_the_large_batch(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = run("scene")
    capsys.readouterr()
    run("accumulated", **names)
    whole, added, divided, shared = (
        float(line.split(":")[1]) for line in capsys.readouterr().out.splitlines()
    )
    assert shared == pytest.approx(whole, abs=1e-3)
    assert abs(divided - whole) > 0.01
    assert added == pytest.approx(3 * divided, abs=1e-3)


def test_the_figure_of_accumulation_shows_24_and_8_and_5_33() -> None:
    names = SOURCE.solved()
    last = text("accumulating-figure").rstrip().splitlines()[-1]
    exec(text("accumulating-figure").replace(last, f"picture = {last}"), names)
    assert re.findall(r"step reads (\S+),", names["picture"].alt) == ["24", "8", "5.33"]


def test_a_generator_of_its_own_is_not_moved_by_other_draws(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("one-more-draw", "own-generator", torch=torch)
    first, again, moved, quiet, noisy = capsys.readouterr().out.splitlines()
    assert first == again != moved
    assert quiet == noisy


def test_a_batch_norm_that_was_frozen_is_not_after_eval_and_train(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("validation-traces", torch=torch)
    draws, training = capsys.readouterr().out.splitlines()
    assert len(set(draws.split())) == 2
    assert training == "True"


def test_the_scale_of_the_scaler_is_halved_and_the_weights_stay(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("scaler-measured", torch=torch, device="cpu")
    assert capsys.readouterr().out.split("\n")[:2] == ["0.7 65536.0", "0.7 32768.0"]


def test_float16_turns_what_is_below_3e_8_into_zero() -> None:
    small = torch.tensor([2.9e-8, 3.1e-8])
    assert [value > 0 for value in small.half().tolist()] == [False, True]
    assert all(value > 0 for value in small.bfloat16().tolist())


def test_epochs_that_share_the_low_bits_of_their_seeds_share_their_order() -> None:
    one, other = (torch.Generator().manual_seed(seed) for seed in (5, 2**32 + 5))
    assert torch.equal(torch.randperm(50, generator=one), torch.randperm(50, generator=other))


def test_digits_are_learned_to_95_percent_and_the_same_again() -> None:
    pytest.importorskip("sklearn")
    names = run("digits", "digits-epoch", "digits-trained", torch=torch)
    first, again, other = (names["train_digits"](seed) for seed in (0, 0, 1))
    assert first == again != other
    assert min(first[-1], other[-1]) >= 0.95


# --- the solutions against torch ------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_adamw_by_hand_is_torchs_own_for_twenty_steps(dtype: torch.dtype) -> None:
    step: Loop = SOURCE.solved("adamw-step")["adamw_step"]
    rng = torch.Generator().manual_seed(3)
    starts = [torch.randn(3, generator=rng, dtype=dtype) for _ in range(2)]
    mine, torchs = ([s.clone().requires_grad_() for s in starts] for _ in range(2))
    options: list[dict[str, Any]] = [
        {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.2},
        {"lr": 0.01},
    ]
    rest: dict[str, Any] = {"betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0}
    groups = [
        [{**rest, **o, "params": [p]} for o, p in zip(options, w, strict=True)]
        for w in (mine, torchs)
    ]
    optimizer, state = torch.optim.AdamW(groups[1]), dict[Any, Any]()
    for number in range(20):
        for k, both in enumerate(zip(mine, torchs, strict=True)):
            drawn = torch.randn(3, generator=rng, dtype=dtype)
            for p in both:
                p.grad = None if (number + k) % 5 == 1 else drawn.clone()
        step(groups[0], state)
        optimizer.step()
    torch.testing.assert_close(mine, torchs, rtol=1e-5, atol=1e-7)


def test_clipping_by_hand_agrees_with_torchs_own() -> None:
    clip: Loop = SOURCE.solved("clip-gradients")["clip_gradients"]
    mine, torchs = nn.Linear(3, 2), nn.Linear(3, 2)
    for a, b in zip(mine.parameters(), torchs.parameters(), strict=True):
        a.grad = torch.arange(1.0, a.numel() + 1).view_as(a)
        b.grad = a.grad.clone()
    norm = clip(mine.parameters(), 0.5)
    assert norm == pytest.approx(nn.utils.clip_grad_norm_(torchs.parameters(), 0.5).item())
    for a, b in zip(mine.parameters(), torchs.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-5, atol=0)


def test_the_order_of_an_epoch_goes_on_after_a_stop() -> None:
    order: Loop = SOURCE.solved("batch-order")["batch_order"]
    whole = order(65, 32, 0, 7)
    assert [len(batch) for batch in whole] == [32, 32, 1]
    assert [order(65, 32, 0, 7, done) for done in range(4)] == [whole[d:] for d in range(4)]


def test_the_step_of_the_parts_is_that_of_the_large_batch() -> None:
    step: Loop = SOURCE.solved("accumulated-step")["accumulated_step"]
    x = torch.arange(18.0, dtype=torch.float64).view(9, 2) / 9
    y, results = x.sum(1, keepdim=True).sin(), []
    for sizes in ([9], [4, 4, 1], [1, 7, 1]):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            model = nn.Linear(2, 1).double()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        parts = list(zip(x.split(sizes), y.split(sizes), strict=True))
        losses = [step(model, parts, nn.functional.mse_loss, optimizer) for _ in range(3)]
        results.append([*losses, *model.weight.flatten().tolist()])
    assert results[1] == pytest.approx(results[0], rel=1e-12)
    assert results[2] == pytest.approx(results[0], rel=1e-12)


@pytest.mark.parametrize(
    "losses", [[-1.0, -0.99995, -1.0, -0.9998], [3.0, 2.0, 2.0, 2.0, 1.9, 2.0]]
)
@pytest.mark.parametrize("patience", [0, 1, 2])
def test_the_plateau_by_hand_is_torchs_own(losses: list[float], patience: int) -> None:
    rates: Loop = SOURCE.solved("plateau-rates")["plateau_rates"]
    watched = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    make = torch.optim.lr_scheduler.ReduceLROnPlateau
    plateau, wanted = make(watched, factor=0.1, patience=patience, min_lr=0.02), []
    for loss in (*losses, float("nan"), float("inf"), *losses):
        plateau.step(loss)
        wanted.append(plateau.get_last_lr()[0])
    given = [*losses, float("nan"), float("inf"), *losses]
    assert rates(given, 0.5, 0.1, patience, 0.02) == wanted
