"""What was measured is kept on disk, and measured again when anything it came from has changed."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from docs.site.settings import ROOT

__all__ = ["digest_of", "kept"]


def digest_of(*parts: str) -> str:
    """A digest of these texts, of torch's and Python's version, and of the whole of `course`."""
    total = hashlib.sha256(_surroundings().encode())
    for part in parts:
        total.update(f"\0{len(part)}\0{part}".encode())
    return total.hexdigest()[:32]


def kept(folder: Path, name: str, digest: str, make: Callable[[], Any]) -> Any:
    """What `make` returns, as plain data; from the folder if it was made of the same before.

    Args:
        folder: Where it is kept, made if need be; an older edition of `name` is removed.
        name: What the file is called, before its digest.
        digest: From `digest_of`.
        make: Returns anything that JSON can hold.
    """
    path = folder / f"{name}.{digest}.json"
    if not path.is_file():
        made = json.dumps(make(), ensure_ascii=False)
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob(f"{name}.*.json"):
            old.unlink()
        path.write_text(made, encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))


@cache
def _surroundings() -> str:
    total = hashlib.sha256(f"{version('torch')} {sys.version}".encode())
    for path in _files_of_the_course():
        total.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return total.hexdigest()


def _files_of_the_course() -> Iterable[Path]:
    kinds = {".py", ".toml", ".css", ".js", ".svg"}
    return sorted(path for path in (ROOT / "course").rglob("*") if path.suffix in kinds)
