"""Where things lie in a course directory, and what its nbgrader_config.py says about them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.environment import own_programs_first
from autograder.errors import AutograderError
from autograder.import_speed import skip_unused_grammar

DEFAULT_COURSE = "default_course"


class CourseDirectoryError(AutograderError):
    """A course directory that cannot be used."""


@dataclass(frozen=True)
class CourseDirectory:
    """One course directory.

    `config` is the course's own nbgrader configuration, so that its directory names, database
    and late penalties hold for `autograder` as they do for `nbgrader`.  `db_named` is set where
    a person named the gradebook for this one command.
    """

    root: Path
    config: Config
    db_named: bool = False

    @property
    def db_url(self) -> str:
        """The gradebook that nbgrader itself would use here.

        SQLAlchemy before 2.1 takes `postgresql://` for psycopg2; the driver here is psycopg 3.
        """
        url = self._setting("db_url", f"sqlite:///{self.root / 'gradebook.db'}")
        return re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", url)

    @property
    def course_id(self) -> str:
        """The name under which the gradebook keeps this course."""
        return self._setting("course_id", "").strip() or DEFAULT_COURSE

    @property
    def state(self) -> Path:
        """The directory that only `autograder` writes to."""
        return self.root / ".autograder"

    @property
    def unentered(self) -> Path:
        """The directory of the lists of those whose grade may not have reached the gradebook."""
        return self.state / "unentered"

    @property
    def report(self) -> Path:
        """The directory of the class report and its CSV files."""
        return self.root / "report"

    def submitted(self, student: str, lesson: str) -> Path:
        """What `student` handed in for `lesson`."""
        return self._step("submitted", student, lesson)

    def autograded(self, student: str, lesson: str) -> Path:
        """The executed notebook of `student` for `lesson`."""
        return self._step("autograded", student, lesson)

    def feedback(self, student: str, lesson: str) -> Path:
        """The pages that `student` gets for `lesson`."""
        return self._step("feedback", student, lesson)

    def _step(self, step: str, student: str, lesson: str) -> Path:
        default = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
        path = self._setting("directory_structure", default).format(
            nbgrader_step=self._setting(f"{step}_directory", step),
            student_id=student,
            assignment_id=lesson,
        )
        return self.root / path

    def _setting(self, name: str, default: str) -> str:
        return str(self.config.CourseDirectory.get(name) or default)


def load_course(root: Path, *, db: str | None = None, by_person: bool = True) -> CourseDirectory:
    """The course directory at `root`; `db` replaces the database its configuration names.

    Args:
        root: The directory that holds source/, submitted/ and nbgrader_config.py.
        db: The address of the gradebook, `sqlite:///FILE` or `postgresql://…`.
        by_person: False where `db` comes from a program's own configuration and not from a person,
            who alone may move the grades to another database.

    Raises:
        CourseDirectoryError: The directory does not exist, or its configuration cannot be run.
    """
    root = root.resolve()
    own_programs_first()
    skip_unused_grammar()
    if not root.is_dir():
        raise CourseDirectoryError(
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
    elif "db_url" in config.CourseDirectory:
        config.CourseDirectory.db_url = _from_root(str(config.CourseDirectory.db_url), root)
    return CourseDirectory(root=root, config=config, db_named=bool(db) and by_person)


def _from_root(url: str, root: Path) -> str:
    """`url` with a file named from the course directory, whose configuration names it."""
    start, _, name = url.partition("sqlite:///")
    if start or not name or name.startswith((":", "file:")):
        return url
    return f"sqlite:///{root / name}"


def _load(root: Path) -> Config:
    if not (root / "nbgrader_config.py").is_file():
        return Config()
    try:
        return PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    except Exception as error:
        raise CourseDirectoryError(
            f"cannot be run: {type(error).__name__}: {error}",
            place=str(root / "nbgrader_config.py"),
            remedy="Mend that line, or take the file away to use nbgrader's defaults.",
        ) from error
