"""Leaving out what is never used saves time and changes nothing about notebooks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
from autograder.import_speed import skip_unused_grammar
skip_unused_grammar()
import nbformat
assert not sys.modules["rfc3987_syntax"], "the grammar was built"
nbformat.validate(nbformat.v4.new_notebook())
try:
    nbformat.validate({"nbformat": 4, "nbformat_minor": 5, "cells": [{"id": "a"}], "metadata": {}})
except nbformat.ValidationError:
    print("refused")
"""


def test_notebooks_are_validated_without_the_grammar() -> None:
    command = [sys.executable, "-c", CODE]
    root = Path(__file__).parents[2]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("refused\n", "")


FREEZES = """
import gc, sys
from autograder.import_speed import importing
with importing("sqlite3"):
    import sqlite3
    assert not gc.isenabled()
first = gc.get_freeze_count()
with importing("sqlite3"):
    assert gc.isenabled()
print(gc.isenabled(), first > 0, gc.get_freeze_count() == first)
"""


def test_an_import_is_left_out_of_the_search_for_garbage_once() -> None:
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", FREEZES], cwd=root, capture_output=True, text=True, check=False
    )
    assert (run.stdout, run.stderr) == ("True True True\n", "")
