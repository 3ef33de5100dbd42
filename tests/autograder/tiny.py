"""A lesson of two exercises, written by the rules of the course, for the tests of the grader.

`build(directory)` makes a course directory of it: source, claims and answers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.lessons.claims import own_claims

SLUG = "01-tiny"

CLAIMS = """\
[[misconception]]
id = "reshape-always-copies"
title = "reshape always copies."
why = "reshape returns a view wherever strides allow one."
section = "flattening"

[[misconception]]
id = "order-of-memory"
title = "Flattening follows memory order."
why = "Flattening follows the order of the indices."
section = "flattening"

[[misconception]]
id = "in-place-is-free"
title = "Changing the argument is harmless."
why = "The caller still holds the argument."
section = "doubling"

[[misconception]]
id = "dtype-is-float"
title = "Every tensor is float32."
why = "Integers stay integers under multiplication by an integer."
section = "doubling"
"""

FLATTEN = '''\
def flatten(x):
    """Return the elements of x in row-major order, without a copy where strides allow it."""
    ### BEGIN SOLUTION
    secret_of_flatten = x.numel()
    return x.reshape(secret_of_flatten)
    ### END SOLUTION'''

TEST_FLATTEN = """\
flatten_answer = answer("flatten")
check = Check("flatten")
seen = flatten_answer(torch.arange(6.0).view(2, 3))
check.equal(seen.result, torch.arange(6.0))
check.shares_storage(seen.result, seen.args[0], misconception="reshape-always-copies")
### BEGIN HIDDEN TESTS
hidden_seen = flatten_answer(torch.arange(6.0).view(2, 3).t())
check.equal(
    hidden_seen.result,
    torch.tensor([0.0, 3, 1, 4, 2, 5]),
    misconception="order-of-memory",
)
check.shape(flatten_answer(torch.zeros(0, 3)).result, (0,))
### END HIDDEN TESTS
check.score(4)"""

DOUBLE = '''\
def double(x):
    """Return twice x and leave x as it is."""
    ### BEGIN SOLUTION
    return x * 2
    ### END SOLUTION'''

TEST_DOUBLE = """\
double_answer = answer("double")
check = Check("double")
seen = double_answer(torch.arange(3.0))
check.equal(seen.result, torch.tensor([0.0, 2.0, 4.0]))
check.unchanged(seen, misconception="in-place-is-free")
### BEGIN HIDDEN TESTS
whole = double_answer(torch.arange(3))
check.dtype(whole.result, torch.int64, misconception="dtype-is-float")
### END HIDDEN TESTS
check.score(2)"""

BANK = """\
# %% right flatten: reshape to minus one
def flatten(x):
    return x.reshape(-1)

# %% right flatten: the method of that name
def flatten(x):
    return x.flatten()

# %% right flatten: torch's function
def flatten(x):
    return torch.flatten(x)

# %% wrong flatten: always copies -> reshape-always-copies
def flatten(x):
    return x.clone().reshape(-1)

# %% wrong flatten: through a list -> reshape-always-copies
def flatten(x):
    return torch.tensor([v for row in x.tolist() for v in row])

# %% wrong flatten: contiguous copy -> reshape-always-copies
def flatten(x):
    return (x + 0).view(-1)

# %% wrong flatten: the order of memory -> order-of-memory
def flatten(x):
    return x.as_strided((x.numel(),), (1,))

# %% wrong flatten: through the transpose -> order-of-memory
def flatten(x):
    return x.as_strided((x.numel(),), (1,), x.storage_offset())

# %% wrong flatten: stacks numbers -> reshape-always-copies
def flatten(x):
    return torch.stack([v for row in x for v in row])

# %% wrong flatten: joins rows -> reshape-always-copies
def flatten(x):
    return torch.cat(list(x))

# %% wrong flatten: copies after reshape -> reshape-always-copies
def flatten(x):
    return x.reshape(-1).clone()

# %% right double: multiply
def double(x):
    return 2 * x

# %% right double: add to itself
def double(x):
    return x + x

# %% right double: the function of that name
def double(x):
    return torch.mul(x, 2)

# %% wrong double: in place -> in-place-is-free
def double(x):
    return x.mul_(2)

# %% wrong double: in place by an operator -> in-place-is-free
def double(x):
    x *= 2
    return x

# %% wrong double: in place by addition -> in-place-is-free
def double(x):
    return x.add_(x)

# %% wrong double: makes floats -> dtype-is-float
def double(x):
    return x * 2.0

