"""What all explorers share: a widget where one can live, and a static page for everyone else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from course.widgets.front_end import widgets_alive

__all__ = ["Explorer", "Panel"]


class Panel(Protocol):
    """The controls of one explorer, all inside `box`, an ipywidgets container."""

    box: Any


_PanelT = TypeVar("_PanelT", bound=Panel)


class Explorer(ABC, Generic[_PanelT]):
    """Something to explore; its panel is made when first shown, since it needs a front end."""

    _panel: _PanelT | None = None

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

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """The widget where one can live, with the static page for readers of the saved file."""
        bundle: dict[str, Any] = {"text/plain": repr(self), "text/html": self._repr_html_()}
        if widgets_alive():
            bundle["application/vnd.jupyter.widget-view+json"] = {
                "version_major": 2,
                "version_minor": 0,
                "model_id": self.panel.box.model_id,
            }
        return bundle
