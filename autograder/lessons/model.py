"""The lessons of a course directory: found, chosen by number or name, and read.

A lesson is `source/NN-slug/NN-slug.ipynb`.  Reading is plain JSON and takes what is there; whether
a notebook keeps to the form of the course is a question for `autograder.lessons.lint.lesson`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course_directory import load_course
from autograder.errors import LessonError, UnknownLesson, did_you_mean
from autograder.lessons.cells import (
    RawCell,
    anchor,
    cells_of,
    first_heading,
    grader,
    headings,
    is_answer,
    is_task,
    number,
    read_notebook,
    role,
)
from autograder.lessons.regions import (
    HIDDEN,
    MARK_SCHEME,
    SOLUTION,
    USUAL_MARKS,
    Marks,
    RegionError,
    split_regions,
    stubbed,
)

TEST_PREFIX = "test-"
AUTOTEST = "AUTOTEST"  # how nbgrader marks a test that it writes itself
_TEMPLATES = "autotests.yml"
SLUG = re.compile(r"(\d\d)-([a-z0-9]+(?:-[a-z0-9]+)*)")
# The last is where `predict` keeps what was predicted.
IGNORED = {
    *("__pycache__", ".ipynb_checkpoints", ".DS_Store"),
    ".pytorch-measured-predictions.json",
}
_COPY = re.compile(r"\.ipynb|~$|^\.~|\.sw[a-p]$|^#.*#$")  # those of editors
_MARKS = (f"BEGIN {SOLUTION}".encode(), f"BEGIN {HIDDEN}".encode())
_NO_CELL: RawCell = {"metadata": {}}
INSTALLED = Path(__file__).resolve().parents[2]  # where the packages `course` and `autograder` lie


@dataclass(frozen=True)
class PreparedNotebook:
    """A source notebook of any nbgrader course, as nbgrader's own steps prepare it.

    `notebook` is JSON text: answers are stubs, tests are whole, and each cell is as the gradebook
    has it.  `handed_out` are the texts of the cells that learners get, by grade id.
    `learners_files` are those files of the source in whose place a learner's own file is used.
    `marks` are those of solutions, hidden tests and mark schemes in this course.
    """

    notebook: str
    handed_out: Mapping[str, str]
    learners_files: tuple[str, ...] = ()
    marks: dict[str, tuple[str, str]] = field(default_factory=lambda: dict(USUAL_MARKS))


@dataclass(frozen=True)
class ExerciseGiven:
    """What learners get of an exercise, where nbgrader prepared it: its stub, its visible tests."""

    stub: str
    tests: str


@dataclass(frozen=True)
class Exercise:
    """One exercise: what is asked, where the answer goes, and the cell that tests it.

    `manual` marks a cell that a person grades; it is answer and test in one.  `words` marks a text
    cell: its solution is a model answer and a marking scheme.  `is_task` marks nbgrader's task
    cell: a person gives its points, and what it asks for may stand anywhere in the notebook.
    `few_checks` says why its test cell has fewer checks than others.
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
    is_task: bool = False
    few_checks: str = ""
    given: ExerciseGiven | None = None

    @property
    def asked(self) -> tuple[str, ...]:
        """The names that the test cell asks for with `answer("name")`, in their order."""
        return tuple(dict.fromkeys(re.findall(r"\banswer\(\s*[\"'](\w+)[\"']", self.test_source)))

    @property
    def asked_visibly(self) -> tuple[str, ...]:
        """Those names that a learner has seen in the answer cell or its visible tests."""
        visible = self.given.tests if self.given else "\n".join(self._visible_tests())
        known = set(re.findall(r"\w+", f"{self.stub}\n{visible}"))
        return tuple(name for name in self.asked if name in known)

    def _visible_tests(self) -> list[str]:
        try:
            return split_regions(self.test_source, HIDDEN)[0]
        except RegionError:  # what is hidden cannot be told
            return []

    @property
    def stub(self) -> str:
        """The answer cell as a learner gets it."""
        if self.given is not None:
            return self.given.stub
        return stubbed(self.answer_source, words=self.words)


