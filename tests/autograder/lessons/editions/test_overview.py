"""What shows all lessons together is written from the lessons themselves, and drift is seen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.errors import ReleaseError
from autograder.lessons.editions.overview import CARDS, PICTURES, overview
from autograder.lessons.model import find_lesson
from autograder.lessons.release import build_release, check_release, write_release
from course.guide.lesson_cards import read_cards
from tests.autograder import tiny

ROOT = Path(__file__).parents[4]
BEGIN, END = "<!-- lessons: written by `autograder release` -->\n", "<!-- end of lessons -->\n"
README = f"# A course\n\n{BEGIN}{END}End.\n"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the repository, as far as the overview is concerned, with one lesson."""
    tiny.build(tmp_path)
    (tmp_path / "course/guide").mkdir(parents=True)
    (tmp_path / "README.md").write_text(README)
    return tmp_path


def say(course: Path, words: str) -> None:
    """Let the first cell of the lesson say more."""
    (path,) = course.glob("source/*/*.ipynb")
    notebook = json.loads(path.read_text())
    source = "".join(notebook["cells"][0]["source"])
    notebook["cells"][0]["source"] = f"{source}\n\n{words}"
    path.write_text(json.dumps(notebook))


def test_the_committed_overview_is_what_the_lessons_give() -> None:
    found = overview(ROOT)
    pages = {"docs/map.md", "docs/rules.md", "README.md", *(f"docs/{one}" for one in PICTURES)}
    assert set(found) == {CARDS, *pages}
    old = [name for name, content in found.items() if (ROOT / name).read_bytes() != content]
    assert old == [], "run `autograder release`"


def test_a_course_that_is_not_this_repository_has_none(tmp_path: Path) -> None:
    tiny.build(tmp_path)
    assert overview(tmp_path) == {}


def test_a_release_writes_it_and_a_second_one_changes_nothing(course: Path) -> None:
    lesson = find_lesson(course, "1")
    files = build_release(course, [lesson])
    changed = write_release(course, files)
    assert {CARDS, "docs/map.svg", "README.md"} <= set(changed)
    assert write_release(course, files) == []
    assert check_release(course, files) == []
    (card,) = read_cards((course / CARDS).read_text())
    assert (card.slug, card.exercises) == (
        lesson.slug,
        tuple(one.name for one in lesson.exercises if not one.manual),
    )


def test_a_change_in_a_lesson_is_drift_until_it_is_released(course: Path) -> None:
    files = build_release(course, [find_lesson(course, "1")])
    write_release(course, files)
    say(course, "That's the core: about 75 minutes and one exercise.")
    drifted = {one.path for one in check_release(course, files)}
    assert drifted == {CARDS, "README.md", "docs/map.md", "docs/map.svg", "docs/map-narrow.svg"}
    (course / "docs/map.svg").unlink()
    assert ("docs/map.svg", "missing") in {
        (one.path, one.kind) for one in check_release(course, files)
    }


def test_the_rules_of_each_lesson_are_those_with_which_it_ends(course: Path) -> None:
    (path,) = course.glob("source/*/*.ipynb")
    notebook = json.loads(path.read_text())
    (summary,) = (one for one in notebook["cells"] if one["id"] == "summary")
    summary["source"] = "## The rules\n\n- Look twice.\n- `x` is no `y`."
    path.write_text(json.dumps(notebook))
    text = overview(course)["docs/rules.md"].decode()
    assert text.startswith("<!-- Written by `autograder release`")
    assert text.partition("## 01 ")[2].partition("\n\n")[2] == "- Look twice.\n- `x` is no `y`.\n"


def test_the_readme_keeps_all_but_its_table(course: Path) -> None:
    written = overview(course)["README.md"].decode()
    assert written.startswith("# A course\n\n<!-- lessons: ")
    assert written.endswith("<!-- end of lessons -->\nEnd.\n")
    (course / "README.md").write_text(written)
    assert overview(course)["README.md"].decode() == written
    (course / "README.md").write_text("# No table\n")
    assert "README.md" not in overview(course)


@pytest.mark.parametrize("number", ["01", "07"])
def test_a_lesson_that_does_not_come_before_is_named(course: Path, number: str) -> None:
    say(course, f"**You need** tensors (lesson {number}).")
    with pytest.raises(ReleaseError, match=f"names lesson {number}, which does not come before"):
        overview(course)


def test_a_lesson_that_names_a_later_one_is_refused_before_anything_is_built_or_runs(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[str] = []
    monkeypatch.setattr(
        "autograder.lessons.release.class_editions", lambda *_: started.append("nbgrader")
    )
    monkeypatch.setattr(
        "autograder.lessons.lint.proofs.changed.prove_changed",
        lambda *_, **__: started.append("proofs"),
    )
    say(course, "**You need** tensors (lesson 07).")
    assert main.main(["release", "--course", str(course)]) == 1
    assert "names lesson 07, which does not come before" in capsys.readouterr().err
    assert started == []


def test_without_the_readme_the_map_is_written(course: Path) -> None:
    shutil.move(course / "README.md", course / "elsewhere")
    pages = {"docs/map.md", "docs/rules.md", *(f"docs/{one}" for one in PICTURES)}
    assert set(overview(course)) == {CARDS, *pages}
