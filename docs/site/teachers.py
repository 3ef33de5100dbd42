"""The pages of docs/ for teachers, made fit for the site."""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection
from pathlib import Path

from docs.site.settings import ROOT

__all__ = ["page_for_teachers"]

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def page_for_teachers(name: str, pages: Collection[str], folder: Path) -> str:
    """The Markdown of docs/<name>.md, in which links lead to what the site has.

    Args:
        name: The page's name in docs/, without its suffix.
        pages: The names of all pages that the site shows beside it. A link to another file of the
            repository becomes the file's name.
        folder: Where its pictures are copied to.
    """
    source = ROOT / "docs" / f"{name}.md"

    def fitting(hit: re.Match[str]) -> str:
        mark, words, target = hit.groups()
        file = target.partition("#")[0]
        if mark and (source.parent / file).is_file():
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(source.parent / file, folder)
            return f"![{words}]({Path(file).name})"
        if not file or ":" in file or file.removesuffix(".md") in pages:
            return hit[0]
        named = (source.parent / file).resolve()
        return f"{words} (`{named.relative_to(ROOT)}`)"

    return _LINK.sub(fitting, source.read_text(encoding="utf-8"))
