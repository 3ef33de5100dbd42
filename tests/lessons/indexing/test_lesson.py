"""Lesson 02: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

from course import same_storage
from tests.lessons.source import Source

SOURCE = Source("02-indexing")
text = SOURCE.text


# --- the scene and its repair ---------------------------------------------------------------------


def test_the_scene_learns_the_mean_price(capsys: pytest.CaptureFixture[str]) -> None:
    assert text("scene").count("\n") < 11
    assert "course" not in text("scene")
    exec(text("scene"), {})
    assert capsys.readouterr().out == "loss 28.12 -> 3.12, predicted 5.00 to 5.00\n"
    assert "3.12" in text("scene-symptom")


def test_what_remains_of_the_loss_is_the_variance_of_the_prices() -> None:
    names: dict[str, Any] = {}
    exec(text("scene"), names)
    price = names["price"]
    assert price.mean().item() == pytest.approx(5)
    assert price.var(correction=0).item() == pytest.approx(names["losses"][-1].item())
    assert (names["pred"] - price).numel() == 2500


@pytest.mark.parametrize(
    ("repair", "printed"),
    [
        ("pred", "loss 3.12, slope 0.00, base price 5.00\n"),
        ("drop_ones(pred)", "loss 0.00, slope 3.00, base price 5.00\n"),
    ],
)
def test_the_loss_is_repaired_by_the_answer_to_exercise_3(
    repair: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = SOURCE.solved("scene", "drop-ones")
    capsys.readouterr()
    line = "(pred - price).square()"
    assert text("repaired").count(line) == 1
    exec(text("repaired").replace(line, f"({repair} - price).square()"), names)
    assert capsys.readouterr().out == printed


# --- the form -------------------------------------------------------------------------------------


# What a learner types who knows it.
WARM_UPS = {
    "row-plus-column": (5, 4),
    "three-dimensions": (2, 4, 3),
    "size-zero": (0,),
    "equal-lengths": (7, 7),
    "shape-of-a-column": (3,),
    "shape-of-a-kept-column": (3, 1),
    "shape-with-none": (1, 3, 3),
    "last-row-shares": True,
    "squeeze-all": (3,),
    "squeeze-nothing": (1, 3, 1),
    "unsqueeze-last": (2, 1, 3),
    "max-keepdim": (4, 1, 6),
    "cat-shape": (7, 2),
    "stack-last": (4, 2, 3),
    "chunk-of-nine": 5,
    "split-of-ten": 2,
    "factors-for-a-batch": (8, 3, 5, 5),
    "minus-one": (3, 8),
    "permuted": (5, 3, 32, 48),
    "transposed": (5, 3, 4, 2),
    "mixed-index": False,
    "tuple-index": True,
    "differences-now": 50,
}


def test_every_warm_up_takes_its_answer_and_refuses_another() -> None:
    names = SOURCE.solved("scene", "index-measured")
    assert [cell["id"] for cell in SOURCE.with_role("warm-up")] == [
        f"warm-up-{name}" for name in WARM_UPS
    ]
    states = SOURCE.warm_up_states(WARM_UPS, names)
    assert states == dict.fromkeys(WARM_UPS, ("right", "wrong"))


# --- what the texts say ---------------------------------------------------------------------------


def test_a_mask_picks_rows_as_an_index_and_columns_where_it_is_broadcast() -> None:
    square, first = torch.zeros(3, 3), torch.tensor([True, False, False])
    chosen = torch.where(first, 1, square)
    assert torch.equal(chosen, square.masked_fill(first, 1))
    assert chosen[:, 0].tolist() == [1, 1, 1]
    square[first] = 1
    assert square[0].tolist() == [1, 1, 1]
    assert square.sum() == chosen.sum() == 3


def test_a_chunk_is_as_long_as_the_length_divided_and_rounded_up() -> None:
    for length, count in itertools.product(range(1, 30), range(1, 12)):
        pieces = [len(piece) for piece in torch.arange(length).chunk(count)]
        width = math.ceil(length / count)
        assert pieces[:-1] == [width] * (len(pieces) - 1)
        assert len(pieces) == math.ceil(length / width) <= count
        even = [len(piece) for piece in torch.arange(length).tensor_split(count)]
        assert (len(even), max(even) - min(even) <= 1) == (count, True)
        assert even == sorted(even, reverse=True)


def test_squeeze_and_unsqueeze_return_views_whatever_the_strides() -> None:
    for x in (torch.zeros(4, 1, 3), torch.zeros(3, 1, 4).permute(2, 1, 0), torch.zeros(8, 1)[::2]):
        made = (x.squeeze(), x.squeeze(1), x.squeeze(0), x.unsqueeze(1), x[:, None])
        assert all(same_storage(x, one) for one in made)


def test_cat_and_stack_copy_even_a_single_tensor() -> None:
    x = torch.zeros(2, 3)
    assert not same_storage(x, torch.cat([x]))
    assert not same_storage(x, torch.stack([x]))


def test_the_reds_are_every_third_number_and_view_mixes_the_colours() -> None:
    photo = torch.arange(24).view(2, 4, 3)
    assert photo.permute(2, 0, 1)[0].flatten().tolist() == [*range(0, 24, 3)]
    assert photo.view(3, 2, 4)[0].flatten().tolist() == [*range(8)]
    for turned in (photo.permute(2, 0, 1), photo.transpose(0, 2), photo.mT):
        assert same_storage(photo, turned)
        assert sorted(turned.stride()) == sorted(photo.stride())


def test_collected_by_stack_the_predictions_have_a_dimension_too_many() -> None:
    houses = [torch.zeros(1) for _ in range(50)]
    assert (torch.stack(houses).shape, torch.cat(houses).shape) == ((50, 1), (50,))


def test_what_is_written_into_an_expanded_tensor_shows_in_all_of_the_row() -> None:
    shown = torch.zeros(3, 1).expand(3, 4)
    shown[0, 0] = 1
    assert shown.tolist() == [[1] * 4, [0] * 4, [0] * 4]
    with pytest.raises(RuntimeError, match="more than one element"):
        shown.add_(1)
    shown.clone().add_(1)


# --- the solutions against PyTorch ----------------------------------------------------------------


SHAPES = [shape for rank in range(4) for shape in itertools.product((0, 1, 2, 3), repeat=rank)]


def test_broadcast_shape_gives_what_torch_gives() -> None:
    solved = SOURCE.solved("broadcast-shape")["broadcast_shape"]
    for one, other in itertools.product(SHAPES, repeat=2):
        try:
            expected = tuple(torch.broadcast_shapes(one, other))
        except RuntimeError:
            with pytest.raises(ValueError, match="fit together"):
                solved(one, other)
        else:
            assert solved(one, other) == expected


def test_expand_strides_are_those_of_torch_but_for_new_dimensions_of_size_1() -> None:
    solved = SOURCE.solved("expand-strides")["expand_strides"]
    for shape, new in itertools.product(SHAPES[:40], [*SHAPES, (-1,), (2, -1), (-1, -1, 3)]):
        x = torch.empty(shape)
        try:
            wide = x.expand(new)
        except RuntimeError:
            with pytest.raises(ValueError, match=r"expand"):
                solved(shape, x.stride(), new)
            continue
        added = wide.dim() - x.dim()
        expected = [
            0 if d < added and wide.shape[d] == 1 else step for d, step in enumerate(wide.stride())
        ]
        assert solved(shape, x.stride(), new) == tuple(expected), (shape, new)


def test_masked_select_copies_and_lays_its_mask_on_from_the_right(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = SOURCE.solved("index-measured", "mask-sides-measured")
    capsys.readouterr()
    exec(text("masked-select-measured"), names)
    same, selected = capsys.readouterr().out.splitlines()
    assert same.startswith("True False [1, 2, 3")
    assert selected == "[1.0, 0.0, 0.0] [[1.0, 1.0, 1.0]]"


def test_a_write_into_a_squeezed_tensor_arrives(capsys: pytest.CaptureFixture[str]) -> None:
    names = SOURCE.solved("unsqueeze-measured")
    capsys.readouterr()
    exec(text("squeeze-shares"), names)
    assert capsys.readouterr().out.endswith("[[7.0, 7.0, 7.0], [0.0, 0.0, 0.0]]\n")


def test_four_names_reorder_without_a_copy(capsys: pytest.CaptureFixture[str]) -> None:
    names = SOURCE.solved("reorder-measured")
    capsys.readouterr()
    exec(text("reorder-names-measured"), names)
    *ways, back = capsys.readouterr().out.splitlines()
    assert len(ways) == 4
    assert all(way.endswith("(3, 2, 4)  the same memory: True") for way in ways)
    assert back == "(2, 4, 3) True"
    first = names["colour_first"].values()
    assert all((one == names["photo"].permute(2, 0, 1).numpy()).all() for one in first)


def test_pieces_are_as_long_as_those_of_torch() -> None:
    solved = SOURCE.solved("piece-lengths")
    for length, by in itertools.product(range(12), range(1, 9)):
        line = torch.arange(length)
        assert solved["split_lengths"](length, by) == [len(piece) for piece in line.split(by)]
        assert solved["chunk_lengths"](length, by) == [len(piece) for piece in line.chunk(by)]


def test_shares_is_right_about_every_kind_of_index_and_every_pair_of_them() -> None:
    solved = SOURCE.solved("index-shares")["shares"]
    parts: list[Any] = [1, slice(1, 3), None, True, False, [0, 1], [], torch.tensor(1)]
    parts += [torch.tensor([1]), torch.tensor(True), [True, False, True, True]]
    x = torch.zeros(4, 4, 4, 4)
    for index in [*parts, (), ..., *itertools.product(parts, repeat=2)]:
        try:
            found = x[index]
        except IndexError:  # two lists of different lengths have no common shape
            continue
        assert solved(index) is same_storage(x, found), index
