"""Cases that are left out by their position are found; what is chosen by what it holds is not."""

from __future__ import annotations

import ast
import textwrap

import pytest

from autograder.lessons.lint.thinning import thinned


def found(source: str) -> list[tuple[int, str]]:
    """The thinnings in a cell."""
    return list(thinned(ast.parse(textwrap.dedent(source))))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("cases = inputs.tensors()\ncheck.agrees(right, cases[::3])", "cases[::3]"),
        ("cases = [Case('a')]\ncases = cases[:150:2] + cases[-40:]", "cases[:150:2]"),
        ("check.agrees(right, jobs[::2])", "jobs[::2]"),
        ("cases = inputs.tensors()\nmore = [c for c in cases if c.kind][::2]", "[::2]"),
        ("cases = [Case('a', (n,)) for n in range(9) if n % 3 == 0]", "if n % 3 == 0"),
        (
            "cases = []\nfor i in one:\n    for j in one:\n        if j % 3 == i % 3:\n"
            "            kind = 'two'\n            cases.append(Case(kind, (i, j)))",
            "if j % 3 == i % 3",
        ),
        ("cases = [Case('a')]\nif turn % 2:\n    cases += [Case('b')]", "if turn % 2"),
    ],
)
def test_a_thinning_is_found_with_its_text(source: str, words: str) -> None:
    ((line, text),) = found(source)
    assert line > 0 and text.endswith(words)


@pytest.mark.parametrize(
    "source",
    [
        "cases = inputs.tensors()\nfew = cases[:5] + cases[-1:]",
        "cases = [Case('a', (x[::2],)) for x in rows]",
        "cases = [case for case in inputs.tensors() if case.tensor.dim() == 2]",
        "cases = [Case('a' if n % 2 else 'b', (n,)) for n in range(9)]",
        "for n in range(9):\n    if n % 3 == 0:\n        size = -1\n    cases.append(Case('a'))",
        "cases = []\nif n % 2:\n    cases.append(Case('a'))\nelse:\n    cases.append(Case('b'))",
        "check.equal(away.result, drawn[::2])",
    ],
)
def test_what_is_chosen_by_what_it_holds_is_fine(source: str) -> None:
    assert found(source) == []
