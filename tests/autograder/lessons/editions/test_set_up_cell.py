"""The set-up cell finds the package: here it, a wheel, an address, Colab's word, or a person.

tests/colab runs the cell itself with the real pip in an environment as old as Colab's.
"""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.lessons.editions import set_up_cell
from autograder.lessons.editions.set_up_cell import SetUpError, bring_course, opened_from
from tests.colab.sessions import (
    FROM_DRIVE,
    FROM_GITHUB,
    NOTEBOOK,
    of_path,
    opened_at,
    runtime_that_tells,
)

WHEEL = "pytorch_measured-0.1.0-py3-none-any.whl"
FROM_OWNER = "pytorch-measured @ git+https://github.com/owner/name"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, ...]]:
    """What pip was asked for, in an empty folder of a Python that lacks the course."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(set_up_cell, "pip_install", lambda *what: calls.append(what))
    lacking(monkeypatch, "course")
    return calls


def lacking(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let this Python lack these packages alone."""
    found = SimpleNamespace(origin="here")
    monkeypatch.setattr("importlib.util.find_spec", lambda n: None if n in names else found)


def on_colab(monkeypatch: pytest.MonkeyPatch, choose: Path | None = None, called: str = "") -> None:
    """Let this be Colab, whose upload box brings the file that the learner chooses, if any."""

    def upload() -> None:
        if choose:
            (Path() / called).write_bytes(choose.read_bytes())

    monkeypatch.setattr(set_up_cell, "on_colab", SimpleNamespace(upload=upload))


def tells(monkeypatch: pytest.MonkeyPatch, told: bytes | None, status: int = 200) -> str:
    """What the cell reads from a runtime that gives this answer."""
    with runtime_that_tells(told, status) as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return opened_from()


