"""Notebooks as a runtime takes them, and what can be read from the outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.lessons.model import Lesson
from autograder.lessons.regions import without_markers
from autograder.lessons.self_study import self_study_edition
from tests.colab.runtime import Cell

TABLE = "pytorch-measured"


def solved(lesson: Lesson, repository: str = "") -> list[Cell]:
    """The self-study notebook of a lesson as somebody leaves it who solved everything."""
    answers = {one.answer_id: without_markers(one.answer_source) for one in lesson.exercises}
    cells = self_study_edition(lesson, repository=repository)["cells"]
    return [{**cell, "source": answers.get(cell["id"], cell["source"])} for cell in cells]


def in_folder(lesson: Lesson, folder: Path) -> Path:
    """The folder of a notebook, with the lesson's data files."""
    folder.mkdir(exist_ok=True)
    for data in lesson.data_files:
        (folder / data.name).write_bytes(data.read_bytes())
    return folder


def errors(outputs: dict[str, list[Any]]) -> dict[str, str]:
    """How the cells ended that raised."""
    found = {id_: one for id_, many in outputs.items() for one in many if "ename" in one}
    return {id_: f"{one['ename']}: {one['evalue']}" for id_, one in found.items()}


def is_stderr(output: Any) -> bool:
    """Whether this is text on stderr: a warning of an older library, for example."""
    return output.get("name") == "stderr"


def on_stderr(outputs: dict[str, list[Any]]) -> dict[str, str]:
    """What cells wrote to stderr."""
    return {id_: o["text"] for id_, many in outputs.items() for o in many if is_stderr(o)}


def tables(outputs: dict[str, list[Any]]) -> dict[str, tuple[float, float]]:
    """Points and most points of each exercise, as its check table says."""
    found = [
        one["metadata"].get(TABLE) for many in outputs.values() for one in many if "data" in one
    ]
    return {one["exercise"]: (one["score"], one["max"]) for one in found if one}


def printed(outputs: list[Any]) -> str:
    """What a cell wrote and showed, as text."""
    return "".join(one.get("text") or one.get("data", {}).get("text/plain", "") for one in outputs)


def code(id_: str, source: str) -> Cell:
    about = {"id": id_, "metadata": {}, "outputs": [], "execution_count": None}
    return {"cell_type": "code", "source": source, **about}
