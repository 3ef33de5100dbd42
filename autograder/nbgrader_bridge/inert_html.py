"""What learners wrote and showed, without anything that acts, on the pages that nbgrader renders.

`nbgrader generate_feedback` and formgrader put a notebook's HTML into their pages as it stands
(nbgrader 0.9.6, nbconvert 7): a script in an answer in words, or in an output, would run in the
browser of whoever marks it, as that person. nbgrader_config.py puts the step and the filter below
before that. What stays is text, tables, pictures that the page itself holds, and links to follow.

They are rendered in the instructor's process, where no clock stops them; Markdown is not, as
300 characters keep its parser busy for ever.  A text that is too long for one in words, or takes
too long, is shown as it was written.  HTML, code and colours that would take too long are too, with
all that their page showed before.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

import nh3
from jinja2 import pass_context
from jinja2.runtime import Context
from markupsafe import escape as escape_once  # a name that is escaped stays as it is
from nbconvert.filters import ansi2html, strip_ansi
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from traitlets import Bool

from autograder.nbgrader_bridge.drawings import MOST_TOGETHER, is_tame_svg, pixels_at
from autograder.nbgrader_bridge.markdown import LIMIT_S, RENDERER

Resources = dict[str, Any]

_ATTRIBUTES: dict[str, set[str]] = {
    "*": {"class", "style", "title", "lang", "dir", "role", "aria-label", "aria-hidden"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "details": {"open"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "ol": {"start"},
    "time": {"datetime"},
}
_SIDES = ("", "-top", "-right", "-bottom", "-left")
# None of them fetches anything, or moves its element over what stands around it.
_STYLES = {
    *("color", "background-color", "opacity", "width", "max-width", "text-align", "vertical-align"),
    *("font-size", "font-weight", "font-style", "font-family", "white-space", "text-decoration"),
    *(f"{what}{side}" for what in ("padding", "border") for side in _SIDES),
    "border-collapse",
}
# Of highlighted code, our check tables and pandas; nbgrader's own script looks for others.
_CLASS = re.compile(r"highlight|hll|dataframe|pm-[a-z-]+|[a-z]{1,2}[0-9]?")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*\Z")
_LINK = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
# One that is not closed reaches to the end: then each character is looked at once.
_SVG = re.compile(r"<svg\b.*?(?:</svg\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_NOT_SHOWN = "a drawing (SVG) is not shown here"
_BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*\Z")
# Of our lessons the longest text has 1,700 characters, and all texts of the longest 58,000.
_TEXT_CHARS, _PAGE_CHARS = 5_000, 100_000
_OPENING = re.compile(r"<[A-Za-z]")
_PIECE = re.compile(r"[<&\n\r\0]")  # at each the parser may look through all that is open
_BLANKS = re.compile(r"\s{2,}")
_GAP = re.compile(r"[\s/\"']+")  # behind each an attribute may begin, compared with all before
# What a page may cost. Worst are some 20 s each for its tags and its code, 10 s each for attributes
# and its texts (with a new process after each that takes too long), and 2 s for colours.
_LIMITS = {
    "chars": _PAGE_CHARS,
    "seconds": 6.0,  # of processor time for its texts in Markdown
    "pictures": 64 * 2**20,  # characters; a text may name a picture again and again
    "pixels": MOST_TOGETHER,
    "tags": 200_000_000,  # openings × pieces; 40 of pandas' largest tables
    "attributes": 30_000_000_000,  # gaps²; base64 has gaps, too: seven pictures of 3 MB
    "code": 1_000_000,  # characters, five times those of our longest lesson
    "blanks": 40_000_000,  # the squares of gaps in the code; one of 6,000 lines
    "colours": 4_000_000_000,  # codes × characters; ten tracebacks of 28,000 characters
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
    html, seconds = RENDERER.render(source, pictures)
    _spend(page, seconds=seconds - LIMIT_S)
    try:
        return _as_written(source) if html is None else inert(html, page)
    except Exception:  # whatever is made of a learner's text and pictures
        return _as_written(source)


def _may_render(source: str, pictures: Mapping[str, Any], resources: Resources) -> bool:
    """Whether a text is soon rendered; then it counts for its page, as if it took all its time."""
    if len(source) > _TEXT_CHARS:
        return False
    largest = max((len(str(one)) for one in pictures.values()), default=0)
    size = source.count("![") * largest
    return _spend(resources, chars=len(source), pictures=size, seconds=LIMIT_S)


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
    codes = text.count("\x1b")
    costs = (codes + text.count(";")) * len(text) if codes else 0
    if _spend(context.get("resources", {}), colours=costs):
        return str(ansi2html(text))
    return escape(strip_ansi(text))


@pass_context
def quick_highlight(context: Context, source: str, **_: object) -> str:
    """In the place of `highlight_code`, whose lexers look through blank lines again and again.

    The notebook names the lexer there, or the cell's metadata; this one is always Python's.
    Where that takes too long, the code is shown without colours.
    """
    costs = {"code": len(source), "blanks": sum(len(one) ** 2 for one in _BLANKS.findall(source))}
    if not _spend(context.get("resources", {}), **costs):
        return f'<div class="highlight"><pre>{escape(source)}</pre></div>'
    return str(Highlight2HTML(pygments_lexer="python3")(source))


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
    still = _SVG.sub(lambda found: _picture(found[0], "") or f"({_NOT_SHOWN})", html)
    tags = len(_OPENING.findall(still)) * len(_PIECE.findall(still))
    attributes = len(_GAP.findall(still)) ** 2
    page = {} if page is None else page
    if not _spend(page, tags=tags, attributes=attributes):
        return _as_written(html)
    return nh3.clean(
        still,
        attributes=_ATTRIBUTES,
        attribute_filter=partial(_kept, page),
        filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
    )


def _kept(page: Resources, element: str, attribute: str, value: str) -> str | None:
    if attribute == "class":
        return " ".join(filter(_CLASS.fullmatch, value.split())) or None
    if attribute == "src":
        return value if _PICTURE.match(value) and _bears(page, value) else None
    if attribute == "href":
        return value if _LINK.match(value) else None
    return value


def _bears(page: Resources, address: str) -> bool:
    """Whether the page still bears the picture in this data: URL."""
    count = pixels_at(address)
    return count is not None and _spend(page, pixels=count)


def _inert_data(data: Mapping[str, Any], page: Resources) -> dict[str, str]:
    """The forms of an output that a page may show; templates put most of them in as they stand."""
    texts = {kind: _joined(value) for kind, value in data.items()}
    if "image/svg+xml" in texts:  # by its own text it would be a part of the page
        drawn = _picture(texts["image/svg+xml"], texts.get("text/plain", ""))
        texts["text/html"] = drawn or f"<p>({_NOT_SHOWN})</p>"
    picture = partial(_base64_only, page)
    forms: dict[str, Callable[[str], str]] = {
        **_FORMS,
        "image/png": picture,
        "image/jpeg": picture,
        "text/html": lambda html: inert(html, page),
    }
    made = {kind: make(texts[kind]) for kind, make in forms.items() if kind in texts}
    shown = {kind: text for kind, text in made.items() if text}
    return shown or {"text/plain": f"({', '.join(texts) or 'nothing'}: not shown on this page)"}


def _joined(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value)


def _picture(svg: str, alt: str) -> str:
    """The drawing as a picture; empty where a browser might never be done with it."""
    if not is_tame_svg(svg):
        return ""
    content = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{content}">'


def _base64_only(page: Resources, value: str) -> str:
    return value if _BASE64.match(value) and _bears(page, f"data:image/png,{value}") else ""


# Beside HTML and pictures, of which its page tells how much it still bears.
_FORMS: dict[str, Callable[[str], str]] = {
    "text/plain": str,  # which templates escape
    "text/latex": lambda text: escape(text, quote=False),
}
