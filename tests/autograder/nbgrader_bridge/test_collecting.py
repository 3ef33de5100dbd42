"""nbgrader's `collect` in our configuration: it takes plain files of a learner's folder alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.nbgrader_bridge.exchange import TOKENS
from tests.autograder.nbgrader_bridge.exchange_commands import SLUG, run_command

TIME = "2026-01-10 12:00:00 UTC"


def handed_in(root: Path, student: str, time: str = TIME) -> Path:
    """A folder of the exchange with a notebook, a file below it, a time and a secret."""
    folder = root / "exchange" / "course" / "inbound" / f"{student}+{SLUG}+{time}+abc"
    (folder / "data").mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").write_text(f"of {student}")
    (folder / "data" / "own.csv").write_text(f"of {student}")
    (folder / TOKENS[0]).write_text(time)
    (folder / TOKENS[1]).write_text(f"secret of {student}")
    return folder


def collect(root: Path) -> dict[str, str]:
    """What is in submitted/ once the command has run: paths of files, and their text."""
    run_command("Collect", root)
    submitted = root / "submitted"
    files = [one for one in submitted.rglob("*") if one.is_file()]
    return {one.relative_to(submitted).as_posix(): one.read_text() for one in files}


WHOLE = {f"{SLUG}.ipynb", "data/own.csv", *TOKENS}


def names_of(student: str, found: dict[str, str]) -> set[str]:
    start = f"{student}/{SLUG}/"
    return {one.removeprefix(start) for one in found if one.startswith(start)}


def test_what_is_plain_is_taken_whole(tmp_path: Path) -> None:
    handed_in(tmp_path, "ada")
    found = collect(tmp_path)
    assert names_of("ada", found) == WHOLE
    assert found[f"ada/{SLUG}/data/own.csv"] == "of ada"
    assert (tmp_path / "submitted" / "ada" / SLUG).stat().st_mode & 0o700 == 0o700


ODD: dict[str, Callable[[Path, Path], object]] = {
    "a link": lambda path, kept: path.symlink_to(kept),
    "a link to a folder": lambda path, kept: path.symlink_to(kept.parent),
    "a link to nowhere": lambda path, kept: path.symlink_to("nowhere"),
    "a pipe": lambda path, kept: os.mkfifo(path),
    "too large": lambda path, kept: path.write_bytes(b"s" * 200_000),
}


def test_what_is_no_plain_file_stays_in_the_exchange(tmp_path: Path) -> None:
    kept = tmp_path / "source" / SLUG / "kept.ipynb"
    kept.parent.mkdir(parents=True)
    kept.write_text("the hidden tests")
    handed_in(tmp_path, "ada")
    odd = {}
    for name in (f"{SLUG}.ipynb", TOKENS[1], "data/own.csv"):
        for kind in ODD:
            odd[f"eve{len(odd)}"] = kind, name
            path = handed_in(tmp_path, f"eve{len(odd) - 1}") / name
            path.unlink()
            ODD[kind](path, kept)
    found = collect(tmp_path)
    assert names_of("ada", found) == WHOLE
    for student, (kind, name) in odd.items():
        assert names_of(student, found) == WHOLE - {name}, (kind, name)


def test_a_learners_folder_may_not_be_a_link(tmp_path: Path) -> None:
    ada = handed_in(tmp_path, "ada")
    for student, target in (("eve", ada), ("bob", tmp_path / "nowhere")):
        (ada.parent / ada.name.replace("ada", student)).symlink_to(target)
    assert {one.partition("/")[0] for one in collect(tmp_path)} == {"ada"}


def test_a_time_is_left_out_that_formgrader_could_not_read(tmp_path: Path) -> None:
    times = (b"soon", b"", b"\xff", b"0001-01-01 00:00:00 +0300", b"9" * 400)
    for number, time in enumerate(times):
        (handed_in(tmp_path, f"eve{number}") / TOKENS[0]).write_bytes(time)
    found = collect(tmp_path)
    for number, time in enumerate(times):
        assert names_of(f"eve{number}", found) == WHOLE - {TOKENS[0]}, time


def test_a_name_without_a_time_costs_nobody_the_collection(tmp_path: Path) -> None:
    for student in ("ada", "eve"):
        handed_in(tmp_path, student)
    (handed_in(tmp_path, "eve", "soon") / f"{SLUG}.ipynb").write_text("of no time")
    handed_in(tmp_path, "..")
    found = collect(tmp_path)
    assert {one.partition("/")[0] for one in found} == {"ada", "eve"}
    assert found[f"eve/{SLUG}/{SLUG}.ipynb"] == "of eve"
    assert parse_utc(found[f"eve/{SLUG}/{TOKENS[0]}"]) == parse_utc(TIME)
    assert not (tmp_path / SLUG).exists()
