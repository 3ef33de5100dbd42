"""What the tests of the final project share."""

from __future__ import annotations

import pytest

from tests.lessons.source import ROOT


@pytest.fixture
def beside_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the lesson's folder: `import train` finds the script."""
    monkeypatch.syspath_prepend(ROOT / "source" / "17-project")
