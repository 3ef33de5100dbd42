"""What nbgrader's exchange wants beside a feedback page before it hands it to the learner.

`nbgrader release_feedback` finds the learner by the time and the secret that `nbgrader submit` put
into the submission; `nbgrader generate_feedback` copies both from autograded/ and so do we.  They
come from autograded/ and not from submitted/, where a newer submission may lie.
"""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

from autograder.course_directory import CourseDirectory
from autograder.lessons.model import Lesson

TOKENS = ("timestamp.txt", "submission_secret.txt")
_TOKEN_NBYTES = 4096


def accompany_pages(course: CourseDirectory, lesson: Lesson, student: str | None = None) -> None:
    """Put time and secret of the submission beside each page of `lesson` that is there.

    Args:
        course: Says where autograded/ and feedback/ are.
        lesson: Whose pages.
        student: Only theirs; None for everybody's.
    """
    for name, pages in course.pages(lesson.slug).items():
        if student in (None, name) and pages.is_dir():
            _copy_tokens(course.autograded(name, lesson.slug), pages)


def _copy_tokens(graded: Path, pages: Path) -> None:
    for name in TOKENS:
        (pages / name).unlink(missing_ok=True)
        if _is_small_file(graded / name):
            shutil.copyfile(graded / name, pages / name, follow_symlinks=False)


def _is_small_file(path: Path) -> bool:
    try:
        info = path.lstat()
    except OSError:
        return False
    return stat.S_ISREG(info.st_mode) and info.st_size <= _TOKEN_NBYTES
