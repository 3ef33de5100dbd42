"""Intake finds every submission and says what is wrong with one, believing nothing in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import UnknownStudent
from autograder.intake import NOTEBOOK_LIMIT_NBYTES, Submission, digest_of, find_submissions
from tests.autograder.classroom import SLUG, classroom, hand_in


def only(root: Path) -> Submission:
    """The single submission of a course directory."""
    course, lesson = classroom(root)
    (found,) = find_submissions(course, (lesson,))
    return found


def test_submissions_come_in_the_order_of_their_students(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "zoe", "ada", "bob")
    assert [one.student for one in find_submissions(course, (lesson,))] == ["ada", "bob", "zoe"]


def test_a_submission_says_when_it_was_handed_in_as_utc(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", "{}", "2026-01-10 14:00:00 +0200")
    assert only(tmp_path).submitted_at == "2026-01-10T12:00:00+00:00"


def test_a_time_that_cannot_be_read_is_noted_and_costs_nothing(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", "{}", "yesterday-ish")
    found = only(tmp_path)
    assert (found.submitted_at, found.problem) == (None, None)
    assert "timestamp.txt holds no time" in found.notes[0]


def test_a_folder_without_a_notebook_is_missing(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").unlink()
    assert only(tmp_path).problem == ("missing", f"{SLUG}.ipynb is not in the submission.")


def test_a_single_notebook_of_another_name_is_taken_and_noted(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").rename(folder / "Untitled.ipynb")
    found = only(tmp_path)
    assert (found.notebook.name, found.problem) == ("Untitled.ipynb", None)
    assert "handed in as Untitled.ipynb" in found.notes[0]


def test_of_two_other_notebooks_none_is_guessed(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").rename(folder / "a.ipynb")
    (folder / "b.ipynb").write_text("{}")
    assert only(tmp_path).problem == (
        "missing",
        f"{SLUG}.ipynb is not in the submission; it holds a.ipynb, b.ipynb.",
    )


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").unlink()
    (folder / f"{SLUG}.ipynb").symlink_to("/etc/passwd")
    status, reason = only(tmp_path).problem or ("", "")
    assert status == "malformed"
    assert "is a link" in reason


def test_a_notebook_larger_than_anyone_needs_is_not_read(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    with (folder / f"{SLUG}.ipynb").open("r+b") as file:
        file.truncate(NOTEBOOK_LIMIT_NBYTES + 1)
    status, reason = only(tmp_path).problem or ("", "")
    assert (status, "clear its outputs" in reason) == ("malformed", True)


def test_any_change_to_any_file_changes_the_digest(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    digests = [digest_of(folder)]
    (folder / "data.txt").write_text("1")
    digests.append(digest_of(folder))
    (folder / "data.txt").rename(folder / "date.txt")
    digests.append(digest_of(folder))
    (folder / "date.txt").unlink()
    (folder / "date.txt").symlink_to("elsewhere")
    digests.append(digest_of(folder))
    assert len(set(digests)) == 4


def test_checkpoints_of_jupyter_do_not_count(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    before = digest_of(folder)
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "x.ipynb").write_text("{}")
    assert digest_of(folder) == before


def test_an_unknown_student_is_an_error_that_names_the_known_ones(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "ada", "bob")
    with pytest.raises(UnknownStudent, match=r"(?s)Did you mean ada.*submissions of: ada, bob"):
        find_submissions(course, (lesson,), "adda")


def test_nobody_handed_anything_in_is_no_error(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path)
    assert find_submissions(course, (lesson,)) == ()
