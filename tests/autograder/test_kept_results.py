"""A result is found again until something changes that it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.kept_results import KeptResults, digest_of, modules_behind

CELL = "from course.probes import traced\n"
FILES = {
    "course/__init__.py": "",
    "course/lazy.py": "",
    "course/probes/__init__.py": """
from typing import TYPE_CHECKING
from course.lazy import loading, lazy_names
if TYPE_CHECKING:
    from course.probes.tracing import traced
__getattr__ = loading(globals(), {"timed": "course.probes.timing"})
""",
    "course/probes/tracing.py": "def traced():\n    from course.facts import strides\n",
    "course/probes/timing.py": "def timed(): ...\n",
    "course/facts.py": "import torch\nstrides = ()\n",
    "course/facts.css": "b {}\n",
    "course/other.py": "import course.facts\n",
}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def behind(packages: Path, code: str) -> set[str]:
    found = modules_behind(code, root=packages)
    return {path.relative_to(packages).as_posix() for path in found} - {
        "course/__init__.py",
        "course/probes/__init__.py",
    }


def test_behind_a_probe_stand_its_module_what_that_imports_and_the_data_beside_it(
    packages: Path,
) -> None:
    assert behind(packages, CELL) == {
        "course/probes/tracing.py",
        "course/facts.py",
        "course/facts.css",
    }


def test_a_name_that_only_the_table_of_a_package_has_is_found(packages: Path) -> None:
    assert "course/probes/timing.py" in behind(packages, "from course.probes import timed")
    assert "course/probes/tracing.py" not in behind(packages, "from course.probes import timed")


@pytest.mark.parametrize(
    "code", ["from course.probes import odd", "import course.probes", "from course import probes"]
)
def test_who_may_ask_for_all_of_a_package_has_all_of_it_behind(packages: Path, code: str) -> None:
    assert {"course/probes/tracing.py", "course/probes/timing.py"} <= behind(packages, code)


def test_code_that_is_none_and_other_packages_have_nothing_behind(packages: Path) -> None:
    assert behind(packages, "import torch, course_of_things") == set()
    assert behind(packages, "def (:") == set()


@pytest.mark.parametrize(
    ("changed", "other"),
    [
        ("course/probes/tracing.py", True),
        ("course/facts.py", True),
        ("course/facts.css", True),
        ("course/probes/timing.py", False),
        ("course/other.py", False),
    ],
)
def test_a_change_to_a_probe_or_to_what_it_uses_makes_another_digest(
    tmp_path: Path, packages: Path, changed: str, other: bool
) -> None:
    before = digest_of(CELL, files=modules_behind(CELL, root=packages))
    with (packages / changed).open("a") as file:
        file.write(" \n")
    assert (digest_of(CELL, files=modules_behind(CELL, root=packages)) != before) is other


def test_a_digest_tells_texts_apart_that_only_end_elsewhere() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")


def test_another_version_of_a_package_makes_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest_of("x")
    monkeypatch.setattr("autograder.kept_results._versions", lambda: "torch==0.1")
    assert digest_of("x") != before


def test_the_same_digest_is_made_once_and_another_one_anew(tmp_path: Path) -> None:
    results, made = KeptResults(tmp_path / "kept"), []

    def make() -> tuple[str, ...]:
        made.append(digest)
        return (digest,)

    for digest in ("a", "a", "b"):
        assert results.get("x", digest, make) == [digest]
    assert made == ["a", "b"]
    assert [one.name for one in (tmp_path / "kept").iterdir()] == ["x.b.json"]


def test_a_file_that_cannot_be_read_is_no_result(tmp_path: Path) -> None:
    (tmp_path / "x.a.json").write_text("[")
    assert KeptResults(tmp_path).find("x", "a") is None


@pytest.mark.parametrize(
    ("environment", "kept"),
    [
        ({}, True),
        ({"CI": "true"}, False),
        ({"KEEP_RESULTS": ""}, False),
        ({"CI": "true", "KEEP_RESULTS": "elsewhere"}, True),
    ],
)
def test_ci_keeps_nothing_unless_it_names_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], kept: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("CI", "KEEP_RESULTS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    KeptResults.of_course(tmp_path).keep("x", "a", 1)
    assert KeptResults.of_course(tmp_path).find("x", "a") == (1 if kept else None)
    folder = environment.get("KEEP_RESULTS") or ".autograder/kept"
    assert (tmp_path / folder / "x.a.json").is_file() is kept
