"""What all explorers share: a widget where one can live, and a static page for everyone else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from course.widgets.front_end import widgets_alive
from course.widgets.last_state import LiveWidget

__all__ = ["Explorer", "Panel", "at_most", "labelled"]


class Panel(Protocol):
    """The controls of one explorer, all inside `box`, an ipywidgets container."""

    box: Any


_PanelT = TypeVar("_PanelT", bound=Panel)


class Explorer(ABC, Generic[_PanelT]):
    """Something to explore; its panel is made when first shown, since it needs a front end."""

    _panel: _PanelT | None = None
    _live: LiveWidget | None = None

    @property
    def panel(self) -> _PanelT:
        """The widgets, made when first asked for."""
        if self._panel is None:
            self._panel = self._make_panel()
        return self._panel

    @abstractmethod
    def _make_panel(self) -> _PanelT: ...

    @abstractmethod
    def _repr_html_(self) -> str: ...

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """The static page, where no widget can live."""
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _ipython_display_(self) -> None:
        """Show the widget, and keep its last state in the notebook."""
        if not widgets_alive():
            raise NotImplementedError  # IPython then takes the static page
        if self._live is None:
            self._live = LiveWidget(self.panel.box)
        self._live.show()


def labelled(label: str) -> dict[str, Any]:
    """What a control of ipywidgets is made with so that its whole label stands before it."""
    return {"description": label, "style": {"description_width": "initial"}}


def at_most(width: str) -> Any:
    """The layout of a control of this width, or of the cell's where that is less: at 200 % zoom."""
    from ipywidgets import Layout

    return Layout(width=width, max_width="calc(100% - 4px)")  # it has a margin of 2px
