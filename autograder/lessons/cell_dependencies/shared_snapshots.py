"""Which test cells of a notebook may look at one and the same moment of it.

A test cell looks at the notebook's state where it stands. Where no cell between it and a later test
cell touches a name that its answers depend on, it finds at the later one's place what it would have
found at its own. Names are read from the code, as `cell_names` reads them. A cell that may set what
all cells share stands between any two tests; after a learner's cell that does so, or that may reach
names which it does not spell out, each test cell looks where it stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from autograder.lessons.cell_dependencies.cell_names import (
    KNOWN,
    Import,
    asked_for,
    bound_names,
    imports_of,
)
from autograder.lessons.cell_dependencies.unneeded_cells import ShownCells

__all__ = ["snapshot_places"]


@dataclass(frozen=True)
class _Touch:
    """What a cell does with names: those that it mentions, and what it makes of them.

    `imports` are of modules that change nothing when they are imported; `sets` are the names that
    it binds in another way, or has an attribute or an item of set.
    """

    names: frozenset[str]
    imports: frozenset[Import]
    sets: frozenset[str]


def snapshot_places(
    run: Mapping[int, str], tests: Mapping[int, str], lesson: ShownCells
) -> dict[int, int]:
    """For test cells the number of the one at whose place each may look at its answers.

    Those that are not named look where they stand.

    Args:
        run: The texts of the cells that are executed beside the answers, by their numbers.
        tests: Those of the test cells, which are not.
        lesson: What is known of the lesson's own cells.
    """
    found = dict[int, int]()
    if lesson.is_too_long(run.values()):
        return found
    waiting, needed = list[int](), set[str]()
    before = defaultdict[str, list[_Touch]](list)  # by each name that they mention
    modules = dict[str, Import]()  # names that stand for one module, whichever cell imports it
    for number in sorted(run.keys() | tests.keys()):
        if number in tests:
            waiting.append(number)
            needed |= _needed(asked_for(tests[number]), before, modules)
            continue
        touch = _touch_of(run[number], lesson)
        apart = lesson.changes_common(run[number])
        if waiting and (touch is None or apart or _meets(touch, needed, modules)):
            found |= dict.fromkeys(waiting, waiting[-1])
            waiting, needed = [], set()
        if touch is None or (apart and not lesson.has(run[number])):
            return found  # nobody knows what depends on what from here on
        for name in touch.names:
            before[name].append(touch)
        _note_modules(touch, modules)
    return found | dict.fromkeys(waiting, max(waiting, default=0))


def _needed(
    asked: Iterable[str], before: Mapping[str, Sequence[_Touch]], modules: Mapping[str, Import]
) -> set[str]:
    """The names of these answers, and those of all cells that share one with them.

    Each name and each cell is met once: a learner's cells may be thousands, chained by their names.
    """
    names, met = set(asked), set[int]()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        for touch in () if name in modules else before.get(name, ()):
            if id(touch) not in met:
                met.add(id(touch))
                waiting += touch.names - names
                names |= touch.names
    return names


def _meets(touch: _Touch, needed: set[str], modules: Mapping[str, Import]) -> bool:
    """Whether a cell touches a name that is needed, other than a module that it leaves alone."""
    met = touch.names & needed
    if not met:
        return False
    others = {one[-1] for one in touch.imports if modules.get(one[-1]) != one}
    return any(one not in modules or one in others or one in touch.sets for one in met)


def _note_modules(touch: _Touch, modules: dict[str, Import]) -> None:
    for one in touch.imports:
        if modules.setdefault(one[-1], one) != one:
            del modules[one[-1]]
    for name in touch.sets & modules.keys():
        del modules[name]


def _touch_of(source: str, lesson: ShownCells) -> _Touch | None:
    """What a cell touches, None where it may reach what it does not spell out."""
    names = lesson.mentioned(source)
    if names is None:
        return None
    imports, sets = _made_of_names(source)
    return _Touch(names - lesson.common, imports, names if sets is None else sets)


@lru_cache(maxsize=4_000)
def _made_of_names(source: str) -> tuple[frozenset[Import], frozenset[str] | None]:
    """The modules that a cell imports, and the names that it sets; None for no plain Python."""
    imports = frozenset(one for one in imports_of(source) if one[0].partition(".")[0] in KNOWN)
    return imports, bound_names(source)
