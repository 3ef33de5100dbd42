"""What nbgrader's exchange wants beside a feedback page before it hands it to the learner.

`nbgrader release_feedback` finds the learner by the time and the secret that `nbgrader submit` put
into the submission; `nbgrader generate_feedback` copies both from autograded/ and so do we.  They
come from autograded/ and not from submitted/, where a newer submission may lie.

Both are learners' files, which may be anything or missing, and `release_feedback` ends at the first
that it cannot read, for the whole class.  So beside each page lie two that it can: without a secret
of the learner's it hands the page out under a name that nobody can find.
"""

from __future__ import annotations

import secrets
import shutil
import stat
from pathlib import Path

from autograder.course_directory import CourseDirectory
from autograder.lessons.model import Lesson

TOKENS = ("timestamp.txt", "submission_secret.txt")
_TOKEN_NBYTES = 4096
_NOBODYS = "nobody's "


def accompany_pages(course: CourseDirectory, lesson: Lesson, student: str | None = None) -> None:
    """Put time and secret of the submission beside each page of `lesson` that is there.

    Args:
        course: Says where autograded/ and feedback/ are.
        lesson: Whose pages.
        student: Only theirs; None for everybody's.
    """
    for name, pages in course.pages(lesson.slug).items():
        if student in (None, name) and pages.is_dir():
            put_tokens(course.autograded(name, lesson.slug), pages)


def put_tokens(graded: Path, pages: Path) -> None:
    """Put a time and a secret that can be read beside pages.

    Args:
        graded: The folder with those of the submission; may be `pages` itself.
        pages: The folder of the pages.
    """
    time, secret = (_text_of(graded / name) for name in TOKENS)
    if not time.strip().isprintable():  # the command shows it on the terminal
        time = ""
    if not secret or secret.startswith(_NOBODYS):
        # One that nobody knows, and the same each time: else the exchange would fill up.
        known = _text_of(pages / TOKENS[1])
        is_ours = known.startswith(_NOBODYS)
        secret = known if is_ours else f"{_NOBODYS}{secrets.token_hex()}"
    for name, text in zip(TOKENS, (time, secret), strict=True):
        if (pages / name).is_dir() and not (pages / name).is_symlink():
            shutil.rmtree(pages / name)
        (pages / name).unlink(missing_ok=True)
        (pages / name).write_bytes(text.encode())


def _text_of(path: Path) -> str:
    """The text of a small file; nothing where it is none."""
    try:
        info = path.lstat()
        if stat.S_ISREG(info.st_mode) and info.st_size <= _TOKEN_NBYTES:
            return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        pass
    return ""
