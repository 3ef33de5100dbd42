"""A slip in a claim, or in what a lesson says of claims, stops the release with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import LessonError
from autograder.lessons.lint.claims import lint_claims
from autograder.lessons.model import read_lesson
from autograder.lessons.release import refuse_unsound
from tests.autograder import tiny

CLAIM = """
[[claim]]
id = "a-claim"
asked = "Does it hold?"
said = "It holds."
verdict = "true"
fact = "It does."
proof = "x = 1"
shows = "x == 1"
"""
TABLE = "**Judged**\n\n| verdict | claims |\n|---|---|\n| true | it holds{} |"

Found = Callable[..., list[str]]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


@pytest.fixture
def found(course: Path) -> Found:
    """What is found where the lesson has this claim and these cells beside its own."""

    def find(claim: str = CLAIM, *cells: dict[str, Any]) -> list[str]:
        (course / "course/lessons/tiny/claims.toml").write_text(tiny.claims(claim))
        notebook = tiny.notebook()
        notebook["cells"][3:3] = cells
        lesson = read_lesson(tiny.write(course, notebook))
        return [str(one) for one in lint_claims(course, lesson)]

    return find


def predicting(id_: str = "a-claim") -> dict[str, Any]:
    return tiny.code("predict-it", f'predict("{id_}")', {"course": {"role": "predict"}})


def listing(*ids: str) -> dict[str, Any]:
    return {**tiny.text("rule", "So it is."), "metadata": {"course": {"claims": list(ids)}}}


def test_a_claim_that_is_predicted_or_judged_once_is_sound(found: Found) -> None:
    assert found(CLAIM, predicting()) == []
    assert found(CLAIM, listing("a-claim")) == []


def test_a_typo_in_predict_names_the_claim_that_was_meant(found: Found, course: Path) -> None:
    slips = found(CLAIM, predicting("a-clam"), listing("a-claim"))
    assert slips == [
        f"{course}/source/01-tiny/01-tiny.ipynb, cell predict-it: no claim is called 'a-clam'. "
        "Did you mean a-claim?\n  Add it to the lesson's claims file, or correct."
    ]


def test_a_claim_that_the_lesson_never_tells_is_found(found: Found) -> None:
    (slip,) = found(CLAIM)
    assert "claim a-claim: the lesson does not tell it\n  Ask predict(" in slip


def test_a_claim_that_is_told_twice_is_found(found: Found) -> None:
    (slip,) = found(CLAIM, predicting(), listing("a-claim"))
    assert "claim a-claim: the lesson tells it 2 times" in slip


def test_a_predict_cell_may_list_its_claim_as_well(found: Found) -> None:
    cell = predicting()
    cell["metadata"]["course"]["claims"] = ["a-claim"]
    assert found(CLAIM, cell) == []


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ('"true"', '"maybe"', "verdict is 'maybe'. Write one of true, false, depends, outdated."),
        ("fact =", "fakt =", "the key 'fact' is missing"),
        ("[[claim]]", "[[claims]]", "unknown table 'claims'"),
        ('"It holds."', '"It holds"', "what is said is no sentence"),
        ('"It does."', '"It `does."', "a ` in its fact has no partner"),
        ('"Does it hold?"', '"✎ What?"', "it is not written yet: ✎ What?"),
        ('"It does."', '"✎ What is right."', "it is not written yet: ✎ What is right."),
        ('"a-claim"', '"a claim"', "its id is no slug"),
        ("proof =", 'misconception = "dtype-is-flat"\nproof =', "Did you mean dtype-is-float?"),
    ],
)
def test_a_slip_in_a_claim_is_found(found: Found, old: str, new: str, cause: str) -> None:
    claim = CLAIM.replace(old, new)
    id_ = "a claim" if "a claim" in claim else "a-claim"
    slips = found(claim, listing(id_))
    assert len(slips) == 1
    assert cause in slips[0]


def test_what_is_found_in_claims_stops_the_release(found: Found, course: Path) -> None:
    found(CLAIM.replace('"true"', '"maybe"'), predicting())
    lesson = read_lesson(course / "source/01-tiny/01-tiny.ipynb")
    with pytest.raises(LessonError, match=r"claim 'a-claim': verdict is 'maybe'"):
        refuse_unsound(course, [lesson])


def _write_more(course: Path) -> None:
    path = course / "course/lessons/more/claims.toml"
    path.parent.mkdir(parents=True)
    path.write_text(f'lesson = "02-more"\n{CLAIM}')


def test_an_id_of_another_lesson_is_no_second_one(found: Found, course: Path) -> None:
    tiny.write(course, tiny.notebook(), "02-more")
    _write_more(course)
    (slip,) = found(CLAIM, predicting())
    assert "stands twice (first in 02-more.toml). Rename one of them." in slip


def test_another_lessons_claim_may_be_predicted(found: Found, course: Path) -> None:
    tiny.write(course, tiny.notebook(), "02-more")
    _write_more(course)
    assert found("", predicting()) == []


def test_a_misconception_needs_a_section_and_a_check(found: Found, course: Path) -> None:
    belief = '[[misconception]]\nid = "new"\ntitle = "T."\nwhy = "w"\nsection = "dubling"\n'
    slips = found(belief)
    assert "no section of the lesson is called 'dubling'. Did you mean doubling?" in slips[0]
    assert "misconception new: no check reveals it" in slips[1]


@pytest.mark.parametrize(
    ("title", "cause"),
    [
        ("Rows lie apart", "its title is no sentence"),
        ("rows lie apart.", "its title begins with 'rows', a word in lower case"),
        ("a row lies apart.", "its title begins with 'a', a word in lower case"),
    ],
)
def test_what_somebody_believes_is_a_sentence(found: Found, title: str, cause: str) -> None:
    assert any(f"misconception new: {cause}" in one for one in found(_belief(title)))


@pytest.mark.parametrize("title", ["Rows lie apart.", "sum adds rows.", "double(x) copies."])
def test_a_sentence_may_begin_with_code(found: Found, title: str) -> None:
    assert not any("title" in one for one in found(_belief(title)))


def _belief(title: str) -> str:
    return f'[[misconception]]\nid = "new"\ntitle = "{title}"\nwhy = "W."\nsection = "doubling"\n'


def test_a_table_of_verdicts_that_lacks_a_claim_is_found(found: Found) -> None:
    lacking = tiny.text("judged", TABLE.format("").replace("true", "false"))
    slips = found(CLAIM, predicting(), lacking)
    assert ["1 claims are judged false" in slips[0], "0 claims are judged true" in slips[1]] == [
        True,
        True,
    ]
    assert found(CLAIM, predicting(), tiny.text("judged", TABLE.format(""))) == []


def test_an_entry_that_tells_two_claims_says_so_in_its_cell(found: Found) -> None:
    table = tiny.text("judged", TABLE.format(""))
    both = CLAIM + CLAIM.replace('"a-claim"', '"b-claim"')
    cells = [listing("a-claim", "b-claim"), table]
    assert "1 claims are judged true, the claims file has 2" in found(both, *cells)[0]
    table["metadata"] = {"course": {"joined": {"true": 1}}}
    assert found(both, *cells) == []
