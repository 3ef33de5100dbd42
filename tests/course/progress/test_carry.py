"""Progress goes from one machine to another in a file; nothing is lost on the way."""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from course.claims import predictions
from course.guide.lesson_cards import cards
from course.guide.placement_quiz import ASKED
from course.progress import carry
from course.progress.carry import Panel, carry_progress, gathered, load, save
from course.progress.progress_file import FILE_NAME, Checks, Kept, read, write
from course.progress.start_page import lesson_map, lessons
from course.testing.attempts import Best
from course.testing.table import METADATA_KEY

LESSON = cards()[3]
ONE, TWO, THREE, *_ = LESSON.exercises
CLAIM, OTHER, *_ = ASKED


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(predictions, "_told", {})


def notebook(folder: Path, **held: int) -> None:
    """A lesson in which so many of three checks held, by the exercise's place."""
    tables = {name: held.get(f"e{n}") for n, name in enumerate(LESSON.exercises)}
    cells = [_test_cell(name, count) for name, count in tables.items()]
    path = folder / LESSON.slug / f"{LESSON.slug}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    title = {"cell_type": "markdown", "metadata": {}, "source": f"# {LESSON.title}"}
    path.write_text(json.dumps({"cells": [title, *cells]}))


def _test_cell(name: str, held: int | None) -> dict[str, Any]:
    grading = {"grade": True, "solution": False, "points": 2, "grade_id": f"test-{name}"}
    table = {"status": "graded", "checks": [{"passed": n < (held or 0)} for n in range(3)]}
    outputs = [] if held is None else [{"metadata": {METADATA_KEY: table}}]
    return {"cell_type": "code", "metadata": {"nbgrader": grading}, "outputs": outputs}


def file(folder: Path) -> Kept:
    return read((folder / FILE_NAME).read_bytes())


def row(folder: Path) -> str:
    """The lesson's line of the start page."""
    (found,) = [line for line in repr(lessons(folder)).splitlines() if LESSON.title in line]
    return found


