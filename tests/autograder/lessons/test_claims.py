"""A lesson's claims as the grader reads them: by the reader of `course.claims`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.errors import LessonError
from autograder.lessons.claims import claims_of, misconceptions
from course.claims import schema
from tests.autograder import tiny


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


def test_misconceptions_come_from_the_claims_of_the_course(course: Path) -> None:
    known = misconceptions(course, "01-tiny")
    assert isinstance(known["order-of-memory"], schema.Misconception)
    assert known["order-of-memory"].section == "flattening"
    assert misconceptions(course, "99-none") == {}


def test_a_lesson_that_the_course_lacks_is_read_from_the_installed_package(course: Path) -> None:
    assert claims_of(course, "04-memory-layout").claims[0].lesson == "04-memory-layout"


def test_a_misconception_without_a_reason_is_refused_with_file_entry_and_remedy(
    course: Path,
) -> None:
    path = course / "course/lessons/tiny/claims.toml"
    path.write_text('lesson = "01-tiny"\n[[misconception]]\nid = "a"\ntitle = "b"\nsection = "c"\n')
    with pytest.raises(LessonError) as caught:
        misconceptions(course, "01-tiny")
    cause = "misconception 'a': the key 'why' is missing. Add why = \"…\"."
    assert (caught.value.place, caught.value.cause) == (str(path), cause)
    assert caught.value.remedy == "Mend it; `autograder check 01-tiny` looks again."


def test_a_claim_that_breaks_its_form_hides_no_misconception(course: Path) -> None:
    path = course / "course/lessons/tiny/claims.toml"
    path.write_text(tiny.claims('[[claim]]\nid = "c"'))
    assert len(misconceptions(course, "01-tiny")) == 4
    with pytest.raises(LessonError, match="claim 'c': the key 'asked' is missing"):
        claims_of(course, "01-tiny")


def test_claims_that_are_no_text_are_refused(course: Path) -> None:
    path = course / "course/lessons/tiny/claims.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(LessonError, match="cannot be read: 'utf-8' codec"):
        claims_of(course, "01-tiny")


def test_grade_and_the_claims_are_imported_without_torch_and_nbgrader() -> None:
    code = (
        "import sys, autograder.cli.grade, course.claims.reader; "
        "print({'torch', 'nbgrader', 'nbformat', 'IPython'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
