"""Mutants differ from the solution in one place, within its region, and from each other."""

from __future__ import annotations

import pytest

from autograder.answer_bank.mutation.generate import mutants_of, same_code


def body(*lines: str, signature: str = "x") -> str:
    return f"def f({signature}):\n" + "\n".join(f"    {line}" for line in lines)


def told(source: str) -> list[str]:
    """What the diffs add, without the space before it."""
    return [
        line[1:].strip() for one in mutants_of(source) for line in one.diff if line.startswith("+")
    ]


@pytest.mark.parametrize(
    ("line", "become"),
    [
        ("return x < y", ["return x <= y", "return x >= y"]),
        ("return x == y", ["return x != y", "return x is y"]),
        ("return x is None", ["return x is not None"]),
        ("return x in y", ["return x not in y"]),
        ("return x + y", ["return x - y"]),
        ("return -x", ["return x"]),
        ("return x and y", ["return x or y", "return y", "return x"]),
        ("return y if x else z", ["return y", "return z"]),
        ("return [a for a in x if a]", ["return [a for a in x]"]),
        ("return x[2]", ["return x[3]", "return x[1]"]),
        ("return x[-1]", ["return x[0]", "return x[-2]"]),
        ("return x * 0.5", ["return x * 1.5"]),
        ("return True", ["return False"]),
        ("return 'leaf'", ["return 'leaf?'"]),
        ("return x[:n]", ["return x[:]", "return x[:n + 1]"]),
        ("return range(n)", ["return range(n - 1)", "return range(n + 1)"]),
        ("return x.permute(0, 2, 1)", ["return x.permute(2, 0, 1)", "return x.permute(0, 1, 2)"]),
        ("return g(x, dim=y)", ["return g(x)"]),
        ("return enumerate(x, y)", ["return enumerate(x)"]),
    ],
)
def test_python_is_changed_in_the_usual_ways(line: str, become: list[str]) -> None:
    assert set(become) <= set(told(body(line)))


@pytest.mark.parametrize(
    ("line", "become"),
    [
        ("return x.clone()", "return x"),
        ("return x.detach()", "return x"),
        ("return x.detach()", "return x.clone()"),
        ("return x.contiguous()", "return x"),
        ("return x.reshape(y)", "return x.view(y)"),
        ("return x.view(y)", "return x.reshape(y)"),
        ("return x.movedim(-1, y)", "return x.movedim(y, -1)"),
        ("return min(x)", "return max(x)"),
        ("return x.abs()", "return x.abs_()"),
        ("return x.mul_(y)", "return x.mul(y)"),
        ("return x.detach().add(y)", "return x.detach().add_(y)"),
        ("return torch.relu(x)", "return x"),
        ("return torch.float64", "return torch.float32"),
        ("return x.data", "return x"),
        ("return x.squeeze(1)", "return x.squeeze()"),
        ("return list(x)", "return x"),
    ],
)
def test_pytorch_is_changed_by_what_is_near(line: str, become: str) -> None:
    assert become in told(body(line))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["x.zero_()", "return x"], "`x.zero_()` is gone"),
        (["if x:", "    x.zero_()", "return x"], "`if x:` is gone, its body stays"),
        (
            ["with torch.no_grad():", "    x.zero_()"],
            "`with torch.no_grad():` is gone, its body stays",
        ),
        (
            ["with torch.no_grad():", "    x.zero_()"],
            "`torch.no_grad()` became `torch.enable_grad()`",
        ),
        (["for a in x:", "    g(a)"], "`for a in x:` ends after its first round"),
        (["for a in x:", "    if a:", "        break"], "`break` became `continue`"),
        (["g(x)", "h(x)"], "`g(x)` and `h(x)` are swapped"),
        (
            ["try:", "    g(x)", "finally:", "    h(x)"],
            "`try:` is gone, its body stays, and `finally`",
        ),
        (
            ["try:", "    g(x)", "except KeyError:", "    h(x)"],
            "`except KeyError` became `except Exception`",
        ),
        (["raise ValueError('no')"], "`raise ValueError('no')` became `raise Exception('no')`"),
        (["x += y", "return x"], "`x += y` became `x = x + y`"),
        (["x += y", "return x"], "`x += y` became `x = y`"),
        (["x = x + y", "return x"], "`x = x + y` became `x += y`"),
        (["return None"], "`return None` became `return False`"),
        (["return x, y"], "`return (x, y)` became `return (y, x)`"),
    ],
)
def test_statements_go_swap_and_lose_their_heads(lines: list[str], words: str) -> None:
    assert words in [one.words for one in mutants_of(body(*lines))]


def test_defaults_and_decorators_are_changed() -> None:
    source = "@torch.no_grad()\n" + body("return x", signature="x, dim=1")
    words = [one.words for one in mutants_of(source)]
    assert "`@torch.no_grad()` above `f` is gone" in words
    assert "the default of `dim` became `2`" in words
    assert "`dim` has no default" in words


def test_only_the_region_of_the_solution_is_changed() -> None:
    source = body(
        "y = x + 1", "### BEGIN SOLUTION", "return y * 2", "### END SOLUTION", signature="x, n=3"
    )
    changed = {one.line for one in mutants_of(source)}
    assert changed == {1, 4}  # a default is the learner's to keep


def test_a_line_is_that_of_the_source_cell() -> None:
    found = mutants_of(body("### BEGIN SOLUTION", "# why", "return x < 1", "### END SOLUTION"))
    assert found[0].title == "line 4: `x < 1` became `x <= 1`"
    assert found[0].diff == ("-    return x < 1", "+    return x <= 1")


def test_no_two_mutants_do_the_same_and_none_does_what_the_solution_does() -> None:
    source = body("if x == 1:", "    return 2 + 3", "return [a for a in x][1:]")
    codes = [same_code(one.source) for one in mutants_of(source)]
    assert len(set(codes)) == len(codes) > 5
    assert same_code(source) not in codes


def test_every_mutant_compiles_and_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    for one in mutants_of(body("if x == 'a':", "    continue_ = 1", "return x != 1, {**x}")):
        compile(one.source, "mutant", "exec")
    assert list(recwarn) == []


def test_messages_and_lengths_that_agree_are_left_alone() -> None:
    source = body("raise ValueError(f'{x + 1} elements')")
    assert told(source) == ["raise Exception(f'{x + 1} elements')"]
    assert not [
        line for line in told(body("return zip(x, y, strict=True)")) if "strict" not in line
    ]


def test_plain_numbers_are_not_added_out_of_place() -> None:
    words = [
        one.words for one in mutants_of(body("n = 0", "for a in x:", "    n += a", "return n"))
    ]
    assert "`n += a` became `n = a`" in words
    assert "`n += a` became `n = n + a`" not in words


def test_writing_to_what_nobody_else_holds_is_no_change() -> None:
    assert "return (x + y).abs_()" not in told(body("return (x + y).abs()"))


def test_the_same_source_gives_the_same_mutants_in_the_same_order() -> None:
    source = body("y = x.detach().clone()", "y += 1", "return y if x.dim() > 0 else None")
    assert mutants_of(source) == mutants_of(source)
    assert [one.line for one in mutants_of(source)] == sorted(o.line for o in mutants_of(source))


@pytest.mark.parametrize(
    "text",
    [
        'def f(x):\n    """Say more."""\n    return x + 1  # one more',
        "def f( x ):\n\n    return (x + 1)",
    ],
)
def test_layout_comments_and_docstrings_do_not_make_another_answer(text: str) -> None:
    assert same_code(text) == same_code(body("return x + 1"))
    assert same_code(text) != same_code(body("return x + 2"))
