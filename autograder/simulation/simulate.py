"""A simulated class: submissions made from the answers, for demonstrations, tests and benchmarks.

Every submission depends on the seed, the learner and the lesson alone, so a larger class contains
the smaller one (but for the faults, whose number follows its size).  What each learner did is
written to `simulated.json`; the same file marks the directory as one that may be replaced.
"""

from __future__ import annotations

import copy
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.answer_bank.bank import BankAnswer, bank_path, check_bank, read_bank
from autograder.console import Progress
from autograder.errors import SimulationError
from autograder.lessons.cells import put_source, saved_notebook
from autograder.lessons.claims import claims_path, misconceptions, own_claims
from autograder.lessons.lint.lesson import MARKING
from autograder.lessons.model import Exercise, Lesson
from autograder.lessons.regions import SOLUTION, split_regions
from autograder.lessons.release import RELEASE, class_editions
from autograder.simulation.faults import FAULTS, SLIPS, slipped
from autograder.simulation.marker import KIND, MARK, is_simulated
from autograder.submissions.discovery import digest_of

_DUE = datetime(2026, 1, 16, 18, 0, tzinfo=UTC)
# Last in its configuration, so that not even a site's own database gets an invented class.
_OWN_GRADEBOOK = """
_here = __import__("pathlib").Path(__file__).resolve().parent
c.CourseDirectory.db_url = f"sqlite:///{_here}/gradebook.db"
"""

# Profile: how often (of 100 learners), and how often an answer is right, wrong or has a slip;
# what remains is left as the stub.
_PROFILES: dict[str, tuple[int, tuple[int, int, int]]] = {
    "good": (45, (92, 6, 0)),
    "middling": (25, (62, 30, 2)),
    "weak": (20, (25, 50, 5)),
    "broken": (10, (25, 25, 40)),
}
_FIRST_SENTENCE = re.compile(r"(?:\d+\. )?.*?\.(?=\s|$)", re.S)  # after the number of a list
# Fifteen and eight have no common divisor, so the first 120 names differ.
_FIRST = (
    *("Alder", "Aspen", "Bay", "Briar", "Cedar", "Clove", "Dale", "Ember"),
    *("Fern", "Gale", "Hazel", "Heath", "Indigo", "Juniper", "Lake"),
)
_LAST = (
    *("Amberfield", "Birchwood", "Copperhill", "Driftstone"),
    *("Eastbrook", "Fairwater", "Greyling", "Highmoor"),
)


@dataclass(frozen=True)
class SimulatedSubmission:
    """One submission: who, what, and how it came about.

    `answers` maps each exercise to the title of its answer in the bank, to a slip, or to `stub`;
    `digest` is that of all its files, by which `grade` knows it again.
    """

    student: str
    lesson: str
    profile: str
    fault: str | None
    answers: dict[str, str]
    digest: str = ""


@dataclass(frozen=True)
class SimulatedCourse:
    """What was written, and where."""

    directory: Path
    seed: int
    students: tuple[str, ...]
    lessons: tuple[str, ...]
    submissions: tuple[SimulatedSubmission, ...]

    @property
    def sentence(self) -> str:
        """What was made, in a sentence or two."""
        profiles = Counter(one.profile for one in self.submissions)
        mix = ", ".join(f"{profiles[name]} {name}" for name in _PROFILES if profiles[name])
        faults = Counter(one.fault for one in self.submissions if one.fault)
        names = ", ".join(f"{name}" for name in faults)
        return (
            f"{self.directory}: {len(self.submissions)} submissions to {', '.join(self.lessons)}"
            f" ({mix})." + (f" Faults: {names}." if names else "")
        )

    def to_json(self) -> dict[str, Any]:
        """The content of `simulated.json`."""
        return {"kind": KIND, **asdict(self), "directory": self.directory.name}


