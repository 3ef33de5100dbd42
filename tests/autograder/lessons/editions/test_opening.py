"""A self-study notebook begins with its heading, a click to open it elsewhere, and the set-up."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.errors import UsageError
from autograder.lessons.editions.addresses import repository, set_repository
from autograder.lessons.editions.opening import BADGES_ID, INSTALL_ID, TEXT_ID, opened
from autograder.lessons.editions.start_page import START_PAGE
from autograder.lessons.model import all_lessons, find_lesson, read_lesson
from autograder.lessons.self_study import self_study_edition
from tests.autograder import tiny

ROOT = Path(__file__).parents[4]
NOTEBOOKS = sorted((ROOT / "release/self-study").glob("*.ipynb"))
SECTION = '[tool.pytorch-measured]\n# where\nrepository = ""\nother = "x"\n'


def sources(cells: list[dict[str, object]]) -> dict[str, str]:
    return {str(cell["id"]): "".join(cell["source"]) for cell in cells}  # type: ignore[arg-type]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_set_up_is_the_first_code_cell_and_stands_below_the_heading_alone(path: Path) -> None:
    cells = json.loads(path.read_text())["cells"]
    first = next(cell["id"] for cell in cells if cell["cell_type"] == "code")
    ids = [cell["id"] for cell in cells]
    assert first == INSTALL_ID
    assert set(ids[1 : ids.index(INSTALL_ID)]) <= {BADGES_ID}
    assert re.fullmatch(r"# \S.*", "".join(cells[0]["source"]))
    assert cells[ids.index(INSTALL_ID)]["metadata"]["cellView"] == "form"
    assert cells[ids.index(INSTALL_ID)]["metadata"]["jupyter"] == {"source_hidden": True}


def test_no_word_of_the_lesson_is_lost() -> None:
    for lesson in all_lessons(ROOT):
        first = lesson.cells()[0]
        heading, rest = self_study_edition(lesson)["cells"][0:3:2]
        assert f"{heading['source']}\n\n{rest['source']}" == first["source"]
        assert (heading["id"], heading["metadata"]["course"]["role"]) == (first["id"], "title")
        assert rest["id"] == TEXT_ID


def test_the_pictures_of_the_first_cell_go_with_its_text() -> None:
    picture = {"a.png": {"image/png": "AAAA"}}
    first = tiny.text("title", "# A\n\n![a](attachment:a.png)") | {"attachments": picture}
    heading, _, rest = opened([first], "a.ipynb")
    assert "attachments" not in heading
    assert (rest["source"], rest["attachments"]) == ("![a](attachment:a.png)", picture)


def test_a_heading_without_more_is_a_cell_of_its_own() -> None:
    cells = opened([tiny.text("title", "# Alone"), tiny.code("x", "1")], "a.ipynb")
    assert [cell["id"] for cell in cells] == ["title", INSTALL_ID, "x"]


def test_the_cell_imports_the_standard_library_and_defines_what_it_calls() -> None:
    cell = sources(opened([tiny.text("title", "# A")], "a.ipynb", "owner/name"))[INSTALL_ID]
    title, _, code = cell.partition("\n")
    assert title == '#@title Set-up: run this first { display-mode: "form" }'
    assert code.startswith("import ")
    assert code.endswith('\n\n\nbring_course(repository="owner/name")')
    assert '"""The first code cell' not in code
    imported = {
        (getattr(node, "module", None) or one.name).partition(".")[0]
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for one in node.names
    }
    assert imported - sys.stdlib_module_names == {"google"}


# Addresses.


def test_the_address_comes_from_pyproject(tmp_path: Path) -> None:
    assert repository(tmp_path) == ""
    (tmp_path / "pyproject.toml").write_text('[tool.pytorch-measured]\nrepository = "a/b"\n')
    assert repository(tmp_path) == "a/b"


