"""Pictures that a notebook carries in itself become files beside the page."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

__all__ = ["pictures_to_files", "with_files"]

_DATA = re.compile(r'src=(["\'])data:image/(png|svg\+xml|jpeg)(;[^,"\']*)?,([^"\']*)\1')
_SUFFIX = {"png": "png", "svg+xml": "svg", "jpeg": "jpg"}
_WIDGET = "application/vnd.jupyter.widget-view+json"


def with_files(outputs: list[Any], folder: Path, cell: str) -> list[Any]:
    """The outputs as a page shows them: pictures as files, no live widgets, no terminal colours.

    Args:
        outputs: Of one cell, as nbformat has them.
        folder: Where the pictures go; pages name it by its last part.
        cell: The cell's id, of which the pictures are named.
    """
    made = json.loads(json.dumps(outputs))
    for output in made:
        data = output.get("data", {})
        data.pop(_WIDGET, None)
        if "text/html" in data:
            html = "".join(data["text/html"])
            data["text/html"] = pictures_to_files(html, folder, cell)
    return [
        one for one in made if one.get("output_type") != "stream" or one.get("name") != "stderr"
    ]


def pictures_to_files(html: str, folder: Path, name: str) -> str:
    """The HTML with every picture that it carries as a file in `folder`, called after `name`."""
    return _DATA.sub(lambda hit: _file(hit, folder, name), html)


def _file(hit: re.Match[str], folder: Path, cell: str) -> str:
    quote, kind, options, text = hit.groups()
    coded = "base64" in (options or "")
    content = base64.b64decode(text) if coded else unquote_to_bytes(text)
    name = f"{cell}-{hashlib.sha256(content).hexdigest()[:8]}.{_SUFFIX[kind]}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return f'loading="lazy" src={quote}{folder.name}/{name}{quote}'
