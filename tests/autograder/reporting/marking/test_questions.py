"""Questions in words are marked one at a time, without names, and the points come back."""

from __future__ import annotations

import base64
import csv
import io
import json
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from PIL import Image

from autograder.cli import main
from autograder.course_directory import CourseDirectory
from autograder.lessons.model import select_lessons
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_entry import GradebookEntry
from autograder.nbgrader_bridge.gradebook_errors import GradebookError
from autograder.records.journal import JournalError, only_grader
from autograder.records.model import ExerciseRecord, Status
from autograder.records.runner import Outcome
from autograder.reporting.export_csv import inert
from autograder.reporting.learners_work import Picture, pictures_of
from autograder.reporting.marking import questions
from autograder.reporting.marking.anonymous import AnonymousKeyError, pseudonyms
from autograder.reporting.marking.entering import Marked, take_in
from autograder.reporting.marking.questions import MarkingError
from autograder.reporting.marking.sheet import (
    SheetError,
    guarded,
    read_points,
    read_sheet,
    sheet,
    unguarded,
)
from tests.autograder import tiny
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    classroom,
    double,
    flatten,
    graded,
    hand_in,
    record,
    tiny_lesson,
)
from tests.pictures import DOT

ANSWERS = {
    "ada": "- Because the caller\n  holds the argument, too.",
    "bob": '=HYPERLINK("https://example.org")',
    "cleo": 'Ünïcode; with, every "separator"\tand a tab',
    "dan": "YOUR ANSWER HERE",  # not attempted
}


@dataclass
class Keeps(FakeRunner):
    """Gives each notebook back as it was handed in; `dan` left the question as it was."""

    ran: list[str] = field(default_factory=list)

    def run_many(self, jobs: Any) -> Any:
        for job in jobs:
            why = ExerciseRecord(
                "why", Status.GRADED, 0.0, 3.0, attempted=job.student != "dan", manual=True
            )
            notebook = nbformat.read(job.notebook, as_version=4)
            yield Outcome(record(job.student, flatten(), double(), why), notebook)


def words(root: Path, student: str, text: str) -> None:
    """Hand in the lesson with this answer to `why`."""
    notebook = tiny.notebook_with_words()
    for cell in notebook["cells"]:
        if cell["id"] == "why":
            cell["source"] = text
    hand_in(root, student, notebook, "2026-01-10 12:00:00 UTC")


@pytest.fixture
def course(tmp_path: Path) -> CourseDirectory:
    course, _ = classroom(tmp_path)
    tiny.write(tmp_path, tiny.notebook_with_words())
    (tmp_path / "students.csv").write_text("id,first_name,last_name\nada,Ada,Lovelace\n")
    for student, text in ANSWERS.items():
        words(tmp_path, student, text)
    graded(course, Keeps())
    return course


def exported(course: CourseDirectory) -> Path:
    assert main.main(["export", "--questions", "--course", str(course.root)]) == 0
    return course.report / "questions" / f"{SLUG}-why.csv"


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


