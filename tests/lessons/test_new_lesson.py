"""A lesson can be added, and taken out again, without touching a file outside its own.

A contributor's way, in a copy of the repository: begin a lesson and an exercise, write what each
mark asks for, check, release, and let a simulated class be graded.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.lessons.claims import folder_name
from autograder.lessons.editions.overview import overview

pytestmark = pytest.mark.exhaustive("a new lesson from its first command to its tests")

ROOT = Path(__file__).parents[2]
PARTS = ("course", "autograder", "source", "release", "tests", "docs")
NAMES = ("pyproject.toml", "nbgrader_config.py", "README.md", "Makefile", "LICENSE")
# The next free number: this repository may hold somebody's new lesson itself.
NUMBER = f"{1 + max(int(one.name[:2]) for one in (ROOT / 'source').glob('[0-9]*-*')):02}"
SLUG = f"{NUMBER}-mini"
OWN = {
    f"source/{SLUG}/{SLUG}.ipynb",
    f"course/lessons/{folder_name(SLUG)}/claims.toml",
    f"autograder/answers/{SLUG}.py",
    f"release/{SLUG}/{SLUG}.ipynb",
    f"release/self-study/{SLUG}.ipynb",
}
# What shows all lessons together; `autograder release` writes it from the lessons themselves.
TOGETHER = {
    "README.md",
    "course/guide/lessons.json",
    "docs/map.md",
    "docs/rules.md",
    "docs/map.svg",
    "docs/map-narrow.svg",
}
RIGHT = ("return x * 1", "return x.clone()", "return torch.empty_like(x).copy_(x)")
WRONG = (  # the first one fails a visible check
    ("return x.clone().view(-1)", 1),
    ("return x.clone().as_strided(x.shape, torch.empty(x.shape).stride())", 1),
    ("return x.flatten().sort().values.view(x.shape)", 1),
    ("return x * 1 if x.numel() else torch.zeros(0)", 2),
    ("return x * 1 if x.numel() else None", 2),
    ("return x.clone().unsqueeze(0)", 1),
    ("return x.clone().flip(0)", 1),
    ("return x * 1 if x.numel() else x.sum()", 2),
)


def bank() -> str:
    """The answers, as the contributor writes them below their headings."""
    right = [f"# %% right copied: {line}\n{_function(line)}" for line in RIGHT]
    wrong = [
        f"# %% wrong copied: {line} -> copied-belief-{n}\n{_function(line)}" for line, n in WRONG
    ]
    return "\n".join([*right, *wrong])


def _function(line: str) -> str:
    return f"def copy_of(x):\n    {line}\n"


@dataclass
class Contribution:
    """A copy of the repository, and what every command in it said."""

    root: Path
    before: dict[str, bytes]
    said: dict[str, subprocess.CompletedProcess[str]]

    def run(self, name: str, *words: str) -> None:
        """Run `python -m WORDS` in the copy, as the contributor would."""
        command = [sys.executable, "-m", *words]
        env = os.environ | {"PYTHONPATH": str(self.root), "PYTHONPYCACHEPREFIX": f"{self.root}.pyc"}
        self.said[name] = subprocess.run(
            command, cwd=self.root, env=env, capture_output=True, text=True
        )

    def files(self) -> dict[str, bytes]:
        """The files of the copy, without what git ignores."""
        found = [path for part in PARTS for path in (self.root / part).rglob("*") if path.is_file()]
        found = [path for path in found if "__pycache__" not in path.parts]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def contribution(tmp_path_factory: pytest.TempPathFactory) -> Contribution:
    root = tmp_path_factory.mktemp("copy")
    for part in PARTS:
        ignore = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "output")
        shutil.copytree(ROOT / part, root / part, ignore=ignore)
    for name in NAMES:
        shutil.copy(ROOT / name, root)
    made = Contribution(root, {}, {})
    made.before = made.files()
    begin(made)
    for name in OWN:
        path = root / name
        if path.is_file():
            path.write_text(path.read_text().replace("✎ ", "").replace("✎", ""))
    (root / f"autograder/answers/{SLUG}.py").write_text(bank())
    use(made)
    return made


def begin(made: Contribution) -> None:
    made.run("new-lesson", "autograder", "new-lesson", SLUG)
    exercise = ("copied", "--function", "copy_of", "--points", "2")
    made.run("new-exercise", "autograder", "new-exercise", NUMBER, *exercise)
    made.run("unwritten", "autograder", "release", NUMBER)


def use(made: Contribution) -> None:
    made.run("tidy", "autograder", "tidy", NUMBER)
    made.run("release", "autograder", "release", NUMBER)
    made.run("check", "autograder", "check", NUMBER)
    out = ("--students", "2", "--lessons", NUMBER, "--seed", "1", "--out", "class")
    made.run("simulate", "autograder", "simulate", *out)
    for step in ("grade", "feedback", "report"):
        made.run(step, "autograder", step, "--course", "class")
    tests = ("tests/lessons/test_every_lesson.py", "tests/course/test_claims.py")
    also = (
        "tests/autograder/lessons/test_release.py",
        "tests/autograder/lessons/test_repair.py",
        "tests/autograder/lessons/authoring/test_tidy.py",
        "tests/autograder/reporting/test_feedback.py",
        "tests/autograder/reporting/test_stock_feedback.py",
    )
    made.run("tests", "pytest", "-q", "-p", "no:cacheprovider", "-k", "mini", *tests, *also)


def test_before_anything_is_written_the_release_names_every_mark(
    contribution: Contribution,
) -> None:
    said = contribution.said["unwritten"]
    assert said.returncode == 1
    told = [line for line in said.stderr.splitlines() if not line.startswith("release  ")]
    causes = [line for line in told if not line.startswith("  ")]
    assert len(causes) > 10
    assert [line for line in causes if "it is not written yet" not in line] == []


@pytest.mark.parametrize(
    "step",
    [
        *("new-lesson", "new-exercise", "tidy", "release", "check"),
        *("simulate", "grade", "feedback", "report"),
    ],
)
def test_every_step_of_a_contributor_succeeds(contribution: Contribution, step: str) -> None:
    said = contribution.said[step]
    assert said.returncode == 0, said.stdout + said.stderr


def test_the_check_says_that_everything_holds(contribution: Contribution) -> None:
    lines = contribution.said["check"].stdout.splitlines()
    assert lines[-1] == f"{SLUG}: everything holds."
    assert "exercises 1 · right accepted 3/3 · wrong rejected 8/8" in lines[3]


def test_the_repositorys_tests_hold_for_the_new_lesson(contribution: Contribution) -> None:
    said = contribution.said["tests"]
    assert said.returncode == 0, said.stdout[-3000:]
    assert " passed" in said.stdout


def test_no_file_but_its_own_was_touched_and_none_is_left_without_them(
    contribution: Contribution,
) -> None:
    after = contribution.files()
    assert after.keys() - contribution.before.keys() == OWN
    ours = OWN | TOGETHER
    assert {name: after[name] for name in after if name not in ours} == {
        name: content for name, content in contribution.before.items() if name not in TOGETHER
    }


def test_the_map_knows_the_new_lesson_and_forgets_it_with_its_notebook(
    contribution: Contribution, tmp_path: Path
) -> None:
    assert f'"slug": "{SLUG}"'.encode() in contribution.files()["course/guide/lessons.json"]
    for name in ("source", "course/guide", "docs"):
        shutil.copytree(contribution.root / name, tmp_path / name)
    shutil.copy(contribution.root / "README.md", tmp_path)
    shutil.rmtree(tmp_path / "source" / SLUG)
    assert overview(tmp_path) == {name: (ROOT / name).read_bytes() for name in TOGETHER}
