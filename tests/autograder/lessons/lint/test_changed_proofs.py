"""A proof runs when it changed; one that fails is named, whatever it does to its process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.lessons.lint.proofs import changed
from autograder.lessons.lint.proofs.changed import Proved, not_run, prove_changed
from autograder.lessons.model import Lesson, find_lesson
from tests.autograder import tiny

CLAIM = """
[[claim]]
id = "{}"
asked = "Does it hold?"
said = "It holds."
verdict = "true"
fact = "It does."
proof = '''
{}
'''
shows = "{}"
"""
FALSE, RAISING = ("false", "x = 1", "x == 2"), ("raising", "x = 1\n1 / 0", "x")
SOUND, EMPTY = ("sound", "x = torch.arange(3)", "len(x) == 3"), ("empty", "x = 1", "True")
LEAVING, ENDLESS = ("leaving", "os._exit(3)", "x"), ("endless", "while True: time.sleep(1)", "x")
SYSTEM = "print('to nobody')\nos.write(1, b'{}')\nx = 1"


def lesson_with(course: Path, *claims: tuple[str, str, str]) -> Lesson:
    tiny.build(course)
    path = course / "course/lessons/tiny/claims.toml"
    path.write_text('lesson = "01-tiny"\n' + "".join(CLAIM.format(*claim) for claim in claims))
    return find_lesson(course, "1")


def causes(proved: Proved) -> list[str]:
    return [one.cause for one in proved.failed]


@pytest.fixture(autouse=True, scope="module")
def _kept_in_the_course() -> Iterator[None]:
    """As on a developer's machine: in CI nothing is kept, or all of it elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)
        patch.delenv("KEEP_RESULTS", raising=False)
        yield


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("course")


@pytest.fixture(scope="module")
def first(course: Path) -> Proved:
    lesson = lesson_with(course, FALSE, SOUND, RAISING, LEAVING, EMPTY, ("print", SYSTEM, "x == 1"))
    return prove_changed(course, lesson)


def test_what_fails_is_told_with_its_reason(first: Proved) -> None:
    assert causes(first) == [
        "its proof does not hold: x == 2, but x = 1",
        "its proof raised ZeroDivisionError in line 2: division by zero",
        "its process ended with 3",
        "it shows nothing: True names no result",
    ]


def test_a_process_that_ends_costs_its_own_proof_alone(first: Proved) -> None:
    assert (first.claims, first.ran) == (6, 6)


def test_a_failed_proof_is_named_with_its_file(first: Proved, course: Path) -> None:
    assert first.failed[0].place == f"{course}/course/lessons/tiny/claims.toml, claim false"


@pytest.mark.exhaustive("proofs that run again")
def test_what_held_is_not_run_again_and_what_failed_is(first: Proved, course: Path) -> None:
    ran: list[str] = []
    again = prove_changed(course, find_lesson(course, "1"), done=ran.append)
    assert (again.ran, ran) == (4, ["false", "raising", "leaving", "empty"])


@pytest.mark.exhaustive("proofs that run again")
def test_a_proof_that_changed_is_run_again(tmp_path: Path) -> None:
    assert prove_changed(tmp_path, lesson_with(tmp_path, SOUND)).ran == 1
    assert prove_changed(tmp_path, lesson_with(tmp_path, SOUND)).ran == 0
    other = lesson_with(tmp_path, (SOUND[0], SOUND[1], "len(x) == 4"))
    assert causes(prove_changed(tmp_path, other))[0].startswith("its proof does not hold")


@pytest.mark.exhaustive("proofs that never end")
def test_a_proof_that_never_ends_is_stopped(tmp_path: Path) -> None:
    found = prove_changed(tmp_path, lesson_with(tmp_path, ENDLESS), limit_s=15)
    assert causes(found) == ["it ran past the time limit"]


@pytest.mark.exhaustive("a damaged memory of proofs")
def test_a_memory_that_cannot_be_read_is_no_memory(tmp_path: Path) -> None:
    lesson = lesson_with(tmp_path, SOUND)
    assert prove_changed(tmp_path, lesson).ran == 1
    (kept,) = (tmp_path / ".autograder/kept").iterdir()
    kept.write_text("[")
    assert prove_changed(tmp_path, lesson).ran == 1


@pytest.mark.exhaustive("proofs that run again")
def test_a_change_behind_a_proof_has_it_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = lesson_with(tmp_path, SOUND)
    assert prove_changed(tmp_path, lesson).ran == 1
    (tmp_path / "helper.py").write_text("x = 1")
    name = "autograder.lessons.lint.proofs.results.modules_behind"
    monkeypatch.setattr(name, lambda *_: frozenset({tmp_path / "helper.py"}))
    assert [prove_changed(tmp_path, lesson).ran for _ in range(2)] == [1, 0]


@pytest.mark.exhaustive("proofs without their package")
def test_a_proof_whose_package_is_not_installed_has_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changed, "find_spec", lambda name: None)
    lesson = lesson_with(tmp_path, SOUND)
    path = tmp_path / "course/lessons/tiny/claims.toml"
    path.write_text(path.read_text() + 'needs = "wandb"\n')
    found = prove_changed(tmp_path, lesson)
    assert found == Proved(1, 0, (), ("wandb",))
    assert not_run(found.lacking).startswith("1 not run, for want of wandb: `pip install -e")
    assert not_run(()) == ""
    monkeypatch.undo()
    path.write_text(path.read_text().replace('needs = "wandb"\n', ""))
    assert prove_changed(tmp_path, lesson).ran == 1
