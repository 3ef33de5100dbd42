"""The explorers of all lessons that are here, for the tests that show them in a browser."""

from __future__ import annotations

import pkgutil
from importlib import import_module

import course.lessons

# Each by its name, with the package that its lesson's notebook imports it from.
HOMES = {
    name: f"course.lessons.{folder.name}"
    for folder in pkgutil.iter_modules(course.lessons.__path__)
    for name in import_module(f"course.lessons.{folder.name}").__all__
    if name.startswith("explore_")
}


def imports(*names: str) -> str:
    """The lines that import these explorers.

    Args:
        names: Keys of HOMES.
    """
    return "\n".join(f"from {HOMES[name]} import {name}" for name in names)
