"""Two values differ in what is said, and in nothing else."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
import torch

from course.serialization import decode, encode
from course.serialization.received import Absent, Handle, SeenTensor, Value, as_node
from course.testing.compare import brief, difference
from course.testing.tolerance import Tolerance


def seen(tensor: torch.Tensor) -> SeenTensor:
    """The tensor as an observation holds it."""
    found = decode(*encode(tensor))
    assert isinstance(found, SeenTensor)
    return found


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, "keys missing: [], keys too many: ['b']"),
        ({}, {"a": 1}, "keys missing: ['a'], keys too many: []"),
        ({"a": 1}, {"a": 2}, "at key 'a': it is the int 1, not the int 2"),
        ([1], {"a": 1}, "it is a list of 1, not a dict"),
        ({"a": 1}, [1], "it is a dict of 1, not a list"),
        ((1, 2), (1, 2, 3), "it has 2 items, not 3"),
        ([1, 2], (1, 2), "it is a list of 2, not a tuple"),
        ((1, 2), [1, 2], "it is a tuple of 2, not a list"),
        ([(1, 2.0)], [(1, 2)], "item 0, in it item 1: it is the float 2.0, not the int 2"),
        (torch.Size([1]), [1], "it is a Size of 1, not a list"),
        ({1.0: 2}, {1: 2}, "keys missing: [1], keys too many: ['1.0']"),
        ({(1, True): 2}, {(1, 1): 2}, "keys missing: [(1, 1)], keys too many: ['(1, True)']"),
        ({1.0}, {1}, "it is a set of 1, not a set of 1"),
        (3, (1, 2), "it is the int 3, not a tuple"),
        (torch.ones(2), np.ones(2), "it is a tensor of shape (2,), not a NumPy array"),
        (np.ones(2), np.ones(3), "it is float64 (2,), not float64 (3,)"),
        (np.ones(2, np.int8), np.ones(2), "it is int8 (2,), not float64 (2,)"),
        (np.ones(2), np.zeros(2), "some elements differ"),
        (Handle("module", "Net"), 3, "it is an object of class Net, not the int 3"),
        (Absent("there is nothing"), 3, "there is nothing"),
        (1, True, "it is the int 1, not the bool True"),
        (3.0, 3, "it is the float 3.0, not the int 3"),
        (True, 1.0, "it is the bool True, not the float 1.0"),
        (3 + 0j, 3.0, "it is the complex (3+0j), not the float 3.0"),
        (torch.tensor(3), 3, "it is a tensor of shape (), not the int 3"),
        ("1", 1, "it is the str '1', not the int 1"),
        (1.0, "1.0", "it is the float 1.0, not the str '1.0'"),
        (None, 0, "it is None, not the int 0"),
        (math.nan, 1.0, "it is the float nan, not the float 1.0"),
        (2**53 + 1, 2.0**53, f"it is the int {2**53 + 1}, not the float {2.0**53}"),
        (math.nan + 1j, math.nan + 2j, "it is the complex (nan+1j), not the complex (nan+2j)"),
        (1.0, math.nan, "it is the float 1.0, not the float nan"),
        ("a", "b", "it is the str 'a', not the str 'b'"),
        ([0.5], torch.ones(1), "it is a list of 1, not a tensor"),
        (torch.ones(2, 1), torch.ones(2), "its shape is (2, 1), not (2,)"),
        (torch.ones(2).int(), torch.ones(2), "its dtype is int32, not float32"),
    ],
)  # fmt: skip
def test_a_difference_is_told(actual: Any, expected: Any, words: str) -> None:
    assert difference(actual, expected) == words


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.ones(2), np.ones(2)),
        (np.array([math.nan]), np.array([math.nan])),
        ([{"a": torch.ones(1)}], [{"a": torch.ones(1)}]),
        (torch.Size([2, 3]), (2, 3)),
        ((2, 3), torch.Size([2, 3])),
        (0.5, np.float64(0.5)),
        (3, 3.0),
        (OrderedDict(a=1), {"a": 1}),
        ({1, "a"}, {"a", 1}),
        (-0.0, 0.0),
        (2 + 1j, 2 + 1j),
        (None, None),
        (False, False),
        (math.inf, math.inf),
        (math.nan, math.nan),
        (torch.tensor([math.nan]), torch.tensor([math.nan])),
        ("same", "same"),
        (torch.float16, torch.float16),
        (Value([1]), [1]),
        (seen(torch.ones(2)), seen(torch.ones(2))),
        (torch.ones(2, requires_grad=True), torch.ones(2)),
    ],
)
def test_what_is_equal_has_no_difference(actual: Any, expected: Any) -> None:
    assert difference(actual, expected) is None


NAN = math.nan


@pytest.mark.parametrize(
    ("actual", "expected", "tolerance", "same"),
    [
        (torch.tensor([complex(NAN, 1)]), torch.tensor([complex(NAN, 1)]), {}, True),
        (torch.tensor([complex(5, NAN)]), torch.tensor([complex(NAN, 1)]), {}, False),
        (torch.tensor([complex(NAN, 2)]), torch.tensor([complex(NAN, 1)]), {}, False),
        (np.array([complex(NAN, 2)]), np.array([complex(NAN, 1)]), {}, False),
        (torch.tensor([2 + 1j]).conj(), torch.tensor([2 - 1j]), {}, True),
        (torch.tensor([2.0 + 1.1j]), torch.tensor([2.0 + 1j]), {"atol": 0.2}, True),
        (torch.tensor([100_000_003]), torch.tensor([100_000_001]), {"atol": 1}, False),
        (torch.tensor([100_000_002]), torch.tensor([100_000_001]), {"atol": 1}, True),
        (torch.tensor([2**40 + 1000, 5]), torch.tensor([2**40, 5]), {"rtol": 1e-12}, False),
        (torch.tensor([2, 255], dtype=torch.uint8), torch.ones(2).byte(), {"atol": 1}, False),
        ({frozenset({True})}, {frozenset({1})}, {}, False),
        ({frozenset({1})}, {frozenset({1})}, {}, True),
        (slice(0, True), slice(0, 1), {}, False),
        (slice(0.0, 4), slice(0, 4), {}, False),
        (slice(0, 4), slice(0, 4), {}, True),
        (3 + 0j, 3, {"allow": "int or float"}, False),
        (3, 3 + 0j, {}, True),
    ],
)
def test_numbers_are_compared_exactly_and_part_by_part(
    actual: Any, expected: Any, tolerance: dict[str, Any], same: bool
) -> None:
    assert (difference(actual, expected, Tolerance(**tolerance)) is None) is same


def test_long_bytes_are_not_cut_where_they_are_compared() -> None:
    found = decode(*encode(b"x" * (2**20 + 5)))
    assert difference(found, b"x" * 2**20) == f"bytes, {2**20 + 5} of them"


def test_of_many_keys_five_are_named_and_long_ones_are_cut() -> None:
    found = difference({"k" * 50 + str(n): n for n in range(6)}, {})
    assert found == f"keys missing: [], keys too many: {['k' * 40] * 5}"
    names = [f"n{n}" for n in range(6)]
    assert difference({}, dict.fromkeys(names)) == f"keys missing: {names[:5]}, keys too many: []"


def test_elements_that_differ_are_counted_and_the_first_is_shown() -> None:
    actual = torch.tensor([[1.0, 2.0, 3.0], [4.0, 0.0, 0.0]])
    expected = torch.arange(1.0, 7.0).view(2, 3)
    words = "2 of 6 elements differ, first at index (1, 1): 0.0 instead of 5.0"
    assert difference(actual, expected) == words


@pytest.mark.parametrize("wrap", [float, lambda x: torch.tensor([x]), lambda x: [{"a": x}]])
def test_a_tolerance_is_absolute_plus_relative_to_what_was_expected(wrap: Any) -> None:
    how = Tolerance(rtol=0.25, atol=0.5)
    for actual, expected, near in [(4.5, 4.0, 1), (5.5, 4.0, 1), (5.75, 4.0, 0), (2.25, 4.0, 0)]:
        assert (difference(wrap(actual), wrap(expected), how) is None) is bool(near)
    assert difference(wrap(1.0), wrap(1.5), Tolerance(atol=0.5)) is None
    assert difference(wrap(1.0), wrap(1.5)) is not None


@pytest.mark.parametrize(
    ("allow", "actual", "expected", "holds"),
    [
        ("int or float", 3.0, 3, True),
        ("int or float", 1, True, False),
        ("int or float", [3], (3,), False),
        ("list or tuple", [3], (3,), True),
        ("list or tuple", (3,), [3], True),
        ("list or tuple", [3.0], (3,), False),
        (("list or tuple", "int or float"), [3.0], (3,), True),
    ],
)
def test_a_check_may_say_what_stands_for_each_other(
    allow: Any, actual: Any, expected: Any, holds: bool
) -> None:
    assert (difference(actual, expected, Tolerance(allow=allow)) is None) is holds


def test_what_no_check_can_allow_is_refused() -> None:
    with pytest.raises(ValueError, match="not 'list'"):
        Tolerance(allow=("list",))


def test_a_tensor_that_did_not_travel_says_so_on_either_side() -> None:
    lost = SeenTensor(seen(torch.ones(2)).facts, None)
    reason = "the tensor was too large to carry, or has no elements to read"
    assert difference(lost, torch.ones(2)) == reason
    assert difference([lost], [torch.ones(2)]) == f"item 0: {reason}"


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (torch.arange(3), "int64 (3,) [0, 1, 2]"),
        (torch.zeros(4, 4, dtype=torch.bool), f"bool (4, 4) {[[False] * 4] * 4}"),
        (torch.zeros(17), "float32 (17,)"),
        (torch.zeros(0), "float32 (0,) []"),
        (torch.zeros(2**40, 0), "float32 (1099511627776, 0)"),  # a list of so many empty ones
        ([torch.zeros(17, 0)], "[a tensor of shape (17, 0)]"),
        (seen(torch.ones(1)), "float32 (1,) [1.0]"),
        (SeenTensor(seen(torch.ones(2)).facts, None), "a tensor of shape (2,)"),
        (Value(Handle("module", "Net")), "an object of class Net"),
        (Absent("nothing"), "absent"),
        ([1, "a", None, (2.5,)], "[1, 'a', None, (2.5,)]"),
        ([seen(torch.ones(2)), torch.zeros(17)], "[tensor([1.0, 1.0]), a tensor of shape (17,)]"),
        (
            {"w": (seen(torch.arange(1)), Handle("module", "Net"))},
            "{'w': (tensor([0]), an object of class Net)}",
        ),
        ([Value(seen(torch.ones(1))), Value(Absent("nothing"))], "[tensor([1.0]), absent]"),
        ("x" * 198, repr("x" * 198)),
        ("x" * 199, "'" + "x" * 196 + "..."),
    ],
)
def test_a_value_in_brief(subject: Any, words: str) -> None:
    assert brief(subject) == words


def test_the_node_of_a_value_is_what_it_holds_and_of_anything_else_itself() -> None:
    node, other = [1], object()
    assert as_node(Value(node)) is node and as_node(other) is other


@pytest.mark.parametrize("mask", [-1e4, -1e9, torch.finfo(torch.float32).min])
def test_beside_a_mask_no_other_number_is_near(mask: float) -> None:
    expected = torch.tensor([mask, 1.0, -2.0])
    zeros = torch.tensor([mask, 0.0, 0.0])
    assert difference(seen(zeros), expected, Tolerance(rounding=1)) is not None
    nearly = torch.tensor([mask, 1.0 + 2**-22, -2.0])
    assert difference(seen(nearly), expected, Tolerance(rounding=1)) is None


@pytest.mark.parametrize(
    "dtype", [getattr(torch, one) for one in dir(torch) if one.startswith("float8_e4m3fn")]
)
def test_eight_bits_are_compared_like_others(dtype: torch.dtype) -> None:
    right = torch.tensor([1.0, 2.0, math.nan]).to(dtype)
    wrong = torch.tensor([1.0, 4.0, math.nan]).to(dtype)
    assert difference(seen(right), right) is None
    assert difference(seen(wrong), right) is not None
    assert difference(seen(right.float()), right) is not None


@pytest.mark.parametrize("number", [2**1024 - 1, complex(1.7e308, 1.7e308), 2**1024 - 2**900])
@pytest.mark.parametrize("other", [1.0, 2**1023, complex(-1.7e308, 0)])
def test_numbers_whose_difference_no_float_holds_are_apart(number: Any, other: Any) -> None:
    tolerance = Tolerance(rounding=1)
    assert difference(number, other, tolerance) is not None
    assert difference(other, number, tolerance) is not None
    assert difference(number, number, tolerance) is None
