"""Pages go back to those who handed in through an LMS: under names that it knows, and no others."""

from __future__ import annotations

import html
import json
import re
import zipfile
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.model import find_lesson, select_lessons
from autograder.lms import LMS
from autograder.lms.identities import LmsStudent
from autograder.nbgrader_bridge.exchange import TOKENS
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.records.model import Status
from autograder.records.runner import Job
from autograder.reporting.class_results import LearnerResult
from autograder.reporting.feedback import hidden_in_tests
from autograder.reporting.lms.feedback import _folder_name, _folder_names
from autograder.submissions.collect import collect
from autograder.submissions.matching import read_roster
from tests.autograder import tiny
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    answered,
    classroom,
    double,
    flatten,
    graded,
    hand_in,
    record,
)

ROSTER = """id,first_name,last_name,email
ada,Ada,Lovelace,
jose,José,Núñez,
sick,Sick,Grader,
late,Later,Again,
none,No,Body,
mail,By,Mail,
"""
MOODLE = {"ada": "Ada Lovelace_11", "jose": "José Núñez_12", "sick": "Sick Grader_13"}
MOODLE |= {"late": "Later Again_14"}
CANVAS = {"ada": "lovelaceada_LATE_501_901", "jose": "núñezjosé_502_902"}
CANVAS |= {"sick": "gradersick_503_903", "late": "againlater_504_904"}


def gives(job: Job) -> object:
    if job.student != "sick":
        return record(job.student, flatten(1.0), double(0.0, status=Status.TIMEOUT))
    broken = {"status": Status.INFRASTRUCTURE, "attempted": False}
    exercises = flatten(0.0, **broken), double(0.0, **broken)
    return record("sick", *exercises, status=Status.INFRASTRUCTURE)


def a_class(root: Path, *names: str) -> CourseDirectory:
    """Five who handed in, one by mail; one fault of the grader, one newer submission."""
    course, _ = classroom(root, "mail")
    (root / "students.csv").write_text(ROSTER)
    with zipfile.ZipFile(root / "all.zip", "w") as archive:
        for name in names:
            archive.writestr(name, json.dumps(tiny.notebook()))
    collect(course, root / "all.zip", select_lessons(root), read_roster(course))
    graded(course, FakeRunner(gives))  # type: ignore[arg-type]
    hand_in(root, "late", answered(double="def double(x):\n    return x"))
    return course


@pytest.fixture
def moodle(tmp_path: Path) -> CourseDirectory:
    names = [f"{name}_assignsubmission_file_/{SLUG}.ipynb" for name in MOODLE.values()]
    return a_class(tmp_path, *names)


@pytest.fixture
def canvas(tmp_path: Path) -> CourseDirectory:
    return a_class(tmp_path, *(f"{name}_{SLUG}-2.ipynb" for name in CANVAS.values()))


def sent(course: CourseDirectory, lms: str) -> dict[str, str]:
    """The pages in the zip that the command writes, by their names."""
    words = ["feedback", "--zip", lms, "--course", str(course.root)]
    assert main.main(words) == 0
    with zipfile.ZipFile(course.report / f"{SLUG}-feedback-{lms}.zip") as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def moodles_reading(name: str) -> tuple[str, str, str, str]:
    """Participant, plugin and file, as importziplib.php takes a name apart."""
    _, participant, kind, plugin, file = name.split("/")[-1].split("_", 4)
    assert participant.isdigit()
    assert not name.startswith((".", "~"))
    return participant, kind, plugin, file


def canvas_reading(name: str) -> tuple[str, str]:
    """User and attachment, as infer_comment_context_from_filename takes a name apart."""
    parts = [part for part in name.split("_") if part != "LATE"]
    if parts[0] == "anon":
        return parts[1], parts[2]
    user, attachment = [part for part in parts if re.fullmatch(r"\d+", part)][:2]
    return user, attachment


def test_moodle_gets_the_current_pages_of_those_who_were_graded(moodle: CourseDirectory) -> None:
    assert sorted(map(moodles_reading, sent(moodle, "moodle"))) == [
        ("11", "assignsubmission", "file", f"{SLUG}.html"),
        ("12", "assignsubmission", "file", f"{SLUG}.html"),
    ]


def test_each_page_is_the_learners_own(moodle: CourseDirectory) -> None:
    pages = sent(moodle, "moodle")
    for name, student in ((MOODLE["ada"], "ada"), (MOODLE["jose"], "jose")):
        page = pages[f"{name}_assignsubmission_file_{SLUG}.html"]
        assert f"feedback for {student}" in page
        assert page == (moodle.feedback(student, SLUG) / f"{SLUG}.html").read_text()


