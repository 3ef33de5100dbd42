"""The pages that `make site` writes: whole, described, and without anything from outside."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="Sphinx is missing (extra site)")

from course.claims import Claim, claims
from docs.site.atlas.pages import write
from docs.site.checks import faults_of
from docs.site.sphinx_extension import PICTURE
from tests.docs.site_build import LESSON, ROOT

pytestmark = pytest.mark.exhaustive("the site as it is built")


def text_of(path: Path) -> str:
    """A page's words, without its marks."""
    without = re.sub(r"<(script|style).*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", without)).split())


def small_sphinx(folder: Path, at: str) -> Path:
    """Two pages, made with the site's own configuration in a process that knows the address."""
    pages, out = folder / "pages", folder / "out"
    write(pages / "index.md", "# First\n\n```{toctree}\natlas/a\n```\n")
    write(pages / "atlas/a.md", '# Is \\<1\\> "one"?\n\nA page.\n')
    command = [sys.executable, "-m", "sphinx", "-c", "docs/site", str(pages), str(out)]
    run = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "SITE_ADDRESS": at}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return out


def test_the_finished_site_has_no_fault(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > len(claims(LESSON))
    assert faults_of(site) == []


@pytest.mark.parametrize("one", claims(LESSON), ids=lambda one: one.id)
def test_a_claim_has_a_page_with_verdict_fact_code_and_values(site: Path, one: Claim) -> None:
    page = site / "atlas" / f"{one.id}.html"
    html, text = page.read_text(encoding="utf-8"), text_of(page)
    plain = " ".join(one.fact.replace("`", "").split())
    assert f'class="badge badge-{one.verdict}"' in html
    assert plain in text
    assert " ".join(one.proof.split()[-2:]) in text
    assert "Run for this page with torch 2.13.0" in text
    assert re.search(r'<meta content="[^"]{40,}" name="description"', html)


def test_a_claims_title_is_its_question_and_without_an_address_nothing_names_one(
    site: Path,
) -> None:
    html = (site / "atlas" / "reshape-always-copies.html").read_text(encoding="utf-8")
    assert "<title>Does reshape() always copy? - PyTorch, measured</title>" in html
    assert re.search(r"<h1>Does reshape\(\) always copy\?<a", html)
    assert not re.search(r'rel="canonical"|og:image|og:url', html)
    assert not (site / "sitemap.xml").exists()
    assert not (site / PICTURE).exists()


def test_with_an_address_pages_are_listed_and_name_themselves_and_a_picture(
    tmp_path: Path,
) -> None:
    at = "https://example.org/course/"
    out = small_sphinx(tmp_path, at)
    listed = re.findall(r"<loc>(.*?)</loc>", (out / "sitemap.xml").read_text(encoding="utf-8"))
    assert listed == [f"{at}atlas/a.html", f"{at}index.html"]
    html = (out / "atlas/a.html").read_text(encoding="utf-8")
    assert f'<link rel="canonical" href="{at}atlas/a.html"' in html
    assert f'<meta property="og:image" content="{at}{PICTURE}">' in html
    assert f'<meta property="og:url" content="{at}atlas/a.html">' in html
    assert '<meta property="og:title" content="Is &lt;1&gt; &quot;one&quot;?">' in html
    assert (ROOT / "docs" / PICTURE).is_file()
    assert '<meta name="description" content="A page.">' in html
    assert faults_of(out) == []


@pytest.mark.parametrize("name", [f"lessons/{LESSON}", "teachers/trust", "reference/course"])
def test_a_page_without_a_description_is_described_by_its_first_words(
    site: Path, name: str
) -> None:
    html = (site / f"{name}.html").read_text(encoding="utf-8")
    (said,) = re.findall(r'<meta name="description" content="([^"]*)">', html)
    assert len(said) > 40
    assert unescape(said).removesuffix(" …") in text_of(site / f"{name}.html")


def test_a_claim_leads_to_the_section_of_its_lesson(site: Path) -> None:
    page = (site / "atlas" / "reshape-always-copies.html").read_text(encoding="utf-8")
    assert f'href="../lessons/{LESSON}.html#when-does-reshape-copy"' in page


def test_a_claim_shows_what_its_proof_showed(site: Path) -> None:
    assert "shared = True copied = True" in text_of(site / "atlas" / "reshape-always-copies.html")


def test_a_lesson_is_solved_with_figures_as_files_and_solutions_folded(site: Path) -> None:
    html = (site / "lessons" / f"{LESSON}.html").read_text(encoding="utf-8")
    text = text_of(site / "lessons" / f"{LESSON}.html")
    assert "data:image/" not in html
    assert len(list((site / "lessons" / LESSON).glob("*.svg"))) >= 10
    # The words stand over folded checks and over unfolded ones.
    checks = text.count("The checks, and what they say of the solution") / 2
    assert text.count("A solution of ") == checks >= 9
    assert "raise NotImplementedError()" in text
    assert "Traceback" not in text
    folded = re.findall(r"<details[^>]*>\s*<summary>A solution of row-major", html)
    assert len(folded) == 1
    assert "widget-view" not in html
    assert not re.search(r'<span class="[npw]">', html)  # half of all elements, and no colour


def test_a_lesson_offers_its_notebook_and_colab_only_where_there_is_an_address(site: Path) -> None:
    html = (site / "lessons" / f"{LESSON}.html").read_text(encoding="utf-8")
    assert f'href="{LESSON}.ipynb" download' in html
    assert "colab.research" not in html
    notebook = (site / "lessons" / f"{LESSON}.ipynb").read_bytes()
    assert notebook == (ROOT / "release/self-study" / f"{LESSON}.ipynb").read_bytes()


def test_the_first_page_asks_for_a_prediction_and_shows_the_ways_in(site: Path) -> None:
    html = (site / "index.html").read_text(encoding="utf-8")
    assert html.count('type="radio"') == 4
    for target in ("lessons.html", "atlas.html", "teachers.html"):
        assert f'class="way" href="{target}"' in html


def test_the_reference_describes_what_packages_load_late(site: Path) -> None:
    text = text_of(site / "reference" / "course.html")
    for name in ("Check", "same_storage", "predict", "warm_up"):
        assert f"course.{name}" in text, name
    assert "course.gpu.memory_allocated" in text_of(site / "reference" / "course.gpu.html")


def test_a_page_for_teachers_names_files_of_the_repository_without_links(site: Path) -> None:
    html = (site / "teachers" / "systems.html").read_text(encoding="utf-8")
    assert ".py" in html
    assert "../tests" not in re.findall(r'href="([^"]*)"', html)