def test_what_was_reached_on_one_machine_is_there_on_another(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    notebook(here, e0=3, e1=1)
    notebook(there)
    message, content = save(here)
    assert message == f"Saved in {FILE_NAME}: 2 exercises of 1 lesson."
    told = load(there, content, "a.json")
    assert told.startswith("a.json: 2 exercises of 1 lesson; 2 of them further than here.")
    assert "2 of 10 exercises attempted, 1 solved (2 from the progress file)" in row(there)
    assert "4 of 6 tried" in row(there)
    assert lesson_map(there).states[LESSON.number] == "1 of 10 solved"


def test_of_two_machines_the_better_result_of_each_exercise_counts(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    notebook(here, e0=3, e1=1)
    notebook(there, e0=2, e1=2, e2=3)
    _, content = save(here)
    load(there, content, "a.json")
    assert file(there).checks[LESSON.slug] == {
        ONE: Checks(3, 3),
        TWO: Checks(2, 3),
        THREE: Checks(3, 3),
    }
    assert "3 of 10 exercises attempted, 2 solved (1 from the progress file)" in row(there)
    _, back = save(there)
    load(here, back, "b.json")
    assert file(here).checks == file(there).checks


def test_loading_twice_changes_nothing(tmp_path: Path) -> None:
    here = tmp_path / "here"
    notebook(here, e0=1)
    _, content = save(here)
    assert "0 of them further than here" in load(here, content, "a.json")
    assert (here / FILE_NAME).read_bytes() == content


def test_a_result_stays_when_the_notebook_is_reset(tmp_path: Path) -> None:
    here = tmp_path / "here"
    notebook(here, e0=3)
    save(here)
    notebook(here)
    assert "1 solved (1 from the progress file)" in row(here)
    assert gathered(here).checks[LESSON.slug] == {ONE: Checks(3, 3)}


def test_points_of_the_self_study_edition_are_kept_and_counted(tmp_path: Path) -> None:
    here = tmp_path / "here"
    notebook(here)
    points = {LESSON.slug: {ONE: Best(2, 2, 1, "mine"), TWO: Best(1, 2, 1)}}
    write(here / FILE_NAME, Kept(points))
    assert "2 of 10 exercises attempted, 1 solved (2 from the progress file)" in row(here)
    save(here)
    assert file(here).lessons == points


def test_an_exercise_that_there_is_no_longer_is_kept_and_not_counted(tmp_path: Path) -> None:
    here = tmp_path / "here"
    notebook(here)
    write(here / FILE_NAME, Kept(checks={LESSON.slug: {"long-gone": Checks(3, 3)}}))
    assert "not started" in row(here)
    save(here)
    assert file(here).checks == {LESSON.slug: {"long-gone": Checks(3, 3)}}


# Predictions.


def test_predictions_go_along_and_those_made_here_stay(tmp_path: Path) -> None:
    predictions.keep(CLAIM, "true")
    other = Kept(predictions={CLAIM: "false", OTHER: "depends", "no-claim-of-these": "true"})
    write(tmp_path / "a.json", other)
    load(tmp_path / "here", (tmp_path / "a.json").read_bytes(), "a.json")
    assert predictions.prediction_of(CLAIM) == "true"
    assert predictions.prediction_of(OTHER) == "depends"
    assert predictions.prediction_of("no-claim-of-these") is None
    assert file(tmp_path / "here").predictions[CLAIM] == "true"


# What is no progress file.


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "a.json is not JSON"),
        (b'{"cells": []}', "a.json is JSON, but not your progress"),
        (b'{"format": "pytorch-measured progress", "version": 9}', "another edition"),
        (
            b'{"format": "pytorch-measured progress", "version": 1, "lessons": {"x": 3}}',
            "a.json is damaged at x",
        ),
    ],
)
def test_a_foreign_file_changes_nothing_and_says_so(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    here = tmp_path / "here"
    notebook(here, e0=3)
    _, before = save(here)
    told = load(here, content, "a.json")
    assert reason in told
    assert told.endswith("Nothing was loaded, and nothing is lost.")
    assert (here / FILE_NAME).read_bytes() == before


def test_a_damaged_file_beside_the_page_is_never_overwritten(tmp_path: Path) -> None:
    here = tmp_path / "here"
    notebook(here, e0=3)
    (here / FILE_NAME).write_bytes(b"{ mine, damaged")
    good = json.dumps({"format": "pytorch-measured progress", "version": 1, "lessons": {}})
    assert "nothing was saved" in save(here)[0]
    assert "nothing was loaded" in load(here, good.encode(), "a.json")
    assert (here / FILE_NAME).read_bytes() == b"{ mine, damaged"
    assert "1 of 10 exercises attempted, 1 solved;" in row(here)
    assert "is not JSON" in repr(lessons(here))
    assert "Its results are not counted here." in lessons(here)._repr_html_()


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(carry, "write", refuse)
    assert "No space left on device. Nothing was saved." in save(tmp_path / "here")[0]
    good = b'{"format": "pytorch-measured progress", "version": 1, "lessons": {}}'
    assert "Nothing was loaded." in load(tmp_path / "here", good, "a.json")


# Buttons, and words for where there are none.


def test_the_button_saves_and_offers_the_file(tmp_path: Path) -> None:
    notebook(tmp_path / "here", e0=3)
    panel = Panel(Path("."))
    panel.saving.click()
    assert "Saved in pytorch-measured-progress.json: 1 exercise of 1 lesson." in panel.page()
    found = re.search(r'download="([^"]+)".*base64,([^"]+)"', panel.page())
    assert found is not None
    assert found[1] == FILE_NAME
    assert base64.b64decode(found[2]) == Path(FILE_NAME).read_bytes()


@pytest.mark.parametrize("release", [7, 8])
def test_a_chosen_file_is_merged_and_the_table_shown(release: int, tmp_path: Path) -> None:
    notebook(tmp_path / "there", e0=3)
    _, content = save(tmp_path / "there")
    notebook(Path("."))
    panel = Panel(Path("."))
    name = "progress (1).json"
    as_8 = ({"name": name, "content": memoryview(content)},)
    panel.loading = SimpleNamespace(value=as_8 if release == 8 else {name: {"content": content}})
    panel.load()
    assert "progress (1).json: 1 exercise of 1 lesson; 1 of them further" in panel.page()
    assert "1 of 10 exercises attempted, 1 solved" in panel.page()
    panel.loading.value = ()
    before = panel.page()
    panel.load()
    assert panel.page() == before


def test_words_do_the_same_as_the_buttons(tmp_path: Path) -> None:
    notebook(tmp_path / "there", e0=3)
    save(tmp_path / "there")
    assert "There is no pytorch-measured-progress.json here" in repr(carry_progress("load"))
    copy = Path("pytorch-measured-progress (1).json")
    copy.write_bytes((tmp_path / "there" / FILE_NAME).read_bytes())
    assert "pytorch-measured-progress (1).json: 1 exercise" in repr(carry_progress("load"))
    assert "Saved in" in carry_progress("save")._repr_html_()
    assert "No action is called 'sav'" in repr(carry_progress("sav"))
    assert 'carry_progress("save") writes the file' in repr(carry_progress())


def test_on_colab_saving_downloads_and_loading_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    downloaded: list[str] = []
    good = b'{"format": "pytorch-measured progress", "version": 1, "lessons": {}}'
    files = SimpleNamespace(download=downloaded.append, upload=lambda: {"a.json": good})
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace(files=files))
    carry_progress("save")
    assert downloaded == [FILE_NAME]
    assert "a.json: 0 exercises of 0 lessons" in repr(carry_progress("load"))


def test_without_lessons_in_the_folder_the_whole_course_is_listed(tmp_path: Path) -> None:
    write(Path(FILE_NAME), Kept(checks={LESSON.slug: {ONE: Checks(3, 3)}}))
    shown = lessons()
    assert len(shown.found) == len(cards())
    assert "1 solved (1 from the progress file)" in row(Path("."))
    assert "There are no lessons in this folder." in shown._repr_html_()
    assert "<a " not in shown._repr_html_()
