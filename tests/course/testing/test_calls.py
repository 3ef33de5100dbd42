"""The call that a check tells of, as code to paste, or as the test cell says it."""

from __future__ import annotations

import linecache
import sys

import pytest

HEAD = '''\
import torch
from course import Check, answer, probe
def twice(x, n=2):
    return [one * n for one in x] if isinstance(x, list) else x * n
@probe
def run(twice, several, n):
    """What the n-th of several becomes.

    And more."""
    return [twice(one) for one in several][n]
twice_by = answer("twice")
several, check = [torch.ones(5, 5), torch.zeros(3)], Check("twice")
def helper(x):
    return answer("twice")(x).result
'''


def called(line: str) -> str | None:
    """The call that a failed check in this line of a test cell tells of."""
    cell, name = HEAD + line, "<ipython-input-1-0123456789ab>"
    linecache.cache[name] = (len(cell), None, cell.splitlines(keepends=True), name)
    namespace = vars(sys.modules["__main__"])
    before = dict(namespace)
    try:
        exec(compile(cell, name, "exec"), namespace)
        call: str | None = namespace["check"].result(1).checks[0].call
        return call
    finally:
        namespace.clear()
        namespace.update(before)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ('answer("twice")(torch.arange(3.0))', "twice(torch.tensor([0.0, 1.0, 2.0]))"),
        ('answer("twice")(several)', "twice(several)"),
        ('answer("twice").watch(backward=True)(several, n=3)', "twice(several, n=3)"),
        (
            "run(answer('twice'), several, n=1)",
            "run(twice, several, n=1)  # What the n-th of several becomes.",
        ),
        (
            "run(twice_by, [*several, 'twice_by'][:2], n=1)",
            "run(twice, [*several, 'twice_by'][:2], n=1)  # What the n-th of several becomes.",
        ),
        ("twice_by.watch(operators=False)(several)", "twice(several)"),
    ],
)
def test_a_call_is_told_as_code_or_as_the_cell_says_it(call: str, told: str) -> None:
    assert called(f"check.equal({call}.result, 7, name='é')") == told


@pytest.mark.parametrize("call", ['answer("twice")(\n    several).result', "helper(several)"])
def test_what_the_cell_does_not_say_in_a_line_of_its_own_is_described(call: str) -> None:
    described = "twice([<float32 tensor of size (5, 5)>, torch.tensor([0.0, 0.0, 0.0])])"
    assert called(f"check.equal({call}, 7)") == described
