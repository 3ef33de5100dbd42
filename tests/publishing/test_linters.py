"""The linters of their makers read what waits for a public host; the package is built and checked.

They live in an environment of their own, which pip makes: nothing else here needs them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

from autograder.lessons.model import all_lessons
from autograder.lessons.regions import SOLUTION, split_regions
from tests.colab.runtime import copy_package, link

pytestmark = [
    pytest.mark.exhaustive("the package built twice, linters from pip"),
    pytest.mark.timeout(1800),  # seconds: pip fetches them all in the first test
]

ROOT = Path(__file__).parents[2]
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
MOST_BYTES = 2_000_000
PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet")


def said(*command: object, **how: object) -> str:
    """What a command printed; a failure shows all of it."""
    done = subprocess.run(
        [*map(str, command)], cwd=ROOT, capture_output=True, text=True, check=False, **how
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the linters' programs."""
    root = tmp_path_factory.mktemp("linters")
    venv.create(root, with_pip=True)
    command = [root / "bin/python", *PIP, "--requirement", REQUIREMENTS]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode:  # no network, or no hadolint for this machine
        pytest.skip(f"the linters cannot be installed here: {done.stderr.strip()[-300:]}")
    return root / "bin"


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", ".github/workflows/*.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/*-*.yml"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("compose-spec", "classroom/compose.yml"),
        ("citation-file-format", "CITATION.cff"),
    ],
)
def test_files_have_the_form_that_is_asked_for(tools: Path, schema: str, pattern: str) -> None:
    found = sorted(ROOT.glob(pattern))
    assert found
    check = [tools / "check-jsonschema", "--builtin-schema", f"vendor.{schema}"]
    assert "validation done" in said(*check, *found)


def test_no_workflow_gives_away_what_it_may(tools: Path) -> None:
    said(tools / "zizmor", "--offline", "--quiet", ROOT / ".github/workflows")


def test_the_dockerfile_is_sound(tools: Path) -> None:
    assert said(tools / "hadolint", ROOT / "classroom/Dockerfile") == ""


def test_jupyterhub_reads_its_configuration(tools: Path) -> None:
    read = """\
from jupyterhub.app import JupyterHub

hub = JupyterHub()
hub.load_config_file("classroom/jupyterhub_config.py")
print(hub.authenticator_class.__name__, hub.spawner_class.__name__, hub.bind_url)
print(sorted(hub.authenticator_class(parent=hub).allowed_users))"""
    variables = {"CLASS_PASSWORD": "one", "LEARNERS": "ada ben"}
    told = said(tools / "python", "-c", read, env=os.environ | variables)
    assert told.splitlines()[-2:] == [
        "DummyAuthenticator LocalProcessSpawner http://0.0.0.0:8000",
        "['ada', 'ben', 'teacher']",
    ]


@pytest.fixture(scope="module")
def built(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with wheel and sdist, as the release builds them."""
    folder = tmp_path_factory.mktemp("built")
    tree = copy_package(folder / "tree")
    shutil.copy(ROOT / "MANIFEST.in", tree)
    said(tools / "python", "-m", "build", "--outdir", folder / "dist", tree)
    return folder / "dist"


def test_twine_finds_nothing_to_say(tools: Path, built: Path) -> None:
    files = sorted(built.iterdir())
    assert {path.suffix for path in files} == {".whl", ".gz"}
    said(tools / "twine", "check", "--strict", *files)


def test_both_are_small_and_hold_no_answer_and_no_solution(built: Path, tmp_path: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    assert wheel.stat().st_size < MOST_BYTES
    assert sdist.stat().st_size < MOST_BYTES
    zipfile.ZipFile(wheel).extractall(tmp_path / "wheel")
    (tmp_path / "sdist").mkdir()
    said("tar", "-xzf", sdist, "-C", tmp_path / "sdist")  # tarfile warns, or knows no filter
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if "answers" in path.parts or path.suffix == ".ipynb"] == []
    assert list(tmp_path.glob("sdist/*/tests")) == []
    text = "\n".join(path.read_text(errors="replace") for path in files)
    solutions = {
        "\n".join(inside)
        for lesson in all_lessons(ROOT)
        for one in lesson.exercises
        if len(inside := split_regions(one.answer_source, SOLUTION)[1]) > 2
    }
    assert len(solutions) > 100
    assert [one for one in solutions if one in text] == []


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_a_fresh_environment_takes_each(built: Path, tmp_path: Path, kind: str) -> None:
    venv.create(tmp_path / "fresh", with_pip=True)
    python = tmp_path / "fresh/bin/python"
    (file,) = built.glob(kind)
    said(python, *PIP, "--no-deps", file)
    link("torch", tmp_path / "linked")
    (site_packages,) = (tmp_path / "fresh/lib").glob("python*/site-packages")
    (site_packages / "linked.pth").write_text(f"{tmp_path / 'linked'}\n")
    ask = "import course; from course.claims import claims; print(len(claims('04-memory-layout')))"
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert int(said(python, "-I", "-c", ask, env=alone)) > 5
    program = tmp_path / "fresh/bin/autograder"
    assert "usage: autograder" in said(program, "--help", env=alone)
    ended = subprocess.run(
        [program, "grade"], cwd=tmp_path, env=alone, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "pip install 'pytorch-measured[teach]'" in ended.stderr
