"""What nbgrader releases is what the source gives at that moment, from a fresh clone on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config

from autograder.course_directory import load_course
from tests.autograder import tiny
from tests.autograder.tiny import SLUG

ROOT = Path(__file__).parents[3]
TITLE = "# A tiny lesson"


@pytest.fixture
def api(tmp_path: Path) -> NbGraderAPI:
    """What formgrader and the commands of nbgrader use, in a course with our configuration."""
    course = tiny.build(tmp_path / "course")
    (course / "nbgrader_config.py").write_text((ROOT / "nbgrader_config.py").read_text())
    (course / "release" / SLUG).mkdir(parents=True)
    (course / "release" / SLUG / f"{SLUG}.ipynb").write_text("committed")
    (tmp_path / "exchange").mkdir()
    config = Config(load_course(course).config)
    config.Exchange.root = str(tmp_path / "exchange")
    return NbGraderAPI(config=config)


def titled(api: NbGraderAPI, title: str) -> None:
    """Edit the source."""
    path = Path(api.coursedir.root, "source", SLUG, f"{SLUG}.ipynb")
    path.write_text(path.read_text().replace(TITLE, title))


def released(api: NbGraderAPI) -> str:
    """The title of what lies in the exchange."""
    outbound = Path(api.exchange_root, "pytorch-measured", "outbound")
    content = json.loads((outbound / SLUG / f"{SLUG}.ipynb").read_text())
    return str(content["cells"][0]["source"])


@pytest.mark.exhaustive("nbgrader's own commands")
def test_an_edition_of_an_older_source_is_not_released(api: NbGraderAPI) -> None:
    assert api.generate_assignment(SLUG, force=False)["success"]
    titled(api, "# A lesson that was edited since")
    answer = api.release_assignment(SLUG)
    assert answer["success"], answer
    assert "# A lesson that was edited since" in released(api)


@pytest.mark.exhaustive("releases through formgrader")
def test_a_release_without_generate_enters_the_assignment_into_the_gradebook(
    api: NbGraderAPI,
) -> None:
    assert api.release_assignment(SLUG)["success"]
    assert api.get_assignment(SLUG)["max_score"] == 6


@pytest.mark.exhaustive("releases through formgrader")
def test_our_committed_edition_is_left_alone(api: NbGraderAPI) -> None:
    api.release_assignment(SLUG)
    committed = Path(api.coursedir.root, "release", SLUG, f"{SLUG}.ipynb")
    assert committed.read_text() == "committed"


@pytest.mark.exhaustive("releases through formgrader")
def test_a_source_that_cannot_be_generated_is_not_released(api: NbGraderAPI) -> None:
    path = Path(api.coursedir.root, "source", SLUG, f"{SLUG}.ipynb")
    path.write_text(path.read_text().replace("### END SOLUTION", ""))
    answer = api.release_assignment(SLUG)
    assert not answer["success"]
    assert "is not released: its class edition cannot be generated" in answer["log"]
    assert not Path(api.exchange_root, "pytorch-measured").exists()


def test_what_has_no_source_is_nbgraders_error(api: NbGraderAPI) -> None:
    answer = api.release_assignment("homework")
    assert not answer["success"]
    assert "Assignment not found at" in answer["log"]
