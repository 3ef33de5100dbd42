"""The site in Chromium: from question to verdict, in both themes, on a phone, without scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="Sphinx is missing (extra site)")
pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Page, expect

from autograder.lessons.model import all_lessons
from course.claims import claims
from docs.site.atlas.entries import entries
from docs.site.atlas.pages import write_atlas
from tests.browser.contrast import faint_words
from tests.browser.jupyter import shoot, window
from tests.docs.site_build import LESSON, ROOT

pytestmark = pytest.mark.exhaustive("the site in a browser")

PHONE = {"width": 390, "height": 844}
PAGES = (
    "index.html",
    "atlas.html",
    "atlas/reshape-always-copies.html",
    "atlas/most-surprising.html",
    f"lessons/{LESSON}.html",
    "lessons.html",
    "teachers.html",
    "teachers/trust.html",
    "reference/course.html",
)
# Our own colours; those of code are the highlighter's.
OURS = (
    ".badge, .verdict-box *, .predict *, .way, .way *, .filters *, .claims *, .ways-in *, .eyebrow"
)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh window."""
    page = window(browser)
    yield page
    page.close()


@pytest.fixture
def atlas(page: Page, site: Path) -> Page:
    """The atlas, ready to be searched."""
    page.goto((site / "atlas.html").as_uri())
    expect(page.get_by_role("searchbox", name="Search").last).to_be_visible()
    return page


@pytest.fixture(scope="module")
def whole_atlas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The list of all lessons' claims with its search, without Sphinx around it."""
    pages = tmp_path_factory.mktemp("atlas")
    nothing = {"shown": [], "printed": "", "holds": True, "error": None}
    found = entries(all_lessons(ROOT), {one.id: nothing for one in claims()})
    write_atlas(pages, found, {"torch": "2.13.0", "build": "", "python": "", "system": ""})
    listed = (pages / "atlas.md").read_text(encoding="utf-8")
    html = listed.partition("```{raw} html\n")[2].partition("\n```")[0]
    page = pages / "atlas.html"
    static = (ROOT / "docs/site/static").as_uri()
    page.write_text(html.replace('src="_static', f'src="{static}'), encoding="utf-8")
    return page


def shown(page: Page) -> list[str]:
    """The ids of the claims that can be seen, from the top."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('.claim')].filter(one => one.checkVisibility())"
        ".map(one => [one.getBoundingClientRect().top, one.id]).sort((a, b) => a[0] - b[0])"
        ".map(one => one[1])"
    )
    return found


def search(page: Page, words: str) -> None:
    """Type into the atlas's own field."""
    page.locator("#atlas-search").press_sequentially(words)


def test_typing_reshape_shows_a_verdict_and_a_click_its_proof(atlas: Page) -> None:
    search(atlas, "reshape")  # the first action; the verdict can be read already
    first = atlas.locator("#atlas-found .claim").filter(has_text="always copies")
    expect(first.locator(".badge")).to_have_text("False")
    expect(first.locator(".fact")).to_contain_text("no strides describe the new shape")
    first.get_by_role("link").click()  # the second
    expect(atlas.locator(".verdict-line .badge")).to_have_text("False")
    expect(atlas.get_by_text("assert shared and copied")).to_be_visible()


@pytest.mark.parametrize(
    "question", ["does reshape always copy?", "Does RESHAPE copy always", "reshape copies"]
)
def test_a_question_in_a_sentence_finds_its_claim(atlas: Page, question: str) -> None:
    search(atlas, question)
    assert "reshape-always-copies" in shown(atlas)[:3]


def test_the_question_word_for_word_has_its_claim_at_the_top(atlas: Page) -> None:
    search(atlas, "does reshape always copy?")
    assert shown(atlas)[0] == "reshape-always-copies"


def test_an_error_message_that_a_proof_shows_is_found_word_for_word(atlas: Page) -> None:
    message = "view size is not compatible with input tensor's size and stride"
    search(atlas, message)
    assert shown(atlas)[0] == "view-after-transpose-suggests-reshape"
    expect(atlas.locator("#atlas-count")).not_to_contain_text("none with all")
    atlas.locator("#atlas-search").fill(f"RuntimeError: {message} (at least one dimension spans")
    assert shown(atlas)[0] == "view-after-transpose-suggests-reshape"


