"""What `nbgrader release_assignment` and formgrader's Release button hand out: this source, now.

nbgrader releases what `generate_assignment` left behind, however old.  nbgrader_config.py names the
class below for that step, so that an edition which the source has left behind is never handed out.
"""

from __future__ import annotations

from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.exchange.default import ExchangeReleaseAssignment


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
