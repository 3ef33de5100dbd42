"""What every finished page must keep: links that lead somewhere, alt texts, nothing from outside.

`faults_of(folder)` reads the HTML as a browser would get it, whoever wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["MOST_NBYTES", "faults_of"]

MOST_NBYTES = 1_500_000
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
# Of <link>s, those that a browser fetches by itself.
_FETCHED = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "manifest"}
_IN_CSS = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^'\")\s]+)")


@dataclass
class _Page:
    """What one page refers to, and what in it can be referred to."""

    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    without_alt: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = _Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = {name: value or "" for name, value in attrs}
        page = self.page
        page.ids |= {about[key] for key in ("id", "name") if key in about}
        if tag == "a" and "href" in about:
            page.links.add(about["href"])
        rels = set(about.get("rel", "").split())
        if tag in _LOADED and _LOADED[tag] in about and (tag != "link" or rels & _FETCHED):
            page.loaded.add(about[_LOADED[tag]])
        if tag == "img" and not about.get("alt", "").strip() and "hidden" not in about:
            page.without_alt.append(about.get("src", "")[:80])


def faults_of(folder: Path) -> list[str]:
    """Every fault of the site in `folder`, one line each, pages in order; empty for none.

    A link into the site leads to a file, and to an id in it where it names one. A picture has an
    alt text. Nothing is loaded from another address, by HTML or by CSS, and no page is too large.
    """
    pages = {path: _read(path) for path in sorted(folder.rglob("*.html"))}
    found = [f"{_name(path, folder)}: {fault}" for path in pages for fault in _faults(path, pages)]
    for path in sorted(folder.rglob("*.css")):
        outside = _IN_CSS.findall(path.read_text(encoding="utf-8"))
        found += [f"{_name(path, folder)}: loads {one}" for one in outside]
    return found


def _read(path: Path) -> _Page:
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def _faults(path: Path, pages: dict[Path, _Page]) -> Iterator[str]:
    page = pages[path]
    if path.stat().st_size > MOST_NBYTES:
        yield f"{path.stat().st_size:,} bytes, {MOST_NBYTES:,} are allowed"
    yield from (f"no alt text: {src}" for src in page.without_alt)
    for target in sorted(page.loaded):
        if _is_outside(target):
            yield f"loads {target}"
    for target in sorted(page.links | page.loaded):
        if not _is_outside(target) and not _leads_somewhere(path, target, pages):
            yield f"dead link: {target}"


def _is_outside(target: str) -> bool:
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme in {"mailto", "data", "javascript"}


def _leads_somewhere(path: Path, target: str, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(target)
    there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    there = there / "index.html" if there.is_dir() else there
    if not there.is_file():
        return False
    # Furo's link to the top of a page has an empty fragment, and a script may read any other.
    known = pages.get(there)
    return not parts.fragment or known is None or unquote(parts.fragment) in known.ids


def _name(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()
