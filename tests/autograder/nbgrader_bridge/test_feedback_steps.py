"""nbgrader's own pages show no hidden test, neither its source nor an output that quotes it."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode, from_dict, reads
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory as NbgraderDirectory
from nbgrader.server_extensions.formgrader.handlers import template_path
from traitlets.config import Config, Configurable
from traitlets.config.loader import PyFileConfigLoader

from autograder.engine.outcomes import TABLE_KEY
from autograder.nbgrader_bridge.feedback_steps import (
    MATHJAX,
    TABLES,
    UNREADABLE,
    WithholdHiddenTests,
)
from autograder.records.journal import Journal
from autograder.reporting.feedback import WITHHELD
from tests.autograder import tiny
from tests.autograder.classroom import double, flatten, record

ROOT = Path(__file__).parents[3]
LINE = "hidden_seen = flatten_answer(torch.arange(6.0).view(2, 3).t())"


class Converter(Configurable):
    """What nbgrader gives a step as its owner."""

    def __init__(self, root: Path) -> None:
        super().__init__()
        self.coursedir = SimpleNamespace(root=str(root))


def shown(root: Path | None = None, **changes: dict[str, Any]) -> dict[str, NotebookNode]:
    """The tiny lesson's cells by id, with these changes, as nbgrader's page would show them.

    `root` is the course directory whose journal tells how the notebook ran.
    """
    content = tiny.notebook()
    for cell in content["cells"]:
        cell.update(changes.get(cell["id"].replace("-", "_"), {}))
    step = WithholdHiddenTests(parent=None if root is None else Converter(root))
    about = {"assignment": tiny.SLUG, "student": "ada", "notebook": tiny.SLUG}
    notebook, _ = step.preprocess(from_dict(content), {"nbgrader": about})
    return {cell.id: cell for cell in notebook.cells}


def cell_with(**output: Any) -> dict[str, Any]:
    return {"outputs": [output]}


def test_of_a_test_cell_the_visible_part_stays() -> None:
    source = shown()["test-flatten"].source
    assert source.startswith('flatten_answer = answer("flatten")')
    assert source.endswith("check.score(4)")
    assert "HIDDEN" not in source and "hidden_seen" not in source


def test_a_traceback_in_colours_does_not_quote_a_hidden_line() -> None:
    frame = (
        f"\x1b[32m----> 8\x1b[39m {LINE.replace('=', chr(27) + '[38;5;66m=' + chr(27) + '[39m')}"
    )
    about = cell_with(
        output_type="error", ename="TypeError", evalue="no", traceback=["Error", frame]
    )
    (output,) = shown(test_flatten=about)["test-flatten"].outputs
    assert (output.ename, output.evalue, output.traceback) == ("TypeError", "", ["TypeError"])


@pytest.mark.parametrize("kind", ["text/plain", "text/html"])
def test_what_a_learners_cell_displays_does_not_quote_a_hidden_line(kind: str) -> None:
    quoted = "whole = double_answer(torch.arange(3))"
    about = cell_with(output_type="display_data", metadata={}, data={kind: f"<b>{quoted}</b>"})
    (output,) = shown(flatten=about)["flatten"].outputs
    assert output.text == WITHHELD


GUESSES = {
    "outputs": [
        {"output_type": "stream", "name": "stdout", "text": text}
        for text in ("a wrong guess\n", f"a right one:\n{LINE}\nand more\n")
    ]
}


def test_what_a_learners_cell_prints_beside_a_hidden_line_is_left_out_too() -> None:
    (output,) = shown(flatten=GUESSES)["flatten"].outputs
    assert output.text == WITHHELD


def test_of_guesses_in_many_cells_nobody_learns_which_was_right() -> None:
    wrong = {"outputs": [{"output_type": "stream", "name": "stdout", "text": "a wrong guess\n"}]}
    found = shown(flatten=GUESSES, double=wrong)
    assert [found[name].outputs[0].text for name in ("flatten", "double")] == [WITHHELD] * 2


def test_a_guess_is_not_confirmed_where_the_hidden_tests_ran_apart(tmp_path: Path) -> None:
    Journal(tmp_path / ".autograder").write(record("ada"), "run")
    cell = shown(tmp_path, flatten=GUESSES)["flatten"]
    assert cell.outputs == GUESSES["outputs"]


@pytest.mark.parametrize("of_before", ["no record", "not isolated", "run by Jupyter since"])
def test_a_hidden_line_may_have_leaked_where(tmp_path: Path, of_before: str) -> None:
    isolated = of_before != "not isolated"
    if of_before != "no record":
        one = record("ada", flatten(isolated=isolated), double(isolated=isolated))
        Journal(tmp_path / ".autograder").write(one, "run")
    source = next(one for one in tiny.notebook()["cells"] if one["id"] == "test-double")
    times = {"execution": {"iopub.status.busy": "2026-01-10T12:00:00Z"}}
    more = times if of_before == "run by Jupyter since" else {}
    test = {"metadata": source["metadata"] | more}
    (output,) = shown(tmp_path, flatten=GUESSES, test_double=test)["flatten"].outputs
    assert output.text == WITHHELD


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("frames", [["Error", f"----> 8 {LINE}"], []])
def test_of_an_error_in_a_test_cell_only_its_name_stays(
    tmp_path: Path, apart: bool, frames: list[str]
) -> None:
    if apart:
        Journal(tmp_path / ".autograder").write(record("ada"), "run")
    # An answer raised what it was given, where the test computes with what came back.
    said = "`flatten` ended with ValueError: the input is [5.0, 8.0, 4711.0]"
    lines = [*frames, f"AbsentError: {said}"]
    about = cell_with(output_type="error", ename="AbsentError", evalue=said, traceback=lines)
    cell = shown(tmp_path, test_flatten=about)["test-flatten"]
    (output,) = cell.outputs
    assert output.traceback == ["AbsentError"]
    assert "4711" not in str(cell)


@pytest.mark.parametrize(
    "source", [None, "assert flatten(torch.arange(3)) is not None"], ids=["hidden", "visible"]
)
def test_of_a_hidden_test_that_ran_apart_the_table_alone_is_left(
    tmp_path: Path, source: str | None
) -> None:
    Journal(tmp_path / ".autograder").write(record("ada"), "run")
    table = {"data": {"text/plain": "flatten: 1 of 2"}, "metadata": {TABLE_KEY: {}}}
    shouted = {"data": {"text/plain": "I was given 4711"}, "metadata": {}}
    about: dict[str, Any] = {
        "outputs": [
            {"output_type": "stream", "name": "stdout", "text": "of the answer\n"},
            {"output_type": "stream", "name": "stderr", "text": f"1: UserWarning: no\n  {LINE}\n"},
            {"output_type": "display_data", **table},
            {"output_type": "execute_result", "execution_count": 2, **shouted},
        ]
    }
    cell = shown(tmp_path, test_flatten=about | ({"source": source} if source else {}))
    left = cell["test-flatten"].outputs
    assert len(left) == (4 if source else 1)
    assert source or left[0].metadata == {TABLE_KEY: {}}


def test_hidden_tests_are_withheld_before_a_page_is_made_inert() -> None:
    """What is inert tells no more which output is a table, and which cells Jupyter ran."""
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    converter = GenerateFeedback(coursedir=NbgraderDirectory(config=config), config=config)
    exporter = converter.exporter_class(parent=converter, config=converter.config)
    for step in converter.preprocessors:
        exporter.register_preprocessor(step)
    steps = [type(one).__name__ for one in exporter._preprocessors if one.enabled]
    assert steps == ["GetGrades", "WithholdHiddenTests", "MakeInert", "PageStyle"]
    assert exporter.template_name == "feedback"


def test_our_own_words_on_a_cell_that_could_not_end_stay() -> None:
    said = "This cell ended the Python process."
    about = cell_with(output_type="error", ename="crashed", evalue=said, traceback=[said])
    (output,) = shown(test_flatten=about)["test-flatten"].outputs
    assert (output.evalue, output.traceback) == (said, [said])


def test_a_test_without_hidden_lines_keeps_its_traceback() -> None:
    source = "assert flatten(torch.arange(3)) is not None, 'nothing'"
    about = cell_with(
        output_type="error", ename="AssertionError", evalue="nothing", traceback=["1", "nothing"]
    )
    (output,) = shown(test_flatten={"source": source, **about})["test-flatten"].outputs
    assert (output.evalue, output.traceback) == ("nothing", ["1", "nothing"])


def test_a_mark_in_a_learners_own_cell_hides_and_stops_nothing() -> None:
    mine = "### BEGIN HIDDEN TESTS\ndef double(x):\n    return 2 * x"
    assert shown(double={"source": mine})["double"].source == mine


def test_a_test_cell_whose_marks_cannot_be_read_is_not_shown() -> None:
    broken = tiny.TEST_DOUBLE.replace("### END HIDDEN TESTS", "")
    assert shown(test_double={"source": broken})["test-double"].source == UNREADABLE


@pytest.mark.parametrize("template", ["formgrade", "feedback"])
def test_a_page_of_nbgraders_has_the_style_of_tables_beside_its_own(template: str) -> None:
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    config.HTMLExporter.update(template_name=template, extra_template_basedirs=[template_path])
    steps = HTMLExporter(config=config)._preprocessors
    resources: dict[str, Any] = {"config_dir": ""}
    for step in (one for one in steps if one.enabled):
        _, resources = step.preprocess(from_dict(tiny.notebook()), resources)
    code, *ours = resources["inlining"]["css"]
    assert (".highlight" in code, ours) == (True, [TABLES, MATHJAX])


@pytest.mark.parametrize("template", ["formgrade", "feedback"])
def test_a_formula_on_a_page_of_nbgraders_fetches_no_pointer(template: str) -> None:
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    styles = Path(template_path).parent / "static/node_modules/bootstrap/dist/css"
    config.HTMLExporter.update(template_name=template, extra_template_basedirs=[template_path])
    config.HTMLExporter.extra_template_paths = [str(styles)]
    points = {"notebook": "x", "score": 1, "max_score": 1, "late_penalty": 0, "toc": []}
    about = {"base_url": "", "index": 0, "total": 1, "nbgrader": points}
    text = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    page, _ = HTMLExporter(config=config).from_notebook_node(reads(text, 4), about)
    setup = re.search(r"<script type=.text/x-mathjax-config.>([^<]*safeStyles[^<]*)</script>", page)
    assert setup is not None
    assert "{cursor: false}" in setup[1]
    assert "TeX-AMS_CHTML-full,Safe" in page


def test_the_mark_scheme_of_a_task_is_not_shown() -> None:
    about = {"grade": False, "locked": True, "solution": False, "task": True}
    about |= {"grade_id": "essay", "schema_version": 3, "points": 2}
    scheme = "Explain.\n\n### BEGIN MARK SCHEME\nOne point for zebras.\n### END MARK SCHEME"
    task = {"cell_type": "markdown", "metadata": {"nbgrader": about}, "source": scheme}
    assert shown(flatten_task=task)["flatten-task"].source == "Explain.\n"


def test_the_marks_are_those_that_the_configuration_names() -> None:
    config = Config()
    config.ClearHiddenTests.begin_test_delimeter = "BEGIN SECRET"
    config.ClearHiddenTests.end_test_delimeter = "END SECRET"
    config.ClearMarkScheme.begin_mark_scheme_delimeter = "BEGIN RUBRIC"
    config.ClearMarkScheme.end_mark_scheme_delimeter = "END RUBRIC"
    about = {"schema_version": 3, "points": 2, "locked": True, "solution": False}
    test = {"grade_id": "test", "grade": True, "task": False, **about}
    task = {"grade_id": "task", "grade": False, "task": True, **about}
    hidden = "a\n# BEGIN SECRET\nassert f(4711)\n# END SECRET\nb"
    cells = [
        new_code_cell(hidden, metadata={"nbgrader": test}),
        new_markdown_cell("a\nBEGIN RUBRIC\n4711\nEND RUBRIC\nb", metadata={"nbgrader": task}),
    ]
    notebook, _ = WithholdHiddenTests(config=config).preprocess(new_notebook(cells=cells), {})
    assert [cell.source for cell in notebook.cells] == ["a\nb", "a\nb"]
