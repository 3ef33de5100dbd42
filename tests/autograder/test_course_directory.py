"""What a course directory's configuration says of where things lie."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

from autograder.course_directory import load_course


def configured(root: Path, *lines: str) -> tuple[Path, ...]:
    (root / "nbgrader_config.py").write_text("\n".join(["c = get_config()", *lines]))
    return load_course(root).private


def test_the_course_and_the_exchange_are_private(tmp_path: Path) -> None:
    found = configured(tmp_path)
    assert tmp_path in found
    assert Path("/usr/local/share/nbgrader/exchange") in found


def test_so_is_what_the_configuration_puts_elsewhere(tmp_path: Path) -> None:
    found = configured(
        tmp_path,
        "c.Exchange.root = '/srv/exchange'",
        "c.CourseDirectory.submitted_directory = '/srv/submitted'",
        "c.CourseDirectory.directory_structure = '{nbgrader_step}/{student_id}/{assignment_id}'",
    )
    assert {Path("/srv/exchange"), Path("/srv/submitted"), tmp_path / "source"} <= {*found}


def test_a_name_that_many_paths_share_is_held_against_the_ignored_ones_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, looked = load_course(tmp_path), []

    def counted(name: str, pattern: str) -> bool:
        looked.append((name, pattern))
        return fnmatch(name, pattern)

    monkeypatch.setattr("autograder.course_directory.fnmatch", counted)
    found = [
        course.ignores(f"{'deep/' * 400}shared{n % 7}.{end}")
        for n in range(70)
        for end in ("x", "pyc")
    ]
    assert found == [False, True] * 70
    assert len(looked) == len(set(looked)) > 0
