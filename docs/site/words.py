"""The course's plain sentences, in which only `code` is marked up, as Markdown and as HTML."""

from __future__ import annotations

import re

from course.claims.quiz_words import inline

__all__ = ["as_markdown", "as_text", "inline"]

_MARKS = re.compile(r"([\\*_\[\]<>#$~|{}!&])")


def as_markdown(text: str) -> str:
    r"""The sentence as Markdown that reads the same.

    >>> print(as_markdown("`a[0]` is [1, 2]"))
    `a[0]` is \[1, 2\]
    """
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(
        one if one.startswith("`") and len(one) > 1 else _MARKS.sub(r"\\\1", one) for one in parts
    )


def as_text(text: str) -> str:
    """The sentence without marks, for titles and descriptions."""
    return " ".join(text.replace("`", "").split())
