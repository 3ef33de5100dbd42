"""The folder in which a lesson's test cells run, with copies of the lesson's files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from autograder.engine.checker.common_state import Files, files_in


class LessonFolder:
    """Such a folder: whatever a test cell does there, the next submission finds it as it was.

    Copies, not links: a test cell may write, and the lesson's own files are the instructor's.
    """

    def __init__(self, path: Path, files: Mapping[str, Path]) -> None:
        """Lay it out.

        Args:
            path: Where it is to lie.
            files: The lesson's, by their names in it.
        """
        self.path = path
        self._sources = files
        self._laid_out: Files | None = None
        self.lay_out()

    def lay_out(self) -> None:
        """Make it as it was at first, unless nobody has changed anything in it."""
        if self._laid_out is not None and files_in(self.path) == self._laid_out:
            return
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        for name, source in self._sources.items():
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        self._laid_out = files_in(self.path)

    def another(self, path: Path) -> LessonFolder:
        """One like it, somewhere else."""
        return LessonFolder(path, self._sources)
