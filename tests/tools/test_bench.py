"""`autograder bench` runs from a clone of the repository, and says so where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.cli import diagnostics, main
from tests.autograder import tiny
from tools.bench import _execute
from tools.contenders import WARM_CELLS


def test_an_installed_package_says_where_the_benchmark_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(diagnostics, "_REPOSITORY", tmp_path)
    assert main.main(["bench", "1"]) == 2
    assert capsys.readouterr().err == (
        f"autograder: the benchmark is no part of the installed package, and {tmp_path} has no "
        "tools/bench.py\n  Run `make bench` in a clone of the repository, where tools/ is.\n"
    )


def test_a_contender_finds_the_tools_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = tiny.build(tmp_path)
    monkeypatch.chdir(tmp_path)
    cost, printed = _execute([*WARM_CELLS, str(course), "01-tiny"])  # nobody has handed it in
    assert float(printed) == 0.0
    assert cost.wall_s > 0
