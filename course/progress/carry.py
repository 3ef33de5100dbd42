"""Your progress in all lessons as one file: saved here, loaded on another machine.

    carry_progress()

shows two buttons. "Save" gathers what the notebooks beside this page and the progress file hold,
and writes it to that file; a link downloads it. "Load" merges a file from elsewhere into the one
here: of each exercise the better result counts, whichever of the two has it, and a prediction that
was made here stays. A file that is damaged or something else changes nothing.

Without buttons, `carry_progress("save")` and `carry_progress("load")` do the same; the file to be
loaded then lies beside this page under the name that a browser gives to what it downloads.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from course.claims import predictions
from course.guide.placement_quiz import ASKED
from course.progress.progress_file import FILE_NAME, Kept, ProgressError, merged, read, write
from course.progress.start_page import checks_in, lessons, notebooks_in
from course.widgets.last_state import Shown

__all__ = ["Carried", "carry_progress", "gathered", "load", "save"]

_ASK = (
    "The file holds which checks held, and your predictions. It doesn't hold your notebooks: take "
    "those along, too, if you want to go on in them."
)
_ACTIONS = ("show", "save", "load")


class Carried(Shown):
    """Two buttons, and what came of pressing them."""

    def __init__(self, folder: Path, message: str = "") -> None:
        self.folder = folder
        self.message = message

    def __repr__(self) -> str:
        way = 'carry_progress("save") writes the file, carry_progress("load") reads one.'
        return "\n".join(filter(None, [self.message or way, _ASK]))

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in repr(self).splitlines())

    def _buttons(self) -> Panel:
        return Panel(self.folder, self.message)


class Panel:
    """The widgets: a button that saves, one that chooses a file, and what they did."""

    def __init__(self, folder: Path, message: str = "") -> None:
        from ipywidgets import HTML, Button, FileUpload, HBox, Layout, VBox

        self.folder = folder
        wide = Layout(width="auto")
        self.saving = Button(description="Save my progress", icon="download", layout=wide)
        self.loading = FileUpload(
            description="Load a file", accept=".json", multiple=True, layout=wide
        )
        self.text = HTML(_page([message or _ASK]))
        self.saving.on_click(lambda _: self.save())
        self.loading.observe(lambda _: self.load(), names="value")
        row = HBox([self.saving, self.loading], layout=Layout(flex_flow="row wrap"))
        self.box = VBox([row, self.text])

    def save(self) -> None:
        """Write the file, and offer it for download."""
        message, content = save(self.folder)
        self.text.value = _page([message, _ASK]) + _link(content)

    def load(self) -> None:
        """Merge the chosen files, and show what is reached now."""
        chosen = dict(_chosen(self.loading.value))
        if not chosen:
            return
        messages = [load(self.folder, content, name) for name, content in chosen.items()]
        table = lessons(self.folder)._repr_html_()
        self.text.value = f'{_page(messages)}<div style="line-height:1.45">{table}</div>'

    def page(self) -> str:
        """What stands below the buttons."""
        return str(self.text.value)

    def words(self) -> str:
        """What can be done without buttons."""
        return repr(Carried(self.folder))


def carry_progress(action: str = "show", *, folder: str | Path = ".") -> Carried:
    """Your progress in all lessons: buttons to save and to load it.

    Args:
        action: `"save"` or `"load"` does it at once, where there are no buttons.
        folder: Where the lessons lie, and the progress file.
    """
    here = Path(folder)
    if action not in _ACTIONS:
        return Carried(
            here, f"No action is called {action!r}. Choose one of {', '.join(_ACTIONS)}."
        )
    if action == "save":
        message, content = save(here)
        files = _colab_files()
        if content and files is not None:
            files.download(str(here / FILE_NAME))
        return Carried(here, message)
    if action == "load":
        found = list(_found_beside(here))
        told = [load(here, content, name) for name, content in found]
        return Carried(here, "\n".join(told) or f"There is no {FILE_NAME} here, nor a copy of it.")
    return Carried(here)


def save(folder: Path) -> tuple[str, bytes]:
    """Write what was reached to the progress file.

    Returns:
        What to tell, and the file's content, empty where nothing was saved.
    """
    path = folder / FILE_NAME
    try:
        kept = gathered(folder)
        write(path, kept)
    except ProgressError as error:
        return f"{error} It is left as it is, so nothing was saved; move it away first.", b""
    except OSError as error:
        return f"{path.name} cannot be written: {error.strerror or error}. Nothing was saved.", b""
    return f"Saved in {path.name}: {_counted(kept)}.", path.read_bytes()


def load(folder: Path, content: bytes, name: str) -> str:
    """Merge a file from elsewhere into the progress file.

    Args:
        folder: Where the lessons lie, and the progress file.
        content: What the other file holds.
        name: What it is called.

    Returns:
        What came of it, in a sentence or two. Whatever goes wrong, nothing is changed.
    """
    try:
        other = read(content, name)
    except ProgressError as error:
        return f"{error} Nothing was loaded, and nothing is lost."
    try:
        mine = gathered(folder)
        both = merged(mine, other)
        write(folder / FILE_NAME, both)
    except ProgressError as error:
        return f"The file here: {error} It is left as it is, so nothing was loaded."
    except OSError as error:
        return f"{FILE_NAME} cannot be written: {error.strerror or error}. Nothing was loaded."
    for id, verdict in other.predictions.items():
        if id in ASKED and id not in mine.predictions:
            predictions.keep(id, verdict)
    return f"{name}: {_counted(other)}; {_better(mine, both)} than here. Both together are kept."


def gathered(folder: Path) -> Kept:
    """What was reached here: the notebooks of the folder, its progress file, the predictions.

    Raises:
        ProgressError: The progress file is damaged.
        OSError: It cannot be read.
    """
    path = folder / FILE_NAME
    before = read(path.read_bytes()) if path.is_file() else Kept()
    told = {id: predictions.prediction_of(id) for id in ASKED}
    mine = {id: verdict for id, verdict in told.items() if verdict is not None}
    return merged(Kept({}, dict(_seen(folder)), mine), before)


def _seen(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the saved notebooks show, by lesson; one that cannot be read shows nothing."""
    for slug, path in notebooks_in(folder):
        try:
            cells = json.loads(path.read_text(encoding="utf-8")).get("cells", [])
            found = checks_in([cell for cell in cells if isinstance(cell, dict)])
        except (OSError, ValueError, AttributeError, TypeError):
            continue
        if found:
            yield slug, found


