"""The last cell of a notebook shows the score of a lesson, saves it and brings it back."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from course.progress.progress_file import FILE_NAME, Checks, Kept, read, write
from course.progress.summary import LessonProgress, lesson_progress
from course.testing import attempts
from course.testing.attempts import Best, take_over

LESSON = "04-memory-layout"
POINTS = {"half": 2.0, "third": 4.0, "fourth": 1.0}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A kernel that has just started, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    restart(monkeypatch)


def restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "_notes", attempts._Notes())


def progress(action: str = "show", **more: Any) -> LessonProgress:
    return lesson_progress(LESSON, POINTS, action=action, **more)


@pytest.fixture
def colab(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Stands for google.colab: what is downloaded, and what the learner chooses to upload."""
    browser = SimpleNamespace(downloaded=[], chosen={})
    files = SimpleNamespace(download=browser.downloaded.append, upload=lambda: browser.chosen)
    monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace(files=files))
    return browser


# The score.


def test_the_score_lists_every_exercise_with_points_and_attempts() -> None:
    take_over({"half": Best(2, 2, 1), "third": Best(1.5, 4, 3)})
    assert repr(progress(by_hand={"why": 3})).splitlines()[:5] == [
        "04-memory-layout: 3.5 of 7 points · 1 of 3 exercises complete",
        "  ✓ half    2 of 2 points, 1 attempt",
        "  ◐ third   1.5 of 4 points, 3 attempts",
        "  – fourth  0 of 1 points, not attempted",
        "  ✎ why: in words, 3 points that you give yourself",
    ]


def test_full_points_are_told_in_the_first_line() -> None:
    take_over({name: Best(most, most, 1) for name, most in POINTS.items()})
    assert progress().headline == "04-memory-layout: 7 of 7 points · 3 of 3 exercises complete"


def test_no_state_is_told_by_colour_alone() -> None:
    take_over({"half": Best(2, 2, 1), "third": Best(0, 4, 1)})
    shown = progress()._repr_html_()
    for words in ("all points", "no points yet", "open"):
        assert f'aria-label="{words}"' in shown


def test_results_of_other_lessons_are_not_counted() -> None:
    take_over({"elsewhere": Best(5, 5, 1)})
    assert progress().headline.startswith("04-memory-layout: 0 of 7 points")


# Saving and loading.


def test_what_was_saved_comes_back_after_a_restart(monkeypatch: pytest.MonkeyPatch) -> None:
    take_over({"half": Best(2, 2, 4, "def half(x): ...")})
    saved = progress("save")
    assert saved.messages == (f"Your results and answers are saved in {FILE_NAME} ({LESSON}).",)
    restart(monkeypatch)
    assert progress().best == {}
    loaded = progress("load")
    assert loaded.best == {"half": Best(2, 2, 4, "def half(x): ...")}
    assert loaded.messages[0] == f"{FILE_NAME}: 1 result of this lesson, 1 better than yours here."


def test_loaded_answers_are_shown_and_not_run() -> None:
    take_over({"half": Best(2, 2, 1, "raise SystemExit  # <b>")})
    progress("save")
    loaded = progress("load")
    assert "<summary>Your answer to half</summary>" in loaded._repr_html_()
    assert "raise SystemExit  # &lt;b&gt;" in loaded._repr_html_()
    assert "# half\nraise SystemExit  # <b>" in repr(loaded)


def test_better_results_win_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    take_over({"half": Best(2, 2, 1, "good"), "third": Best(1, 4, 1, "begun")})
    progress("save")
    restart(monkeypatch)
    take_over({"half": Best(1, 2, 1, "worse"), "third": Best(4, 4, 1, "done")})
    progress("save")
    in_file = read(Path(FILE_NAME).read_bytes()).lessons[LESSON]
    assert {name: one.answer for name, one in in_file.items()} == {"half": "good", "third": "done"}
    loaded = progress("load")
    assert {name: one.answer for name, one in loaded.best.items()} == {
        "half": "good",
        "third": "done",
    }


def test_other_lessons_in_the_file_stay() -> None:
    elsewhere = {"06-in-place": {"leaf": Checks(2, 3)}}, {"a-claim": "true"}
    write(Path(FILE_NAME), Kept({"05-autograd": {"leaf": Best(1, 1, 1)}}, *elsewhere))
    take_over({"half": Best(2, 2, 1)})
    assert "04-memory-layout, 05-autograd" in progress("save").messages[0]
    assert read(Path(FILE_NAME).read_bytes()).lessons["05-autograd"] == {"leaf": Best(1, 1, 1)}
    kept = read(Path(FILE_NAME).read_bytes())
    assert (kept.checks, kept.predictions) == elsewhere


def test_results_of_an_exercise_that_gives_other_points_now_are_left_out() -> None:
    write(Path(FILE_NAME), Kept({LESSON: {"half": Best(3, 3, 1), "third": Best(4, 4, 1)}}))
    loaded = progress("load")
    assert set(loaded.best) == {"third"}
    assert "Results of exercises that have changed since were left out." in loaded.messages


def test_a_damaged_file_changes_nothing_and_says_so() -> None:
    Path(FILE_NAME).write_text("{}")
    take_over({"half": Best(2, 2, 1)})
    assert "is JSON, but not your progress" in progress("load").messages[0]
    saved = progress("save")
    assert saved.messages[0].endswith(
        "It is left as it is, so nothing was saved; move it away first."
    )
    assert Path(FILE_NAME).read_text() == "{}"
    assert saved.best == {"half": Best(2, 2, 1)}


def test_without_a_file_loading_says_where_to_put_it() -> None:
    message = f"There is no {FILE_NAME} beside this notebook. Put it there, then load."
    assert progress("load").messages == (message,)


def test_a_folder_that_cannot_be_written_is_named() -> None:
    (message,) = progress("save", path="nowhere/progress.json").messages
    assert message == "nowhere/progress.json could not be used: No such file or directory."


def test_showing_says_whether_something_is_saved() -> None:
    assert "Nothing is saved" in progress().messages[0]
    progress("save")
    assert f"{FILE_NAME} is here" in progress().messages[0]


def test_an_unknown_action_is_answered_with_those_there_are() -> None:
    assert progress("keep").messages == (
        "No action is called 'keep'. Choose one of show, save, load.",
    )


# On Colab.


def test_on_colab_saving_downloads_the_file(colab: SimpleNamespace) -> None:
    take_over({"half": Best(2, 2, 1)})
    assert "are downloaded as" in progress("save").messages[0]
    assert colab.downloaded == [FILE_NAME]


def test_on_colab_loading_asks_for_the_file(
    colab: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_over({"half": Best(2, 2, 1)})
    progress("save")
    colab.chosen["mine (1).json"] = Path(FILE_NAME).read_bytes()
    Path(FILE_NAME).unlink()
    restart(monkeypatch)
    assert progress("load").messages[0].startswith("mine (1).json: 1 result of")


def test_on_colab_several_files_are_put_together(colab: SimpleNamespace) -> None:
    for name, best in (("a.json", Best(2, 2, 1)), ("b.json", Best(1, 2, 1))):
        write(Path(name), Kept({LESSON: {"half": best, "third": Best(best.score, 4, 1)}}))
        colab.chosen[name] = Path(name).read_bytes()
    loaded = progress("load")
    assert {name: one.score for name, one in loaded.best.items()} == {"half": 2, "third": 2}
    assert loaded.messages[0].startswith("a.json, b.json: 2 results")


def test_on_colab_choosing_nothing_is_no_error(colab: SimpleNamespace) -> None:
    assert progress("load").messages == ("No file was chosen, so nothing was loaded.",)
