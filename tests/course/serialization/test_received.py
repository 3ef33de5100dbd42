"""A walk through what an answer returned never raises, and says what was met."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from course.serialization import decode, encode
from course.serialization.encoding import EncodingLimits
from course.serialization.received import (
    Absent,
    AbsentError,
    Handle,
    SeenTensor,
    Value,
    describe,
    read_in_vain,
    take_missed,
)


def value(data: Any, **how: Any) -> Value:
    """What an observation holds of this data."""
    return Value(decode(*encode(data, **how)))


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ("x" * 78, "the str " + repr("x" * 78)),  # 80 characters with its quotes
        ("x" * 79, "the str '" + "x" * 76 + "..."),
        (10**79, f"the int 1{'0' * 79}"),
        (10**80, f"the int 1{'0' * 76}..."),
        (None, "None"),
        (Absent("why"), "absent"),
        (torch.ones(2, 3), "a tensor of shape (2, 3)"),
        (value(torch.ones(2)).node, "a tensor of shape (2,)"),
        (Handle("module", "Net"), "an object of class Net"),
        ([1, 2], "a list of 2"),
        ((), "a tuple of 0"),
        ({"a": 1}, "a dict of 1"),
        ({1}, "a set of 1"),
        (frozenset({1, 2, 3}), "a frozenset of 3"),
        (True, "the bool True"),
    ],
)
def test_a_value_is_described_in_a_few_words(node: Any, words: str) -> None:
    assert describe(node) == words


def test_a_walk_finds_items_keys_characters_and_elements() -> None:
    root = value([{"a": (1, "xyz")}, torch.arange(6).view(2, 3)])
    assert (
        root[0]["a"][1][2].plain == "z" and root[0]["a"][1][2].where == "the result[0]['a'][1][2]"
    )
    assert root[1][1].plain == [3, 4, 5] and root[1][1, 2].plain == 5
    assert [len(one) for one in (root, root[0], root[0]["a"][1], root[1])] == [2, 1, 3, 2]
    assert [one.plain for one in root[0]["a"]] == [1, "xyz"]
    assert [one.where for one in root[0]] == ["the result[0]['a']"]


@pytest.mark.parametrize(
    ("data", "key", "reason"),
    [
        ([1], 1, "the result is a list of 1; it has no item 1"),
        ({"a": 1}, "b", "the result is a dict of 1; it has no item 'b'"),
        ([1], "a", "the result is a list of 1; it has no item 'a'"),
        (3, 0, "the result is the int 3; it has no item 0"),
        (torch.ones(2), 2, "the result is a tensor of shape (2,); it has no item 2"),
        (torch.nn.ReLU(), 0, "the result is an object of class ReLU; it has no item 0"),
    ],
)
def test_a_wrong_step_leads_to_what_is_absent_with_the_reason(
    data: Any, key: Any, reason: str
) -> None:
    step = value(data)[key]
    assert (step.node, step.where) == (Absent(reason), f"the result[{key!r}]")
    assert not step.present and step["further"].node == Absent(reason)
    assert step.facts == step.plain == step.attribute("a").node == Absent(reason)


NO_SEQUENCES: list[Any] = [None, 3, torch.tensor(1.0), torch.nn.ReLU()]


@pytest.mark.parametrize("data", NO_SEQUENCES)
def test_a_loop_over_what_is_no_sequence_meets_what_is_absent(data: Any) -> None:
    (one,) = value(data)
    assert isinstance(one.node, Absent)
    with pytest.raises(AbsentError, match="it has no item 0"):
        all(each.plain > 0 for each in value(data))
    with pytest.raises(AbsentError):
        [a.plain != b for a, b in zip(value(data), [1, 2], strict=False)]
    assert [one.plain for one in value(data)] != []


@pytest.mark.parametrize("data", [*NO_SEQUENCES, Absent("nothing came")])
def test_what_is_no_sequence_has_the_length_zero_which_is_noted(data: Any) -> None:
    take_missed()
    assert len(Value(data) if isinstance(data, Absent) else value(data)) == 0
    assert read_in_vain() is not None
    take_missed()
    assert len(value([])) == len(value(())) == 0 == len([*value([]), *value({})])
    assert read_in_vain() is None


def test_operators_of_a_value_mean_what_they_mean_of_what_is_plain() -> None:
    assert value(3) == 3 and value(3) != 4
    assert not (value(3) == 4 or value(3) != value(3))
    assert value([1, 2]) == [1, 2] == [one.plain for one in value([1, 2])]
    assert 2 in value([1, 2]) and 3 not in value([1, 2])
    assert value(torch.ones(2)) == torch.ones(2) and value(torch.ones(2)) != torch.ones(3)
    assert value(np.ones(2)) == np.ones(2) and value(np.ones(2)) != np.ones(3)
    # Points that are made of a comparison are of one, not of each element of what an answer chose.
    assert (value(torch.ones(2)) == 1) is (value(np.ones(2)) == 1) is False
    assert (value(torch.tensor(1)) == 1) is (value(np.array(1)) == 1) is True
    assert value({1, 2}) == {1, 2} and len(value({1, 2})) == 2
    assert sorted(one.plain for one in value({1, 2})) == [1, 2]
    assert value(5) and not value(0) and not value(False) and not value(torch.tensor(0.0))
    assert value([0]) and not value([]) and not value(None) and value(torch.nn.ReLU())
    with pytest.raises(AbsentError, match="the result is the int 3; it has no items"):
        assert 3 not in value(3)
    for absent in (value(3)[0], value(None)["x"]):
        with pytest.raises(AbsentError):
            assert absent != 3
        with pytest.raises(AbsentError):
            assert 3 not in absent


@pytest.mark.parametrize(
    ("data", "item", "there"),
    [
        (torch.tensor([44], dtype=torch.uint8), 300, False),
        (torch.tensor([2048.0], dtype=torch.float16), 2049, False),
        (torch.tensor([[1, 2], [3, 4]]), 4, True),
        (torch.tensor([[1, 9], [8, 2]]), torch.tensor([1, 2]), False),
        (torch.tensor([[1, 9], [8, 2]]), torch.tensor([8, 2]), True),
        ([torch.tensor([1, 2]), 3], 3, True),
        (torch.tensor(3), 3, True),
        ("abc", "bc", True),
        ({"a": 1}, "a", True),
    ],
)
def test_an_item_of_a_value_is_one_of_its_elements_or_rows(
    data: Any, item: Any, there: bool
) -> None:
    assert (item in value(data)) is there


def test_one_element_is_as_true_as_it_is_in_torch() -> None:
    assert not value(torch.zeros(1)) and value(torch.ones(1, 1)) and value(torch.zeros(3))


def test_a_tensor_that_was_too_large_keeps_its_facts_and_loses_its_elements() -> None:
    large = value(torch.ones(100), limits=EncodingLimits(nbytes=8))
    assert large.present and large.facts.shape == (100,) and len(large) == 100
    assert large[0].node == Absent("the result was too large to carry")
    assert large.plain == Absent("the tensor was too large to carry, or has no elements to read")


def test_what_is_no_tensor_has_no_facts_and_says_what_it_is() -> None:
    assert value([1]).facts == Absent("the result is a list of 1, not a tensor")


def test_a_handle_tells_what_is_plain_about_it() -> None:
    module = value(torch.nn.Dropout().eval())
    assert module.attribute("training").plain is False
    assert module.attribute("training").where == "the result.training"
    absent = Absent("the result is an object of class Dropout; it has no 'colour'")
    assert module.attribute("colour").node == absent
    assert value(3).attribute("x").node == Absent("the result is the int 3; it has no 'x'")


def test_plain_data_has_tensors_in_place_and_keeps_its_containers() -> None:
    plain = value([(torch.ones(1),), {"a": torch.zeros(1)}]).plain
    assert type(plain) is list and type(plain[0]) is tuple
    assert torch.equal(plain[0][0], torch.ones(1)) and torch.equal(plain[1]["a"], torch.zeros(1))


def test_a_value_shows_where_it_stands_and_what_it_is() -> None:
    assert repr(value([1])[0]) == "<the result[0]: the int 1>"


def test_a_seen_tensor_is_equal_to_itself_alone() -> None:
    one = value(torch.ones(1)).node
    assert isinstance(one, SeenTensor) and one == one and one != value(torch.ones(1)).node


def test_a_part_is_named_as_it_is_typed() -> None:
    result = Value({"layers": [1, 2, 3], (0, 1): [7]})
    assert result["layers"][:2].where == "the result['layers'][:2]"
    assert result["layers"][::2].where == "the result['layers'][::2]"
    assert result["layers"][1:][0].where == "the result['layers'][1:][0]"
    assert result[0, 1].where == "the result[0, 1]"
    assert Value(3)[1:2].node.reason == "the result is the int 3; it has no item 1:2"


@pytest.mark.parametrize("other", [3, None, [3.0], torch.ones(1)])
def test_what_is_not_there_differs_from_nothing(other: Any) -> None:
    absent = Absent("there is nothing")
    for differs in (lambda: absent != other, lambda: other != absent):
        with pytest.raises(AbsentError, match="there is nothing"):
            differs()


@pytest.mark.parametrize(
    ("data", "number", "equal"),
    [
        (torch.tensor(333, dtype=torch.bfloat16), 333, False),  # it is 332
        (torch.tensor(332, dtype=torch.bfloat16), 332, True),
        (torch.tensor(4, dtype=torch.uint8), 260, False),
        (torch.tensor(4, dtype=torch.int32), 2**32 + 4, False),
        (torch.tensor(True), 1, True),
        (torch.tensor(0.1), 0.1, True),  # as far as float32 tells
        (torch.tensor(0.1, dtype=torch.float64), 0.1, True),
        (torch.tensor(1 + 2j), 1 + 2j, True),
        (np.full((), 0.1, np.float16), 0.1, False),
        (np.full((), 0.1, np.float32), 0.1, True),
    ],
)
def test_a_number_is_not_rounded_to_a_narrow_dtype(data: Any, number: Any, equal: bool) -> None:
    assert (value(data) == number) is equal
