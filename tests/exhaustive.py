"""Which of many like cases `make test` runs; `make test-all` runs every one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

Case = TypeVar("Case")


def sampled(cases: Iterable[Case], *usual: Case, why: str) -> list[Any]:
    """Cases for `parametrize` or a fixture's `params`: all but the usual ones are exhaustive.

    Args:
        cases: All of them, in their order.
        usual: Those that `make test` runs as well.
        why: What the others are, as it is told where they are left out.
    """
    cases = list(cases)
    unknown = [one for one in usual if one not in cases]
    assert not unknown, f"no such case: {unknown}"
    marks = pytest.mark.exhaustive(why)
    return [pytest.param(one, marks=() if one in usual else marks) for one in cases]
