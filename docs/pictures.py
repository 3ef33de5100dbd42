"""Makes the picture of the README: `python docs/pictures.py` (needs Chromium).

The picture is real: a wrong answer to exercise "flatten" of lesson 04 meets its test cell.
"""

from __future__ import annotations

import linecache
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from course import answers
from course.checking import Checking
from course.table import draw_layouts, html_table

HERE = Path(__file__).parent
NOTEBOOK = HERE.parent / "source/04-memory-layout/04-memory-layout.ipynb"
WRONG = "def flatten(x):\n    return x.contiguous().view(-1)\n"
PAGE = "<meta charset=utf-8><body style='font-family:sans-serif;width:880px;margin:16px'>{}</body>"
CHROMIUM = [
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--hide-scrollbars", "--force-device-scale-factor=1.5"),
]


def visible(source: str) -> str:
    """A test cell as a learner has it."""
    before, _, rest = source.partition("### BEGIN HIDDEN TESTS")
    return before + rest.partition("### END HIDDEN TESTS")[2]


def check_table() -> str:
    """The HTML of the table that the wrong answer gets."""
    cells = {cell.id: cell.source for cell in nbformat.read(NOTEBOOK, as_version=4).cells}
    names: dict[str, Any] = {}
    results: list[Any] = []
    answers.use_backend(answers.LocalBackend(lambda: names))
    Checking.score = lambda self, points: results.append(self.result(points))  # type: ignore
    for number, source in enumerate((cells["setup"], WRONG, visible(cells["test-flatten"]))):
        filename = f"<cell {number}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        exec(compile(source, filename, "exec"), names)
    return html_table(results[0], picture=draw_layouts)


def main() -> None:
    """Write docs/check-table.png."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "table.html")
        page.write_text(PAGE.format(check_table()), encoding="utf-8")
        shot = f"--screenshot={HERE / 'check-table.png'}"
        command = [*CHROMIUM, f"--user-data-dir={folder}", "--window-size=920,760", shot]
        subprocess.run([*command, page.as_uri()], check=True, capture_output=True)


if __name__ == "__main__":
    main()
