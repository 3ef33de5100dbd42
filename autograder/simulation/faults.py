"""What can be wrong with a submission beyond a wrong answer, for the simulated class.

A slip spoils one answer and stops nobody else; a fault is what makes graders hang, crash or give
up.  None of them does harm: no memory is eaten, nothing outside the submission is touched.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from autograder.lessons.cells import put_source, saved_notebook
from autograder.lessons.model import Exercise
from autograder.lessons.regions import stubbed

Notebook = dict[str, Any]
Spoil = Callable[[Notebook, Exercise], bytes]


def answer_name(one: Exercise) -> str:
    """The first function or class that the answer cell asks for; `answer` where it asks for none.

    An exercise and what the learner defines need not have the same name.
    """
    for node in ast.parse(stubbed(one.answer_source)).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            return node.name
    return "answer"


def slipped(slip: str, one: Exercise) -> str:
    """The source that the learner leaves in the answer cell of `one`."""
    return SLIPS[slip].replace("NAME", answer_name(one))


def _answering(source: str) -> Spoil:
    def spoil(notebook: Notebook, one: Exercise) -> bytes:
        put_source(notebook, one.answer_id, source.replace("NAME", answer_name(one)))
        return saved_notebook(notebook)

    return spoil


def _without_cell(notebook: Notebook, id_: str) -> bytes:
    kept = [cell for cell in notebook["cells"] if cell["id"] != id_]
    return saved_notebook({**notebook, "cells": kept})


def _test_twice(notebook: Notebook, one: Exercise) -> bytes:
    cells = list(notebook["cells"])
    at = next(n for n, cell in enumerate(cells) if cell["id"] == one.test_id)
    cells.insert(at, {**cells[at], "id": f"{one.test_id}-copy"})
    return saved_notebook({**notebook, "cells": cells})


def _edited_test(notebook: Notebook, one: Exercise) -> bytes:
    put_source(notebook, one.test_id, "1000")
    return saved_notebook(notebook)


def _without_metadata(notebook: Notebook, one: Exercise) -> bytes:
    cells = [{**cell, "metadata": {}} for cell in notebook["cells"]]
    return saved_notebook({**notebook, "cells": cells})


# Slips: the source that takes the place of an answer; NAME stands for the answer's name.
SLIPS: Mapping[str, str] = {
    "a syntax error": "def NAME(*args)\n    return args[0]\n",
    "another name": "def my_NAME(*args):\n    return args[0]\n",
    "returns nothing": "def NAME(*args, **kwargs):\n    result = args[0] if args else None\n",
    "a misspelt call": "def NAME(*args, **kwargs):\n    return torch.reshap(args[0], (-1,))\n",
    "prints a megabyte": "def NAME(*args, **kwargs):\n    print('x' * 1_000_000)\n    return 0\n",
    "leaves the program": "def NAME(*args, **kwargs):\n    raise SystemExit(0)\n",
}

# The order matters: a class takes them in turn, so that few faults already differ.
FAULTS: Mapping[str, Spoil] = {
    "an endless loop": _answering("def NAME(*args, **kwargs):\n    while True:\n        pass\n"),
    "malformed JSON": lambda notebook, one: saved_notebook(notebook)[:-200],
    "os._exit": _answering("def NAME(*args, **kwargs):\n    import os\n\n    os._exit(1)\n"),
    "a deleted test cell": lambda notebook, one: _without_cell(notebook, one.test_id),
    "a segmentation fault": _answering(
        "def NAME(*args, **kwargs):\n    import ctypes\n\n    ctypes.string_at(0)\n"
    ),
    "a test cell twice": _test_twice,
    "an empty file": lambda notebook, one: b"",
    "an edited test cell": _edited_test,
    "a loop that swallows interrupts": _answering(
        "def NAME(*args, **kwargs):\n    while True:\n        try:\n            while True:\n"
        "                pass\n        except BaseException:\n            pass\n"
    ),
    "a deleted answer cell": lambda notebook, one: _without_cell(notebook, one.answer_id),
    "stripped metadata": _without_metadata,
    "bytes that are no UTF-8": lambda notebook, one: saved_notebook(notebook).replace(
        b"def ", b"def \xe9", 1
    ),
    "asks for input": _answering("def NAME(*args, **kwargs):\n    return input('What now? ')\n"),
    "an endless loop in the cell": _answering("while True:\n    pass\n"),
}
