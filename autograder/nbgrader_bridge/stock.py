"""`nbgrader generate_assignment` and `autograde`, by nbgrader's own API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config


@dataclass(frozen=True)
class StockResult:
    """How a command of nbgrader ended: its log, and the traceback where it raised."""

    success: bool
    log: str
    error: str


class StockCourse:
    """A course directory with nbgrader's defaults, which nbgrader itself works on.

    nbgrader changes the current directory meanwhile, so use it in a process of its own.
    """

    def __init__(self, root: Path, cell_limit_s: int = 30, *, is_prepared: bool = False) -> None:
        """Name the directory `root`.

        Args:
            root: Of the course.
            cell_limit_s: A cell that runs longer is interrupted.
            is_prepared: The source is as nbgrader enters it, and not to be changed before that.
        """
        config = Config()
        config.CourseDirectory.root = str(root)
        config.Execute.timeout = cell_limit_s
        if is_prepared:
            config.GenerateAssignment.preprocessors = [
                f"nbgrader.preprocessors.{name}" for name in ("ComputeChecksums", "SaveCells")
            ]
        self._api = NbGraderAPI(config=config)

    def generate_assignment(self, assignment: str) -> StockResult:
        """Enter the assignment into the gradebook and make its class edition."""
        return _result(self._api.generate_assignment(assignment))

    def autograde(self, assignment: str, student: str) -> StockResult:
        """Grade one submission; its executed notebook lies in autograded/ afterwards."""
        return _result(self._api.autograde(assignment, student))


def _result(answer: dict[str, object]) -> StockResult:
    said = (str(answer.get(key) or "") for key in ("log", "error"))
    return StockResult(bool(answer["success"]), *said)
