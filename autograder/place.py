"""Where things lie in a course directory, and what its nbgrader_config.py says about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.environment import own_programs_first
from autograder.errors import AutograderError

DEFAULT_COURSE = "default_course"


class PlaceError(AutograderError):
    """A course directory that cannot be used."""


@dataclass(frozen=True)
class Place:
    """One course directory.

    `config` is the course's own nbgrader configuration, so that its directory names, database
    and late penalties hold for `autograder` as they do for `nbgrader`.
    """

    root: Path
    config: Config
    coursedir: CourseDirectory

    @property
    def db_url(self) -> str:
        """The gradebook that nbgrader itself would use here."""
        return str(self.coursedir.db_url)

    @property
    def course_id(self) -> str:
        """The name under which the gradebook keeps this course."""
        return self.coursedir.course_id or DEFAULT_COURSE

    @property
    def state(self) -> Path:
        """The directory that only `autograder` writes to."""
        return self.root / ".autograder"

    @property
    def report(self) -> Path:
        """The directory of the class report and its CSV files."""
        return self.root / "report"

    def submitted(self, student: str, lesson: str) -> Path:
        """What `student` handed in for `lesson`."""
        return self._step(self.coursedir.submitted_directory, student, lesson)

    def autograded(self, student: str, lesson: str) -> Path:
        """The executed notebook of `student` for `lesson`."""
        return self._step(self.coursedir.autograded_directory, student, lesson)

    def feedback(self, student: str, lesson: str) -> Path:
        """The pages that `student` gets for `lesson`."""
        return self._step(self.coursedir.feedback_directory, student, lesson)

    def _step(self, step: str, student: str, lesson: str) -> Path:
        return Path(self.coursedir.format_path(step, student, lesson))


def place(root: Path, *, db: str | None = None) -> Place:
    """The course directory at `root`; `db` replaces the database its configuration names."""
    root = root.resolve()
    own_programs_first()
    if not root.is_dir():
        raise PlaceError(
            "there is no such course directory",
            place=str(root),
            remedy="Give one with --course DIR, or make one with `autograder simulate --out DIR`.",
        )
    config = _load(root)
    elsewhere = config.CourseDirectory.get("root")
    if elsewhere and Path(str(elsewhere)).resolve() != root:
        config.CourseDirectory.pop("db_url", None)  # it would be the other course's gradebook
    config.CourseDirectory.root = str(root)
    if db:
        config.CourseDirectory.db_url = db
    return Place(root=root, config=config, coursedir=CourseDirectory(config=config))


def _load(root: Path) -> Config:
    if not (root / "nbgrader_config.py").is_file():
        return Config()
    try:
        return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    except Exception as error:
        raise PlaceError(
            f"cannot be run: {type(error).__name__}: {error}",
            place=str(root / "nbgrader_config.py"),
            remedy="Mend that line, or take the file away to use nbgrader's defaults.",
        ) from error
