"""What notebooks may import is declared, is there, says what it takes, and is all they import."""

from __future__ import annotations

import ast
import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import course
from autograder.lessons.claims import folder_name
from tests.docstrings import parameters, public_names, told

ROOT = Path(__file__).parents[2]
SHARED = ("course", "course.gpu", "course.figures", "course.widgets", "course.probes")
LESSONS = sorted(
    f"course.lessons.{p.parent.name}" for p in ROOT.glob("course/lessons/*/__init__.py")
)
NOTEBOOKS = sorted((ROOT / "source").rglob("*.ipynb")) + sorted((ROOT / "release").rglob("*.ipynb"))


def imports(notebook: Path) -> set[tuple[str, str]]:
    """Each (module, name) that a notebook's code imports from `course`."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    found: set[tuple[str, str]] = set()
    sources = ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]
    for source in (one for one in sources if not one.startswith("%%")):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                found |= {(one.name, "") for one in node.names if one.name.startswith("course")}
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("course"):
                found |= {(str(node.module), one.name) for one in node.names}
    return found


@pytest.mark.parametrize("name", (*SHARED, *LESSONS))
def test_every_declared_name_is_there(name: str) -> None:
    package = import_module(name)
    assert package.__all__ == sorted(set(package.__all__))
    assert [one for one in package.__all__ if getattr(package, one, None) is None] == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_notebook_imports_what_is_shared_and_what_is_its_lessons_own(notebook: Path) -> None:
    own = f"course.lessons.{folder_name(notebook.stem)}"
    offering = (*SHARED, *(name for name in LESSONS if name == own))
    declared = {(name, one) for name in offering for one in import_module(name).__all__}
    packages = {("course", name.rpartition(".")[2]) for name in SHARED[1:]}
    plain = {("course", "")}
    assert imports(notebook) - declared - packages - plain == set()


def test_the_notebooks_import_something() -> None:
    asked = set().union(*map(imports, NOTEBOOKS))
    assert {module for module, _ in asked} >= {"course", "course.figures", *LESSONS}


@pytest.mark.parametrize("name", ["course", "course.claims.reader", "course.figures"])
def test_importing_it_does_not_load_torch(name: str) -> None:
    code = f"import sys, {name}; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("False\n", "")


def test_a_name_that_does_not_exist_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="cannot import name 'reshap'"):
        exec("from course import reshap")


def test_no_name_is_hidden_by_a_module_of_that_name() -> None:
    """Importing `package.name` sets that attribute of the package, whatever stood there before."""
    found = pkgutil.walk_packages(course.__path__, "course.")
    for package in (course, *(import_module(one.name) for one in found if one.ispkg)):
        modules = {one.name for one in pkgutil.iter_modules(package.__path__)}
        for name in modules.intersection(getattr(package, "__all__", ())):
            assert isinstance(getattr(package, name), ModuleType), f"{package.__name__}.{name}"


PUBLIC = public_names(course)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_a_package_offers_says_what_it_takes(name: str) -> None:
    assert told(PUBLIC[name]) == parameters(PUBLIC[name])


def test_functions_probes_and_classes_of_all_packages_are_asked() -> None:
    asked = {
        "course.facts",
        "course.gpu.use",
        "course.lessons.modules.traced",
        "course.claims.Claim",
    }
    assert PUBLIC.keys() >= asked | {
        "course.testing.inputs.Case",
        "course.figures.show_graph",
    }


def _half_told(x: int, *rest: int, log: bool = False) -> None:
    """Some of this.

    Args:
        x: How many.
        other: A name that it does not take.

    Raises:
        log: This is no entry of a parameter.
    """


def test_a_parameter_without_an_entry_is_noticed_and_an_entry_without_one() -> None:
    assert told(_half_told) == {"x", "other"}
    assert parameters(_half_told) == {"x", "rest", "log"}
