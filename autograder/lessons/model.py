"""The lessons of a course directory: found, chosen by number or name, and read.

A lesson is `source/NN-slug/NN-slug.ipynb`.  Reading is plain JSON and takes what is there; whether
a notebook keeps to the form of the course is a question for `autograder.lessons.lint.lesson`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import LessonError, UnknownLesson, did_you_mean
from autograder.lessons.cells import (
    RawCell,
    anchor,
    cells_of,
    first_heading,
    grader,
    headings,
    is_answer,
    number,
    read_notebook,
    role,
)
from autograder.lessons.regions import stubbed

TEST_PREFIX = "test-"
AUTOTEST = "AUTOTEST"  # how nbgrader marks a test that it writes itself
_TEMPLATES = "autotests.yml"
SLUG = re.compile(r"(\d\d)-([a-z0-9]+(?:-[a-z0-9]+)*)")
# The last is where `predict` keeps what was predicted.
IGNORED = {
    *("__pycache__", ".ipynb_checkpoints", ".DS_Store"),
    ".pytorch-measured-predictions.json",
}
INSTALLED = Path(__file__).resolve().parents[2]  # where the packages `course` and `autograder` lie


@dataclass(frozen=True)
class Exercise:
    """One exercise: what is asked, where the answer goes, and the cell that tests it.

    `manual` marks a cell that a person grades; it is answer and test in one.  `words` marks a text
    cell: its solution is a model answer and a marking scheme.  `few_checks` says why its test cell
    has fewer checks than others.
    """

    name: str
    title: str
    points: float
    answer_id: str
    answer_source: str
    test_id: str
    test_source: str
    task: str = ""
    section: str = ""
    difficulty: int = 0
    minutes: int = 0
    hints: tuple[str, ...] = ()
    manual: bool = False
    words: bool = False
    few_checks: str = ""

    @property
    def asked(self) -> tuple[str, ...]:
        """The names that the test cell asks for with `answer("name")`, in their order."""
        return tuple(dict.fromkeys(re.findall(r"\banswer\(\s*[\"'](\w+)[\"']", self.test_source)))

    @property
    def stub(self) -> str:
        """The answer cell as a learner gets it."""
        return stubbed(self.answer_source, words=self.words)


@dataclass(frozen=True)
class Lesson:
    """A lesson as it stands in its source notebook.

    `digest` changes whenever the notebook or one of its data files does.  `has_autotests` says that
    nbgrader has tests to write out; `tests` are the cells with them, by grade id: see
    `autograder.lessons.autotests`.
    """

    slug: str
    number: int
    title: str
    source: Path
    exercises: tuple[Exercise, ...]
    sections: Mapping[str, str]  # anchor -> heading, in the order of the notebook
    data_files: tuple[Path, ...]
    digest: str
    has_autotests: bool = False
    tests: Mapping[str, str] = field(default_factory=dict)

    @property
    def points(self) -> float:
        """What a perfect submission gets."""
        return sum(one.points for one in self.exercises)

    def cells(self) -> list[RawCell]:
        """The cells of the source notebook, read anew, each with its source as one string.

        Raises:
            LessonError: The notebook is gone or broken since the lesson was read.
        """
        cells = cells_of(read_notebook(self.source))
        for cell in cells if self.tests else ():
            cell["source"] = self.tests.get(grader(cell).get("grade_id", ""), cell["source"])
        return cells

    def exercise(self, name: str) -> Exercise:
        """The exercise `name`; raises `LessonError` naming those that exist."""
        for one in self.exercises:
            if one.name == name:
                return one
        names = [one.name for one in self.exercises]
        raise LessonError(
            f"{self.slug} has no exercise '{name}'.{did_you_mean(name, names)}",
            remedy=f"It has: {', '.join(names) or 'none'}.",
        )


def find_lesson(course: Path, word: str) -> Lesson:
    """The lesson that `word` names: `4`, `04`, `04-memory-layout` or `memory-layout`.

    Raises:
        UnknownLesson: None is called so; the remedy names those that exist.
        LessonError: Its notebook cannot be read.
    """
    return read_lesson(_path_of(lesson_paths(course), course, word))


def select_lessons(course: Path, words: Iterable[str] = ()) -> tuple[Lesson, ...]:
    """The lessons that `words` name, in their order, each once; all for no word or `all`.

    Args:
        course: The course directory.
        words: Numbers or names, as `find_lesson` takes them.

    Raises:
        UnknownLesson: A word names no lesson, or there are none at all.
        LessonError: A notebook cannot be read.
    """
    paths, chosen = lesson_paths(course), list(words)
    if not paths:
        raise UnknownLesson(
            "there are no lessons",
            place=str(course / "source"),
            remedy="Run the command in the course directory, or name it with --course DIR.",
        )
    if not chosen or "all" in chosen:
        return tuple(read_lesson(path) for path in paths.values())
    wanted = {_path_of(paths, course, word) for word in chosen}
    return tuple(read_lesson(path) for path in sorted(wanted))


def all_lessons(course: Path) -> tuple[Lesson, ...]:
    """Every lesson of the course directory, in order; none where there are none."""
    return tuple(read_lesson(path) for path in lesson_paths(course).values())


def lesson_paths(course: Path) -> dict[str, Path]:
    """Slug to source notebook, in order, without opening any."""
    found = sorted((course / "source").glob("*/*.ipynb"))
    return {
        path.stem: path
        for path in found
        if path.stem == path.parent.name and SLUG.fullmatch(path.stem)
    }


def read_lesson(path: Path) -> Lesson:
    """The lesson in the notebook at `path`.

    Raises:
        LessonError: It is no notebook.
    """
    notebook = read_notebook(path)
    cells = cells_of(notebook)
    data = data_files(path.parent)
    has_autotests = any(AUTOTEST in cell["source"] for cell in cells)
    return Lesson(
        slug=path.stem,
        number=int(path.stem[:2]),
        title=first_heading(cells, 1) or path.stem,
        source=path,
        exercises=_exercises(cells),
        sections=_sections(cells),
        data_files=data,
        digest=_digest(path, data, shared_templates(path) if has_autotests else ()),
        has_autotests=has_autotests,
    )


def data_files(directory: Path) -> tuple[Path, ...]:
    """The files beside a lesson's notebook that travel with it, in order."""
    return tuple(
        path
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb" and not IGNORED & set(path.parts)
    )


