"""Packages whose names are loaded when first asked for (PEP 562)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: dict[str, Any]) -> tuple[list[str], Callable[[str], Any]]:
    """The `__all__` and the `__getattr__` of a package that imports nothing before it is asked.

    The package writes each name once, as an import for type checkers, which does not run. Its own
    source is read here, so that type checkers and Python see the same names:

        if TYPE_CHECKING:
            from course.claims.reader import claim, claims

        __all__, __getattr__ = lazy_names(globals())

    Args:
        package: The globals of the package's `__init__.py`.

    Returns:
        The names, sorted, and the function that imports one of them from its home.

    Raises:
        AttributeError: By the function, for a name that the package does not offer.
    """
    name = package["__name__"]
    homes = dict(_homes(package["__loader__"].get_source(name)))

    def find(asked: str) -> Any:
        if asked not in homes:
            raise AttributeError(f"module {name!r} has no attribute {asked!r}")
        module, inside = homes[asked]
        # `from package import module` names a module, which need not be loaded yet; asking the
        # package for one of its own would come back here.
        found = None if module == name else getattr(import_module(module), inside, None)
        package[asked] = import_module(f"{module}.{inside}") if found is None else found
        return package[asked]

    return sorted(homes), find


def _homes(source: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each name that is imported for type checkers, with its module and its name there."""
    for block in ast.parse(source).body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for node in block.body:
                if isinstance(node, ast.ImportFrom) and node.module:
                    for one in node.names:
                        yield one.asname or one.name, (node.module, one.name)
