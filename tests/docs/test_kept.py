"""What was measured is kept, and measured again when what it came from has changed."""

from __future__ import annotations

from pathlib import Path

from docs.site.gallery import Exhibit, write_gallery
from docs.site.kept import digest_of, kept
from docs.site.lessons.figures import with_files
from docs.site.settings import Settings


def test_the_same_digest_is_made_once_and_another_one_anew(tmp_path: Path) -> None:
    made: list[str] = []

    def make(word: str) -> list[str]:
        made.append(word)
        return [word]

    for word in ("a", "a", "b"):
        assert kept(tmp_path, "x", digest_of(word), lambda word=word: make(word)) == [word]
    assert made == ["a", "b"]
    assert len(list(tmp_path.iterdir())) == 1


def test_a_digest_tells_texts_apart_that_only_end_elsewhere() -> None:
    assert digest_of("ab", "c") != digest_of("a", "bc")


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
    tmp_path: Path, monkeypatch
) -> None:
    pages = {"report/index.html": "<p>all</p>", "feedback/student-001/04/04.html": "<p>one</p>"}
    monkeypatch.setattr("docs.site.gallery.kept", lambda *_: pages)
    settings = Settings(work=tmp_path)
    shown = write_gallery(settings)
    assert [one.title for one in shown] == ["The report of the class", "Feedback for student-001"]
    assert isinstance(shown[0], Exhibit)
    assert (settings.extra / shown[1].href).read_text() == "<p>one</p>"
