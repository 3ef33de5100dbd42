"""The stages of `make test`: what each took, what was left out, and what a failure ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import stages

MAKEFILE = """
good:
\t@echo fine $(SHARE); echo 'left out: 9 of 10 wrong answers'
more:
\t@echo 'left out: 3 exhaustive tests'; echo the end
bad:
\t@echo amiss >&2; exit 1
"""


@pytest.fixture(autouse=True)
def _made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    monkeypatch.setattr(stages, "ROOT", tmp_path)


def told(
    capfd: pytest.CaptureFixture[str], *groups: tuple[str, ...], keep_going: bool = False
) -> tuple[int, list[str]]:
    """The status of a run of these groups, and what it printed without seconds."""
    status = stages.run(groups, {"SHARE": "10%"}, keep_going=keep_going)
    return status, [
        line.partition(": ")[0] if line.startswith("make ") else line
        for line in capfd.readouterr().out.splitlines()
    ]


def test_what_was_left_out_closes_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    status, lines = told(capfd, ("good",), ("more",))
    assert status == 0
    assert lines[0] == "fine 10%"
    assert lines[-2:] == [
        "make more",
        "left out: 9 of 10 wrong answers, 3 exhaustive tests: make test-all",
    ]


def test_stages_beside_each_other_are_told_one_after_another(
    capfd: pytest.CaptureFixture[str],
) -> None:
    _, lines = told(capfd, ("more", "good"))
    assert lines[1:6] == [
        "the end",
        "make more",
        "fine 10%",
        "left out: 9 of 10 wrong answers",
        "make good",
    ]


def test_a_stage_that_fails_ends_the_run(capfd: pytest.CaptureFixture[str]) -> None:
    status, lines = told(capfd, ("bad", "good"), ("more",))
    assert (status, "make good" in lines, "make more" in lines) == (2, True, False)


def test_a_stage_that_fails_is_remembered_where_the_run_goes_on(
    capfd: pytest.CaptureFixture[str],
) -> None:
    status, lines = told(capfd, ("bad",), ("more",), keep_going=True)
    assert (status, "make more" in lines) == (2, True)


def test_a_line_says_what_a_stage_took_and_whether_it_failed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    stages.run([("bad",)], {}, keep_going=False)
    assert capfd.readouterr().out == "make bad: 0 s, 0 s of processor time, FAILED\n"
