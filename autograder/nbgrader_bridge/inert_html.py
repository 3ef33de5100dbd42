"""What learners wrote and showed, without anything that acts, on the pages that nbgrader renders.

`nbgrader generate_feedback` and formgrader put a notebook's HTML into their pages as it stands
(nbgrader 0.9.6, nbconvert 7): a script in an answer in words, or in an output, would run in the
browser of whoever marks it, as that person. nbgrader_config.py puts the step and the filter below
before that. What stays is text, tables, pictures that the page itself holds, and links to follow.

They are rendered in a process of their own (`rendering_process`), as a few hundred characters keep
a parser of Markdown or HTML, or a lexer, busy for ever.  What takes too long there, by itself or
with all that its page showed before, is shown as it was written; so are long texts in words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import escape as escape_once  # a name that is escaped stays as it is
from nbconvert.filters import ansi2html, strip_ansi
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from traitlets import Bool

from autograder.nbgrader_bridge.drawings import MOST_TOGETHER, pixels_at
from autograder.nbgrader_bridge.rendering import LIMIT_S, RENDERER
from autograder.nbgrader_bridge.tame_html import NOT_SHOWN, picture

Resources = dict[str, Any]

_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*\Z")
# Of our lessons the longest text has 1,700 characters, and all texts of the longest 58,000.
_TEXT_CHARS, _PAGE_CHARS = 5_000, 100_000
# What a page may cost.
_LIMITS = {
    # Of processor time. All of our longest lesson takes one; after each that is ended there is a
    # new process to start, which takes another.
    "seconds": 8.0,
    "chars": _PAGE_CHARS,
    "pictures": 64 * 2**20,  # characters; a text may name a picture again and again
    "pixels": MOST_TOGETHER,
    # Of elements that begin or end: nbconvert parses the page again, 60,000 of them a second. 40 of
    # pandas' largest tables have 110,000, and code as long as our longest lesson's about as many.
    "tags": 300_000,
    "code": 1_000_000,  # characters, five times those of our longest lesson; colours take memory
}
_METADATA = ("nbgrader", "raw_mimetype")  # of a cell
_NAMES = {"student", "first_name", "last_name", "notebook_path"}
_SPENT = "autograder_spent"  # where a page's resources keep what was rendered for it


class MakeInert(Preprocessor):
    """Takes what acts out of every output; pictures become such that cannot."""

    enabled = Bool(True, help="Whether it does so.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the notebook with inert outputs, and without the states of widgets.

        Of a cell's metadata little stays: templates make classes of its tags. The names that
        formgrader's template shows become such as HTML may hold.
        """
        for key in resources.keys() & _NAMES:
            resources[key] = escape_once(resources[key] or "")
        resources.pop(_SPENT, None)  # where this is its second run, only what is left counts
        nb.metadata.pop("widgets", None)
        for cell in nb.cells:
            kept = {key: cell.metadata[key] for key in _METADATA if key in cell.metadata}
            cell.metadata = NotebookNode(kept)
            for output in cell.get("outputs", []):
                if "data" in output:
                    output.data = NotebookNode(_inert_data(output.data, resources))
                    output.metadata = NotebookNode()
        return nb, resources


@pass_context
def inert_markdown(context: Context, source: str) -> str:
    """Markdown as HTML that does not act, with the pictures attached to the cell.

    What would take too long, by itself or with all that the page has rendered before, is shown as
    it was written, and so is what cannot be rendered, as where a picture is missing.
    """
    pictures, page = context.get("cell", {}).get("attachments", {}), context.get("resources", {})
    if not _may_render(source, pictures, page):
        return _as_written(source)
    html = _rendered("markdown", source, page, pictures)
    return _as_written(source) if html is None else html


def _may_render(source: str, pictures: Mapping[str, Any], resources: Resources) -> bool:
    """Whether a text is short enough; then it counts for its page."""
    if len(source) > _TEXT_CHARS:
        return False
    largest = max((len(str(one)) for one in pictures.values()), default=0)
    size = source.count("![") * largest
    return _spend(resources, chars=len(source), pictures=size)


