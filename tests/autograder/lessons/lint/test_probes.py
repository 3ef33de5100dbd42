"""A probe observes: what compares, expects or runs a reference beside the answer is refused."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import course.probes
from autograder.lessons.lint.probes import judged_in, judgements

HEAD = "@probe\ndef look(answer, x):\n"
JUDGING = {
    "    return torch.equal(answer(x), x)": "it compares by `equal`",
    "    return {'near': torch.allclose(answer(x), x)}": "it compares by `allclose`",
    "    return answer(x) == 3": "it compares: `answer(x) == 3`",
    "    same = answer(x).data_ptr() == x.data_ptr()\n    return same": "it compares: `answer(x)",
    "    return all(one > 0 for one in answer(x))": "it compares: `one > 0`",
    "    expected = x * 2\n    return answer(x) - expected": "as `expected`",
    "    def reference(x):\n        return x\n    return answer(x)": "as `reference`",
    "    def plain(x):\n        return x\n    return [run(x) for run in (plain, answer)]": (
        "it runs `answer` and `plain` in turn: a reference beside the answer"
    ),
    "    def plain(x):\n        return x\n"
    "    for name, run in (('plain', plain), ('answer', answer)):\n        run(x)": (
        "it runs `answer` and `plain` in turn"
    ),
}
OBSERVING = [
    "    return answer(x)",
    "    before = x._version\n    answer(x)\n    return [before, x._version]",
    "    return answer(x) is x",
    "    return [p.grad is None for p in answer(x)]",
    "    if x.dim() == 2:\n        x = x[0]\n    return answer(x)",
    "    return [one for one in answer(x) if one > 0]",
    "    return 'device' if answer(x).device == x.device else 'host'",
    "    return answer(torch.ones(2, requires_grad=x != 3))",
    "    def step(n):\n        return x * n\n    return answer(step, 3)",
]


@pytest.mark.parametrize("body", JUDGING)
def test_a_probe_that_judges_is_told_where_and_what_to_do(body: str) -> None:
    (probe, (line, cause, remedy)), *_ = judgements(HEAD + body)
    assert probe == "look" and line > 1 and JUDGING[body] in cause
    assert "test cell" in remedy


@pytest.mark.parametrize("body", OBSERVING)
def test_a_probe_that_observes_is_let_alone(body: str) -> None:
    assert list(judgements(HEAD + body)) == []


def test_a_function_of_the_test_cell_may_judge_as_it_likes() -> None:
    assert list(judgements("def near(a, b):\n    return torch.allclose(a, b)")) == []


def test_no_probe_of_the_course_judges() -> None:
    found = [
        (path.name, one)
        for path in sorted(Path(course.probes.__file__).parent.rglob("*.py"))
        if path.name != "decorator.py"
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
        for one in judged_in(node)
    ]
    assert found == []
