"""One build of the site: measure, write the pages, let Sphinx make HTML of them."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path

from autograder.lessons.cells import read_notebook
from autograder.lessons.model import Lesson, all_lessons
from course.progress.start_page import progress_in
from docs.site.atlas.entries import Entry, entries
from docs.site.atlas.pages import environment, surprising, write, write_atlas
from docs.site.atlas.proofs import measured_proofs
from docs.site.gallery import write_gallery
from docs.site.lessons.execute import Outputs, outputs_of
from docs.site.lessons.page import solved_cells, write_lesson
from docs.site.settings import ROOT, Settings
from docs.site.sphinx_extension import API

__all__ = ["SiteBroken", "build"]

_JOBS = 2
FIRST = "reshape-always-copies"  # the claim on the first page
# The pages for teachers, in their order; those that are not there are left out.
TEACHING = {
    "teaching": "from an empty machine to graded feedback.",
    "trust": "what the grader promises about learners who cheat, and how that is tested.",
    "versions": "which versions of torch and Python were run, and what differs between them.",
    "authoring": "the form of a lesson, of a check and of a claim.",
    "architecture": "one submission on its way through the house, file by file.",
    "systems": "which systems were tried, and what remains open.",
}


class SiteBroken(Exception):
    """Sphinx warned of something: a reference that leads nowhere, a page nobody reaches."""


def build(settings: Settings) -> None:
    """Make the site in `settings.out`.

    Raises:
        LessonFailed: A solved lesson raised an error.
        ProofFailed: A claim's proof does not hold on this machine.
        SiteBroken: Sphinx had a warning; the message has them all.
    """
    lessons = all_lessons(ROOT)
    shown = [one for one in lessons if not settings.lessons or one.slug in settings.lessons]
    shutil.rmtree(settings.extra, ignore_errors=True)
    settings.pages.mkdir(parents=True, exist_ok=True)
    proofs = measured_proofs(settings.kept)
    for lesson, outputs in zip(shown, _outputs(shown, settings), strict=True):
        write_lesson(lesson, outputs, settings)
    found = entries(lessons, proofs["proofs"])
    write_atlas(settings.pages, found, proofs["on"])
    _write_the_rest(settings, shown, found)
    _run_sphinx(settings)


def _outputs(lessons: Sequence[Lesson], settings: Settings) -> list[Outputs]:
    """The outputs of each lesson; two run at a time, each in a kernel of its own."""

    def of(lesson: Lesson) -> Outputs:
        if settings.executed is not None and lesson.slug not in settings.executed:
            return {}
        return outputs_of(lesson, solved_cells(lesson), settings.kept)

    with ThreadPoolExecutor(_JOBS) as pool:
        return list(pool.map(of, lessons))


def _write_the_rest(settings: Settings, lessons: Sequence[Lesson], found: Sequence[Entry]) -> None:
    """The first page, and those that lead to lessons, teachers' pages and reference."""
    templates, pages = environment(), settings.pages
    names = [name for name in TEACHING if (ROOT / "docs" / f"{name}.md").is_file()]
    about = {
        "lessons": lessons,
        "times": {one.slug: progress_in(read_notebook(one.source), one.slug).time for one in lessons},
        "number": len(found),
        "first": next(one for one in found if one.claim.id == FIRST),
        "surprising": surprising(found)[1:4],
        "teaching": [(name, TEACHING[name]) for name in names],
        "gallery": write_gallery(settings) if settings.gallery else [],
        "api": API,
        "map": _map(settings),
    }
    for name in ("index", "lessons", "teachers", "reference"):
        write(pages / f"{name}.md", templates.get_template(f"{name}.md").render(about))
    (pages / "teachers").mkdir(exist_ok=True)
    for name in names:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        write(pages / "teachers" / f"{name}.md", _for_the_site(text))


def _map(settings: Settings) -> bool:
    """Whether there is a map of the lessons; its picture goes beside the first page."""
    drawn = ROOT / "docs" / "map.svg"
    if drawn.is_file():
        settings.extra.mkdir(parents=True, exist_ok=True)
        shutil.copy(drawn, settings.extra)
    return drawn.is_file()


def _for_the_site(text: str) -> str:
    """A page of docs/ without links to files that only the repository has; they become code."""
    return re.sub(r"\[([^\]]+)\]\(\.\./([^)#]+)\)", r"\1 (`\2`)", text)


def _run_sphinx(settings: Settings) -> None:
    from sphinx.application import Sphinx

    here, warnings = Path(__file__).parent, StringIO()
    shutil.rmtree(settings.out, ignore_errors=True)
    settings.extra.mkdir(parents=True, exist_ok=True)
    app = Sphinx(
        settings.pages,
        here,
        settings.out,
        settings.work / "doctrees",
        "html",
        confoverrides={"html_extra_path": [str(settings.extra)]},
        status=None,
        warning=warnings,
        parallel=_JOBS,
    )
    app.build()
    said = warnings.getvalue()
    if said:
        raise SiteBroken(f"Sphinx warns:\n{said}")


def main(words: Iterable[str]) -> None:
    """Build the whole site into site/."""
    build(Settings())
    print(f"{Settings().out / 'index.html'}")


if __name__ == "__main__":
    main(sys.argv[1:])
