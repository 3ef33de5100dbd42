"""What waits for a public host names only what there is: targets, paths, versions, pages."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*-*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def read(path: Path) -> Any:
    # "on" is a word in workflows, and true in YAML 1.1.
    return yaml.load(path.read_text(), yaml.BaseLoader)


def targets() -> set[str]:
    """The targets of the Makefile."""
    return set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M))


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_calls_targets_that_there_are_and_may_do_no_more_than_it_needs(
    path: Path,
) -> None:
    workflow = read(path)
    called = [words for step in steps(workflow) for words in step.get("run", "").splitlines()]
    made = {word for line in called if line.startswith("make") for word in line.split()[1:]}
    assert {word for word in made if not word.startswith("-")} <= targets()
    assert workflow["permissions"] == {"contents": "read"}
    for step in steps(workflow):
        asked = step.get("with", {})
        if step.get("uses", "").startswith("actions/checkout@"):
            assert asked == {"persist-credentials": "false"}
        if "cache-dependency-path" in asked:
            assert (ROOT / asked["cache-dependency-path"]).is_file()
        if python := asked.get("python-version"):
            assert python.startswith(("3.", "${{ matrix.python }}"))


def test_three_workflows_test_publish_the_site_and_release() -> None:
    on = {path.stem: read(path)["on"] for path in WORKFLOWS}
    assert on.keys() == {"tests", "site", "release"}
    assert on["tests"]["push"] == on["site"]["push"] == {"branches": ["main"]}
    assert "pull_request" in on["tests"]
    assert on["release"] == {"push": {"tags": ["v*"]}}


def test_all_workflows_name_one_version_of_an_action() -> None:
    used = {step["uses"] for path in WORKFLOWS for step in steps(read(path)) if "uses" in step}
    assert len({name.partition("@")[0] for name in used}) == len(used)


def test_the_tests_run_on_every_python_that_is_promised() -> None:
    matrix = read(ROOT / ".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    told = (ROOT / "constraints.txt").read_text()
    assert all(version in told for version in matrix["python"])
    assert matrix["python"][0] == PROJECT["requires-python"].removeprefix(">=")


def test_pypi_and_github_get_what_was_built_and_only_pypis_job_may_identify_itself() -> None:
    jobs = read(ROOT / ".github/workflows/release.yml")["jobs"]
    assert {name for name, job in jobs.items() if "id-token" in job.get("permissions", {})} == {
        "pypi"
    }
    assert (jobs["pypi"]["needs"], jobs["github"]["needs"]) == ("build", "pypi")
    assert jobs["pypi"]["environment"]["url"].endswith(f"/{PROJECT['name']}/")
    names = [one["with"]["name"] for one in steps({"jobs": jobs}) if "artifact" in str(one)]
    assert names == ["dist"] * 3


def test_the_container_takes_only_what_there_is() -> None:
    dockerfile = (ROOT / "classroom/Dockerfile").read_text()
    copied = re.findall(r"^COPY (?!--from)(?:--\S+ )?(.+) \S+$", dockerfile, re.M)
    sources = {word for words in copied for word in words.split()}
    assert sources >= {"course", "autograder", "constraints.txt", "."}
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_learners_in_the_container_read_no_solution() -> None:
    dockerfile = (ROOT / "classroom/Dockerfile").read_text()
    whole = re.findall(r"^COPY .*\. (\S+)$", dockerfile.partition("\nFROM ")[2], re.M)
    assert whole[-1:] == [str(Path("/home", "teacher", "pytorch-measured"))]
    assert "chmod 700 /home/*" in dockerfile
    _, final = dockerfile.rsplit("\nFROM ", 1)
    assert re.findall(r"^COPY (?!--from).*\b(?:autograder|source)\b.*$", final, re.M) == []


def test_the_compose_file_builds_that_container_and_is_seen_by_this_machine_alone() -> None:
    compose = read(ROOT / "classroom/compose.yml")
    (hub,) = compose["services"].values()
    folder = ROOT / "classroom" / hub["build"]["context"]
    assert (folder / hub["build"]["dockerfile"]).is_file()
    assert [port.startswith("127.0.0.1:") for port in hub["ports"]] == [True]
    asked = set(re.findall(r"^ARG (\w+)", (ROOT / "classroom/Dockerfile").read_text(), re.M))
    assert hub["build"]["args"].keys() == asked
    mounted = {one.partition(":")[0] for one in hub["volumes"]}
    assert mounted == compose["volumes"].keys()


def test_what_git_ignores_stays_out_of_the_container() -> None:
    left = set((ROOT / "classroom/Dockerfile.dockerignore").read_text().splitlines())
    for name in ("submitted", "autograded", "gradebook.db*", "students.csv", "grades.csv"):
        assert name in left
        assert f"/{name}" in (git := (ROOT / ".gitignore").read_text()) or name in git


def test_the_dev_container_runs_what_there_is() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    commands = [container["onCreateCommand"], container["postAttachCommand"]]
    assert set(re.findall(r"make ([a-z-]+)", " ".join(commands))) <= targets()
    assert (ROOT / ".ci/system").is_file()
    assert (
        re.search(r"python:(3\.\d+)-", container["image"])[1]
        in (  # type: ignore[index]
            ROOT / "constraints.txt"
        ).read_text()
    )


def test_binder_installs_the_course_alone_within_the_constraints() -> None:
    lines = (ROOT / ".binder/requirements.txt").read_text().splitlines()
    asked = [line for line in lines if not line.startswith(("#", "--"))]
    assert asked == ["-c ../constraints.txt", "."]
    assert (ROOT / ".binder" / asked[0].split()[1]).is_file()
    assert (ROOT / ".binder/runtime.txt").read_text() == "python-3.12\n"


def test_each_finding_that_is_wanted_has_a_form() -> None:
    names = {read(path)["name"] for path in FORMS}
    wanted = re.findall(r"^- \*\*(.+?)\.?\*\*", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    assert set(wanted) == names
    for path in FORMS:
        ids = [field["id"] for field in read(path)["body"]]
        assert len(set(ids)) == len(ids)


def test_one_version_stands_everywhere() -> None:
    assert read(ROOT / "CITATION.cff")["version"] == PROJECT["version"]
    assert f"\n## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text()
    assert read(ROOT / "CITATION.cff")["license"] == PROJECT["license"]


def test_the_linters_are_pinned_and_jupyterhub_is_the_containers() -> None:
    lines = (Path(__file__).with_name("requirements.txt")).read_text().splitlines()[1:]
    pins = {one.name: str(one.specifier) for one in map(Requirement, lines)}
    assert all(pin.startswith("==") for pin in pins.values())
    assert f"jupyterhub{pins['jupyterhub']}" in (ROOT / "classroom/Dockerfile").read_text()


def test_the_page_leads_through_every_file_and_says_what_was_not_tried() -> None:
    page = (ROOT / "docs/publishing.md").read_text()
    named = {*re.findall(r"`([\w./-]+/[\w./-]*)`", page), *re.findall(r"\((\w+\.md)", page)}
    for name in (path.relative_to(ROOT).as_posix() for path in WORKFLOWS):
        assert name in named
    there = {name for name in named if (ROOT / name).exists() or (ROOT / "docs" / name).exists()}
    assert there == named
    for step in ("Colab", "Binder", "Codespaces"):
        assert f"**{step}** (not tried here)" in page
    assert page.lower().count("not tried here") >= 9
