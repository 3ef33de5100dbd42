"""Where things lie in a course directory, and what its nbgrader_config.py says about them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from autograder.environment import own_programs_first
from autograder.errors import AutograderError
from autograder.import_speed import skip_unused_grammar

if TYPE_CHECKING:
    from traitlets.config import Config

DEFAULT_COURSE = "default_course"
_ANY = "•any•"  # where a name is looked for in a path
_CONFIG = "nbgrader_config.py"
_EXCHANGE = "/usr/local/share/nbgrader/exchange"  # where nbgrader's is if nothing else is said
_REMEMBERED = 2**14  # names; a submission has 10,000 at most
_IGNORED = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback"]  # nbgrader's own
# Steps of nbgrader's autograde; what they do with a submission the engine does in its own way.
_AUTOGRADE_STEPS = (
    "ClearOutput",
    "DeduplicateIds",
    "OverwriteKernelspec",
    "OverwriteCells",
    "CheckCellMetadata",
    "Execute",
    "IgnorePattern",
    "ClearMetadataPreprocessor",
    "LimitOutput",
    "SaveAutoGrades",
    "AssignLatePenalties",
)


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
    def empty_is_zero(self) -> bool:
        """Whether an answer that a person marks gets 0 where its cell was emptied.

        `c.Autograder.empty_answers` says so with "zero"; "person" is nbgrader's way, and the
        default: the cell is no longer the stub, so a person decides.
        """
        return self.config.Autograder.get("empty_answers") == "zero"

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

    @property
    def cell_limit_s(self) -> float | None:
        """How long nbgrader would let a cell run here, in seconds.

        Returns:
            None where the course says nothing of it; 0 where it sets no limit.
        """
        for name in ("Execute", "ExecutePreprocessor"):
            if "timeout" in self.config.get(name, {}):
                return max(0.0, float(self.config[name].timeout or 0))
        return None

    @property
    def creates_students(self) -> bool:
        """Whether somebody is graded who is neither in the gradebook nor in students.csv."""
        return bool(self._converter_setting("create_student", True))

    @property
    def is_shared(self) -> bool:
        """Whether other instructors, of the same group, write here, too."""
        return bool(self.config.CourseDirectory.get("groupshared", False))

    @property
    def file_mode(self) -> int:
        """The permissions of a file in autograded/, as nbgrader gives them."""
        usual = 664 if self.is_shared else 444
        return int(str(self._converter_setting("permissions", usual)), 8)

    def is_excluded(self, student: str) -> bool:
        """Whether the configuration leaves `student` out of what is graded."""
        excluded = self._setting("student_id_exclude", "").split(",")
        return student in excluded or not fnmatch(student, self._setting("student_id", "*"))

    def ignores(self, name: str) -> bool:
        """Whether a file that comes along with a notebook is left where it is.

        Args:
            name: Its path from the folder of the notebook.
        """
        patterns = _listed(self.config.CourseDirectory.get("ignore", _IGNORED), _IGNORED)
        return any(map(_fits_any(tuple(patterns)), PurePath(name).parts))

    def handed_out(self, folder: Path, files: Iterable[Path]) -> tuple[Path, ...]:
        """Those of an assignment's files that nbgrader would release with its notebooks.

        Args:
            folder: The one of the notebooks.
            files: Paths of files below it.
        """
        wanted = _listed(self.config.CourseDirectory.get("include", ["*"]), ["*"])
        return tuple(
            path
            for path in files
            if not self.ignores(str(path.relative_to(folder)))
            and (not wanted or any(fnmatch(path.name, one) for one in wanted))
        )

    @property
    def own_autograde_steps(self) -> tuple[str, ...]:
        """The names of preprocessors that the configuration adds to nbgrader's autograde."""
        found = []
        for name in ("sanitize_preprocessors", "autograde_preprocessors"):
            for step in _listed(self.config.Autograde.get(name, []), []):
                called = step if isinstance(step, str) else getattr(step, "__name__", repr(step))
                found.append(called.rpartition(".")[2])
        return tuple(one for one in dict.fromkeys(found) if one not in _AUTOGRADE_STEPS)

    def source(self, assignment: str) -> Path:
        """The folder with the source notebooks of `assignment`."""
        return self._step("source", ".", assignment)

    @property
    def sources(self) -> Path:
        """The directory with the source folders of all assignments."""
        parts = self.source(_ANY).parts
        return Path(*parts[: next(n for n, part in enumerate(parts) if _ANY in part)])

    def assignments(self) -> dict[str, Path]:
        """Every assignment that has a source folder, with that folder, in the order of names."""
        found = self._matches(self.source(_ANY))
        return {name: path for name, path in sorted(found) if path.is_dir() and name[0] != "."}

    def submitted(self, student: str, lesson: str) -> Path:
        """What `student` handed in for `lesson`."""
        return self._step("submitted", student, lesson)

    def submissions(self, lesson: str) -> dict[str, Path]:
        """The name of each folder that may hold a submission of `lesson`, with its place.

        Whether anything lies there is not looked at.

        Raises:
            OSError: The folder of all submissions is there and cannot be listed.
        """
        return dict(self._matches(self.submitted(_ANY, lesson)))

    @property
    def private(self) -> tuple[Path, ...]:
        """The directories with what no learner's code may see, whether or not they are there.

        The course directory, those of its steps that lie elsewhere, and nbgrader's exchange, in
        which the submissions of everybody lie.
        """
        steps = ("source", "submitted", "autograded", "feedback", "release")
        named = [self._step(step, _ANY, _ANY) for step in steps]
        fixed = [next(one for one in path.parents if _ANY not in str(one)) for path in named]
        exchange = [self.config.Exchange.get(name) for name in ("root", "cache")]
        given = [self.root / str(one) for one in exchange if one]
        return tuple(dict.fromkeys([self.root, *fixed, *given, Path(_EXCHANGE)]))

    def own_part(self, submission: Path, lesson: str) -> list[Path]:
        """The student's folder that holds a submission, and those below it down to the submission.

        Args:
            submission: One of the places that `submissions` gives for `lesson`.
            lesson: Its slug.
        """
        parts = self.submitted(_ANY, lesson).parts
        at = next(n for n, part in enumerate(parts) if _ANY in part)
        return [Path(*submission.parts[:end]) for end in range(at + 1, len(parts) + 1)]

    def pages(self, lesson: str) -> dict[str, Path]:
        """The name of each folder that may hold feedback on `lesson`, with its place."""
        return dict(self._matches(self.feedback(_ANY, lesson)))

    def released(self, assignment: str) -> Path:
        """The edition of `assignment` that nbgrader hands out."""
        return self._step("release", ".", assignment)

    def autograded(self, student: str, lesson: str) -> Path:
        """The executed notebook of `student` for `lesson`."""
        return self._step("autograded", student, lesson)

    def feedback(self, student: str, lesson: str) -> Path:
        """The pages that `student` gets for `lesson`."""
        return self._step("feedback", student, lesson)

    def _matches(self, pattern: Path) -> Iterator[tuple[str, Path]]:
        """The words that stand for `_ANY` in the paths which fit, with those paths."""
        parts = pattern.parts
        at = next(n for n, part in enumerate(parts) if _ANY in part)
        start, end = parts[at].split(_ANY, 1)
        above, below = Path(*parts[:at]), parts[at + 1 :]
        for name in os.listdir(above) if above.is_dir() else []:
            word = name[len(start) : len(name) - len(end)]
            if word and name == f"{start}{word}{end}":
                yield word, above.joinpath(name, *below)

    def _step(self, step: str, student: str, lesson: str) -> Path:
        default = os.path.join("{nbgrader_step}", "{student_id}", "{assignment_id}")
        path = self._setting("directory_structure", default).format(
            nbgrader_step=self._setting(f"{step}_directory", step),
            student_id=student,
            assignment_id=lesson,
        )
        return self.root / path

    def _converter_setting(self, name: str, default: object) -> object:
        """A setting of nbgrader's autograde, by whichever of its names it is given."""
        found = [self.config[one].get(name) for one in ("AutogradeApp", "Autograde")]
        return next((one for one in found if one is not None), default)

    def _setting(self, name: str, default: str) -> str:
        return str(self.config.CourseDirectory.get(name) or default)


