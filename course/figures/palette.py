"""The colours of every figure, with one meaning each.

The fills are Okabe and Ito's, which stay apart for colour-blind readers; blue is left out because
dark text on it is hard to read. Text on any of these fills is `INK`, at a contrast of at least
4.5 : 1. No meaning is carried by colour alone: boxes also bear a value, a position or an index.
"""

from __future__ import annotations

__all__ = ["CARD", "FAULT", "FILLS", "INK", "LINE", "MUTED", "REST", "RULE", "contrast", "fill"]

INK = "#111111"  # text, arrows and the edges of boxes
MUTED = "#565656"  # indices, notes and what is not in question
CARD = "#ffffff"  # the figure's own light ground, also in a dark notebook
LINE = "#d0d7de"  # the card's border
REST = "#f2f2f2"  # boxes of the storage that belong to no tensor in question
RULE = "#8c8c8c"  # the edges of those boxes
FAULT = "#a62c00"  # the words that name what is wrong
FILLS = (
    "#56b4e9",  # sky blue
    "#e69f00",  # orange
    "#009e73",  # bluish green
    "#f0e442",  # yellow
    "#cc79a7",  # reddish purple
    "#d55e00",  # vermillion
)


def fill(number: int) -> str:
    """The fill of the row, tensor or node with this number; after six they begin again."""
    return FILLS[number % len(FILLS)]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, 1 to 21, as WCAG 2 defines it."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
