"""The self-study notebooks with Colab's versions of everything: they run, and pay full points."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from autograder.lessons.editions.opening import INSTALL_ID
from autograder.lessons.editions.start_page import START_PAGE
from autograder.lessons.lint.form import is_project
from autograder.lessons.model import Lesson, lesson_paths, read_lesson
from autograder.lessons.regions import without_markers
from autograder.lessons.self_study import PROGRESS_ID, self_study_edition
from course.guide import cards
from course.guide.placement_quiz import ASKED
from tests.colab.notebooks import code, errors, in_folder, on_stderr, printed, solved, tables
from tests.colab.runtime import (
    REQUIREMENTS,
    ROOT,
    Cell,
    PipError,
    Runtime,
    build_wheel,
    copy_package,
    make_runtime,
)
from tests.colab.sessions import FROM_DRIVE, FROM_GITHUB, runtime_that_tells
from tests.test_house import COLAB

# Answer every prediction and move every other widget: ipywidgets 7 is not the one of the tests.
pytestmark = pytest.mark.exhaustive("lessons with Colab's versions")

PRESS = """\
from ipywidgets import HTML, Button, IntSlider, Widget

widgets = list(Widget.widgets.values())


def said():
    return [one.value for one in widgets if isinstance(one, HTML)]


def answers(button):
    before = said()
    button.click()
    return said() != before


buttons = [one for one in widgets if isinstance(one, Button) and one.description == "False"]
answered = sum(map(answers, buttons))
for one in widgets:
    if isinstance(one, IntSlider):
        one.value = one.min if one.value == one.max else one.max
    elif len(getattr(one, "options", ())) > 1:
        one.index = 1 if one.index == 0 else 0
[len(buttons), answered]"""
SLUGS = list(lesson_paths(ROOT))
# The torch of these tests is the newest that is pinned, not Colab's.
AS_TORCH_2_11 = Path(__file__).with_name("as_torch_2_11.py").read_text()


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    try:
        return make_runtime(tmp_path_factory.mktemp("colab") / "runtime")
    except PipError as error:  # no network, or no wheel of that time for this Python
        pytest.skip(f"Colab's versions cannot be installed here: {error}")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def with_course(runtime: Runtime, wheel: Path) -> Runtime:
    if "pytorch-measured" not in runtime.packages():
        runtime.pip("install", "--quiet", "--no-deps", str(wheel))
    return runtime


def colabs_versions() -> dict[str, str]:
    """The versions of the first part of the requirements."""
    lines = REQUIREMENTS.read_text().split("\n\n")[0].splitlines()[1:]
    return {one.name: str(one.specifier).removeprefix("==") for one in map(Requirement, lines)}


def test_these_are_the_versions_that_the_package_promises_to_run_with() -> None:
    assert {**COLAB, **colabs_versions()} == {**colabs_versions(), **COLAB}
    assert COLAB.keys() - colabs_versions().keys() == {"torch"}


def test_the_runtime_has_colabs_versions_and_no_grader(runtime: Runtime, tmp_path: Path) -> None:
    ask = """\
import importlib.metadata as about
from importlib.util import find_spec
import numpy, torch
wanted = {NAMES}
found = {name: about.version(name) for name in wanted}
[found, numpy.__version__, torch.__version__, find_spec("nbgrader"), find_spec("jupyterlab")]"""
    pins = colabs_versions()
    outputs = runtime.run([code("ask", ask.replace("{NAMES}", repr(list(pins))))], tmp_path)
    found, numpy, torch, nbgrader, lab = ast.literal_eval(printed(outputs["ask"]))
    assert found == pins
    assert (numpy, torch.partition(".")[0], nbgrader, lab) == (pins["numpy"], "2", None, None)


# The set-up cell.


def set_up(lesson: Lesson, repository: str = "") -> Cell:
    """The cell that brings `course`."""
    cells = self_study_edition(lesson, repository=repository)["cells"]
    return next(cell for cell in cells if cell["id"] == INSTALL_ID)


IMPORT = code("import", "import course\n[course.__file__]")


@pytest.fixture
def without_course(runtime: Runtime) -> Runtime:
    if "pytorch-measured" in runtime.packages():
        runtime.pip("uninstall", "--quiet", "--yes", "pytorch-measured")
    return runtime


@pytest.fixture(scope="module")
def lesson() -> Lesson:
    return read_lesson(lesson_paths(ROOT)["04-memory-layout"])  # its set-up prints nothing


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables with which git finds the course behind an address on GitHub.

    pip and git do all that they do on Colab; git alone is told where that address leads.
    """
    tree = copy_package(tmp_path_factory.mktemp("github") / "name")
    commit(tree)
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{tree}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/owner/name",
    }


