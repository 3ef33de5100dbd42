"""What JupyterLab leaves in a notebook is taken out, and its random ids become readable."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.lessons.authoring.tidy import tidied, tidy
from autograder.lessons.cells import read_notebook
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.model import lesson_paths, read_lesson
from autograder.lessons.release import stable_bytes
from tests.autograder import tiny

ROOT = Path(__file__).parents[4]


def saved_by_jupyterlab() -> dict[str, Any]:
    """The tiny lesson as JupyterLab saves it after it was run."""
    notebook = tiny.notebook()
    for n, cell in enumerate(notebook["cells"]):
        cell["id"] = f"{n:08x}"
        cell["metadata"] |= {"editable": True, "tags": [], "collapsed": False, "trusted": True}
        if cell["cell_type"] == "code":
            cell["execution_count"] = n
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x"}]
            cell["metadata"]["execution"] = {"iopub.execute_input": "2026-01-01"}
    notebook["metadata"]["language_info"] |= {"version": "3.12.3", "pygments_lexer": "ipython3"}
    notebook["metadata"]["widgets"] = {"state": {}}
    return notebook


def ids(notebook: dict[str, Any]) -> list[str]:
    return [cell["id"] for cell in notebook["cells"]]


def test_ids_come_from_grade_ids_exercises_and_headings() -> None:
    assert ids(tidied(saved_by_jupyterlab())) == [
        *("a-tiny-lesson", "setup", "flattening", "flatten-task", "flatten-hint-1", "flatten"),
        *("test-flatten", "doubling", "double-task", "double-hint-1", "double", "test-double"),
        "summary",
    ]


def test_outputs_counts_and_the_kernels_metadata_are_gone() -> None:
    notebook = tidied(saved_by_jupyterlab())
    assert notebook["metadata"] == tiny.notebook()["metadata"]
    assert {key for cell in notebook["cells"] for key in cell["metadata"]} == {"course", "nbgrader"}
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [(cell["outputs"], cell["execution_count"]) for cell in code] == [([], None)] * 5


def test_a_folded_heading_stays_folded() -> None:
    notebook = tiny.notebook()
    notebook["cells"][2]["metadata"]["jp-MarkdownHeadingCollapsed"] = True
    assert stable_bytes(tidied(notebook)).count(b'"jp-MarkdownHeadingCollapsed": true') == 1


def test_a_tidied_lesson_keeps_to_the_form(tmp_path: Path) -> None:
    course = tiny.build(tmp_path)
    path = tiny.write(course, saved_by_jupyterlab())
    assert lint_lesson(course, read_lesson(path)) != ()
    assert tidy(path) is True
    assert lint_lesson(course, read_lesson(path)) == ()


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    path = tiny.write(tmp_path, saved_by_jupyterlab())
    assert (tidy(path), tidy(path)) == (True, False)


@pytest.mark.parametrize("path", lesson_paths(ROOT).values(), ids=lambda path: path.stem)
def test_the_committed_lessons_are_tidy(path: Path) -> None:
    assert stable_bytes(tidied(read_notebook(path))) == path.read_bytes()


def test_a_cell_that_was_added_says_what_it_holds() -> None:
    notebook = tiny.notebook()
    new = [tiny.code("0a1b2c3d", 'predict("a-claim")'), tiny.code("1a1b2c3d", "x = 1")]
    notebook["cells"][3:3] = [*new, tiny.text("2a1b2c3d", "## A `new` section"), new[1]]
    found = tidied(notebook)["cells"][3:7]
    assert [cell["id"] for cell in found] == [
        *("predict-a-claim", "predict-a-claim-next", "a-new-section", "a-new-section-next")
    ]
    roles = [cell["metadata"]["course"]["role"] for cell in found]
    assert roles == ["predict", "measure", "text", "measure"]


def test_a_readable_id_is_kept_and_no_two_cells_get_the_same() -> None:
    notebook = tiny.notebook()
    notebook["cells"] += [tiny.text("why", "Because."), tiny.text("why", "Also.")]
    assert ids(tidied(notebook))[-2:] == ["why", "why-2"]


def test_a_grade_id_given_twice_is_left_for_the_author_to_see() -> None:
    notebook = tiny.notebook()
    notebook["cells"].append(dict(notebook["cells"][5]))
    assert ids(tidied(notebook)).count("flatten") == 2


def test_a_notebook_that_cannot_be_written_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tiny.write(tmp_path, saved_by_jupyterlab())
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(Exception, match="No space left"):
        tidy(path)
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_the_command_says_what_it_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = tiny.build(tmp_path)
    tiny.write(course, saved_by_jupyterlab())
    assert main.main(["tidy", "1", "--course", str(course)]) == 0
    assert capsys.readouterr().out == ("source/01-tiny/01-tiny.ipynb\n1 of 1 notebooks changed\n")
