"""What holds for the repository as a whole: dependencies, imports, files, names and commands."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from traitlets.config.loader import PyFileConfigLoader

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PACKAGES = ("course", "autograder")
# Read from Colab's images; `course` must install there without replacing anything.
COLAB = {
    "torch": "2.11.0",
    "numpy": "2.1.3",
    "matplotlib": "3.10.0",
    "ipywidgets": "7.7.1",
    "ipython": "7.34.0",
}


def requirements() -> list[Requirement]:
    """Everything that pyproject.toml asks for, extras included."""
    return [Requirement(r) for group in (PROJECT["dependencies"], *EXTRAS.values()) for r in group]


def pins() -> dict[str, str]:
    """The version of each package in constraints.txt."""
    return dict(line.split("==") for line in constraint_lines())


def constraint_lines() -> list[str]:
    """The lines of constraints.txt that pin something."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def modules(package: str) -> list[Path]:
    """The modules of a package; the banks of answers are data."""
    return sorted(p for p in (ROOT / package).rglob("*.py") if p.parent.name != "answers")


def files() -> Iterator[Path]:
    """The files that belong to the repository, with or without git."""
    for folder in (*PACKAGES, "source", "release", "tests", "docs", "tools", ".ci"):
        yield from (p for p in (ROOT / folder).rglob("*") if p.is_file() and _is_ours(p))
    yield from (p for p in ROOT.iterdir() if p.is_file() and p.name != "gradebook.db")


def _is_ours(path: Path) -> bool:
    made = {"__pycache__", ".ipynb_checkpoints", "output"}
    return not made & set(path.relative_to(ROOT).parts) and path.suffix != ".pyc"


def notebooks() -> list[Path]:
    """The committed notebooks: sources and both editions."""
    return [p for p in files() if p.suffix == ".ipynb" and "tests" not in p.parts]


