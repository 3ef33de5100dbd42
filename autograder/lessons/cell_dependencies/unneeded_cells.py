"""Which of a lesson's own cells need not run for a submission, because they only show.

A cell that says so (`metadata.course.shows`) leaves nothing behind but its output and the names
that it binds: `autograder.simulation.effects` runs the lesson and proves it. What a cell draws from
torch's generator is counted there (`metadata.course.draws`), and is drawn all the same. Whether
anything needs those names depends on the submission, and is read from the code here. A cell with a
name that an answer, a test, a changed cell or one of the learner's own may find bound runs, and so
does each cell with one that such a cell may find; a name that no cell binds, or none reads, is not
shared. Where code may reach names that it does not spell out, every cell runs.
"""

from __future__ import annotations

import ast
import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping

from autograder.lessons.cell_dependencies.cell_names import (
    BUILTINS,
    KNOWN,
    SETTING,
    Import,
    asked_for,
    assigned_names,
    bound_anyhow,
    bound_first,
    bound_names,
    called_name,
    changes_common,
    constants,
    imported_names,
    imports_of,
    is_changed,
    leading_imports,
    mentioned,
    read_code,
    read_later,
    root_name,
    root_of,
    used_names,
    words_of,
)
from autograder.lessons.cells import RawCell, grader, is_answer, role
from autograder.lessons.definitions import MOST_PARSED_CHARS

_CHANGING = frozenset({"seed", "set_default_dtype"})
MOST_DRAWS = 2**20  # of a cell that only shows: a few milliseconds


def shows(cell: RawCell) -> bool:
    """Whether a cell of the source says that it only shows; a submission's word counts nothing."""
    return cell["cell_type"] == "code" and role(cell).get("shows") is True and not grader(cell)


def draws(cell: RawCell) -> int:
    """How many numbers of 32 bits a cell that only shows draws from torch's default generator."""
    said = role(cell).get("draws")
    return said if shows(cell) and type(said) is int and 0 < said <= MOST_DRAWS else 0


def shown_texts(source: Iterable[RawCell]) -> frozenset[str]:
    """The texts of a lesson's cells that only show."""
    return frozenset(cell["source"] for cell in source if shows(cell))


def _draws_by_text(source: Iterable[RawCell]) -> dict[str, int]:
    """What cells that only show draw, by their texts, without a text that says two things."""
    said: dict[str, set[int]] = {}
    for cell in source:
        if shows(cell):
            said.setdefault(cell["source"], set()).add(draws(cell))
    return {text: numbers.pop() for text, numbers in said.items() if len(numbers) == 1}


class ShownCells:
    """The cells of one lesson that only show."""

    def __init__(self, source: Iterable[RawCell]) -> None:
        """Read the lesson's own cells, `Lesson.cells()`."""
        cells = list(source)
        self.draws = _draws_by_text(cells)
        self.texts = frozenset(self.draws)
        own = (one["source"] for one in cells if one["cell_type"] == "code" and not is_answer(one))
        self._words = {text: words_of(text) for text in own if mentioned(text) is None}
        setup = [one["source"] for one in cells if grader(one).get("grade_id") == "setup"]
        every = [one["source"] for one in cells if one["cell_type"] == "code"]
        others = set[str]().union(*(bound_anyhow(text) for text in every if text not in setup))
        fixed = (constants(text) - others for text in setup)
        self.common = BUILTINS.union(*map(imported_names, setup), *fixed)
        self.imported = self.common.union(*map(imported_names, every))  # by any of its cells
        self._imports = frozenset(one for text in setup for one in imports_of(text))
        self._modules = KNOWN.union(root_of(one) for text in every for one in imports_of(text))
        self._own = frozenset(one["source"] for one in cells if not is_answer(one))

    def left_out(self, cells: Iterable[RawCell], apart: Container[int]) -> frozenset[int]:
        """The numbers of the cells that need not run.

        Args:
            cells: All cells of a repaired submission, in their order.
            apart: The numbers of those test cells that see nothing of the notebook but what they
                ask for by its name.
        """
        code = {n: one["source"] for n, one in enumerate(cells) if one["cell_type"] == "code"}
        if self.is_too_long(code.values()):
            return frozenset()
        if any(self.changes_common(text) for text in code.values() if text not in self._own):
            return frozenset()
        read = {n: asked_for(t) if n in apart else self.mentioned(t) for n, t in code.items()}
        if any(names is None for names in read.values()):
            return frozenset()
        tests = {text for n, text in code.items() if n in apart}
        carried = self._carried(set(code.values()) - tests, tests)
        mentions = {n: (names or frozenset()) & carried for n, names in read.items()}
        modules = _modules(set(code.values()) - tests)
        needs = _Needs(mentions, {n for n, text in code.items() if text in self.texts})
        for n, text in code.items():
            if n in apart:
                needs.add_test(n)
            else:
                needs.add_cell(n, _made_here(text, modules), read_later(text))
        return needs.unneeded()

    def _carried(self, run: Iterable[str], tests: Iterable[str]) -> frozenset[str]:
        """The names by which a cell may find what another has made: both bound and read.

        Args:
            run: The texts of the cells that may run beside the answers.
            tests: Those of the test cells that do not.
        """
        bound, used = set[str](), set[str]().union(*map(asked_for, tests))
        for text in run:
            words = self._words.get(text, frozenset())
            bound |= words | bound_anyhow(text)
            used |= words | used_names(text)
        return frozenset(bound & used) - self.common

    def is_too_long(self, texts: Iterable[str]) -> bool:
        """Whether of these cells a learner wrote more than is read here, where no limit holds."""
        return sum(len(text) for text in texts if text not in self._own) > MOST_PARSED_CHARS

    def has(self, source: str) -> bool:
        """Whether a cell is the lesson's own, and no answer."""
        return source in self._own

    def mentioned(self, source: str) -> frozenset[str] | None:
        """The global names that a cell may read or bind; None where it may reach others."""
        found = self._words.get(source)  # the lesson's own magics hide nothing
        return mentioned(source) if found is None else found

    def changes_common(self, source: str) -> bool:
        """Whether a cell may change what cells share besides the notebook's names."""
        if any(root_of(one) not in self._modules for one in imports_of(source)):
            return True  # a module that the learner wrote may do anything
        return changes_common(source, self.common, self._imports)


