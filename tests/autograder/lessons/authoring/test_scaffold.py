"""A new lesson and a new exercise have the whole form; what is left to write is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.answer_bank.bank import parse_bank, read_bank
from autograder.cli import main
from autograder.errors import LessonError, UsageError
from autograder.lessons.authoring.scaffold import new_exercise, new_lesson
from autograder.lessons.authoring.skeleton import NewExercise
from autograder.lessons.authoring.tidy import tidy
from autograder.lessons.claims import misconceptions
from autograder.lessons.lint.claims import lint_claims
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.lint.thresholds import LEAST_RIGHT, LEAST_WRONG
from autograder.lessons.model import find_lesson
from autograder.lessons.regions import without_markers
from tests.autograder import tiny


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


def exercise(name: str = "row-spans", **more: object) -> NewExercise:
    words = {"function": "row_spans", "title": "row spans", "points": 2.0, "difficulty": 1}
    return NewExercise(**{"name": name, "minutes": 10, **words, **more})  # type: ignore[arg-type]


def causes(course: Path, word: str) -> set[str]:
    lesson = find_lesson(course, word)
    return {one.cause for one in (*lint_lesson(course, lesson), *lint_claims(course, lesson))}


def snapshot(course: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in course.rglob("*") if path.is_file()}


def test_of_a_new_lesson_only_words_are_missing(course: Path) -> None:
    written = new_lesson(course, "18-mini")
    assert [path.relative_to(course).as_posix() for path in written] == [
        "source/18-mini/18-mini.ipynb",
        "course/lessons/mini/claims.toml",
    ]
    found = causes(course, "18")
    assert found
    assert {cause for cause in found if not cause.startswith("it is not written yet")} == set()


def test_of_a_new_exercise_only_words_are_missing(course: Path) -> None:
    new_lesson(course, "18-mini")
    new_exercise(course, "18", exercise(), check_bank=parse_bank)
    found = causes(course, "18")
    assert {cause for cause in found if not cause.startswith("it is not written yet")} == set()


def test_a_new_exercise_has_five_cells_after_the_one_that_is_named(course: Path) -> None:
    new_exercise(course, "1", exercise(), after="flatten", check_bank=parse_bank)
    ids = [cell["id"] for cell in find_lesson(course, "1").cells()]
    start = ids.index("test-flatten") + 1
    assert ids[start : start + 6] == [
        *("row-spans-task", "row-spans-hint-1", "row-spans-hint-2", "row-spans"),
        *("test-row-spans", "doubling"),
    ]


def test_a_new_exercise_carries_what_was_said_of_it(course: Path) -> None:
    new_exercise(course, "1", exercise(difficulty=2, minutes=7), check_bank=parse_bank)
    one = find_lesson(course, "1").exercise("row-spans")
    assert (one.points, one.difficulty, one.minutes, one.section) == (2, 2, 7, "doubling")
    assert one.asked == ("row_spans",)


def test_the_exercises_behind_a_new_one_are_numbered_anew(course: Path) -> None:
    new_lesson(course, "18-mini")
    for name in ("first", "second"):
        new_exercise(course, "18", exercise(name), check_bank=parse_bank)
    new_exercise(course, "18", exercise("between"), after="first", check_bank=parse_bank)
    headings = [one.title for one in find_lesson(course, "18").exercises]
    assert headings == [f"Exercise {n}: row spans" for n in (1, 2, 3)]


def test_the_bank_gets_as_many_headings_as_the_gate_asks_for(course: Path) -> None:
    before = len(read_bank(course / "autograder/answers/01-tiny.py"))
    new_exercise(course, "1", exercise(), check_bank=parse_bank)
    new = read_bank(course / "autograder/answers/01-tiny.py")[before:]
    kinds = [one.kind for one in new]
    assert (kinds.count("right"), kinds.count("wrong")) == (LEAST_RIGHT, LEAST_WRONG)
    assert {one.misconception for one in new} - {None} <= set(misconceptions(course, "01-tiny"))


def test_the_answer_that_stands_there_defines_what_is_asked_for(course: Path) -> None:
    new_exercise(course, "1", exercise(), check_bank=parse_bank)
    names: dict[str, object] = {}
    exec(without_markers(find_lesson(course, "1").exercise("row-spans").answer_source), names)
    assert callable(names["row_spans"])


def test_a_new_exercise_leaves_a_notebook_that_is_tidy(course: Path) -> None:
    new_lesson(course, "18-mini")
    new_exercise(course, "18", exercise(), check_bank=parse_bank)
    assert tidy(find_lesson(course, "18").source) is False


@pytest.mark.parametrize(
    ("slug", "cause"),
    [
        ("mini", "'mini' is no name of a lesson"),
        ("17_mini", "is no name of a lesson"),
        ("01-other", "lesson 01 is there already: 01-tiny"),
        ("../18-mini", "is no name of a lesson"),
    ],
)
def test_a_lesson_that_cannot_be_is_refused(course: Path, slug: str, cause: str) -> None:
    before = snapshot(course)
    with pytest.raises(UsageError) as caught:
        new_lesson(course, slug)
    assert cause in str(caught.value)
    assert snapshot(course) == before


def test_claims_that_are_there_are_not_written_over(course: Path) -> None:
    path = course / "course/lessons/mini/claims.toml"
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n")
    with pytest.raises(UsageError, match=r"claims\.toml: it is there already"):
        new_lesson(course, "18-mini")
    assert not (course / "source/18-mini").exists()


@pytest.mark.parametrize(
    ("one", "after", "cause"),
    [
        (exercise("flatten"), None, "a cell is called 'flatten-task' already"),
        (exercise("Row Spans"), None, "'Row Spans' is no name of an exercise"),
        (exercise(function="row-spans"), None, "'row-spans' is no name of a function"),
        (exercise(), "flaten", "Did you mean flatten?"),
    ],
)
def test_an_exercise_that_cannot_be_is_refused_and_nothing_is_written(
    course: Path, one: NewExercise, after: str | None, cause: str
) -> None:
    before = snapshot(course)
    with pytest.raises((UsageError, LessonError)) as caught:
        new_exercise(course, "1", one, after=after, check_bank=parse_bank)
    assert cause in str(caught.value)
    assert snapshot(course) == before


def test_the_commands_say_what_they_wrote_and_what_comes_next(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--course", str(course)]
    assert main.main(["new-lesson", "18-mini", *where]) == 0
    assert capsys.readouterr().out == (
        "source/18-mini/18-mini.ipynb\ncourse/lessons/mini/claims.toml\n"
        "Next: `autograder new-exercise 18 NAME`, then write what each ✎ asks for.\n"
    )
    assert main.main(["new-exercise", "18", "row-spans", "--points", "2", *where]) == 0
    out = capsys.readouterr().out
    assert out.startswith("source/18-mini/18-mini.ipynb\n")
    assert out.endswith("Next: write what each ✎ asks for, then `autograder check 18`.\n")


def test_an_empty_folder_of_a_lesson_says_how_to_fill_it(course: Path) -> None:
    (course / "source/18-mini").mkdir()
    with pytest.raises(UsageError) as caught:
        find_lesson(course, "18")
    assert str(caught.value) == (
        f"{course}/source/18-mini: it holds no 18-mini.ipynb\n"
        "  `autograder new-lesson 18-mini` writes one."
    )


def test_a_notebook_of_another_name_in_it_is_named(course: Path) -> None:
    (course / "source/18-mini").mkdir()
    (course / "source/18-mini/Untitled.ipynb").write_text("{}")
    with pytest.raises(UsageError) as caught:
        find_lesson(course, "mini")
    assert "holds no 18-mini.ipynb, but Untitled.ipynb" in str(caught.value)
    assert "Name the lesson's notebook 18-mini.ipynb." in str(caught.value)
