"""What stands behind the pages: what is kept, pictures, the gallery, the notebook that is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.lessons.model import Lesson, all_lessons, find_lesson
from course.claims import claims
from docs.site.checks import faults_of
from docs.site.gallery import write_gallery
from docs.site.lessons.figures import with_files
from docs.site.lessons.page import page_of, solved_cells
from docs.site.settings import Settings
from docs.site.teachers import page_for_teachers
from tests.docs.site_build import LESSON, ROOT


def test_pictures_become_files_and_stderr_stays_away(tmp_path: Path) -> None:
    html = '<img alt="dot" src="data:image/svg+xml;base64,PHN2Zy8+">'
    outputs = [
        {"output_type": "display_data", "data": {"text/html": html}, "metadata": {}},
        {"output_type": "stream", "name": "stderr", "text": "a warning"},
    ]
    (shown,) = with_files(outputs, tmp_path / "04", "cell")
    (file,) = (tmp_path / "04").iterdir()
    assert file.read_text() == "<svg/>"
    assert f'src="04/{file.name}"' in shown["data"]["text/html"]
    assert outputs[0]["data"]["text/html"] == html


def test_the_gallery_shows_the_report_first_and_each_learners_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = "<p>7.5 <span>of 39 points</span></p>"
    pages = {"report/index.html": "<p>all</p>", "feedback/student-001/04/04.html": one}
    monkeypatch.setenv("KEEP_RESULTS", "")
    monkeypatch.setattr("docs.site.gallery._graded", lambda _: pages)
    settings = Settings(work=tmp_path)
    shown = write_gallery(settings)
    assert [one.title for one in shown] == ["The report of the class", "Feedback for student-001"]
    assert shown[1].about.startswith("7.5 of 39 points.")
    assert (settings.extra / shown[1].href).read_text() == one


@pytest.mark.parametrize("repository", ["", "owner/name"])
def test_a_lesson_leads_to_colab_where_there_is_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: str
) -> None:
    monkeypatch.setattr("docs.site.lessons.page.repository", lambda course: repository)
    cells = page_of(find_lesson(ROOT, LESSON), {}, tmp_path)["cells"]
    (links,) = [cell["source"] for cell in cells if cell["id"] == "ways-in"]
    path = f"github/owner/name/blob/main/release/self-study/{LESSON}.ipynb"
    assert (path in links) == bool(repository)
    assert ("colab" in links) == bool(repository)


@pytest.mark.parametrize("lesson", all_lessons(ROOT), ids=lambda one: one.slug)
def test_a_lesson_leads_to_its_claims_where_it_has_some(tmp_path: Path, lesson: Lesson) -> None:
    cells = page_of(lesson, {}, tmp_path)["cells"]
    (links,) = [cell["source"] for cell in cells if cell["id"] == "ways-in"]
    assert (f"atlas.html#lesson-{lesson.slug}" in links) == bool(claims(lesson.slug))


def test_a_lesson_that_was_not_run_is_a_page_without_outputs(tmp_path: Path) -> None:
    cells = page_of(find_lesson(ROOT, LESSON), {}, tmp_path)["cells"]
    assert [cell for cell in cells if cell.get("outputs")] == []
    assert [cell["id"] for cell in cells if "BEGIN " in cell["source"]] == []


def test_a_lesson_is_run_with_every_answer_filled_in() -> None:
    solved = solved_cells(find_lesson(ROOT, LESSON))
    code = "\n".join(cell["source"] for cell in solved if cell["cell_type"] == "code")
    assert "# YOUR CODE HERE" not in code
    assert "def row_major_strides" in code


def test_links_of_a_page_for_teachers_lead_into_the_site_or_become_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "picture.png").write_bytes(b"png")
    (docs / "a.md").write_text(
        "[x](b.md#y) [x](c.md) [x](../tests/t.py#L1) [x](#y) [x](https://e.org) ![x](picture.png)"
    )
    monkeypatch.setattr("docs.site.teachers.ROOT", tmp_path)
    assert page_for_teachers("a", {"a", "b"}, tmp_path / "pages") == (
        "[x](b.md#y) x (`docs/c.md`) x (`tests/t.py`) [x](#y) [x](https://e.org) ![x](picture.png)"
    )
    assert (tmp_path / "pages" / "picture.png").read_bytes() == b"png"


def test_the_gallery_leads_to_the_lesson_where_feedback_leads_to_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"feedback/s/{LESSON}/{LESSON}.html"
    pages = {page: f'<a href="../../{LESSON}.ipynb">your copy</a>'}
    monkeypatch.setenv("KEEP_RESULTS", "")
    monkeypatch.setattr("docs.site.gallery._graded", lambda _: pages)
    write_gallery(Settings(work=tmp_path))
    (tmp_path / "extra" / "lessons").mkdir()
    (tmp_path / "extra" / "lessons" / f"{LESSON}.html").write_text("the lesson")
    assert faults_of(tmp_path / "extra") == []
