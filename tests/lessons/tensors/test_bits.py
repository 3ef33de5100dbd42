"""Bits: what is drawn is what the tensor's memory holds, and the words are exact."""

from __future__ import annotations

import math
import struct
from decimal import Decimal

import pytest
import torch

from course.figures.palette import FILLS
from course.figures.scene import Box
from course.lessons.tensors import show_bits
from course.lessons.tensors.stored_numbers import STORABLE, exact, stored
from tests.course.figures.drawn import collisions, scene_of, texts_of

NUMBERS = (0, 1, -1, 300, 2**24 + 1, -(2**63), 0.1, -2.9, 70000.0, 1e-40, math.inf, math.nan, True)


@pytest.mark.parametrize("dtype", STORABLE, ids=str)
@pytest.mark.parametrize("number", NUMBERS)
def test_the_bits_are_those_in_memory(number: float, dtype: torch.dtype) -> None:
    seen = stored(number, dtype)
    if seen.value is None:
        assert isinstance(number, float)
        assert not dtype.is_floating_point
        return
    taken = torch.tensor(number, dtype=torch.float64 if isinstance(number, float) else None)
    raw = taken.to(dtype).reshape(1).view(torch.uint8).tolist()
    assert seen.bits == "".join(f"{byte:08b}" for byte in reversed(raw))
    assert len(seen.bits) == 8 * dtype.itemsize


def test_a_float32_has_the_groups_that_the_standard_gives_it() -> None:
    (raw,) = struct.unpack(">I", struct.pack(">f", -6.5))
    groups = dict(stored(-6.5, torch.float32).groups)
    assert "".join(groups.values()) == f"{raw:032b}"
    assert groups == {"sign": "1", "exponent": "10000001", "fraction": "101" + "0" * 20}
    assert stored(-6.5, torch.float32).note == "stored: -6.5 (-1.625 × 2²), exact"


@pytest.mark.parametrize(
    ("number", "dtype", "note"),
    [
        (300, torch.uint8, "stored: 44, off by -256"),
        (-1, torch.uint8, "stored: 255, off by 256"),
        (2.9, torch.int32, "stored: 2, off by -0.9"),
        (2.9, torch.bool, "stored: True; only 0 is False"),
        (0, torch.bool, "stored: False"),
        (2**24 + 1, torch.float32, "stored: 16777216 (1 × 2²⁴), off by -1"),
        (70000.0, torch.float16, "70000.0 is too large"),
        (math.nan, torch.float32, "not a number"),
        (-0.0, torch.float32, "-0: exponent and fraction are 0"),
        (1e-40, torch.float32, "× 2⁻¹²⁶)"),
    ],
)
def test_the_note_says_what_became_of_the_number(
    number: float, dtype: torch.dtype, note: str
) -> None:
    assert note in stored(number, dtype).note


def test_a_typed_tenth_is_not_exact_and_a_computed_float_is() -> None:
    assert "off by 5.55e-18" in stored(0.1, torch.float64).note
    computed = torch.tensor(0.1, dtype=torch.float32).item()
    assert "exact" in stored(computed, torch.float32).note


@pytest.mark.parametrize("number", [300.5, -1.0, math.inf, math.nan])
def test_a_float_beyond_an_integers_range_is_said_to_be_undefined(number: float) -> None:
    seen = stored(number, torch.uint8)
    assert (seen.groups, seen.value) == ((), None)
    assert "isn't defined" in seen.note


@pytest.mark.parametrize("number", [0.1, 1 / 3, 70144.0, 2.0**-149])
def test_exact_digits_are_the_value(number: float) -> None:
    shown = exact(number)
    assert shown.endswith("…") or Decimal(shown) == Decimal(number) or float(shown) == number


def test_each_group_has_its_name_and_its_colour() -> None:
    picture = show_bits(0.1, torch.float32)
    boxes = [item for item in scene_of(picture).items if isinstance(item, Box)]
    assert [box.fills[0] for box in boxes] == [FILLS[0]] + [FILLS[1]] * 8 + [FILLS[2]] * 23
    assert texts_of(picture)[:1] == ["sign"]
    assert {"exponent", "fraction", "float32"} <= set(texts_of(picture))


def test_the_lowest_bits_of_integers_stand_under_each_other() -> None:
    items = scene_of(show_bits(300, torch.int16, torch.uint8)).items
    boxes = [item for item in items if isinstance(item, Box)]
    wide, narrow = boxes[:16], boxes[16:]
    assert [box.text for box in narrow] == [box.text for box in wide[8:]]
    assert [box.x for box in narrow] == pytest.approx([box.x for box in wide[8:]])


@pytest.mark.parametrize("number", [0.1, 70000.0, -1, True])
def test_all_dtypes_fit_into_the_figure_and_no_text_lies_over_another(number: float) -> None:
    scene = scene_of(show_bits(number, *STORABLE))
    assert scene.right <= 850
    assert collisions(scene) == []


def test_what_has_no_bits_to_show_is_refused() -> None:
    with pytest.raises(ValueError, match="complex64 isn't drawn"):
        show_bits(1, torch.complex64)
    with pytest.raises(ValueError, match="beyond int64"):
        show_bits(2**63)
    with pytest.raises(TypeError, match="not str"):
        show_bits("1")  # type: ignore[arg-type]
