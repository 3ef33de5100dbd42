"""nbgrader's own pages: feedback without hidden tests, and tables that look like tables.

`nbgrader generate_feedback` and formgrader render the autograded notebook, which holds every test
cell whole, with templates that leave the notebook's style sheet out (nbgrader 0.9.6, block
`header`).  nbgrader_config.py puts the two steps below before the rendering.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from nbconvert.filters import strip_ansi
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution

from autograder.lessons.regions import HIDDEN, RegionError, split_regions
from autograder.reporting.feedback import secret_lines, withhold

UNREADABLE = "# The tests of this cell are not shown: their marks cannot be read."

# What JupyterLab does with a table in the text; check tables bring their own style.
TABLES = """
.text_cell_render table { border-collapse: collapse; margin: 0.5em 0 1em; }
.text_cell_render th, .text_cell_render td { padding: 0.3em 0.8em; text-align: left; }
.text_cell_render thead { border-bottom: 1px solid #333; }
.text_cell_render tbody tr:nth-child(odd) { background: #f5f5f5; }
"""

Resources = dict[str, Any]


class WithholdHiddenTests(NbGraderPreprocessor):
    """Takes the hidden tests out of test cells, and their lines out of every output.

    nbgrader's ClearHiddenTests also reads the learner's own cells, where a stray mark would end
    the pages of the whole class, and leaves outputs as they are: a traceback quotes its cell, and
    a later cell may have printed it.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the notebook as its author may see it."""
        tests = [cell for cell in nb.cells if _is_test(cell)]
        rest = [cell.source for cell in nb.cells if not _is_test(cell)]
        hidden: list[str] = []
        for cell in tests:
            cell.source, inside = _split(cell.source)
            hidden += inside
        lines = secret_lines(hidden, "\n".join([*rest, *(cell.source for cell in tests)]))
        for cell in nb.cells:
            for output in cell.get("outputs", []):
                _clean(output, lines)
        return nb, resources


class PageStyle(CSSHTMLHeaderPreprocessor):
    """The styles of a page, with one for the tables of a lesson."""

    def _generate_header(self, resources: Resources) -> list[str]:
        return [*super()._generate_header(resources), TABLES]


def _is_test(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def _split(source: str) -> tuple[str, list[str]]:
    try:
        outside, inside = split_regions(source, HIDDEN)
    except RegionError:
        return UNREADABLE, source.split("\n")
    return "\n".join(outside), inside


def _clean(output: NotebookNode, lines: Iterable[str]) -> None:
    if output.output_type == "stream":
        output.text = withhold(output.text, lines)
    elif output.output_type == "error":
        output.traceback = [_plain(one, lines) for one in output.traceback]
        output.evalue = withhold(output.evalue, lines)
    else:
        output.data = _without_hidden_lines(output.data, lines)


def _plain(text: str, lines: Iterable[str]) -> str:
    """A part of a traceback; its colours go where they would hide a hidden line."""
    plain = strip_ansi(text)
    return withhold(plain, lines) if any(line in plain for line in lines) else text


def _without_hidden_lines(data: Mapping[str, Any], lines: Iterable[str]) -> dict[str, Any]:
    both = [*lines, *map(escape, lines)]
    return {kind: withhold(v, both) if isinstance(v, str) else v for kind, v in data.items()}
