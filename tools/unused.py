"""Names the code that nobody uses; `make lint` runs it from the root of the repository.

vulture reads the packages, and the lessons' notebooks as users of `course`. Offering a name in
`__all__` is no use of it, and neither is a test: what only a test calls is dead. What is called by
somebody vulture cannot see is excused in pyproject.toml, each with its reason; an excuse for what
is used, or gone, is named too.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from vulture import Vulture

__all__ = ["Finding", "not_imported", "unused", "without_excused"]

CODE = ("course", "autograder", "docs", "tools")
# Users besides: their own names are nobody's business here.
NOTEBOOKS = ("source/*/*.ipynb", "release/*.ipynb")
SCRIPTS = ("nbgrader_config.py",)
# What is set on an object of a library's, such as `button.disabled`, is read by that library.
SKIPPED_KINDS = {"attribute", "import"}  # of imports, ruff knows more


class _Reader(Vulture):
    """Takes `__all__` for a list of names, not for somebody who uses them."""

    def visit_Assign(self, node: ast.Assign) -> None:
        """Leave out what vulture does here."""


def _code_of(notebook: Path) -> Iterator[str]:
    """The code of each cell, without IPython's magic lines."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            lines = "".join(cell["source"]).splitlines()
            yield "\n".join("" if re.match(r"\s*[%!]", line) else line for line in lines)


def _sources(root: Path) -> Iterator[tuple[Path, str, bool]]:
    """File, code and whether it is code of the packages. The banks of answers are data."""
    for folder in CODE:
        for path in sorted((root / folder).rglob("*.py")):
            if path.parent.name != "answers":
                yield path.relative_to(root), path.read_text(encoding="utf-8"), True
    for pattern in (*NOTEBOOKS, *SCRIPTS):
        for path in sorted(root.glob(pattern)):
            cells = (
                _code_of(path) if path.suffix == ".ipynb" else [path.read_text(encoding="utf-8")]
            )
            for code in cells:
                yield path.relative_to(root), code, False


class Finding(NamedTuple):
    """A name that nobody uses, and the line that says so."""

    name: str
    line: str


def unused(root: Path, skipped_files: Iterable[str] = ()) -> list[Finding]:
    """The functions, classes, methods and variables that nobody uses.

    Args:
        root: The root of the repository.
        skipped_files: Patterns of files whose own names are not looked at.
    """
    reader, ours = _Reader(), set()
    for path, code, is_ours in _sources(root):
        reader.scan(code, filename=path)
        if is_ours and not any(fnmatch(str(path), pattern) for pattern in skipped_files):
            ours.add(path)
    return [
        Finding(item.name, f"{item.filename}:{item.first_lineno}: {item.message}")
        for item in reader.get_unused_code(min_confidence=60)
        if item.filename in ours and item.typ not in SKIPPED_KINDS
    ]


def not_imported(root: Path, package: str = "course") -> list[Finding]:
    """The names that a package offers and that no notebook and no other module takes.

    More exact than `unused`, for which a variable of the same name anywhere is a use.

    Args:
        root: The root of the repository.
        package: The package; those inside it are looked at as well.
    """
    taken: dict[str, set[Path]] = {}
    defined: dict[str, set[Path]] = {}
    for path, code, is_ours in _sources(root):
        tree = ast.parse(code)
        if path.name != "__init__.py":
            for name in _taken(tree):
                taken.setdefault(name, set()).add(path)
        for name in _defined(tree) if is_ours else ():
            defined.setdefault(name, set()).add(path)
    return [
        Finding(name, f"{init.relative_to(root)}: nobody imports '{name}'")
        for init in sorted((root / package).rglob("__init__.py"))
        for name in _offered(init.read_text(encoding="utf-8"))
        if not taken.get(name, set()) - defined.get(name, set())
    ]


def without_excused(found: list[Finding], excused: Iterable[str]) -> list[str]:
    """The lines of what is found and not excused, and one for each excuse that nothing needs.

    Args:
        found: What nobody seems to use.
        excused: Patterns of names that somebody uses whom vulture does not see.
    """
    excused = tuple(excused)
    idle = [one for one in excused if not any(fnmatch(name, one) for name, _ in found)]
    return [
        *(line for name, line in found if not any(fnmatch(name, one) for one in excused)),
        *(f"pyproject.toml: [tool.vulture] excuses '{one}', which is used or gone" for one in idle),
    ]


def _taken(tree: ast.AST) -> Iterator[str]:
    """The names that code takes from modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield node.attr


def _defined(tree: ast.Module) -> Iterator[str]:
    """The names that a module gives to functions, classes and values of its own."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (one.id for one in node.targets if isinstance(one, ast.Name))


def _offered(code: str) -> Iterator[str]:
    """The names in `__all__`, or the imports for type checkers that `lazy_names` makes it of."""
    for node in ast.parse(code).body:
        if isinstance(node, ast.Assign) and "__all__" in map(ast.unparse, node.targets):
            yield from map(str, ast.literal_eval(node.value))
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for one in node.body:
                if isinstance(one, ast.ImportFrom) and "lazy_names(globals())" in code:
                    yield from (alias.asname or alias.name for alias in one.names)


def main() -> int:
    """Print what nobody uses; 1 if there is any."""
    root = Path.cwd()
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    settings = project["tool"]["vulture"]
    found = unused(root, settings["exclude"]) + not_imported(root)
    lines = without_excused(found, settings["ignore_names"])
    print("\n".join(lines) or "Nothing is unused.")
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
