"""The storage picture of a failed layout check: what you have beside what was expected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from autograder.records.model import CheckRecord

_DRAWN_ELEMENTS = 4096  # a forged record must not make us draw for minutes


def picture_of(check: CheckRecord) -> Markup | None:
    """The picture of `check` as HTML, None where it has no layouts that can be drawn."""
    layouts = check.layouts or ()
    if len(layouts) not in (1, 2) or not all(map(_is_drawable, layouts)):
        return None
    try:
        from course.inspection.facts import TensorFacts
        from course.testing.table import draw_layouts

        facts = [TensorFacts.from_dict(dict(one)) for one in layouts]
        return Markup(draw_layouts(facts, check.expected)._repr_html_())
    except Exception:
        # The record may be forged and the figure is a help; the words stand without it.
        return None


def _is_drawable(layout: Mapping[str, Any]) -> bool:
    shape, itemsize = layout.get("shape"), layout.get("itemsize")
    nbytes = layout.get("storage_nbytes")
    sizes = [*shape, itemsize, nbytes] if isinstance(shape, list | tuple) else [None]
    if not all(type(size) is int and size >= 0 for size in sizes):
        return False
    slots = nbytes // max(1, itemsize)  # type: ignore[operator, type-var]
    return max(math.prod(shape), slots) <= _DRAWN_ELEMENTS  # type: ignore[arg-type]
