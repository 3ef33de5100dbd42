"""What a new lesson and a new exercise begin as: whole in form, with a mark where words are due.

Every text that the author has to write holds the mark `✎`, and `autograder check` names each
until it is gone.  What is there runs: a skeleton shows how the parts fit.
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.lessons.cells import RawCell
from autograder.lessons.lint.thresholds import LEAST_RIGHT, LEAST_WRONG

SETUP_SOURCE = """\
import torch

from course import Check, answer, facts, observe, predict, probe, show_storage

_ = torch.manual_seed({number})"""

TITLE = """\
# ✎ {name}: the lesson in a few words

✎ A bug that happens: what somebody wrote, in one sentence. The next cell shows its symptom.

After this lesson you can

- ✎ say, predict or mend something.

**You need** ✎ the lessons that come before."""

RULE = """\
✎ Why it is so, and the rule in a sentence or two. Terms are defined where they are first used."""

SUMMARY = """\
## Summary

- ✎ The rule, and what mends the bug of the beginning."""

CLAIM = """\
# Claims of lesson {number:02}. docs/authoring.md describes the form.
lesson = "{slug}"

[[claim]]
id = "{name}-claim"
asked = "✎ What do people type into a search box?"
said = "✎ What people say, in a sentence."
verdict = "true"
fact = "✎ What is right, in a sentence."
proof = \'\'\'
x = torch.arange(3)
size = x.numel()
\'\'\'
shows = "size == 3"
"""

BELIEF = """
[[misconception]]
id = "{exercise}-belief-{n}"
title = "✎ The wrong idea, as a sentence."
why = "✎ What is right, and how to see it."
section = "{section}"
"""

TASK = """\
### Exercise: {title}

*Difficulty {dots} · {minutes} minutes · {points}*

Write `{function}(x)`: ✎ what it returns for which arguments, and what it must not do."""

HINT = """\
<details><summary>Hint {n}</summary>

✎ {what}

</details>"""

ANSWER = '''\
def {function}(x):
    """✎ What the caller gets, with an example."""
    ### BEGIN SOLUTION
    return x * 1  # ✎
    ### END SOLUTION'''

TEST = """\
work = answer("{function}")
check = Check("{exercise}")
x = torch.arange(6.0).view(2, 3)

seen = work(x)
check.equal(seen.result, x, name="✎ a small case")
check.shape(seen.result, (2, 3), name="✎ its shape")
check.dtype(seen.result, torch.float32, name="✎ its dtype")
check.copies(seen.result, seen.args[0], name="✎ whether it has a storage of its own")
check.unchanged(seen, name="the argument stays as it is")
### BEGIN HIDDEN TESTS
seen = work(x.t())
check.equal(seen.result, x.t(), name="✎ another layout", misconception="{exercise}-belief-1")
seen = work(torch.zeros(0, 3))
check.shape(seen.result, (0, 3), name="✎ no elements", misconception="{exercise}-belief-2")
seen = work(torch.tensor(7))
check.equal(seen.result, torch.tensor(7), name="✎ an integer", misconception="{exercise}-belief-1")
### END HIDDEN TESTS
check.score({points:g})"""

BANK = '"""Answers to lesson {number:02}, right and wrong, as a learner would type them."""\n'
RIGHT = "# %% right {exercise}: ✎ how it does it ({n})"
WRONG = "# %% wrong {exercise}: ✎ what it does instead ({n}) -> {exercise}-belief-{belief}"
BODY = "def {function}(x):\n    return x * 1  # ✎"


@dataclass(frozen=True)
class NewExercise:
    """What `new-exercise` is told about the exercise."""

    name: str
    function: str
    title: str
    points: float
    difficulty: int
    minutes: int


def lesson_cells(number: int, name: str) -> list[RawCell]:
    """The cells of a new lesson: scene, a unit that predicts and measures, summary."""
    return [
        text("title", TITLE.format(name=name), role="title"),
        graded("setup", SETUP_SOURCE.format(number=number), solution=False),
        code("scene", "x = torch.arange(6).view(2, 3)  # ✎ the bug\nx.t()", role="measure"),
        text("first-unit", f"## First unit\n\n{RULE}", role="text"),
        code(f"predict-{name}-claim", f'predict("{name}-claim")', role="predict"),
        code("first-measured", "facts(x)  # ✎ what decides it", role="measure"),
        code("first-figure", 'show_storage(x, names=["x"])  # ✎', role="figure"),
        text("first-rule", RULE, role="text"),
        text("summary", SUMMARY, role="summary"),
        text("read-next", "**Read next.** ✎ Where this goes on.", role="summary"),
    ]


def exercise_cells(one: NewExercise) -> list[RawCell]:
    """The five cells of a new exercise."""
    points = f"{one.points:g} point{'' if one.points == 1 else 's'}"
    dots = "●" * one.difficulty + "○" * (3 - one.difficulty)
    words = {"exercise": one.name, "function": one.function, "points": one.points}
    task = TASK.format(
        **words | {"points": points}, title=one.title, dots=dots, minutes=one.minutes
    )
    about = {"role": "exercise", "difficulty": one.difficulty, "minutes": one.minutes}
    hints = ("Where to look first.", "The decisive step, not the whole answer.")
    return [
        text(f"{one.name}-task", task, exercise=one.name, **about),
        *(
            text(
                f"{one.name}-hint-{n}", HINT.format(n=n, what=what), role="hint", exercise=one.name
            )
            for n, what in enumerate(hints, 1)
        ),
        graded(one.name, ANSWER.format(**words), solution=True),
        graded(f"test-{one.name}", TEST.format(**words), solution=False, points=one.points),
    ]


def beliefs(one: NewExercise, section: str) -> str:
    """The misconceptions that the new exercise's checks name, for the claims file."""
    return "".join(BELIEF.format(exercise=one.name, n=n, section=section) for n in (1, 2))


def bank_entries(one: NewExercise) -> str:
    """The headings of the answers that the gate asks for, each with something below it."""
    words = {"exercise": one.name, "function": one.function}
    headings = [RIGHT.format(**words, n=n) for n in range(1, LEAST_RIGHT + 1)]
    headings += [WRONG.format(**words, n=n, belief=2 - n % 2) for n in range(1, LEAST_WRONG + 1)]
    return "".join(f"\n{heading}\n{BODY.format(**words)}\n" for heading in headings)


def text(id_: str, source: str, **about: object) -> RawCell:
    """A markdown cell; `about` is the course's metadata."""
    return {"cell_type": "markdown", "id": id_, "metadata": {"course": about}, "source": source}


def code(id_: str, source: str, **about: object) -> RawCell:
    """A code cell; `about` is the course's metadata."""
    return _code(id_, source, {"course": about})


def graded(id_: str, source: str, *, solution: bool, points: float | None = None) -> RawCell:
    """A cell that nbgrader knows: the set-up, an answer, or a test with its points."""
    about: dict[str, object] = {
        "grade": points is not None,
        "grade_id": id_,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        about["points"] = int(points) if float(points).is_integer() else points
    return _code(id_, source, {"nbgrader": about})


def _code(id_: str, source: str, metadata: dict[str, object]) -> RawCell:
    return {
        "cell_type": "code",
        "id": id_,
        "metadata": metadata,
        "source": source,
        "execution_count": None,
        "outputs": [],
    }
