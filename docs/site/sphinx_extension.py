"""What Sphinx and myst-nb don't do by themselves: section ids, docstrings' code, a sitemap."""

from __future__ import annotations

import re
import textwrap
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from autograder.lessons.cells import anchor

__all__ = ["API", "PICTURE", "setup"]

# The packages whose public names the reference describes.
API = ("course", "course.gpu", "course.testing", "course.probes")
# What others show of a page that somebody links to, and what is to be seen there.
PICTURE = "lesson.png"
SEEN = "A transposed tensor beside its storage: shape, strides, and what view and reshape would do."
_MOST_DESCRIPTION = 300
# Pygments' words for names, punctuation and spaces, which both of our styles leave as they are.
_PLAIN_SPAN = re.compile(r'<span class="[npw]">([^<]*)</span>')
# Pages that nobody searches for.
_UNLISTED = {"search", "genindex"}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx; where the digest `site_code` is new, it reads every page anew."""
    app.add_config_value("site_code", "", "env")
    app.connect("doctree-read", give_sections_the_anchors_of_the_course)
    app.connect("html-page-context", without_scripts_of_others)
    app.connect("html-page-context", without_plain_spans)
    app.connect("html-page-context", with_a_description)
    app.connect("html-page-context", with_a_preview)
    app.connect("build-finished", write_the_sitemap)
    app.connect("autodoc-process-docstring", markdown_blocks_as_rst)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def give_sections_the_anchors_of_the_course(app: Sphinx, doctree: nodes.document) -> None:
    """A lesson's section is reached by the word that checks and claims name it with."""
    if not app.env.docname.startswith("lessons/"):
        return
    for section in doctree.findall(nodes.section):
        title = next(iter(section.findall(nodes.title)), None)
        wanted = anchor(title.astext()) if title is not None else ""
        if wanted and wanted not in section["ids"] and wanted not in doctree.ids:
            section["ids"].insert(0, wanted)


def without_scripts_of_others(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """No page asks another address for a script, whatever an extension would like to add."""
    kept = [
        one
        for one in context["script_files"]
        if not re.match(r"(https?:)?//", str(one.filename or ""))
    ]
    context["script_files"] = kept


def without_plain_spans(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """In code, what has the colour of its surroundings is no element of its own.

    Names, punctuation and spaces are; a long lesson has half as many elements without, which a
    phone lays out twice as fast.
    """
    if "body" in context:
        context["body"] = _PLAIN_SPAN.sub(r"\1", context["body"])


def with_a_description(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """A page that says nothing of itself to search engines is described by its first paragraph."""
    given = context.get("metatags", "")
    if doctree is None or 'name="description"' in given:
        return
    said = next((" ".join(one.astext().split()) for one in doctree.findall(nodes.paragraph)), "")
    if said:
        short = textwrap.shorten(said, _MOST_DESCRIPTION, placeholder=" …")
        context["metatags"] = f'{given}\n<meta name="description" content="{escape(short)}">'


def with_a_preview(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Where the site has an address, pages name themselves and a picture for whoever links them."""
    at = app.config.html_baseurl
    if not at:
        return
    given = context.get("metatags", "")
    about = {
        "og:site_name": app.config.project,
        "og:url": at + app.builder.get_target_uri(pagename),
        "og:image": at + PICTURE,
        "og:image:alt": SEEN,
    }
    if 'property="og:title"' not in given:
        about["og:title"] = unescape(re.sub(r"<[^>]+>", "", context.get("title", "")))
    made = [f'<meta property="{name}" content="{escape(about[name])}">' for name in about]
    made.append('<meta name="twitter:card" content="summary_large_image">')
    context["metatags"] = "\n".join([given, *made])


def write_the_sitemap(app: Sphinx, problem: Exception | None) -> None:
    """Every page's address in sitemap.xml, where the site has one."""
    at = app.config.html_baseurl
    if not at or problem is not None:
        return
    names = sorted(set(app.env.found_docs) - _UNLISTED)
    pages = [at + app.builder.get_target_uri(name) for name in names]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        *(f"<url><loc>{escape(page)}</loc></url>" for page in pages),
        "</urlset>",
    ]
    Path(app.outdir, "sitemap.xml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def markdown_blocks_as_rst(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    """Docstrings fence their code as Markdown does, and list with hyphens below a line of text."""
    made: list[str] = []
    fenced = False
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        if line.lstrip().startswith("```"):
            fenced = not fenced
            made += ["", f"{indent}.. code-block:: python", ""] if fenced else [""]
        else:
            made.append(f"    {line}" if fenced and line else line)
    lines[:] = made
