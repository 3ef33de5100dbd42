"""Results that need not be worked out again while nothing has changed that they came from.

Proofs of claims, answers, mutants and the outputs of lessons cost minutes, and depend on a few
cells and on the modules that these import.  A result is kept under the digest of all of it: the
texts themselves, the modules behind them, data files beside these, Python's version and that of
every installed package.

Where `CI` is set nothing is kept.  `KEEP_RESULTS=FOLDER` names another folder, there too; an
empty one means that nothing is kept.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

__all__ = ["KeptResults", "digest_of", "modules_behind"]

ROOT = Path(__file__).parents[1]  # the folder that both packages lie in
PACKAGES = ("autograder", "course")
_DATA = {".css", ".js", ".json", ".svg"}
_LAZY = "__getattr__"  # in a package that offers names and loads none of them (`course.lazy`)


class KeptResults:
    """A folder of results as plain data, each under its name and a digest.

    Without a folder nothing is found, and nothing kept.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @classmethod
    def of_course(cls, course: Path) -> KeptResults:
        """Those of a course directory, or of the folder that the environment names."""
        named = os.environ.get("KEEP_RESULTS")
        if named is not None:
            return cls(Path(named) if named else None)
        return cls(None if os.environ.get("CI") else course / ".autograder" / "kept")

    def find(self, name: str, digest: str) -> Any:
        """What was kept under this name and digest; None where it is not there."""
        if self._folder is None:
            return None
        try:
            return json.loads(self._path(name, digest).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # nothing of value is lost
            return None

    def keep(self, name: str, digest: str, result: Any) -> None:
        """Write down what JSON can hold; what was kept under another digest is removed.

        Where that is not possible, it is found out again another time.
        """
        if self._folder is not None:
            with suppress(OSError):
                self._write(name, digest, json.dumps(result, ensure_ascii=False))

    def _write(self, name: str, digest: str, text: str) -> None:
        assert self._folder is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._path(name, digest)
        for old in self._folder.glob(f"{name}.*.json"):
            if old != path:
                old.unlink(missing_ok=True)  # a test beside this one may have been quicker
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)

    def get(self, name: str, digest: str, make: Callable[[], Any]) -> Any:
        """What is kept, or else what `make` returns, which is kept then; both as JSON gives it."""
        found = self.find(name, digest)
        if found is None:
            found = json.loads(json.dumps(make()))
            self.keep(name, digest, found)
        return found

    def _path(self, name: str, digest: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{name}.{digest}.json"


def digest_of(*texts: str, files: Iterable[Path] = ()) -> str:
    """A digest of texts and files, of Python's version and that of every installed package."""
    total = hashlib.sha256(_versions().encode())
    for text in texts:
        total.update(f"\0{len(text)}\0{text}".encode())
    for path in sorted(set(files)):
        total.update(f"\0{path}\0".encode() + path.read_bytes())
    return total.hexdigest()[:32]


def modules_behind(*texts: str, root: Path = ROOT) -> frozenset[Path]:
    """The files of both packages that running this code may load, with the data beside them.

    Args:
        texts: Code: cells, answers, proofs. What is not Python imports nothing.
        root: The folder that the packages lie in.
    """
    waiting = [file for text in texts for name in _names_in(text) for file in _files(root, name)]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _behind_file(root, path)
    data = {one for folder in {path.parent for path in found} for one in folder.iterdir()}
    return frozenset(found | {one for one in data if one.suffix in _DATA})


@cache
def _versions() -> str:
    installed = sorted(f"{one.name}=={one.version}" for one in distributions())
    return "\n".join([sys.version, *installed])


@cache
def _behind_file(root: Path, path: Path) -> tuple[Path, ...]:
    if _is_lazy(path):
        return ()  # what it offers is loaded when it is asked for
    names = _names_in(path.read_text(encoding="utf-8"))
    return tuple(file for name in names for file in _files(root, name))


def _names_in(text: str) -> tuple[str, ...]:
    """The dotted names of ours that some code imports."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ()
    return tuple(dict.fromkeys(name for name in _imported(tree) if name.startswith(PACKAGES)))


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return
        case ast.Import(names):
            yield from (one.name for one in names)
        case ast.ImportFrom(module=str(module), level=0, names=names):
            yield from (f"{module}.{one.name}" for one in names)
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)


def _files(root: Path, name: str) -> frozenset[Path]:
    """The files that a dotted name stands for: those of a module and of the packages around it."""
    found: set[Path] = set()
    folder, parts = root, name.split(".")
    for number, part in enumerate(parts):
        if (folder / f"{part}.py").is_file():
            return frozenset({*found, folder / f"{part}.py"})
        if not (folder / part / "__init__.py").is_file():
            return frozenset(found | _offered(root, folder, part)) if number else frozenset()
        folder /= part
        found.add(folder / "__init__.py")
    # The package itself: whoever has it may ask for all that it offers.
    return frozenset(
        found | set(folder.rglob("*.py")) if _is_lazy(folder / "__init__.py") else found
    )


def _offered(root: Path, package: Path, name: str) -> frozenset[Path]:
    """The files behind a name that a package offers; all of its files where it does not say."""
    if not _is_lazy(package / "__init__.py"):
        return frozenset()
    home = _homes(package / "__init__.py").get(name)
    if home is None:
        return frozenset(package.rglob("*.py"))
    return _files(root, home)


@cache
def _is_lazy(path: Path) -> bool:
    return path.name == "__init__.py" and _LAZY in path.read_text(encoding="utf-8")


@cache
def _homes(path: Path) -> dict[str, str]:
    """Where the names of a lazy package are defined, as type checkers read it or as a table."""
    homes: dict[str, str] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module), level=0, names=names):
                homes |= {one.asname or one.name: f"{module}.{one.name}" for one in names}
            case ast.Dict(keys, values):
                for key, value in zip(keys, values, strict=True):
                    match key, value:
                        case ast.Constant(str(name)), ast.Constant(str(home)):
                            homes[name] = home
    return homes
