"""`autograder bench` runs from a clone of the repository, and says so where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.cli import diagnostics, main
from tests.autograder import tiny
from tools import bench
from tools.bench import BenchError, Cost, Sizes, _execute
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
    asked: list[Sizes] = []
    monkeypatch.setattr(bench, "run_quickstart", lambda sizes, as_json: asked.append(sizes) or 0)
    assert main.main(["bench", "--quickstart", "--students", "6", "--rounds", "1"]) == 0
    assert asked == [Sizes(students=6, graded=6, rounds=1)]


def test_what_stock_nbgrader_takes_for_a_class_is_computed_of_a_part() -> None:
    two, ten = Cost(wall_s=5.0, cpu_s=6.0), Cost(wall_s=13.0, cpu_s=22.0)
    # Its start is 3 s of wall and 2 s of CPU, each submission 1 s and 2 s.
    assert ten.continued(two, Sizes(40, 10, 3).steps) == Cost(wall_s=43.0, cpu_s=82.0)


def test_two_submissions_say_nothing_of_more(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["bench", "04", "--stock", "2"]) == 2
    assert "Give it more than 2, or leave --stock out" in capsys.readouterr().err


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
