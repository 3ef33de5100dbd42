"""Packages whose names are loaded when first asked for (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["loading"]


def loading(package: dict[str, Any], homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for the package with these globals: each name is imported from its home once.

    >>> find = loading({"__name__": "course"}, {"same_storage": "course.inspection.facts"})
    >>> find("same_storage").__module__
    'course.inspection.facts'
    >>> find("reshap")
    Traceback (most recent call last):
    AttributeError: module 'course' has no attribute 'reshap'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        home = import_module(homes[name])
        # A home of the same name is offered itself, unless something in it has that name.
        itself = homes[name].endswith(f".{name}") and not hasattr(home, name)
        found = package[name] = home if itself else getattr(home, name)
        return found

    return find
