"""What holds for every test: one thread, seeded, nothing of the user's, nothing left out unsaid.

A test marked `needs("chromium")` is skipped where that is missing; see tests/machine.py. What was
skipped is counted at the end of the run, a line a reason, with the command that brings it.
REQUIRE_ALL=1 turns a skipped test into a failed one, with the reason it gave. Two kinds of tests
are left out openly instead, and counted too: those marked `cuda` where there is no GPU, and those
marked `needs_recording("FILE")` while that recording has not been made.

LEAVE_OUT_EXHAUSTIVE=1, as in `make test`, leaves out those marked `exhaustive("why")`: what they
find, a cheaper test beside them finds as a rule. `make test-all` runs them.

Tests marked `each_lesson` ask every lesson the same thing, at length. Where SHARE is less than all,
as in CI, they ask that share of the lessons, others with each value of DRAW; and of the files with
exhaustive tests three times that share is run.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

# Before anything imports torch. xdist workers with two threads each fight for two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from tests.machine import require

# Journal and gradebook wait until the disk has each of their writes: two thirds of the time of the
# tests about them. Memory has it at once.
_MEMORY, _ENOUGH_GB = Path("/dev/shm"), 8
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH_GB * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

TESTS = Path(__file__).parent
REQUIRE_ALL = os.environ.get("REQUIRE_ALL") == "1"
LEAVE_OUT_EXHAUSTIVE = os.environ.get("LEAVE_OUT_EXHAUSTIVE") == "1"
_EXHAUSTIVE = "exhaustive: "
_FOLDERS = 12  # of those that took longest
LEFT_OUT = pytest.StashKey[dict[str, int]]()
SLUG = re.compile(r"\d\d-[a-z0-9-]+")
HOME = pytest.StashKey[tempfile.TemporaryDirectory[str]]()

# The same examples on every run and every machine, and no time limit that a loaded one would miss.
settings.register_profile("same-everywhere", derandomize=True, deadline=None, database=None)
settings.load_profile("same-everywhere")


def pytest_configure(config: pytest.Config) -> None:
    """Start without the user's Jupyter and IPython files, and without anything left out."""
    config.stash[LEFT_OUT] = {}
    home = config.stash[HOME] = tempfile.TemporaryDirectory(prefix="measured-home-")
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        os.environ[name] = str(Path(home.name, name.lower()))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the temporary Jupyter directories."""
    config.stash[HOME].cleanup()


# --- skipped or left out, and counted ------------------------------------------------------------


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine lacks something for, before its fixtures are made."""
    for marker in item.iter_markers("needs"):
        for what in marker.args:
            require(what)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what this machine cannot run, and remember why; what takes long comes first."""
    slow = {item.path for item in items if item.get_closest_marker("exhaustive")}
    items.sort(key=lambda item: item.path not in slow)  # files stay together, in their order
    reasons = {item: reason for item in items if (reason := _why_left_out(item))}
    config.stash[LEFT_OUT] = dict(Counter(reasons.values()))
    if reasons:
        config.hook.pytest_deselected(items=list(reasons))
        items[:] = [item for item in items if item not in reasons]
    for name in ("SHARE", "DRAW"):  # they draw tests, and nothing in them
        os.environ.pop(name, None)


def _why_left_out(item: pytest.Item) -> str | None:
    exhaustive = item.get_closest_marker("exhaustive")
    if exhaustive and LEAVE_OUT_EXHAUSTIVE:
        return f"{_EXHAUSTIVE}{exhaustive.args[0]}"
    file, each_lesson = item.nodeid.partition("::")[0], item.get_closest_marker("each_lesson")
    if exhaustive and not each_lesson and not _in_share(3, file):
        return f"{_EXHAUSTIVE}the files that this run has not drawn (`make test-all`)"
    if item.get_closest_marker("cuda") and not _has_cuda():
        return "cuda: no NVIDIA GPU here (`make test-gpu` where there is one)"
    if each_lesson and not _is_drawn(item):
        return "each_lesson: the lessons that this run has not drawn (`make test-all`)"
    recording = item.get_closest_marker("needs_recording")
    if recording and not (TESTS / recording.args[0]).exists():
        return f"needs_recording: no recording yet (tests/{recording.args[0]})"
    return None


def _is_drawn(item: pytest.Item) -> bool:
    """Whether the lesson among a test's parameters is one of this run."""
    given: dict[str, Any] = getattr(item, "callspec").params  # noqa: B009 (pytest's own, untyped)
    slugs = [str(getattr(one, "slug", one)) for one in given.values()]
    return _in_share(1, *(slug for slug in slugs if SLUG.fullmatch(slug)))


def _in_share(times: int, *parts: str) -> bool:
    """Whether what these texts name is drawn, where so many times SHARE are tried."""
    from autograder.answer_bank.share import is_in_share
    from autograder.cli.options import fraction

    return is_in_share(times * fraction(os.environ.get("SHARE") or "1"), *parts)


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take over what an xdist worker left out; the workers all leave out the same."""
    node.config.stash[LEFT_OUT].update(getattr(node, "workeroutput", {}).get("left_out", {}))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what this worker left out to the process that prints the summary."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["left_out"] = session.config.stash[LEFT_OUT]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say where the time went, and just above the closing line what was not tested and why."""
    _say_seconds(terminalreporter)
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped)
    reasons += Counter(config.stash[LEFT_OUT])
    if reasons:
        terminalreporter.section("not tested")
    for reason, count in sorted(reasons.items()):
        terminalreporter.line(f"{count} × {reason}")
    exhaustive = sum(n for reason, n in reasons.items() if reason.startswith(_EXHAUSTIVE))
    if exhaustive:
        terminalreporter.line(f"left out: {exhaustive:,} exhaustive tests")


# --- where the time goes -------------------------------------------------------------------------


def _say_seconds(terminalreporter: Any) -> None:
    seconds: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                seconds[str(Path(report.nodeid.partition("::")[0]).parent)] += report.duration
    if len(seconds) > 1:
        terminalreporter.section("seconds by folder, of all workers together")
        for folder, spent in seconds.most_common(_FOLDERS):
            terminalreporter.line(f"{spent:6.0f}  {folder}")


# --- REQUIRE_ALL --------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a skipped test under REQUIRE_ALL; an expected failure (xfail) is not a skip."""
    report = yield
    return _required(report) if not hasattr(report, "wasxfail") else report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Fail a module that skips itself under REQUIRE_ALL."""
    report = yield
    return _required(report)


def _required(report: Any) -> Any:
    if REQUIRE_ALL and report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}\nREQUIRE_ALL=1, but this was skipped. {reason}"
    return report
