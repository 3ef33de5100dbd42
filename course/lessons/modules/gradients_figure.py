"""The tree of a model with the norms of its gradients: `show_modules`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from torch import nn

from course.figures.palette import FAULT, INK, MUTED, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, paint, text_width
from course.lessons.modules.module_tree import Row, rows_of
from course.lessons.modules.shapes_figure import shortened

__all__ = ["picture_of", "show_modules"]

_ROW = 24.0  # px
_INDENT = 18.0
_GAP = 14.0
_NAME, _WORDS = 210.0, 230.0  # px at most, of the columns with words
_LONGEST = 210.0  # px, the longest bar
_MOST = 48  # rows that are drawn
_REGISTERED, _UNREGISTERED = fill(0), fill(1)


def show_modules(model: nn.Module) -> Picture:
    """A picture of what a model holds, and of the gradients there now; nothing is run.

    Each parameter shows the norm of its `.grad` as a bar, or that it has none; frozen ones and
    buffers say so. What sits in a plain list, dict or attribute is shown too, and that it isn't
    registered: no optimizer that is given `model.parameters()` will ever see it.

    Args:
        model: Anything that is an `nn.Module`; nothing of it is changed.

    Raises:
        TypeError: It is no module.

    >>> print(show_modules(nn.Linear(4, 3)).alt)
    Linear(4, 3). weight of shape (3, 4): no gradient. bias of shape (3,): no gradient.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"show_modules() draws a module, not {type(model).__name__}. Give it the model."
        )
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    return picture_of(rows_of(model))


def picture_of(rows: Sequence[Row], moved: Mapping[str, bool] | None = None) -> Picture:
    """The picture of these rows.

    Args:
        rows: What `rows_of` found; the first 48 are drawn.
        moved: Whether a step changed a tensor, by its path; None before there was one.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    alt = " ".join(_in_words(row, moved) for row in rows[:_MOST])
    left_out = f" {len(rows) - _MOST} further rows are not drawn." if len(rows) > _MOST else ""
    scene = _scene(rows[:_MOST], moved, left_out.strip())
    return Picture(partial(paint, scene), alt=alt + left_out, caption=_caption(rows))


# --- words --------------------------------------------------------------------------------------


def _state(row: Row) -> tuple[str, bool]:
    """What is said of a row beside its name, and whether it is a fault."""
    if row.same_as:
        return f"the same {'tensor' if row.is_tensor else 'module'} as {row.same_as}", False
    if not row.is_tensor:
        plain = row.how.startswith("a plain")
        return (f"in {row.how}: not registered", True) if plain else ("", False)
    if row.how == "result":
        return "a result, kept with its graph", True
    if row.how == "buffer":
        return "a buffer", False
    if row.norm is not None:
        return _number(row.norm) + ("" if row.asks else ", and frozen"), False
    if row.asks:
        return "no gradient", True
    return ("frozen", False) if row.how == "parameter" else (f"in {row.how}: not registered", True)


def _number(norm: float) -> str:
    return "0" if norm == 0 else f"{norm:.3g}"


def _in_words(row: Row, moved: Mapping[str, bool] | None) -> str:
    words, _ = _state(row)
    if not row.is_tensor:
        head = row.words if row.how == "model" else f"{row.path}, {row.words}"
        return f"{head}{': ' + words if words else ''}."
    if row.norm is not None and not row.same_as:
        words = f"gradient of norm {words}"
        words += "" if row.registered else ", not in parameters()"
    if moved is not None and row.path in moved:
        words += f", {'moved' if moved[row.path] else 'not moved'} by the step"
    return f"{row.path} of shape {row.words}: {words}."


def _caption(rows: Sequence[Row]) -> str:
    asking = [row for row in rows if row.asks and not row.same_as]
    reached = [row for row in asking if row.norm is not None]
    hidden = [row for row in asking if not row.registered]
    words = f"{len(reached)} of {len(asking)} tensors that require grad have a gradient."
    if hidden:
        words += f" {len(hidden)} of them are not in parameters() (orange, dashed):"
        words += " an optimizer that is given parameters() never sees them."
    return f"{words} Bars are norms, to scale." if reached else words


# --- the scene ----------------------------------------------------------------------------------


def _scene(rows: Sequence[Row], moved: Mapping[str, bool] | None, left_out: str) -> Scene:
    name = min(_NAME, max(r.depth * _INDENT + text_width(r.name, SMALL, True) for r in rows))
    words = min(_WORDS, max(text_width(_words(row)) for row in rows))
    second, third = name + _GAP, name + words + 2 * _GAP
    last = "moved by the step" if moved is not None else "in parameters()"
    items: list[Item] = [
        Label(third, _ROW / 2, "norm of the gradient", ink=MUTED),
        Label(WIDTH, _ROW / 2, last, "right", MUTED),
    ]
    most = max((row.norm or 0 for row in rows if not row.same_as), default=0)
    y = _ROW
    for row in rows:
        middle, indent = y + _ROW / 2, row.depth * _INDENT
        bold = not row.is_tensor
        items.append(
            Label(indent, middle, shortened(row.name, name - indent, bold=True), bold=bold)
        )
        items.append(Label(second, middle, shortened(_words(row), words), ink=MUTED))
        items += _gradient(row, third, y, most)
        items += _verdict(row, y, moved)
        y += _ROW
    if left_out:
        items.append(Label(0, y + _ROW / 2, left_out, ink=MUTED))
        y += _ROW
    return Scene(WIDTH, y, tuple(items))


def _words(row: Row) -> str:
    return "" if row.how == "model" and row.words == f"{row.name}()" else row.words


def _gradient(row: Row, x: float, y: float, most: float) -> Iterator[Item]:
    """The bar of a gradient's norm, or the words that stand where there is none."""
    text, fault = _state(row)
    if row.is_tensor and row.norm is not None and not row.same_as:
        share = row.norm / most if 0 < most < float("inf") else 0.0
        wide = max(1.0, _LONGEST * share) if share == share else 1.0  # a norm may be nan
        colour = _REGISTERED if row.registered else _UNREGISTERED
        dashed = not row.registered
        yield Box(x, y + 4, wide, _ROW - 8, fills=(colour,), edge=INK, dashed=dashed)
        x += wide + 6
    mark = "✗ " if fault else ""
    ink = FAULT if fault else (INK if row.norm is not None else MUTED)
    if text:
        yield Label(x, y + _ROW / 2, mark + text, ink=ink)


def _verdict(row: Row, y: float, moved: Mapping[str, bool] | None) -> Iterator[Item]:
    """The last column: whether an optimizer sees the tensor, or has moved it."""
    if not row.is_tensor or row.same_as:
        return
    if moved is None:
        yes = row.registered and row.how != "buffer"
        shown = row.asks or row.how == "parameter"
    else:
        yes, shown = moved.get(row.path, False), row.path in moved
    if shown:
        words, ink = ("yes", INK) if yes else ("✗ no", FAULT)
        yield Label(WIDTH, y + _ROW / 2, words, "right", ink)
