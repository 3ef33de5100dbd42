"""What a test cell may not do is named before the grader meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.model import find_lesson, read_lesson
from tests.autograder import tiny

HEAD = 'ask = answer("double")\ncheck = Check("double")\n'
HIDDEN = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS\ncheck.score(2)"
ANY = "check.that(True)"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


def slips(
    course: Path, visible: str, hidden: str = ANY, score: str = "2", **task: object
) -> list[str]:
    """What is found in the test cell of `double` with these parts."""
    notebook = tiny.notebook()
    cells = {one["id"]: one for one in notebook["cells"]}
    last = HIDDEN.format(hidden).replace("score(2)", f"score({score})")
    cells["test-double"]["source"] = f"{HEAD}{visible}\n{last}"
    cells["double-task"]["metadata"]["course"] |= task
    lesson = read_lesson(tiny.write(course, notebook))
    return [f"{one.cause} | {one.remedy}" for one in lint_lesson(course, lesson)]


def test_a_probe_that_uses_a_name_from_outside_is_told_what_reaches_the_answer(
    course: Path,
) -> None:
    probe = "outside = torch.arange(3.0)\n@probe\ndef run(double):\n    return double(outside)"
    (found,) = slips(course, f"from course import probe\n{probe}")
    assert found == (
        "the probe 'run' uses 'outside', which is defined outside of it | Only its own text and "
        "the set-up cell's names reach the answer: define 'outside' inside, or pass it as an "
        "argument."
    )


def test_a_probe_may_use_the_set_up_cells_names_and_its_own(course: Path) -> None:
    probe = "@probe\ndef run(double, n):\n    x = torch.ones(n)\n    return double(x)"
    assert slips(course, f"from course import probe\n{probe}") == []


def test_a_visible_part_that_needs_the_hidden_one_is_found(course: Path) -> None:
    (found,) = slips(course, "def late():\n    return wanted", "wanted = 1")
    assert found.startswith("its visible part uses 'wanted', which only the hidden part defines")


def test_a_hidden_part_may_use_what_the_visible_one_made(course: Path) -> None:
    assert slips(course, "seen = ask(torch.ones(2))", "check.runs(seen)") == []


def test_a_hidden_part_that_cuts_a_statement_in_two_is_found(course: Path) -> None:
    (found,) = slips(course, "if True:", "    check.that(True)")
    assert found.startswith("without its hidden part it cannot be read")


def test_a_misspelt_answer_is_held_against_what_its_cell_defines(course: Path) -> None:
    (found,) = slips(course, 'other = answer("dubble")')
    assert found.startswith(
        "it asks for answer('dubble'), but cell double defines double. Did you mean double? | "
    )


def test_a_test_cell_may_not_take_the_name_it_asks_for(course: Path) -> None:
    (found,) = slips(course, 'double = answer("double")')
    assert found.startswith("it gives the name 'double', for which it asks, to something else")


def test_too_few_checks_are_counted_on_both_sides(course: Path) -> None:
    (found,) = slips(course, ANY, few_checks="")
    assert found.startswith(
        "it has 2 checks, 1 of them hidden | Write at least 8, 3 of them hidden"
    )


def test_enough_checks_in_all_are_too_few_where_two_are_hidden(course: Path) -> None:
    (found,) = slips(course, "\n".join([ANY] * 6), "\n".join([ANY] * 2), few_checks="")
    assert found.startswith("it has 8 checks, 2 of them hidden")
    assert slips(course, "\n".join([ANY] * 5), "\n".join([ANY] * 3), few_checks="") == []


@pytest.mark.parametrize("loop", ["for _ in range(9):\n    ", "def all_of_it():\n    "])
def test_checks_that_a_loop_makes_are_left_to_the_gate(course: Path, loop: str) -> None:
    assert slips(course, f"{loop}{ANY}", few_checks="") == []


def test_a_task_that_says_why_may_have_fewer_checks(course: Path) -> None:
    assert slips(course, ANY, few_checks="there is one case only") == []
    assert find_lesson(course, "1").exercise("double").few_checks == "there is one case only"


REFUSED = "check.raises(ask(0), ValueError, match='a')\ncheck.raises(ask(1), ValueError, match='b')"


def test_errors_that_could_say_everything_are_found(course: Path) -> None:
    (found,) = slips(course, REFUSED)
    assert found.startswith(
        "its ValueError has to say 'a' or 'b', and one that says all of them passes | Give each"
    )
    assert slips(course, REFUSED.replace("')", "', among=['a', 'b'])")) == []


def test_one_message_or_two_errors_need_no_telling_apart(course: Path) -> None:
    assert slips(course, REFUSED.replace("'b'", "'a'")) == []
    assert slips(course, REFUSED.replace("(1), ValueError", "(1), TypeError")) == []


def test_a_probe_that_judges_is_refused_with_its_line(course: Path) -> None:
    probe = "@probe\ndef run(double, x):\n    return torch.equal(double(x), x * 2)"
    (found,) = slips(course, f"from course import probe\n{probe}")
    assert found.startswith("the probe 'run' judges in line 6: it compares by `equal` | Return")


@pytest.mark.parametrize("words", ["place=(1, 2)", 'why=f"{1}"'])
def test_a_table_is_told_why_and_what_is_hidden_and_nothing_else(course: Path, words: str) -> None:
    (found,) = slips(course, ANY, score=f"2, {words}")
    assert found.startswith(f"its check.score says '{words.partition('=')[0]}'")


def test_a_table_may_be_told_why_it_holds_and_what_hidden_checks_try(course: Path) -> None:
    assert slips(course, ANY, score='2, why="They share.", hidden="empty inputs"') == []


def test_an_answers_dict_has_misconceptions_for_values_a_checks_for_keys(course: Path) -> None:
    unknown = "no misconception is called"
    by_kind = 'other = answer("double", misconception={"arguments": "mine-to-cut"})'
    (found,) = slips(course, by_kind)
    assert found.startswith(f"{unknown} 'mine-to-cut'.")
    (found,) = slips(course, 'check.that(True, misconception={"mine-to-cut": "arguments"})')
    assert found.startswith(f"{unknown} 'mine-to-cut'.")
    (found,) = slips(course, 'other = answer("double", misconception="mine-to-cut")')
    assert found.startswith(f"{unknown} 'mine-to-cut'.")


def test_cases_that_are_thinned_are_named_with_their_line(course: Path) -> None:
    cases = "from course import inputs\ncases = inputs.tensors()"
    (found,) = slips(course, cases, "check.agrees(abs, cases[::2])")
    assert found.startswith("line 6 leaves out cases by their position: cases[::2] | The one that")


def test_a_visible_check_that_runs_after_hidden_ones_is_named(course: Path) -> None:
    several = "for x in 1, 2:\n    check.that(x)\n    ### BEGIN HIDDEN TESTS\n    check.that(x)\n"
    visible = f"{several}    ### END HIDDEN TESTS\ncheck.that(True)"
    found = [one.partition(":")[0] for one in slips(course, visible)]
    after = "is a visible check that runs after a hidden one | Move it above the hidden tests"
    assert found == [f"line 4 {after}", f"line 8 {after}"]