# %% wrong double: makes floats first -> dtype-is-float
def double(x):
    return x.float() * 2

# %% wrong double: in place through a view -> in-place-is-free
def double(x):
    x.view(-1).mul_(2)
    return x

# %% wrong double: in place into itself -> in-place-is-free
def double(x):
    return torch.add(x, x, out=x)

# %% wrong double: divides by a half -> dtype-is-float
def double(x):
    return x / 0.5
"""


def text(id_: str, source: str, **course: str | int) -> dict[str, Any]:
    """A markdown cell."""
    metadata = {"course": course} if course else {}
    return {"cell_type": "markdown", "id": id_, "metadata": metadata, "source": source}


def code(id_: str, source: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """A code cell without outputs."""
    return {
        "cell_type": "code",
        "id": id_,
        "metadata": metadata or {},
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


def graded(id_: str, source: str, *, solution: bool, points: float | None) -> dict[str, Any]:
    """A cell that nbgrader knows: the answer, the test, or a locked cell."""
    about: dict[str, Any] = {
        "grade": points is not None,
        "grade_id": id_,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        about["points"] = points
    return code(id_, source, {"nbgrader": about})


def exercise(
    name: str, title: str, answer: str, test: str, points: float, section: str
) -> list[dict[str, Any]]:
    """The four cells of an exercise: task, hint, answer, test."""
    about: dict[str, str | int] = {
        "role": "exercise",
        "exercise": name,
        "difficulty": 1,
        "minutes": 5,
        "few_checks": "the tests of the grader read all of them",
    }
    hint = f"<details><summary>Hint 1</summary>\n\nThink of {name}.\n\n</details>"
    return [
        text(f"{name}-task", f"### {title}\n\nWrite `{name}`.", **about, section=section),
        text(f"{name}-hint-1", hint, role="hint", exercise=name),
        graded(name, answer, solution=True, points=None),
        graded(f"test-{name}", test, solution=False, points=points),
    ]


MODEL = """\
### BEGIN SOLUTION
Doubling in place writes into the storage of the argument. Whoever still holds it sees the write.

**Marking** (3 points)

- 1 point: the storage is the caller's.
### END SOLUTION"""


def words(name: str, model: str = MODEL, points: float = 3) -> list[dict[str, Any]]:
    """The two cells of a question that is answered in words and graded by a person."""
    asked = f"### In words: {name}\n\nWhy does it matter?"
    about: dict[str, str | int] = {"role": "exercise", "exercise": name, "minutes": 5}
    answer = graded(name, model, solution=True, points=points)
    del answer["outputs"], answer["execution_count"]
    task = text(f"{name}-task", asked, **about, difficulty=1, section="doubling")
    return [task, {**answer, "cell_type": "markdown"}]


def notebook_with_words() -> dict[str, Any]:
    """The tiny lesson with a question in words, `why`, after its last exercise."""
    found = notebook()
    found["cells"][-1:-1] = words("why")
    return found


def notebook() -> dict[str, Any]:
    """The source notebook of the tiny lesson."""
    setup = "import torch\n\nfrom course import Check, answer\n\ntorch.manual_seed(0)"
    cells = [
        text("title", "# A tiny lesson\n\nTwo exercises.", role="title"),
        graded("setup", setup, solution=False, points=None),
        text("flattening", "## Flattening", role="text"),
        *exercise("flatten", "Flatten a tensor", FLATTEN, TEST_FLATTEN, 4, "flattening"),
        text("doubling", "## Doubling", role="text"),
        *exercise("double", "Double a tensor", DOUBLE, TEST_DOUBLE, 2, "doubling"),
        text("summary", "## Summary\n\nViews share storage.", role="summary"),
    ]
    return notebook_of(cells)


def notebook_of(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """A notebook with these cells."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write(course: Path, content: dict[str, Any] | str, slug: str = SLUG) -> Path:
    """Put a source notebook into a course directory and return its path."""
    path = course / "source" / slug / f"{slug}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return path


def build(course: Path, slug: str = SLUG) -> Path:
    """A course directory with the tiny lesson, its claims and its answers; returns `course`."""
    write(course, notebook(), slug)
    answers = course / "autograder" / "answers" / f"{slug}.py"
    for path, content in ((own_claims(course, slug), claims(slug=slug)), (answers, BANK)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return course


def claims(more: str = "", slug: str = SLUG) -> str:
    """A claims file of the lesson `slug`: these entries, and those of the tiny lesson."""
    return f'lesson = "{slug}"\n\n{more}\n{CLAIMS}'
