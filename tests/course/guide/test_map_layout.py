"""On the map each lesson stands below what it builds on, and lines run between the boxes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.guide.lesson_cards import Card, cards
from course.guide.map_layout import columns_of, direct, lines_of, places_of, rows_of

Needs = dict[str, tuple[str, ...]]


@st.composite
def needs(draw: st.DrawFn) -> Needs:
    """Up to nine lessons, each with some of those before it."""
    numbers = [f"{n:02}" for n in range(1, draw(st.integers(1, 9)) + 1)]
    some = {
        number: draw(st.lists(st.sampled_from(numbers[:at]), unique=True, max_size=3)) if at else []
        for at, number in enumerate(numbers)
    }
    return {number: tuple(sorted(one)) for number, one in some.items()}


def known(asked: Needs) -> list[Card]:
    return [Card(f"{number}-a", "A", 90, one, "", (), ()) for number, one in asked.items()]


def behind(asked: Needs, number: str) -> set[str]:
    """All that a lesson builds on, however far."""
    return set().union(*({one} | behind(asked, one) for one in asked[number]))


@given(needs())
def test_a_line_that_follows_from_others_is_left_out_and_nothing_is_lost(asked: Needs) -> None:
    found = direct(known(asked))
    for number, mine in found.items():
        assert behind(found, number) == behind(asked, number)
        assert not any(one in behind(asked, other) for one in mine for other in mine)


def test_a_lesson_that_is_not_there_has_no_line() -> None:
    assert direct(known({"05": ("04",)})) == {"05": ()}


@settings(deadline=None, max_examples=25)
@given(needs())
def test_each_lesson_has_a_place_of_its_own_below_what_it_builds_on(asked: Needs) -> None:
    places = places_of(asked)
    assert places.keys() == asked.keys()
    assert len(set(places.values())) == len(places)
    assert all(place.column < columns_of(asked) for place in places.values())
    for number, mine in asked.items():
        assert all(places[one].row < places[number].row for one in mine)


@pytest.mark.exhaustive("maps of many forms")
@settings(deadline=None, max_examples=25)
@given(needs())
def test_lines_in_one_gap_run_side_by_side(asked: Needs) -> None:
    places = places_of(asked)
    taken = set()
    for line in lines_of(asked, places):
        start, end = places[line.above].row, places[line.below].row
        assert (line.gap is None) == (end == start + 1)
        for row in range(start, end + 1) if line.gap is not None else ():
            assert (line.gap, line.track, row) not in taken
            taken.add((line.gap, line.track, row))


def test_the_first_row_has_what_builds_on_nothing() -> None:
    assert rows_of({"01": (), "02": ("01",), "03": ()}) == {"01": 0, "02": 1, "03": 0}


def test_on_the_courses_map_the_same_cards_give_the_same_places() -> None:
    asked = direct(cards())
    assert places_of(asked) == places_of(direct(cards()))
    assert columns_of(asked) == 3, "a wider map is hard to read"
