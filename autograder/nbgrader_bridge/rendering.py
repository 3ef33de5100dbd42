"""Texts as HTML, within bounds of time: `rendering_process` renders them."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from threading import Lock
from typing import Any

from autograder.fork_server import AnsweringServer
from autograder.nbgrader_bridge.rendering_process import LIMIT_S

_PROCESS = "autograder.nbgrader_bridge.rendering_process"


class Renderer:
    """Has a process for them from the first text on, and a new one where a text has ended it."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._turn = Lock()
        self._process: AnsweringServer | None = None

    def render(
        self, kind: str, text: str, pictures: Mapping[str, Any], pixels: int
    ) -> tuple[str | None, float, int]:
        """The HTML, the seconds of processor time that it took, and the pixels of its pictures.

        Args:
            kind: Of the text, one of `rendering_process.KINDS`.
            text: May be anything.
            pictures: Those attached to its cell.
            pixels: How many it may show.

        Returns:
            No HTML where the text cannot be rendered, or takes more than `LIMIT_S`.
        """
        used = pictures if "attachment:" in text else {}
        asked = {"kind": kind, "text": text, "pictures": used, "pixels": pixels}
        with self._turn:
            if self._process is None:
                self._process = AnsweringServer(_PROCESS, env={})
            try:
                answer = self._process.ask(asked)
            except EOFError:
                self._close()
                return None, LIMIT_S, 0
        return answer["html"], answer["seconds"], answer["pixels"]

    def close(self) -> None:
        """End its process."""
        with self._turn:
            self._close()

    def _close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


RENDERER = Renderer()
atexit.register(RENDERER.close)
