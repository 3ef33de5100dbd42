"""Markdown as HTML, within bounds: `markdown_process` renders it."""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from threading import Lock
from typing import Any

from autograder.fork_server import AnsweringServer
from autograder.nbgrader_bridge.markdown_process import LIMIT_S

_PROCESS = "autograder.nbgrader_bridge.markdown_process"


class MarkdownRenderer:
    """Has a process for it from the first text on, and a new one where a text has ended it."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._turn = Lock()
        self._process: AnsweringServer | None = None

    def render(self, text: str, pictures: Mapping[str, Any]) -> tuple[str | None, float]:
        """The HTML, and the seconds of processor time that it took.

        Args:
            text: May be anything.
            pictures: Those attached to its cell.

        Returns:
            No HTML where the text cannot be rendered, or takes more than `LIMIT_S`.
        """
        asked = {"text": text, "pictures": pictures if "attachment:" in text else {}}
        with self._turn:
            if self._process is None:
                self._process = AnsweringServer(_PROCESS, env={})
            try:
                answer = self._process.ask(asked)
            except EOFError:
                self._close()
                return None, LIMIT_S
        return answer["html"], answer["seconds"]

    def close(self) -> None:
        """End its process."""
        with self._turn:
            self._close()

    def _close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


RENDERER = MarkdownRenderer()
atexit.register(RENDERER.close)
