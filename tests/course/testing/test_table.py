"""What a table says beside its checks: the numbers that are honest, why, and what has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from course import Check, answer
from course.testing import attempts, results
from course.testing.results import Points
from course.testing.table import About, headline, html_table, text_table
from tests.course.cells import learner, run_cell

GOOD = "def half(x):\n    return x / 2"
TEST = 'half = answer("half")\ncheck = Check("half")\ncheck.score(2)'


def result(*held: bool, hidden: bool = False, exercise: str = "half") -> results.TestResult:
    """Checks of which some hold; the last one is hidden, if asked for."""
    check = Check(exercise)
    for n, holds in enumerate(held):
        check.equal(int(holds), 1, name=f"check {n}", misconception="no-such-belief")
    found = check.result(2)
    last = replace(found.checks[-1], hidden=hidden)
    return replace(found, checks=(*found.checks[:-1], last))


# ---------------------------------------------------------------- numbers


def test_in_the_class_edition_checks_are_counted_and_no_points_are_named() -> None:
    line = headline(result(True, True), About(hidden="sizes 0 and 1"))
    assert line == "half: 2 of 2 visible checks hold; hidden ones also try sizes 0 and 1"
    assert "points" not in text_table(result(True, False))


def test_where_nothing_is_known_of_hidden_checks_none_are_promised() -> None:
    assert headline(result(True)) == "half: 1 of 1 visible checks hold; grading may add hidden ones"


def test_with_its_hidden_checks_a_table_names_the_points() -> None:
    assert headline(result(True, False, hidden=True)) == "half: 1 of 2 points · 1 of 2 checks hold"


def test_the_self_study_edition_is_complete_and_names_the_points() -> None:
    assert headline(result(True), About(complete=True)).startswith("half: 2 of 2 points")


def test_while_it_is_graded_a_table_names_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert headline(result(True)).startswith("half: 2 of 2 points")


@pytest.mark.parametrize(("complete", "more"), [(False, ""), (True, ", 0 of 2 points")])
def test_an_exercise_that_was_not_attempted_says_so(complete: bool, more: str) -> None:
    empty = replace(result(True), status="not attempted")
    assert headline(empty, About(complete=complete)) == f"half: not attempted yet{more}"


def test_the_place_of_the_exercise_stands_first() -> None:
    assert headline(result(True), About(place=(3, 10))).startswith("Exercise 3 of 10, half: 1 of 1")


def test_the_points_of_a_cell_are_a_number_that_a_notebook_does_not_print() -> None:
    check = Check("half")
    check.equal(1, 1)
    points = check.score(2)
    assert (points, repr(points), str(points)) == (2.0, "2.0", "2.0")
    assert isinstance(points, Points) and points._repr_html_() == ""


# ---------------------------------------------------------------- words


@pytest.mark.parametrize("table", [text_table, html_table])
def test_why_it_holds_and_where_to_go_on_are_told_when_all_is_right(
    table: Callable[..., str],
) -> None:
    about = About(why="the strides merge", then="Exercise 4")
    assert "Why it holds: the strides merge" in table(result(True), about)
    assert "Next: Exercise 4" in table(result(True), about)
    assert "Why" not in table(result(True, False), about)


@pytest.mark.parametrize("table", [text_table, html_table])
def test_a_misconception_is_quoted_as_one(
    table: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from course.claims import schema

    belief = schema.Misconception("a", "views copy.", "They share.", "views", "04")
    monkeypatch.setattr("course.claims.misconception", lambda id: belief, raising=False)
    assert "You may believe: “views copy.” In fact: They share." in table(result(False))


@pytest.mark.parametrize("table", [text_table, html_table])
def test_what_a_row_above_has_told_is_not_told_again(
    table: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from course.claims import schema

    belief = schema.Misconception("a", "views copy.", "They share.", "views", "04")
    monkeypatch.setattr("course.claims.misconception", lambda id: belief, raising=False)
    check = Check("half")
    for actual in (0, 0, 5, 1):
        check.equal(actual, 1, name="what it gives", message="Halve it.", misconception="a")
    written = table(check.result(2))
    assert written.count("Halve it.") == 2  # of 0 and of 5: the values are others
    assert written.count("what it gives") == 4
    assert written.count("You may believe") == 1


def test_an_unknown_word_about_a_table_is_refused() -> None:
    with pytest.raises(TypeError, match="wy"):
        Check("half").score(2, wy="no")


# ---------------------------------------------------------------- in a notebook


class Shell:
    """Stands for the shell of a notebook: what it has run, and what it shows."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"In": [""]}
        self.events = self.display_pub = self
        self.hooks: list[Callable[[], None]] = []
        self.shown: dict[str, str] = {}

    def register(self, event: str, hook: Callable[[], None]) -> None:
        assert event == "post_run_cell"
        self.hooks.append(hook)

    def publish(
        self, data: dict[str, str], metadata: Any, transient: Any, update: bool = False
    ) -> None:
        assert update == (transient["display_id"] in self.shown)
        self.shown[transient["display_id"]] = data["text/plain"]

    def run(self, cell: str, *held: bool) -> None:
        """Run a cell; one with checks scores them."""
        self.user_ns["In"].append(cell)
        if held:
            check = Check("half")
            for holds in held:
                check.equal(int(holds), 1)
            check.score(2)
        for hook in self.hooks:
            hook()

    @property
    def last(self) -> str:
        """The text of the newest table."""
        return list(self.shown.values())[-1]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Shell:
    import IPython

    shell = Shell()
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr(attempts, "_notes", attempts._Notes())
    monkeypatch.setattr(attempts, "_watched", {})
    shell.run(GOOD)
    shell.run(TEST, True)
    return shell


