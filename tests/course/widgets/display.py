"""What an explorer shows at a front end that is not there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

__all__ = ["VIEW", "shown_by"]

VIEW = "application/vnd.jupyter.widget-view+json"


def shown_by(explorer: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The outputs of the explorer where somebody can press buttons; later ones are added."""
    kernel = SimpleNamespace(kernel=SimpleNamespace(_allow_stdin=True))
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("course.widgets.front_end.get_ipython", lambda: kernel)
    monkeypatch.setattr("course.widgets.last_state.display", lambda data, **how: shown.append(data))
    explorer._ipython_display_()
    return shown
