"""Which test cells of a notebook look at one moment of it, read from the code of its cells."""

from __future__ import annotations

import sys

import pytest

from autograder.lessons.cell_dependencies.cell_names import asked_for
from autograder.lessons.cell_dependencies.shared_snapshots import snapshot_places
from autograder.lessons.cell_dependencies.unneeded_cells import ShownCells
from autograder.lessons.cells import RawCell

SETUP = "import torch\nfrom course import Check, answer"


def _own(*sources: str) -> ShownCells:
    """A lesson whose own cells are these, behind its set-up cell."""
    setup = {"nbgrader": {"grade_id": "setup", "locked": True}}
    cells: list[RawCell] = [{"cell_type": "code", "source": SETUP, "metadata": setup}]
    cells += [{"cell_type": "code", "source": text, "metadata": {}} for text in sources]
    return ShownCells(cells)


def _looked_at(*texts: str, own: tuple[str, ...] = ()) -> list[int]:
    """At whose place each test looks; "?name" stands for a test cell that asks for `name`."""
    tests = {n: f"x = answer('{t[1:]}')" for n, t in enumerate(texts) if t.startswith("?")}
    run = {n: text for n, text in enumerate(texts) if n not in tests}
    found = snapshot_places(run, tests, _own(*own))
    return [found.get(number, number) for number in tests]


F, G = "def f(x):\n    return x + 1", "def g(x):\n    return x - 1"


def test_answers_that_have_no_name_in_common_are_looked_at_together() -> None:
    assert _looked_at(F, "?f", "y = torch.ones(2)", G, "?g") == [4, 4]
    # A key, or what a value is compared with, looks nothing up.
    assert _looked_at(F, "?f", "y = {'f': 1}['f'] == 'f'", G, "?g") == [4, 4]


@pytest.mark.parametrize(
    "between",
    ["def f(x):\n    return x", "f(torch.ones(2))", "table = ['f']", "del f", "print([f])"],
    ids=["bound anew", "called", "named in a text", "deleted", "read"],
)
def test_a_cell_that_touches_the_answer_comes_after_the_look(between: str) -> None:
    assert _looked_at(F, "?f", between, G, "?g") == [1, 4]


def test_what_the_answer_uses_counts_as_it_stands_there_too() -> None:
    uses = "rows = [1]\ndef f(x):\n    return x + rows[0]"
    assert _looked_at(uses, "?f", "rows.append(2)", G, "?g") == [1, 4]
    assert _looked_at("rows = [1]\nmore = rows", uses, "?f", "more.append(2)", G, "?g") == [2, 5]


def test_answers_that_share_a_name_are_looked_at_apart() -> None:
    counting = "calls = []\ndef f(x):\n    calls.append(x)"
    assert _looked_at(counting, "?f", "def g(x):\n    return len(calls)", "?g") == [1, 3]


def test_a_chain_of_cells_takes_steps_in_line_with_its_length() -> None:
    def calls(links: int) -> int:
        chain = [f"n{links}_{k} = n{links}_{k - 1}" for k in range(1, links)]
        changed, counted = f"n{links}_{links - 1} = 1", 0

        def count(*_: object) -> None:
            nonlocal counted
            counted += 1

        sys.setprofile(count)
        try:
            found = _looked_at(f"{F}\nn{links}_0 = f", *chain, "?f", changed, G, "?g")
        finally:
            sys.setprofile(None)
        assert found == [links, links + 3]
        return counted

    calls(10)
    assert calls(2000) < 15 * calls(200)  # 100 times as many where each link meets all others


def test_a_module_that_both_import_is_nothing_in_common() -> None:
    mine, yours = f"import math\n{F} * math.pi", f"import math\n{G} * math.e"
    assert _looked_at(mine, "?f", yours, "?g") == [3, 3]


@pytest.mark.parametrize(
    "between", ["math = 3", "import cmath as math", "math.pi = 3", "from torch import nn as math"]
)
def test_a_module_that_is_another_one_afterwards_is(between: str) -> None:
    assert _looked_at(f"import math\n{F} * math.pi", "?f", between, G, "?g") == [1, 4]


def test_a_module_that_was_missing_is() -> None:
    assert _looked_at(f"{F} * math.pi", "?f", f"import math\n{G}", "?g") == [1, 3]


@pytest.mark.parametrize(
    "unknown", ["exec('f = 1')", "%time torch.ones(2)", "globals()['f'] = 1", "torch.add = min"]
)
def test_after_a_learners_cell_that_may_touch_anything_each_is_looked_at_alone(
    unknown: str,
) -> None:
    h = "def h(x):\n    return x"
    assert _looked_at(F, "?f", unknown, G, "?g", h, "?h") == [1, 4, 6]
    assert _looked_at(unknown, F, "?f", G, "?g") == [2, 4]


def test_of_the_lessons_own_cells_every_word_counts() -> None:
    magic = "%time print(rows)"
    assert _looked_at(F, "?f", magic, G, "?g", own=(magic,)) == [4, 4]
    touching = "%time f(torch.ones(2))"
    assert _looked_at(F, "?f", touching, G, "?g", own=(touching,)) == [1, 4]


def test_a_cell_of_the_lesson_that_sets_what_all_share_stands_between() -> None:
    own = "torch.sum = torch.mean"
    h = "def h(x):\n    return x"
    assert _looked_at(F, "?f", own, G, "?g", h, "?h", own=(own,)) == [1, 6, 6]


def test_names_that_a_test_does_not_spell_out_are_all_of_its_texts() -> None:
    assert asked_for("for name in ('f', 'g'):\n    answer(name)") == {"f", "g"}
    assert asked_for("course.answer('f')('g')") == {"f"}