def test_the_address_is_written_into_its_line_and_nothing_else_changes(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(f'[project]\nrepository = "of somebody else"\n\n{SECTION}')
    set_repository(tmp_path, "owner/na.me_1")
    assert repository(tmp_path) == "owner/na.me_1"
    assert path.read_text().endswith('\n# where\nrepository = "owner/na.me_1"\nother = "x"\n')
    set_repository(tmp_path, "")
    assert path.read_text() == f'[project]\nrepository = "of somebody else"\n\n{SECTION}'


@pytest.mark.parametrize(
    "named", ["https://github.com/owner/name", "owner", "owner/name/tree", "o w/n", 'a/b"', "a/b\n"]
)
def test_what_is_no_owner_and_name_is_refused_and_nothing_is_written(
    tmp_path: Path, named: str
) -> None:
    (tmp_path / "pyproject.toml").write_text(SECTION)
    with pytest.raises(UsageError, match="no address of a repository on GitHub"):
        set_repository(tmp_path, named)
    assert (tmp_path / "pyproject.toml").read_text() == SECTION


def test_a_course_without_the_line_is_told_where_to_add_it(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no line for the address"):
        set_repository(tmp_path, "owner/name")


# What `autograder release --repository` changes.


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course directory with one lesson, the start page and a README with the table."""
    tiny.build(tmp_path)
    (tmp_path / "source" / START_PAGE).write_text((ROOT / "source" / START_PAGE).read_text())
    (tmp_path / "course/guide").mkdir(parents=True)
    (tmp_path / "README.md").write_text(
        "# A\n\n<!-- lessons: written by `autograder release` -->\n<!-- end of lessons -->\n"
    )
    (tmp_path / "pyproject.toml").write_text(SECTION)
    return tmp_path


def release(course: Path, *words: str) -> int:
    return main.main(["release", "--course", str(course), *words])


def links(course: Path) -> set[str]:
    """Every address on the web in the released notebooks, the README and the map."""
    files = [*course.rglob("release/**/*.ipynb"), course / "README.md", *course.glob("docs/*.md")]
    text = "\n".join(path.read_text() for path in files)
    return set(re.findall(r"https://(?:colab|mybinder)[^\s)\"\\\]]+", text))


@pytest.mark.exhaustive("whole assignments")
def test_one_line_gives_every_door_and_takes_it_away(course: Path) -> None:
    assert release(course, "--repository", "owner/name") == 0
    assert release(course, "--check") == 0
    paths = ["00-start-here.ipynb", "01-tiny.ipynb"]
    assert {one for one in links(course) if "/owner/name/" in one} == {
        f"{begin}release/self-study/{path}"
        for path in paths
        for begin in (
            "https://colab.research.google.com/github/owner/name/blob/main/",
            "https://mybinder.org/v2/gh/owner/name/main?urlpath=lab/tree/",
        )
    }
    for path in paths:
        cells = json.loads((course / "release/self-study" / path).read_text())["cells"]
        assert 'bring_course(repository="owner/name")' in sources(cells)[INSTALL_ID]
        for link in re.findall(r"\(https://[^)]+release/[^)]+\)", sources(cells)[BADGES_ID]):
            assert (course / re.search(r"release/.*ipynb", link)[0]).is_file()  # type: ignore[index]
    readme = (course / "README.md").read_text()
    assert "| open in |" in readme
    assert "[Colab](https://colab.research.google.com/github/owner/name/" in readme

    assert release(course, "--repository", "") == 0
    assert release(course, "--check") == 0
    assert links(course) == set()
    assert "open in" not in (course / "README.md").read_text()


def test_the_class_edition_has_no_badge(course: Path) -> None:
    assert release(course, "--repository", "owner/name") == 0
    for path in ("01-tiny/01-tiny.ipynb", START_PAGE):
        cells = json.loads((course / "release" / path).read_text())["cells"]
        assert not {BADGES_ID, INSTALL_ID} & sources(cells).keys()


def test_an_address_that_was_not_released_is_drift(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert release(course) == 0
    set_repository(course, "owner/name")
    assert release(course, "--check") == 1
    told = capsys.readouterr().out
    for path in (
        "README.md",
        "release/self-study/01-tiny.ipynb",
        f"release/self-study/{START_PAGE}",
    ):
        assert f"{path}: changed" in told


@pytest.mark.parametrize("more", [["--check"], ["01"]])
def test_an_address_is_for_all_notebooks(
    course: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    assert release(course, "--repository", "owner/name", *more) == 2
    assert "goes with neither --check nor lessons" in capsys.readouterr().err
    assert repository(course) == ""


def test_without_an_address_the_committed_course_has_no_link_to_one() -> None:
    if not repository(ROOT):
        assert links(ROOT) == set()


# Which device.


@pytest.mark.parametrize(
    "line",
    [
        "from course import Check, gpu",
        "from course.gpu import Recorder",
        "import course.gpu as gpu",
        "with torch.no_grad():\n    from course import gpu",
    ],
)
def test_the_set_up_names_the_device_where_the_lesson_uses_it(tmp_path: Path, line: str) -> None:
    notebook = tiny.notebook()
    notebook["cells"].insert(2, tiny.code("measured", line))
    tiny.build(tmp_path)
    lesson = read_lesson(tiny.write(tmp_path, notebook))
    set_up = sources(self_study_edition(lesson)["cells"])[INSTALL_ID]
    assert set_up.endswith("print(device_in_words())")


def test_the_set_up_names_no_device_where_the_lesson_uses_none(tmp_path: Path) -> None:
    lesson = find_lesson(tiny.build(tmp_path), "1")
    assert "device_in_words" not in sources(self_study_edition(lesson)["cells"])[INSTALL_ID]