def load_course(root: Path, *, db: str | None = None, by_person: bool = True) -> CourseDirectory:
    """The course directory at `root`; `db` replaces the database its configuration names.

    Args:
        root: The directory that holds source/, submitted/ and nbgrader_config.py. Where it is
            `Path()`, as when nobody named one, the configuration found there may name another
            with `c.CourseDirectory.root`, as for nbgrader.
        db: The address of the gradebook, `sqlite:///FILE` or `postgresql://…`.
        by_person: False where `db` comes from a program's own configuration and not from a person,
            who alone may move the grades to another database.

    Raises:
        CourseDirectoryError: The directory does not exist, or its configuration cannot be run.
    """
    own_programs_first()
    skip_unused_grammar()
    named = root != Path()
    root = root.resolve()
    if not root.is_dir():
        raise CourseDirectoryError(
            "there is no such course directory",
            place=str(root),
            remedy="Give one with --course DIR, or make one with `autograder simulate --out DIR`.",
        )
    config = _load(root)
    elsewhere = config.CourseDirectory.get("root")
    if elsewhere and not named and (root / str(elsewhere)).resolve() != root:
        root = (root / str(elsewhere)).resolve()
        if not root.is_dir():
            raise CourseDirectoryError(
                "there is no such course directory, and c.CourseDirectory.root names it",
                place=str(root),
                remedy="Correct it in nbgrader_config.py, or give another with --course DIR.",
            )
        config = _load(root)
    config.CourseDirectory.root = str(root)
    _refuse_unknown(root, config)
    if db:
        config.CourseDirectory.db_url = db
    elif "db_url" in config.CourseDirectory:
        config.CourseDirectory.db_url = _from_root(str(config.CourseDirectory.db_url), root)
    return CourseDirectory(root=root, config=config, db_named=bool(db) and by_person)


