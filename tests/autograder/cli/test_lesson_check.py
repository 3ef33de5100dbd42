"""`check` looks at every part of a lesson, and says in its last line what is left."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from autograder.answer_bank.gate import ExerciseGate, Gate, GateReport, Miss
from autograder.cli import main
from autograder.cli.lesson_check import LessonCheck, check_lessons
from autograder.lessons.authoring.tidy import tidied, tidy
from autograder.lessons.model import all_lessons
from autograder.lessons.release import build_release, stable_bytes, write_release
from tests.autograder import tiny

MISS = Miss("wrong", "always copies", "bank.py:9", "it gets all 4 points")
SOUND = ["form", "claims", "answers", "release", "shows"]


def accepting(gates: Sequence[Gate]) -> GateReport:
    return GateReport((ExerciseGate("01-tiny", "flatten", (2, 2), (5, 5), ()),))


def missing(gates: Sequence[Gate]) -> GateReport:
    return GateReport((ExerciseGate("01-tiny", "flatten", (2, 2), (4, 5), (MISS,)),))


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    course = tiny.build(tmp_path_factory.mktemp("released"))
    return build_release(course, all_lessons(course))


@pytest.fixture
def course(tmp_path: Path, released: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> Path:
    course = tiny.build(tmp_path)
    tidy(course / "source/01-tiny/01-tiny.ipynb")
    write_release(course, released)
    monkeypatch.setattr("autograder.cli.lesson_check.build_release", lambda *_: released)
    return course


def look(course: Path, answers: object = accepting) -> LessonCheck:
    (found,) = check_lessons(course, all_lessons(course), answers)  # type: ignore[arg-type]
    return found


def failed(found: LessonCheck) -> list[str]:
    return [part.name for part in found.parts if not part.ok]


def test_where_everything_holds_the_last_line_says_so(course: Path) -> None:
    found = look(course)
    assert [part.name for part in found.parts] == SOUND
    assert (found.ok, found.closing) == (True, "01-tiny: everything holds.")


def test_a_broken_rule_is_told_and_keeps_only_the_release_from_being_looked_at(
    course: Path,
) -> None:
    notebook = tiny.notebook()
    notebook["cells"][2]["source"] += " ✎"
    tiny.write(course, stable_bytes(tidied(notebook)).decode())
    found = look(course)
    assert failed(found) == ["form", "release"]
    assert "it is not written yet: ## Flattening ✎" in found.parts[0].findings[0]
    assert found.closing == "01-tiny: not yet. To mend: form, release."


def test_what_an_editor_left_is_told_with_the_command_that_takes_it_out(course: Path) -> None:
    tiny.write(course, tiny.notebook())
    found = look(course)
    assert failed(found) == ["form"]
    assert found.parts[0].findings[0].endswith("order of keys\n  Run `autograder tidy 01`.")


def test_a_claim_that_is_false_is_told(course: Path) -> None:
    claim = '[[claim]]\nid = "c"\nasked = "A?"\nsaid = "S."\nverdict = "true"\nfact = "F."\n'
    (course / "course/lessons/tiny/claims.toml").write_text(
        tiny.claims(claim + 'proof = "x = 1"\nshows = "x == 2"\n')
    )
    notebook = tiny.notebook()
    notebook["cells"].insert(3, tiny.code("predict-c", 'predict("c")'))
    tiny.write(course, stable_bytes(tidied(notebook)).decode())
    found = look(course)
    assert failed(found) == ["claims"]
    assert found.parts[1].summary == "1 claim, 1 proof run, 1 failed"


def test_claims_that_cannot_be_read_keep_no_answer_from_being_tried(course: Path) -> None:
    (course / "course/lessons/tiny/claims.toml").write_text(tiny.claims("[[claims]]"))
    found = look(course)
    assert failed(found) == ["form", "claims", "release"]
    assert "unknown table 'claims'" in found.parts[1].findings[0]


def test_an_answer_that_misses_is_told(course: Path) -> None:
    found = look(course, missing)
    assert failed(found) == ["answers"]
    assert found.parts[2].misses[0].misses == (MISS,)


def test_a_bank_that_cannot_be_read_is_told(course: Path) -> None:
    (course / "autograder/answers/01-tiny.py").write_text("# %% wrogn flatten: t\n")
    found = look(course)
    assert failed(found) == ["answers"]
    assert "not 'wrogn'" in found.parts[2].findings[0]


def test_a_release_that_is_not_what_the_source_gives_is_told(course: Path) -> None:
    (course / "release/01-tiny/01-tiny.ipynb").write_text("{}")
    (course / "release/notes.txt").write_text("of nobody's lesson")
    part = look(course).parts[3]
    assert part.findings == ("release/01-tiny/01-tiny.ipynb: changed",)
    assert part.summary.endswith("run `autograder release 01`")


@pytest.mark.exhaustive("cells that do more than show")
def test_a_cell_that_does_more_than_show_is_told(course: Path) -> None:
    notebook = tiny.notebook()
    more = {"course": {"role": "measure", "shows": True}}
    draws = {**tiny.code("draws", "torch.rand(2)"), "metadata": more}
    notebook["cells"].insert(3, draws)
    tiny.write(course, stable_bytes(tidied(notebook)).decode())
    part = look(course).parts[4]
    assert (part.ok, part.summary) == (False, "1 cell marked, 1 wrongly")
    assert "cell draws says that it draws 0 random numbers, but it draws 2" in part.findings[0]


def test_the_command_prints_a_line_a_part_and_each_finding(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "autograder.answer_bank.gate_runs.try_answers", lambda _, gates, **__: (missing(gates), "")
    )
    assert main.main(["check", "--course", str(course)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "01-tiny",
        "  ✓ form     13 cells, 2 exercises",
        "  ✓ claims   0 claims, 0 proofs run, 0 failed",
        "  ✗ answers  exercises 1 · right accepted 2/2 · wrong rejected 4/5",
        "      ✗ flatten  right 2/2 · wrong 4/5",
        "          bank.py:9: wrong, always copies: it gets all 4 points",
        "  ✓ release  it is what the source gives",
        "  ✓ shows    0 cells marked, 0 wrongly",
        "01-tiny: not yet. To mend: answers.",
    ]


def test_the_command_speaks_json(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "autograder.answer_bank.gate_runs.try_answers",
        lambda _, gates, **__: (accepting(gates), ""),
    )
    assert main.main(["check", "--json", "--course", str(course)]) == 0
    (summary,) = json.loads(capsys.readouterr().out)
    assert (summary["lesson"], summary["ok"]) == ("01-tiny", True)
