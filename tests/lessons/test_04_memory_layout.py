"""Lesson 04: it teaches what it promises, and the numbers in its texts are PyTorch's."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.lessons import find_lesson
from autograder.notebooks import anchor
from autograder.regions import without_markers
from autograder.trial import Trial, TrialResult, run_trials
from course import same_storage
from course.claims import claims, misconceptions

ROOT = Path(__file__).parents[2]
SLUG = "04-memory-layout"
LESSON = find_lesson(ROOT, SLUG)
EXERCISES = [one for one in LESSON.exercises if not one.manual]
TOPICS = {
    *(f"000-{number:02}" for number in range(1, 11)),
    *("001-05", "002-08", "004-04", "004-13"),
}


def cells() -> dict[str, dict[str, Any]]:
    """The cells of the source notebook by id."""
    return {cell["id"]: cell for cell in LESSON.cells()}


def course_of(cell: dict[str, Any]) -> dict[str, Any]:
    """The course's metadata of a cell."""
    found: dict[str, Any] = cell["metadata"].get("course", {})
    return found


def solved(name: str) -> dict[str, Any]:
    """What the source's own solution of an exercise defines."""
    names: dict[str, Any] = {}
    for source in (cells()["setup"]["source"], cells()[name]["source"]):
        exec(without_markers(source), names)
    return names


@pytest.fixture(scope="module")
def tables() -> dict[str, TrialResult]:
    """The check table of each exercise, with the source's own solution."""
    setup = cells()["setup"]["source"]
    trials = [
        Trial(setup, without_markers(one.answer_source), one.test_source, one.points)
        for one in EXERCISES
    ]
    results = run_trials(trials)
    return {one.name: result for one, result in zip(EXERCISES, results, strict=True)}


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
    tests = "".join(exercise.test_source for exercise in EXERCISES)
    silent = [known.id for known in misconceptions(SLUG) if f'"{known.id}"' not in tests]
    assert silent == []


def test_there_are_ten_exercises_from_easy_to_hard() -> None:
    levels = [exercise.difficulty for exercise in EXERCISES]
    assert len(levels) == 10
    assert levels[0] == 1
    assert set(levels) == {1, 2, 3}


@pytest.mark.parametrize("exercise", [exercise.name for exercise in EXERCISES])
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
    assert [name for name, count in lines.items() if count > 8] == []


def rows_of_the_merge_table() -> list[tuple[tuple[int, ...], tuple[int, ...], bool]]:
    """Size, stride and whether `view(-1)` works, as the table says."""
    rows = re.findall(
        r"\| \((.*?)\) \| \((.*?)\) \| .*? \| (\w+) \|", cells()["merge-table"]["source"]
    )
    return [
        (tuple(json.loads(f"[{size}]")), tuple(json.loads(f"[{stride}]")), word == "works")
        for size, stride, word in rows
    ]


def test_the_table_of_the_merge_rule_is_true() -> None:
    rows = rows_of_the_merge_table()
    assert len(rows) == 6
    for size, stride, works in rows:
        x = torch.empty_strided(size, stride)
        assert same_storage(x, x.reshape(-1)) is works


def test_a_clone_closes_gaps_and_keeps_the_stride_order() -> None:
    gaps = torch.zeros(4, 6)[:, ::2].t()
    assert gaps.stride() == (2, 6)
    assert gaps.clone().stride() == (gaps + 1).stride() == (1, 3)


def test_channels_last_has_the_strides_that_the_text_names() -> None:
    images = torch.zeros(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert "(60, 1, 15, 3)" in cells()["channels-last"]["source"]
    assert images.stride() == images.relu().stride() == (images + 1).stride() == (60, 1, 15, 3)


def test_torch_refuses_some_writes_to_overlapping_elements_but_not_all() -> None:
    with pytest.raises(RuntimeError, match="more than one element"):
        torch.zeros(1).expand(3).add_(1)
    torch.arange(6).unfold(0, 3, 1).add_(1)


def test_the_wrong_view_of_the_image_exercise_is_harmless_where_the_solution_says() -> None:
    harmless = solved("hwc-to-chw")["view_is_harmless"]
    for h, w, c in itertools.product(range(1, 6), repeat=3):
        image = torch.arange(h * w * c).view(h, w, c)
        same = torch.equal(image.view(c, h, w), image.permute(2, 0, 1))
        assert harmless(h, w, c) is same


def test_three_of_the_twelve_folk_rules_hold() -> None:
    rules = re.findall(r'^\| `"(.+?)"` \|', cells()["folk-rules-task"]["source"], flags=re.M)
    judge = solved("folk-rules")["judge"]
    assert len(rules) == 12
    assert [rule for rule in rules if judge(rule) is None] == [
        "view shares",
        "same values",
        "flatten",
    ]


def test_the_product_with_a_transposed_weight_copies_nothing() -> None:
    weight, x = torch.zeros(2, 3), torch.zeros(5, 3)
    operators = solved("linear")["observe"](lambda: x @ weight.t()).operators
    assert operators == ("aten::t", "aten::mm")


# --- the question in words ------------------------------------------------------------------------


def heads_in_rows(texts: int, heads: int, tokens: int) -> tuple[bool, torch.Tensor]:
    """Whether the lines of the question copy, and the rows that they give."""
    x = torch.arange(texts * tokens * heads * 4).view(texts, tokens, heads * 4)
    rows = x.view(texts, tokens, heads, 4).transpose(1, 2).reshape(texts * heads, tokens, 4)
    return not same_storage(x, rows), rows


def test_the_model_answer_has_the_numbers_that_torch_has() -> None:
    model = cells()["why-this-copies"]["source"]
    copied, rows = heads_in_rows(2, 3, 5)
    assert copied
    assert rows[:, 0, 0].tolist() == [0, 4, 8, 60, 64, 68]
    assert "0, 4, 8, 60, 64 and 68" in model
    heads = torch.arange(120).view(2, 5, 3, 4).transpose(1, 2)
    assert (heads.size(), heads.stride()) == ((2, 3, 5, 4), (60, 4, 12, 1))
    for one in ((1, 3, 5), (2, 1, 5), (2, 3, 1)):
        assert heads_in_rows(*one)[0] is False, one