def _listed(value: Any, usual: list[Any]) -> list[Any]:
    """A list of the configuration; where it adds to nbgrader's own, `usual`, with that."""
    from traitlets.config.loader import LazyConfigValue

    return list(value.get_value(usual) if isinstance(value, LazyConfigValue) else value)


def _refuse_unknown(root: Path, config: Config) -> None:
    """Refuse a setting of ours that has a value it cannot have."""
    found = config.Autograder.get("empty_answers", "person")
    if found not in ("person", "zero"):
        raise CourseDirectoryError(
            f"c.Autograder.empty_answers is {found!r}",
            place=str(root / _CONFIG),
            remedy='Set it to "person", who decides as in nbgrader, or to "zero".',
        )


def _from_root(url: str, root: Path) -> str:
    """`url` with a file named from the course directory, whose configuration names it."""
    start, _, name = url.partition("sqlite:///")
    if start or not name or name.startswith((":", "file:")):
        return url
    return f"sqlite:///{root / name}"


@lru_cache(maxsize=8)
def _fits_any(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a name fits one of `patterns`; it remembers, as files share long ways of folders."""

    @lru_cache(maxsize=_REMEMBERED)
    def fits(name: str) -> bool:
        return any(fnmatch(name, one) for one in patterns)

    return fits


def _load(root: Path) -> Config:
    """What nbgrader would read here: the site's configuration, the user's, and the course's."""
    from jupyter_core.paths import jupyter_config_path
    from traitlets.config import Config

    if str(root) not in sys.path and (root / _CONFIG).is_file():
        sys.path.append(str(root))  # a course's own plugins lie there, as for nbgrader
    found = Config()
    for folder in (*reversed(jupyter_config_path()), str(root)):
        one = _read(Path(folder))
        elsewhere = one.CourseDirectory.get("root")
        if elsewhere and Path(str(elsewhere)).resolve() != root:
            one.CourseDirectory.pop("db_url", None)  # it would be the other course's gradebook
        found.merge(one)
    return found


def _read(folder: Path) -> Config:
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    if not (folder / _CONFIG).is_file():
        return Config()
    try:
        return PyFileConfigLoader(_CONFIG, path=str(folder)).load_config()
    except Exception as error:
        raise CourseDirectoryError(
            f"cannot be run: {type(error).__name__}: {error}",
            place=str(folder / _CONFIG),
            remedy="Mend that line, or take the file away to use nbgrader's defaults.",
        ) from error