def autotest_templates(source: Path) -> Path | None:
    """The templates by which nbgrader writes the automatic tests of the lesson at `source`.

    They lie beside the notebook, or in the course directory for all lessons.
    """
    found = (folder / _TEMPLATES for folder in (source.parent, source.parents[2]))
    return next((path for path in found if path.is_file()), None)


def shared_templates(source: Path) -> tuple[Path, ...]:
    """The templates for automatic tests, where they are none of the lesson's own files.

    Returns:
        One path, or none: what `Lesson.data_files` has is not among them.
    """
    found = autotest_templates(source)
    return (found,) if found and found.parent != source.parent else ()


def beside_course(course: Path, package: str, name: str) -> Path | None:
    """The file that belongs to a lesson of `course`; None where there is none.

    Args:
        course: The course directory, in which it is looked for first.
        package: The package that has it where the course directory has not, `course.claims`.
        name: The file's name.
    """
    folders = package.split(".")
    found = (root.joinpath(*folders, name) for root in (course, INSTALLED))
    return next((path for path in found if path.is_file()), None)


def _path_of(paths: dict[str, Path], course: Path, word: str) -> Path:
    for slug, path in paths.items():
        number, _, name = slug.partition("-")
        if word in (slug, name, number, number.lstrip("0")):
            return path
    _refuse_folder(course, word)
    names = [*paths, *(slug[3:] for slug in paths)]
    raise UnknownLesson(
        f"there is no lesson '{word}' in {course / 'source'}.{did_you_mean(word, names)}",
        remedy=f"There are: {', '.join(paths) or 'none'}.",
    )


def _refuse_folder(course: Path, word: str) -> None:
    """Raise `UnknownLesson` where `word` names a folder in source/ that holds no such notebook."""
    for folder in sorted((course / "source").glob("*/")):
        found = SLUG.fullmatch(folder.name)
        if found and word in (folder.name, found[1], found[2], found[1].lstrip("0")):
            others = ", ".join(path.name for path in sorted(folder.glob("*.ipynb")))
            raise UnknownLesson(
                f"it holds no {folder.name}.ipynb" + (f", but {others}" if others else ""),
                place=str(folder),
                remedy=f"Name the lesson's notebook {folder.name}.ipynb."
                if others
                else f"`autograder new-lesson {folder.name}` writes one.",
            )


def _exercises(cells: list[RawCell]) -> tuple[Exercise, ...]:
    by_id = {grader(cell)["grade_id"]: cell for cell in cells if "grade_id" in grader(cell)}
    graded = [(id_, cell) for id_, cell in by_id.items() if grader(cell).get("grade")]
    return tuple(_exercise(cells, by_id, id_, cell) for id_, cell in graded)


def _exercise(
    cells: list[RawCell], by_id: dict[str, RawCell], test_id: str, test: RawCell
) -> Exercise:
    manual = is_answer(test)
    name = test_id if manual else test_id.removeprefix(TEST_PREFIX)
    answer = test if manual else by_id.get(name)
    about = [cell for cell in cells if role(cell).get("exercise") == name]
    task = next((cell for cell in about if role(cell).get("role") == "exercise"), None)
    more = role(task) if task else {}
    return Exercise(
        name=name,
        title=(first_heading([task], 2) if task else None) or name,
        points=number(grader(test).get("points")),
        answer_id=name if answer else "",
        answer_source=answer["source"] if answer else "",
        test_id=test_id,
        test_source="" if manual else test["source"],
        task=task["source"] if task else "",
        section=str(more.get("section") or _section_of(cells, test)),
        difficulty=int(number(more.get("difficulty"))),
        minutes=int(number(more.get("minutes"))),
        hints=_hints(cells, name),
        manual=manual,
        words=manual and test["cell_type"] == "markdown",
        few_checks=str(more.get("few_checks") or ""),
    )


def _hints(cells: list[RawCell], name: str) -> tuple[str, ...]:
    ids = re.compile(rf"{re.escape(name)}-hint-\d+")
    return tuple(cell["source"] for cell in cells if ids.fullmatch(str(cell.get("id", ""))))


def _section_of(cells: list[RawCell], wanted: RawCell) -> str:
    found = ""
    for cell in cells:
        if cell is wanted:
            return found
        found = (list(_sections([cell])) or [found])[-1]
    return found


def _sections(cells: list[RawCell]) -> dict[str, str]:
    found = [text for cell in cells for level, text in headings(cell) if level == 2]
    return {anchor(text): text for text in found}


def _digest(path: Path, data: tuple[Path, ...], shared: tuple[Path, ...] = ()) -> str:
    total = hashlib.sha256()
    for one in (path, *data, *shared):
        content = one.read_bytes()
        name = one.name if one in shared else one.relative_to(path.parent).as_posix()
        total.update(f"{name}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()
