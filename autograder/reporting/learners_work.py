"""What a learner handed in, as a page or a sheet shows it: text, and the pictures in it."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.course_directory import CourseDirectory
from autograder.lessons.cells import RawCell, grade_id
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.drawings import MOST_TOGETHER, pixels
from autograder.records.model import SubmissionRecord

# A browser shows these as a picture, and runs nothing that stands in them. An SVG is none of them:
# one of a few lines keeps a browser busy for ever.
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_DRAWING = "image/svg+xml"


@dataclass(frozen=True)
class Picture:
    """A picture that was pasted into an answer.

    `address` is a data: URL of the whole of it; empty for what no page shows: a drawing (SVG), or
    more pixels than a browser should unpack.
    """

    name: str
    address: str


def executed(
    course: CourseDirectory, lesson: Lesson, record: SubmissionRecord
) -> dict[str, RawCell]:
    """The cells of the executed notebooks by their grade ids; none where there is no notebook.

    In the place of a task cell of nbgrader stands what the learner wrote below it.

    Args:
        course: Says where autograded/ is.
        lesson: Has the tasks, tells its own text from the learner's, and names cells as its
            exercises do.
        record: Names the learner.
    """
    folder = course.autograded(record.student, record.lesson)
    return {
        lesson.key(part, name): cell
        for part in lesson.notebooks
        for name, cell in _executed(folder / f"{part.notebook}.ipynb", part).items()
    }


def _executed(path: Path, lesson: Lesson) -> dict[str, RawCell]:
    try:
        cells = json.loads(path.read_bytes())["cells"]
    except (OSError, ValueError, KeyError):
        return {}
    joined = [{**cell, "source": "".join(cell["source"])} for cell in cells]
    found = {grade_id(cell): cell for cell in joined}
    tasks = [one.answer_id for one in lesson.exercises if one.is_task]
    lessons = {cell["source"].strip() for cell in lesson.cells()} if tasks else set()
    return found | {name: _work_below(name, joined, lessons) for name in tasks if name in found}


def pictures_of(cell: RawCell) -> tuple[Picture, ...]:
    """The pictures of a cell and its drawings, by name; what is neither is left out."""
    attached = cell.get("attachments")
    if not isinstance(attached, dict):
        return ()
    shown, left = [], MOST_TOGETHER
    for name in sorted(attached):
        found = _picture_in(attached[name])
        if found is not None:
            address, count = found
            left -= count
            shown.append(Picture(name, address if left >= 0 else ""))
    return tuple(shown)


def _work_below(task: str, cells: Sequence[RawCell], lessons: Iterable[str]) -> RawCell:
    """One cell with all that the learner wrote between a task and the lesson's next cell."""
    at = next(n for n, cell in enumerate(cells) if grade_id(cell) == task)
    mine: list[RawCell] = []
    for cell in cells[at + 1 :]:
        if grade_id(cell):
            break
        if cell["source"].strip() not in lessons:
            mine.append(cell)
    pictures = {name: one for cell in mine for name, one in cell.get("attachments", {}).items()}
    text = "\n\n".join(cell["source"] for cell in mine if cell["source"].strip())
    return {"cell_type": "markdown", "metadata": {}, "source": text, "attachments": pictures}


def _picture_in(bundle: object) -> tuple[str, int] | None:
    """The data: URL of an attachment, and its pixels; None where it is no picture.

    The URL is empty where it is not shown.
    """
    found = bundle.items() if isinstance(bundle, dict) else ()
    for kind, data in found:
        text = "".join(map(str, data)) if isinstance(data, list) else data
        if kind in _PICTURES and isinstance(text, str):
            try:
                raw = base64.b64decode("".join(text.split()), validate=True)
            except (binascii.Error, ValueError):
                continue
            address = f"data:{kind};base64,{base64.b64encode(raw).decode()}"
            count = pixels(raw)
            return ("", 0) if count is None else (address, count)
    return ("", 0) if isinstance(bundle, dict) and _DRAWING in bundle else None
