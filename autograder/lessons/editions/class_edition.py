"""The step of `nbgrader generate_assignment` that lays a lesson out for its readers."""

from __future__ import annotations

from nbconvert.exporters.exporter import ResourcesDict
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.lessons.cells import FOLDED, grader
from autograder.lessons.editions.reading import (
    FOLDED_TEST,
    ahead_of,
    for_readers,
    is_deep_dive,
)

__all__ = ["GENERATE", "ForReaders"]

# nbgrader's own steps in their order. Ours comes when hidden tests are gone, and the gradebook has
# the test cells as they stand in the source; a checksum is made of what learners get.
GENERATE = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "autograder.lessons.editions.class_edition.ForReaders",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]


class ForReaders(NbGraderPreprocessor):
    """Folds test cells and deep dives, and tells the tables which exercise of how many they are."""

    def preprocess(
        self, nb: NotebookNode, resources: ResourcesDict
    ) -> tuple[NotebookNode, ResourcesDict]:
        """Return the notebook, changed in place."""
        told = ahead_of(nb.cells)
        for cell in nb.cells:
            cell.metadata.get("course", {}).pop("shows", None)  # it tells the grader alone
            name = str(grader(cell).get("grade_id", ""))
            if name in told:
                exercise = name.removeprefix("test-")
                cell.source = for_readers(cell.source, exercise, told[name])
                cell.metadata.update(FOLDED_TEST)
            elif is_deep_dive(cell):
                cell.metadata[FOLDED] = True
        return nb, resources
