"""A feedback page says what was asked, what happened and why, and never what is hidden."""

from __future__ import annotations

import base64
import dataclasses
import html
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec.structs import replace
from PIL import Image

from autograder.answer_bank.bank import BankAnswer, bank_path, read_bank
from autograder.answer_bank.engine_runner import run_batched
from autograder.answer_bank.expectations import Case
from autograder.answer_bank.gate import RunCases, run_as_notebook
from autograder.errors import UnknownStudent
from autograder.lessons.claims import own_claims
from autograder.lessons.model import Lesson, all_lessons, find_lesson
from autograder.lessons.release import class_editions
from autograder.nbgrader_bridge.gradebook_entry import GradebookEntry
from autograder.records.model import CheckRecord, ExerciseRecord, Status
from autograder.reporting import feedback
from autograder.reporting.feedback import WITHHELD, hidden_in_tests, page_of, write_pages
from autograder.reporting.misconceptions import explanations
from course.inspection.facts import facts
from tests.autograder import tiny
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    answered,
    classroom,
    double,
    flatten,
    graded,
    hand_in,
    record,
)
from tests.autograder.engine.exam import engine

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.build(tmp_path_factory.mktemp("course"))


def page(course: Path, *exercises: ExerciseRecord, cells: Any = None, **about: Any) -> str:
    """The page of a record with these exercises."""
    lesson = find_lesson(course, SLUG)
    options = {key: about.pop(key) for key in ("stale", "entry") if key in about}
    found = record("ada", *exercises, **about)
    return page_of(found, lesson, explanations(course, lesson), cells or {}, **options)


def failing(**about: Any) -> ExerciseRecord:
    """`flatten` with one failed check and one that holds."""
    check = CheckRecord(**{"name": "it lives in the same storage", "passed": False} | about)
    return flatten(1.0, checks=(check, CheckRecord("the values are right", True)))


def cell(source: str, **output: str) -> dict[str, dict[str, Any]]:
    """The executed answer cell of `flatten`."""
    outputs = [output] if output else []
    return {"flatten": {"source": source, "outputs": outputs, "metadata": {}}}