def _counted(kept: Kept) -> str:
    names = {
        (slug, name)
        for table in (kept.lessons, kept.checks)
        for slug, found in table.items()
        for name in found
    }
    slugs = {slug for slug, _ in names}
    told = f"{_many(len(names), 'exercise')} of {_many(len(slugs), 'lesson')}"
    if kept.predictions:
        told += f" and {_many(len(kept.predictions), 'prediction')}"
    return told


def _better(mine: Kept, both: Kept) -> str:
    better = {
        (slug, name)
        for before, after in ((mine.lessons, both.lessons), (mine.checks, both.checks))
        for slug, found in after.items()
        for name, one in found.items()
        if name not in before.get(slug, {}) or one.share > before[slug][name].share
    }
    return f"{len(better)} of them further"


def _many(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _page(lines: Iterable[str]) -> str:
    told = "".join(f'<p style="line-height:1.45">{escape(line)}</p>' for line in lines)
    return f'<div role="status">{told}</div>'


def _link(content: bytes) -> str:
    if not content:
        return ""
    data = base64.b64encode(content).decode("ascii")
    address = f"data:application/json;base64,{data}"
    about = f'download="{FILE_NAME}" style="text-decoration:underline;color:inherit"'
    return f'<p><a {about} href="{address}">Download {FILE_NAME}</a></p>'


def _chosen(value: Any) -> Iterator[tuple[str, bytes]]:
    """The files that an upload holds; ipywidgets 7 has a dict of them, 8 a tuple."""
    if isinstance(value, dict):
        yield from ((name, bytes(one["content"])) for name, one in value.items())
    else:
        yield from ((str(one["name"]), bytes(one["content"])) for one in value)


def _found_beside(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The copies that a browser left beside the file, `… (1).json`, or on Colab the upload."""
    files = _colab_files()
    if files is not None:
        yield from ((str(name), bytes(content)) for name, content in files.upload().items())
        return
    for path in sorted(folder.glob(f"{Path(FILE_NAME).stem}*.json")):
        yield path.name, path.read_bytes()


def _colab_files() -> Any:
    """Colab's module for up- and downloads; None elsewhere."""
    return getattr(sys.modules.get("google.colab"), "files", None)
