"""What a class gets back, for teachers to look at: a small simulated class, really graded."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.kept_results import digest_of, modules_behind
from autograder.lessons.model import find_lesson
from docs.site.errors import GalleryFailed
from docs.site.lessons.figures import pictures_to_files
from docs.site.settings import ROOT, Settings

__all__ = ["Exhibit", "write_gallery"]

LESSON = "04-memory-layout"
SEED = "2"  # a class in which not everything is right


@dataclass(frozen=True)
class Exhibit:
    """One page of the gallery, as the page for teachers names it."""

    href: str
    title: str
    about: str


def write_gallery(settings: Settings) -> list[Exhibit]:
    """Grade a small class, unless it was graded before, and put its pages into the site.

    Raises:
        GalleryFailed: The grader could not do it here.
    """
    digest = _digest(settings.gallery)
    pages = settings.results.get("gallery", digest, lambda: _graded(settings.gallery))
    folder = settings.extra / "gallery"
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shown = pictures_to_files(text, path.parent / path.stem, "page")
        # Feedback leads to the learner's own copy of the lesson; here the site's stands for it.
        ours = f'href="../../../../lessons/{LESSON}.html"'
        path.write_text(shown.replace(f'href="../../{LESSON}.ipynb"', ours), encoding="utf-8")
    return [_exhibit(name, text) for name, text in pages.items()]


def _exhibit(name: str, text: str) -> Exhibit:
    if name.startswith("report/"):
        about = "What the instructor sees: who, which exercise, which misconception."
        return Exhibit(f"gallery/{name}", "The report of the class", about)
    student = name.split("/")[1]
    plain = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    points = re.search(r"[\d.]+ of [\d.]+ points", plain)
    about = "What was asked, what the answer did, and why it matters."
    about = f"{points[0]}. {about}" if points else about
    return Exhibit(f"gallery/{name}", f"Feedback for {student}", about)


def _digest(students: int) -> str:
    code = {
        path
        for path in (ROOT / "autograder").rglob("*")
        if path.suffix in {".py", ".j2", ".css", ".js"}
    }
    lesson = find_lesson(ROOT, LESSON)
    cells = [cell["source"] for cell in lesson.cells() if cell["cell_type"] == "code"]
    return digest_of(lesson.digest, str(students), SEED, files=code | modules_behind(*cells))


def _graded(students: int) -> dict[str, str]:
    """The pages by their names below the course directory; the report comes first."""
    with tempfile.TemporaryDirectory(prefix="site-class-") as name:
        course = Path(name, "class")
        chosen = ("--students", str(students), "--lessons", LESSON[:2], "--seed", SEED)
        _autograder("simulate", *chosen, "--out", str(course))
        for command in ("grade", "feedback", "report"):
            _autograder(command, "--course", str(course))
        pages = [course / "report" / "index.html", *sorted((course / "feedback").rglob("*.html"))]
        return {str(path.relative_to(course)): path.read_text("utf-8") for path in pages}


def _autograder(*words: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [sys.executable, "-m", "autograder", *words],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
    )
    # grade ends with 1 where a submission needs a person, as one of a simulated class may.
    if run.returncode and words[0] != "grade":
        raise GalleryFailed(f"autograder {words[0]}:\n{(run.stderr or run.stdout)[-2000:]}")
