"""Leaving out what is never used saves time and changes nothing about notebooks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
from autograder.lean import skip_unused_grammar
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
