"""Lesson 05: it teaches what it promises, and what its texts say is what PyTorch does."""

from __future__ import annotations

import ast
import copy
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.autograd import Variable

from autograder.lessons import find_lesson
from autograder.notebooks import anchor
from autograder.regions import without_markers
from autograder.trial import Trial, TrialResult, run_trials
from course import same_storage
from course.claims import claims, misconceptions

ROOT = Path(__file__).parents[2]
SLUG = "05-autograd"
LESSON = find_lesson(ROOT, SLUG)
TOPICS = {
    *("000-20", "000-23", "001-01", "001-08", "002-28"),
    *("002-42", "002-43", "002-48", "002-51", "002-76"),
}


def cells() -> dict[str, dict[str, Any]]:
    """The cells of the source notebook by id."""
    return {cell["id"]: cell for cell in LESSON.cells()}


def course_of(cell: dict[str, Any]) -> dict[str, Any]:
    """The course's metadata of a cell."""
    found: dict[str, Any] = cell["metadata"].get("course", {})
    return found


def leaf(*numbers: float) -> torch.Tensor:
    """A leaf that requires grad."""
    return torch.tensor(numbers, requires_grad=True)


def gradient_of(tensor: torch.Tensor) -> list[float]:
    """What is in the tensor's .grad, which must be there."""
    assert tensor.grad is not None
    found: list[float] = tensor.grad.tolist()
    return found


@pytest.fixture(scope="module")
def tables() -> dict[str, TrialResult]:
    """The check table of each exercise, with the source's own solution."""
    setup = cells()["setup"]["source"]
    trials = [
        Trial(setup, without_markers(one.answer_source), one.test_source, one.points)
        for one in LESSON.exercises
    ]
    results = run_trials(trials)
    return {one.name: result for one, result in zip(LESSON.exercises, results, strict=True)}


def test_every_topic_has_its_section() -> None:
    taught = [topic for cell in cells().values() for topic in course_of(cell).get("topics", [])]
    assert set(taught) == TOPICS


def test_every_claim_is_predicted_or_judged() -> None:
    used = [name for cell in cells().values() for name in course_of(cell).get("claims", [])]
    assert sorted(used) == sorted(claim.id for claim in claims(SLUG))


def test_a_quiz_cell_names_the_claim_that_it_asks_about() -> None:
    asking = [cell for cell in cells().values() if course_of(cell).get("role") == "predict"]
    asked = [re.findall(r'predict\("([^"]+)"\)', cell["source"]) for cell in asking]
    assert asked == [course_of(cell)["claims"] for cell in asking]


def test_every_misconception_points_to_a_section_of_the_lesson() -> None:
    sections = {anchor(heading) for heading in LESSON.sections.values()}
    assert {known.section for known in misconceptions(SLUG)} <= sections


def test_every_misconception_can_be_revealed_by_a_check() -> None:
    tests = "".join(exercise.test_source for exercise in LESSON.exercises)
    silent = [known.id for known in misconceptions(SLUG) if f'"{known.id}"' not in tests]
    assert silent == []


def test_there_are_nine_exercises_from_easy_to_hard() -> None:
    levels = [exercise.difficulty for exercise in LESSON.exercises]
    assert len(levels) == 9
    assert levels[0] == 1
    assert set(levels) == {1, 2, 3}


@pytest.mark.parametrize("exercise", [exercise.name for exercise in LESSON.exercises])
def test_a_table_has_eight_checks_of_which_three_are_hidden(
    tables: dict[str, TrialResult], exercise: str
) -> None:
    record = tables[exercise].record
    assert record is not None
    assert len(record.checks) >= 8
    assert sum(check.hidden for check in record.checks) >= 3
    assert record.score == record.max


def test_cells_are_short_enough_to_read() -> None:
    texts = [c for c in cells().values() if course_of(c).get("role") == "text"]
    words = {c["id"]: len(c["source"].split()) for c in texts if "|---" not in c["source"]}
    codes = [c for c in cells().values() if course_of(c).get("role") in ("measure", "figure")]
    lines = {c["id"]: c["source"].count("\n") + 1 for c in codes}
    assert [name for name, count in words.items() if count > 85] == []
    assert [name for name, count in lines.items() if count > 11] == []


def assigned(source: str) -> set[str]:
    """The names that a cell binds at its top level, as far as plain assignments do."""
    body = ast.parse(source).body
    targets = [t for step in body if isinstance(step, ast.Assign) for t in step.targets]
    names = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return names | {step.name for step in body if isinstance(step, ast.FunctionDef)}


