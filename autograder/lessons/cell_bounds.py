"""What a learner's own cell carries beside its source: metadata and pictures, kept within bounds.

Both are copied into the executed notebook as they were handed in.  What is nested too deeply does
not travel between processes, and what is too large would fill the grader's memory.
"""

from __future__ import annotations

import math
import re
from typing import Any

_DEPTH = 50
_NBYTES = 8 * 2**20  # of all cells of a submission together
_VALUE_NBYTES = 32  # what a value counts beside its text: in a notebook it has a line of its own


class CellBounds:
    """Takes the metadata and pictures of one submission's cells, one after the other."""

    def __init__(self, nbytes: int = _NBYTES) -> None:
        """Begin a submission, of which `nbytes` can be kept."""
        self._left = nbytes
        self.left_out = 0

    def kept(self, value: dict[str, Any]) -> dict[str, Any]:
        """`value` itself, or nothing where it cannot be kept; `left_out` counts those."""
        size = size_of(value)
        if size is None or size > self._left:
            self.left_out += 1
            return {}
        self._left -= size
        return value

    def outputs(self, found: object) -> list[dict[str, Any]]:
        """A code cell's outputs without their metadata, as far as they can be kept."""
        outputs = [_output(one) for one in found] if isinstance(found, list) else [None]
        sound = [one for one in outputs if one is not None]
        if len(sound) < len(outputs) or not self.kept({"": sound}):
            return []
        return sound

    def notes(self) -> list[str]:
        """A sentence where something was left out."""
        if not self.left_out:
            return []
        cells = "a cell" if self.left_out == 1 else f"{self.left_out:,} cells"
        return [f"Pictures or other data of {cells} were more than can be kept; left out."]


JSON_KIND = re.compile(r"application/(.*\+)?json\Z")  # as in the notebook format's own schema
_ERROR = ("ename", "evalue", "traceback")


def _output(found: object) -> dict[str, Any] | None:
    """An output in the form of nbformat 4, None where it is not one."""
    if not isinstance(found, dict):
        return None
    kind = found.get("output_type")
    if kind == "stream" and found.get("name") in ("stdout", "stderr") and _is_text(found, "text"):
        return {"output_type": kind, "name": found["name"], "text": found["text"]}
    if kind == "error" and _is_error(found):
        return {"output_type": kind, **{name: found[name] for name in _ERROR}}
    data = found.get("data")
    if kind not in ("display_data", "execute_result") or not isinstance(data, dict):
        return None
    more = {"execution_count": None} if kind == "execute_result" else {}
    sound = all(_is_text(data, name) for name in data if not JSON_KIND.match(name))
    return {"output_type": kind, "data": data, "metadata": {}, **more} if sound else None


def _is_error(found: dict[str, Any]) -> bool:
    lines = found.get("traceback")
    texts = [found.get("ename"), found.get("evalue"), *(lines if isinstance(lines, list) else [0])]
    return all(isinstance(one, str) for one in texts)


def _is_text(owner: dict[str, Any], name: str) -> bool:
    text = owner.get(name)
    lines = text if isinstance(text, list) else [text]
    return all(isinstance(line, str) for line in lines)


def size_of(value: object) -> int | None:
    """About how many bytes plain data takes; None where it is too deep or holds no real number."""
    total, stack = 0, [(value, 0)]
    while stack:
        one, depth = stack.pop()
        total += _VALUE_NBYTES
        if depth > _DEPTH or (isinstance(one, float) and not math.isfinite(one)):
            return None
        if isinstance(one, str):
            total += len(one)
        elif isinstance(one, list):
            stack += [(each, depth + 1) for each in one]
        elif isinstance(one, dict):
            total += sum(map(len, one))
            stack += [(each, depth + 1) for each in one.values()]
    return total
