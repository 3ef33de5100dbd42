"""Puts a handed-in notebook back into the form of its lesson, and says what was put right.

Cells of the lesson that a learner may not change come from the source, whatever was handed in;
answers come from the learner, wherever they stand.  An answer cell is found by its grade id, then
by its cell id, then by what it defines or where it stands.  Where it is missing its stub takes its
place, unless another cell of the learner defines what it asks for: nothing may overwrite that, nor
may an untouched copy of the cell.  An answer that a person marks is put together from its parts
(`answer_parts`).  Nothing is executed here.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from autograder.lessons.answer_parts import AnswerParts, Surroundings, code_of, words_of
from autograder.lessons.cell_bounds import CellBounds
from autograder.lessons.cell_dependencies.unneeded_cells import shown_texts
from autograder.lessons.cells import (
    RawCell,
    attachments_of,
    cells_of,
    grader,
    is_answer,
    is_marked,
    is_task,
    role,
)
from autograder.lessons.definitions import MOST_PARSED_CHARS, defined, defined_by_lines
from autograder.lessons.editions.reading import ahead_of, for_readers
from autograder.lessons.regions import HIDDEN, RegionError, is_untouched, split_regions, stubbed

_CELL_TYPES = ("code", "markdown", "raw")
_CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# What a file of small values becomes in memory is many times its size; text with commas is not.
_MOST_BRACKETS, _MOST_COMMAS = 400_000, 4_000_000
# Possessive, and ended by the file at the latest: every byte is looked at once.
_JSON_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.S)
_MOST_CELLS = 10_000  # our longest lesson has 200; pages of more take a browser minutes
_MOST_SOURCE_CHARS = 8 * 2**20  # of all cells together
_MOST_NOTES = 50  # each is on every page about the submission, and in its record
_ANSWERS_NBYTES = 32 * 2**20  # of the pictures in all answers together
_LOST_WORDS = "*This cell was missing. A person looks for the answer in the rest of the notebook.*"
_COPY = "An untouched copy of `{}` stood there, too; it was left out."
_LOST_CODE = "# This cell was missing. What it asks for is looked for in the other cells."


class Malformed(Exception):
    """A file that is no notebook; the message is for the learner."""


@dataclass(frozen=True)
class Repaired:
    """The cells to run, in order, and what was put right, one sentence each."""

    cells: tuple[RawCell, ...]
    notes: tuple[str, ...]
    missing: frozenset[str]  # grade ids of answers that are nowhere
    # For whoever marks: by the grade id of an answer, what has to be known of its text.
    remarks: Mapping[str, str] = field(default_factory=dict)


def read_submission(raw: bytes) -> dict[str, Any]:
    """The notebook in these bytes.

    Args:
        raw: A learner's file, of any content.

    Raises:
        Malformed: It is no notebook, or too large to be read; the message tells cause and remedy.
    """
    if not raw.strip():
        raise Malformed("The file is empty. Hand in the notebook again.")
    if _holds_too_much(raw):
        raise Malformed("The file has too many values to be a notebook. Clear its outputs.")
    try:
        notebook = json.loads(raw.decode("utf-8-sig"))  # Windows programs begin with a mark
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise Malformed(
            f"The file is not UTF-8 text (byte 0x{byte:02x} at position {error.start}). "
            "Open it in JupyterLab, save it and hand it in again."
        ) from None
    except json.JSONDecodeError as error:
        raise Malformed(f"The file is not JSON: {error}. Save it from JupyterLab again.") from None
    except ValueError:
        raise Malformed("The file holds a number of more digits than Python reads.") from None
    except RecursionError:
        raise Malformed("The file is nested too deeply to be a notebook.") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Malformed(_no_notebook(notebook))
    if len(notebook["cells"]) > _MOST_CELLS:
        raise Malformed(
            f"The notebook has {len(notebook['cells']):,} cells, more than the {_MOST_CELLS:,} "
            "that are read. Take out those that you do not need and hand it in again."
        )
    chars = sum(_check_cell(number, cell) for number, cell in enumerate(notebook["cells"], 1))
    if chars > _MOST_SOURCE_CHARS:
        limit = _MOST_SOURCE_CHARS // 2**20
        raise Malformed(
            f"The cells hold {chars / 2**20:.0f} MB of text, more than the {limit} MB that are "
            "read. Take out what you pasted and hand the notebook in again."
        )
    return notebook


def _no_notebook(found: object) -> str:
    if isinstance(found, dict) and "worksheets" in found:
        return (
            "The notebook has an old format (nbformat 3). Open it in JupyterLab, which converts "
            "it, save it and hand it in again."
        )
    return "The file is JSON, but no notebook (nbformat 4): it has no list of cells."


def _holds_too_much(raw: bytes) -> bool:
    """Whether a file has more values than a notebook; what stands in its texts is none."""

    def exceeds(data: bytes) -> bool:
        return (
            data.count(b"[") + data.count(b"{") > _MOST_BRACKETS or data.count(b",") > _MOST_COMMAS
        )

    if not exceeds(raw):
        return False
    texts = (raw.count(b'"') - raw.count(b'\\"')) // 2
    return texts > _MOST_COMMAS or exceeds(_JSON_TEXT.sub(b"", raw))


def _check_cell(number: int, cell: object) -> int:
    """Refuse what is no cell; the characters of its source."""
    if not isinstance(cell, dict) or cell.get("cell_type") not in _CELL_TYPES:
        raise Malformed(f"Cell {number} of the notebook is not a code, markdown or raw cell.")
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    if not all(isinstance(line, str) for line in lines):
        raise Malformed(f"Cell {number} of the notebook has no text as its source.")
    if not isinstance(cell.get("id", ""), str):
        del cell["id"]  # it gets a new one
    return sum(map(len, lines))


def repair(
    source: Iterable[RawCell],
    submitted: Mapping[str, Any],
    handed_out: Mapping[str, str] | None = None,
) -> Repaired:
    """The submission's cells with all that belongs to the lesson as it stands in `source`.

    Args:
        source: The lesson's own cells, `Lesson.cells()`.
        submitted: The notebook that `read_submission` gave.
        handed_out: Grade id → the text of that cell as learners got it, where nbgrader's own steps
            prepared the source.

    Returns:
        Locked cells and tests are the lesson's own, answers the learner's; cells that the learner
        added stay where they are.
    """
    return _Repair(list(source), cells_of(submitted), handed_out).carry_out()


def belongs_to_lesson(cell: RawCell) -> bool:
    """Whether a cell of the source must be in every submission."""
    about = grader(cell)
    return bool(about.get("locked") or about.get("grade") or about.get("solution") or is_task(cell))


class _Repair:
    """One repair; `_place` maps the number of a source cell to that of its handed-in cell."""

    def __init__(
        self,
        source: list[RawCell],
        handed_in: list[RawCell],
        handed_out: Mapping[str, str] | None,
    ) -> None:
        self._given = handed_out
        self._source = [cell for cell in source if belongs_to_lesson(cell)]
        free = [cell for cell in source if not belongs_to_lesson(cell)]
        self._free_ids = {cell["id"] for cell in free if cell.get("id")}
        self._names = {_grade_id(cell) for cell in self._source} - {""}
        self._free_texts = {_normal(cell["source"]) for cell in free}
        self._ahead = ahead_of(source)
        self._has_self_study = handed_out is None and any(
            role(cell).get("role") == "task" for cell in source
        )
        self._cells = handed_in
        self._place: dict[int, int] = {}
        self._taken: set[int] = set()
        self._elsewhere: set[int] = set()
        self._notes: list[str] = []
        self._bounds = CellBounds()
        self._answer_bounds = CellBounds(_ANSWERS_NBYTES)
        self._parts: dict[int, AnswerParts] = {}  # by the number of the source cell
        self._remarks: dict[str, str] = {}
        self._shown = shown_texts(source)
        self._names_of: dict[int, frozenset[str]] = {}  # by the number of the handed-in cell
        self._free: dict[int, bool] = {}  # likewise
        self._left_to_parse = 2 * MOST_PARSED_CHARS

    def carry_out(self) -> Repaired:
        """Match, say what differs, put together."""
        by_id = {_grade_id(cell): number for number, cell in enumerate(self._source)}
        self._match(lambda cell: by_id.get(_grade_id(cell)))
        cell_ids = {cell["id"]: n for n, cell in enumerate(self._source) if cell.get("id")}
        self._match(lambda cell: cell_ids.get(cell.get("id")))
        texts = {
            text: n
            for n, cell in enumerate(self._source)
            if not is_answer(cell)
            for text in self._handed_out(cell)
        }
        self._match(lambda cell: texts.get(_normal(cell["source"])))
        self._match_by_position()
        self._prefer_answers()
        moved = self._put_together()
        left_out = self._duplicates(by_id, moved) | self._stray_stubs() | moved
        missing = self._report_missing()
        cells = self._in_order(left_out)
        notes = (*_first(self._notes), *self._answer_bounds.notes(), *self._bounds.notes())
        return Repaired(tuple(_with_ids(cells)), notes, frozenset(missing), self._remarks)

    def _defined(self, index: int) -> frozenset[str]:
        """The names that a handed-in cell binds; of more text than anyone writes, about those."""
        if index not in self._names_of:
            source = self._cells[index]["source"]
            self._left_to_parse -= len(source)
            read = defined if self._left_to_parse >= 0 else defined_by_lines
            self._names_of[index] = read(source)
        return self._names_of[index]

    def _match(self, number_of: Any) -> None:
        for index, cell in enumerate(self._cells):
            number = number_of(cell)
            if number is not None and number not in self._place and index not in self._taken:
                self._place[number] = index
                self._taken.add(index)

    def _match_by_position(self) -> None:
        for number, cell in enumerate(self._source):
            if number in self._place or not is_answer(cell):
                continue
            index = self._candidate(number, cell)
            if index is not None:
                self._place[number] = index
                self._taken.add(index)

    def _candidate(self, number: int, wanted: RawCell) -> int | None:
        """The one cell between its neighbours that can be this answer, None where none can."""
        before = [i for n, i in self._place.items() if n < number]
        after = [i for n, i in self._place.items() if n > number]
        start, stop = max(before, default=-1) + 1, min(after, default=len(self._cells))
        free = [i for i in range(start, stop) if self._is_candidate(i)]
        names = defined(wanted["source"])
        for index in free:
            if names & self._defined(index):
                return index
        typed = [i for i in free if self._cells[i]["cell_type"] == wanted["cell_type"]]
        return typed[0] if len(typed) == 1 else None

    def _is_candidate(self, index: int) -> bool:
        cell = self._cells[index]
        if index in self._taken or cell.get("id") in self._free_ids:
            return False
        return not self._is_of_the_lesson(index)

    def _is_of_the_lesson(self, index: int) -> bool:
        """Whether a handed-in cell is one that the lesson has between those of the exercises."""
        if index not in self._free:
            self._free[index] = _normal(self._cells[index]["source"]) in self._free_texts
        return self._free[index]

    def _prefer_answers(self) -> None:
        """Of several cells with the grade id of an answer, take one in which something stands."""
        for number, index in list(self._place.items()):
            model = self._source[number]
            if not is_answer(model) or not self._is_untouched(index, number):
                continue
            written = [i for i in self._copies(number) if not self._is_untouched(i, number)]
            if written:
                self._place[number] = written[0]
                self._taken = self._taken - {index} | {written[0]}

    def _put_together(self) -> set[int]:
        """Gather what belongs to each answer that a person marks; the cells that moved into it."""
        moved: set[int] = set()
        for number in sorted(self._place):
            model, name = self._source[number], _grade_id(self._source[number])
            if not is_marked(model):
                continue
            found = self._parts_of(model, number, moved)
            self._parts[number] = found
            moved |= found.moved
            remarks = []
            if found.cells > 1:
                remarks.append(f"It was put together from {found.cells} cells.")
                self._notes.append(
                    f"`{name}` was put together from {found.cells} cells, its own and those "
                    "beside it."
                )
            if found.more:
                cells = "1 more cell" if found.more == 1 else f"{found.more:,} more cells"
                remarks.append(f"{cells} beside it, too many to put together, stayed in place.")
                self._notes.append(f"Of `{name}`, {remarks[-1]}")
            if remarks:
                self._remarks[name] = " ".join(remarks)
        return moved

    def _parts_of(self, model: RawCell, number: int, moved: set[int]) -> AnswerParts:
        place = self._place[number]
        around = Surroundings(
            cells=self._cells,
            place=place,
            stub=self._stub(model),
            copies=frozenset(self._copies(number)) - moved,
            is_lessons=lambda i: self._is_lessons(i, number) or i in moved,
        )
        if model["cell_type"] == "code":
            return code_of(around)
        above = max((n for n, i in self._place.items() if i < place), default=None)
        return words_of(around, look_above=above is None or not is_marked(self._source[above]))

    def _is_lessons(self, index: int, number: int) -> bool:
        """Whether a handed-in cell belongs to the lesson, and is no copy of answer `number`."""
        if index in self._taken:
            return True
        cell = self._cells[index]
        if _grade_id(cell) == _grade_id(self._source[number]):
            return False
        return _grade_id(cell) in self._names or not self._is_candidate(index)

    def _copies(self, number: int) -> list[int]:
        """The handed-in cells with the grade id of a source cell, without the one in its place."""
        name = _grade_id(self._source[number])
        return [
            index
            for index, cell in enumerate(self._cells)
            if index not in self._taken and name and _grade_id(cell) == name
        ]

    def _is_untouched(self, index: int, number: int) -> bool:
        return is_untouched(self._cells[index]["source"], self._stub(self._source[number]))

    def _stray_stubs(self) -> set[int]:
        """Copies of a stub that lost their grade id; below the answer they would undo it."""
        stubs = {}
        for number, index in self._place.items():
            model = self._source[number]
            binds = model["cell_type"] == "code" and is_answer(model) and defined(self._stub(model))
            if binds and not self._is_untouched(index, number):
                stubs[_normal(self._stub(model))] = (index, _grade_id(model))
        strays = set()
        for index, cell in enumerate(self._cells):
            place, name = stubs.get(_normal(cell["source"]), (index, ""))
            if place < index and index not in self._taken and not _grade_id(cell):
                strays.add(index)
                self._notes.append(_COPY.format(name))
        return strays

    def _duplicates(self, by_id: Mapping[str, int], moved: set[int]) -> set[int]:
        """Copies of cells that may not be changed, or that were not; they are left out."""
        copies = set()
        for index, cell in enumerate(self._cells):
            number = by_id.get(_grade_id(cell))
            if index in self._taken or index in moved or number is None:
                continue
            name = _grade_id(cell)
            if is_answer(self._source[number]) and self._is_untouched(index, number):
                copies.add(index)
                self._notes.append(_COPY.format(name))
            elif is_answer(self._source[number]):
                self._notes.append(f"`{name}` stands there more than once; all of it was run.")
            else:
                copies.add(index)
                self._notes.append(f"`{name}` stood there more than once; the copy was left out.")
        return copies

    def _report_missing(self) -> list[str]:
        nowhere = []
        for number, cell in enumerate(self._source):
            name = _grade_id(cell)
            if number in self._place:
                continue
            if not is_answer(cell):
                self._notes.append(f"`{name}` was missing and was put back.")
            elif self._is_defined_elsewhere(cell):
                self._elsewhere.add(number)
                self._notes.append(f"`{name}` is missing; what your other cells define counts.")
            elif grader(cell).get("grade"):
                self._notes.append(f"`{name}` is missing; a person looks for the answer.")
            else:
                nowhere.append(name)
                self._notes.append(f"The answer cell `{name}` is missing; it counts as untouched.")
        return nowhere

    def _is_defined_elsewhere(self, model: RawCell) -> bool:
        """Whether a cell of the learner binds a name that the stub would bind again."""
        names = defined(self._stub(model)) or defined(model["source"])
        if model["cell_type"] != "code" or not names:
            return False
        lessons = {i for n, i in self._place.items() if not is_answer(self._source[n])}
        own = ((i, cell) for i, cell in enumerate(self._cells) if i not in lessons)
        return any(
            cell["cell_type"] == "code"
            and not self._is_of_the_lesson(i)
            and names & self._defined(i)
            for i, cell in own
        )

    def _in_order(self, left_out: set[int]) -> list[RawCell]:
        numbers = {index: number for number, index in self._place.items()}
        found = [numbers[index] for index in sorted(numbers)]
        if found == sorted(found) and len(found) == len(self._source):
            order = [i for i in range(len(self._cells)) if i not in left_out]
            return [self._cell(index, numbers.get(index)) for index in order]
        self._note_moves(found)
        first, groups = self._groups(numbers, left_out)
        cells = [self._cell(index, None) for index in first]
        for number in range(len(self._source)):
            cells.append(self._cell(self._place.get(number), number))
            cells += [self._cell(index, None) for index in groups.get(number, [])]
        return cells

    def _groups(
        self, numbers: Mapping[int, int], left_out: set[int]
    ) -> tuple[list[int], dict[int, list[int]]]:
        """The learner's own cells: those before the first cell of the lesson, and after each."""
        first: list[int] = []
        groups: dict[int, list[int]] = {}
        current = first
        for index in range(len(self._cells)):
            if index in numbers:
                current = groups.setdefault(numbers[index], [])
            elif index not in left_out:
                current.append(index)
        return first, groups

    def _note_moves(self, found: list[int]) -> None:
        if found != sorted(found):
            moved = [n for n, after in itertools.pairwise(found) if n > after]
            names = ", ".join(f"`{_grade_id(self._source[number])}`" for number in moved)
            self._notes.append(f"Cells were moved (near {names}); they ran in the lesson's order.")

    def _cell(self, index: int | None, number: int | None) -> RawCell:
        """The cell to run: the lesson's, the learner's answer in it, or the learner's own."""
        if number is None:
            assert index is not None
            return self._own(self._cells[index])
        model = self._source[number]
        if index is None:
            return _fresh(model, self._put_back(model, number))
        cell = self._cells[index]
        self._note_changes(model, cell)
        if not is_answer(model):
            return _fresh(model, model["source"])
        parts = self._parts.get(number)
        if parts is None:
            return _fresh(model, cell["source"])
        pictures = self._answer_bounds.kept(parts.pictures) if parts.pictures else {}
        return _fresh(model, parts.text) | ({"attachments": pictures} if pictures else {})

    def _own(self, cell: RawCell) -> RawCell:
        """A cell that the lesson does not ask for; of one that only shows, with what it showed."""
        kept = _own_cell(cell, self._notes, self._bounds)
        if cell["source"] in self._shown:
            kept["outputs"] = self._bounds.outputs(cell.get("outputs"))
        return kept

    def _put_back(self, model: RawCell, number: int) -> str:
        """The text of a cell that was not handed in.

        What a person grades never looks like an untouched stub: nbgrader asks the person too.
        """
        if not is_answer(model):
            return str(model["source"])
        if number in self._elsewhere:
            return _LOST_CODE
        if not grader(model).get("grade"):
            return self._stub(model)
        notice = _LOST_CODE if model["cell_type"] == "code" else _LOST_WORDS
        return f"{notice}\n\n{self._stub(model)}"

    def _stub(self, model: RawCell) -> str:
        if self._given is not None:
            return self._given.get(_grade_id(model), model["source"])
        return stubbed(model["source"], words=model["cell_type"] != "code")

    def _note_changes(self, model: RawCell, cell: RawCell) -> None:
        name = _grade_id(model)
        if _grade_id(cell) != name:
            self._notes.append(f"`{name}` had lost its grade id; it was recognised and restored.")
        if cell["cell_type"] != model["cell_type"]:
            was, now = cell["cell_type"], model["cell_type"]
            self._notes.append(f"`{name}` had become a {was} cell; it was run as a {now} cell.")
        elif not is_answer(model) and _normal(cell["source"]) not in self._forms(model):
            self._notes.append(f"`{name}` was changed; the lesson's own cell was used.")

    def _handed_out(self, cell: RawCell) -> set[str]:
        """The texts under which the class edition shows a cell: today's, and that of before."""
        if self._given is not None:
            return {_normal(self._given.get(_grade_id(cell), cell["source"]))}
        shown, name = _without_hidden_part(cell["source"]), _grade_id(cell)
        if name not in self._ahead:
            return {shown}
        exercise = name.removeprefix("test-")
        return {shown, _normal(for_readers(shown, exercise, self._ahead[name]))}

    def _forms(self, cell: RawCell) -> set[str]:
        """These, and the text of the self-study edition, which hides nothing, where there is one.

        Elsewhere a test with the right hidden lines counts as changed, too: who is told nothing of
        it would have guessed them.
        """
        whole, name = cell["source"], _grade_id(cell)
        found = set(self._handed_out(cell))
        if self._has_self_study and name in self._ahead:
            exercise = name.removeprefix("test-")
            found |= {_normal(whole), _normal(for_readers(whole, exercise, self._ahead[name]))}
        return found


