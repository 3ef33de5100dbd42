"""Each run of a test cell in a notebook is noted; the best result of an exercise stays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from course import Check
from course.testing import attempts
from course.testing.attempts import Best, best_results, better, take_over

GOOD = "def half(x):\n    return x / 2"
BAD = "def half(x):\n    return x"
STUB = "def half(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
TEST = 'half = answer("half")\ncheck = Check("half")\ncheck.score(2)'


@pytest.fixture(autouse=True)
def nothing_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_notes", attempts._Notes())


class Notebook:
    """Stands for the shell of a notebook: what it has run."""

    def __init__(self, *cells: str) -> None:
        self.user_ns: dict[str, Any] = {"In": ["", *cells]}


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    import IPython

    shell = Notebook(GOOD, TEST)
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr("course.testing.checks.show_table", lambda result, about: None)
    yield shell


def run(*held: bool, exercise: str = "half") -> float:
    """A test cell of 2 points, half of them for each check."""
    check = Check(exercise)
    for holds in held:
        check.that(holds, name="it holds")
    return check.score(2)


def test_a_run_is_noted_with_its_points(notebook: Notebook) -> None:
    assert run(True, False) == 1.0
    assert best_results() == {"half": Best(1.0, 2.0, 1, GOOD)}


def test_the_best_run_stays_and_all_are_counted(notebook: Notebook) -> None:
    run(True, True)
    notebook.user_ns["In"] += [BAD, TEST]
    run(False, False)
    assert best_results() == {"half": Best(2.0, 2.0, 2, GOOD)}


def test_of_two_equal_runs_the_later_answer_is_kept(notebook: Notebook) -> None:
    run(True, True)
    notebook.user_ns["In"] += [GOOD + "  # shorter", TEST]
    run(True, True)
    assert best_results()["half"].answer == GOOD + "  # shorter"


def test_an_untouched_stub_is_no_attempt(notebook: Notebook) -> None:
    from course import answer

    notebook.user_ns["In"] = ["", STUB, TEST]
    exec(STUB, notebook.user_ns)
    check = Check("half")
    check.equal(answer("half")(1.0).result, 0.5)
    check.score(2)
    assert best_results() == {}


def test_nothing_is_noted_outside_of_a_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    run(True, True)
    assert best_results() == {}


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([GOOD, TEST], GOOD),
        ([GOOD, "x = 1", TEST], GOOD),
        ([BAD, GOOD, TEST], GOOD),
        ([GOOD, "def half(:", TEST], GOOD),
        (["half = lambda x: x / 2", TEST], "half = lambda x: x / 2"),
        (["half: object = max", TEST], "half: object = max"),
        (["class half: ...", TEST], "class half: ..."),
        (["print(half)", TEST], ""),
        ([GOOD, "x = 1", "def third(x): ...", 'answer("half"), answer("third")'], None),
    ],
)
def test_the_answer_is_the_cell_that_last_defined_it(cells: list[str], found: str | None) -> None:
    both = f"{GOOD}\n\n\ndef third(x): ..."
    assert attempts._answer_in(["", *cells]) == (both if found is None else found)


def test_better_keeps_the_higher_share_and_the_larger_count() -> None:
    mine, other = Best(1, 2, 5, "mine"), Best(2, 2, 1, "other")
    assert better(mine, other) == better(other, mine) == Best(2, 2, 5, "other")
    assert better(mine, mine) == mine
    assert better(None, other) == other


def test_of_equal_results_mine_is_kept() -> None:
    assert better(Best(2, 2, 1, "mine"), Best(2, 2, 3, "other")) == Best(2, 2, 3, "mine")


def test_results_taken_over_say_where_they_are_better(notebook: Notebook) -> None:
    run(True, False)
    gained = take_over({"half": Best(2, 2, 3, "other"), "third": Best(0, 1, 1)})
    assert gained == ["half", "third"]
    assert take_over({"half": Best(0.5, 2, 9, "worse")}) == []
    assert best_results()["half"] == Best(2, 2, 9, "other")
