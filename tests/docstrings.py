"""What docstrings say of parameters, for the tests of what packages offer."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

_SECTION = re.compile(r"^(?:Args|Attributes):\n((?: {4}.*\n|\n)*)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+): \S", re.MULTILINE)


def public_names(top: ModuleType) -> dict[str, Any]:
    """The functions, probes and classes with parameters that packages name in `__all__`.

    Args:
        top: A package; those inside it are looked at as well.

    Returns:
        Each of them by its package and name; one that several packages offer stands there once.
    """
    found: dict[int, tuple[str, Any]] = {}
    for package in _packages(top):
        for name in getattr(package, "__all__", ()):
            thing = getattr(package, name)
            if _is_ours(thing, top.__name__) and parameters(thing):
                found.setdefault(id(thing), (f"{package.__name__}.{name}", thing))
    return dict(found.values())


def parameters(thing: Any) -> set[str]:
    """The names of what a function or class takes.

    Args:
        thing: A function, a probe or a class.
    """
    return set(inspect.signature(thing).parameters)


def told(thing: Any) -> set[str]:
    """The names that have an entry under Args, or under Attributes.

    Args:
        thing: A function, a probe or a class, which may tell of them in its `__init__`.
    """
    own = vars(thing).get("__init__") if isinstance(thing, type) else None
    texts = [inspect.cleandoc(one.__doc__ or "") + "\n" for one in (thing, own) if one is not None]
    sections = [section for text in texts for section in _SECTION.findall(text)]
    return {name for section in sections for name in _ENTRY.findall(section)}


def _packages(top: ModuleType) -> Iterator[ModuleType]:
    yield top
    for one in pkgutil.walk_packages(top.__path__, f"{top.__name__}."):
        if one.ispkg:
            yield import_module(one.name)


def _is_ours(thing: Any, top: str) -> bool:
    """Whether its parameters are named in this package, and not in Python's own exceptions."""
    if isinstance(thing, type):
        thing = thing.__init__
    if not inspect.isfunction(inspect.unwrap(thing)):
        return False
    return str(inspect.unwrap(thing).__module__).partition(".")[0] == top
