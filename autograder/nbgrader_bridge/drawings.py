"""Which pictures a page may show: those that a browser draws in no time, as our figures.

A picture of a few kilobytes may take gigabytes once it is unpacked.  An SVG is a program: copies of
copies, filters and patterns let a few lines keep a browser busy for ever.  What is let through is
what matplotlib writes: shapes, and copies of single paths.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from xml.etree import ElementTree

from autograder.nbgrader_bridge.picture_heads import size_of

_MOST_PIXELS = 25_000_000  # a photo; a browser takes four bytes for each
MOST_TOGETHER = 8 * _MOST_PIXELS  # of all pictures of a page, or of an answer
_MOST_CHARS = 4 * 2**20
_MOST_ELEMENTS, _MOST_COPIED_CHARS, _DEPTH = 20_000, 8 * 2**20, 50
_SVG = "{http://www.w3.org/2000/svg}"
_HREFS = ("href", "{http://www.w3.org/1999/xlink}href")
_SHAPES = {"path", "rect", "circle", "ellipse", "line", "polyline", "polygon"}
_ELEMENTS = _SHAPES | {"svg", "g", "defs", "use", "clipPath", "style", "title", "desc", "text"}
_STYLES = ("", "*{stroke-linejoin: round; stroke-linecap: butt}")
_CLIP = re.compile(r"url\(#[\w.-]+\)")
# These reach for another element, fetch something or take long; a backslash would hide them.
_REACHES = re.compile(r"url|filter|mask|marker|clip|[\\@&]", re.IGNORECASE)
# What makes a browser read other elements and values than stand there.
_OTHERWISE = re.compile(
    r"<!(ENTITY|ATTLIST)|<\?(?!xml\s)|<\?xml[^>]*encoding\s*=\s*[\"'](?!utf-8[\"'])", re.IGNORECASE
)


def pixels(picture: bytes) -> int | None:
    """How many a PNG, JPEG, GIF or WebP has, by its head; None for others, and beyond a photo's."""
    size = size_of(picture)
    count = size[0] * size[1] if size else 0
    return count if 0 < count <= _MOST_PIXELS else None


def pixels_at(address: str) -> int | None:
    """Those of the picture in a data: URL; 0 for a tame SVG, None for one that is not shown."""
    kind, _, text = address.partition(",")
    try:
        content = base64.b64decode("".join(text.split()), validate=True)
        if "svg" in kind:
            return 0 if is_tame_svg(content.decode()) else None
        return pixels(content)
    except (binascii.Error, ValueError):
        return None


def is_tame_svg(svg: str) -> bool:
    """Whether an SVG is soon drawn.

    >>> start = '<svg xmlns="http://www.w3.org/2000/svg">'
    >>> is_tame_svg(f'{start}<path id="a" d="M0 0"/><use href="#a"/></svg>')
    True
    >>> is_tame_svg(f'{start}<g id="a"><use href="#b"/></g><use href="#a"/></svg>')
    False
    """
    if len(svg) > _MOST_CHARS or svg.count("<?") > 1 or _OTHERWISE.search(svg):
        return False
    try:
        root = ElementTree.fromstring(svg)
    except (ElementTree.ParseError, ValueError):
        return False
    root[:] = [one for one in root if one.tag != f"{_SVG}metadata"]  # which nothing draws
    return _is_shallow(root) and _is_plain(root) and _copies_little(root)


def _is_shallow(root: ElementTree.Element) -> bool:
    level, count = [root], 0
    for _ in range(_DEPTH):
        count += len(level)
        level = [child for one in level for child in one]
        if count + len(level) > _MOST_ELEMENTS:
            return False
    return not level


def _is_plain(root: ElementTree.Element) -> bool:
    """Whether there are only elements and values that reach for no others, but by clips."""
    for one in root.iter():
        space, kind = one.tag[: len(_SVG)], one.tag[len(_SVG) :]
        if space != _SVG or kind not in _ELEMENTS:
            return False
        if kind == "style" and (one.text or "").strip() not in _STYLES:
            return False
        if kind in _SHAPES and len(one):
            return False
        for key, value in one.items():
            is_clip = key == "clip-path" and _CLIP.fullmatch(value)
            if not is_clip and (_REACHES.search(key) or _REACHES.search(value)):
                return False
    clips = root.iter(f"{_SVG}clipPath")
    return all(_is_simple_clip(one) for one in clips)


def _is_simple_clip(clip: ElementTree.Element) -> bool:
    shapes = {f"{_SVG}{kind}" for kind in _SHAPES}
    return clip.get("clip-path") is None and all(
        one.tag in shapes and one.get("clip-path") is None for one in clip
    )


def _copies_little(root: ElementTree.Element) -> bool:
    """Whether `use` names single paths, and all that it draws is not much."""
    named: dict[str, list[ElementTree.Element]] = {}
    for one in root.iter():
        named.setdefault(f"#{one.get('id', '')}", []).append(one)
    asked = [one.get(href) for one in root.iter(f"{_SVG}use") for href in _HREFS if one.get(href)]
    chars = 0
    for name, times in Counter(asked).items():
        found = named.get(str(name), [])
        if any(one.tag != f"{_SVG}path" for one in found):
            return False
        chars += times * sum(len(one.get("d", "")) for one in found)
    return chars <= _MOST_COPIED_CHARS