@dataclass(frozen=True)
class Lesson:
    """A lesson as it stands in its source notebook; or any assignment of an nbgrader course.

    An assignment of several notebooks has each of them in `parts`, where they are marked as
    `is_one_of_several`, and the exercises of all, whose ids begin with their notebook's name; its
    `source` is the first one.  `prepared` is set where nbgrader's own steps prepared the source.

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
    parts: tuple[Lesson, ...] = ()
    is_one_of_several: bool = False
    prepared: PreparedNotebook | None = None

    @property
    def notebook(self) -> str:
        """The name of the notebook, without its ending: the slug, where this is a lesson."""
        return self.source.stem

    @property
    def notebooks(self) -> tuple[Lesson, ...]:
        """What is graded on its own: the parts, or this one where there are none."""
        return self.parts or (self,)

    @property
    def word(self) -> str:
        """The shortest word that a command takes for it: a lesson's number, else its name."""
        return f"{self.number:02d}" if self.number else self.slug

    @property
    def label(self) -> str:
        """What stands above a page about it, beside its title."""
        return f"Lesson {self.word}" if self.number else "Assignment"

    @property
    def marks(self) -> Marks:
        """What begins and ends solutions, hidden tests and mark schemes in its notebooks."""
        prepared = self.notebooks[0].prepared
        return prepared.marks if prepared else USUAL_MARKS

    def key(self, part: Lesson, grade_id: str) -> str:
        """How this assignment's exercises name the cell `grade_id` of the notebook `part`."""
        return f"{part.notebook}.{grade_id}" if self.parts else grade_id

    @property
    def points(self) -> float:
        """What a perfect submission gets."""
        return sum(one.points for one in self.exercises)

    def cells(self) -> list[RawCell]:
        """The cells of the source notebook, read anew, each with its source as one string.

        Raises:
            LessonError: The notebook is gone or broken since the lesson was read.
        """
        if self.parts:
            return [cell for part in self.parts for cell in part.cells()]
        cells = cells_of(self.read())
        for cell in cells if self.tests else ():
            cell["source"] = self.tests.get(grader(cell).get("grade_id", ""), cell["source"])
        return cells

    def read(self) -> dict[str, Any]:
        """The source notebook as plain data, as nbgrader prepared it where it did.

        Raises:
            LessonError: The notebook is gone or broken since the lesson was read.
        """
        if self.prepared is not None:
            found: dict[str, Any] = json.loads(self.prepared.notebook)
            return found
        return read_notebook(self.source)

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
    others = _other_assignments(course)
    if others and (not paths or set(chosen) & set(others)):
        named = sorted(set(chosen) & set(others)) or others
        raise UnknownLesson(
            f"this command is for lessons called NN-name, which {', '.join(named)} "
            f"{'is' if len(named) == 1 else 'are'} not",
            place=str(course / "source"),
            remedy="`autograder grade`, `feedback`, `report` and `export` take every assignment of "
            "nbgrader's; of what is not ours the form is left alone.",
        )
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


def _other_assignments(course: Path) -> list[str]:
    """The names of those folders in source/ that hold notebooks and are no lessons."""
    folders = sorted((course / "source").glob("*/"))
    return [one.name for one in folders if not SLUG.fullmatch(one.name) and [*one.glob("*.ipynb")]]


def read_lesson(path: Path, data: tuple[Path, ...] | None = None) -> Lesson:
    """The lesson in the notebook at `path`.

    Args:
        path: The notebook.
        data: The files that travel with it; None for those beside it that the configuration of its
            course hands out.

    Raises:
        LessonError: It is no notebook.
        CourseDirectoryError: That configuration cannot be run.
    """
    notebook = read_notebook(path)
    cells = cells_of(notebook)
    if data is None:
        data = data_files(path.parent)
        if data:  # nothing else is asked of the configuration
            data = load_course(path.parents[2].resolve()).handed_out(path.parent, data)
    has_autotests = any(AUTOTEST in cell["source"] for cell in cells)
    return Lesson(
        slug=path.stem,
        number=int(path.stem[:2]),
        title=first_heading(cells, 1) or path.stem,
        source=path,
        exercises=exercises_of(cells),
        sections=_sections(cells),
        data_files=data,
        digest=digest_of(
            path, data, shared_templates(path, path.parents[2]) if has_autotests else ()
        ),
        has_autotests=has_autotests,
    )


def prepared_lesson(
    slug: str,
    source: Path,
    prepared: PreparedNotebook,
    digest: str,
    data: tuple[Path, ...],
) -> Lesson:
    """One notebook of any nbgrader course, as nbgrader's own steps prepared it.

    Args:
        slug: The assignment's name.
        source: The notebook.
        prepared: What nbgrader made of it.
        digest: Of all that it was made of.
        data: The files beside it.
    """
    cells = cells_of(json.loads(prepared.notebook))
    return Lesson(
        slug=slug,
        number=0,
        title=slug,
        source=source,
        exercises=exercises_of(cells, prepared),
        sections={},
        data_files=data,
        digest=digest,
        prepared=prepared,
    )


def data_files(directory: Path) -> tuple[Path, ...]:
    """The files beside a notebook, in order, but for what programs leave there.

    They are handed out, and every submission may read them.  So a copy of the source is none of
    them, such as an editor's backup, or the text with which jupytext pairs a notebook.
    """
    return tuple(
        path
        for path in sorted(directory.rglob("*"))
        if path.is_file()
        and path.suffix != ".ipynb"
        and not IGNORED & set(path.parts)
        and not _COPY.search(path.name)
        and not _holds_a_region(path)
    )


def _holds_a_region(path: Path) -> bool:
    """Whether a mark of a solution or of hidden tests stands anywhere in this file."""
    content = path.read_bytes()
    return any(mark in content for mark in _MARKS)