def text_of(page: str) -> str:
    """What a reader sees of a page."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


# What it says.


def test_the_page_says_what_was_asked_and_what_the_learner_wrote(course: Path) -> None:
    found = text_of(page(course, failing(), cells=cell("def flatten(x): return x.clone()")))
    assert "Write flatten." in found
    assert "def flatten(x): return x.clone()" in found


def test_a_failed_visible_check_shows_both_values(course: Path) -> None:
    found = page(course, failing(message="It was copied.", actual="(6,)", expected="(3, 2)"))
    assert "It was copied." in found
    assert "<pre>(6,)</pre>" in found
    assert "<pre>(3, 2)</pre>" in found


def test_a_misconception_is_explained_with_rule_and_section(course: Path, tmp_path: Path) -> None:
    tiny.build(tmp_path)
    claims = own_claims(tmp_path, SLUG)
    claim = {"id": "c", "misconception": "order-of-memory", "fact": "Indices decide the order."}
    claim |= {"asked": "S?", "said": "S.", "verdict": "true", "proof": "x = 1", "shows": "x"}
    lines = "\n".join(f'{key} = "{value}"' for key, value in claim.items())
    claims.write_text(f"{claims.read_text()}\n[[claim]]\n{lines}\n")
    found = text_of(page(tmp_path, failing(misconception="order-of-memory")))
    assert "“Flattening follows memory order”" in found
    assert "Flattening follows the order of the indices." in found
    assert "The rule. Indices decide the order." in found
    assert "Read again: Flattening" in found


def test_the_section_to_read_again_is_part_of_the_page(course: Path) -> None:
    found = page(course, failing(misconception="order-of-memory"))
    assert 'href="#read-flattening"' in found
    assert 'id="read-flattening"' in found


def test_an_unknown_misconception_falls_back_to_its_own_words(course: Path) -> None:
    assert "“never-heard of”" not in page(course, failing(misconception="never-heard-of"))
    assert "“never heard of”" in text_of(page(course, failing(misconception="never-heard-of")))


def test_an_answer_that_raises_every_time_is_not_charged_with_beliefs(course: Path) -> None:
    about = {"misconception": "order-of-memory", "passed": False}
    checks = tuple(
        CheckRecord(f"check {i}", message="`flatten` ended with NameError: x", **about)
        for i in range(2)
    )
    assert "Perhaps you believe" not in page(course, flatten(0, checks=checks))


def test_an_exception_is_told_once_and_what_it_took_was_not_reached(course: Path) -> None:
    reason = "`flatten` ended with RuntimeError: no (line 2: `return x.view(-1)`)"
    taken = {"passed": False, "message": reason, "misconception": "view-of-anything"}
    first = CheckRecord("the first", passed=False, message=reason, call="flatten(torch.zeros(2))")
    checks = (first, CheckRecord("the second", **taken, reached=False), CheckRecord("more", True))
    shown = page(course, flatten(1.0, checks=checks))
    assert shown.count("no (line 2") == 1 and "<code>flatten(torch.zeros(2))</code>" in shown
    assert 'aria-label="not reached"' in shown and "the second: not reached" in shown
    assert "Perhaps you believe" not in shown


def test_a_slip_in_several_exercises_stands_where_to_begin(course: Path) -> None:
    message = "the result of `f`: it is a tensor of shape (), not the float 2.0"
    checks = (CheckRecord("it is right", False, message=message),)
    found = page(course, flatten(0, checks=checks), double(0, checks=checks))
    begin = text_of(found).partition("Begin here")[2].partition("Your exercises")[0]
    assert "A tensor stands where a Python number is asked for, in 2 exercises:" in begin
    assert found.count('<a href="#flatten">') == 2  # there, and in the list of exercises


def test_a_stub_is_not_attempted_and_reveals_no_belief(course: Path) -> None:
    one = flatten(0, attempted=False, checks=failing(misconception="order-of-memory").checks)
    found = text_of(page(course, one))
    assert "not attempted" in found
    assert "Perhaps you believe" not in found


@pytest.mark.parametrize("name", ["<ipython-input-a1eaee6f7040>", "1234567.py"])
def test_a_cell_that_could_not_run_shows_its_error_and_code(course: Path, name: str) -> None:
    message = f"expected ':' ({name}, line 1)"
    error = {"output_type": "error", "ename": "SyntaxError", "evalue": message}
    cells = cell("def flatten(x)\n    return x", **error)
    found = text_of(page(course, flatten(0, attempted=False), cells=cells))
    assert "could not be checked" in found
    assert "After your cell had run there was no flatten to check" in found
    assert "SyntaxError: expected ':' (line 1)" in found


@pytest.mark.parametrize("status", [one for one in Status if one is not Status.GRADED])
def test_every_status_is_explained_and_shows_no_bare_zero(course: Path, status: Status) -> None:
    found = text_of(
        page(
            course,
            flatten(0, status=status),
            double(0, status=status),
            status=status,
            notes=("the reason",),
        )
    )
    assert "no points were judged" in found
    assert "the reason" in found
    assert not re.search(r"\b0 (of|/) ", found)


def test_points_and_words_of_a_person_are_shown(course: Path) -> None:
    entry = GradebookEntry(
        student="ada",
        auto={"test-flatten": 1.0},
        points={"test-flatten": 3.5},
        manual=frozenset({"test-flatten"}),
        waiting=frozenset(),
        comments={"flatten": "Nearly <there>."},
        penalty=0.5,
        seconds_late=60.0,
        submitted_at=None,
    )
    found = page(course, failing(), entry=entry)
    assert "Nearly &lt;there&gt;." in found
    assert "3 of 4 points" in " ".join(text_of(found).split())  # 3.5, less 0.5 for being late


def test_a_newer_submission_is_mentioned(course: Path) -> None:
    assert "You handed in again" in page(course, failing(), stale=True)


def test_a_layout_check_is_drawn(course: Path) -> None:
    base = torch.arange(6.0).view(2, 3)
    layouts = tuple(facts(one).to_dict() for one in (base.t().contiguous(), base.t()))
    found = page(course, failing(layouts=layouts, actual="a", expected="b"))
    assert 'src="data:image/svg+xml' in found


def test_one_without_elements_is_drawn_however_large_its_other_sizes_are(course: Path) -> None:
    layout = facts(torch.empty(0, 1, 1).expand(0, 2**40, 2**40)).to_dict()
    found = page(course, failing(layouts=(layout, layout), actual="a", expected="b"))
    assert 'src="data:image/svg+xml' in found


@pytest.mark.parametrize(
    "layout", [{}, {"shape": [10**9], "itemsize": 4, "storage_nbytes": 4}, {"shape": "x"}]
)
def test_a_forged_layout_is_left_out(course: Path, layout: dict[str, Any]) -> None:
    assert "data:image" not in page(course, failing(layouts=(layout, layout)))


# What it never does.


def test_whatever_a_learner_wrote_is_escaped(course: Path) -> None:
    evil = "<script>alert(1)</script>"
    error = {"output_type": "error", "ename": evil, "evalue": evil}
    found = page(
        course,
        failing(name=evil, message=evil, actual=evil, expected=evil),
        cells=cell(evil, **error),
        notes=(evil,),
    )
    assert evil not in found
    assert html.escape(evil) in found


def test_a_page_needs_nothing_from_the_network(course: Path) -> None:
    found = page(course, failing(misconception="order-of-memory"))
    assert "default-src 'none'" in found
    assert not re.search(r"(src|href)=\"(https?:)?//", found)


BESIDE_ITS_TEST: list[dict[str, Any]] = [
    {"record": {"sandboxed": False}},
    {"record": {"runner": "stock"}},
    {"exercise": {"isolated": False}},
]


@pytest.mark.parametrize("about", BESIDE_ITS_TEST, ids=str)
def test_what_quotes_a_hidden_test_is_left_out_whole(course: Path, about: dict[str, Any]) -> None:
    (line, *_) = hidden_in_tests(find_lesson(course, SLUG).exercise("flatten")).lines
    error = {"output_type": "error", "ename": "ValueError", "evalue": f"guess 1\n{line}\nguess 2"}
    answer = cell("def flatten(x): steal()", **error)
    one = replace(failing(message="look here", actual="y"), **about.get("exercise", {}))
    found = page(course, one, cells=answer, **about.get("record", {}))
    assert (html.escape(line) in found, found.count(WITHHELD)) == (False, 1)
    assert not re.search("guess|look here", found)  # nobody learns which guess was right


def test_a_made_up_table_that_quotes_a_hidden_test_is_left_out_too(course: Path) -> None:
    (line, *_) = hidden_in_tests(find_lesson(course, SLUG).exercise("flatten")).lines
    for key in ("name", "message", "actual", "call", "misconception"):
        one = replace(failing(**{key: f"\x1b[1m{line}", "expected": "x"}), isolated=False)
        found = page(course, one)
        assert (html.escape(line) in found, found.count(WITHHELD)) == (False, 1)


def test_a_guess_is_not_confirmed_where_the_hidden_tests_ran_apart(course: Path) -> None:
    (line, *_) = hidden_in_tests(find_lesson(course, SLUG).exercise("flatten")).lines
    error = {"output_type": "error", "ename": "ValueError", "evalue": line}
    found = page(course, failing(message=line), cells=cell("def flatten(x): guess()", **error))
    assert (found.count(html.escape(line)), WITHHELD in found) == (2, False)


def test_values_of_a_hidden_check_are_not_shown_even_if_a_record_has_them(course: Path) -> None:
    found = page(course, failing(hidden=True, actual="[3, 1, 4]", expected="[1, 5, 9]"))
    assert "[3, 1, 4]" not in found
    assert "[1, 5, 9]" not in found


# In plain style the test of an exercise runs beside its answer.


def plain_page(course: Path, said: str, tests: str, **about: Any) -> str:
    """The page of who says this in `double`, where `tests` are those of `flatten` as it ran."""
    lesson = find_lesson(course, SLUG)
    test = lesson.exercise("flatten").test_id
    error = {"output_type": "error", "ename": "ValueError", "evalue": said}
    cells = {"double": {"source": "x = 1", "outputs": [error], "metadata": {}}}
    if tests:
        cells[test] = {"source": tests, "outputs": [], "metadata": {}}
    beside = [replace(one, isolated=False) for one in (flatten(1.0), double(1.0))]
    return page(course, *beside, cells=cells, **about)


def test_what_counts_is_the_test_as_it_was_when_it_ran(course: Path) -> None:
    line = "assert square(1763)==3108169"
    then = f"assert square(2)==4\n# BEGIN HIDDEN TESTS\n{line}\n# END HIDDEN TESTS"
    assert WITHHELD in plain_page(course, line, then)
    assert WITHHELD not in plain_page(course, line, "")
    assert WITHHELD not in plain_page(course, "assert square(2)==4", then)
    unreadable = f"{line}\n# END HIDDEN TESTS"
    assert WITHHELD in plain_page(course, line, unreadable)


def test_numbers_in_a_table_of_checks_are_mostly_its_own(course: Path) -> None:
    """Our tests make tables, also where they run beside the answer, as on macOS."""
    one = find_lesson(course, SLUG).exercise("double")
    then = "from course import Check\n# BEGIN HIDDEN TESTS\nf(4711, 47110)\n# END HIDDEN TESTS"
    cells = {one.test_id: {"source": then, "outputs": [], "metadata": {}}}
    for number, withheld in (("4711", False), ("47110", True)):
        checks = (CheckRecord("it is right", False, actual=number),)
        beside = replace(double(1.0, checks=checks), isolated=False)
        assert (WITHHELD in page(course, beside, cells=cells)) is withheld
    assert WITHHELD in plain_page(course, "4711", then.replace("double", "flatten"))


def test_what_only_the_solution_has_is_not_shown_to_anyone(course: Path) -> None:
    one = find_lesson(course, SLUG).exercise("flatten")
    (line, *_) = hidden_in_tests(one).lines
    solution = f"### BEGIN SOLUTION\n# tried: {line}\n### END SOLUTION"
    tried = dataclasses.replace(one, answer_source=f"{one.answer_source}\n{solution}")
    assert line in hidden_in_tests(tried).lines
    given = dataclasses.replace(one, answer_source=f"# {line}\n{one.answer_source}")
    assert line not in hidden_in_tests(given).lines


def spread(answers: Sequence[BankAnswer]) -> list[BankAnswer]:
    """An answer to each exercise, in turn the first, one from the middle and the last."""
    tried: dict[str, list[BankAnswer]] = {}
    for one in answers:
        tried.setdefault(one.exercise, []).append(one)
    return [found[(len(found) - 1) * (n % 3) // 2] for n, found in enumerate(tried.values())]


def bank_page(course: Path, lesson: Lesson, run: RunCases) -> tuple[str, str]:
    """The page of a learner who hands in answers of the bank, and what they wrote."""
    answers = spread(read_bank(bank_path(course, lesson.slug)))
    cases = [
        Case(lesson, lesson.exercise(a.exercise), a.kind, a.title, a.place, a.source, None)
        for a in answers
    ]
    results = run(cases)
    records = [
        result.record or ExerciseRecord(case.exercise.name, Status.CRASHED, 0.0, 1.0)
        for case, result in zip(cases, results, strict=True)
    ]
    cells = {
        case.exercise.answer_id: {"source": case.source, "outputs": [], "metadata": {}}
        for case in cases
    }
    one = replace(record("ada", *records), lesson=lesson.slug)
    wrote = "\n".join(case.source for case in cases)
    return page_of(one, lesson, explanations(course, lesson), cells), wrote


def assert_nothing_hidden(
    course: Path,
    lesson: Lesson,
    run: RunCases = run_as_notebook,
) -> None:
    # A line that also stands in what every learner got is no secret: `lambda: (`.
    released = json.loads(class_editions(course, [lesson])[f"{lesson.slug}/{lesson.slug}.ipynb"])
    public = "\n".join("".join(cell["source"]) for cell in released["cells"])
    # What a solution says as well, `raise IndexError`, a check's name may say in passing.
    public += "\n".join(one.answer_source for one in lesson.exercises)
    public += public.replace("`", "")  # as a page shows a task's words
    lines = [line for one in lesson.exercises for line in hidden_in_tests(one).lines]
    hidden = [line for line in lines if line not in public]
    assert len(hidden) >= 3
    found, own = bank_page(course, lesson, run)
    text = text_of(found)
    assert [line for line in hidden if line in text and line not in own] == []


def test_no_page_of_the_tiny_lesson_holds_a_hidden_line(course: Path) -> None:
    assert_nothing_hidden(course, find_lesson(course, SLUG))


@pytest.mark.exhaustive("feedback pages of every lesson")
@pytest.mark.each_lesson
@pytest.mark.parametrize("lesson", all_lessons(ROOT), ids=lambda lesson: lesson.slug)
def test_no_page_of_any_lesson_holds_a_hidden_line(lesson: Lesson) -> None:
    runner = engine(patient=True)
    assert_nothing_hidden(ROOT, lesson, lambda cases: run_batched(cases, runner))


# The command.


def test_the_page_of_several_notebooks_is_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, lesson = classroom(tmp_path, "ada")
    graded(course)
    copies = [tmp_path / f"{name}.ipynb" for name in ("a #1", "b")]
    for copy in copies:
        copy.write_bytes(lesson.source.read_bytes())
    parts = tuple(dataclasses.replace(lesson, source=copy) for copy in copies)
    several = dataclasses.replace(lesson, source=copies[0], parts=parts)
    rows = feedback.graded_rows(course, lesson)
    monkeypatch.setattr(feedback, "graded_rows", lambda *about: rows)
    (path,) = write_pages(course, several)
    assert path.name == "a #1.html"
    other = path.with_name("b.html").read_text()
    assert '<a href="a%20%231.html">a #1.html</a>' in other
    assert "Your exercises" not in other


def test_a_page_shows_so_many_pictures_and_names_the_others(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views = {"source": "see", "outputs": [], "metadata": {}}
    drawn = io.BytesIO()
    Image.new("RGB", (1, 1)).save(drawn, "PNG")
    png = base64.b64encode(drawn.getvalue()).decode()
    both = {**views, "attachments": {n: {"image/png": png} for n in ("a.png", "b.png")}}
    monkeypatch.setattr(feedback, "_PICTURE_CHARS", 150)
    lesson = find_lesson(course, SLUG)
    by_hand = dataclasses.replace(lesson.exercise("flatten"), manual=True)
    asked = dataclasses.replace(lesson, exercises=(by_hand,))
    found = page_of(record("ada", flatten(1.0)), asked, {}, {"flatten": both})
    assert found.count("data:image/png") == 1
    assert "b.png: a drawing (SVG), a very large picture, or one too many" in found


def test_pages_are_written_where_nbgrader_releases_feedback_from(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "ada", "bob")
    graded(course)
    paths = write_pages(course, lesson)
    assert paths == [tmp_path / "feedback" / n / SLUG / f"{SLUG}.html" for n in ("ada", "bob")]
    assert "feedback for ada" in paths[0].read_text()


def test_a_page_shows_the_code_that_was_executed(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path)
    hand_in(tmp_path, "ada", answered())
    graded(course, FakeRunner())
    (path,) = write_pages(course, lesson)
    assert "secret_of_flatten" in path.read_text()  # the fake runner executes the source


def test_someone_who_was_never_graded_is_named(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "ada")
    graded(course)
    with pytest.raises(UnknownStudent, match=r"(?s)'aba'.*Did you mean ada"):
        feedback.run(tmp_path, (lesson,), student="aba")


def test_without_grades_the_remedy_is_to_grade(tmp_path: Path) -> None:
    _, lesson = classroom(tmp_path, "ada")
    with pytest.raises(UnknownStudent, match="Run `autograder grade` first"):
        feedback.run(tmp_path, (lesson,))


def test_the_command_lists_pages_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course, lesson = classroom(tmp_path, "ada")
    graded(course)
    assert feedback.run(tmp_path, (lesson,), as_json=True) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert Path(found["page"]).is_file()
