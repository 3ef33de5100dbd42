"""What the packages of the grader offer says what it takes."""

from __future__ import annotations

import pytest

import autograder
from tests.docstrings import parameters, public_names, told

PUBLIC = public_names(autograder)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_a_package_offers_says_what_it_takes(name: str) -> None:
    assert told(PUBLIC[name]) == parameters(PUBLIC[name])


def test_the_engine_is_asked() -> None:
    assert "autograder.engine.EngineRunner" in PUBLIC
