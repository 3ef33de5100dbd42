"""`autograder bench` runs from a clone of the repository, and says so where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.cli import diagnostics, main
from tests.autograder import tiny
from tools import bench
from tools.bench import BenchError, _execute
from tools.contenders import QUICKSTARTS, WARM_CELLS, quickstart


def test_an_installed_package_says_where_the_benchmark_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(diagnostics, "_REPOSITORY", tmp_path)
    assert main.main(["bench", "1"]) == 2
    assert capsys.readouterr().err == (
        f"autograder: the benchmark is no part of the installed package, and {tmp_path} has no "
        "tools/bench.py\n  Run `make bench` in a clone of the repository, where tools/ is.\n"
    )


@pytest.mark.exhaustive("a developer's tools")
def test_a_contender_finds_the_tools_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = tiny.build(tmp_path)
    monkeypatch.chdir(tmp_path)
    cost, printed = _execute([*WARM_CELLS, str(course), "01-tiny"])  # nobody has handed it in
    assert float(printed) == 0.0
    assert cost.wall_s > 0


def test_nbgraders_own_course_is_asked_for_by_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, object]] = []
    monkeypatch.setattr(bench, "run_quickstart", lambda **how: asked.append(how) or 0)
    assert main.main(["bench", "--quickstart", "--students", "6", "--rounds", "1"]) == 0
    assert asked == [{"students": 6, "rounds": 1, "as_json": False}]


@pytest.mark.parametrize("more", ["04", "--profile"])
def test_nbgraders_own_course_has_one_assignment(
    more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["bench", "--quickstart", more]) == 2
    assert "Leave out the lessons and --profile." in capsys.readouterr().err


@pytest.mark.exhaustive("nbgrader makes a course")
def test_nbgraders_own_course_is_handed_in_by_as_many_as_asked(tmp_path: Path) -> None:
    course = tmp_path / "class"
    quickstart(str(course), "3")
    assert (course / "nbgrader_config.py").is_file()
    found = sorted(
        path.relative_to(course / "submitted") for path in course.glob("submitted/*/*/*.ipynb")
    )
    assert [str(path) for path in found] == [
        f"student-{number:03d}/ps1/problem{part}.ipynb" for number in (1, 2, 3) for part in (1, 2)
    ]
    assert {path.name for path in (course / "source" / "ps1").glob("*.ipynb")} == {
        "problem1.ipynb",
        "problem2.ipynb",
    }


@pytest.mark.exhaustive("nbgrader makes a course")
def test_the_cells_alone_run_in_notebooks_whose_cells_have_no_ids(tmp_path: Path) -> None:
    course = tmp_path / "class"
    quickstart(str(course), "1")
    _, printed = _execute([*WARM_CELLS, str(course), QUICKSTARTS])
    assert float(printed) > 0


def test_a_contender_that_breaks_down_is_told() -> None:
    with pytest.raises(BenchError, match=r"exit code 1: (?s:.*)No such file"):
        _execute([sys.executable, "-c", "raise OSError('No such file')"])
