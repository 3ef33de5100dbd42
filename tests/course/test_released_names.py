"""An edition of last week still runs: what it imports is found where it stands now."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from course.released_names import MOVED


@pytest.mark.parametrize(("earlier", "now"), MOVED.items())
def test_an_earlier_name_gives_the_module_of_today_and_a_warning(earlier: str, now: str) -> None:
    code = f"import sys, {earlier}; print(sys.modules['{earlier}'] is sys.modules['{now}'])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "True\n"
    assert f"`{earlier}` has moved" in run.stderr
    assert import_module(now).__name__ == now


def test_what_an_earlier_edition_took_from_there_is_there() -> None:
    code = (
        "from course.loader_model import LoaderPlan, run_loader\n"
        "from course.desk import lessons\n"
        "from course.progress import lesson_progress\n"
        "from course.figures.graph import show_graph\n"
        "print(run_loader.__module__)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "course.simulators.loader\n"


def test_a_module_that_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"course\.nothing"):
        import_module("course.nothing")
