"""Your score in a lesson, and your progress kept in a file: the last cell of a notebook.

    lesson_progress("04-memory-layout", {"flatten": 4, "linear": 4}, action="show")

`"save"` writes the best result of each exercise and the cells that reached it to a file, and on
Colab downloads it; `"load"` brings a file back. Better results win, in both directions.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from course.progress.progress_file import FILE_NAME, Kept, ProgressError, merged, read, write
from course.testing.attempts import Best, best_results, take_over

__all__ = ["LessonProgress", "lesson_progress"]

_SIGNS = {"full": "✓", "part": "◐", "none": "✗", "open": "–"}
_WORDS = {"full": "all points", "part": "some points", "none": "no points yet", "open": "open"}


@dataclass(frozen=True)
class LessonProgress:
    """How far you are in a lesson; `messages` is what was saved or loaded, one sentence each.

    `by_hand` are the questions in words with their points, which no check can judge.
    """

    lesson: str
    points: Mapping[str, float]
    best: Mapping[str, Best]
    by_hand: Mapping[str, float]
    messages: tuple[str, ...] = ()
    answers: Mapping[str, str] | None = None

    @property
    def headline(self) -> str:
        """One line, for example `04-memory-layout: 12.5 of 36 points · 4 of 10 exercises done`."""
        reached = sum(best.score for best in self.best.values())
        done = sum(self.state(name) == "full" for name in self.points)
        return (
            f"{self.lesson}: {_number(reached)} of {_number(sum(self.points.values()))} points · "
            f"{done} of {len(self.points)} exercises complete"
        )

    def state(self, name: str) -> str:
        """`full`, `part`, `none` or `open`."""
        best = self.best.get(name)
        if best is None:
            return "open"
        return "full" if best.share >= 1 else "part" if best.score else "none"

    def row(self, name: str) -> str:
        """The points of an exercise in words, and after how many runs of its tests."""
        best = self.best.get(name)
        if best is None:
            return f"0 of {_number(self.points[name])} points, not attempted"
        runs = "1 attempt" if best.attempts == 1 else f"{best.attempts} attempts"
        return f"{_number(best.score)} of {_number(self.points[name])} points, {runs}"

    def __repr__(self) -> str:
        width = max(map(len, self.points), default=0)
        lines = [self.headline]
        lines += [
            f"  {_SIGNS[self.state(name)]} {name:<{width}}  {self.row(name)}"
            for name in self.points
        ]
        lines += [f"  ✎ {self._in_words(name)}" for name in self.by_hand]
        lines += self.messages
        for name, code in (self.answers or {}).items():
            lines += ["", f"# {name}", code]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cell = "padding:3px 8px;text-align:left;border-top:1px solid #9ca3af55"
        rows = [self._html_row(name, cell) for name in self.points]
        rows += [
            f'<tr><td style="{cell}">✎</td><td style="{cell}" colspan="2">'
            f"{escape(self._in_words(name))}</td></tr>"
            for name in self.by_hand
        ]
        messages = "".join(f"<p>{escape(line)}</p>" for line in self.messages)
        answers = "".join(
            f"<details><summary>Your answer to {escape(name)}</summary>"
            f'<pre style="white-space:pre-wrap">{escape(code)}</pre></details>'
            for name, code in (self.answers or {}).items()
        )
        return (
            f"<div><p><strong>{escape(self.headline)}</strong></p>"
            '<table style="border-collapse:collapse;font-size:14px" '
            f'aria-label="Your score in {escape(self.lesson, quote=True)}">'
            f"<tbody>{''.join(rows)}</tbody></table>{messages}{answers}</div>"
        )

    def _html_row(self, name: str, cell: str) -> str:
        state = self.state(name)
        return (
            f'<tr><td style="{cell};font-weight:bold" '
            f'title="{_WORDS[state]}" aria-label="{_WORDS[state]}">{_SIGNS[state]}</td>'
            f'<td style="{cell}">{escape(name)}</td><td style="{cell}">'
            f"{escape(self.row(name))}</td></tr>"
        )

    def _in_words(self, name: str) -> str:
        return f"{name}: in words, {_number(self.by_hand[name])} points that you give yourself"


def lesson_progress(
    lesson: str,
    points: Mapping[str, float],
    *,
    by_hand: Mapping[str, float] | None = None,
    action: str = "show",
    path: str | Path = FILE_NAME,
) -> LessonProgress:
    """Your score in a lesson, after saving or loading.

    A file that cannot be read or written changes nothing; the reason stands below the table.

    Args:
        lesson: Its slug, such as "04-memory-layout".
        points: What each of its exercises gives at most, by name.
        by_hand: The same for those that a person marks; None where there are none.
        action: "show" only shows; "save" writes the best results into the file; "load" reads them
            from there.
        path: The progress file.
    """
    steps = {"show": _shown, "save": _saved, "load": _loaded}
    messages: list[str] = [f"No action is called {action!r}. Choose one of {', '.join(steps)}."]
    answers: dict[str, str] = {}
    try:
        if action in steps:
            messages, answers = steps[action](lesson, points, Path(path))
    except ProgressError as error:
        messages = [str(error)]
    except OSError as error:
        messages = [f"{path} could not be used: {error.strerror or error}."]
    best = _of_lesson(best_results(), points)
    return LessonProgress(lesson, dict(points), best, dict(by_hand or {}), tuple(messages), answers)


_Reply = tuple[list[str], dict[str, str]]


def _shown(lesson: str, points: Mapping[str, float], path: Path) -> _Reply:
    if path.is_file():
        return [f"{path.name} is here: “save” adds to it, “load” brings back what it holds."], {}
    return [
        "Nothing is saved: your score lasts as long as this kernel. Choose “save” to keep it."
    ], {}


def _saved(lesson: str, points: Mapping[str, float], path: Path) -> _Reply:
    mine = Kept({lesson: _of_lesson(best_results(), points)})
    try:
        before = read(path.read_bytes(), path.name) if path.is_file() else Kept()
    except ProgressError as error:
        return [f"{error} It is left as it is, so nothing was saved; move it away first."], {}
    both = merged(mine, before)
    write(path, both)
    files = _colab_files()
    if files is not None:
        files.download(str(path))
    where = "downloaded as" if files is not None else "saved in"
    return [
        f"Your results and answers are {where} {path.name} ({', '.join(sorted(both.lessons))})."
    ], {}


def _loaded(lesson: str, points: Mapping[str, float], path: Path) -> _Reply:
    files = _colab_files()
    if files is not None:
        chosen = dict(files.upload())
        if not chosen:
            return ["No file was chosen, so nothing was loaded."], {}
    elif path.is_file():
        chosen = {path.name: path.read_bytes()}
    else:
        return [f"There is no {path.name} beside this notebook. Put it there, then load."], {}
    together = Kept()
    for file_name, content in chosen.items():
        together = merged(together, read(bytes(content), file_name))
    found = together.lessons.get(lesson, {})
    fitting = _of_lesson(found, points)
    gained = take_over(fitting)
    count = "1 result" if len(fitting) == 1 else f"{len(fitting)} results"
    messages = [
        f"{', '.join(chosen)}: {count} of this lesson, {len(gained)} better than yours here."
    ]
    if len(fitting) < len(found):
        messages.append("Results of exercises that have changed since were left out.")
    answers = {name: fitting[name].answer for name in points if fitting.get(name, _NO).answer}
    if answers:
        messages.append(
            "The answers that you saved are below. Copy into their cells what you want."
        )
    return messages, answers


_NO = Best(0.0, 0.0, 0)


def _of_lesson(results: Mapping[str, Best], points: Mapping[str, float]) -> dict[str, Best]:
    """The results whose exercise is in the lesson, with the points that it gives today."""
    return {name: best for name, best in results.items() if points.get(name) == best.max}


def _colab_files() -> Any:
    """Colab's module for up- and downloads; None elsewhere."""
    return getattr(sys.modules.get("google.colab"), "files", None)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