class _Needs:
    """Which cells of a notebook run, as others may find their names.

    A cell finds what cells before it have bound, a function and a test also what later ones have.
    """

    def __init__(self, mentions: Mapping[int, frozenset[str]], shown: Iterable[int]) -> None:
        """Begin with no need.

        Args:
            mentions: The names of each cell that others may share.
            shown: The cells that need not run by themselves.
        """
        self._mentions, self._left = mentions, set(shown)
        self._by_name = defaultdict[str, list[int]](list)
        for number, names in mentions.items():
            for name in names:
                self._by_name[name].append(number)
        self._own = dict[int, frozenset[str]]()
        self._later = dict[int, frozenset[str]]()
        self._until = dict[str, float]()  # by name, the place up to which somebody finds it
        self._changed = set[str]()

    def add_test(self, number: int) -> None:
        """It looks at what it asks for after all cells have run."""
        self.add_cell(number, frozenset(), self._mentions[number])

    def add_cell(self, number: int, own: frozenset[str], later: frozenset[str]) -> None:
        """A cell that binds its `own` names before it reads them, and reads some `later`."""
        names = self._mentions[number]
        self._own[number], self._later[number] = own & names, (later & names) - own
        if number not in self._left:
            self._runs(number)

    def unneeded(self) -> frozenset[int]:
        """The cells that need not run, once all have been added."""
        while self._changed:
            name = self._changed.pop()
            for number in self._by_name[name]:
                if number >= self._until[name]:
                    continue
                if number in self._left:
                    self._left.discard(number)
                    self._runs(number)
                # Who finds what a cell makes may find by it whatever else that cell has at hand.
                if name in self._own[number]:
                    self._need(self._mentions[number], self._until[name])
        return frozenset(self._left)

    def _runs(self, number: int) -> None:
        found = self._mentions[number] - self._own[number]
        self._need(found - self._later[number], number)
        self._need(self._later[number], math.inf)

    def _need(self, names: Iterable[str], until: float) -> None:
        more = {name for name in names if self._until.get(name, -1) < until}
        self._until |= dict.fromkeys(more, until)
        self._changed |= more


def _made_here(source: str, modules: frozenset[str]) -> frozenset[str]:
    """The names that a cell mentions and does not find where it runs, as it binds them itself."""
    return bound_first(source) | (leading_imports(source) & modules)


def _modules(cells: Iterable[str]) -> frozenset[str]:
    """The names that stand for one thing in all these cells, whichever of them imports it."""
    imports, bound = set[Import](), set[str]()
    for text in cells:
        imports |= imports_of(text)
        bound |= bound_names(text) or frozenset()
    counts = Counter(name for *_, name in imports)
    return frozenset(name for name, count in counts.items() if count == 1) - bound


def said_by_code(cell: RawCell, lesson: ShownCells) -> Iterator[str]:
    """Give the effects that the text of a cell shows.

    Args:
        cell: One of the lesson's own.
        lesson: All of them.
    """
    code = read_code(cell["source"])
    if code is None:
        yield "it is no plain Python"
        return
    bound = assigned_names(cell["source"])
    if bound & lesson.common:
        yield f"it binds {', '.join(sorted(bound & lesson.common))} anew"
    called = {one.func for one in code.nodes if isinstance(one, ast.Call)}
    named = [one for one in code.nodes if isinstance(one, ast.Name | ast.Attribute)]
    for node in named:
        attribute = node.attr if isinstance(node, ast.Attribute) else ""
        if attribute and is_changed(node) and root_name(node) in lesson.imported:
            yield f"it changes {ast.unparse(node)}"
        is_variable = not attribute and called_name(node) == "seed" and node not in called
        if called_name(node) in SETTING | _CHANGING and not is_variable:
            yield f"it uses {called_name(node)}"
        if attribute.startswith("register_"):
            yield f"it uses {attribute}"