def test_a_table_says_when_its_answer_has_changed(shell: Shell) -> None:
    assert "has changed" not in shell.last
    shell.run("def half(x):\n    return x // 2")
    assert "! Your answer has changed since this table was made." in shell.last


def test_an_answer_that_is_again_what_it_was_is_no_change(shell: Shell) -> None:
    shell.run("def half(x):\n    return x // 2")
    shell.run(GOOD)
    assert "has changed" not in shell.last


def test_other_cells_change_no_table(shell: Shell) -> None:
    shell.run("def third(x):\n    return x / 3")
    shell.run(GOOD)
    assert len(shell.shown) == 1 and "has changed" not in shell.last


def test_a_new_table_stands_for_the_new_answer(shell: Shell) -> None:
    shell.run("def half(x):\n    return x // 2")
    shell.run(TEST, False)
    assert len(shell.hooks) == 1
    old, new = shell.shown.values()
    assert "has changed" in old and "has changed" not in new


def test_after_a_syntax_error_the_older_answer_is_said_to_be_judged(shell: Shell) -> None:
    shell.run("def half(x:\n    return x")
    shell.run(TEST, True)
    assert "newest cell with `half` (SyntaxError), so the older one is judged here" in shell.last


def test_a_syntax_error_in_the_first_answer_leaves_none_to_judge(shell: Shell) -> None:
    shell.user_ns["In"] = [""]
    shell.run("def half(x:\n    return x")
    shell.run(TEST, True)
    assert "(SyntaxError), so there is none to judge" in shell.last


def test_a_syntax_error_that_was_mended_is_forgotten(shell: Shell) -> None:
    shell.run("def half(x:\n    return x")
    shell.run(GOOD)
    shell.run(TEST, True)
    assert "SyntaxError" not in shell.last


def test_a_grader_is_told_nothing_of_the_kind(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert attempts.unread_answers() == []
    assert not attempts.watch("half", lambda changed: None)


# ---------------------------------------------------------------- exceptions

THREE = """\
check = Check("f")
seen = answer("f")(torch.arange(4.0).view(2, 2).t())
check.equal(seen.result, torch.zeros(4), name="the first")
check.shape(seen.result, (4,), name="the second", misconception="no-such-belief")
check.that(seen.ok and seen.result.plain is None, name="the third")
other = answer("f")(torch.zeros(0))
check.equal(other.result, 0, name="another one")
### BEGIN HIDDEN TESTS
check.equal(seen.result, torch.zeros(4), name="the fourth")
### END HIDDEN TESTS
result = check.result(5)
"""


def lost(x: torch.Tensor) -> torch.Tensor:
    if not len(x):
        raise ValueError("no elements")
    return x.view(-1)


def test_an_exception_is_told_once_with_its_line_and_the_call_that_led_to_it() -> None:
    with learner({"f": lost}):
        found = run_cell(THREE, {"Check": Check, "answer": answer, "torch": torch})["result"]
    assert [one.reached for one in found.checks[:5]] == [True, False, False, True, False]
    assert all(one.attempted and not one.passed for one in found.checks[:5])
    text = text_table(found)
    assert text.count("view size is not compatible") == 1 and "`return x.view(-1)`" in text
    assert "called: f(torch.tensor([[0.0, 1.0], [2.0, 3.0]]).t())" in text
    for row in ("✗ the first", "– the second: not reached", "– the third: not reached"):
        assert row in text
    assert "✗ another one" in text and "– the fourth (hidden): not reached" in text
    assert html_table(found).count('aria-label="not reached"') == 3


def test_a_hidden_check_tells_neither_the_call_nor_the_text_of_an_exception() -> None:
    cell = THREE.replace("### BEGIN HIDDEN TESTS\n", "").replace(
        "seen =", "### BEGIN HIDDEN TESTS\nseen =", 1
    )
    with learner({"f": lost}):
        first = run_cell(cell, {"Check": Check, "answer": answer, "torch": torch})["result"].checks[
            0
        ]
    assert first.hidden and first.call is None
    assert first.message == "`f` ended with RuntimeError"


def test_what_a_condition_looks_at_in_vain_was_taken_by_the_exception() -> None:
    cell = THREE.replace('check.equal(seen.result, torch.zeros(4), name="the first")\n', "")
    cell = cell.replace('check.shape(seen.result, (4,), name="the second"', "check.that(True")
    with learner({"f": lost}):
        _, third, *_ = run_cell(cell, {"Check": Check, "answer": answer, "torch": torch})[
            "result"
        ].checks
    assert third.reached and third.message.startswith("this does not hold: `f` ended with Runtime")


AFTER_AN_EXCEPTION = """\
check = Check("f")
seen = answer("f", changes="x")(torch.arange(4.0).view(2, 2).t())
check.equal(seen.result, torch.zeros(4), misconception={"views-always": RuntimeError})
check.equal(seen.args_after[0], torch.zeros(2, 2), misconception="no-such-belief")
check.that(lambda: seen.ok and not seen.operators, message="An operator ran.")
result = check.result(3)
"""


def test_of_an_exception_that_a_belief_predicts_the_table_says_no_more() -> None:
    with learner({"f": lost}):
        given = {"Check": Check, "answer": answer, "torch": torch}
        found = run_cell(AFTER_AN_EXCEPTION, given)["result"].checks
    assert [one.reached for one in found[:3]] == [True, False, False]
    assert [one.misconception for one in found[:3]] == ["views-always", None, None]
    assert found[1].message == found[0].message  # what it left of its arguments says nothing
    assert "An operator ran" not in found[2].message
