"""nbgrader's own pages: feedback without hidden tests, and tables that look like tables.

`nbgrader generate_feedback` and formgrader render the autograded notebook, which holds every test
cell whole, with templates that leave the notebook's style sheet out (nbgrader 0.9.6, block
`header`).  nbgrader_config.py puts the two steps below before the rendering.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbconvert.filters import strip_ansi
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution, is_task

from autograder.course_directory import CourseDirectory
from autograder.engine.outcomes import TABLE_KEY, FailureCause
from autograder.lessons.model import TEST_PREFIX
from autograder.lessons.regions import (
    HIDDEN,
    MARK_SCHEME,
    Marks,
    RegionError,
    marks_of,
    split_regions,
)
from autograder.records.journal import Journal
from autograder.reporting.feedback import WITHHELD, ran_apart
from autograder.reporting.quotations import LONG_NUMBER, Secrets

UNREADABLE = "# What is in this cell is not shown: its marks cannot be read."

# What JupyterLab does with a table in the text; check tables bring their own style.
TABLES = """
.text_cell_render table { border-collapse: collapse; margin: 0.5em 0 1em; }
.text_cell_render th, .text_cell_render td { padding: 0.3em 0.8em; text-align: left; }
.text_cell_render thead { border-bottom: 1px solid #333; }
.text_cell_render tbody tr:nth-child(odd) { background: #f5f5f5; }
"""
# nbgrader's templates load MathJax with its Safe extension, and have no place for how it is set up.
# Its safe styles of a formula include `cursor`, which may be the address of a picture.
MATHJAX = """</style><script type="text/x-mathjax-config">
MathJax.Hub.Config({Safe: {safeStyles: {cursor: false}}});
</script><style>"""

Resources = dict[str, Any]
_CAUSES = frozenset(FailureCause)


class FeedbackExporter(HTMLExporter):
    """What nbgrader makes feedback with; its steps are those of GenerateFeedback alone.

    Those that formgrader's pages go through, too, would come first: what they have made inert does
    not say any more which output is a table of checks, nor which cells Jupyter ran.
    """


class WithholdHiddenTests(NbGraderPreprocessor):
    """Takes out hidden tests, mark schemes, and the outputs of cells that quote a hidden test.

    nbgrader's ClearHiddenTests also reads the learner's own cells, where a stray mark would end
    the pages of the whole class, and leaves outputs as they are: a traceback quotes its cell, and
    where all cells ran in one process, a later one may have printed it.  Where one quotes a test,
    all are left out: of many guesses nobody learns which was right.  Of an exception in a cell with
    hidden tests only the name stays.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the notebook as its author may see it."""
        marks = marks_of(self.config)
        for cell in filter(is_task, nb.cells):
            cell.source, _ = _split(cell.source, MARK_SCHEME, marks)
        tests = [cell for cell in nb.cells if _is_test(cell)]
        rest = [cell.source for cell in nb.cells if not _is_test(cell)]
        apart = self._tests_apart(tests, resources)
        hidden: dict[str, list[str]] = {}
        for cell in tests:
            cell.source, inside = _split(cell.source, HIDDEN, marks)
            hidden.setdefault(_grade_id(cell), []).extend(inside)
        shown = "\n".join([*rest, *(cell.source for cell in tests)])
        beside = [line for id_, lines in hidden.items() if id_ not in apart for line in lines]
        within_reach = Secrets.of(beside, shown)
        for cell in tests:
            if any(line.strip() for line in hidden[_grade_id(cell)]):
                _shorten_errors(cell)
                _drop_warnings(cell)
                if _grade_id(cell) in apart:
                    _leave_tables(cell)
        speaking = [cell for cell in nb.cells if cell.get("outputs")]
        # Of a test that ran apart nothing is left that the answer said.
        own = [one for one in speaking if not (_is_test(one) and _grade_id(one) in apart)]
        said = "\n".join(_text(out) for one in own for out in one.outputs)
        if within_reach.are_quoted(said, LONG_NUMBER):
            for cell in own:
                cell.outputs = [new_output("stream", name="stdout", text=WITHHELD)]
        return nb, resources

    def _tests_apart(self, tests: Sequence[NotebookNode], resources: Resources) -> frozenset[str]:
        """The grade ids of the tests that never were where the learner's cells ran."""
        directory = _directory_of(self)
        # Jupyter notes times in each cell that it ran: our record would be of an earlier grading.
        if directory is None or any("execution" in cell.metadata for cell in tests):
            return frozenset()
        about = resources["nbgrader"]
        entry = Journal(directory.state).read(about["assignment"], about["student"])
        if entry is None:
            return frozenset()
        safe = {one.id: ran_apart(entry.record, one) for one in entry.record.exercises}
        found = {id_: _names(id_, about["notebook"]) & safe.keys() for id_ in map(_grade_id, tests)}
        return frozenset(id_ for id_, ns in found.items() if ns and all(safe[n] for n in ns))


class PageStyle(CSSHTMLHeaderPreprocessor):
    """The styles of a page, with one for the tables of a lesson, and those of formulas."""

    def _generate_header(self, resources: Resources) -> list[str]:
        return [*super()._generate_header(resources), TABLES, MATHJAX]


def _is_test(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def _split(source: str, name: str, marks: Marks) -> tuple[str, list[str]]:
    try:
        outside, inside = split_regions(source, name, marks)
    except RegionError:
        return UNREADABLE, source.split("\n")
    return "\n".join(outside), inside


def _grade_id(test: NotebookNode) -> str:
    return str(test.metadata.nbgrader.grade_id)


def _names(grade_id: str, notebook: str) -> set[str]:
    """What a record may call the exercise of a test cell, also where there are several notebooks.

    >>> sorted(_names("test-flatten", "first"))
    ['first.flatten', 'first.test-flatten', 'flatten', 'test-flatten']
    """
    ids = (grade_id, grade_id.removeprefix(TEST_PREFIX))
    return {name for id_ in ids for name in (id_, f"{notebook}.{id_}")}


def _directory_of(step: NbGraderPreprocessor) -> CourseDirectory | None:
    """The course directory of the command that carries out a step; None where there is none."""
    owner = step.parent
    while owner is not None and not hasattr(owner, "coursedir"):
        owner = owner.parent
    return CourseDirectory(Path(owner.coursedir.root), owner.config) if owner is not None else None


def _shorten_errors(test: NotebookNode) -> None:
    """Leave the names of the exceptions that ended a cell with hidden tests.

    A traceback quotes the test, and the text may be the answer's own: what it raised tells what it
    was given, wherever the test uses a result that is not there. Our words on a cell that could not
    run to its end stay.
    """
    for output in test.get("outputs", []):
        if output.output_type == "error" and not _is_ours(output):
            output.evalue, output.traceback = "", [output.ename]


def _drop_warnings(test: NotebookNode) -> None:
    """Leave out what went to stderr: a warning quotes the line of the test that it is about."""
    test.outputs = [one for one in test.get("outputs", []) if one.get("name") != "stderr"]


def _leave_tables(test: NotebookNode) -> None:
    """Leave the tables of checks, and how the cell ended.

    What a test prints of an answer's result is the answer's word on what it was given, and nothing
    in an output says whether a hidden line has shown it.
    """
    test.outputs = [
        one
        for one in test.get("outputs", [])
        if one.output_type == "error" or TABLE_KEY in one.get("metadata", {})
    ]


def _is_ours(error: NotebookNode) -> bool:
    return error.ename in _CAUSES and error.traceback == [error.evalue]


def _text(output: NotebookNode) -> str:
    """All that an output says, as a reader sees it: without colours, and without HTML's escapes."""
    if output.output_type == "stream":
        said = [output.text]
    elif output.output_type == "error":
        said = [*output.traceback, output.ename, output.evalue]
    else:
        said = [one for one in output.data.values() if isinstance(one, str)]
        said += [unescape(one) for one in said]
    return str(strip_ansi("\n".join(said)))
