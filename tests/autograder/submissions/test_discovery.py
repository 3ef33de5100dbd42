"""Intake finds every submission and says what is wrong with one, believing nothing in it."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import UnknownStudent
from autograder.submissions.discovery import (
    NOTEBOOK_LIMIT_NBYTES,
    Submission,
    digest_of,
    find_submissions,
    hidden_folders,
    student_id,
)
from autograder.submissions.folder import Open
from tests.autograder.classroom import SLUG, classroom, deep_folder, hand_in


def only(root: Path, opened: Open = os.open) -> Submission:
    """The single submission of a course directory; `opened` opens its files."""
    course, lesson = classroom(root)
    (found,) = find_submissions(course, (lesson,), opened=opened)
    return found


def test_submissions_come_in_the_order_of_their_students(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "zoe", "ada", "bob")
    assert [one.student for one in find_submissions(course, (lesson,))] == ["ada", "bob", "zoe"]


def test_a_submission_says_when_it_was_handed_in_as_utc(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", "{}", "2026-01-10 14:00:00 +0200")
    assert only(tmp_path).submitted_at == "2026-01-10T12:00:00+00:00"


@pytest.mark.parametrize(
    "when",
    [
        *("2026-01-10 12:00:00", "2026-01-10 12:00:00 UTC", "2026-01-10T12:00:00Z"),
        *("2026-01-10 13:00:00 +01", "2026-01-10 13:00:00 +0100", "2026-01-10 13:30:00 +01:30"),
        *("2026-01-10 14:00:00 CEST", "2026-01-10 07:00:00 EST", "2026-01-10 15:00:00 GMT+3"),
        *("Sat Jan 10 13:00:00 CET 2026", "Sat, 10 Jan 2026 13:00:00 +0100"),
        *("2026-01-10 13:00:00 Europe/Berlin", "2026-01-10 07:00 AM EST", "10 Jan 2026 12:00"),
    ],
)
def test_a_time_in_any_zone_is_the_same_moment(tmp_path: Path, when: str) -> None:
    hand_in(tmp_path, "ada", "{}", when)
    found = only(tmp_path)
    assert (found.submitted_at, found.notes) == ("2026-01-10T12:00:00+00:00", ())


@pytest.mark.parametrize("zone", ["CST", "IST", "XYZ", "Mars/Base"])
def test_a_zone_that_means_nothing_or_two_is_named(tmp_path: Path, zone: str) -> None:
    hand_in(tmp_path, "ada", "{}", f"2026-01-10 12:00:00 {zone}")
    found = only(tmp_path)
    assert found.submitted_at is None
    assert found.notes == (
        f"timestamp.txt names a time zone that is not known, {zone}; lateness is not known.",
    )


def test_a_folder_that_begins_with_a_dot_is_nobodys_and_is_said(tmp_path: Path) -> None:
    for name in ("ada", ".bob", ".config"):
        hand_in(tmp_path, name, "{}")
    (tmp_path / "submitted" / ".config" / SLUG).rename(tmp_path / "submitted" / ".config" / "x")
    course, lesson = classroom(tmp_path)
    assert [one.student for one in find_submissions(course, (lesson,))] == ["ada"]
    assert hidden_folders(course, (lesson,)) == (
        "left out, as the name of the folder begins with a dot: .bob; rename it to the student's "
        "id",
    )
    (tmp_path / "submitted" / ".bob").rename(tmp_path / "submitted" / "bob")
    assert hidden_folders(course, (lesson,)) == ()


def test_a_time_that_cannot_be_read_is_noted_and_costs_nothing(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", "{}", "yesterday-ish")
    found = only(tmp_path)
    assert (found.submitted_at, found.notebooks[0].problem) == (None, None)
    assert "timestamp.txt holds no time" in found.notes[0]


@pytest.mark.parametrize(
    "when",
    [
        *("0001-01-01 00:00:00 UTC", "9999-12-31 23:59:59 UTC", "9999-12-31 23:59:59 -0100"),
        *("1969-12-31 23:59:59 UTC", "2201-01-01 00:00:00", "Fri Jan 1 00:00:00 CET 9999"),
    ],
)
def test_a_year_in_which_nobody_handed_in_is_no_time(tmp_path: Path, when: str) -> None:
    hand_in(tmp_path, "ada", "{}", when)
    found = only(tmp_path)
    assert (found.submitted_at, found.notebooks[0].problem) == (None, None)
    assert "timestamp.txt holds no time that can be read" in found.notes[0]


@pytest.mark.parametrize("when", ["1970-01-01T00:00:00+00:00", "2200-12-31T23:59:59+00:00"])
def test_any_other_year_is_taken(tmp_path: Path, when: str) -> None:
    hand_in(tmp_path, "ada", "{}", when)
    assert only(tmp_path).submitted_at == when


def test_a_folder_without_a_notebook_is_missing(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").unlink()
    assert only(tmp_path).notebooks[0].problem == (
        "missing",
        f"{SLUG}.ipynb is not in the submission.",
    )


def test_a_single_notebook_of_another_name_is_taken_and_noted(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").rename(folder / "Untitled.ipynb")
    found = only(tmp_path)
    assert (found.notebooks[0].path.name, found.notebooks[0].problem) == ("Untitled.ipynb", None)
    assert "handed in as Untitled.ipynb" in found.notes[0]


def test_of_two_other_notebooks_none_is_guessed(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").rename(folder / "a.ipynb")
    (folder / "b.ipynb").write_text("{}")
    assert only(tmp_path).notebooks[0].problem == (
        "missing",
        f"{SLUG}.ipynb is not in the submission; it holds a.ipynb, b.ipynb.",
    )


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").unlink()
    (folder / f"{SLUG}.ipynb").symlink_to("/etc/passwd")
    status, reason = only(tmp_path).notebooks[0].problem or ("", "")
    assert status == "malformed"
    assert "is a link" in reason


def test_a_notebook_larger_than_anyone_needs_is_not_read(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    with (folder / f"{SLUG}.ipynb").open("r+b") as file:
        file.truncate(NOTEBOOK_LIMIT_NBYTES + 1)
    status, reason = only(tmp_path).notebooks[0].problem or ("", "")
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


# Whatever lies there is that learner's status, and the others are found.


def test_the_digest_of_an_ordinary_folder_is_what_older_journals_hold(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "more/x.txt", "a-folder/y.txt", "more/deep/z.txt"):
        (tmp_path / "one" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "one" / name).write_text(name)
    (tmp_path / "one" / "link").symlink_to("elsewhere")
    total = hashlib.sha256()
    for name in ("a.txt", "b.txt", "link", "a-folder/y.txt", "more/x.txt", "more/deep/z.txt"):
        content = "link elsewhere" if name == "link" else name
        total.update(name.encode() + b"\0" + hashlib.sha256(content.encode()).digest())
    assert digest_of(tmp_path / "one") == total.hexdigest()


def test_a_folder_called_like_the_notebook_is_malformed_and_says_so(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").unlink()
    (folder / f"{SLUG}.ipynb").mkdir()
    (folder / f"{SLUG}.ipynb" / "inside.txt").write_text("1")
    assert only(tmp_path).notebooks[0].problem == (
        "malformed",
        f"{SLUG}.ipynb is a folder; hand in the notebook itself.",
    )


def test_what_was_handed_in_instead_of_a_folder_is_malformed(tmp_path: Path) -> None:
    (tmp_path / "submitted" / "ada").mkdir(parents=True)
    (tmp_path / "submitted" / "ada" / SLUG).write_text("{}")
    status, reason = only(tmp_path).notebooks[0].problem or ("", "")
    assert (status, f"{SLUG} is no folder" in reason) == ("malformed", True)


@pytest.mark.parametrize("name", ["01-TINY.IPYNB", "01-Tiny.ipynb", "mine.IpyNb"])
def test_a_notebook_in_capitals_is_taken_and_named(tmp_path: Path, name: str) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").rename(folder / name)
    found = only(tmp_path)
    assert (found.notebooks[0].path.name, found.notebooks[0].problem) == (name, None)
    assert f"handed in as {name}" in found.notes[0]


def test_of_several_notebooks_the_one_of_nearly_the_right_name_is_taken(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").rename(folder / "01-Tiny.IPYNB")
    (folder / "scratch.ipynb").write_text("{}")
    assert only(tmp_path).notebooks[0].path.name == "01-Tiny.IPYNB"


def test_a_folder_without_any_notebook_says_what_it_holds(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").rename(folder / "notes\x1b[2J\n.txt")
    (folder / "sub").mkdir()
    status, reason = only(tmp_path).notebooks[0].problem or ("", "")
    assert status == "missing"
    assert reason == f"{SLUG}.ipynb is not in the submission; it holds notes�[2J�.txt, sub/."


def test_a_submission_larger_than_anyone_needs_is_not_read(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    os.truncate(_made(folder / "model.bin"), 6 * 2**30)  # sparse: it takes no room
    status, reason = only(tmp_path, refuse_to_open).notebooks[0].problem or ("", "")
    assert status == "malformed"
    assert "6,144 MB, more than the 512 MB" in reason
    assert "model.bin alone has 6,144 MB. Take out" in reason


def test_the_digest_of_a_submission_that_is_too_large_changes_with_it(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    large = _made(folder / "model.bin")
    digests = set()
    for size, time_ns in ((6 * 2**30, 1), (5 * 2**30, 1), (5 * 2**30, 2), (10, 2)):
        os.truncate(large, size)
        os.utime(large, ns=(time_ns, time_ns))
        digests.add(digest_of(folder))
    assert len(digests) == 4


def test_a_time_of_gigabytes_is_not_read(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    os.truncate(_made(folder / "timestamp.txt"), 3 * 2**20)
    found = only(tmp_path)
    assert (found.submitted_at, found.notebooks[0].problem) == (None, None)
    assert "timestamp.txt holds no time" in found.notes[0]


def test_more_files_than_anyone_needs_are_malformed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.submissions.folder.FILES_LIMIT", 20)
    folder = hand_in(tmp_path, "ada", "{}")
    for number in range(30):
        (folder / f"{number}.txt").write_text("")
    status, reason = only(tmp_path).notebooks[0].problem or ("", "")
    assert (status, "more than 20 files" in reason) == ("malformed", True)


def test_a_path_longer_than_the_system_opens_is_malformed(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    deep_folder(folder)
    status, reason = only(tmp_path).notebooks[0].problem or ("", "")
    assert (status, "is longer than 1,000 bytes" in reason) == ("malformed", True)


def test_pipes_links_in_a_circle_and_hard_links_make_nobody_wait(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    os.mkfifo(folder / "pipe")
    (folder / "circle").symlink_to(".")
    (folder / "same.ipynb").hardlink_to(folder / f"{SLUG}.ipynb")
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(folder):
        listening.bind("socket")  # its address is short, a path of a test's folder is not
    found = only(tmp_path)
    assert (found.notebooks[0].problem, found.notes) == (None, ())
    assert [one.name for one in found.files] == [f"{SLUG}.ipynb", "same.ipynb"]


def test_a_pipe_called_like_the_notebook_is_malformed(tmp_path: Path) -> None:
    folder = hand_in(tmp_path, "ada", "{}")
    (folder / f"{SLUG}.ipynb").unlink()
    os.mkfifo(folder / f"{SLUG}.ipynb")
    status, reason = only(tmp_path).notebooks[0].problem or ("", "")
    assert (status, "special file" in reason) == ("malformed", True)


# What the system refuses is nobody's fault that we know of.


def refusing(name: str) -> Callable[[Path, int], int]:
    """A way to open files that refuses one name, as for a grader who is not root."""

    def opened(path: Path, flags: int) -> int:
        if Path(path).name == name:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return os.open(path, flags)

    return opened


def test_a_notebook_that_may_not_be_read_says_so_and_is_not_missing(tmp_path: Path) -> None:
    hand_in(tmp_path, "ada", "{}")
    assert only(tmp_path, refusing(f"{SLUG}.ipynb")).notebooks[0].problem == (
        "infrastructure",
        f"{SLUG}.ipynb cannot be read: Permission denied. Let the account that grades read it, "
        "then run `autograder grade` again.",
    )


def test_another_file_that_may_not_be_read_is_noted_and_costs_nothing(tmp_path: Path) -> None:
    (hand_in(tmp_path, "ada", "{}") / "data.csv").write_text("1")
    found = only(tmp_path, refusing("data.csv"))
    assert (found.notebooks[0].problem, found.notes) == (
        None,
        ("Could not be read and was left out: data.csv.",),
    )


@pytest.mark.parametrize("closed", ["", SLUG])
def test_a_folder_that_may_not_be_opened_says_so(closed: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        root = Path(folder)
        course, lesson = classroom(root, "ada", "bob")
        shut = root / "submitted" / "ada" / closed
        with ordinary_user(root, shut):
            ada, bob = find_submissions(course, (lesson,))
    status, reason = ada.notebooks[0].problem or ("", "")
    assert (status, bob.notebooks[0].problem) == ("infrastructure", None)
    assert reason.startswith(f"The folder {SLUG} cannot be read: Permission denied.")


@contextlib.contextmanager
def ordinary_user(root: Path, shut: Path) -> Iterator[None]:
    """Be somebody who may read the course but for the folder `shut`, even where root runs this."""
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    shut.chmod(0)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        shut.chmod(0o755)


# Names.


def test_an_id_that_is_no_utf_8_is_text_that_can_be_kept(tmp_path: Path) -> None:
    hand_in(tmp_path, os.fsdecode(b"jos\xe9"), "{}")
    found = only(tmp_path)
    assert found.student == "jos\\xe9"
    assert os.fsencode(found.directory.parent.name) == b"jos\xe9"
    assert (found.notebooks[0].problem, found.notebooks[0].path.is_file()) == (None, True)


def test_such_a_learner_can_be_graded_alone(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "ada")
    hand_in(tmp_path, os.fsdecode(b"jos\xe9"), "{}")
    for name in ("jos\\xe9", os.fsdecode(b"jos\xe9")):
        (found,) = find_submissions(course, (lesson,), name)
        assert found.student == "jos\\xe9"


def test_a_name_that_looks_like_an_id_takes_nobodys(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path)
    hand_in(tmp_path, os.fsdecode(b"jos\xe9"), "{}")
    (alone,) = find_submissions(course, (lesson,))
    hand_in(tmp_path, r"jos\xe9", "{}")
    found = {one.student: one.directory for one in find_submissions(course, (lesson,))}
    assert {name: path.parent.name for name, path in found.items()} == {
        alone.student: os.fsdecode(b"jos\xe9"),
        r"jos\x5cxe9": r"jos\xe9",
    }
    (again,) = find_submissions(course, (lesson,), alone.student)
    assert again.directory == alone.directory


NAMES = st.one_of(
    st.binary(min_size=1, max_size=255),
    st.text("\\x3cé<~é𝄞", min_size=1, max_size=60).map(str.encode),
)


@given(NAMES, NAMES)
def test_no_two_names_have_one_id(one: bytes, other: bytes) -> None:
    ids = [student_id(os.fsdecode(name)) for name in (one, other)]
    assert (ids[0] == ids[1]) == (one == other)


def test_an_id_is_not_made_the_id_of_a_long_one() -> None:
    long = "é" * 40 + "<" * 75
    made = student_id(long)
    assert made.startswith("é" * 40 + r"\x3c")
    assert len(made.encode()) <= 255
    assert student_id(made) != made
    assert student_id("ada~2") == "ada~2"
    assert student_id(os.fsdecode("𝄞".encode() * 60 + b"\xff" * 15)).startswith("𝄞")


@given(NAMES)
def test_every_name_of_a_folder_becomes_text_that_fits(name: bytes) -> None:
    id_ = student_id(os.fsdecode(name))
    assert len(id_.encode()) <= 255  # encoding refuses what is no text


def refuse_to_open(path: Path, flags: int) -> int:
    raise AssertionError(f"{path.name} was opened")


def _made(path: Path) -> Path:
    path.write_bytes(b"")
    return path


def test_a_link_in_the_place_of_a_learners_folder_is_not_followed(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "ada")
    (tmp_path / "submitted" / "kim").symlink_to("ada")
    ada, kim = find_submissions(course, (lesson,))
    assert ada.notebooks[0].problem is None
    assert kim.notebooks[0].problem is not None
    assert kim.notebooks[0].problem[1].startswith("kim is a link")
    assert kim.digest != ada.digest


def test_an_id_is_no_tag_on_a_page_that_escapes_nothing() -> None:
    assert student_id('<img src="x">') == r"\x3cimg src=\x22x\x22\x3e"
    assert student_id("o'neil & co") == "o'neil & co"
