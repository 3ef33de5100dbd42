"""The sampler's model: exact where counting by hand is possible, and what torch draws elsewhere.

Simulations are seeded. Their tolerance is six standard errors: with other seeds, fewer than one
run in 10 ** 8 would fail.
"""

from __future__ import annotations

from itertools import permutations
from math import sqrt

import pytest
import torch
from torch.utils.data import WeightedRandomSampler

from course.lessons.samplers.simulator import (
    epoch_plan,
    expected_draws,
    seen_chances,
)

IMBALANCED = torch.tensor([1 / 50] * 50 + [1.0] * 1, dtype=torch.float64)


def counted(weights: list[float], num_samples: int) -> list[float]:
    """The chance of each sample, by adding up every order in which samples can be drawn."""
    chances = [0.0] * len(weights)
    for order in permutations(range(len(weights)), num_samples):
        chance, left = 1.0, sum(weights)
        for index in order:
            chance, left = chance * weights[index] / left, left - weights[index]
        for index in order:
            chances[index] += chance
    return chances


def simulated(weights: torch.Tensor, num_samples: int, replacement: bool) -> torch.Tensor:
    """How often each sample is drawn in each of 4000 epochs of torch's own sampler."""
    generator = torch.Generator().manual_seed(10)
    sampler = WeightedRandomSampler(weights.tolist(), num_samples, replacement, generator)
    counts = [torch.tensor(list(sampler)).bincount(minlength=len(weights)) for _ in range(4000)]
    return torch.stack(counts).double()


def test_draws_with_replacement_are_the_share_of_the_weight() -> None:
    assert expected_draws([100, 300], 8).tolist() == [2.0, 6.0]
    assert expected_draws([1, 3], 8).tolist() == [2.0, 6.0]


def test_a_sample_of_half_the_weight_is_missed_twice_in_a_quarter_of_the_epochs() -> None:
    assert seen_chances([1, 1], 2).tolist() == [0.75, 0.75]
    assert seen_chances([1, 1], 2).sum() == 1.5


def test_a_sample_of_all_the_weight_is_always_seen() -> None:
    assert seen_chances([0, 7], 3).tolist() == [0.0, 1.0]


def test_a_tiny_share_keeps_its_digits() -> None:
    assert seen_chances([1, 1e15], 5)[0].item() == pytest.approx(5e-15, rel=1e-12)


@pytest.mark.parametrize("num_samples", [1, 2, 3, 4, 5])
def test_without_replacement_agrees_with_counting_every_order(num_samples: int) -> None:
    weights = [1.0, 1.0, 2.0, 5.0, 5.0]
    model = seen_chances(weights, num_samples, replacement=False)
    assert model.tolist() == pytest.approx(counted(weights, num_samples), abs=1e-12)


def test_without_replacement_a_full_epoch_holds_every_sample_once() -> None:
    chances = seen_chances(IMBALANCED, 51, replacement=False)
    assert torch.allclose(chances, torch.ones(51, dtype=torch.float64))


def test_without_replacement_samples_of_weight_zero_are_not_counted() -> None:
    chances = seen_chances([0, 1, 1, 3, 0], 2, replacement=False)
    assert chances.tolist() == pytest.approx([0, *counted([1.0, 1.0, 3.0], 2), 0])


@pytest.mark.parametrize("num_samples", [1, 20, 51])
def test_draws_of_torch_with_replacement(num_samples: int) -> None:
    counts = simulated(IMBALANCED, num_samples, replacement=True)
    model = expected_draws(IMBALANCED, num_samples)
    error = 6 * counts.std(0).clamp(min=0.02) / sqrt(len(counts))
    assert ((counts.mean(0) - model).abs() < error).all()


@pytest.mark.parametrize("num_samples", [20, 51, 200])
def test_distinct_samples_of_torch_with_replacement(num_samples: int) -> None:
    distinct = (simulated(IMBALANCED, num_samples, replacement=True) > 0).double().sum(1)
    error = 6 * distinct.std().item() / sqrt(len(distinct))
    assert abs(distinct.mean().item() - seen_chances(IMBALANCED, num_samples).sum().item()) < error


def test_draws_of_torch_without_replacement_by_class() -> None:
    weights = torch.tensor([1.0] * 40 + [4.0] * 10 + [9.0] * 3, dtype=torch.float64)
    counts = simulated(weights, 15, replacement=False)
    model = expected_draws(weights, 15, replacement=False)
    for part in (slice(0, 40), slice(40, 50), slice(50, 53)):
        of_class = counts[:, part].sum(1)
        error = 6 * of_class.std().item() / sqrt(len(counts))
        assert abs(of_class.mean().item() - model[part].sum().item()) < error


def test_a_plan_says_what_each_class_gets() -> None:
    plan = epoch_plan(IMBALANCED, ["dog"] * 50 + ["cat"])
    cat, dog = plan.classes
    assert (cat.label, cat.size, cat.draws) == ("cat", 1, pytest.approx(25.5))
    assert (dog.label, dog.size, dog.draws) == ("dog", 50, pytest.approx(25.5))
    assert dog.unseen == pytest.approx(50 * 0.99**51)
    assert (cat.repeats, plan.size) == (pytest.approx(25.5), 51)


def test_a_plan_without_replacement_holds_as_many_distinct_samples_as_draws() -> None:
    plan = epoch_plan(IMBALANCED, [0] * 50 + [1], 30, replacement=False)
    assert plan.distinct == pytest.approx(30)
    assert [one.draws for one in plan.classes] == [one.distinct for one in plan.classes]


def test_labels_may_be_a_tensor() -> None:
    assert [one.label for one in epoch_plan([1, 1, 1], torch.tensor([4, 2, 4])).classes] == [2, 4]


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [1.0, -1.0], [[1.0]], [float("nan"), 1.0]])
def test_weights_that_no_sampler_can_draw_from_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="one number for each sample"):
        expected_draws(weights, 1)


def test_an_epoch_of_no_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="draw at least one sample"):
        seen_chances([1.0], 0)


def test_more_draws_than_positive_weights_are_refused_without_replacement() -> None:
    with pytest.raises(ValueError, match="only 2 weights are above 0"):
        seen_chances([1.0, 1.0, 0.0], 3, replacement=False)


def test_too_many_different_weights_are_refused_without_replacement() -> None:
    with pytest.raises(ValueError, match="Give the samples of a class one weight"):
        expected_draws(torch.arange(1.0, 101.0), 50, replacement=False)


def test_each_sample_needs_a_label() -> None:
    with pytest.raises(ValueError, match="2 weights, 3 labels"):
        epoch_plan([1, 1], [0, 0, 1])
