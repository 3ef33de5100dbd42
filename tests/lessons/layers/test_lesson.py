"""Lesson 08: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.lessons.source import Source

SOURCE = Source("08-layers")
text = SOURCE.text


def after_the_scene() -> dict[str, Any]:
    """What scene, set-up, the figure of the scene and two exercises define, in this order."""
    names: dict[str, Any] = {}
    exec(text("scene"), names)
    exec(text("scene-figure"), names | SOURCE.solved())
    return names


def remembered(norm: nn.BatchNorm1d) -> tuple[float, float]:
    """The running mean and variance of a batch norm with one channel."""
    return float(norm.get_buffer("running_mean")), float(norm.get_buffer("running_var"))


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_is_right_together_and_a_coin_alone(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(text("scene"), names)
    assert capsys.readouterr().out == "[64, 36] of 64 are right\n"
    assert "course" not in text("scene")
    alone = names["answers"][1].softmax(1)
    assert alone.argmax(1).unique().tolist() == [1]
    assert alone[:, 1].min() > 0.95


def test_behind_batch_norm_the_darkest_and_the_brightest_photo_have_the_same_means() -> None:
    names: dict[str, Any] = {}
    exec(text("scene"), names)
    with torch.no_grad():
        photos = [
            names["photos"][i][None] for i in (names["light"].argmin(), names["light"].argmax())
        ]
        means = [names["model"][1](names["model"][0](one)).mean((0, 2, 3)) for one in photos]
        assert (
            means[0] - means[1]
        ).abs().max() < 5e-6  # the four that are shown, on every processor
        assert torch.allclose(means[0], names["model"][1].bias, atol=1e-5)
    assert "in all four digits" in text("promise")


def test_an_eval_that_comes_late_finds_running_variances_20_to_60_times_too_small() -> None:
    names = after_the_scene()
    model, photos = names["model"].eval(), names["photos"]
    with torch.no_grad():
        right = (model(photos).argmax(1) == names["day"]).sum().item()
        shrunk = model[0](photos).var((0, 2, 3)) / model[1].running_var
    assert 36 < right < 64
    assert 15 < shrunk.min() < shrunk.max() < 65


@pytest.mark.parametrize(
    ("stats", "ask", "right"),
    [
        ("plain_stats", "plain_call", 36),
        ("running_stats", "plain_call", 36),
        ("running_stats", "evaluate", 64),
    ],
)
def test_the_demo_is_repaired_by_two_answers_together(
    stats: str, ask: str, right: int, capsys: pytest.CaptureFixture[str]
) -> None:
    names = SOURCE.solved("evaluate", "running-stats") | after_the_scene()
    lines = {"stats = plain_stats": f"stats = {stats}", "ask = plain_call": f"ask = {ask}"}
    cell = text("repaired")
    for line, yours in lines.items():
        assert cell.count(line) == 1
        cell = cell.replace(line, yours)
    capsys.readouterr()
    exec(cell, names)
    exec(cell, names)  # asked again, the same comes out
    assert capsys.readouterr().out == f"{right} of 64 are right\n" * 2


# --- the numbers in the texts ---------------------------------------------------------------------


def test_ten_lone_photos_outweigh_all_batches_before_them() -> None:
    norm = nn.BatchNorm1d(1)
    for batch in torch.ones(100, 4, 1) * 5:
        norm(batch)
    before = remembered(norm)[0]
    for photo in torch.zeros(10, 4, 1):
        norm(photo)
    assert remembered(norm)[0] < before / 2


def test_the_variances_in_the_diary_are_those_that_the_text_names() -> None:
    pair, norm = torch.tensor([[10.0], [20.0]]), nn.BatchNorm1d(1, momentum=1.0)
    norm(pair)
    assert (pair.var(correction=0).item(), remembered(norm)[1]) == (25, 50)
    assert "√25" in text("variance-rule")


def test_a_momentum_of_a_tenth_forgets_its_start_in_thirty_batches() -> None:
    assert 0.03 < 0.9**30 < 0.05
    assert "thirty batches" in text("momentum-none")


def test_half_of_twelve_pixels_have_no_say_when_they_become_three() -> None:
    line = torch.zeros(1, 1, 12, requires_grad=True)
    F.interpolate(line, size=3, mode="linear").sum().backward()
    assert line.grad is not None
    assert int((line.grad != 0).sum()) == 6


def test_the_stacks_in_the_tasks_table_have_the_results_that_stand_there() -> None:
    stack_size = SOURCE.solved("stack-size")["stack_size"]
    rows = re.findall(r"`stack_size\((.*)\)` \| `(\(.*\))`", text("stack-size-task"))
    assert len(rows) == 4
    for asked, told in rows:
        assert stack_size(*eval(f"({asked})")) == eval(told)


# --- the exercises against torch ------------------------------------------------------------------


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_size_and_field_are_those_of_two_convolutions(
    stride: int, padding: int, dilation: int
) -> None:
    stack_size = SOURCE.solved("stack-size")["stack_size"]
    layers = [(3, stride, padding, dilation), (2, 2, 0, 1)]
    convs = [nn.Conv1d(1, 1, k, s, p, d, bias=False) for k, s, p, d in layers]
    for conv in convs:
        nn.init.ones_(conv.weight)
    line = torch.zeros(1, 1, 40, requires_grad=True)
    out = nn.Sequential(*convs)(line)
    size, field, step = stack_size(40, layers)
    middle = size // 2
    first, second = (
        torch.autograd.grad(out[0, 0, i], line, retain_graph=True)[0].flatten().nonzero()
        for i in (middle, middle + 1)
    )
    assert out.shape[-1] == size
    assert int(first.max() - first.min()) + 1 == field
    assert int(second.min() - first.min()) == step


def test_bilinear_is_linear_along_both_dimensions() -> None:
    resize = SOURCE.solved("resize")["resize"]
    image = torch.randn(2, 3, 5, 7, generator=torch.Generator().manual_seed(0))
    for corners in (True, False):
        rows = torch.stack([resize(image[:, :, i], 4, corners) for i in range(5)], 2)
        both = torch.stack([resize(rows[..., j], 9, corners) for j in range(4)], 3)
        by_torch = F.interpolate(image, size=(9, 4), mode="bilinear", align_corners=corners)
        assert torch.allclose(both, by_torch, atol=1e-5)


def test_a_running_relu_has_gradients_that_gradcheck_accepts() -> None:
    relu = SOURCE.solved("relu")["relu"]
    x = torch.tensor([-2.0, -0.5, 0.5, 3.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(relu, x)
    assert torch.autograd.gradgradcheck(relu, x)
