"""Renders texts in a process of its own, which the kernel ends where one takes too long.

python -m autograder.nbgrader_bridge.rendering_process PID_OF_WHO_ASKS FILE_DESCRIPTOR

{"kind": of KINDS, "text", "pictures": attachments, "pixels": how many its pictures may have}
→  {"html": None where it cannot be, "seconds": taken, "pixels": shown}

Some 300 characters keep the regular expressions of nbconvert's parser busy for ever, a text literal
of zeros those of Pygments, and some ten thousand tags the parser of HTML.  Within them Python runs
nothing else that could stop them, and formgrader's server must go on.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nbconvert.filters import ansi2html
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograder.descendants import end_with_parent
from autograder.fork_server import Control, Message, ready
from autograder.nbgrader_bridge.drawings import pixels_at
from autograder.nbgrader_bridge.tame_html import cleaned

LIMIT_S = 2.0  # of processor time; those of our lessons take milliseconds
_MOST_NBYTES = 2**30  # a text with its pictures
# Other lexers of Pygments, IPython's too, take seconds or minutes for a few thousand characters.
_LANGUAGES = {
    *("python", "python3", "py", "py3", "pycon", "pytb", "bash", "sh", "shell", "console"),
    *("text", "json", "yaml", "toml", "diff"),
}


class _Renderer(IPythonRenderer):
    """Highlights code in the languages of a course only; other code stays as it is."""

    def block_code(self, code: str, info: str | None = None) -> str:
        """Fenced code; its info string begins with the name of a lexer."""
        words = (info or "").split()
        return str(super().block_code(code, info if words and words[0] in _LANGUAGES else None))


class _Pixels:
    """How many its page still shows."""

    def __init__(self, left: int) -> None:
        self._left, self.shown = left, 0

    def bear(self, address: str) -> bool:
        """Whether the picture in this data: URL is shown; then it counts."""
        count = pixels_at(address)
        if count is None or self.shown + count > self._left:
            return False
        self.shown += count
        return True


def _markdown(text: str, pictures: dict[str, Any], pixels: _Pixels) -> str:
    made = MarkdownWithMath(_Renderer(escape=False, attachments=pictures)).render(text)
    return cleaned(made, pixels.bear)


def _html(text: str, _: dict[str, Any], pixels: _Pixels) -> str:
    return cleaned(text, pixels.bear)


def _code(text: str, *_: object) -> str:
    return str(Highlight2HTML(pygments_lexer="python3")(text))


def _colours(text: str, *_: object) -> str:
    return str(ansi2html(text))


KINDS: dict[str, Callable[[str, dict[str, Any], _Pixels], str]] = {
    "markdown": _markdown,
    "html": _html,
    "code": _code,
    "colours": _colours,
}


def main() -> None:
    """Render texts for as long as somebody asks."""
    control = Control.at(int(sys.argv[2]), most_nbytes=_MOST_NBYTES)
    end_with_parent(int(sys.argv[1]))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # it ends the process
    control.send(ready())
    with suppress(EOFError, OSError):  # it is not asked any more
        while True:
            control.send(_answer(**control.receive()))


def _answer(kind: str, text: str, pictures: dict[str, Any], pixels: int) -> Message:
    begun, borne = time.process_time(), _Pixels(pixels)
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        html = KINDS[kind](text, pictures, borne)
    except Exception:  # whatever they make of a learner's text and pictures
        html = None
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {"html": html, "seconds": time.process_time() - begun, "pixels": borne.shown}


if __name__ == "__main__":
    main()
