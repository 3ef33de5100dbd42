"""A picture for a notebook: a drawing with alt text and a caption, as SVG on its own light card."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.figures.palette import CARD, INK, LINE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Picture", "draw_nothing", "drawing", "not_drawn"]

# One switch for the whole process, the only state of this package. While a submission is graded
# its figure cells run like all others, but nobody looks at them: matplotlib (half a second to
# import) and the SVG would be most of the work. The engine switches it off once, before it forks.
# A plain global and not a context variable, because cells may draw from threads of their own.
_drawing = True
_PX_PER_PT, _SMALLEST = 96 / 72, 0.85
# Without it a widget would be as wide as its widest drawing, and its words would run off the page.
_NARROWS = "display:grid;grid-template-columns:minmax(0,1fr)"


def drawing() -> bool:
    """Whether figures are drawn in this process now."""
    return _drawing


def draw_nothing() -> None:
    """From now on, in this process and its forks, no figure is drawn."""
    global _drawing
    _drawing = False


@contextmanager
def not_drawn() -> Iterator[None]:
    """A block in which figures are accepted but not drawn.

    >>> with not_drawn():
    ...     Picture(lambda: 1 / 0, alt="never drawn")
    never drawn
    """
    global _drawing
    before, _drawing = _drawing, False
    try:
        yield
    finally:
        _drawing = before


class Picture:
    """A drawing that a notebook shows with its alt text and caption.

    In a terminal a picture is its alt text.

    Args:
        draw: Makes the matplotlib figure when it is first needed, so that a picture nobody looks at
            costs nothing. It must not depend on anything that changes later.
        alt: The picture in words, for whoever doesn't see it.
        caption: What stands below it; nothing if empty.
    """

    def __init__(self, draw: Callable[[], Figure], *, alt: str, caption: str = "") -> None:
        self._draw = draw
        self._svg: bytes | None = None
        self.alt = alt
        self.caption = caption

    def __repr__(self) -> str:
        return f"{self.alt}\n{self.caption}" if self.caption else self.alt

    def svg(self) -> bytes:
        """The drawing as SVG: the same drawing gives the same bytes, today and tomorrow."""
        if self._svg is None:
            self._svg = self._rendered("svg")
        return self._svg

    def save(self, path: str | Path) -> None:
        """Write the drawing to a file in the format that the suffix names: .svg, .png or .pdf."""
        target = Path(path)
        data = self.svg() if target.suffix == ".svg" else self._rendered(target.suffix[1:])
        target.write_bytes(data)

    def _repr_html_(self) -> str:
        return (
            f'<figure style="margin:8px 0;padding:10px 12px;max-width:900px;background:{CARD};'
            f"color:{INK};border:1px solid {LINE};border-radius:6px;line-height:1.45;"
            f'{_NARROWS}">'
            f"{self._image()}{self._figcaption()}</figure>"
        )

    def _image(self) -> str:
        if not _drawing:
            return f"<p>{escape(self.alt)}</p>"
        data = base64.b64encode(self.svg()).decode("ascii")
        return (
            '<div style="overflow-x:auto">'
            f'<img alt="{escape(self.alt)}" src="data:image/svg+xml;base64,{data}" '
            f'style="max-width:100%;min-width:{self._least_width():.0f}px"></div>'
        )

    def _least_width(self) -> float:
        """The width in px below which it scrolls: on a narrow or enlarged page text stays large."""
        found = re.search(rb'\bwidth="([\d.]+)pt"', self.svg()[:2000])
        return float(found[1]) * _PX_PER_PT * _SMALLEST if found else 0.0

    def _figcaption(self) -> str:
        if not self.caption:
            return ""
        return f'<figcaption style="margin-top:6px">{escape(self.caption)}</figcaption>'

    def _rendered(self, suffix: str) -> bytes:
        from matplotlib import rc_context

        buffer = io.BytesIO()
        metadata = {"Date": None, "Creator": None} if suffix == "svg" else None
        with rc_context(_LOOK):
            self._draw().savefig(buffer, format=suffix, metadata=metadata)
        return buffer.getvalue()


# A learner's own matplotlib settings must not change the course's figures, nor a fresh salt their
# bytes. Text is drawn as outlines: the same on every machine, whatever fonts it has.
_LOOK: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "path.sketch": None,
    "path.effects": [],
    "savefig.bbox": "standard",
    "savefig.dpi": 96,
    "savefig.facecolor": CARD,
    "savefig.transparent": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "pytorch-measured",
    "text.antialiased": True,
    "text.parse_math": False,
    "text.usetex": False,
}
