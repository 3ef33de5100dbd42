"""Lesson 04: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re

import numpy as np
import pytest
import torch

from course import same_storage
from course.claims import claims
from tests.lessons.source import Source

SOURCE = Source("04-memory-layout")


def rows_of_the_merge_table() -> list[tuple[tuple[int, ...], tuple[int, ...], bool]]:
    """Size, stride and whether `view(-1)` works, as the table says."""
    rows = re.findall(
        r"\| \((.*?)\) \| \((.*?)\) \| .*? \| (\w+) \|", SOURCE.cells()["merge-table"]["source"]
    )
    return [
        (tuple(json.loads(f"[{size}]")), tuple(json.loads(f"[{stride}]")), word == "works")
        for size, stride, word in rows
    ]


def test_the_table_of_the_merge_rule_is_true() -> None:
    rows = rows_of_the_merge_table()
    assert len(rows) == 6
    for size, stride, works in rows:
        x = torch.empty_strided(size, stride)
        assert same_storage(x, x.reshape(-1)) is works


# --- the form -------------------------------------------------------------------------------------


def test_the_scene_is_short_plain_pytorch_that_prints_what_the_text_says() -> None:
    cells = SOURCE.cells()
    words = cells["title"]["source"] + cells["scene-symptom"]["source"]
    assert len(words.split()) <= 150
    assert cells["scene"]["source"].count("\n") < 10
    assert "course" not in cells["scene"]["source"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(cells["scene"]["source"], {})
    assert printed.getvalue() == "True True\n[0.34, 0.33, 0.33]\n[1.0, 0.0, 0.0]\n"


def test_the_text_asks_for_at_most_ten_predictions_and_the_quiz_for_the_rest() -> None:
    asked = [cell["source"].count("predict(") for cell in SOURCE.with_role("predict")]
    assert sum(asked) <= 10
    assert sorted(SOURCE.noted("claims")) == sorted(claim.id for claim in claims(SOURCE.slug))


def test_the_core_takes_at_most_90_minutes_and_the_plan_says_what_the_units_say() -> None:
    cells = SOURCE.cells()
    planned = [int(n) for n in re.findall(r"\| (\d+) \|", cells["plan"]["source"])]
    texts = [cell["source"] for cell in cells.values() if cell["cell_type"] == "markdown"]
    units = [re.match(r"## .+\n\n\*(\d+) minutes\*", text) for text in texts]
    assert planned == [int(unit[1]) for unit in units if unit]
    assert 60 <= sum(planned) <= 90


def test_each_deep_dive_is_folded_and_says_how_long_it_takes() -> None:
    dives = [c for c in SOURCE.cells().values() if c["source"].startswith("## Deep dive: ")]
    assert len(dives) == 6
    for cell in dives:
        assert cell["metadata"]["jp-MarkdownHeadingCollapsed"] is True
        assert re.search(r"^\*\d+ minutes · ", cell["source"], flags=re.M)


# --- the facts ------------------------------------------------------------------------------------


def scene() -> dict[str, torch.Tensor]:
    """The photo of the scene, as it was stored and as the two lines give it."""
    photo = torch.zeros(8, 8, 3)
    photo[..., 0] = 1
    return {"photo": photo, "wrong": photo.reshape(3, 8, 8), "right": photo.permute(2, 0, 1)}


def test_the_red_that_the_wrong_photo_looks_for_is_the_green_of_pixel_0() -> None:
    strides = {name: image.stride() for name, image in scene().items()}
    assert strides == {"photo": (24, 3, 1), "wrong": (64, 8, 1), "right": (1, 24, 3)}
    wrong, photo = scene()["wrong"], scene()["photo"]
    assert wrong[0, 0, 1].storage_offset() == photo[0, 0, 1].storage_offset() == 1
    assert scene()["right"].contiguous().untyped_storage().nbytes() == 768
    assert 224 * 224 * 3 * 4 == 602_112


def test_a_write_into_a_reshape_that_copied_is_lost() -> None:
    names: dict[str, torch.Tensor] = {"torch": torch}  # type: ignore[dict-item]
    exec(SOURCE.cells()["lost-write"]["source"], names)
    assert names["weights"].tolist() == [[1, 0], [0, 0], [0, 0]]


def test_two_tensors_from_one_array_have_two_storages_over_the_same_bytes() -> None:
    array = np.zeros(3)
    one, other = torch.from_numpy(array), torch.from_numpy(array)
    one[0] = 5
    assert (other[0].item(), same_storage(one, other)) == (5, False)


def test_new_sizes_have_to_fill_the_runs() -> None:
    gappy = torch.zeros(3, 4, 5)[..., :2]
    assert (gappy.shape, gappy.stride()) == ((3, 4, 2), (20, 5, 1))
    shares = {new: same_storage(gappy, gappy.reshape(new)) for new in ((12, 2), (2, 6, 2), (8, 3))}
    assert shares == {(12, 2): True, (2, 6, 2): True, (8, 3): False}


def test_a_clone_closes_gaps_and_keeps_the_stride_order() -> None:
    gaps = torch.zeros(4, 6)[:, ::2].t()
    assert gaps.stride() == (2, 6)
    assert gaps.clone().stride() == (gaps + 1).stride() == (1, 3)


def test_channels_last_has_the_strides_that_the_text_names() -> None:
    images = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert "(60, 1, 15, 3)" in SOURCE.cells()["channels-last"]["source"]
    assert images.stride() == images.relu().stride() == (images + 1).stride() == (60, 1, 15, 3)


def test_torch_refuses_some_writes_to_overlapping_elements_but_not_all() -> None:
    with pytest.raises(RuntimeError, match="more than one element"):
        torch.zeros(1).expand(3).add_(1)
    torch.arange(6).unfold(0, 3, 1).add_(1)


def test_the_wrong_view_of_the_image_exercise_is_harmless_where_the_solution_says() -> None:
    harmless = SOURCE.solved("hwc-to-chw")["view_is_harmless"]
    for h, w, c in itertools.product(range(1, 6), repeat=3):
        image = torch.arange(h * w * c).view(h, w, c)
        same = torch.equal(image.view(c, h, w), image.permute(2, 0, 1))
        assert harmless(h, w, c) is same


def test_three_of_the_twelve_folk_rules_hold() -> None:
    rules = re.findall(r'^\| `"(.+?)"` \|', SOURCE.cells()["folk-rules-task"]["source"], flags=re.M)
    judge = SOURCE.solved("folk-rules")["judge"]
    assert len(rules) == 12
    assert [rule for rule in rules if judge(rule) is None] == [
        "view shares",
        "same values",
        "flatten",
    ]


def test_the_product_with_a_transposed_weight_copies_nothing() -> None:
    weight, x = torch.zeros(2, 3), torch.zeros(5, 3)
    operators = SOURCE.solved("linear")["observe"](lambda: x @ weight.t()).operators
    assert operators == ("aten::t", "aten::mm")


# --- the question in words ------------------------------------------------------------------------


def heads_in_rows(texts: int, heads: int, tokens: int) -> tuple[bool, torch.Tensor]:
    """Whether the lines of the question copy, and the rows that they give."""
    x = torch.arange(texts * tokens * heads * 4).view(texts, tokens, heads * 4)
    rows = x.view(texts, tokens, heads, 4).transpose(1, 2).reshape(texts * heads, tokens, 4)
    return not same_storage(x, rows), rows


def test_the_model_answer_has_the_numbers_that_torch_has() -> None:
    model = SOURCE.cells()["why-this-copies"]["source"]
    copied, rows = heads_in_rows(2, 3, 5)
    assert copied
    assert rows[:, 0, 0].tolist() == [0, 4, 8, 60, 64, 68]
    assert "0, 4, 8, 60, 64 and 68" in model
    heads = torch.arange(120).view(2, 5, 3, 4).transpose(1, 2)
    assert (heads.size(), heads.stride()) == ((2, 3, 5, 4), (60, 4, 12, 1))
    for one in ((1, 3, 5), (2, 1, 5), (2, 3, 1)):
        assert heads_in_rows(*one)[0] is False, one
