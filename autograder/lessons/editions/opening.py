"""How a self-study notebook begins: its heading, a click to open it elsewhere, and the set-up.

The set-up cell is the first code cell, so it stands between the heading and what follows it: the
first text of a lesson ends by asking for the cell below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from autograder.lessons.cells import RawCell, code_cell, text_cell
from autograder.lessons.editions.addresses import binder, colab
from autograder.lessons.editions.reading import FOLDED_TEST

__all__ = ["BADGES_ID", "INSTALL_ID", "SELF_STUDY", "TEXT_ID", "opened"]

SELF_STUDY = "self-study"  # the folder in release/
BADGES_ID, INSTALL_ID, TEXT_ID = "open-in", "set-up-course", "what-happens"
_TITLE = '#@title Set-up: run this first { display-mode: "form" }'
_DEVICE = "\n\nfrom course.gpu import device_in_words\n\nprint(device_in_words())"
_COLAB_BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
_BINDER_BADGE = "https://mybinder.org/badge_logo.svg"


def opened(
    cells: Sequence[RawCell], name: str, repository: str = "", *, device: bool = False
) -> list[RawCell]:
    """The cells of a self-study notebook with its beginning.

    Args:
        cells: The notebook's, each with its source as one string; the first has the heading.
        name: Its file's name, for the badges.
        repository: `owner/name` of the public repository; without one there are no badges.
        device: Whether the set-up ends by naming the device.
    """
    first, *others = cells
    heading, _, text = first["source"].partition("\n")
    badges = [text_cell(BADGES_ID, _badges(name, repository))] if repository else []
    set_up = _install_cell(repository, device=device)
    # What the first cell says of the lesson is looked for in the first cell.
    title = {key: value for key, value in first.items() if key != "attachments"}
    pictures = {key: value for key, value in first.items() if key == "attachments"}
    rest = [text_cell(TEXT_ID, text.lstrip("\n")) | pictures] if text.strip() else []
    return [title | {"source": heading}, *badges, set_up, *rest, *others]


def _badges(name: str, repository: str) -> str:
    path = f"release/{SELF_STUDY}/{name}"
    return (
        f"[![Open {name} in Colab]({_COLAB_BADGE})]({colab(repository, path)})\n"
        f"[![Open {name} in Binder]({_BINDER_BADGE})]({binder(repository, path)})"
    )


def _install_cell(repository: str, *, device: bool) -> RawCell:
    """The cell that brings the package `course` where it is not installed."""
    module = files("autograder.lessons.editions").joinpath("set_up_cell.py").read_text("utf-8")
    _, _, code = module.partition('"""\n\n')
    call = f'bring_course(repository="{repository}")'
    source = f"{_TITLE}\n{code.rstrip()}\n\n\n{call}{_DEVICE if device else ''}"
    return code_cell(INSTALL_ID, source, metadata=FOLDED_TEST)
