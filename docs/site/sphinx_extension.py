"""What Sphinx and myst-nb don't do by themselves: our section ids, our docstrings' code."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from autograder.lessons.cells import anchor

__all__ = ["API", "setup"]

# The packages whose public names the reference describes.
API = ("course", "course.gpu", "course.testing", "course.probes")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx; where the digest `site_code` is new, it reads every page anew."""
    app.add_config_value("site_code", "", "env")
    app.connect("doctree-read", give_sections_the_anchors_of_the_course)
    app.connect("html-page-context", without_scripts_of_others)
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
