"""The promotion lattice: what it draws is what torch promotes, for every two operands."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from course.figures.palette import FILLS, INK
from course.figures.scene import Arrow, Box
from course.lessons.tensors import show_promotion
from course.lessons.tensors.type_promotion import (
    DTYPES,
    Operand,
    agreement,
    dtype_name,
    edges,
    kind,
    reaches,
)
from tests.course.figures.drawn import collisions, scene_of, texts_of

NUMBERS = (True, 1, 1.0, 1j)
OPERANDS = [
    *DTYPES,
    *(torch.ones((), dtype=dtype) for dtype in DTYPES),
    *NUMBERS,
]


def pairs() -> list[tuple[Operand, Operand]]:
    """Every two operands that torch can be asked about."""
    known = [Operand.of(one) for one in OPERANDS]
    return [(a, b) for a, b in product(known, known) if not a.rank == b.rank == "number"]


def marked(*operands: object) -> dict[str, tuple[str, ...]]:
    """The fills of each dtype's box that isn't plain, by its name."""
    boxes = [item for item in scene_of(show_promotion(*operands)).items if isinstance(item, Box)]
    return {box.text: box.fills for box in boxes if box.text and box.fills != ("#ffffff",)}


def test_the_steps_lead_to_where_torch_promotes_two_dtypes() -> None:
    above = {one: {other for other in DTYPES if walks(one, other)} for one in DTYPES}
    for one, other in product(DTYPES, DTYPES):
        meeting = torch.promote_types(one, other)
        common = above[one] & above[other]
        assert meeting in common
        assert all(walks(meeting, further) for further in common), (one, other)


def walks(one: torch.dtype, other: torch.dtype) -> bool:
    """Whether the arrows lead from one dtype to the other."""
    return one is other or any(a is one and walks(b, other) for a, b in edges())


def test_no_step_is_a_short_cut_past_another() -> None:
    for a, b in edges():
        others = [c for c in DTYPES if c not in (a, b) and reaches(a, c) and reaches(c, b)]
        assert others == []


def test_who_has_a_say_explains_what_torch_gives_for_every_two_operands() -> None:
    for left, right in pairs():
        found = agreement(left, right)
        heard = [o.dtype for o, said in zip((left, right), found.counts, strict=True) if said]
        meeting = heard[0] if len(heard) == 1 else torch.promote_types(*heard)
        if kind(meeting) == 3 and found.result is not meeting:  # a complex number keeps widths
            meeting = torch.result_type(left.stand_in(), right.stand_in())
            assert kind(left.dtype) != kind(right.dtype)
        assert found.result is meeting, (left, right)


def test_two_tensors_are_marked_with_their_meeting_place() -> None:
    assert marked(torch.uint8, torch.int8) == {
        "uint8": (FILLS[0],),
        "int8": (FILLS[1],),
        "int16": (FILLS[2],),
    }


def test_an_operand_without_a_say_is_not_marked() -> None:
    assert marked(torch.float16, 2.5) == {"float16": (FILLS[0], FILLS[2])}
    assert marked(torch.tensor(300), torch.uint8) == {"uint8": (FILLS[1], FILLS[2])}
    texts = texts_of(show_promotion(torch.float16, 2.5))
    assert "2.5, a Python number: has no say" in texts


def test_a_python_float_brings_the_default_dtype() -> None:
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert "float64" in marked(torch.int32, 2.5)
    finally:
        torch.set_default_dtype(before)


def test_the_ways_to_the_result_are_darker_than_the_others() -> None:
    items = scene_of(show_promotion(torch.uint8, torch.int8)).items
    arrows = [item for item in items if isinstance(item, Arrow)]
    assert (len(arrows), sum(arrow.ink == INK for arrow in arrows)) == (len(edges()), 2)


def test_the_whole_lattice_has_every_dtype_and_nothing_lies_over_its_texts() -> None:
    scene = scene_of(show_promotion())
    assert {dtype_name(dtype) for dtype in DTYPES} <= set(scene.texts())
    assert [pair for pair in collisions(scene) if "arrow" not in pair] == []
    assert scene.right <= 836


@pytest.mark.parametrize("operands", [(torch.float64, 1j), (torch.bool, 1), (torch.int8, 2.5)])
def test_a_caption_says_why(operands: tuple[object, object]) -> None:
    picture = show_promotion(*operands)
    name = dtype_name(torch.result_type(Operand.of(operands[0]).stand_in(), operands[1]))  # type: ignore[call-overload]
    assert f"So it's {name}" in picture.caption
    assert picture.caption in picture.alt


def test_what_is_no_operand_is_refused_with_a_remedy() -> None:
    with pytest.raises(TypeError, match="not str"):
        show_promotion("uint8", 1)
    with pytest.raises(ValueError, match="uint16 is not in the figure"):
        show_promotion(torch.uint16, 1)
    with pytest.raises(ValueError, match="at least one tensor"):
        show_promotion(1, 2.5)
    with pytest.raises(TypeError, match="no operand or two, not 1"):
        show_promotion(torch.uint8)
