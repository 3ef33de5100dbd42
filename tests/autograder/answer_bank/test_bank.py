"""A bank of answers is read strictly: every slip is named with its line and a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.answer_bank.bank import BankAnswer, bank_path, check_bank, parse_bank, read_bank
from autograder.errors import BankError
from autograder.lessons.model import find_lesson
from tests.autograder import tiny

PATH = Path("answers.py")
BODY = "\ndef flatten(x):\n    return x\n"


def parse(text: str) -> tuple[BankAnswer, ...]:
    return parse_bank(text, PATH)


def message_of(text: str) -> str:
    with pytest.raises(BankError) as caught:
        parse(text)
    return str(caught.value)


def check(tmp_path: Path, text: str) -> None:
    course = tiny.build(tmp_path)
    known = {"always-copies": 1, "order-of-memory": 1}
    check_bank(parse(text), find_lesson(course, "1"), known)


def test_an_answer_keeps_kind_exercise_title_and_source() -> None:
    (one,) = parse("# %% right flatten: by view" + BODY)
    assert (one.kind, one.exercise, one.title) == ("right", "flatten", "by view")
    assert (one.misconception, one.line) == (None, 1)
    assert one.source == "def flatten(x):\n    return x"


def test_a_wrong_answer_names_its_misconception() -> None:
    (one,) = parse("# %% wrong flatten: clones: always -> always-copies" + BODY)
    assert (one.title, one.misconception) == ("clones: always", "always-copies")


def test_a_mutant_that_is_the_same_keeps_its_reason_and_its_source() -> None:
    (one,) = parse("# %% same flatten: sizes are never below 0" + BODY)
    assert (one.kind, one.title, one.misconception) == ("same", "sizes are never below 0", None)
    assert one.source == "def flatten(x):\n    return x"


def test_answers_are_read_in_order_with_their_lines() -> None:
    text = '"""A docstring."""\n\n# %% right a: one\nx = 1\n\n# %% right a: two\nx = 2\n'
    assert [(one.title, one.line) for one in parse(text)] == [("one", 3), ("two", 6)]


@pytest.mark.parametrize(
    ("heading", "cause"),
    [
        ("# %% rihgt flatten: t", "not 'rihgt'. Did you mean right?"),
        ("# %% Wrong flatten: t -> m", "not 'Wrong'. Did you mean wrong?"),
        ("# %% right flatten t", "the heading has no colon"),
        ("# %% right flatten:", "the heading has no title"),
        ("# %% right : t", "the heading has no exercise"),
        ("# %%", "the heading says nothing"),
        ("# %% same flatten: t -> m", "a same answer names no misconception"),
        ("# same flatten: t", "looks like a heading, but is none"),
        ("# %% wrong flatten: t", "a wrong answer names its misconception"),
        ("# %% wrong flatten: t ->", "a wrong answer names its misconception"),
        ("# %% wrong flatten: -> m", "a wrong answer names its misconception"),
        ("# %% wrong flatten: t -> Not A Slug", "a wrong answer names its misconception"),
        ("# %% right flatten: t -> m", "a right answer names no misconception"),
        ("#%% right flatten: t", "looks like a heading, but is none"),
        ("# % right flatten: t", "looks like a heading, but is none"),
        ("# right flatten: t", "looks like a heading, but is none"),
        ("## %% right flatten: t", "looks like a heading, but is none"),
    ],
)
def test_a_typo_in_a_heading_is_named_with_its_line(heading: str, cause: str) -> None:
    text = f"# %% right flatten: the first{BODY}\n{heading}{BODY}"
    message = message_of(text)
    assert message.startswith("answers.py:5: ")
    assert cause in message
    assert "Write `# %% right EXERCISE: title`" in message


def test_a_comment_inside_an_answer_is_no_heading() -> None:
    body = "\ndef f(x):\n    # wrong order: see below\n    return x  # 50 % of it\n"
    (one,) = parse("# %% right flatten: t" + body)
    assert "wrong order" in one.source


@pytest.mark.parametrize("body", ["", "\n\n   \n", "\n# only a comment\n"])
def test_an_empty_answer_is_refused(body: str) -> None:
    message = message_of("# %% right flatten: nothing" + body)
    assert "answers.py:1: the right answer 'nothing' to 'flatten' is empty" in message


def test_a_file_without_answers_is_refused() -> None:
    assert message_of('"""Nothing yet."""\n').startswith("answers.py: has no answers")


def test_code_above_the_first_answer_is_refused() -> None:
    message = message_of("import torch\n\n# %% right flatten: t" + BODY)
    assert message.startswith("answers.py:1: has code above its first answer")


def test_an_unknown_exercise_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BankError, match=r"no exercise 'flaten'\. Did you mean flatten\?"):
        check(tmp_path, "# %% right flaten: t" + BODY)


def test_an_unknown_misconception_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BankError, match=r"Did you mean always-copies\?"):
        check(tmp_path, "# %% wrong flatten: t -> allways-copies" + BODY)


def test_two_answers_of_one_title_are_refused(tmp_path: Path) -> None:
    text = f"# %% right flatten: t{BODY}# %% wrong flatten: t -> always-copies{BODY}"
    with pytest.raises(BankError, match="the first is in line 1"):
        check(tmp_path, text)


def test_one_title_may_serve_two_exercises(tmp_path: Path) -> None:
    check(tmp_path, f"# %% right flatten: t{BODY}# %% right double: t{BODY}")


def test_a_bank_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(BankError, match="cannot be read: No such file"):
        read_bank(tmp_path / "none.py")


def test_a_bank_in_another_encoding_says_so(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes(b"# %% right flatten: \xe9\n")
    with pytest.raises(BankError, match="is not UTF-8"):
        read_bank(path)


def test_the_bank_of_the_course_directory_comes_before_the_shipped_one(tmp_path: Path) -> None:
    course = tiny.build(tmp_path)
    assert bank_path(course, "01-tiny") == course / "autograder/answers/01-tiny.py"
    assert bank_path(course, "99-none") is None