def fill(
    path: Path, change: Callable[[dict[str, str]], dict[str, str]], *, delimiter: str = ","
) -> Path:
    """Save the sheet with other cells, as a spreadsheet does."""
    lines = [line | change(line) for line in rows(path)]
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, list(lines[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(lines)
    return path


def by_text(**marks: tuple[str, str]) -> Callable[[dict[str, str]], dict[str, str]]:
    """Fill in points and comment for those whose answers these are."""
    found = {ANSWERS[name][:9]: mark for name, mark in marks.items()}

    def change(line: dict[str, str]) -> dict[str, str]:
        points, comment = found.get(unguarded(line["answer"])[:9], ("", ""))
        return {"points": points, "comment": comment}

    return change


def taken(course: CourseDirectory, *sheets: Path) -> Marked:
    return take_in(course, sheets, select_lessons(course.root))


def entry(course: CourseDirectory, student: str) -> GradebookEntry:
    with GradebookWriter(course) as writer:
        return writer.entries(tiny_lesson())[student]


def reasons(marked: Marked) -> set[str]:
    return {one.reason for one in marked.refused}


# --- the sheet ----------------------------------------------------------------------------------


def test_a_sheet_holds_each_answer_once_and_nobodys_name(course: CourseDirectory) -> None:
    path = exported(course)
    texts = {unguarded(line["answer"]) for line in rows(path)}
    assert texts == {ANSWERS[name] for name in ("ada", "bob", "cleo")}
    for text in (path.read_text("utf-8-sig"), path.with_suffix(".html").read_text()):
        assert [name for name in ("Ada", "Lovelace", "bob", "cleo") if name in text] == []


def test_the_ids_are_in_order_and_the_same_in_every_export(course: CourseDirectory) -> None:
    first = [line["answer_id"] for line in rows(exported(course))]
    assert first == sorted(first)
    assert [line["answer_id"] for line in rows(exported(course))] == first


def test_no_id_is_what_anybody_could_compute_or_a_spreadsheet_would_change(
    course: CourseDirectory, tmp_path: Path
) -> None:
    ids = {line["answer_id"] for line in rows(exported(course))}
    (course.state / "anonymous.key").unlink()
    (course.report / "questions" / f"{SLUG}-why.csv").unlink()
    assert ids.isdisjoint(line["answer_id"] for line in rows(exported(course)))
    assert all(part.isalpha() and part.islower() for id_ in ids for part in id_.split("-"))


def test_nobodys_answers_to_two_questions_can_be_put_together(tmp_path: Path) -> None:
    names = pseudonyms(tmp_path, make=True)
    assert names is not None
    assert names.of("answer", SLUG, "why", "ada") != names.of("answer", SLUG, "how", "ada")
    assert names.of("answer", SLUG, "whya", "da") != names.of("answer", SLUG, "why", "ada")


def test_the_key_is_for_its_owner_alone_and_made_once(tmp_path: Path) -> None:
    assert pseudonyms(tmp_path, make=False) is None
    assert pseudonyms(tmp_path, make=True) == pseudonyms(tmp_path, make=False)
    assert stat.S_IMODE((tmp_path / "anonymous.key").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "no hexadecimal digits", "abcd"])
def test_a_key_that_is_damaged_is_not_replaced_silently(tmp_path: Path, content: str) -> None:
    (tmp_path / "anonymous.key").write_text(content)
    with pytest.raises(AnonymousKeyError, match=r"cannot be read: .*\n.*from a backup"):
        pseudonyms(tmp_path, make=True)
    assert (tmp_path / "anonymous.key").read_text() == content


def test_no_answer_is_a_formula(course: CourseDirectory) -> None:
    cells = [cell for line in rows(exported(course)) for cell in line.values()]
    assert [cell for cell in cells if cell[:1] in "=+@-\t\r" and len(cell) > 1] == []


def test_the_page_shows_question_model_answer_and_answers_as_text(course: CourseDirectory) -> None:
    words(course.root, "eve", "<script>alert(1)</script> **bold**")
    graded(course, Keeps())
    page = exported(course).with_suffix(".html").read_text()
    assert "Why does it matter?" in page
    assert "1 point: the storage is the caller" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; **bold**" in page
    assert "<script>" not in page


def test_a_picture_in_an_answer_is_said_to_be_there() -> None:
    cell = {"source": "see", "attachments": {"drawing.png": {"image/png": DOT}}}
    said = "With a picture, which the page beside this sheet shows: drawing.png."
    assert questions._text(cell) == f"see\n\n[{said}]"
    svg = {"source": "see", "attachments": {"drawing.svg": {"image/svg+xml": "aGk="}}}
    assert questions._text(svg) == "see\n\n[With a picture, see formgrader: drawing.svg.]"
    assert pictures_of(svg) == (Picture("drawing.svg", ""),)  # a page says that there is one
    split = {"source": "see", "attachments": {"drawing.png": {"image/png": [DOT, 1]}}}
    assert pictures_of(split) == ()  # what is no Base64 is no picture
    odd = {"source": "see", "attachments": {"drawing.xyz": {"image/xyz": "aGk="}}}
    assert questions._text(odd) == "see\n\n[With a picture, see formgrader: drawing.xyz.]"


def test_an_answer_of_any_characters_stops_nobodys_sheet(course: CourseDirectory) -> None:
    words(course.root, "eve", "half a pair \ud83d and \x00 and \x1b[31m")
    graded(course, Keeps())
    path = fill(exported(course), lambda line: {"points": "1"})
    assert (taken(course, path).taken[0].entered, len(rows(path))) == (4, 4)


def test_attachments_that_are_no_mapping_are_no_pictures() -> None:
    assert questions._text({"source": "see", "attachments": ["x"]}) == "see"


def test_a_lesson_without_questions_in_words_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course, _ = classroom(tmp_path, "ada")
    assert main.main(["export", "--questions", "--course", str(course.root)]) == 1
    assert "no question in words in 01-tiny" in capsys.readouterr().err


def test_marks_that_were_not_taken_in_are_never_overwritten(course: CourseDirectory) -> None:
    path = fill(exported(course), by_text(ada=("2", "good")))
    with pytest.raises(MarkingError, match=r"not taken in, of [\w-]+ for one\n.*collect --marks"):
        questions.run(course.root, select_lessons(course.root))
    taken(course, path)
    (line,) = [one for one in rows(exported(course)) if one["points"]]
    assert (line["points"], line["comment"]) == ("2", "good")


# --- and back -----------------------------------------------------------------------------------


def test_points_and_comments_come_into_the_gradebook_as_if_given_by_hand(
    course: CourseDirectory,
) -> None:
    path = fill(exported(course), by_text(ada=("2.5", "the argument,\nyes"), bob=("0", "")))
    (done,) = taken(course, path).taken
    assert (done.entered, done.blank, done.unchanged) == (2, 1, 0)
    ada, bob, cleo = (entry(course, name) for name in ("ada", "bob", "cleo"))
    assert (ada.points["why"], ada.comments) == (2.5, {"why": "the argument,\nyes"})
    assert (bob.points["why"], bob.comments, bob.manual) == (0.0, {}, {"why"})
    assert ("why" in ada.waiting, "why" in bob.waiting, "why" in cleo.waiting) == (
        False,
        False,
        True,
    )
    assert ada.score == 8.5


def test_taking_in_the_same_sheet_again_changes_nothing(course: CourseDirectory) -> None:
    path = fill(exported(course), by_text(ada=("2", "good")))
    taken(course, path)
    (done,) = taken(course, path).taken
    assert (done.entered, done.unchanged, done.replaced) == (0, 1, [])


def test_what_a_second_sheet_changes_is_said(course: CourseDirectory) -> None:
    path = fill(exported(course), by_text(ada=("2", "good")))
    taken(course, path)
    fill(path, by_text(ada=("3", "better")))
    (done,) = taken(course, path).taken
    (id_,) = [line["answer_id"] for line in rows(path) if line["points"]]
    assert done.replaced == [f"{id_}: 2 points became 3", f"{id_}: the comment was replaced"]
    assert entry(course, "ada").points["why"] == 3


def test_an_empty_cell_takes_nothing_away(course: CourseDirectory) -> None:
    path = fill(exported(course), by_text(ada=("2", "good")))
    taken(course, path)
    (done,) = taken(course, fill(path, by_text())).taken
    assert (done.entered, done.blank) == (0, 3)
    assert entry(course, "ada").comments == {"why": "good"}


def test_two_people_can_each_mark_a_part_of_one_sheet(
    course: CourseDirectory, tmp_path: Path
) -> None:
    path = exported(course)
    other = tmp_path / "other.csv"
    other.write_bytes(path.read_bytes())
    marked = taken(course, fill(path, by_text(ada=("1", ""))), fill(other, by_text(bob=("2", ""))))
    assert (marked.taken[0].entered, marked.refused) == (2, ())


def test_two_different_marks_for_one_answer_are_both_refused(
    course: CourseDirectory, tmp_path: Path
) -> None:
    path = exported(course)
    other = tmp_path / "other.csv"
    other.write_bytes(path.read_bytes())
    marked = taken(course, fill(path, by_text(ada=("1", ""))), fill(other, by_text(ada=("2", ""))))
    assert [one.reason for one in marked.refused] == [
        "the sheets say two different things about this answer"
    ] * 2
    assert entry(course, "ada").manual == frozenset()


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_a_sheet_saved_with_other_separators_and_decimal_commas_is_read(
    course: CourseDirectory, delimiter: str
) -> None:
    path = fill(exported(course), by_text(cleo=("1,5", "schön")), delimiter=delimiter)
    assert taken(course, path).refused == ()
    cleo = entry(course, "cleo")
    assert (cleo.points["why"], cleo.comments) == (1.5, {"why": "schön"})


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        ("3.5", "3.5 is more than the 3 points of the question"),
        ("-1", "-1 is less than 0"),
        ("good", "'good' is no number"),
        ("nan", "'nan' is no number"),
        ("inf", "'inf' is no number"),
        ("1e0", "'1e0' is no number"),
        ("1,2,3", "'1,2,3' is no number"),
        ("01. Feb", "'01. Feb' is no number"),
    ],
)
def test_points_that_are_none_are_refused_and_the_other_lines_taken(
    course: CourseDirectory, points: str, reason: str
) -> None:
    path = fill(exported(course), by_text(ada=(points, "a comment"), bob=("1", "")))
    marked = taken(course, path)
    assert (reasons(marked), marked.taken[0].entered) == ({reason}, 1)
    assert (entry(course, "ada").manual, entry(course, "ada").comments) == (frozenset(), {})


