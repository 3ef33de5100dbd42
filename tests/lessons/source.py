"""A lesson's source notebook, as the tests of the lessons read it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.lessons.model import Exercise, find_lesson
from autograder.lessons.regions import without_markers

ROOT = Path(__file__).parents[2]


class Source:
    """The source of one lesson: its cells, its exercises, and what they define."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self.lesson = find_lesson(ROOT, slug)
        # A question in words is graded by a person and has no checks.
        self.exercises: list[Exercise] = [one for one in self.lesson.exercises if not one.manual]

    def cells(self) -> dict[str, dict[str, Any]]:
        """The cells by id."""
        return {cell["id"]: cell for cell in self.lesson.cells()}

    def with_role(self, *roles: str) -> list[dict[str, Any]]:
        """The cells of these roles, in their order."""
        return [cell for cell in self.cells().values() if course_of(cell).get("role") in roles]

    def text(self, id_: str) -> str:
        """The source of a cell."""
        return str(self.cells()[id_]["source"])

    def run(self, *ids: str, **names: Any) -> dict[str, Any]:
        """What these cells define, one after another, with these names there before."""
        for id_ in ids:
            exec(self.text(id_), names)
        return names

    def warm_up_states(
        self, right: Mapping[str, Any], names: dict[str, Any]
    ) -> dict[str, tuple[str, str]]:
        """What each warm-up says of its right answer and of another one, run with these names."""
        return {name: self._states(f"warm-up-{name}", one, names) for name, one in right.items()}

    def _states(self, id_: str, right: Any, names: dict[str, Any]) -> tuple[str, str]:
        before, asked = self.text(id_).split("warm_up(", 1)
        told = asked.replace("yours=...", "yours=typed")
        states = []
        for names["typed"] in (right, "something else"):
            exec(f"{before}answer = warm_up({told}", names)
            states.append(names["answer"].state)
        return states[0], states[1]

    def noted(self, what: str) -> list[str]:
        """All names of a kind, such as claims, that the cells say they teach."""
        return [name for cell in self.cells().values() for name in course_of(cell).get(what, [])]

    def solved(self, *ids: str) -> dict[str, Any]:
        """What the set-up cell and these cells define, with the solutions in."""
        names: dict[str, Any] = {}
        for id_ in ("setup", *ids):
            exec(without_markers(self.cells()[id_]["source"]), names)
        return names


def course_of(cell: dict[str, Any]) -> dict[str, Any]:
    """The course's metadata of a cell."""
    found: dict[str, Any] = cell["metadata"].get("course", {})
    return found