def test_an_installed_course_is_used(
    asked: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking(monkeypatch)
    (Path() / WHEEL).touch()
    bring_course("owner/name")
    assert (asked, capsys.readouterr().out) == ([], "")


def test_a_folder_that_happens_to_be_called_course_is_no_installed_one(
    asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = SimpleNamespace(origin=None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: namespace)
    bring_course("owner/name")
    assert asked == [("--no-deps", FROM_OWNER)]


def test_the_wheel_beside_the_notebook_comes_before_every_address(
    asked: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    on_colab(monkeypatch)
    monkeypatch.setattr(set_up_cell, "opened_from", lambda: pytest.fail("asked for nothing"))
    (Path() / WHEEL).touch()
    bring_course("owner/name")
    ((option, path),) = asked
    assert (option, Path(path).name, Path(path).parent != Path()) == ("--no-deps", WHEEL, True)
    assert f"from {WHEEL}, and nothing else" in capsys.readouterr().out


@pytest.mark.parametrize("colab", [False, True])
def test_the_address_of_the_course_comes_before_where_the_notebook_was_opened_from(
    asked: list[object], monkeypatch: pytest.MonkeyPatch, colab: bool
) -> None:
    if colab:
        on_colab(monkeypatch)
        monkeypatch.setattr(set_up_cell, "opened_from", lambda: pytest.fail("has its address"))
    bring_course("owner/name")
    assert asked == [("--no-deps", FROM_OWNER)]


def test_on_colab_the_course_comes_from_where_the_notebook_was_opened(
    asked: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_colab(monkeypatch)
    monkeypatch.setattr(set_up_cell, "opened_from", lambda: "fork/name@main")
    bring_course("")
    where = "git+https://github.com/fork/name@main"
    assert asked == [("--no-deps", f"pytorch-measured @ {where}")]
    assert f"from {where}, and nothing else" in capsys.readouterr().out


def test_elsewhere_nobody_is_asked_where_the_notebook_was_opened(
    asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(set_up_cell, "opened_from", lambda: pytest.fail("this is not Colab"))
    with pytest.raises(SetUpError, match=r"Put the file pytorch_measured-….whl beside it and run"):
        bring_course("")
    assert asked == []


def test_the_last_door_on_colab_is_a_box_to_upload_the_wheel(
    asked: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    chosen = tmp_path_factory.mktemp("downloads") / WHEEL
    chosen.touch()
    on_colab(monkeypatch, chosen, WHEEL.replace(".whl", " (1).whl"))
    monkeypatch.setattr(set_up_cell, "opened_from", lambda: "")
    bring_course("")
    assert Path(asked[0][1]).name == WHEEL
    told = capsys.readouterr().out
    assert (
        "knows no address to fetch it from.\nChoose the file pytorch_measured-….whl below" in told
    )


def test_who_chooses_nothing_is_told_what_to_do(
    asked: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    on_colab(monkeypatch)
    monkeypatch.setattr(set_up_cell, "opened_from", lambda: "")
    with pytest.raises(SetUpError) as told:
        bring_course("")
    assert str(told.value).count(". ") + str(told.value).count(".\n") == 1  # two sentences
    assert told.value._render_traceback_() == [str(told.value)]
    assert asked == []


def test_what_a_bare_jupyter_lacks_is_installed_too_and_named(
    asked: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lacking(monkeypatch, "course", "torch", "ipywidgets")
    bring_course("owner/name")
    assert asked == [("--no-deps", FROM_OWNER), ("torch", "ipywidgets")]
    assert "this Python lacks: torch, ipywidgets …" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (FROM_GITHUB, "owner/name@main"),
        (FROM_GITHUB.replace(b"/", b"\\/"), "owner/name@main"),
        (
            of_path(f"fileId=https%3A%2F%2Fgithub.com%2Fa-b%2Fc.d%2Fblob%2Fmain%2F{NOTEBOOK}"),
            "a-b/c.d@main",
        ),
        (
            opened_at(f"https://github.com/owner/name/blob/my/branch-1.0/{NOTEBOOK}"),
            "owner/name@my/branch-1.0",
        ),
    ],
)
def test_colab_tells_the_repository_and_the_branch(
    monkeypatch: pytest.MonkeyPatch, told: bytes, found: str
) -> None:
    assert tells(monkeypatch, told) == found


@pytest.mark.parametrize(
    ("told", "status"),
    [
        pytest.param(FROM_DRIVE, 200, id="a file on Drive"),
        pytest.param(
            opened_at("https://github.com/owner/lectures/blob/main/week-4/copied.ipynb"),
            200,
            id="another repository",
        ),
        pytest.param(
            opened_at(f"https://github.com/owner/name/blob/a;b/{NOTEBOOK}"), 200, id="odd branch"
        ),
        pytest.param(
            opened_at(f"https://example.org/owner/name/blob/main/{NOTEBOOK}"), 200, id="other host"
        ),
        pytest.param(FROM_GITHUB, 403, id="refused"),
        pytest.param(b"", 200, id="nothing"),
        pytest.param(b"[]", 200, id="no session"),
        pytest.param(b'{"path": 3}', 200, id="a number"),
        pytest.param(b"<html>\xff\xfe nonsense", 200, id="no JSON"),
        pytest.param(b"no HTTP at all\r\n\r\n", 0, id="no HTTP"),
        pytest.param(None, 200, id="too slow"),
    ],
)
def test_where_colab_tells_of_no_course_there_is_none(
    monkeypatch: pytest.MonkeyPatch, told: bytes | None, status: int
) -> None:
    assert tells(monkeypatch, told, status) == ""


def test_a_runtime_that_does_not_answer_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:  # bound, and nobody listens
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("COLAB_JUPYTER_IP", "127.0.0.1")
        monkeypatch.setenv("KMP_TARGET_PORT", str(taken.getsockname()[1]))
        assert opened_from() == ""


def test_colabs_runtime_is_never_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert tells(monkeypatch, FROM_GITHUB) == "owner/name@main"


def test_older_runtimes_that_name_no_address_are_asked_where_they_listen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    class Silent:
        def open(self, address: str, timeout: float) -> None:
            tried.append(address)
            raise TimeoutError

    monkeypatch.delenv("COLAB_JUPYTER_IP", raising=False)
    monkeypatch.delenv("KMP_TARGET_PORT", raising=False)
    monkeypatch.setattr("urllib.request.build_opener", lambda *handlers: Silent())
    assert opened_from() == ""
    assert tried == [f"http://172.28.0.{n}:9000/api/sessions" for n in (12, 2)]