def imported(path: Path) -> set[str]:
    """The top-level modules that a file imports anywhere, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module))
    return {name.partition(".")[0] for name in names}


# --- dependencies -------------------------------------------------------------------------------


def test_every_dependency_is_pinned_within_its_range() -> None:
    pinned = pins()
    for requirement in requirements():
        name = canonicalize_name(requirement.name)
        assert name in pinned, f"{name} is not in constraints.txt"
        assert requirement.specifier.contains(pinned[name]), f"{requirement} excludes its own pin"


def test_pins_are_exact_unique_and_carry_no_local_suffix() -> None:
    lines = constraint_lines()
    assert [one for one in lines if not re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]*", one)] == []
    assert len(pins()) == len(lines)
    assert pins()["torch"] == "2.13.0"


@pytest.mark.parametrize("version", ["3.11.0", "3.12.0", "3.13.0"])
def test_every_pin_runs_on_the_pythons_that_are_promised(version: str) -> None:
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)
    asked = {
        canonicalize_name(one.metadata["Name"]): one.metadata.get("Requires-Python") or ""
        for one in distributions()
    }
    found = {name: asked[name] for name in pins() if name in asked}
    assert len(found) > 100, "the environment is not the one that constraints.txt describes"
    refused = {name for name, ask in found.items() if not SpecifierSet(ask).contains(version)}
    assert refused == set()


def test_colab_has_what_the_plain_package_needs() -> None:
    for requirement in map(Requirement, PROJECT["dependencies"]):
        assert requirement.specifier.contains(COLAB[requirement.name]), str(requirement)


def test_every_dependency_says_why_it_is_there() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    listed = text[text.index("\ndependencies = [") : text.index("[project.scripts]")]
    asked_for = [line for line in listed.splitlines() if line.startswith('    "')]
    assert len(asked_for) == len(requirements())
    assert [line for line in asked_for if not re.search(r'",  +# \S', line)] == []


# The Pythons that constraints.txt was resolved for.
PYTHONS = ("3.11", "3.12", "3.13")


def test_conda_takes_the_same_constraints_and_all_extras_but_the_database() -> None:
    text = (ROOT / "environment.yml").read_text()
    assert "--constraint constraints.txt" in text
    (extras,) = re.findall(r"--editable \.\[([a-z,]+)\]", text)
    assert set(extras.split(",")) == EXTRAS.keys() - {"postgres"}


def test_conda_takes_one_python_for_which_the_pins_are() -> None:
    (python,) = re.findall(r"^  - python(\S*)", (ROOT / "environment.yml").read_text(), re.M)
    assert python.removeprefix("=") in PYTHONS
    told = ", ".join(PYTHONS[1:-1]) + f" and {PYTHONS[-1]} resolve with it too"
    assert told in (ROOT / "constraints.txt").read_text()


def test_what_every_target_installs_leaves_out_the_large_packages_which_only_tests_get() -> None:
    makefile = (ROOT / "Makefile").read_text()
    everywhere, *for_some = re.findall(r"-e '\.\[([a-z,]+)\]'", makefile)
    names = {Requirement(r).name for extra in everywhere.split(",") for r in EXTRAS[extra]}
    assert not names & {"ray", "wandb", "tensorboard", "optuna", "sphinx"}
    assert for_some == ["lessons", "site"]
    for stamp in ("DIVES", "SITE"):
        asking = re.findall(rf"^([\w-]+):.*\$\({stamp}\)", makefile, re.M)
        assert asking == ["site", "test", "test-all", "pytest"]


# --- imports ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", modules("course"), ids=lambda p: str(p.relative_to(ROOT)))
def test_course_imports_nothing_but_its_five_dependencies(path: Path) -> None:
    allowed = {"course", "torch", "numpy", "matplotlib", "ipywidgets", "IPython"}
    assert imported(path) - allowed <= sys.stdlib_module_names


def test_what_the_tests_import_is_declared() -> None:
    named = {requirement.name.replace("-", "_") for requirement in requirements()}
    declared = {
        *PACKAGES,
        "tests",
        "docs",
        "tools",
        "IPython",
        "PIL",
        "cv2",
        "sklearn",
        "yaml",
        *named,
    }
    elsewhere = {"cases", "colab"}  # data, and an environment with requirements of its own
    ours = [p for p in (ROOT / "tests").rglob("*.py") if not elsewhere & set(p.parts)]
    assert set().union(*map(imported, ours)) - declared <= sys.stdlib_module_names


def test_import_course_brings_neither_figures_nor_widgets_nor_the_grader() -> None:
    heavy = ["matplotlib", "ipywidgets", "IPython", "nbgrader", "autograder"]
    code = f"import sys, course; print([name for name in {heavy} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("[]\n", "")


# --- names --------------------------------------------------------------------------------------


def packages() -> list[str]:
    """Every package in the repository, the two and those inside them."""
    found = (p for top in PACKAGES for p in (ROOT / top).rglob("__init__.py"))
    return sorted(".".join(p.parent.relative_to(ROOT).parts) for p in found)


@cache
def taken_names() -> list[tuple[Path, str, str]]:
    """File, module and name of every `from module import name` in the repository."""
    taken = []
    for path in (p for p in files() if p.suffix == ".py" and p.parent.name != "answers"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                taken += [(path, str(node.module), alias.name) for alias in node.names]
    return taken


def taken_from(package: str) -> set[str]:
    """The names that files outside of a package import from it, submodules left out."""
    folder = ROOT.joinpath(*package.split("."))
    inside = {path.stem for path in folder.iterdir()}
    outside = [one for one in taken_names() if not one[0].is_relative_to(folder)]
    return {name for _, module, name in outside if module == package} - inside


@pytest.mark.parametrize("name", packages())
def test_a_package_offers_names_that_exist(name: str) -> None:
    package = import_module(name)
    offered = list(getattr(package, "__all__", []))
    assert len(set(offered)) == len(offered)
    assert [key for key in offered if getattr(package, key, None) is None] == []


@pytest.mark.parametrize("name", packages())
def test_what_others_take_from_a_package_is_what_it_offers(name: str) -> None:
    assert taken_from(name) <= set(getattr(import_module(name), "__all__", []))


# --- files --------------------------------------------------------------------------------------


def test_no_file_names_the_machine_it_was_written_on_or_leaves_work_open() -> None:
    machine = "|".join(re.escape(str(place)) for place in {ROOT, Path(sys.prefix)})
    left_open = r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b"
    bad = re.compile(f"{machine}|/(?:home|Users)/[a-z]+/|{left_open}")
    found = []
    for path in files():
        content = path.read_bytes()
        text = "" if b"\0" in content else content.decode("utf-8", errors="replace")
        found += [f"{path.relative_to(ROOT)}: {hit.group()}" for hit in bad.finditer(text)]
    assert found == []


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("classroom/*.md")]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", page.read_text())
    assert [one for one in links if not (page.parent / one).exists()] == []


def test_the_page_of_systems_names_tests_that_are_there() -> None:
    rows = re.findall(r"\]\(\.\./(tests/\S+\.py)\)(?:: `(test_\w+)…`)?", systems_page())
    assert len(rows) >= 15
    gone = [(file, name) for file, name in rows if f"def {name}" not in (ROOT / file).read_text()]
    assert gone == []


def systems_page() -> str:
    """The page of the systems that lessons run."""
    return (ROOT / "docs" / "systems.md").read_text()


@pytest.mark.parametrize("path", notebooks(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_notebook_is_committed_without_outputs_and_with_unique_ids(path: Path) -> None:
    notebook = json.loads(path.read_text())
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == len(ids)


def test_the_wheel_carries_claims_and_templates_and_no_notebooks_or_answers(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    for name in (*PACKAGES, "source"):
        shutil.copytree(ROOT / name, tmp_path / name)
    build = ["-m", "pip", "wheel", "-qq", "--no-deps", "--no-build-isolation", "-w", "dist", "."]
    subprocess.run([sys.executable, *build], cwd=tmp_path, check=True)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    shutil.unpack_archive(wheel, tmp_path / "unpacked", "zip")
    shipped = {str(p.relative_to(tmp_path / "unpacked")) for p in files_below(tmp_path, "unpacked")}
    files = {str(p.relative_to(ROOT)) for name in PACKAGES for p in files_below(ROOT, name)}
    wanted = {p for p in files if not p.startswith("autograder/answers/")}
    assert {p for p in shipped if ".dist-info/" not in p} == wanted


def files_below(root: Path, name: str) -> list[Path]:
    """The files of a folder, without what Python writes there."""
    return [p for p in (root / name).rglob("*") if p.is_file() and "__pycache__" not in p.parts]


# --- commands -----------------------------------------------------------------------------------


def make(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What `make` says; the Makefile is this repository's, wherever it runs."""
    command = ["make", "-f", str(ROOT / "Makefile"), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True)


