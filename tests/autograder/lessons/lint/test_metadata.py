"""A cell whose metadata say something else than it is, or than its text says, is found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.lint.metadata import ROLES
from autograder.lessons.model import read_lesson
from tests.autograder import tiny

Cells = dict[str, dict[str, Any]]
LINE = "*Difficulty ●○○ · 5 minutes · 4 points*"


@pytest.fixture
def notebook() -> dict[str, Any]:
    return tiny.notebook()


@pytest.fixture
def cells(notebook: dict[str, Any]) -> Cells:
    return {cell["id"]: cell for cell in notebook["cells"]}


def slips(root: Path, notebook: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Place, cause and remedy of what is found."""
    lesson = read_lesson(tiny.write(tiny.build(root), notebook))
    found = lint_lesson(root, lesson)
    return [(one.place.rpartition(", ")[2], one.cause, one.remedy) for one in found]


def test_a_cell_that_does_not_say_what_it_is_is_found(
    tmp_path: Path, notebook: dict[str, Any], cells: Cells
) -> None:
    del cells["flattening"]["metadata"]["course"]
    remedy = f"Set metadata.course.role to one of: {', '.join(ROLES)}."
    (found,) = slips(tmp_path, notebook)
    assert found == ("cell flattening", "it does not say what it is", remedy)


def test_the_page_for_authors_lists_the_roles() -> None:
    page = Path(__file__).parents[4] / "docs" / "authoring.md"
    (listed,) = re.findall(r"`metadata.course.role` what it is: (.*?)\.", page.read_text(), re.S)
    assert sorted(re.findall(r"`([a-z-]+)`", listed)) == sorted(ROLES)


def test_a_misspelt_role_names_the_one_that_was_meant(
    tmp_path: Path, notebook: dict[str, Any], cells: Cells
) -> None:
    cells["flattening"]["metadata"]["course"]["role"] = "txt"
    ((_, cause, _),) = slips(tmp_path, notebook)
    assert cause == "no cell has the role 'txt'. Did you mean text?"


@pytest.mark.parametrize(
    ("id_", "locked", "cause"),
    [
        ("test-flatten", False, "it is not locked: a learner could change it"),
        ("flatten", True, "it is locked: no learner could answer"),
    ],
)
def test_a_lock_that_is_not_as_it_has_to_be_is_found(
    tmp_path: Path, notebook: dict[str, Any], cells: Cells, id_: str, locked: bool, cause: str
) -> None:
    cells[id_]["metadata"]["nbgrader"]["locked"] = locked
    remedy = f"Set nbgrader: locked {str(not locked).lower()}."
    assert slips(tmp_path, notebook) == [(f"cell {id_}", cause, remedy)]


def test_a_question_in_words_is_not_locked(tmp_path: Path) -> None:
    assert slips(tmp_path, tiny.notebook_with_words()) == []


def test_a_task_that_says_what_its_metadata_say_is_sound(
    tmp_path: Path, notebook: dict[str, Any], cells: Cells
) -> None:
    cells["flatten-task"]["source"] += f"\n\n{LINE}"
    assert slips(tmp_path, notebook) == []


@pytest.mark.parametrize(
    ("right", "wrong"), [("●○○", "●●○"), ("5 minutes", "15 minutes"), ("4 points", "3 points")]
)
def test_a_task_that_says_otherwise_is_found_with_the_line_that_is_right(
    tmp_path: Path, notebook: dict[str, Any], cells: Cells, right: str, wrong: str
) -> None:
    cells["flatten-task"]["source"] += "\n\n" + LINE.replace(right, wrong)
    cause = f"it says '{wrong}' where '{right}' is right"
    remedy = "Correct the line, or metadata.course of the task and the points of its test."
    assert slips(tmp_path, notebook) == [("cell flatten-task", cause, remedy)]


def test_one_point_is_no_points(tmp_path: Path, notebook: dict[str, Any], cells: Cells) -> None:
    cells["flatten-task"]["metadata"]["course"]["minutes"] = 1
    cells["flatten-task"]["source"] += "\n\n*Difficulty ●○○ · 1 minutes · 4 points, by a person*"
    ((_, cause, _),) = slips(tmp_path, notebook)
    assert cause == "it says '1 minutes' where '1 minute' is right"


def test_a_loopback_network_is_for_the_title_cell_to_ask_for(
    tmp_path: Path, notebook: dict[str, Any], cells: Cells
) -> None:
    title = cells["title"]
    title["metadata"]["course"]["loopback"] = True
    assert slips(tmp_path / "right", notebook) == []
    title["metadata"]["course"]["loopback"] = "yes"
    ((place, cause, _),) = slips(tmp_path / "odd", notebook)
    assert (place, cause) == ("cell title", "loopback is something else than true")
    del title["metadata"]["course"]["loopback"]
    cells["flattening"]["metadata"]["course"]["loopback"] = True
    ((_, cause, _),) = slips(tmp_path / "elsewhere", notebook)
    assert cause == "it asks for a loopback network, which only the title cell can"


def test_what_the_map_reads_stands_in_the_title_cell_and_names_paths_that_there_are(
    tmp_path: Path, notebook: dict[str, Any], cells: Cells
) -> None:
    title = cells["title"]["metadata"]["course"]
    title |= {"can": "flatten anything", "paths": ["train"]}
    assert slips(tmp_path / "right", notebook) == []
    title["paths"] = ["trian"]
    ((place, cause, cure),) = slips(tmp_path / "odd", notebook)
    assert (place, cause) == ("cell title", "there is no path 'trian'. Did you mean train?")
    assert "train, debug" in cure
    del title["paths"]
    cells["flattening"]["metadata"]["course"]["can"] = "flatten anything"
    ((_, cause, _),) = slips(tmp_path / "elsewhere", notebook)
    assert cause == "it says can, which only the title cell can"


@pytest.mark.parametrize(
    ("about", "source", "cause"),
    [
        ({"shows": True, "draws": "2"}, "torch.rand(2)", "draws is no number from 1 to 1048576"),
        ({"draws": 2}, "torch.rand(2)", "it says that it only shows, and is no plain cell"),
        ({"shows": "yes"}, "torch.rand(2)", "it says that it only shows, and is no plain cell"),
        ({"shows": True}, "torch.relu = None", "it says that it only shows, but it changes torch"),
    ],
)
def test_what_is_said_of_a_cell_that_only_shows_is_read(
    tmp_path: Path, notebook: dict[str, Any], about: dict[str, Any], source: str, cause: str
) -> None:
    own = tiny.code("own", source) | {"metadata": {"course": {"role": "measure", **about}}}
    notebook["cells"].insert(3, own)
    found = [one for one in slips(tmp_path, notebook) if "shows" in one[1] or "draws" in one[1]]
    ((place, said, remedy),) = found
    assert place == "cell own"
    assert said.startswith(cause)
    assert remedy == "Run `autograder tidy --shows` on the lesson."
