"""nbgrader's own tests of `nbgrader autograde`, and what is expected of ours in its place."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.tests.apps import test_nbgrader_autograde as theirs

EXPECTATIONS = Path(__file__).with_name("expectations.toml")
SUITE = theirs.TestNbGraderAutograde
SAME, BETTER, NOT_OURS, NOT_RUN = "same", "better", "not ours", "not run"


@dataclass(frozen=True)
class Case:
    """One test of nbgrader's: its name with its parameter, and what it is called with beside."""

    name: str
    method: str
    arguments: dict[str, Any]

    @property
    def question(self) -> str:
        """What it asks, in nbgrader's words: the docstring, else its name."""
        words = inspect.getdoc(getattr(SUITE, self.method)) or ""
        return " ".join(words.split()) or self.method.removeprefix("test_").replace("_", " ")


@dataclass(frozen=True)
class Expectation:
    """What is true of ours: a verdict, and where it is not "same" the reason.

    `at` is a part of the line at which nbgrader's test ends then.
    """

    verdict: str
    why: str = ""
    at: str = ""


def cases() -> Iterator[Case]:
    """Every test of nbgrader's, in its order; a parametrized one once for each value."""
    for name, method in vars(SUITE).items():
        if not name.startswith("test_"):
            continue
        marks = [one for one in getattr(method, "pytestmark", ()) if one.name == "parametrize"]
        if not marks:
            yield Case(name, name, {})
        for mark in marks:
            argument, values = mark.args
            for value in values:
                yield Case(f"{name}[{value}]", name, {argument: value})


def read_expectations() -> dict[str, Expectation]:
    """What expectations.toml says of each test."""
    found = tomllib.loads(EXPECTATIONS.read_text(encoding="utf-8"))
    same = {name: Expectation(SAME) for name in found.pop("same")}
    return same | {name: Expectation(**about) for name, about in found.items()}