def _rendered(
    kind: str, text: str, page: Resources, pictures: Mapping[str, Any] | None = None
) -> str | None:
    """What is made of the text in the time that its page has left; None where it is too much."""
    if not _spend(page, seconds=LIMIT_S):
        return None
    left = int(_LIMITS["pixels"] - page.get(_SPENT, {}).get("pixels", 0))
    html, seconds, pixels = RENDERER.render(kind, text, pictures or {}, left)
    _spend(page, seconds=seconds - LIMIT_S, pixels=pixels)
    return html if html is not None and _spend(page, tags=html.count("<")) else None


def _spend(resources: Resources, **costs: float) -> bool:
    """Whether a page bears these costs beside those before; then they count for it."""
    spent = resources.get(_SPENT, {})
    now = {kind: spent.get(kind, 0) + cost for kind, cost in costs.items()}
    if any(cost > _LIMITS[kind] for kind, cost in now.items()):
        return False
    resources[_SPENT] = {**spent, **now}
    return True


def _as_written(source: str) -> str:
    return f"<pre>{escape(source)}</pre>"


@pass_context
def inert_raw(context: Context, html: str | bytes) -> str:
    """In the place of nbconvert's `clean_html`, which leaves ids and classes of nbgrader's own.

    A raw cell in HTML becomes part of the page through it.
    """
    text = html.decode("utf-8", "replace") if isinstance(html, bytes) else str(html)
    return inert(text, context.get("resources", {}))


@pass_context
def quick_ansi2html(context: Context, text: str) -> str:
    """In the place of `ansi2html`, which copies the rest of a text at each of its codes.

    Where that takes too long, the text is shown without colours.
    """
    if "\x1b" not in text:
        return str(ansi2html(text))
    html = _rendered("colours", text, context.get("resources", {}))
    return escape(strip_ansi(text)) if html is None else html


@pass_context
def quick_highlight(context: Context, source: str, **_: object) -> str:
    """In the place of `highlight_code`, whose lexers look at some texts again and again.

    The notebook names the lexer there, or the cell's metadata; this one is always Python's.
    Where that takes too long, the code is shown without colours.
    """
    page = context.get("resources", {})
    html = _rendered("code", source, page) if _spend(page, code=len(source)) else None
    return f'<div class="highlight"><pre>{escape(source)}</pre></div>' if html is None else html


def unchanged(text: str) -> str:
    """In the place of nbconvert's `strip_files_prefix`, which is quadratic in the number of "[".

    There is nothing for it to do: no link to a file of the course stays.
    """
    return text


def inert(html: str, page: Resources | None = None) -> str:
    """HTML without scripts, forms, frames and styles of the whole page; it fetches nothing.

    Of `page`, the resources that it is rendered with, are the costs of what it shows besides.

    >>> inert("<b onclick='x()'>no</b><script>x()</script><img src='https://x.org'>")
    '<b>no</b><img>'
    """
    made = _rendered("html", html, {} if page is None else page)
    return _as_written(html) if made is None else made


def _bears(page: Resources, address: str) -> bool:
    """Whether the page still bears the picture in this data: URL."""
    count = pixels_at(address)
    return count is not None and _spend(page, pixels=count)


def _inert_data(data: Mapping[str, Any], page: Resources) -> dict[str, str]:
    """The forms of an output that a page may show; templates put most of them in as they stand."""
    texts = {kind: _joined(value) for kind, value in data.items()}
    if "image/svg+xml" in texts:  # by its own text it would be a part of the page
        drawn = picture(texts["image/svg+xml"], texts.get("text/plain", ""))
        texts["text/html"] = drawn or f"<p>({NOT_SHOWN})</p>"
    base64_only = partial(_base64_only, page)
    forms: dict[str, Callable[[str], str]] = {
        **_FORMS,
        "image/png": base64_only,
        "image/jpeg": base64_only,
        "text/html": lambda html: inert(html, page),
    }
    made = {kind: make(texts[kind]) for kind, make in forms.items() if kind in texts}
    shown = {kind: text for kind, text in made.items() if text}
    return shown or {"text/plain": f"({', '.join(texts) or 'nothing'}: not shown on this page)"}


def _joined(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value)


def _base64_only(page: Resources, value: str) -> str:
    return value if _BASE64.match(value) and _bears(page, f"data:image/png,{value}") else ""


# Beside HTML and pictures, of which its page tells how much it still bears.
_FORMS: dict[str, Callable[[str], str]] = {
    "text/plain": str,  # which templates escape
    "text/latex": lambda text: escape(text, quote=False),
}
