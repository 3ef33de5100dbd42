"""An environment with a PyTorch of its own, in `.versions/torch-2.11.0-py3.11/`.

Beside that PyTorch it has what the lessons use. With Colab's PyTorch everything else is as old as
on Colab; otherwise it is what constraints.txt says. Nothing of it touches `.venv`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.colab.runtime import REQUIREMENTS, ROOT, Runtime

ENVIRONMENTS = ROOT / ".versions"
COLABS_TORCH = "2.11.0"
# What runs tests/course, besides. The lessons' own packages are those of the extra `lessons`.
TEST_TOOLS = ("pytest", "pytest-timeout", "hypothesis", "packaging", "gputil")
# PyTorch says itself what it needs of these: another one than the version that is pinned.
_TORCHS_OWN = ("torch", "torchvision", "setuptools")
_FOLDERS = ("course", "autograder", "source", "release", "tests", "docs")
# What names a PyTorch's build beside its version: `2.13.0+cpu`.
_ASK = """\
import json, sys, torch
print(json.dumps([torch.__version__, "%d.%d.%d" % sys.version_info[:3]]))"""


def make_environment(torch: str, python: str) -> Runtime:
    """The environment with this PyTorch for this Python; what is there already stays.

    Args:
        torch: A version of PyTorch, "2.11.0".
        python: The command or path of the Python to make it from.

    Raises:
        subprocess.CalledProcessError: that Python can make none.
        PipError: pip cannot install it; what it said is the message.
    """
    version = subprocess.check_output(
        [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True
    ).strip()
    runtime = Runtime(ENVIRONMENTS / f"torch-{torch}-py{version}")
    done = runtime.root / "installed.txt"
    wanted = "\n".join(asked_for(torch))
    if done.exists() and done.read_text() == wanted:
        return runtime
    subprocess.run([python, "-m", "venv", str(runtime.root)], check=True)
    constraints = runtime.root / "constraints.txt"
    constraints.write_text("\n".join(constraints_for(torch)) + "\n")
    if torch == COLABS_TORCH:  # without dependencies: see there
        runtime.pip("install", "--quiet", "--no-deps", "--requirement", str(REQUIREMENTS))
    runtime.pip("install", "--quiet", "--constraint", str(constraints), *missing(torch))
    (site_packages,) = (runtime.root / "lib").glob("python*/site-packages")
    (site_packages / "course-of-this-tree.pth").write_text(f"{tree_of(runtime)}\n")
    runtime.add_kernel()
    done.write_text(wanted)
    return runtime


def tree_of(runtime: Runtime) -> Path:
    """The copy of this tree that is measured: what is edited meanwhile does not disturb."""
    return runtime.root / "tree"


def renew_tree(runtime: Runtime) -> None:
    """Let the copy be as the tree is now."""
    shutil.rmtree(tree_of(runtime), ignore_errors=True)
    tree_of(runtime).mkdir()
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tree_of(runtime))
    without = shutil.ignore_patterns("__pycache__", "output")
    for name in _FOLDERS:
        shutil.copytree(ROOT / name, tree_of(runtime) / name, ignore=without)


def versions_of(runtime: Runtime) -> tuple[str, str]:
    """The build of PyTorch ("2.13.0+cpu") and the Python ("3.11.7") of an environment."""
    said = subprocess.check_output([str(runtime.python), "-c", _ASK], text=True)
    torch, python = json.loads(said)
    return torch, python


def asked_for(torch: str) -> list[str]:
    """What pip is asked to install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["lessons"], "ipykernel"]
    others = [one for one in needed if Requirement(one).name != "torch"]
    return [f"torch=={torch}", *others, *TEST_TOOLS]


def missing(torch: str) -> list[str]:
    """What is left for pip to find out: not what lies there as it is on Colab.

    ipywidgets 7 asks for a widgetsnbextension that contradicts constraints.txt.
    """
    there = _pins(REQUIREMENTS) if torch == COLABS_TORCH else {}
    return [
        one for one in asked_for(torch) if canonicalize_name(Requirement(one).name) not in there
    ]


def constraints_for(torch: str) -> list[str]:
    """The pins of constraints.txt, and those of Colab where it is Colab's PyTorch."""
    pins = _pins(ROOT / "constraints.txt")
    if torch == COLABS_TORCH:
        pins |= _pins(REQUIREMENTS)
    return [line for name, line in pins.items() if name not in _TORCHS_OWN]


def _pins(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines()
    pinned = [line for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(Requirement(line).name): line for line in pinned}
