"""The explorer of einsum: letters, loops, result."""

from course.widgets.einsum.explorer import EinsumExplorer, EinsumPanel, explore_einsum

__all__ = ["EinsumExplorer", "EinsumPanel", "explore_einsum"]