def simulate(
    course: Path,
    lessons: Sequence[Lesson],
    *,
    out: Path,
    students: int,
    seed: int = 0,
    faults: float = 0.0,
    progress: Progress | None = None,
) -> SimulatedCourse:
    """Fill the directory `out` with a class.

    Args:
        course: The course whose lessons and answers are used.
        lessons: Each student hands in all of them.
        out: A new or empty directory, or a simulated course, which is replaced.
        students: How many.
        seed: The same seed gives the same bytes.
        faults: The share, 0 to 1, of submissions to each lesson that hang, crash or cannot be read.
        progress: Hears of each lesson whose class edition is made, which takes the time.

    Raises:
        SimulationError: `out` holds something else, or a lesson has no answers.
        BankError: A file of answers breaks its form.
        ReleaseError: A lesson cannot be released.
    """
    banks = {lesson.slug: _bank(course, lesson) for lesson in lessons}
    progress = progress or Progress(None)
    progress.expect(len(lessons))
    progress.doing("class editions")
    released = class_editions(course, lessons, progress.step)
    _clear(out, course)
    names = tuple(f"student-{number:03d}" for number in range(1, students + 1))
    _write_course(course, out, lessons, released, names)
    made: list[SimulatedSubmission] = []
    for lesson in lessons:
        notebook = json.loads(released[f"{lesson.slug}/{lesson.slug}.ipynb"])
        faulty = _faulty(names, lesson.slug, seed, faults)
        for name in names:
            content, one = _submission(lesson, banks[lesson.slug], notebook, name, seed, faulty)
            made.append(_hand_in(out, lesson, one, content, seed))
    slugs = tuple(lesson.slug for lesson in lessons)
    simulated = SimulatedCourse(out, seed, names, slugs, tuple(made))
    (out / MARK).write_text(json.dumps(simulated.to_json(), indent=1) + "\n")
    return simulated


def _bank(course: Path, lesson: Lesson) -> tuple[BankAnswer, ...]:
    path = bank_path(course, lesson.slug)
    if path is None:
        raise SimulationError(
            f"{lesson.slug} has no answers to make submissions from",
            place=f"autograder/answers/{lesson.slug}.py",
            remedy="Write its answers, or leave this lesson out with --lessons.",
        )
    answers = read_bank(path)
    check_bank(answers, lesson, misconceptions(course, lesson.slug))
    return answers


def _clear(out: Path, course: Path) -> None:
    """Make `out` an empty directory; only a simulated course may stand in the way."""
    if out.resolve() == course.resolve() or out.resolve() in course.resolve().parents:
        raise SimulationError(
            "the course itself lies there", place=str(out), remedy="Name another with --out DIR."
        )
    if out.is_dir() and not any(out.iterdir()):
        return
    if out.exists() or out.is_symlink():
        if not is_simulated(out):
            raise SimulationError(
                "is there already and is no simulated course, so it is left as it is",
                place=str(out),
                remedy="Name another directory with --out DIR, or remove this one yourself.",
            )
        shutil.rmtree(out)
    out.mkdir(parents=True)


def _write_course(
    course: Path,
    out: Path,
    lessons: Sequence[Lesson],
    released: dict[str, bytes],
    names: Sequence[str],
) -> None:
    # The mark comes first: a run that is interrupted leaves a directory that the next may replace.
    (out / MARK).write_text(json.dumps({"kind": KIND}))
    for name, content in released.items():
        path = out / RELEASE / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for lesson in lessons:
        shutil.copytree(lesson.source.parent, out / "source" / lesson.slug)
        _bring_claims(course, out, lesson.slug)
    config = course / "nbgrader_config.py"
    if config.is_file():
        (out / config.name).write_text(config.read_text("utf-8") + _OWN_GRADEBOOK, "utf-8")
    rows = ["id,first_name,last_name,email", *map(_row, range(len(names)), names)]
    (out / "students.csv").write_text("\n".join(rows) + "\n")


def _bring_claims(course: Path, out: Path, slug: str) -> None:
    """Copy the lesson's claims where the installed package has others, or none."""
    here, there = claims_path(course, slug), claims_path(out, slug)
    if here is not None and (there is None or there.read_bytes() != here.read_bytes()):
        target = own_claims(out, slug)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(here, target)


