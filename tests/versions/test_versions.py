"""What `make versions` installs, and the page that it writes."""

from __future__ import annotations

import json
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.colab.runtime import ROOT
from tests.test_house import COLAB
from tests.versions import page
from tests.versions.environment import COLABS_TORCH, asked_for, constraints_for, missing
from tests.versions.measure import Row, _outcomes, _raised_or_warned
from tests.versions.page import PAGE, Result, keep, read_results, terminal_table, with_tables


def pinned(torch: str) -> dict[str, str]:
    """The constraints for a PyTorch: the version of each package."""
    found = map(Requirement, constraints_for(torch))
    return {one.name: str(one.specifier).removeprefix("==") for one in found}


def test_with_colabs_torch_everything_is_as_old_as_on_colab() -> None:
    assert COLAB["torch"] == COLABS_TORCH
    others = {name: version for name, version in COLAB.items() if name != "torch"}
    assert {name: pinned(COLABS_TORCH)[name] for name in others} == others


def test_with_another_torch_everything_else_is_pinned_as_ever() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert f"numpy=={pinned('2.15.0')['numpy']}" in lines
    assert not {"torch", "torchvision", "setuptools"} & pinned("2.15.0").keys()


def test_the_torch_that_is_asked_for_is_asked_for_once() -> None:
    names = [Requirement(one).name for one in asked_for("2.15.0")]
    assert asked_for("2.15.0")[0] == "torch==2.15.0"
    assert names.count("torch") == 1
    assert {"ipykernel", "ipywidgets", "tensorboard", "pytest"} <= {*names}


def test_with_colabs_torch_pip_has_nothing_to_find_out_about_what_colab_has() -> None:
    names = {Requirement(one).name for one in missing(COLABS_TORCH)}
    assert not {"ipywidgets", "numpy", "matplotlib", "ipykernel"} & names
    assert {"torch", "tensorboard", "pytest"} <= names
    assert missing("2.15.0") == asked_for("2.15.0")


# --- rows ---------------------------------------------------------------------------------------


ROW = Row.of("proofs", {"a": None, "b": "x" * 1000, "c": "skipped: it needs ray"})


def test_a_row_counts_what_passed_failed_and_was_skipped() -> None:
    assert (ROW.passed, ROW.skipped, [*ROW.failed]) == (1, 1, ["b"])
    assert len(ROW.failed["b"]) == 300


def test_what_is_measured_again_takes_the_place_of_what_was() -> None:
    assert ROW.again(Row.of("proofs", {"b": None}), ["b"]) == Row("proofs", 2, {}, 1)
    assert ROW.again(Row.of("proofs", {"a": "now"}), ["a"]).failed.keys() == {"a", "b"}


def test_a_lesson_that_is_measured_for_the_first_time_is_counted() -> None:
    fifteen = Row.of("notebooks", {f"{n:02}": None for n in range(1, 16)}, named=True)
    two = Row.of("notebooks", {"15": "no", "16": None}, named=True)
    now = fifteen.again(two, ["15", "16"])
    assert (now.passed, [*now.failed], len(now.names)) == (15, ["15"], 16)


def test_what_another_python_gave_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(page, "PAGE", tmp_path / "versions.md")
    page.PAGE.write_text(f"{page.BEGIN}{page.END}")
    for python in ("3.11.2", "3.11.7"):
        result = Result("2.11.0+cpu", python, "Colab's", "2026-11-23", (Row("proofs", 1),))
        keep("torch-2.11.0-py3.11", result)
    assert [one.python for one in read_results().values()] == ["3.11.2", "3.11.7"]


def test_the_terminal_table_names_what_failed_and_why() -> None:
    head, row, why = terminal_table([Row("proofs", 1, {"b": "two\nlines"})]).splitlines()
    assert head.split() == ["passed", "failed", "skipped", "which", "failed"]
    assert row.split() == ["proofs", "1", "1", "0", "b"]
    assert why.strip() == "b: two lines"


def test_of_stderr_only_the_log_of_a_profiler_without_a_gpu_is_left_out() -> None:
    log = "ERROR:2026-11-23 06:25:11 1:1 DeviceProperties.cpp:48] gpuGetDeviceCount failed\n"
    outputs = {
        "log": [{"name": "stderr", "text": log}],
        "warned": [{"name": "stderr", "text": f"{log}careful\n"}],
        "raised": [{"ename": "ValueError", "evalue": "no"}],
    }
    assert [*_raised_or_warned(outputs)] == [
        "raised raises ValueError: no",
        "warned writes to stderr: careful",
    ]


def test_a_junit_report_is_read(tmp_path: Path) -> None:
    case = '<testcase classname="m" name="{}">{}</testcase>'
    cases = [
        case.format("passed", ""),
        case.format("failed", '<failure message="no"/>'),
        case.format("broken", '<error message="fixture"/>'),
        case.format("skipped", '<skipped message="no git"/>'),
    ]
    report = tmp_path / "report.xml"
    report.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    assert dict(_outcomes(ET.parse(report))) == {
        "m::passed": None,
        "m::failed": "no",
        "m::broken": "fixture",
        "m::skipped": "skipped: no git",
    }


# --- the page -----------------------------------------------------------------------------------


def test_the_page_has_the_tables_of_the_results() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text


def test_the_results_are_of_the_oldest_and_the_newest_torch_and_python() -> None:
    found = {(one.torch.partition("+")[0], one.python[:4]) for one in read_results().values()}
    assert {torch for torch, _ in found} >= {"2.11.0", "2.15.0"}
    # Python 3.11 is what CI runs everything with.
    assert {python for _, python in found} >= {"3.12", "3.13"}


def test_rows_that_were_not_measured_again_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(page, "PAGE", tmp_path / "versions.md")
    page.PAGE.write_text(f"before\n{page.BEGIN}\n{page.END}\nafter\n")
    about = ("2.11.0+cpu", "3.11.7", "Colab's", "2026-11-23")
    notebooks = Row("notebooks", 1, {"01": "x", "02": "y"})
    first = (Row("a", 1), notebooks, Row("proofs", 1, {"01: claim": "no"}))
    keep("torch-2.11.0-py3.11", Result(*about, first))
    again = (Row("notebooks", 1), Row("proofs", 2))
    keep("torch-2.11.0-py3.11", Result(*about, again), ["01"])
    now = read_results()["torch-2.11.0-py3.11.7"].rows
    assert now == (Row("a", 1), Row("notebooks", 2, {"02": "y"}), Row("proofs", 2))
    text = page.PAGE.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "| 2.11.0+cpu | 3.11.7 | Colab's | 1 of 1 | 2 of 3 | 2 of 2 | 2026-11-23 |" in text
    assert "- torch 2.11.0+cpu, Python 3.11.7, notebooks: `02`: y" in text
    assert json.loads(page.RESULTS.read_text()).keys() == {"torch-2.11.0-py3.11.7"}


def test_make_asks_which_pytorch() -> None:
    said = subprocess.run(
        ["make", "-n", "versions", "TORCH=2.11.0", "PYTHON=python3.13", "ONLY=proofs"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout
    assert "-m tests.versions --torch '2.11.0' --python 'python3.13'" in said
    assert "--only proofs" in said and "--remove" not in said
