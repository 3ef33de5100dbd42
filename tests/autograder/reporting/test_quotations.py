"""What counts as a quotation of a hidden test, and what does not."""

from __future__ import annotations

import pytest

from autograder.reporting.quotations import LONG_NUMBER, Secrets

HIDDEN = """\
):
    torch.float64,
    x = secret(1)
    y = shown(1)
    7: 49,
    "fig",
    i += 1
    2.7182818284,
    784, 12,
    return total"""
SHOWN = "y = shown( 1 )  # of 12, not 100"


def secrets(hidden: str = HIDDEN) -> Secrets:
    return Secrets.of(hidden.split("\n"), SHOWN)


def test_lines_that_tell_nothing_or_are_public_are_no_secrets() -> None:
    found = secrets()
    assert found.lines == ("x = secret(1)", "return total", "784, 12,", '"fig",', "7: 49,")
    assert found.numbers == {"2.7182818284", "784"}


QUOTED = [
    "x = secret(1)",
    "I saw x=secret( 1 ) there",
    "line: 7: 49, | 9: 81,",
    "{7:49}",
    "here 2.7182818284 and",
    "n784",
    "7_84",
    'a "fig" tree',
]
NOT_QUOTED = ["17: 49", "7: 490", "7849", "x = 1", "fig", "12", "i += 1", "", "torch.float64"]


@pytest.mark.parametrize("text", QUOTED)
def test_a_quotation_is_one_however_it_is_spaced(text: str) -> None:
    assert secrets().are_quoted(text)


@pytest.mark.parametrize("text", NOT_QUOTED)
def test_other_words_are_none(text: str) -> None:
    assert not secrets().are_quoted(text)


@pytest.mark.parametrize(("text", "quoted"), [("784", False), ("2.7182818284", True)])
def test_where_much_is_said_short_numbers_are_the_same_by_chance(text: str, quoted: bool) -> None:
    assert secrets().are_quoted(text, LONG_NUMBER) is quoted


def test_zeros_in_front_are_no_digits_of_a_number() -> None:
    assert secrets("0.05, 0.0051, 0.512").numbers == {"0.512"}