def _row(number: int, student: str) -> str:
    return f"{student},{_FIRST[number % len(_FIRST)]},{_LAST[number % len(_LAST)]},"


def _faulty(names: Sequence[str], slug: str, seed: int, share: float) -> dict[str, str]:
    count = round(len(names) * share)
    drawn = random.Random(f"{seed}/faults/{slug}").sample(list(names), count)
    kinds = list(FAULTS)
    return {name: kinds[n % len(kinds)] for n, name in enumerate(drawn)}


def _submission(
    lesson: Lesson,
    bank: Sequence[BankAnswer],
    released: dict[str, Any],
    student: str,
    seed: int,
    faulty: dict[str, str],
) -> tuple[bytes, SimulatedSubmission]:
    pick = random.Random(f"{seed}/{lesson.slug}/{student}")
    profile = pick.choices(list(_PROFILES), [often for often, _ in _PROFILES.values()])[0]
    notebook, answers = copy.deepcopy(released), {}
    exercises = [one for one in lesson.exercises if not one.manual]
    for one in exercises:
        title, source = _answer(one, bank, _PROFILES[profile][1], pick)
        answers[one.name] = title
        if source:
            put_source(notebook, one.answer_id, source)
    for one in (one for one in lesson.exercises if one.manual and not one.is_task):
        # Drawn apart: a question in words changes nothing in the other answers of a class.
        own = random.Random(f"{seed}/words/{one.name}/{student}")
        title, source = _read_by_a_person(one, _PROFILES[profile][1], own)
        answers[one.name] = title
        put_source(notebook, one.answer_id, source)
    fault = faulty.get(student)
    if fault is None:
        return saved_notebook(notebook), SimulatedSubmission(
            student, lesson.slug, profile, None, answers
        )
    hit = pick.choice(exercises)
    answers[hit.name] = fault
    content = FAULTS[fault](notebook, hit)
    return content, SimulatedSubmission(student, lesson.slug, profile, fault, answers)


def _answer(
    one: Exercise, bank: Sequence[BankAnswer], often: tuple[int, int, int], pick: random.Random
) -> tuple[str, str]:
    """Return the title and the source of an answer; no source means that the stub stays."""
    kind = pick.choices(["right", "wrong", "slip", "stub"], [*often, 100 - sum(often)])[0]
    if kind == "slip":
        slip = pick.choice(list(SLIPS))
        return slip, slipped(slip, one)
    fitting = [each for each in bank if each.exercise == one.name and each.kind == kind]
    if not fitting:
        return "stub", ""
    chosen = pick.choice(fitting)
    return chosen.title, chosen.source


def _read_by_a_person(
    one: Exercise, often: tuple[int, int, int], pick: random.Random
) -> tuple[str, str]:
    """Return the title and the source of an answer that a person grades, made from the model."""
    kind = pick.choices(["right", "wrong", "slip", "stub"], [*often, 100 - sum(often)])[0]
    if kind == "stub":
        return "stub", one.stub
    _, inside = split_regions(one.answer_source, SOLUTION)
    model = "\n".join(inside).partition(MARKING)[0].strip()
    if kind == "right" or not one.words:
        return "the model answer", model
    found = _FIRST_SENTENCE.match(model)
    return "its first sentence", found[0] if found else model


def _hand_in(
    out: Path, lesson: Lesson, one: SimulatedSubmission, content: bytes, seed: int
) -> SimulatedSubmission:
    """Write a submission; what was made, with the digest of its files."""
    folder = out / "submitted" / one.student / lesson.slug
    folder.mkdir(parents=True)
    (folder / f"{lesson.slug}.ipynb").write_bytes(content)
    for data in lesson.data_files:
        target = folder / data.relative_to(lesson.source.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(data, target)
    early = random.Random(f"{seed}/time/{lesson.slug}/{one.student}").randrange(60 * 24 * 4)
    moment = _DUE - timedelta(minutes=early)
    (folder / "timestamp.txt").write_text(f"{moment:%Y-%m-%d %H:%M:%S} UTC\n")
    return replace(one, digest=digest_of(folder))