def test_no_test_cell_rebinds_a_tensor_that_later_cells_use() -> None:
    codes = [c for c in cells().values() if c["cell_type"] == "code"]
    tests = [c for c in codes if c["id"].startswith("test-")]
    shown = [c for c in codes if course_of(c).get("role") in ("measure", "figure")]
    bound = set().union(*(assigned(c["source"]) for c in tests))
    kept = {"w", "x", "b", "h", "v", "y", "first", "w1", "w2", "number", "tensor"}
    assert kept <= set().union(*(assigned(c["source"]) for c in shown))
    assert bound & kept == set()


# --- what the texts say -------------------------------------------------------------------------


def test_the_verdicts_of_the_summary_are_those_of_the_claims() -> None:
    rows = re.findall(r"^\| (\w+) \| (.*) \|$", cells()["claims-judged"]["source"], flags=re.M)
    told = {verdict: len(words.split(" · ")) for verdict, words in rows if verdict != "verdict"}
    found = [claim.verdict for claim in claims(SLUG)]
    assert told == {verdict: found.count(verdict) for verdict in set(found)}


def test_a_view_made_under_no_grad_asks_for_a_gradient_and_gets_none() -> None:
    w = leaf(1.0, 2.0)
    with torch.no_grad():
        views = [w[:1], w.view(2, 1), w.t(), w.expand(3, 2)]
    for view in views:
        assert (view.requires_grad, view.grad_fn) == (True, None)
        (view * 3).sum().backward()
    assert w.grad is None


def test_a_wrapped_tensor_is_a_detached_one() -> None:
    product = leaf(1.0) * 2
    wrapped = Variable(product)
    assert (wrapped.grad_fn, wrapped.requires_grad) == (None, False)
    assert same_storage(wrapped, product)
    wrapped.add_(1)
    assert product._version == 1


def test_a_loss_has_no_element_zero() -> None:
    with pytest.raises(IndexError, match=r"Use `tensor.item\(\)`"):
        leaf(1.0).sum().data[0]


def test_detach_shares_the_version_and_data_does_not() -> None:
    h = torch.ones(2)
    h.detach().add_(1)
    assert h._version == 1
    h.data.add_(1)
    assert h._version == 1


def test_a_retained_gradient_that_never_came_is_read_without_a_warning() -> None:
    h = leaf(1.0) * 2
    h.sum().backward()
    h.retain_grad()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert h.grad is None


def test_a_graph_that_saved_nothing_can_be_walked_again() -> None:
    w = leaf(1.0)
    loss = (w + 1).sum()
    loss.backward()
    loss.backward()
    assert gradient_of(w) == [2.0]


def test_a_hook_on_a_leaf_runs_before_the_gradient_is_added_and_a_post_hook_after() -> None:
    w = leaf(1.0)
    seen: list[object] = []
    w.register_post_accumulate_grad_hook(lambda p: seen.append(gradient_of(p)))
    w.register_hook(lambda _: seen.append(w.grad))
    (w * 2).sum().backward()
    assert seen == [None, [2.0]]


def test_a_hook_that_writes_spoils_its_neighbours_gradient() -> None:
    a, b = leaf(1.0, 1.0), leaf(1.0, 1.0)
    neighbour = b * 1
    view = a.view_as(a)
    view.register_hook(lambda g: g.neg_())
    ((neighbour + view) * torch.tensor([2.0, 3.0])).sum().backward()
    assert gradient_of(b) == [-2.0, -3.0]


def test_recording_can_be_switched_on_inside_a_block_and_ends_with_it() -> None:
    w = leaf(1.0)
    with torch.no_grad():
        with torch.enable_grad():
            inside = w * 2
        after = w * 2
    assert (inside.requires_grad, after.requires_grad) == (True, False)


def test_cpu_returns_a_tensor_of_the_cpu_as_it_is() -> None:
    x = torch.ones(2)
    assert x.cpu() is x


def test_a_deep_copy_takes_the_gradient_along_and_refuses_intermediates() -> None:
    w = leaf(1.0)
    w.sum().backward()
    assert gradient_of(copy.deepcopy(w)) == [1.0]
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(w * 2)


def test_gradcheck_needs_double_precision() -> None:
    def function(u: torch.Tensor) -> torch.Tensor:
        return (u**3).sin().sum()

    u = leaf(0.5, 2.0)
    assert torch.autograd.gradcheck(function, u.detach().double().requires_grad_())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not torch.autograd.gradcheck(function, u, raise_exception=False)
