"""Who watches a set-up in a log hears every few seconds how it goes, and why it failed."""

from __future__ import annotations

import io
import sys

import pytest

from tools import install

PIP = """
import time
for line in ["Collecting torch", "Collecting sympy", "  Downloading sympy.whl (6 MB)"]:
    print(line, flush=True)
time.sleep(1)
raise SystemExit(CODE)
"""


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_TOLD_S", 0.3)


def test_a_log_hears_how_many_packages_are_found_and_what_pip_said_last() -> None:
    out = io.StringIO()
    assert install.main([sys.executable, "-c", PIP.replace("CODE", "0")], out) == 0
    told = [line.partition(" s, ")[2] for line in out.getvalue().splitlines()]
    assert "2 packages found: Downloading sympy.whl (6 MB)" in told


def test_what_pip_said_is_told_where_it_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert install.main([sys.executable, "-c", PIP.replace("CODE", "3")], io.StringIO()) == 3
    assert capsys.readouterr().err.startswith("Collecting torch\nCollecting sympy\n")
