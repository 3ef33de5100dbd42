"""A Python environment with Colab's versions, and notebooks run in it as Colab runs them.

PyTorch is not installed again: it is 200 MB to 3 GB. The environment sees the one that runs the
tests, and what that needs, through links in a folder of their own. Nothing else of the outer
environment can be imported, so the pinned versions are the ones in use and nbgrader is not there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import nbformat
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
RUNNER = Path(__file__).with_name("run_notebook.py")
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")
NOTEBOOK_LIMIT_S = 400

Cell = dict[str, Any]


class PipError(Exception):
    """What pip said when it could not do what it was asked."""


@dataclass(frozen=True)
class Runtime:
    """An environment that stands for a Colab runtime."""

    root: Path

    @property
    def python(self) -> Path:
        """The interpreter that runs the notebooks."""
        return self.root / "bin" / "python"

    def add_kernel(self) -> None:
        """Write down how a kernel of this environment is started, for `run`."""
        start = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": start, "display_name": "Colab", "language": "python"}
        (self.root / "kernels" / "colab").mkdir(parents=True, exist_ok=True)
        (self.root / "kernels" / "colab" / "kernel.json").write_text(json.dumps(spec))

    def pip(self, *arguments: str) -> str:
        """What a pip command printed; raises `PipError` where it failed."""
        command = [str(self.python), *PIP, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PipError(done.stderr.strip())
        return done.stdout

    def packages(self) -> dict[str, str]:
        """The version of everything that is installed here, by its canonical name."""
        folders = self.root.glob("lib/python*/site-packages/*.dist-info")
        named = (folder.stem.rpartition("-") for folder in folders)
        return {canonicalize_name(name): version for name, _, version in named}

    def run(
        self, cells: Sequence[Mapping[str, Any]], folder: Path, **env: str
    ) -> dict[str, list[Any]]:
        """The outputs of each cell by its id, all run in `folder` as Colab's "Run all" does.

        A cell that raises ends the run; the cells after it have no outputs.
        """
        notebook = nbformat.v4.new_notebook(cells=[_cell(one) for one in cells])
        command = [sys.executable, str(RUNNER), str(self.root / "kernels"), "colab", str(folder)]
        done = subprocess.run(
            command,
            input=nbformat.writes(notebook),
            env=_environment() | env,
            capture_output=True,
            text=True,
            timeout=NOTEBOOK_LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found: dict[str, list[Any]] = json.loads(done.stdout)
        return found


def make_runtime(root: Path) -> Runtime:
    """An environment in `root` with the versions of requirements.txt and the outer PyTorch."""
    venv.create(root, with_pip=True)
    runtime = Runtime(root)
    # What notebooks import, the first of them compiles; the rest nobody needs.
    sparing = ("--quiet", "--no-deps", "--no-compile")
    runtime.pip("install", *sparing, "--requirement", str(REQUIREMENTS))
    (site_packages,) = (root / "lib").glob("python*/site-packages")
    link("torch", root / "linked")
    # What a .pth file adds comes after site-packages: the pinned versions win.
    (site_packages / "linked.pth").write_text(f"{root / 'linked'}\n")
    runtime.add_kernel()
    return runtime


def link(name: str, folder: Path) -> None:
    """Links in `folder` to a package of this environment and to everything that it asks for."""
    folder.mkdir()
    for found in _with_what_it_asks_for(name):
        for top in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(Path(str(found.locate_file(top))))


def build_wheel(folder: Path) -> Path:
    """A wheel of this tree; a copy is built, as building leaves files beside the sources."""
    tree = copy_package(folder / "tree")
    command = [sys.executable, *PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(tree)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def copy_package(folder: Path) -> Path:
    """A copy of what the distribution is built from."""
    folder.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for name in ("course", "autograder"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _with_what_it_asks_for(name: str) -> Iterator[Distribution]:
    waiting, seen = [name], set()
    while waiting:
        wanted = canonicalize_name(waiting.pop())
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            found = distribution(wanted)
        except PackageNotFoundError:
            continue  # an extra, or for another system
        yield found
        asked = map(Requirement, found.requires or ())
        waiting += [one.name for one in asked if one.marker is None or one.marker.evaluate()]


def _environment() -> dict[str, str]:
    """The variables of a kernel: of this process those that lead to no other Python."""
    of_python = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if name not in of_python}
    # As on Colab: pyplot draws into the notebook.
    return kept | {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}


def _cell(cell: Mapping[str, Any]) -> Any:
    return nbformat.from_dict({**cell, "source": "".join(cell["source"])})
