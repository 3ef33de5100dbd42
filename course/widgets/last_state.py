"""A widget on the page, and its last state in the notebook for when the widget has gone.

A saved notebook holds of a widget nothing but its id. Opened again, without the kernel that made
it, JupyterLab says "Error displaying widget: model not found". So two outputs are shown: the last
state as a page, which is kept up to date, and the widget. The page is hidden while the widget
lives, and the widget's output while it does not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from html import escape
from html.parser import HTMLParser
from typing import Any, Protocol
from uuid import uuid4

from IPython.display import display

from course.widgets.front_end import widgets_alive

__all__ = ["Asked", "LiveWidget", "Shown", "page_of", "words_of"]

_VIEW = "application/vnd.jupyter.widget-view+json"
_ALIVE = "pm-alive"
Publish = Callable[..., Any]

# A slider of ipywidgets has its label beside it, but no name that a screen reader would say, and
# no trait to give it one; a player's buttons have nothing but icons. A page runs no <script> that
# a widget brings; an image may fail, though. While its cell is folded the widget is not on the
# page: what comes onto the page is waited for.
_NAMING = """<img src="data:," alt="" hidden onerror="
const me = this;
const start = () => {
  const box = me.closest('.pm-alive');
  if (!box) return;
  coming.disconnect();
  const does = {'fa-play': 'Play or pause', 'fa-stop': 'Stop', 'fa-retweet': 'Repeat'};
  const name = () => {
    box.querySelectorAll('.widget-slider').forEach(slider => {
      const label = slider.querySelector('.widget-label')?.textContent;
      slider.querySelectorAll('[role=slider]').forEach(handle => {
        if (label) handle.setAttribute('aria-label', label);
      });
    });
    box.querySelectorAll('.widget-play button:not([aria-label]) i').forEach(icon => {
      const label = does[icon.classList[1]];
      if (label) icon.parentElement.setAttribute('aria-label', icon.parentElement.title = label);
    });
  };
  name();
  new MutationObserver(name).observe(box, {childList: true, subtree: true});
  me.remove();
};
const coming = new MutationObserver(start);
const seen = {childList: true, subtree: true, attributes: true, attributeFilter: ['class']};
coming.observe(document.body, seen);
start();
">"""


class Asked(Protocol):
    """What can be shown with buttons: the widgets' box, and its state as a page and as text."""

    box: object

    def page(self) -> str:
        """The state as HTML without buttons."""

    def words(self) -> str:
        """The same as plain text."""


class Shown:
    """Something with buttons where there are readers to press them, and text for all others."""

    _live: LiveWidget | None = None

    def _buttons(self) -> Asked:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        raise NotImplementedError

    def _ipython_display_(self) -> None:
        if not widgets_alive():
            raise NotImplementedError  # IPython then takes the page
        if self._live is None:
            asked = self._buttons()
            self._live = LiveWidget(asked.box, asked.page, asked.words)
        self._live.show()


class LiveWidget:
    """A box of ipywidgets that leaves a page behind.

    `page` gives the state as HTML; without one it is what the box itself shows. `words` gives its
    plain text. The page is written anew whenever an HTML part of the box changes.
    """

    def __init__(
        self,
        box: Any,
        page: Callable[[], str] | None = None,
        words: Callable[[], str] | None = None,
        publish: Publish | None = None,
    ) -> None:
        self._box = box
        self._page = page or (lambda: page_of(box))
        self._words = words or (lambda: words_of(self._page()))
        self._publish = publish or display
        self._id = f"pm-{uuid4().hex}"
        self._saved: dict[str, str] | None = None
        self._frame: Any = None

    def show(self) -> None:
        """Show the widget where the present cell's output goes, after the page of its state."""
        if "google.colab" in sys.modules:  # it saves the widgets' state in the notebook itself
            self._publish({**self._last_state(), _VIEW: self._view()}, raw=True)
            return
        self._saved = self._last_state()
        self._publish(self._saved, raw=True, display_id=self._id)
        # Where widgets are not trusted, the plain text is shown: the page has said it all.
        self._publish({"text/plain": "", _VIEW: self._view()}, raw=True)

    def _view(self) -> dict[str, Any]:
        if self._frame is None:
            self._frame = self._framed()
        return {"version_major": 2, "version_minor": 0, "model_id": self._frame.model_id}

    def _framed(self) -> Any:
        """The box, with the style that hides the page as long as the box is there."""
        from ipywidgets import HTML, Layout, VBox

        mine = f'[data-pm-last="{self._id}"]'
        hidden = f"<style>{mine},.jp-OutputArea-child:has({mine}){{display:none}}</style>{_NAMING}"
        for part in _parts(self._box):
            if isinstance(part, HTML):
                part.observe(lambda _: self.save(), names="value")
        frame = VBox([self._box, HTML(hidden, layout=Layout(display="none"))])
        frame.add_class(_ALIVE)
        return frame

    def save(self) -> None:
        """Write the state into the notebook, if it was shown there and has changed since."""
        if self._saved is None:
            return
        state = self._last_state()
        if state != self._saved:
            self._saved = state
            self._publish(state, raw=True, display_id=self._id, update=True)

    def _last_state(self) -> dict[str, str]:
        # The widget's output follows the page's; in it stands JupyterLab's error, or nothing yet.
        follows = f'.jp-OutputArea-child:has([data-pm-last="{self._id}"]) + .jp-OutputArea-child'
        style = f"<style>{follows}:not(:has(.{_ALIVE})){{display:none}}</style>"
        again = "<p><em>Run this cell again to go on from here.</em></p>"
        page = f'{style}<div data-pm-last="{self._id}">{self._page()}{again}</div>'
        return {"text/plain": self._words(), "text/html": page}


def _parts(box: Any) -> Iterator[Any]:
    """The widgets of a box in the order in which they are read, the boxes among them left out."""
    for one in getattr(box, "children", ()):
        if hasattr(one, "children"):
            yield from _parts(one)
        else:
            yield one


def page_of(box: Any) -> str:
    """What a box shows, as a page: its texts and pictures, and what is chosen in its controls."""
    from ipywidgets import HTML

    page, chosen = [], []
    for part in _parts(box):
        if not isinstance(part, HTML):
            chosen += _choice(part)
        elif part.value:
            page += [_settings(chosen), part.value]
            chosen = []
    return "".join([*page, _settings(chosen)])


def _choice(control: Any) -> list[str]:
    """The label of a control with its value; nothing for a button or an empty field."""
    label = getattr(control, "description", "").rstrip(":")
    value = getattr(control, "label", None) or getattr(control, "value", None)
    if not label or value in (None, ""):
        return []
    words = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return [f"{escape(label)}: <code>{escape(words)}</code>"]


def _settings(chosen: list[str]) -> str:
    return f"<p>{' · '.join(chosen)}</p>" if chosen else ""


def words_of(page: str) -> str:
    """The text of a page, a line a block, and what its pictures say they show."""
    reader = _Reader()
    reader.feed(page)
    lines = (" ".join(line.split()) for line in "".join(reader.found).splitlines())
    return "\n".join(line for line in lines if line)


class _Reader(HTMLParser):
    _BLOCKS = frozenset({"p", "div", "li", "tr", "pre", "table", "figcaption", "summary", "br"})
    _SILENT = frozenset({"style", "script", "svg"})

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in self._SILENT
        if tag in self._BLOCKS:
            self.found.append("\n")
        if tag == "img":
            self.found.append(f"\n{dict(attrs).get('alt') or ''}\n")
        elif tag in ("td", "th"):
            self.found.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self._SILENT
        if tag in self._BLOCKS:
            self.found.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.found.append(data)
