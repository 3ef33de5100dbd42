"""An answer may call a sealed function and not look into it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from course.probes.sealing import sealed

SECRET = ["what a test expects"]


def counting(calls: list[Any]) -> Any:
    """A function whose closure holds the list and the secret."""
    secret = SECRET

    def step(*given: Any, **more: Any) -> Any:
        calls.append((given, more))
        if given == ("fail",):
            raise ValueError(secret)
        return calls

    return step


def test_it_is_called_as_ever_and_caches_nothing() -> None:
    calls: list[Any] = []
    step = sealed(counting(calls))
    for _ in range(2):
        assert step([], {}, x=[1]) is calls  # a cache would have to hash them
    assert calls == [(([], {}), {"x": [1]})] * 2
    for _ in range(2):
        with pytest.raises(ValueError, match="expects"):
            step("fail")


def test_no_attribute_leads_to_what_it_closes_over() -> None:
    calls: list[Any] = []
    step, inner = sealed(counting(calls)), counting(calls)
    held = [getattr(step, name) for name in dir(step)]
    for one in (*held, vars(step)):
        assert one is not calls and not isinstance(one, type(inner)), one
    assert not inspect.isfunction(step) and inspect.unwrap(step) is step
