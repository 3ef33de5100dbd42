"""The rules of tests/conftest.py, each tried on a small test file of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SKIPPED = "import pytest\ndef test_a():\n    pytest.skip('no such thing here')\n"
MARKED = "import pytest\n@pytest.mark.{}\ndef test_a(): assert False\ndef test_b(): pass\n"


def run(tmp_path: Path, source: str, *options: str, require_all: bool = False) -> str:
    """What pytest prints for one test file under our conftest and our settings."""
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(source)
    settings = ["-c", str(TESTS.parent / "pyproject.toml"), "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *settings, *options, tmp_path],
        env=os.environ | {"REQUIRE_ALL": "1" if require_all else ""},
        capture_output=True,
        text=True,
    )
    return done.stdout


def closing(output: str) -> str:
    """The closing line of pytest without its rulers and its time."""
    return re.sub(r"^=+ | in [0-9.]+s.*$", "", output.splitlines()[-1])


def test_a_skipped_test_is_skipped_where_not_everything_is_required(tmp_path: Path) -> None:
    assert closing(run(tmp_path, SKIPPED)) == "1 skipped"


def test_a_skipped_test_fails_with_its_reason_where_everything_is_required(tmp_path: Path) -> None:
    output = run(tmp_path, SKIPPED, require_all=True)
    assert closing(output) == "1 failed"
    assert "REQUIRE_ALL=1, but this was skipped. Skipped: no such thing here" in output


def test_a_module_that_skips_itself_fails_where_everything_is_required(tmp_path: Path) -> None:
    source = "import pytest\npytest.importorskip('no_such_module')\ndef test_a(): pass\n"
    output = run(tmp_path, source, require_all=True)
    assert closing(output) == "1 error"
    assert "could not import 'no_such_module'" in output


def test_an_expected_failure_is_not_a_skip(tmp_path: Path) -> None:
    source = "import pytest\n@pytest.mark.xfail\ndef test_a(): assert False\n"
    assert closing(run(tmp_path, source, require_all=True)) == "1 xfailed"


@pytest.mark.exhaustive("the house at length")
@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one-process", "two-processes"])
def test_a_missing_recording_is_said_and_counted(tmp_path: Path, options: list[str]) -> None:
    source = MARKED.format("needs_recording('recordings/none.json')")
    output = run(tmp_path, source, *options, require_all=True)
    assert "1 × needs_recording: no recording yet (tests/recordings/none.json)" in output
    assert re.fullmatch("1 passed(, 1 deselected)?", closing(output))


EACH_LESSON = """
import pytest
@pytest.mark.each_lesson
@pytest.mark.parametrize("slug", [f"{n:02}-lesson" for n in range(1, 31)])
def test_a(slug): pass
"""


def test_a_share_of_the_lessons_is_drawn_and_the_others_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHARE", "34%")
    counts = set[str]()
    for draw in ("one", "two"):
        monkeypatch.setenv("DRAW", draw)
        output = run(tmp_path, EACH_LESSON, require_all=True)
        found = re.fullmatch(r"(\d+) passed, (\d+) deselected", closing(output))
        assert found
        assert int(found[1]) + int(found[2]) == 30
        assert f"{found[2]} × each_lesson: the lessons that this run has not drawn" in output
        counts.add(found[1])
    assert all(3 < int(count) < 20 for count in counts)


def test_without_a_share_every_lesson_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SHARE", raising=False)
    assert closing(run(tmp_path, EACH_LESSON)) == "30 passed"


EXHAUSTIVE = MARKED.format("exhaustive('every lesson once more')")


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one-process", "two-processes"])
def test_an_exhaustive_test_is_left_out_and_counted_where_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("LEAVE_OUT_EXHAUSTIVE", "1")
    output = run(tmp_path, EXHAUSTIVE, *options)
    assert "1 × exhaustive: every lesson once more\nleft out: 1 exhaustive tests\n" in output
    assert re.fullmatch("1 passed(, 1 deselected)?", closing(output))


def test_of_files_with_exhaustive_tests_three_times_the_share_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEAVE_OUT_EXHAUSTIVE", raising=False)
    monkeypatch.setenv("SHARE", "15%")
    monkeypatch.setenv("DRAW", "one")
    for number in range(30):
        (tmp_path / f"test_{number}.py").write_text(EXHAUSTIVE.replace("False", "True"))
    output = run(tmp_path, EXHAUSTIVE.replace("False", "True"))
    found = re.fullmatch(r"(\d+) passed, (\d+) deselected", closing(output))
    assert found and 12 < int(found[2]) < 23
    assert f"{found[2]} × exhaustive: the files that this run has not drawn" in output
    assert f"left out: {found[2]} exhaustive tests\n" in output


def test_files_that_take_long_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LEAVE_OUT_EXHAUSTIVE", raising=False)
    for name, source in (("a", "def test_a(): pass\n"), ("b", EXHAUSTIVE)):
        (tmp_path / f"test_{name}.py").write_text(source)
    ran = re.findall(r"test_([ab])\.py::test_\w+ [PF]", run(tmp_path, "", "-v"))
    assert ran == ["b", "b", "a"]


def test_an_exhaustive_test_runs_where_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEAVE_OUT_EXHAUSTIVE", raising=False)
    output = run(tmp_path, EXHAUSTIVE)
    assert (closing(output), "left out" in output) == ("1 failed, 1 passed", False)


@pytest.mark.exhaustive("the house at length")
def test_a_test_for_cuda_is_left_out_and_counted_where_there_is_none(tmp_path: Path) -> None:
    blind = "import torch\ntorch.cuda.is_available = lambda: False\n"
    output = run(tmp_path, blind + MARKED.format("cuda"), require_all=True)
    assert "1 × cuda: no NVIDIA GPU here" in output


LACKING = """
import pytest
from tests import machine
machine.MISSING["chromium"] = lambda: "no Chromium (`make system`)"
machine.MISSING["sandbox"] = lambda: None
@pytest.mark.needs("chromium")
def test_a(): assert False
@pytest.mark.needs("sandbox", "chromium")
def test_b(): assert False
@pytest.mark.needs("sandbox")
def test_c(): pass
"""


@pytest.mark.exhaustive("the house at length")
@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one-process", "two-processes"])
def test_what_a_machine_lacks_is_skipped_and_told_above_the_closing_line(
    tmp_path: Path, options: list[str]
) -> None:
    output = run(tmp_path, LACKING, *options)
    assert closing(output) == "1 passed, 2 skipped"
    told = output[re.search("=+ not tested =+\n", output).end() :]  # type: ignore[union-attr]
    assert told.startswith("2 × no Chromium (`make system`)\n")


def test_what_a_machine_lacks_fails_where_everything_is_required(tmp_path: Path) -> None:
    output = run(tmp_path, LACKING, require_all=True)
    assert closing(output) == "1 passed, 2 errors"
    assert "but this was skipped. Skipped: no Chromium (`make system`)" in output


def test_a_run_that_leaves_nothing_out_says_nothing_of_it(tmp_path: Path) -> None:
    assert "not tested" not in run(tmp_path, "def test_a(): pass\n")


def test_an_unknown_marker_is_an_error(tmp_path: Path) -> None:
    output = run(tmp_path, MARKED.format("cudda"))
    assert "'cudda' not found in `markers` configuration option" in output


def test_a_warning_fails_the_test_that_caused_it(tmp_path: Path) -> None:
    output = run(tmp_path, "import warnings\ndef test_a(): warnings.warn('look')\n")
    assert closing(output) == "1 failed"


@pytest.mark.exhaustive("the house at length")
@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["one-process", "two-processes"])
def test_a_run_of_several_folders_says_which_took_longest(
    tmp_path: Path, options: list[str]
) -> None:
    for folder, seconds in (("quick", 0.0), ("slow", 0.6)):
        (tmp_path / folder).mkdir()
        source = f"import time\ndef test_a(): time.sleep({seconds})\n"
        (tmp_path / folder / "test_it.py").write_text(source)
    output = run(tmp_path, "", *options)
    assert re.search(r"=+ seconds by folder.*=+\n +1 +slow\n +0 +quick\n", output)


def test_a_run_of_one_folder_says_nothing_of_its_seconds(tmp_path: Path) -> None:
    assert "seconds by folder" not in run(tmp_path, "def test_a(): pass\n")