@pytest.fixture(scope="module")
def google_colab(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables with which `google.colab` can be imported, as on Colab alone."""
    package = tmp_path_factory.mktemp("google-colab") / "google" / "colab"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "files.py").write_text(
        "import os, shutil\n\ndef upload():\n    shutil.copy(os.environ['CHOSEN'], '.')\n"
    )
    return {"PYTHONPATH": str(package.parents[1])}


@dataclass(frozen=True)
class Way:
    """How a notebook finds its course."""

    told: str  # what the set-up cell says that it installs, if anything
    repository: str = ""  # the address in pyproject.toml
    colab: bytes | None = None  # what Colab's runtime tells, where it is Colab
    beside: bool = False  # a wheel lies beside the notebook


WAYS = {
    "installed": Way("", "owner/name"),
    "a wheel beside it": Way("{wheel}", "owner/name", FROM_GITHUB, beside=True),
    "the address in pyproject": Way("git+https://github.com/owner/name", "owner/name"),
    "opened from GitHub": Way("git+https://github.com/owner/name@main", "", FROM_GITHUB),
    "opened from Drive: an upload": Way("{wheel}", "", FROM_DRIVE),
}


# 04 begins with torch alone, 14 with the course: its scene happens on the device.
SCENES = ["04-memory-layout", "14-gpu-memory"]


def until_the_scene(lesson: Lesson, repository: str) -> list[Cell]:
    """The cells up to the first one after the set-up that shows something."""
    cells = solved(lesson, repository)
    ids = [cell["id"] for cell in cells]
    last = next(
        n for n in range(ids.index("setup") + 1, len(ids)) if cells[n]["cell_type"] == "code"
    )
    return cells[: last + 1]


@pytest.mark.needs("git")
@pytest.mark.parametrize("slug", SCENES)
@pytest.mark.parametrize("name", list(WAYS))
def test_a_notebook_finds_its_course_and_replaces_nothing(
    name: str,
    slug: str,
    without_course: Runtime,
    wheel: Path,
    address: dict[str, str],
    google_colab: dict[str, str],
    tmp_path: Path,
) -> None:
    way, lesson = WAYS[name], read_lesson(lesson_paths(ROOT)[slug])
    before = without_course.packages()
    folder = in_folder(lesson, tmp_path / "notebook")
    if name == "installed":
        without_course.pip("install", "--quiet", "--no-deps", str(wheel))
    if way.beside:
        shutil.copy(wheel, folder)
    # Until its scene, which comes after the set-up; that lessons run to their end is asked below.
    cells = [code("as-2-11", AS_TORCH_2_11), *until_the_scene(lesson, way.repository), IMPORT]
    with runtime_that_tells(way.colab) as variables:
        colab = google_colab | variables | {"CHOSEN": str(wheel)} if way.colab else {}
        outputs = without_course.run(cells, folder, **address, **colab)
    assert errors(outputs) == {}
    told = f"Installing course from {way.told.format(wheel=wheel.name)}, and nothing else …\n"
    done = "Installed. Go on with the next cell; no restart is needed.\n"
    said = printed(outputs[INSTALL_ID]).partition("This notebook runs on ")[0]
    assert said.endswith(told + done if way.told else "")
    assert ("Choose the file pytorch_measured-….whl below" in said) == ("upload" in name)
    (path,) = ast.literal_eval(printed(outputs["import"]))
    assert Path(path).is_relative_to(without_course.root)
    after = without_course.packages()
    assert after.pop("pytorch-measured")
    assert after == before


def test_where_there_is_nothing_to_install_it_says_what_to_do_and_the_run_stops(
    lesson: Lesson, without_course: Runtime, tmp_path: Path
) -> None:
    outputs = without_course.run([set_up(lesson), IMPORT], tmp_path)
    (shown,) = outputs[INSTALL_ID]
    assert shown["traceback"] == [shown["evalue"]]
    assert "Put the file pytorch_measured-….whl beside it and run this cell" in shown["evalue"]
    assert "whoever\ngave you the notebook has it" in shown["evalue"]
    assert outputs["import"] == []


def test_an_installation_that_fails_is_told_in_pips_words(
    lesson: Lesson, without_course: Runtime, tmp_path: Path
) -> None:
    (tmp_path / "pytorch_measured-0.1.0-py3-none-any.whl").write_text("cut off")
    (shown,) = without_course.run([set_up(lesson)], tmp_path)[INSTALL_ID][1:]
    assert shown["traceback"] == [shown["evalue"]]
    assert shown["evalue"].startswith("pip could not install it:\n")
    assert "pytorch_measured-0.1.0-py3-none-any.whl" in shown["evalue"]


def test_of_several_downloads_the_newest_is_installed_whatever_a_browser_called_it(
    lesson: Lesson, without_course: Runtime, wheel: Path, tmp_path: Path
) -> None:
    stem = wheel.name.removesuffix(".whl")
    for name in ("pytorch_measured-0.0.9-py3-none-any", "pytorch_measured-0.0.10-py3-none-any"):
        (tmp_path / f"{name}.whl").write_text("an old one")
    (tmp_path / f"{stem}.whl").write_text("cut off")
    os.utime(tmp_path / f"{stem}.whl", (1, 1))
    shutil.copy(wheel, tmp_path / f"{stem} (1).whl")
    outputs = without_course.run([set_up(lesson), IMPORT], tmp_path)
    assert errors(outputs) == {}
    assert f"Installing course from {stem} (1).whl, and" in printed(outputs[INSTALL_ID])


def test_wheels_are_compared_by_their_numbers(
    lesson: Lesson, without_course: Runtime, tmp_path: Path
) -> None:
    for number in ("0.9.0", "0.10.0"):
        (tmp_path / f"pytorch_measured-{number}-py3-none-any.whl").write_text("cut off")
    outputs = without_course.run([set_up(lesson)], tmp_path)[INSTALL_ID]
    assert "from pytorch_measured-0.10.0-py3-none-any.whl, and" in printed(outputs[:1])


def test_where_it_is_installed_the_set_up_does_nothing(
    lesson: Lesson, with_course: Runtime, tmp_path: Path
) -> None:
    before = with_course.packages()
    (tmp_path / "pytorch_measured-0.1.0-py3-none-any.whl").write_text("not even read")
    assert with_course.run([set_up(lesson, "owner/name")], tmp_path) == {INSTALL_ID: []}
    assert with_course.packages() == before


def commit(tree: Path) -> None:
    """Make a git repository of a folder."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "One")):
        subprocess.run(["git", *who, *command], cwd=tree, check=True)


# The lessons.


def until_the_first_check(lesson: Lesson) -> list[Cell]:
    """The cells that a learner has to run for the first check table, and the table's own."""
    first = next(one for one in lesson.exercises if not one.manual)
    wanted = (INSTALL_ID, "setup", first.answer_id, first.test_id)
    return [cell for cell in solved(lesson) if cell["id"] in wanted]


# For all lessons tests/lessons/test_every_lesson.py says it, with the versions of here.
@pytest.mark.parametrize("slug", ["01-tensors", "09-dataloader"])
def test_three_cells_are_enough_for_the_first_check(
    slug: str, with_course: Runtime, tmp_path: Path
) -> None:
    lesson = read_lesson(lesson_paths(ROOT)[slug])
    cells = until_the_first_check(lesson)
    outputs = with_course.run(cells, in_folder(lesson, tmp_path))
    assert len(cells) - 1 == 3
    assert [score == most for score, most in tables(outputs).values()] == [True]


def test_the_stand_ins_answer_as_torch_2_11_does(with_course: Runtime, tmp_path: Path) -> None:
    ask = """\
import warnings
from torch.utils.data import DataLoader, get_worker_info

def said(call):
    try:
        return str(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def spoilt():
    y = torch.ones(2, requires_grad=True).exp()
    y.add_(1)
    y.sum().backward()

def profiled():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
    return [str(one.message) for one in caught]

calls = (
    lambda: worker.WorkerInfo(1, 2, 3, None),
    lambda: torch._utils.cpu_count(),
    spoilt,
    profiled,
)

def worker_ids(rows):
    return get_worker_info().id
[*map(said, calls), list(DataLoader([1, 2], 1, num_workers=1, collate_fn=worker_ids))]"""
    outputs = with_course.run([code("as-2-11", AS_TORCH_2_11), code("ask", ask)], tmp_path)
    assert errors(outputs) == {}
    info, count, spoilt, profiled, workers = ast.literal_eval(printed(outputs["ask"]))
    assert info.startswith("TypeError: WorkerInfo.__init__() takes 1 positional argument but 5")
    assert count == "AttributeError: module 'torch._utils' has no attribute 'cpu_count'"
    assert "which is output 0 of ExpBackward0, is at version 1" in spoilt
    assert "clears events" in profiled
    assert workers == [0, 0]


@pytest.mark.each_lesson
@pytest.mark.parametrize("slug", SLUGS)
def test_a_solved_notebook_runs_to_its_end_with_all_points(
    slug: str, with_course: Runtime, tmp_path: Path
) -> None:
    lesson = read_lesson(lesson_paths(ROOT)[slug])
    cells = [code("as-2-11", AS_TORCH_2_11), *solved(lesson), code("press", PRESS)]
    outputs = with_course.run(cells, in_folder(lesson, tmp_path))
    assert errors(outputs) == {}
    assert on_stderr(outputs) == {}
    tested = [one for one in lesson.exercises if not one.manual]
    assert tables(outputs) == {one.name: (one.points, one.points) for one in tested}
    most = f"{sum(one.points for one in tested):g}"
    (shown,) = outputs[PROGRESS_ID]
    assert shown["data"]["text/plain"].startswith(
        f"{slug}: {most} of {most} points · {len(tested)} of {len(tested)} exercises complete"
    )
    assert "text/html" in shown["data"]
    asked, answered = ast.literal_eval(printed(outputs["press"]))
    assert asked == answered
    assert asked > 0 or is_project(lesson.cells())


def test_progress_that_was_saved_comes_back_with_the_answers(
    lesson: Lesson, with_course: Runtime, tmp_path: Path
) -> None:
    first = next(one for one in lesson.exercises if not one.manual)
    last = next(cell for cell in solved(lesson) if cell["id"] == PROGRESS_ID)
    saving, loading = (
        {**last, "source": last["source"].replace('"show"', f'"{action}"', 1)}
        for action in ("save", "load")
    )
    saved = with_course.run([*until_the_first_check(lesson), saving], tmp_path)
    assert "saved in pytorch-measured-progress.json" in printed(saved[PROGRESS_ID])
    shown = printed(with_course.run([loading], tmp_path)[PROGRESS_ID])  # another kernel
    assert f"✓ {first.name}" in shown
    assert without_markers(first.answer_source).strip() in shown


# The start page.

CARRY = """\
from ipywidgets import HTML, Button, FileUpload, Widget

widgets = list(Widget.widgets.values())
(save,) = [one for one in widgets if getattr(one, "description", "") == "Save my progress"]
(upload,) = [one for one in widgets if isinstance(one, FileUpload)]
save.click()
content = open("pytorch-measured-progress.json", "rb").read()
upload.set_trait("value", {"taken.json": {"metadata": {}, "content": content}})
told = " ".join(one.value for one in widgets if isinstance(one, HTML))
["Begin with " in told, "taken.json: " in told, content.count(b"false")]"""


def test_the_start_page_runs_places_and_carries_progress(
    with_course: Runtime, tmp_path: Path
) -> None:
    page = ROOT / "release" / "self-study" / START_PAGE
    cells = json.loads(page.read_text())["cells"]
    more = [code("press", PRESS), code("carried", CARRY)]
    outputs = with_course.run([*cells, *more], tmp_path)
    assert errors(outputs) == {}
    assert on_stderr(outputs) == {}
    for card in cards():
        assert card.title in printed(outputs["lessons"])
        assert card.can in printed(outputs["map"])
    assert ast.literal_eval(printed(outputs["press"])) == [len(ASKED), len(ASKED)]
    assert ast.literal_eval(printed(outputs["carried"])) == [True, True, len(ASKED)]


def test_the_one_gpu_for_everyone_runs_and_is_named(with_course: Runtime, tmp_path: Path) -> None:
    source = """\
import torch
from course import gpu
from course.gpu import device_in_words

x = torch.ones(3, device=gpu.device())
[device_in_words(), gpu.memory_allocated(), (x + 1).tolist()]"""
    outputs = with_course.run([code("gpu", source)], tmp_path)
    told, nbytes, values = ast.literal_eval(printed(outputs["gpu"]))
    assert told.startswith("This notebook runs on ")
    assert (nbytes, values) == (512, [2.0, 2.0, 2.0])