@pytest.mark.parametrize(
    ("words", "id_"),
    [
        ("leaf variable requires grad in-place", "in-place-on-a-leaf-raises"),
        ("modified by an inplace operation", "the-error-comes-at-the-write"),
        ("Does reshape() always copy?", "reshape-always-copies"),
        ("can i update a leaf in place", "leaves-can-never-be-updated"),
    ],
)
def test_the_atlas_of_all_lessons_finds_words_of_errors_and_questions(
    page: Page, whole_atlas: Path, words: str, id_: str
) -> None:
    page.goto(whole_atlas.as_uri())
    page.locator("#atlas-search").fill(words)
    assert shown(page)[0] == id_


def test_filters_keep_what_fits_and_reset_brings_everything_back(atlas: Page) -> None:
    known = {one.id: one.verdict for one in claims(LESSON)}
    atlas.locator("[name=verdict][value=true]").check()
    assert set(shown(atlas)) == {id_ for id_, verdict in known.items() if verdict == "true"}
    atlas.locator("[name=verdict][value=false]").check()
    assert {known[id_] for id_ in shown(atlas)} == {"true", "false"}
    atlas.get_by_label("Keyword").select_option("reshape")
    assert 0 < len(shown(atlas)) < len(known)
    atlas.get_by_role("button", name="Show all").click()
    expect(atlas.locator("#atlas-count")).to_have_text(f"{len(known)} claims")
    assert set(shown(atlas)) == known.keys()


def test_what_was_searched_is_in_the_address(atlas: Page, page: Page) -> None:
    search(atlas, "stride")
    atlas.locator("[name=verdict][value=false]").check()
    found = shown(atlas)
    address = atlas.url
    assert "q=stride" in address
    page.goto("about:blank")
    page.goto(address)
    assert shown(page) == found


def test_words_that_no_claim_has_say_so(atlas: Page) -> None:
    search(atlas, "zzzz")
    expect(atlas.locator("#atlas-count")).to_contain_text("0 claims")


def test_without_scripts_the_whole_list_is_there(browser: Browser, site: Path) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto((site / "atlas.html").as_uri())
    expect(page.locator(".claim")).to_have_count(len(claims(LESSON)))
    expect(page.locator("#reshape-always-copies .badge")).to_be_visible()
    expect(page.locator("#atlas-filters")).to_be_hidden()
    page.goto((site / "index.html").as_uri())
    page.locator("label[for=predict-true]").click()
    expect(page.locator(".revealed .miss")).to_be_visible()
    expect(page.locator(".revealed .badge")).to_have_text("False")
    page.close()


def test_the_first_page_answers_a_prediction_from_the_keyboard(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    expect(page.locator(".revealed")).to_be_hidden()
    page.locator("#predict-true").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".revealed .hit")).to_be_visible()


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_never_scrolls_sideways(browser: Browser, site: Path, name: str) -> None:
    page = browser.new_page(viewport=PHONE)
    page.goto((site / name).as_uri())
    wide = page.evaluate(
        "[document.documentElement.scrollWidth, ...[...document.querySelectorAll("
        "'article select, article input, article .way, article .verdict-box, article img')]"
        ".filter(one => one.checkVisibility() && !one.closest('[style*=overflow]'))"
        ".map(one => one.getBoundingClientRect().right)]"
    )
    assert max(wide) <= PHONE["width"]
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES[:6])
def test_our_colours_stand_out_in_both_themes(
    browser: Browser, site: Path, name: str, theme: str
) -> None:
    page = browser.new_page(color_scheme=theme)
    page.goto((site / name).as_uri())
    if name == "index.html":
        page.locator("label[for=predict-false]").click()
    shoot(page, f"site-{Path(name).stem}-{theme}")
    assert faint_words(page, f":is({OURS})") == []
    page.close()


def test_nothing_is_asked_of_another_address(page: Page, site: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in PAGES:
        page.goto((site / name).as_uri())
    assert len(asked) > len(PAGES)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_the_search_of_all_pages_finds_a_claim(page: Page, site: Path) -> None:
    page.goto(f"{(site / 'search.html').as_uri()}?q=confetti")
    expect(page.locator("#search-results a").first).to_be_visible()
