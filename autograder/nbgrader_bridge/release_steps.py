"""What nbgrader_config.py names for release: here nbgrader calls us.

`ForReaders` is a step of `nbgrader generate_assignment`. `ReleaseFromSource` is what
`nbgrader release_assignment` and formgrader's Release button run: nbgrader's own hands out what
`generate_assignment` left behind, however old; ours generates it at that moment, so that an edition
which the source has left behind is never handed out.
"""

from __future__ import annotations

from pathlib import Path

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.exchange.default import ExchangeReleaseAssignment
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.lessons.editions.reading import lay_out


class ForReaders(NbGraderPreprocessor):
    """Folds test cells and deep dives, and tells the tables which exercise of how many they are."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Return the notebook, changed in place."""
        lay_out(nb.cells)
        return nb, resources


class ReleaseFromSource(ExchangeReleaseAssignment):
    """nbgrader's own release, of an edition that was generated a moment ago."""

    def init_src(self) -> None:
        """Generate the class edition where the assignment has a source, then find it."""
        course = self.coursedir
        source = course.format_path(course.source_directory, ".", course.assignment_id)
        if Path(source).is_dir():
            self._generate()
        super().init_src()

    def _generate(self) -> None:
        converter = GenerateAssignment(coursedir=self.coursedir, parent=self, force=True)
        try:
            converter.start()
        except NbGraderException:
            self.fail(
                f"{self.coursedir.assignment_id} is not released: its class edition cannot be "
                "generated. Mend what nbgrader names above."
            )
