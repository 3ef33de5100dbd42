"""A slip of the pen in every gap of a lesson names nothing that somebody may believe."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from autograder.answer_bank.engine_runner import run_batched
from autograder.answer_bank.expectations import Case
from autograder.engine import EngineRunner, Limits
from autograder.lessons.model import lesson_paths, read_lesson
from autograder.lessons.regions import without_markers
from tests.exhaustive import sampled

ROOT = Path(__file__).parents[2]
SLIPS = ("torch.no_such_function()", "no_such_name")
pytestmark = pytest.mark.needs("sandbox")


class Slip(ast.NodeTransformer):
    """Every function of an answer comes to nothing but a name that does not exist."""

    def __init__(self, source: str) -> None:
        self.body = ast.parse(source).body

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = self.body
        return node


WHY = "a typo in every gap"


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineRunner]:
    """One for all lessons: its start costs more than the two submissions of a lesson."""
    with closing(EngineRunner(1, limits=Limits(cell_s=20.0), hide=(ROOT,))) as engine:
        yield engine


@pytest.mark.each_lesson
@pytest.mark.parametrize(
    "slug", sampled(list(lesson_paths(ROOT)), "07-modules", "09-dataloader", why=WHY)
)
def test_a_misspelt_name_in_every_gap_names_no_belief(slug: str, engine: EngineRunner) -> None:
    lesson = read_lesson(lesson_paths(ROOT)[slug])
    cases = [
        Case(lesson, one, "wrong", slip, "", ast.unparse(Slip(slip).visit(ast.parse(answer))))
        for one in lesson.exercises
        if not one.manual
        for answer in [without_markers(one.answer_source)]
        for slip in SLIPS
    ]
    results = run_batched(cases, engine)
    records = [one.record for one in results if one.record is not None]
    assert len(records) == len(cases) > 0
    assert any(check.attempted and not check.passed for one in records for check in one.checks)
    named = {
        (case.exercise.name, check.misconception)
        for case, one in zip(cases, records, strict=True)
        for check in one.checks
        if not check.passed
    }
    assert {belief for _, belief in named} == {None}, named
