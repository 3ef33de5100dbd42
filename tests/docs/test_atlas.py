"""What the atlas says of claims, before Sphinx makes pages of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from autograder.lessons.model import all_lessons, find_lesson
from course.claims import claim, claims
from docs.site.atlas.code import helpers_of, program
from docs.site.atlas.entries import Entry, entries, most_related, version_sentences
from docs.site.atlas.for_machines import in_script
from docs.site.atlas.keywords import common, words_of
from docs.site.atlas.pages import HERE, write_atlas
from docs.site.words import as_markdown
from tests.docs.site_build import ROOT

ON = {"torch": "2.13.0", "build": "CPU build", "python": "3.11", "system": "Linux"}


@pytest.fixture(scope="module")
def found() -> list[Entry]:
    """Every claim of the course, with proofs that showed nothing."""
    proof = {"shown": [], "printed": "", "holds": True, "error": None}
    return entries(all_lessons(ROOT), {one.id: proof for one in claims()})


def test_every_claim_of_every_lesson_has_a_page_and_a_place_in_the_list(
    found: list[Entry], tmp_path: Path
) -> None:
    write_atlas(tmp_path, found, ON)
    pages = {path.stem for path in (tmp_path / "atlas").glob("*.md")} - {"most-surprising"}
    listed = (tmp_path / "atlas.md").read_text(encoding="utf-8")
    assert pages == {one.id for one in claims()}
    assert [one.id for one in claims() if f'id="{one.id}"' not in listed] == []


def test_a_claims_page_has_its_question_as_title_and_the_verdict_in_the_first_sentence(
    found: list[Entry], tmp_path: Path
) -> None:
    write_atlas(tmp_path, found, ON)
    page = (tmp_path / "atlas/reshape-always-copies.md").read_text(encoding="utf-8")
    assert "\n# Does reshape() always copy?\n" in page
    assert '"property=og:title": "Does reshape() always copy?"' in page
    box = page.partition('aria-label="Verdict">')[2].partition("</p>")[0]
    first = " ".join(re.sub(r"<[^>]+>", "", box).split())
    assert first == (
        "False: the claim “reshape() always copies the elements into new memory.” is wrong."
    )


def test_every_page_has_its_question_and_answer_as_structured_data(
    found: list[Entry], tmp_path: Path
) -> None:
    write_atlas(tmp_path, found, ON)
    for one in found:
        page = (tmp_path / "atlas" / f"{one.claim.id}.md").read_text(encoding="utf-8")
        (script,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
        assert "<" not in script
        data = json.loads(script)
        (question,) = data["mainEntity"]
        assert (data["@type"], question["name"]) == ("FAQPage", one.claim.asked)
        answer = question["acceptedAnswer"]["text"]
        assert answer.startswith(f"{one.label}: the claim “")
        assert answer.endswith(" ".join(one.claim.fact.replace("`", "").split()))


def test_what_ends_a_script_or_a_fence_is_written_in_another_way() -> None:
    text = "</script> ``` & “”"
    written = in_script([text])
    assert not {"<", "`"} & set(written)
    assert json.loads(written) == [text]


def test_every_claim_lies_in_a_section_that_its_lesson_has(found: list[Entry]) -> None:
    lessons = {one.slug: one for one in all_lessons(ROOT)}
    lost = [
        one.claim.id
        for one in found
        if one.place.anchor and one.place.anchor not in lessons[one.place.slug].sections
    ]
    assert lost == []
    assert sum(bool(one.place.anchor) for one in found) > 0.9 * len(found)


def test_the_surprising_ones_exist_have_reasons_and_are_at_most_two_of_a_lesson() -> None:
    chosen = tomllib.loads((HERE / "surprising.toml").read_text(encoding="utf-8"))["claim"]
    assert 12 <= len(chosen) <= 24
    assert all(len(one["why"]) > 40 for one in chosen)
    lessons = Counter(claim(one["id"]).lesson for one in chosen)
    assert [slug for slug, number in lessons.items() if number > 2] == []
    assert len({one["id"] for one in chosen}) == len(chosen)


@pytest.mark.exhaustive("pages of the site")
@pytest.mark.parametrize(
    "id_", ["reshape-always-copies", "float32-keeps-growing", "workers-copy-to-the-gpu"]
)
def test_the_code_that_is_shown_runs_by_itself(id_: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", program(claim(id_))], cwd=ROOT, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.exhaustive("pages of the site")
def test_the_code_that_is_shown_asserts_what_the_claim_shows() -> None:
    shown = program(claim("reshape-always-copies"))
    wrong = shown.replace("copied = not ", "copied = ", 1)
    assert shown != wrong
    run = subprocess.run([sys.executable, "-c", wrong], cwd=ROOT, capture_output=True, text=True)
    assert "AssertionError" in run.stderr


def test_helpers_that_a_proof_uses_are_shown_with_their_source() -> None:
    assert "def same_storage(" in helpers_of(claim("reshape-always-copies"))
    assert helpers_of(claim("torch-sum-stops-growing-too")) == ""


def test_every_shown_program_compiles() -> None:
    for one in claims():
        compile(program(one), one.id, "exec")


def test_keywords_are_names_of_torch_that_several_claims_share(found: list[Entry]) -> None:
    offered = dict(common({one.claim.id: one.words for one in found}))
    assert {"reshape", "view", "num_workers", "no_grad", "pin_memory"} <= offered.keys()
    assert not {"True", "None", "torch", "model", "for"} & offered.keys()
    assert "reshape" in words_of(claim("reshape-always-copies"))


def test_related_claims_speak_of_the_same(found: list[Entry]) -> None:
    (entry,) = [one for one in found if one.claim.id == "reshape-always-copies"]
    related = most_related(entry, found)
    assert len(related) == 5
    assert entry not in related
    assert sum("reshape" in one.words for one in related) >= 3


def test_sentences_about_versions_are_found_and_others_are_not() -> None:
    fact = "It writes None. Since PyTorch 2.0 that is the default. Rates of 0.1 are large."
    assert version_sentences(fact) == "Since PyTorch 2.0 that is the default."
    assert version_sentences("`torch.arange(1, 1.3, 0.1)` has four elements.") == ""


def test_marks_of_markdown_in_a_claim_stay_what_they_are() -> None:
    assert as_markdown("`a*b` and [1, 2] * c_d") == r"`a*b` and \[1, 2\] \* c\_d"


def test_a_lesson_that_is_not_shown_leaves_its_claims_out(found: list[Entry]) -> None:
    one = find_lesson(ROOT, "04")
    proof = {"shown": [], "printed": "", "holds": True, "error": None}
    alone = entries([one], {each.id: proof for each in claims(one.slug)})
    assert {each.claim.lesson for each in alone} == {one.slug}
    assert len(alone) < len(found)
