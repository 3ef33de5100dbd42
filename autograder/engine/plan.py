"""What is done with each cell of a repaired notebook, decided before anything runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Self

from autograder.lessons.asking import Asking, asking_in, asks_for_answers
from autograder.lessons.cell_dependencies.shared_snapshots import snapshot_places
from autograder.lessons.cell_dependencies.unneeded_cells import ShownCells
from autograder.lessons.cells import RawCell, grader, is_answer, is_test
from autograder.lessons.regions import HIDDEN, USUAL_MARKS, Marks, with_usual_marks

SETUP_ID = "setup"


class CellKind(Enum):
    """What a cell is to the engine."""

    TEXT = auto()  # not executed
    RUN = auto()  # executed in the student process
    TEST = auto()  # executed in the checker process
    SHOWN = auto()  # a cell of the lesson that only shows: what the learner saw is kept
    PLAIN_TEST = auto()  # one that does not ask with `answer`: executed beside the answer


@dataclass(frozen=True)
class Step:
    """One cell of the notebook: its number, its part, its text and its grade id.

    A cell that is not executed because it only shows `draws` so many random numbers where it is.
    """

    index: int
    kind: CellKind
    source: str
    grade_id: str
    points: float = 0.0
    draws: int = 0

    @property
    def name(self) -> str:
        """How a note names the cell."""
        return f"`{self.grade_id}`" if self.grade_id else f"Cell {self.index + 1}"


@dataclass(frozen=True)
class FormOfTests:
    """How the test cells of a lesson are written: how they ask, and what marks hidden ones."""

    asking: Asking
    marks: Marks

    @classmethod
    def of(cls, cells: Iterable[RawCell], marks: Marks = USUAL_MARKS) -> Self:
        """The form of the tests in the cells of a source."""
        return cls(asking_in(cells), marks)


def plan(
    cells: Iterable[RawCell], form: FormOfTests, shown: ShownCells | None = None
) -> tuple[Step, ...]:
    """The steps of a notebook.

    Args:
        cells: The cells of a repaired notebook.
        form: That of the lesson's tests.
        shown: The lesson's cells that only show; where they are given, the ones that nothing in
            this notebook needs are not to be executed.

    Returns:
        One step a cell, in their order; `Step.index` is the cell's position.
    """
    cells = tuple(cells)
    steps = tuple(_step(index, cell, form) for index, cell in enumerate(cells))
    if shown is None:
        return steps
    apart = {step.index for step in steps if step.kind is CellKind.TEST}
    left_out = shown.left_out(cells, apart)
    return tuple(_left_out(step, shown) if step.index in left_out else step for step in steps)


def _left_out(step: Step, lesson: ShownCells) -> Step:
    return replace(step, kind=CellKind.SHOWN, draws=lesson.draws[step.source])


def snapshot_places_of(steps: Iterable[Step], shown: ShownCells | None) -> dict[int, int]:
    """For test cells the step at whose place each may look at the notebook."""
    if shown is None:
        return {}
    texts = dict[CellKind, dict[int, str]]()
    for step in steps:
        texts.setdefault(step.kind, {})[step.index] = step.source
    run = texts.get(CellKind.RUN, {}) | texts.get(CellKind.PLAIN_TEST, {})
    return snapshot_places(run, texts.get(CellKind.TEST, {}), shown)


def setup_source(cells: Iterable[RawCell]) -> str:
    """The text of the set-up cell, empty where there is none."""
    found = (c["source"] for c in cells if grader(c).get("grade_id") == SETUP_ID and not is_test(c))
    return next(found, "")


def _step(index: int, cell: RawCell, form: FormOfTests) -> Step:
    about, source = grader(cell), cell["source"]
    grade_id = str(about.get("grade_id", "")) if about else ""
    points = about.get("points")
    weight = float(points) if isinstance(points, int | float) else 0.0
    kind = _kind(cell, source, form.asking)
    if kind in (CellKind.TEST, CellKind.PLAIN_TEST):
        source = with_usual_marks(source, HIDDEN, form.marks)
    return Step(index, kind, source, grade_id, weight)


def _kind(cell: RawCell, source: str, asking: Asking) -> CellKind:
    if cell["cell_type"] != "code":
        return CellKind.TEXT
    if is_test(cell) and not is_answer(cell):
        return CellKind.TEST if asks_for_answers(source, asking) else CellKind.PLAIN_TEST
    return CellKind.RUN
