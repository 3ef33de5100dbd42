"""Text of somebody else, as it may stand on a page."""

from __future__ import annotations

__all__ = ["visible"]


def visible(text: str) -> str:
    r"""The text with its control characters spelt out, such as \x1b and \u202e.

    Escape codes and marks that turn the direction of writing would change what stands around it.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _spelt(c) for c in text)


def _spelt(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
