"""Lesson 01: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import ast

import numpy as np
import pytest
import torch

from tests.lessons.source import Source

SOURCE = Source("01-tensors")
text = SOURCE.text


def printed(capsys: pytest.CaptureFixture[str], *ids: str) -> str:
    """What the last of these cells prints or shows, run behind the set-up and the others."""
    names = SOURCE.solved(*ids[:-1])
    capsys.readouterr()
    tree = ast.parse(text(ids[-1]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, ids[-1], "exec"), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), ids[-1], "eval"), names)
        if value is not None:
            print(value)
    return capsys.readouterr().out


# ---------------------------------------------------------------- the scene


def test_the_scene_averages_200_and_100_to_22(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, torch.Tensor] = {}
    exec(text("scene"), names)
    assert capsys.readouterr().out.splitlines() == ["torch.uint8 (6, 6)", "200 100 22"]
    wrong = names["average"] != (names["first"].int() + names["second"].int()) // 2
    assert int(wrong.sum()) == 4
    assert "Of the 36 pixels, 32 are right" in text("scene-symptom")


def test_the_scene_is_mended_by_the_average_of_the_exercise() -> None:
    names = SOURCE.solved("scene", "blend")
    mended = names["blend"](names["first"], names["second"])
    assert (mended.dtype, mended[5, 5].item()) == (torch.uint8, 150)
    assert torch.equal(mended, ((names["first"].int() + names["second"].int()) // 2).byte())


def test_the_end_runs_before_anything_is_mended(capsys: pytest.CaptureFixture[str]) -> None:
    assert "200 100 22" in printed(capsys, "scene", "repaired")


# ---------------------------------------------------------------- form


def test_five_exercises_stand_before_the_first_deep_dive() -> None:
    sections = [SOURCE.lesson.sections[one.section] for one in SOURCE.exercises]
    assert [name.startswith("Deep dive") for name in sections] == [False] * 5 + [True] * 4


def test_the_plan_counts_exercises_and_deep_dives() -> None:
    dives = [one for one in SOURCE.lesson.sections.values() if one.startswith("Deep dive")]
    assert len(dives) == 5 and "five folded **deep dives**" in text("plan")
    assert len(SOURCE.exercises) == 9 and "five of the nine exercises" in text("plan")


# ---------------------------------------------------------------- what the texts say


def test_two_of_the_five_factories_are_not_float32(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "factories-measured").splitlines()
    assert "the two that aren't `float32`" in text("factories")
    assert [line.split("(")[0] for line in lines if "float32" not in line] == ["full", "arange"]


def test_200_plus_100_is_44_and_half_of_that_22(capsys: pytest.CaptureFixture[str]) -> None:
    assert "300 − 256 = **44**" in text("wrap-rule") and 300 - 256 == 44
    assert "44" in printed(capsys, "wrap-measured")
    sums = np.array([200], "uint8") + np.array([100], "uint8")
    assert sums.tolist() == [44]


def test_promotion_is_as_the_rules_say() -> None:
    pairs = {
        (torch.int64, torch.float16): torch.float16,
        (torch.uint8, torch.int8): torch.int16,
        (torch.float16, torch.bfloat16): torch.float32,
        (torch.float64, torch.complex64): torch.complex128,
    }
    assert {pair: torch.promote_types(*pair) for pair in pairs} == pairs
    zero_d = torch.tensor(0.5, dtype=torch.float64)
    assert (torch.ones(3, dtype=torch.int32) + zero_d).dtype == torch.float64
    assert (torch.ones(3, dtype=torch.float16) + zero_d).dtype == torch.float16
    assert (torch.ones(3, dtype=torch.bool) + 1).dtype == torch.int64


def test_a_division_comes_too_late_for_the_pixels(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "ranks-measured", "special-measured").splitlines()
    assert lines[1] == "tensor(300) tensor([ 72., 100.])"
    assert "has 72 where you'd expect 200" in text("scene-promotion")


def test_in_place_takes_what_is_not_of_a_higher_kind() -> None:
    x = torch.tensor([250], dtype=torch.uint8)
    assert x.add_(torch.tensor([10])).tolist() == [4]
    with pytest.raises(RuntimeError, match="can't be cast"):
        x.add_(0.5)


def test_conversions_lose_what_the_text_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "conversions-measured").splitlines() == [
        "tensor([ 1, -1])",
        "tensor([ 44, 255], dtype=torch.uint8)",
        "16777216.0 16777217",
        "tensor([   inf, 0.1000], dtype=torch.float16)",
        "tensor([ True, False,  True])",
    ]
    assert torch.tensor([100_000]).to(torch.float16).isinf().all()


def test_numpy_keeps_more_digits_of_a_third(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "default-dtype-measured").splitlines() == [
        "torch.float32 torch.float32 float64",
        "0.3333333432674408 0.3333333333333333",
    ]


def test_what_does_not_fit_is_clamped_and_halves_go_to_even(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert printed(capsys, "safe-conversion-measured").splitlines() == [
        "tensor([  0., 255.,  nan, 255.])",
        "tensor([  0, 255,   0, 255], dtype=torch.uint8)",
        "tensor([ 2, -2,  0,  2,  2])",
    ]


def test_four_bridges_share_and_two_copy(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "shared-measured", "bridges-measured").splitlines()[-6:]
    assert [line.endswith("True") for line in lines] == [True] * 4 + [False] * 2
    floats = np.ones(3, "float32")
    legacy = torch.FloatTensor(floats)  # type: ignore[arg-type]
    assert legacy.data_ptr() == floats.ctypes.data


def test_the_array_writes_into_the_weights(capsys: pytest.CaptureFixture[str]) -> None:
    assert "tensor([7., 0.], requires_grad=True)" in printed(capsys, "back-measured")


def test_an_array_that_cannot_be_shared_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "shared-measured", "refusals-measured")
    assert "is negative" in shown and "byte order" in shown


def test_to_returns_what_is_there_already(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "to-measured").splitlines()
    assert lines[0].startswith("cpu ") and lines[0].endswith(" True")
    assert "same device" in lines[1]


def test_a_number_on_the_cpu_joins_elementwise_operations_elsewhere() -> None:
    names = SOURCE.solved()
    there = torch.ones(2, device=names["device"])
    assert (there + torch.tensor(1.0)).device == there.device


def test_can_cast_minds_the_kind_and_not_the_bits(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "can-cast-measured").splitlines() == ["True False", "tensor([ 0, -1])"]
    assert torch.can_cast(torch.int64, torch.uint8) and not torch.can_cast(torch.int8, torch.bool)


def test_one_quotient_lies_below_three_and_one_above(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "arange-measured").splitlines()
    below, above = map(float, lines[-1].split())
    assert below < 3 < above
    assert "a hair below 3, the other a hair above it" in text("arange-rule")
    assert (torch.arange(10, 13) / 10).shape == (3,)


def test_like_takes_over_the_order_in_memory(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "like-kinds-measured").splitlines()
    assert lines[-1] == "(1, 3) (2, 1)"
    assert "normal_kernel" in lines[0]


def test_the_modern_batch_is_what_the_old_function_makes() -> None:
    task = text("modern-batch-task")
    legacy: dict[str, object] = {"torch": torch}
    exec(task.split("```python\n")[1].split("```")[0], legacy)
    rows, labels = [[1, 2], [51, 255]], [3, 0]
    old = legacy["make_batch"](rows, labels)  # type: ignore[operator]
    new = SOURCE.solved("modern-batch")["modern_batch"](rows, labels, "cpu")
    assert list(old) == list(new)
    assert all(torch.equal(old[key].cpu(), new[key]) for key in old)
    assert all(old[key].dtype == new[key].dtype for key in old)


def test_what_stands_for_legacy_lines_makes_the_same() -> None:
    x = torch.tensor([2.9])
    assert torch.equal(x.type_as(torch.IntTensor()), x.to(torch.IntTensor()))
    assert torch.FloatTensor(2, 3).shape == torch.empty(2, 3, dtype=torch.float32).shape
    assert torch.equal(torch.Tensor([2, 3]), torch.tensor([2, 3], dtype=torch.get_default_dtype()))
