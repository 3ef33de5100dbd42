"""Storage figures: true to torch for any layout, legible, and told in words."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
import torch

from course.figures import compare_storage, not_drawn, show_storage
from course.figures.palette import FAULT, INK, REST
from course.figures.scene import SMALL, WIDTH, Arrow, Box, Label
from course.figures.storage import layouts
from course.figures.storage.figure import _groups
from course.figures.storage.layouts import cells_of, index_at, picks_of, position_of, short
from course.inspection.facts import facts, positions
from tests.course.figures.drawn import collisions, random_tensor, scene_of, texts_of

A = torch.arange(12).view(3, 4)


def _tensors(seed: int, count: int) -> list[torch.Tensor]:
    rng = random.Random(seed)
    return [random_tensor(rng) for _ in range(count)]


def test_every_drawn_cell_shows_its_own_value() -> None:
    for tensor in _tensors(seed=1, count=300):
        subject = _groups([tensor], ["x"])[0][0]
        for cell in cells_of(subject):
            assert subject.text_at(cell.position) == short(tensor[cell.index].item())


def test_every_position_is_found_in_the_tensor_exactly_where_torch_has_it() -> None:
    for tensor in _tensors(seed=2, count=200):
        seen = facts(tensor)
        used = set(positions(seen))
        for position in range(min(seen.storage_nbytes // seen.itemsize, 200)):
            index = index_at(seen, position)
            assert (index is not None) == (position in used), (seen, position)
            assert index is None or position_of(seen, index) == position


def test_the_search_for_an_index_ends_for_many_equal_strides() -> None:
    seen = facts(torch.as_strided(torch.zeros(400), (30,) * 6, (2,) * 6))
    assert index_at(seen, 333) is None
    assert index_at(seen, 332) is not None


def test_the_search_for_an_index_is_given_up_after_some_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = facts(torch.zeros(2, 3, 4, 5))
    assert index_at(seen, 119) == (1, 2, 3, 4)
    monkeypatch.setattr(layouts, "_MOST_STEPS", 3)
    assert index_at(seen, 119) is None


def test_boxes_outside_the_tensor_are_dashed_and_grey() -> None:
    boxes = [i for i in scene_of(show_storage(A[:, 1])).items if isinstance(i, Box) and i.text]
    assert [box.text for box in boxes if box.dashed] == [
        "0",
        "2",
        "3",
        "4",
        "6",
        "7",
        "8",
        "10",
        "11",
    ]
    assert {box.fills for box in boxes if box.dashed} == {(REST,)}


def test_a_cell_and_its_box_have_the_same_colour() -> None:
    boxes = [i for i in scene_of(show_storage(A.t())).items if isinstance(i, Box) and i.text]
    assert len(boxes) == 24
    for text in map(str, range(12)):
        assert len({box.fills for box in boxes if box.text == text}) == 1


def test_offset_and_steps_stand_at_arrows() -> None:
    scene = scene_of(show_storage(A[1:, 1:]))
    assert {"storage_offset 5", "+1 →", "+4 ↓"} <= set(scene.texts())
    assert sum(isinstance(item, Arrow) for item in scene.items) == 5  # two in the grid, three below


def test_a_stride_of_zero_is_said_to_stay() -> None:
    picture = show_storage(torch.arange(4).expand(3, 4))
    assert "+0 ↓: the same box again" in texts_of(picture)
    assert texts_of(picture).count("×3") == 4
    assert "all three rows are these same boxes" in picture.alt


@pytest.mark.exhaustive("every figure measured")
def test_no_text_is_smaller_than_12_px_or_meets_another() -> None:
    rng = random.Random(3)
    for tensor in _tensors(seed=3, count=250):
        others = [tensor[1:]] if tensor.dim() and rng.random() < 0.4 else []
        scene = scene_of(show_storage(tensor, *others))
        assert collisions(scene) == [], facts(tensor)
        assert all(i.size >= SMALL for i in scene.items if not isinstance(i, Arrow))
        assert scene.width <= WIDTH + 4


@pytest.mark.parametrize("shape", [(100, 100), (1000,), (8, 3, 32, 32), (2,) * 8, (1, 500, 2)])
def test_a_large_tensor_is_drawn_in_part_and_says_so(shape: tuple[int, ...]) -> None:
    tensor = torch.arange(torch.Size(shape).numel()).view(shape)
    shown = len(list(cells_of(_groups([tensor], ["x"])[0][0])))
    assert shown <= 36
    note = f"tensor: {shown} of its {tensor.numel()} elements are drawn; … stands for the others."
    assert note in texts_of(show_storage(tensor))


def test_gaps_in_the_storage_name_the_positions_they_hide() -> None:
    texts = texts_of(show_storage(torch.arange(10_000).view(100, 100)))
    assert {"3–98", "103–198", "300–9899"} <= set(texts)


def test_small_tensors_are_drawn_whole() -> None:
    for shape in [(), (0,), (20,), (6, 12), (2, 3, 4), (2, 2, 2, 2, 2)]:
        assert picks_of(shape, 20) == tuple(tuple(range(size)) for size in shape)


def test_three_dimensions_are_slabs_with_their_index() -> None:
    texts = texts_of(show_storage(torch.arange(12).view(2, 2, 3)))
    assert {"[0, :, :]", "[1, :, :]", "+6", "+6 dim 0", "1,1,2"} <= set(texts)


def test_a_tensor_without_elements_is_drawn_as_such() -> None:
    picture = show_storage(A[3:])
    assert "no elements" in texts_of(picture)
    assert "The tensor of shape (0, 4) has no elements." in picture.alt


def test_a_tensor_without_dimensions_has_one_cell() -> None:
    picture = show_storage(A[1, 2])
    assert "its one element is at position 6" in picture.alt
    assert texts_of(picture).count("6") == 3  # the cell, its box and the position


def test_two_tensors_on_one_storage_share_one_row_of_boxes_with_a_lane_each() -> None:
    s = torch.arange(6.0)
    texts = texts_of(show_storage(s[:4], s[2:], names=["s[:4]", "s[2:]"]))
    assert texts.count("storage: 6 boxes of 4 bytes") == 1
    assert texts.count("position") == 1
    assert texts.count("s[:4]") == 2  # in the facts and at its lane


def test_a_box_of_two_tensors_has_both_colours() -> None:
    s = torch.arange(6)
    scene = scene_of(show_storage(s[:4], s[2:]))
    shared = {i.text for i in scene.items if isinstance(i, Box) and len(i.fills) == 2}
    assert shared == {"2", "3"}


def test_tensors_on_two_storages_stand_in_two_rows() -> None:
    texts = texts_of(show_storage(A, A.clone()))
    assert {"storage 1: 12 boxes of 8 bytes", "storage 2: 12 boxes of 8 bytes"} <= set(texts)


def test_one_storage_read_in_two_element_sizes_is_called_the_same() -> None:
    s = torch.arange(4)
    assert "storage 1 again, read as 8 boxes of 4 bytes" in texts_of(
        show_storage(s, s.view(torch.int32))
    )


def test_facts_alone_are_drawn_with_positions_in_the_cells() -> None:
    picture = show_storage(facts(A.t()))
    assert picture.caption.endswith("Numbers in cells are storage positions.")
    assert texts_of(picture).count("7") == 2  # the cell and the position above its box


def test_a_meta_tensor_is_drawn_without_values() -> None:
    assert "storage positions" in show_storage(torch.empty(2, 3, device="meta")).caption


def test_a_parameter_is_drawn_with_its_values_and_left_as_it_was() -> None:
    weight = torch.nn.Parameter(torch.tensor([0.5, 1.0]))
    assert "0.5" in texts_of(show_storage(weight))
    assert (weight._version, weight.grad_fn) == (0, None)


def test_a_storage_that_lost_its_memory_is_drawn_without_values() -> None:
    tensor = torch.arange(6).view(2, 3)
    tensor.untyped_storage().resize_(0)
    assert "no boxes" in texts_of(show_storage(tensor))


def test_the_picture_shows_the_moment_of_the_call() -> None:
    tensor = torch.zeros(3)
    picture = show_storage(tensor)
    tensor.fill_(7)
    assert "7." not in texts_of(picture)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (A[:, 1], "Storage of 12 boxes. The tensor of three elements is at positions 1, 5 and 9, "
         "four apart. The other 9 boxes hold no element of the tensor."),
        (A, "Storage of 12 boxes. Row 0 of the 3 × 4 tensor is at positions 0, 1, 2 and 3, "
         "one apart; each further row begins four later."),
        (torch.arange(3).view(3, 1).expand(3, 4), "Storage of 3 boxes. Row 0 of the 3 × 4 tensor "
         "is at position 0, read four times; each further row begins one later."),
        (torch.arange(90).view(90), "Storage of 90 boxes. The tensor of 90 elements is at "
         "positions 0, 1, 2 to 89, one apart."),
    ],
)  # fmt: skip
def test_the_alt_text_says_where_the_elements_are(tensor: torch.Tensor, words: str) -> None:
    assert show_storage(tensor).alt == words


def test_the_alt_text_of_two_tensors_says_what_they_share() -> None:
    s = torch.arange(6)
    assert '"a" and "b" have boxes 2 and 3 in common.' in show_storage(s[:4], s[2:]).alt
    assert '"a" and "b" have no box in common.' in show_storage(s[:3], s[3:]).alt
    assert '"a" and "b" have box 2 in common.' in show_storage(s[:3], s[2:]).alt


def test_the_alt_text_tells_true_positions_of_random_vectors() -> None:
    for tensor in _tensors(seed=4, count=200):
        if tensor.dim() != 1 or not 2 <= tensor.numel() <= 6 or tensor.stride(0) == 0:
            continue
        listed = re.search(r"positions ([\d, and]+), \w+ apart", show_storage(tensor).alt)
        assert listed is not None
        assert [int(p) for p in re.findall(r"\d+", listed[1])] == positions(tensor)


def test_a_title_and_a_caption_of_ones_own_are_used() -> None:
    picture = show_storage(A, title="Rows", caption="Mine.")
    assert ("Rows" in texts_of(picture), picture.caption) == (True, "Mine.")


def test_compared_layouts_name_what_differs() -> None:
    picture = compare_storage(facts(A.reshape(4, 3)), facts(A.t()))
    assert picture.caption.startswith("Your tensor has stride (3, 1) instead of (1, 4).")
    assert picture.alt.count("Storage of 12 boxes.") == 2


def test_compared_layouts_mark_what_differs_and_nothing_else() -> None:
    scene = scene_of(compare_storage(facts(A[1:]), facts(A[:2])))
    marked = [i.text for i in scene.items if isinstance(i, Label) and i.ink == FAULT]
    assert marked == ["storage_offset 4", "storage_offset 0"]
    assert all(
        i.ink == INK or not i.bold
        for i in scene.items
        if isinstance(i, Label) and i.text not in marked
    )


def test_a_sparse_tensor_is_compared_in_words() -> None:
    picture = compare_storage(facts(A.to_sparse()), facts(A))
    assert picture.alt == "Your tensor has layout sparse_coo, the expected one strided."
    assert texts_of(picture) == [picture.alt]


def test_equal_layouts_are_said_to_be_equal() -> None:
    assert compare_storage(facts(A), facts(A.clone())).caption.startswith(
        "The two layouts are equal."
    )


def test_compared_figures_of_random_layouts_are_legible() -> None:
    tensors = _tensors(seed=5, count=80)
    for yours, expected in zip(tensors[::2], tensors[1::2], strict=True):
        assert collisions(scene_of(compare_storage(facts(yours), facts(expected)))) == []


def test_nothing_is_asked_of_the_tensors_while_grading() -> None:
    with not_drawn():
        picture = show_storage("not even a tensor")  # type: ignore[arg-type]
        assert repr(picture) == "Figures are not drawn in this process."
        assert "<img" not in compare_storage(facts(A), facts(A))._repr_html_()


@pytest.mark.parametrize(
    ("tensors", "names", "error", "words"),
    [
        ((), None, TypeError, "at least one"),
        (([1, 2],), None, TypeError, "not list. Make a tensor of it first"),
        ((A,), ["a", "b"], ValueError, "1 tensors and 2 names"),
        ((A.to_sparse(),), None, ValueError, "layout sparse_coo.*to_dense"),
    ],
)
def test_a_call_that_cannot_be_drawn_says_why(
    tensors: tuple[torch.Tensor, ...], names: list[str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        show_storage(*tensors, names=names)


@pytest.mark.parametrize(
    ("value", "text"),
    [(5, "5"), (5.0, "5."), (0.123456, "0.123"), (-1234567.0, "-1e+06"), (True, "True"),
     (-(2**63), "-922…"), (float("nan"), "nan"), (1 + 2j, "1+2j"), (-0.123 + 1.25j, "-0.1+1j")],
)  # fmt: skip
def test_values_are_short(value: complex, text: str) -> None:
    assert short(value) == text


def test_positions_beyond_a_shrunken_storage_are_marked_unknown() -> None:
    tensor = torch.arange(6)
    seen = replace(facts(tensor), storage_nbytes=16)
    assert show_storage(seen).alt.startswith("Storage of 2 boxes.")
    tensor.untyped_storage().resize_(16)
    assert "?" in texts_of(show_storage(tensor))