def test_who_is_left_out_is_named_with_the_reason(
    moodle: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    sent(moodle, "moodle")
    said = capsys.readouterr()
    assert said.out == f"{SLUG}: 2 pages\n{moodle.report / SLUG}-feedback-moodle.zip\n"
    assert said.err.splitlines() == [
        "01-tiny: left out: late: a newer submission or an unfinished regrade waits: run "
        "`autograder grade`",
        "01-tiny: left out: mail: Moodle's number of this learner is not known: `autograder "
        "collect` the archive that Moodle gives for this assignment",
        "01-tiny: left out: none: not handed in",
        "01-tiny: left out: sick: infrastructure. The grader failed. Run `grade` again; see the "
        "note.",
    ]


def test_nothing_hidden_and_no_secret_of_the_exchange_goes_along(moodle: CourseDirectory) -> None:
    for token in TOKENS:
        (moodle.autograded("ada", SLUG) / token).write_text("between us")
    main.main(["feedback", "--course", str(moodle.root)])
    pages = sent(moodle, "moodle")
    exercises = find_lesson(moodle.root, SLUG).exercises
    hidden = [line for one in exercises for line in hidden_in_tests(one).lines]
    assert (len(pages), len(hidden)) == (2, 6)
    for page in pages.values():
        assert [line for line in (*hidden, "between us") if line in html.unescape(page)] == []


def test_canvas_gets_the_numbers_of_learner_and_file(canvas: CourseDirectory) -> None:
    assert sorted(map(canvas_reading, sent(canvas, "canvas"))) == [("501", "901"), ("502", "902")]


def test_canvas_also_gets_a_folder_a_learner(
    canvas: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    sent(canvas, "canvas")
    folder = canvas.report / f"{SLUG}-feedback-canvas"
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))
    names = ("Lovelace Ada (ada)", "Mail By (mail)", "Núñez José (jose)")
    assert found == [f"{name}/{SLUG}.html" for name in names]
    assert "left out: mail: is not in the zip, only in the folder" in capsys.readouterr().err


def test_a_later_run_leaves_nothing_of_an_earlier_one(canvas: CourseDirectory) -> None:
    sent(canvas, "canvas")
    hand_in(canvas.root, "jose", answered(flatten="def flatten(x):\n    return 0"))
    assert [canvas_reading(name) for name in sent(canvas, "canvas")] == [("501", "901")]
    folders = sorted(path.name for path in (canvas.report / f"{SLUG}-feedback-canvas").iterdir())
    assert folders == ["Lovelace Ada (ada)", "Mail By (mail)"]


def test_one_learner_alone_can_be_packed(
    moodle: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["feedback", "--zip", "moodle", "--student", "ada", "--json"]
    assert main.main([*words, "--course", str(moodle.root)]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["sent"], found["left_out"], found["folder"]) == (["ada"], {}, None)


def test_where_nobody_can_get_a_page_the_command_fails_and_leaves_no_old_zip(
    moodle: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    sent(moodle, "moodle")
    (moodle.state / "lms" / f"{SLUG}.json").unlink()
    assert main.main(["feedback", "--zip", "moodle", "--course", str(moodle.root)]) == 1
    assert "no page that Moodle could take" in capsys.readouterr().err
    assert not (moodle.report / f"{SLUG}-feedback-moodle.zip").exists()


def test_points_by_hand_make_a_page_of_what_the_grader_could_not_judge(
    moodle: CourseDirectory,
) -> None:
    with GradebookWriter(moodle) as writer, writer._transaction() as gradebook:
        gradebook.find_grade("test-flatten", SLUG, SLUG, "sick").manual_score = 2.0
    assert "13" in [moodles_reading(name)[0] for name in sent(moodle, "moodle")]


@pytest.mark.parametrize(
    ("known", "name"),
    [
        (LmsStudent("moodle", "Ada_B Lovelace", "7"), "Ada B Lovelace_7_assignsubmission_file_"),
        (LmsStudent("moodle", ".hidden", "7"), "hidden_7_assignsubmission_file_"),
        (LmsStudent("moodle", "~", "7"), "Participant_7_assignsubmission_file_"),
        (LmsStudent("moodle", "a/b\\c", "7"), "a b c_7_assignsubmission_file_"),
        (LmsStudent("canvas", "lovelaceada", "5", "9"), "lovelaceada_5_9_"),
        (LmsStudent("canvas", "", "anon_Ab3", "9"), "anon_Ab3_9_"),
        (LmsStudent("canvas", "42", "5", "9"), "5_9_"),
        (LmsStudent("canvas", "team_1_ada", "5", "9"), "team1ada_5_9_"),
    ],
)
def test_no_name_of_a_learner_misleads_the_lms(known: LmsStudent, name: str) -> None:
    entry = LMS[known.lms].feedback_name(known, f"{SLUG}.html")
    assert entry == f"{name}{SLUG}.html"
    if known.lms == "moodle":
        assert moodles_reading(entry)[0] == "7"
    else:
        assert canvas_reading(entry)[1] == "9"


def test_an_archive_collected_before_the_numbers_were_kept_says_what_to_do(
    canvas: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    known = {"ada": {"lms": "canvas", "name": "lovelaceada", "number": "501"}}
    (canvas.state / "lms" / f"{SLUG}.json").write_text(json.dumps(known))
    assert main.main(["feedback", "--zip", "canvas", "--course", str(canvas.root)]) == 0
    assert "ada: is not in the zip, only in the folder" in capsys.readouterr().err


def test_a_very_long_id_gets_a_folder_like_any_other() -> None:
    assert _folder_name(LearnerResult("x" * 251, "Ada", "Lovelace", None, None)) == "x" * 251
    assert _folder_name(LearnerResult("ada", "../..", "/etc", None, None)) == "etc (ada)"


def test_what_collect_remembers_lasts(tmp_path: Path, canvas: CourseDirectory) -> None:
    data = json.loads((load_course(tmp_path).state / "lms" / f"{SLUG}.json").read_text())
    assert data["ada"] == {
        "lms": "canvas",
        "name": "lovelaceada",
        "number": "501",
        "file_id": "901",
        "by_name": True,
    }


def test_an_id_that_is_called_as_anothers_folder_stands_in_nobodys_way() -> None:
    ada = LearnerResult("ada", "Ada", "Lovelace", None, None)
    named = [
        LearnerResult(one, "", "", None, None) for one in (_folder_name(ada), "LOVELACE Ada (ada)")
    ]
    names = _folder_names([ada, *named])
    assert names[0] == "Lovelace Ada (ada)"
    assert len({one.casefold() for one in names}) == 3