def test_an_answer_that_changed_since_is_refused(course: CourseDirectory) -> None:
    path = fill(exported(course), by_text(ada=("2", ""), bob=("1", "")))
    words(course.root, "ada", "Something else.")
    waiting = taken(course, path)
    assert "a newer submission waits" in min(reasons(waiting))
    graded(course, Keeps())
    assert reasons(taken(course, path)) == {
        "the answer changed since the sheet was written: export the question again"
    }
    assert entry(course, "ada").manual == frozenset()


def test_unknown_ids_and_questions_are_refused(course: CourseDirectory) -> None:
    path = exported(course)
    marked = taken(course, fill(path, lambda _: {"points": "1", "answer_id": "kkkk-kkkk-kkkk"}))
    assert "no answer has this id" in min(reasons(marked))
    marked = taken(course, fill(path, lambda _: {"question": "how"}))
    assert reasons(marked) == {"there is no question 'how' in words in the lesson '01-tiny'"}


def test_without_the_key_nobody_is_guessed(course: CourseDirectory) -> None:
    path = fill(exported(course), by_text(ada=("2", "")))
    (course.state / "anonymous.key").unlink()
    assert len(taken(course, path).refused) == 3
    assert not (course.state / "anonymous.key").exists()


def test_a_question_is_entered_completely_or_not_at_all(
    course: CourseDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fill(exported(course), by_text(ada=("2", ""), bob=("1", "")))
    names, calls = GradebookWriter._names_of_cells, []

    def fails_second(self: GradebookWriter, notebook: Any) -> dict[str, str]:
        calls.append(notebook)
        return names(self, notebook) if len(calls) == 1 else 1 / 0  # type: ignore[return-value]

    monkeypatch.setattr(GradebookWriter, "_names_of_cells", fails_second)
    with pytest.raises(ZeroDivisionError):
        taken(course, path)
    monkeypatch.undo()
    found = (entry(course, name).manual for name in ("ada", "bob"))
    assert list(found) == [frozenset(), frozenset()]


def test_a_learner_whom_the_gradebook_lacks_is_refused(course: CourseDirectory) -> None:
    path = fill(exported(course), by_text(ada=("2", ""), bob=("1", "")))
    with GradebookWriter(course) as writer:
        writer._gradebook.remove_student("ada")
    marked = taken(course, path)
    assert "run `autograder grade`" in min(reasons(marked))
    assert entry(course, "bob").points["why"] == 1


def test_marks_are_not_taken_in_beside_grade(course: CourseDirectory) -> None:
    path = exported(course)
    with only_grader(course.state), pytest.raises(JournalError, match="at work"):
        taken(course, path)


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "no column answer_id, comment, lesson, points, question, version"),
        (b"answer_id,points,comment\n", "no column lesson, question, version"),
        ("answer_id,points,cömment\n".encode("latin-1"), "is not UTF-8"),
        (b'answer_id,points\n"a\nb', "cannot be read as CSV"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(tmp_path: Path, content: bytes, cause: str) -> None:
    (tmp_path / "sheet.csv").write_bytes(content)
    with pytest.raises(SheetError, match=cause):
        read_sheet(tmp_path / "sheet.csv")


def test_a_damaged_gradebook_is_explained(course: CourseDirectory) -> None:
    path = fill(exported(course), by_text(ada=("2", "")))
    (course.root / "gradebook.db").write_bytes(b"no database")
    with pytest.raises(GradebookError, match="backup --restore"):
        taken(course, path)


def test_the_commands_go_there_and_back(
    course: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fill(exported(course), by_text(ada=("2", ""), bob=("9", "")))
    words_ = ["collect", "--marks", str(path), "--course", str(course.root)]
    assert main.main(words_) == 1
    out = capsys.readouterr().out
    assert "01-tiny why: 1 entered, 0 unchanged, 1 left empty\nrefused (1):\n" in out
    assert not any(name in out for name in ("ada", "bob"))
    assert main.main([*words_, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["taken"][0]["unchanged"] == 1


@pytest.mark.parametrize("words_", [[], ["all.zip", "--marks", "a.csv"]])
def test_archive_and_marks_exclude_each_other(
    tmp_path: Path, words_: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tiny.build(tmp_path)
    assert main.main(["collect", *words_, "--course", str(tmp_path)]) == 2
    assert "one of the two" in capsys.readouterr().err


def test_points_by_hand_reach_the_learners_page(course: CourseDirectory) -> None:
    taken(course, fill(exported(course), by_text(ada=("2", "Say who holds it."))))
    assert main.main(["feedback", "--course", str(course.root)]) == 0
    page = (course.feedback("ada", SLUG) / f"{SLUG}.html").read_text()
    assert "Say who holds it." in page
    assert "8 <span" in page


@pytest.mark.parametrize("text", ["=1", "'=1", "''=1", "'", "''", "'tis", "-", "- a", "@x", "\ta"])
def test_a_guarded_cell_comes_back(text: str) -> None:
    assert unguarded(guarded(text)) == text


def test_no_part_of_an_answer_is_a_formula_whatever_parts_the_cells() -> None:
    answer = 'It copies;=1+1;"=2";x\n=3\n\t=4\r\n ＝5'
    text = sheet([("id", "", "", answer, "3", "lesson", "why", "v")]).decode("utf-8-sig")
    for mark in ";\t":
        quoted = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        cells = [cell for row in quoted for cell in row]
        cells += [cell.lstrip('"') for line in text.splitlines() for cell in line.split(mark)]
        assert [cell for cell in cells if inert(cell.strip("\t")) != cell.strip("\t")] == []


def test_points_are_read_as_written() -> None:
    assert [read_points(text, 3.0) for text in ("0", "3", "+1", "2.50", ".5")] == [
        0,
        3,
        1,
        2.5,
        0.5,
    ]


def test_pictures_of_an_answer_are_shown_up_to_so_many_pixels() -> None:
    held = io.BytesIO()
    Image.new("1", (5_000, 4_000)).save(held, "PNG")
    large = {"image/png": base64.b64encode(held.getvalue()).decode()}
    found = pictures_of({"attachments": {f"{n:02}.png": large for n in range(12)}})
    assert [bool(one.address) for one in found] == [True] * 10 + [False] * 2