def is_covered(name: str, lesson: Lesson) -> bool:
    """Whether a learner's file stands where a file of the source belongs, or below or above it.

    Of any nbgrader course the source's files are used, but for those that its configuration leaves
    to learners.

    Args:
        name: The file's path from the folder of the submission.
        lesson: Whose files stand against it.
    """
    prepared = lesson.notebooks[0].prepared
    if prepared is None or name in prepared.learners_files:
        return False
    root = lesson.source.parent
    sources = [path.relative_to(root).as_posix() for path in lesson.data_files]
    return any(
        f"{name}/".startswith(f"{one}/") or f"{one}/".startswith(f"{name}/") for one in sources
    )


def autotest_templates(source: Path, course: Path) -> Path | None:
    """The templates by which nbgrader writes the automatic tests of the notebook at `source`.

    They lie beside the notebook, or in the course directory for all lessons.
    """
    found = (folder / _TEMPLATES for folder in (source.parent, course))
    return next((path for path in found if path.is_file()), None)


def shared_templates(source: Path, course: Path) -> tuple[Path, ...]:
    """The templates for automatic tests, where they are none of the lesson's own files.

    Returns:
        One path, or none: what `Lesson.data_files` has is not among them.
    """
    found = autotest_templates(source, course)
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


def exercises_of(
    cells: list[RawCell], prepared: PreparedNotebook | None = None
) -> tuple[Exercise, ...]:
    """The exercises of a notebook, one for each graded cell, in their order.

    In a lesson the cell NAME has the answer to `test-NAME`, and the exercise is called NAME.  Any
    other nbgrader course has ids of its own: an exercise is called as its graded cell, and its
    answer is the last one before it.

    Args:
        cells: Of the source, or as nbgrader prepared them.
        prepared: Set where it did.
    """
    by_id = {grader(cell)["grade_id"]: cell for cell in cells if "grade_id" in grader(cell)}
    found, last = [], ""
    for id_, cell in by_id.items():
        if is_task(cell):
            task = _task(cells, id_, cell)
            found.append(_as_given(task, prepared) if prepared else task)
        elif grader(cell).get("grade"):
            name = id_.removeprefix(TEST_PREFIX)
            own = name if is_answer(by_id.get(name, _NO_CELL)) else ""
            answer_id = id_ if is_answer(cell) else own if prepared is None else last
            exercise = _exercise(cells, cell, by_id.get(answer_id))
            found.append(_as_given(exercise, prepared) if prepared else exercise)
        elif is_answer(cell):
            last = id_
    return tuple(found)


def _task(cells: list[RawCell], id_: str, cell: RawCell) -> Exercise:
    """The exercise of nbgrader's task cell; its marking scheme is for those who mark."""
    try:
        asked = "\n".join(split_regions(cell["source"], MARK_SCHEME)[0])
    except RegionError:
        asked = ""
    return Exercise(
        name=id_,
        title=first_heading([{**cell, "source": asked}], 1) or id_,
        points=number(grader(cell).get("points")),
        answer_id=id_,
        answer_source=cell["source"],
        test_id=id_,
        test_source="",
        task=asked,
        section=_section_of(cells, cell),
        manual=True,
        is_task=True,
    )


def _as_given(exercise: Exercise, prepared: PreparedNotebook) -> Exercise:
    """The exercise under its cell's own name, with what learners get of it."""
    tests = "" if exercise.manual else prepared.handed_out.get(exercise.test_id, "")
    given = ExerciseGiven(prepared.handed_out.get(exercise.answer_id, ""), tests)
    name = exercise.test_id
    title = name if exercise.title == exercise.name else exercise.title
    asked = prepared.handed_out.get(name, "") if exercise.is_task else exercise.task
    return replace(exercise, name=name, title=title, task=asked, given=given)


def _exercise(cells: list[RawCell], test: RawCell, answer: RawCell | None) -> Exercise:
    test_id = grader(test)["grade_id"]
    manual = is_answer(test)
    name = test_id if manual else test_id.removeprefix(TEST_PREFIX)
    about = [cell for cell in cells if role(cell).get("exercise") == name]
    task = next((cell for cell in about if role(cell).get("role") == "exercise"), None)
    more = role(task) if task else {}
    return Exercise(
        name=name,
        title=(first_heading([task], 2) if task else None) or name,
        points=number(grader(test).get("points")),
        answer_id=grader(answer)["grade_id"] if answer else "",
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


def digest_of(path: Path, data: tuple[Path, ...], shared: tuple[Path, ...] = ()) -> str:
    """What changes with the bytes of a notebook and of the files that belong to it.

    Args:
        path: The notebook.
        data: The files beside it.
        shared: Files that lie elsewhere.
    """
    total = hashlib.sha256()
    for one in (path, *data, *shared):
        content = one.read_bytes()
        name = one.name if one in shared else one.relative_to(path.parent).as_posix()
        total.update(f"{name}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()
