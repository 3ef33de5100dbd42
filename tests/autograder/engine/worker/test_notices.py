"""What was noticed is told in words of the grader's own, about cells that ran."""

from __future__ import annotations

import pytest

from autograder.engine.worker.notices import SAID, told_of

CELLS = {"Cell 3", "`flatten`"}


@pytest.mark.parametrize("what", sorted(SAID))
def test_what_is_watched_for_is_named(what: str) -> None:
    assert told_of([["Cell 3", what]], CELLS) == f"Cell 3 {what}"


def test_words_of_somebody_else_are_not_told() -> None:
    notices = [["Cell 3", "was given 4711"], ["the input 4711", "used sys._getframe"]]
    told = told_of(notices, CELLS)
    assert told == "Cell 3 did what is watched for; A cell used sys._getframe"


def test_a_cell_comes_once_with_three_things_in_the_order_of_the_alphabet() -> None:
    several = [
        ["`flatten`", one] for one in ("used open", "used exec", "read tb_frame", "used import")
    ]
    assert told_of(several, CELLS) == "`flatten` read tb_frame, used exec, used import, and more"
    assert told_of(several[::-1] * 2, CELLS) == told_of(several, CELLS)
