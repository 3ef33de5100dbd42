"""One build of the site: measure, write the pages, let Sphinx make HTML of them."""

from __future__ import annotations

import filecmp
import re
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from io import StringIO
from pathlib import Path

from autograder.kept_results import KeptResults, digest_of
from autograder.lessons.cells import read_notebook
from autograder.lessons.model import Lesson, all_lessons
from course.progress.start_page import progress_in
from docs.site.atlas.entries import Entry, entries
from docs.site.atlas.pages import environment, surprising, write, write_atlas
from docs.site.atlas.proofs import measured_proofs
from docs.site.checks import faults_of
from docs.site.errors import SiteBroken
from docs.site.gallery import write_gallery
from docs.site.lessons.execute import Outputs, outputs_of
from docs.site.lessons.page import solved_cells, write_lesson
from docs.site.settings import ROOT, Settings, address
from docs.site.sphinx_extension import API, PICTURE
from docs.site.teachers import page_for_teachers

__all__ = ["build"]

_JOBS = 2
FIRST = "reshape-always-copies"  # the claim on the first page
# The pages for teachers, in their order; those that are not there are left out.
TEACHING = {
    "teaching": "from an empty machine to graded feedback.",
    "trust": "what the grader promises about learners who cheat, and how that is tested.",
    "limits": "what a submission may use, and which cells of the lesson are not run.",
    "nbgrader-tests": "the tests of `nbgrader autograde`, with this grader in its place.",
    "versions": "which versions of torch and Python were run, and what differs between them.",
    "authoring": "the form of a lesson, of a check and of a claim.",
    "architecture": "one submission on its way through the house, file by file.",
    "systems": "what lessons run beside PyTorch, and the test of each.",
}


def build(settings: Settings) -> None:
    """Make the site in `settings.out`.

    Raises:
        LessonFailed: A solved lesson raised an error.
        ProofFailed: A claim's proof does not hold on this machine.
        GalleryFailed: The grader could not grade the simulated class here.
        SiteBroken: Sphinx had a warning, or a page has a fault; the message has them all.
    """
    lessons = all_lessons(ROOT)
    shown = [one for one in lessons if not settings.lessons or one.slug in settings.lessons]
    slugs = tuple(one.slug for one in shown)
    before = _empty(settings)
    if address():
        shutil.copy(ROOT / "docs" / PICTURE, settings.extra)
    proofs = measured_proofs(settings.results, slugs)
    for lesson, outputs in zip(shown, _outputs(shown, settings.results), strict=True):
        write_lesson(lesson, outputs, settings)
    found = entries(shown, proofs["proofs"])
    write_atlas(settings.pages, found, proofs["on"])
    _write_the_rest(settings, shown, found)
    _keep_times(before, settings.pages)
    _run_sphinx(settings)
    faults = faults_of(settings.html)
    if faults:
        raise SiteBroken("The pages have faults:\n" + "\n".join(faults))
    shutil.rmtree(settings.out, ignore_errors=True)
    shutil.move(settings.html, settings.out)


def _empty(settings: Settings) -> Path:
    """Clear the folders that pages are written to; the last build's pages move into the result."""
    before = settings.work / "pages-before"
    for folder in (before, settings.extra, settings.html):
        shutil.rmtree(folder, ignore_errors=True)
    if settings.pages.is_dir():
        settings.pages.rename(before)
    for folder in (settings.pages, settings.extra):
        folder.mkdir(parents=True)
    return before


def _keep_times(before: Path, now: Path) -> None:
    """Give pages that are what they were their old times: Sphinx reads the other ones only."""
    for path in (one for one in now.rglob("*") if one.is_file()):
        old = before / path.relative_to(now)
        if old.is_file() and filecmp.cmp(old, path, shallow=False):
            shutil.copystat(old, path)


def _outputs(lessons: Sequence[Lesson], results: KeptResults) -> list[Outputs]:
    """The outputs of each lesson; two run at a time, each in a kernel of its own."""
    # Not in the threads: where two of them parse code at a time, Python 3.11 may refuse one of them
    # with a SystemError (gh-106905).
    solved = [solved_cells(one) for one in lessons]
    with ThreadPoolExecutor(_JOBS) as pool:
        return list(pool.map(lambda one, cells: outputs_of(one, cells, results), lessons, solved))


def _write_the_rest(settings: Settings, lessons: Sequence[Lesson], found: Sequence[Entry]) -> None:
    """The first page, and those that lead to lessons, teachers' pages and reference."""
    templates, pages = environment(), settings.pages
    names = [name for name in TEACHING if (ROOT / "docs" / f"{name}.md").is_file()]
    about = {
        "lessons": lessons,
        "times": {
            one.slug: progress_in(read_notebook(one.source), one.slug).time for one in lessons
        },
        "number": len(found),
        "first": next(one for one in found if one.claim.id == FIRST),
        "surprising": surprising(found)[1:4],
        "teaching": [(name, TEACHING[name]) for name in names],
        "gallery": write_gallery(settings) if settings.gallery else [],
        "api": [(name, first_line(import_module(name).__doc__)) for name in API],
        "map": _map(settings),
        "narrow": (settings.extra / "map-narrow.svg").is_file(),
    }
    for name in ("index", "lessons", "teachers", "reference"):
        write(pages / f"{name}.md", templates.get_template(f"{name}.md").render(about))
    for name in API:
        text = templates.get_template("package.md").render(name=name)
        write(pages / "reference" / f"{name}.md", text)
    for name in names:
        write(pages / "teachers" / f"{name}.md", page_for_teachers(name, names, pages / "teachers"))


def _map(settings: Settings) -> str:
    """What the map of the lessons shows, for who cannot see it; "" where there is no map.

    Its pictures go beside the first page. `autograder release` draws them.
    """
    for drawn in sorted((ROOT / "docs").glob("map*.svg")):
        shutil.copy(drawn, settings.extra)
    page = ROOT / "docs" / "map.md"
    told = re.search(r'alt="([^"]+)"', page.read_text("utf-8")) if page.is_file() else None
    return told[1] if told and (settings.extra / "map.svg").is_file() else ""


def _run_sphinx(settings: Settings) -> None:
    from sphinx.application import Sphinx

    here, warnings = Path(__file__).parent, StringIO()
    app = Sphinx(
        settings.pages,
        here,
        settings.html,
        settings.work / "doctrees",
        "html",
        confoverrides={"html_extra_path": [str(settings.extra)], "site_code": _own_digest()},
        status=None,
        warning=warnings,
        parallel=_JOBS,
    )
    app.build()
    said = warnings.getvalue()
    if said:
        raise SiteBroken(f"Sphinx warns:\n{said}")


def _own_digest() -> str:
    """A digest of the code that makes the pages, and of the code whose docstrings they show."""
    folders = (Path(__file__).parent, ROOT / "course")
    return digest_of(files=(path for folder in folders for path in folder.rglob("*.py")))


def first_line(text: str | None) -> str:
    """The first line of a docstring."""
    return (text or "").partition("\n")[0]