def test_make_lists_the_targets_that_the_course_promises() -> None:
    listed = re.findall(r"^  make (\S+)", make("-C", str(ROOT), "help").stdout, re.MULTILINE)
    promised = "help demo lab release answers test test-all bench clean wheel test-gpu system"
    assert set(promised.split()) <= set(listed)


def test_an_old_python_is_refused_with_the_remedy(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    run = make("lint", "PYTHON=false", cwd=tmp_path)
    assert run.returncode != 0
    assert "false is not Python 3.11 or newer" in run.stderr
    assert not (tmp_path / ".venv").exists()


@pytest.mark.parametrize("script", sorted((ROOT / ".ci").iterdir()), ids=lambda p: str(p.name))
def test_what_ci_runs_is_a_shell_script_without_slips(script: Path) -> None:
    run = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert os.access(script, os.X_OK)


def test_what_is_missing_is_told_where_there_is_no_apt(tmp_path: Path) -> None:
    (tmp_path / "bash").symlink_to(str(shutil.which("bash")))
    run = subprocess.run(
        [tmp_path / "bash", ROOT / ".ci" / "system"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert (
        "There is no apt-get here. Debian calls what is missing: bubblewrap chromium" in run.stderr
    )


def test_make_knows_its_folder_by_any_name(tmp_path: Path) -> None:
    odd = tmp_path / "Ada's course, 2 $HOME"
    (odd / ".venv").mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, odd)
    (odd / ".venv" / ".ready").write_text(str(odd))
    assert make("-n", "lint", cwd=odd).stdout.count("Setting up") == 0
    (odd / ".venv" / ".ready").write_text(str(tmp_path))
    assert make("-n", "lint", cwd=odd).stdout.count("Setting up") == 1


def test_the_repository_is_the_course_root_unless_the_environment_names_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def root() -> str:
        config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
        return str(config.CourseDirectory.root)

    monkeypatch.delenv("PYTORCH_MEASURED_COURSE", raising=False)
    assert root() == str(ROOT)
    monkeypatch.setenv("PYTORCH_MEASURED_COURSE", str(tmp_path))
    assert root() == str(tmp_path)