def _fresh(model: RawCell, text: str) -> RawCell:
    """The lesson's cell with this text in it and no outputs."""
    cell = {key: value for key, value in model.items() if key in ("id", "cell_type", "metadata")}
    return {**cell, "source": text}


def _own_cell(cell: RawCell, notes: list[str], bounds: CellBounds) -> RawCell:
    """A learner's own cell; nothing in it counts for the grade."""
    metadata = {key: value for key, value in cell["metadata"].items() if key != "nbgrader"}
    about = grader(cell)
    if about.get("grade"):
        notes.append(f"`{_grade_id(cell)}` is marked as graded, but the lesson has no such cell.")
    kept: RawCell = {k: cell[k] for k in ("id", "cell_type", "source") if k in cell}
    if cell["cell_type"] == "markdown" and "attachments" in cell:
        kept["attachments"] = bounds.kept(attachments_of(cell))
    return {**kept, "metadata": bounds.kept(metadata)}


def _first(notes: list[str]) -> list[str]:
    """The first of the notes, and how many more there were."""
    more = len(notes) - _MOST_NOTES
    return notes if more <= 0 else [*notes[:_MOST_NOTES], f"And {more:,} more notes of this kind."]


def _with_ids(cells: Iterable[RawCell]) -> list[RawCell]:
    """The cells, each with a valid id that no other has."""
    seen: set[str] = set()
    found = []
    for number, cell in enumerate(cells):
        id_ = cell.get("id")
        if not isinstance(id_, str) or not _CELL_ID.fullmatch(id_) or id_ in seen:
            id_ = f"cell-{number}"
        while id_ in seen:
            id_ += "-"
        seen.add(id_)
        found.append({**cell, "id": id_})
    return found


def _grade_id(cell: RawCell) -> str:
    name = grader(cell).get("grade_id", "")
    return name[:200] if isinstance(name, str) else ""


def _normal(source: str) -> str:
    return "\n".join(map(str.rstrip, source.strip().split("\n")))


@lru_cache(maxsize=1_000)
def _without_hidden_part(source: str) -> str:
    """The cell as the class edition shows it."""
    try:
        return _normal("\n".join(split_regions(source, HIDDEN)[0]))
    except RegionError:
        return _normal(source)
