"""What docs/authoring.md says about commands, checks, claims and answers is so.

`python -m tests.test_authoring_page` writes the list of checks into the page.
"""

from __future__ import annotations

import inspect
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import torch

from autograder.answer_bank.bank import parse_bank
from autograder.cli.main import build_parser
from autograder.lessons.lint.thresholds import LEAST_CHECKS, LEAST_HIDDEN, LEAST_RIGHT, LEAST_WRONG
from autograder.lessons.lint.travel import outside_names
from course import Check, warm_up
from course.claims import VERDICTS, prove
from course.claims.prediction import parse_predictions
from course.claims.prediction_words import measured
from course.claims.schema import _CLAIM_OPTIONAL, _CLAIM_REQUIRED, parse
from course.practice.warm_ups import parse_warm_ups

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "authoring.md"
TEXT = PAGE.read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"^(autograder .*)$|`(autograder [^`]+)`", TEXT, re.MULTILINE)))
BEGIN, END = "<!-- checks: written by tests/test_authoring_page.py -->\n", "<!-- end of checks -->"


def block(language: str, holding: str = "") -> str:
    """The page's first code of a language in which that stands."""
    found = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return str(next(one for one in found if holding in one))


def list_of_checks() -> str:
    """A table of Check's methods, from their own signatures and docstrings."""
    rows = ["| check | holds when |", "|---|---|"]
    for name, method in inspect.getmembers(Check, inspect.isfunction):
        if not name.startswith("_") and name not in ("score", "result"):
            words = [one for one in inspect.signature(method).parameters if one != "self"]
            called = f"{name}({', '.join(word for word in words if word != 'how')})"
            told = (method.__doc__ or "").splitlines()[0].replace("|", "\\|")
            rows.append(f"| `{called}` | {told} |")
    return "\n".join(rows) + "\n"


def with_checks(text: str) -> str:
    """The page with the list of checks as it has to be."""
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + list_of_checks() + END + rest.partition(END)[2]


def test_the_list_of_checks_is_that_of_the_class() -> None:
    assert with_checks(TEXT) == TEXT, "run `python -m tests.test_authoring_page`"


@pytest.mark.parametrize("command", ["".join(found) for found in COMMANDS])
def test_every_command_of_the_page_is_one(command: str) -> None:
    words = shlex.split(command)
    parser = build_parser()
    if len(words) > 2:
        options, unknown = parser.parse_known_args(words[1:])
        assert (options.command, unknown) == (words[1], [])
    else:
        assert re.search(rf"^    {words[1]}\s", parser.format_help(), re.MULTILINE)


def test_the_claim_of_the_page_has_its_form_and_its_proof_holds() -> None:
    entries = parse(block("toml", "[[claim]]"), "04-memory-layout")
    assert prove(entries.claims[0]).holds
    assert entries.claims[0].misconception == entries.misconceptions[0].id


def test_the_page_names_every_key_of_a_claim_and_every_verdict() -> None:
    shown = set(tomllib.loads(block("toml", "[[claim]]"))["claim"][0])
    named = set(re.findall(r"`(\w+)`", TEXT))
    assert {*_CLAIM_REQUIRED, *_CLAIM_OPTIONAL} <= shown | named
    assert " | ".join(VERDICTS) in block("toml", "[[claim]]")


def test_the_answers_of_the_page_have_their_form() -> None:
    found = parse_bank(block("python", "# %% right"), PAGE)
    assert [(one.kind, one.exercise) for one in found] == [
        ("right", "flatten"),
        ("wrong", "flatten"),
    ]


def test_the_test_cell_of_the_page_uses_nothing_but_the_set_up() -> None:
    assert outside_names(block("python", "check.score")) == {"torch", "answer", "Check"}


def test_the_warm_up_of_the_page_asks() -> None:
    names: dict[str, object] = {"torch": torch, "warm_up": warm_up}
    exec(block("python", "warm_up(").replace("warm_up(", "task = warm_up("), names)
    assert "Put your answer in place of ..." in repr(names["task"])
    [one] = parse_warm_ups(block("toml", "[[warm_up]]"), "page")
    assert repr(names["task"]).startswith(f"Warm-up. {one.asks.replace('`', '')}")
    assert eval(one.right, names) == (1, 6)


def test_the_prediction_of_the_page_says_what_its_lines_print() -> None:
    [one] = parse_predictions(block("toml", "[[prediction]]"), "page")
    assert measured(one, one.prints).right


def test_the_numbers_on_the_page_are_those_that_hold() -> None:
    assert f"At least {LEAST_CHECKS} checks, {LEAST_HIDDEN} of them hidden" in TEXT
    assert f"At least {LEAST_RIGHT} right and {LEAST_WRONG} wrong ones" in TEXT


def test_the_readme_and_the_teachers_page_lead_to_it() -> None:
    for name in ("README.md", "docs/teaching.md"):
        assert "authoring.md)" in (ROOT / name).read_text(encoding="utf-8"), name


if __name__ == "__main__":
    PAGE.write_text(with_checks(TEXT), encoding="utf-8")
