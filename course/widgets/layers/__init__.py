"""The explorer of windows: pooling, adaptive pooling, resizing."""

from course.widgets.layers.explorer import WindowsExplorer, WindowsPanel, explore_windows

__all__ = ["WindowsExplorer", "WindowsPanel", "explore_windows"]
