"""The start page reads how far a learner is from the notebooks as they were saved."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from course.progress.start_page import lessons, progress_in, show_in
from course.testing.table import METADATA_KEY

RELEASE = Path(__file__).parents[3] / "release"
TITLE = "# Memory layout\n\n**You need** slicing. **Time:** about three hours, most for exercises."
_numbers = count()
PATH = "04-memory-layout/04-memory-layout.ipynb"


def text(source: str, **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": metadata, "source": source}


def test_cell(checks: int, *held: int | None, **grading: Any) -> dict[str, Any]:
    """A test cell of so many checks, run once for each of `held`; None is "not attempted"."""
    records = [
        {
            "status": "not attempted" if number is None else "graded",
            "checks": [{"passed": n < (number or 0)} for n in range(checks)],
        }
        for number in held
    ]
    about = {"grade": True, "solution": False, "points": 2, "grade_id": f"test-{next(_numbers)}"}
    return {
        "cell_type": "code",
        "execution_count": 3 if held else None,
        "metadata": {"nbgrader": about | grading},
        "outputs": [{"metadata": {METADATA_KEY: record}} for record in records],
        "source": ["check.score(2)"],
    }


test_cell.__test__ = False  # type: ignore[attr-defined]  # a cell, no test of pytest's


def state(*cells: dict[str, Any]) -> str:
    """The state of a notebook with these cells below its title."""
    return progress_in({"cells": [text(TITLE), *cells]}, PATH).state


def folder(root: Path, *cells: dict[str, Any]) -> Path:
    """A folder with one lesson."""
    (root / PATH).parent.mkdir()
    (root / PATH).write_text(json.dumps({"cells": [text(TITLE), *cells]}))
    return root


def test_title_and_time_are_the_lessons_own() -> None:
    found = progress_in({"cells": [text(TITLE), test_cell(2)]}, PATH)
    assert (found.title, found.time) == ("04 Memory layout", "about three hours")
    assert (found.exercises, found.counted) == (1, "none tried yet")


def test_the_time_of_a_lesson_with_deep_dives_is_that_of_its_core() -> None:
    plan = text("That's the core: about 85 minutes and five of the twelve exercises.")
    found = progress_in({"cells": [text("# A"), plan]}, PATH)
    assert found.time == "about 85 minutes"


def test_without_a_time_the_minutes_of_the_exercises_are_added_up() -> None:
    tasks = [text("Write.", course={"minutes": minutes}) for minutes in (10, 15)]
    assert progress_in({"cells": [text("# A"), *tasks]}, PATH).time == "about 25 minutes"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([test_cell(2), test_cell(4)], "not started"),
        ([test_cell(2, None), test_cell(4, None)], "started, no exercise attempted"),
        ([test_cell(2, 1), test_cell(4, 4)], "2 of 2 exercises attempted, 1 solved"),
        ([test_cell(2, 2), test_cell(4, 4)], "✓ done: every visible check holds"),
    ],
)
def test_the_state_follows_from_the_check_tables(cells: list[Any], expected: str) -> None:
    assert state(*cells) == expected


def test_the_last_table_of_a_cell_counts() -> None:
    assert state(test_cell(2, 2, 0), test_cell(2)) == "1 of 2 exercises attempted, 0 solved"


def test_an_answer_in_words_is_not_counted_as_nobody_has_graded_it() -> None:
    assert progress_in({"cells": [test_cell(5, solution=True), test_cell(2)]}, PATH).exercises == 1


def test_checks_are_counted_where_something_was_attempted_and_no_points_are_named() -> None:
    found = progress_in({"cells": [test_cell(3, 2), test_cell(4, None), test_cell(1, 1)]}, PATH)
    assert found.counted == "3 of 4 tried"


@pytest.mark.parametrize("checks", [None, 3, [3], [{"passed": "yes"}]])
def test_a_table_that_somebody_wrote_counts_nothing(checks: object) -> None:
    cell = test_cell(2, 2)
    cell["outputs"][0]["metadata"][METADATA_KEY]["checks"] = checks
    found = progress_in({"cells": [cell]}, PATH)
    assert (sum(one.held for one in found.results.values()), found.solved) == (0, 0)


@pytest.mark.parametrize(
    "notebook",
    [{}, {"cells": [3, {}]}, {"cells": [{"metadata": None, "outputs": 3, "source": 4}]}],
)
def test_what_else_stands_in_a_notebook_is_passed_over(notebook: dict[str, Any]) -> None:
    assert progress_in(notebook, PATH).state == "not started"


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    assert "There are no lessons in this folder" in repr(lessons(tmp_path))
    assert "There are no lessons in this folder" in lessons(tmp_path)._repr_html_()


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    folder(tmp_path, test_cell(2))
    (tmp_path / "05-autograd").mkdir()
    (tmp_path / "05-autograd/05-autograd.ipynb").write_text("{")
    first, second = repr(lessons(tmp_path)).splitlines()[:2]
    assert first.startswith("04 Memory layout: about three hours; not started; visible checks")
    assert second.startswith("05-autograd (the file cannot be read: JSONDecodeError)")


def test_the_page_links_each_lesson_and_escapes_its_title(tmp_path: Path) -> None:
    folder(tmp_path, text("## More"))
    path = tmp_path / PATH
    path.write_text(path.read_text().replace("# Memory layout", "# <b>"))
    page = lessons(tmp_path)._repr_html_()
    assert f'<a href="{PATH}">04 &lt;b&gt;</a>' in page


def test_every_released_lesson_says_how_long_it_takes() -> None:
    found = lessons(RELEASE).found
    assert [one.path for one in found if not one.time.startswith("about")] == []
    assert len(found) == len([path for path in RELEASE.glob("[0-9]*") if path.is_dir()])


def test_the_table_stands_in_the_start_page_before_it_is_run(tmp_path: Path) -> None:
    page = folder(tmp_path, test_cell(2)) / "00-start-here.ipynb"
    page.write_bytes((RELEASE / "00-start-here.ipynb").read_bytes())
    show_in(page)
    outputs = {one["id"]: one.get("outputs") for one in json.loads(page.read_text())["cells"]}
    assert "04 Memory layout" in outputs["lessons"][0]["data"]["text/html"]
    assert outputs["title"] is None
