"""Which test cells ask for answers: by what they use, however it is spelt."""

from __future__ import annotations

import pytest

from autograder.lessons.asking import asking_in, asks_for_answers
from tests.autograder import foreign

ASKING = {
    "a call": "f = answer('f')",
    "of the package": "import course\ncourse.answer('f')()",
    "of a module": "import course.testing.answers as a\na.answer('f')()",
    "of what is imported by its name": "__import__('course').answer('f')",
    "by its attribute's name": "import course as c\ngetattr(c, 'answer')('f')",
    "under another name": "from course import answer as ask\nf = ask('f')",
    "under a name that it is given later": "from course import answer\nask = answer\nf = ask('f')",
    "not called where it stands": "from course import answer\nf, = map(answer, ['f'])",
    "as one of all names": "from course import *\nf, = map(answer, ['f'])",
    "below a line magic": "%matplotlib inline\nf = answer('f')",
    "in a line magic": "%time f = answer('f')",
    "in a cell magic": "%%time\nfrom course import answer as ask\nf = ask('f')",
    "beside a command": "!ls\nf = answer('f')",
    "where nothing runs": "from course import answer\nf = answer('f'",
}
PLAIN = {
    "asserts": "assert f(1)",
    "a comment": "# answer('f')\nassert f(1)",
    "a text": "assert 'answer(' in text",
    "a variable of that name": "assert answer == 42",
    "a function that it defines": "def answer(n):\n    return f(n)\nassert answer(1)",
    "a method of that name": "assert bot.answer('f') == 'g'",
    "a magic": "%matplotlib inline\nassert f(1)",
    "an import that it does not use": "from course import Check, answer\nassert f(1)",
    "no Python": "(" * 500,
}


@pytest.mark.parametrize("way", ASKING)
def test_a_test_cell_asks_for_answers(way: str) -> None:
    assert asks_for_answers(ASKING[way])


@pytest.mark.parametrize("way", PLAIN)
def test_a_test_cell_in_plain_style_does_not(way: str) -> None:
    assert not asks_for_answers(PLAIN[way])


BESIDE = {
    "from course import answer as ask": "f = ask('f')",
    "from course import *": "f, = map(answer, ['f'])",
    "import course as c": "f = c.answer('f')",
    "from course import answer\nask = answer": "f = ask('f')",
    "from course import answer\ndef ask(name):\n    return answer(name)": "f = ask('f')",
}


@pytest.mark.parametrize("setup", BESIDE)
def test_other_cells_of_the_source_say_what_answer_is_called(setup: str) -> None:
    asking = asking_in([foreign.cell("setup", setup), foreign.test_of("test", BESIDE[setup], 1)])
    assert asks_for_answers(BESIDE[setup], asking)
    assert not asks_for_answers("assert f(1)", asking)
    assert not asks_for_answers("answer = f(1)\nassert answer == 1", asking)


def test_what_learners_write_is_theirs_whatever_it_is_called() -> None:
    cells = [foreign.answer("answer", "def answer(n):\n    raise NotImplementedError()")]
    assert not asks_for_answers("assert answer(1) == 2", asking_in(cells))
    assert asks_for_answers("assert answer(1) == 2")
