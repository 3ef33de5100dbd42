"""HTML without what acts: what it says stays, and nothing else.

Some texts keep its parser busy for minutes: `rendering_process` runs it, where a clock stops it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from functools import partial
from html import escape

import nh3

from autograder.nbgrader_bridge.drawings import is_tame_svg

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
NOT_SHOWN = "a drawing (SVG) is not shown here"


def cleaned(html: str, bears: Callable[[str], bool]) -> str:
    """HTML without scripts, forms, frames and styles of the whole page; it fetches nothing.

    Args:
        html: May be anything.
        bears: Whether the page shows the picture in this data: URL.
    """
    still = _SVG.sub(lambda found: picture(found[0], "") or f"({NOT_SHOWN})", html)
    return nh3.clean(
        still,
        attributes=_ATTRIBUTES,
        attribute_filter=partial(_kept, bears),
        filter_style_properties=_STYLES,
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
    )


def _kept(bears: Callable[[str], bool], element: str, attribute: str, value: str) -> str | None:
    if attribute == "class":
        return " ".join(filter(_CLASS.fullmatch, value.split())) or None
    if attribute == "src":
        return value if _PICTURE.match(value) and bears(value) else None
    if attribute == "href":
        return value if _LINK.match(value) else None
    return value


def picture(svg: str, alt: str) -> str:
    """The drawing as a picture; empty where a browser might never be done with it.

    Args:
        svg: Its text.
        alt: What is read where it is not seen.
    """
    if not is_tame_svg(svg):
        return ""
    content = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(alt)}" src="data:image/svg+xml;base64,{content}">'
