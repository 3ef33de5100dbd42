"""nbgrader's `release_feedback` in our configuration: one learner's files affect only that one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.exchange import ExchangeError
from nbgrader.utils import notebook_hash

from autograder.nbgrader_bridge.exchange import TOKENS
from tests.autograder.nbgrader_bridge.exchange_commands import SLUG, run_command

# nbgrader leaves a file open.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """The folder of ada's page, which lies beside bob's; both can be released."""
    for student in ("ada", "bob"):
        folder = tmp_path / "feedback" / student / SLUG
        folder.mkdir(parents=True)
        (folder / f"{SLUG}.html").write_text(f"for {student}")
        (folder / TOKENS[0]).write_text("2026-01-10 12:00:00 UTC")
        (folder / TOKENS[1]).write_text(f"secret of {student}")
    return tmp_path / "feedback" / "ada" / SLUG


def release(root: Path) -> dict[str, str]:
    """What is in the exchange once the command has run: names of pages, and their text."""
    (root / "exchange").mkdir(exist_ok=True)
    run_command("ReleaseFeedback", root)
    return released(root)


def released(root: Path) -> dict[str, str]:
    folder = root / "exchange" / "course" / "feedback"
    return {page.stem: page.read_text() for page in folder.iterdir()}


def name_of(student: str, page: str = SLUG) -> str:
    return notebook_hash(secret=f"secret of {student}", notebook_id=page)


ODD: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: (path.mkdir(), (path / "within").write_text("x")),
    "no text": lambda path: path.write_bytes(b"\xff\xfe\xfa"),
    "a pipe": os.mkfifo,
    "missing": lambda path: None,
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "too large": lambda path: path.write_text("s" * 2**20),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("token", TOKENS)
def test_one_odd_token_costs_nobody_else_the_page(pages: Path, kind: str, token: str) -> None:
    (pages / token).unlink()
    ODD[kind](pages / token)
    found = release(pages.parents[2])
    assert found[name_of("bob")] == "for bob"
    assert sorted(found.values()) == ["for ada", "for bob"]
    assert (name_of("ada") in found) == (token == TOKENS[0])


@pytest.mark.parametrize("name", ["a.html", os.fsdecode(b"\xff.html")])
def test_what_only_looks_like_a_page_costs_nobody_else_the_page(pages: Path, name: str) -> None:
    if name == "a.html":
        (pages / name).mkdir()
    else:
        (pages / name).write_text("x")
    with pytest.raises(ExchangeError, match="1 learner got no feedback"):
        release(pages.parents[2])
    assert released(pages.parents[2])[name_of("bob")] == "for bob"
