"""nbgrader's own pages show no hidden test, neither its source nor an output that quotes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode, from_dict
from nbgrader.server_extensions.formgrader.handlers import template_path
from traitlets.config.loader import PyFileConfigLoader

from autograder.nbgrader_bridge.feedback_steps import TABLES, UNREADABLE, WithholdHiddenTests
from autograder.reporting.feedback import REMOVED
from tests.autograder import tiny

ROOT = Path(__file__).parents[3]
LINE = "hidden_seen = flatten_answer(torch.arange(6.0).view(2, 3).t())"


def shown(**changes: dict[str, Any]) -> dict[str, NotebookNode]:
    """The tiny lesson's cells by id, with these changes, as nbgrader's page would show them."""
    content = tiny.notebook()
    for cell in content["cells"]:
        cell.update(changes.get(cell["id"].replace("-", "_"), {}))
    notebook, _ = WithholdHiddenTests().preprocess(from_dict(content), {})
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
    assert output.traceback == ["Error", f"----> 8 {REMOVED}"]


@pytest.mark.parametrize("kind", ["text/plain", "text/html"])
def test_what_a_learners_cell_displays_does_not_quote_a_hidden_line(kind: str) -> None:
    quoted = "whole = double_answer(torch.arange(3))"
    about = cell_with(output_type="display_data", metadata={}, data={kind: f"<b>{quoted}</b>"})
    (output,) = shown(flatten=about)["flatten"].outputs
    assert output.data[kind] == f"<b>{REMOVED}</b>"


def test_what_a_learners_cell_prints_does_not_quote_a_hidden_line() -> None:
    about = cell_with(output_type="stream", name="stdout", text=f"In[5]:\n{LINE}\n")
    (output,) = shown(flatten=about)["flatten"].outputs
    assert output.text == f"In[5]:\n{REMOVED}\n"


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
    code, tables = resources["inlining"]["css"]
    assert (".highlight" in code, tables) == (True, TABLES)
