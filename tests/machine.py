"""What some tests need of a machine beyond Python, and why it is not there."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def postgresql() -> Path | None:
    """The directory of PostgreSQL's programs, which Debian puts on nobody's PATH."""
    on_path = shutil.which("initdb")
    found = [Path(on_path)] if on_path else []
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


@cache
def _no_sandbox() -> str | None:
    from autograder.engine.sandbox.bubblewrap import sandbox_problem

    reason = sandbox_problem()
    return reason and f"the sandbox cannot be built: {reason} (see `autograder doctor`)"


def _no_chromium() -> str | None:
    return None if CHROMIUM else "Chromium is not installed (`make system`)"


def _no_git() -> str | None:
    return None if shutil.which("git") else "git is not installed (`make system`)"


def _no_postgresql() -> str | None:
    return None if postgresql() else "PostgreSQL is not installed (`make system`)"


def _no_package(name: str) -> Callable[[], str | None]:
    """Why a package of the extra `lessons` cannot be used."""

    def reason() -> str | None:
        found = importlib.util.find_spec(name)
        return None if found else f"{name} is not installed (`pip install -e '.[lessons]'`)"

    return reason


# What a test may name in `@pytest.mark.needs(…)`: why it cannot be had, None where it can.
MISSING: dict[str, Callable[[], str | None]] = {
    "sandbox": _no_sandbox,
    "chromium": _no_chromium,
    "postgresql": _no_postgresql,
    "git": _no_git,
    **{name: _no_package(name) for name in ("tensorboard", "wandb", "ray", "optuna")},
}


def require(what: str) -> None:
    """Skip the test that calls it, with the reason, where this machine does not have `what`."""
    reason = MISSING[what]()
    if reason is not None:
        pytest.skip(reason)
