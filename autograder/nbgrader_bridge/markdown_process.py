"""Renders Markdown in a process of its own, which the kernel ends where a text takes too long.

python -m autograder.nbgrader_bridge.markdown_process PID_OF_WHO_ASKS FILE_DESCRIPTOR

{"text": Markdown, "pictures": attachments}  →  {"html": None where it cannot be, "seconds": taken}

Some 300 characters keep the regular expressions of nbconvert's parser busy for ever.  Within
one, Python runs nothing else that could stop it, and formgrader's server must go on.
"""

from __future__ import annotations

import signal
import sys
import time
from contextlib import suppress
from typing import Any

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograder.descendants import end_with_parent
from autograder.fork_server import Control, Message, ready

LIMIT_S = 2.0  # of processor time; the texts of our lessons take milliseconds
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


def main() -> None:
    """Render texts for as long as somebody asks."""
    control = Control.at(int(sys.argv[2]), most_nbytes=_MOST_NBYTES)
    end_with_parent(int(sys.argv[1]))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # it ends the process
    control.send(ready())
    with suppress(EOFError, OSError):  # it is not asked any more
        while True:
            control.send(_answer(**control.receive()))


def _answer(text: str, pictures: dict[str, Any]) -> Message:
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, LIMIT_S)
    try:
        html = MarkdownWithMath(_Renderer(escape=False, attachments=pictures)).render(text)
    except Exception:  # whatever nbconvert makes of a learner's text and pictures
        html = None
    signal.setitimer(signal.ITIMER_PROF, 0)
    return {"html": html, "seconds": time.process_time() - begun}


if __name__ == "__main__":
    main()
