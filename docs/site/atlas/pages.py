"""The pages of the atlas as Sphinx reads them: the list, the most surprising, one a claim."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from course.claims import VERDICTS
from course.claims.quiz_words import LABELS, MEANINGS
from docs.site.atlas.code import helpers_of, program
from docs.site.atlas.entries import Entry, most_related
from docs.site.atlas.for_machines import faq, searched
from docs.site.atlas.keywords import common
from docs.site.words import as_markdown, as_text, inline

__all__ = ["environment", "surprising", "write", "write_atlas"]

HERE = Path(__file__).parent
_MOST_DESCRIPTION = 300


def write_atlas(pages: Path, found: Sequence[Entry], on: Mapping[str, str]) -> None:
    """Write all pages of the atlas.

    Args:
        pages: The folder that Sphinx reads.
        found: All entries, in order.
        on: What the proofs were run with: torch, build, python, system.
    """
    templates = environment()
    folder = pages / "atlas"
    write(pages / "atlas.md", templates.get_template("atlas.md").render(_of_the_list(found, on)))
    chosen = surprising(found)
    text = templates.get_template("surprising.md").render(chosen=chosen, on=on)
    write(folder / "most-surprising.md", text)
    page = templates.get_template("claim.md")
    for before, entry, after in zip([None, *found], found, [*found[1:], None], strict=False):
        write(folder / f"{entry.claim.id}.md", page.render(_of(entry, before, after, found, on)))


def environment() -> Environment:
    """Where the templates of the site lie, and the words that they use."""
    made = Environment(
        loader=FileSystemLoader(HERE.parent / "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["inline"] = lambda text: Markup(inline(text))
    made.filters["markdown"] = lambda text: Markup(as_markdown(text))
    made.filters["text"] = as_text
    made.filters["quoted"] = lambda text: Markup(_quoted(as_text(text)))
    made.globals.update(labels=LABELS, meanings=MEANINGS, verdicts=VERDICTS)
    return made


def surprising(found: Iterable[Entry]) -> list[tuple[Entry, str]]:
    """The claims of surprising.toml, each with the reason why it stands there, in its order."""
    by_id = {entry.claim.id: entry for entry in found}
    chosen = tomllib.loads((HERE / "surprising.toml").read_text(encoding="utf-8"))["claim"]
    return [(by_id[one["id"]], one["why"]) for one in chosen if one["id"] in by_id]


def _of_the_list(found: Sequence[Entry], on: Mapping[str, str]) -> dict[str, Any]:
    groups = [(place, list(some)) for place, some in groupby(found, lambda one: one.place.slug)]
    counts = {one: sum(entry.claim.verdict == one for entry in found) for one in VERDICTS}
    keywords = common({entry.claim.id: entry.words for entry in found})
    return {
        "groups": groups,
        "counts": counts,
        "keywords": keywords,
        "number": len(found),
        "searched": Markup(searched(found)),
        "on": on,
    }


def _of(
    entry: Entry,
    before: Entry | None,
    after: Entry | None,
    found: Sequence[Entry],
    on: Mapping[str, str],
) -> dict[str, Any]:
    claim = entry.claim
    answer = f"{entry.label}: “{as_text(claim.said)}” {as_text(claim.fact)}"
    short = answer if len(answer) <= _MOST_DESCRIPTION else f"{answer[: _MOST_DESCRIPTION - 1]}…"
    return {
        "entry": entry,
        "claim": claim,
        "description": short,
        "faq": Markup(faq(entry)),
        "program": Markup(program(claim)),
        "helpers": Markup(helpers_of(claim)),
        "shown": Markup("\n".join(_shown(entry.proof))),
        "related": most_related(entry, found),
        "before": before,
        "after": after,
        "on": on,
    }


def _shown(proof: Mapping[str, Any]) -> list[str]:
    values = [f"{name} = {value}" for name, value in proof["shown"]]
    return [*values, *proof["printed"].splitlines()]


def _quoted(text: str) -> str:
    """The text as a YAML string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def write(path: Path, text: str) -> None:
    """Write a page, and the folder that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
