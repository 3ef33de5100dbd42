"""Lesson 03: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.lessons.source import Source

SOURCE = Source("03-math")
text = SOURCE.text


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_prints_nan_and_a_count_that_stopped(capsys: pytest.CaptureFixture[str]) -> None:
    assert text("scene").count("\n") < 11
    exec(text("scene"), {})
    assert capsys.readouterr().out == "tensor([nan, nan, nan])\n16777216.0\n"


def test_the_scene_is_repaired_by_the_answers_to_exercises_1_and_3(
    capsys: pytest.CaptureFixture[str],
) -> None:
    repaired = text("repaired")
    mended = {"scores.exp().sum().log()": "log_sum_exp(scores, 0)", "plain_sum": "two_sum"}
    for line, yours in mended.items():
        assert repaired.count(f"= {line}  # your line: {yours}\n") == 1
        repaired = repaired.replace(f"= {line}", f"= {yours}")
    names = SOURCE.solved("scene", "log-sum-exp", "two-sum")
    capsys.readouterr()
    exec(repaired, names)
    chances, count = capsys.readouterr().out.splitlines()
    assert (chances, count) == ("tensor([0.6652, 0.2447, 0.0900])", "16778000.0")
    assert all(said in text("scene-symptom") for said in ("0.67, 0.24 and 0.09", "16,778,000"))


def test_the_repair_without_the_answers_shows_the_scene_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = SOURCE.solved("scene")
    capsys.readouterr()
    exec(text("repaired"), names)
    assert capsys.readouterr().out.endswith("16777216.0\n")


# --- the form -------------------------------------------------------------------------------------


# What a learner types who knows it.
WARM_UPS = {
    "softmax-of-equals": 0.5,
    "softmax-ones": 0.2,
    "logsumexp-shape": (5,),
    "loss-of-zeros": 10,
    "labels-as-a-column": (64, 1),
    "gathered-element": 4.0,
    "gap-at-two-to-the-25": 3,
    "bfloat16-counts": 256.0,
    "order-of-a-sum": 0.0,
    "vector-on-the-left": (7, 2),
    "batches-broadcast": (6, 4, 2, 5),
    "dot-of-two": 7,
    "einsum-outer": (5, 2),
    "einsum-trace": 5,
    "einsum-from-a-sentence": "bc",
}


def test_every_warm_up_takes_its_answer_and_refuses_another() -> None:
    names = SOURCE.solved("scene", "one-hot-measured", "gather-measured")
    assert [cell["id"] for cell in SOURCE.with_role("warm-up")] == [
        f"warm-up-{name}" for name in WARM_UPS
    ]
    states = SOURCE.warm_up_states(WARM_UPS, names)
    assert states == dict.fromkeys(WARM_UPS, ("right", "wrong"))


# --- what the texts say ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "last", "first_inf"),
    [(torch.float32, 88.72, 88.73), (torch.bfloat16, 88.5, 89.0), (torch.float16, 11.08, 11.1)],
)
def test_exp_ends_where_the_lesson_says(dtype: torch.dtype, last: float, first_inf: float) -> None:
    assert torch.tensor(last, dtype=dtype).exp().isfinite()
    assert torch.tensor(first_inf, dtype=dtype).exp() == math.inf


def test_exp_is_0_from_minus_104_on() -> None:
    assert torch.tensor([-103.0, -104.0, -1000.0]).exp().ne(0).tolist() == [True, False, False]


def test_the_losses_of_the_scene_are_what_the_text_says() -> None:
    scores = torch.tensor([[1000.0, 999.0, 998.0]])
    assert scores.logsumexp(1).item() == pytest.approx(1000.41, abs=0.005)
    for label, logit in ((0, 1000), (2, 998)):
        loss = F.cross_entropy(scores, torch.tensor([label])).item()
        assert loss == pytest.approx(1000.41 - logit, abs=0.005)


def test_a_one_hot_of_64_words_takes_twice_the_bytes_of_the_logits() -> None:
    rows = F.one_hot(torch.arange(64), 50_000)
    assert (rows.numel(), rows.nbytes, rows.dtype) == (3_200_000, 25_600_000, torch.int64)
    assert rows.nbytes == 2 * torch.zeros(64, 50_000).nbytes


@pytest.mark.parametrize("label", [-1, 3])
def test_cross_entropy_refuses_a_label_that_is_no_class(label: int) -> None:
    with pytest.raises(IndexError, match="out of bounds"):
        F.cross_entropy(torch.zeros(1, 3), torch.tensor([label]))


def test_neighbours_of_a_float32_are_as_far_apart_as_the_lesson_says() -> None:
    for at, gap in ((1.0, 2.0**-23), (2.0**23, 1.0), (2.0**24, 2.0)):
        x = torch.tensor(at)
        assert (torch.nextafter(x, torch.tensor(math.inf)) - x).item() == gap


@pytest.mark.parametrize(
    ("dtype", "count", "stands"), [(np.float32, 1_000_000, 100_958), (np.float16, 5000, 256)]
)
def test_tenths_added_one_by_one_end_where_the_text_says(
    dtype: type, count: int, stands: int
) -> None:
    total = np.cumsum(np.full(count, 0.1, dtype=dtype))[-1]
    assert round(float(total)) == stands


def test_torch_sum_of_a_million_tenths_is_hardly_off() -> None:
    assert torch.full((1_000_000,), 0.1).sum().item() == pytest.approx(100_000, rel=1e-6)


def test_no_stored_weight_is_off_by_more_than_half_a_step_inside_the_range() -> None:
    weights = torch.randn(5000, dtype=torch.float64)
    scale = weights.abs().max() / 127
    stored = (weights / scale).round().to(torch.int8)
    off = ((stored * scale - weights).abs() / scale).max().item()
    assert 0.49 < off <= 0.5 + 1e-12
    assert stored.nbytes * 4 == weights.float().nbytes


def test_noise_ten_times_as_strong_leaves_a_correlation_of_a_tenth() -> None:
    torch.manual_seed(3)
    found: list[float] = []
    measured = text("noise-measured").replace("print(", "found.append(")
    exec(measured, {"torch": torch, "found": found})
    assert found[0] == pytest.approx(0.1, abs=0.04)
    assert found[1] == pytest.approx(0.95, abs=0.02)


def test_the_short_formula_for_a_variance_is_mostly_rounding_error() -> None:
    far = 1e9 + torch.arange(10, dtype=torch.float64)
    assert ((far - far.mean()) ** 2).mean() == 8.25
    assert abs(((far * far).mean() - far.mean() ** 2).item() - 8.25) > 1


def test_eigenvectors_are_scaled_and_those_of_eigh_orthonormal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = SOURCE.solved("eigen-measured")
    capsys.readouterr()
    exec(text("eigenvectors-measured"), names)
    lines = ["torch.complex64 True", "torch.float32 True", "True"]
    assert capsys.readouterr().out.splitlines() == lines


def test_eigh_reads_the_lower_triangle_alone() -> None:
    lopsided = torch.tensor([[2.0, 100.0], [1.0, 2.0]])
    mirrored = lopsided.tril() + lopsided.tril(-1).T
    assert torch.equal(
        torch.linalg.eigh(lopsided).eigenvalues, torch.linalg.eigh(mirrored).eigenvalues
    )
    assert sorted(torch.linalg.eig(lopsided).eigenvalues.real.tolist()) == pytest.approx([-8, 12])


# --- the solutions against PyTorch ----------------------------------------------------------------


def test_what_two_sum_returns_adds_up_to_the_exact_sum() -> None:
    two_sum = SOURCE.solved("two-sum")["two_sum"]
    numbers = torch.randn(500) * 10.0 ** torch.randint(-8, 9, (500,))
    others = numbers.flip(0) * 3.7
    total, lost = two_sum(numbers, others)
    assert torch.equal(total, numbers + others)
    assert torch.equal(total.double() + lost.double(), numbers.double() + others.double())


def test_attention_is_that_of_torch_in_values_and_gradients() -> None:
    attention = SOURCE.solved("attention-measured", "attention")["attention"]
    torch.manual_seed(0)
    shapes = ((2, 3, 4, 8), (2, 3, 5, 8), (2, 3, 5, 6))
    leaves = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    mask = torch.rand(4, 5) < 0.6
    mask[:, 0] = True
    expected = F.scaled_dot_product_attention(*leaves, attn_mask=mask)
    found: Tensor = attention(*leaves, mask)
    torch.testing.assert_close(found, expected)
    ours = torch.autograd.grad(found.square().sum(), leaves)
    torch.testing.assert_close(ours, torch.autograd.grad(expected.square().sum(), leaves))
