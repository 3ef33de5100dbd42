"""A graph's nodes as cards in rows, with an arrow for every edge, each leading downwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from course.figures.graph.history import History, Kept, Node
from course.figures.palette import CARD, FAULT, INK, MUTED, REST, RULE, fill
from course.figures.scene import (
    SMALL,
    TEXT,
    WIDTH,
    Arrow,
    Box,
    Item,
    Label,
    Scene,
    text_width,
)

__all__ = ["graph_scene", "kept_name"]

_BETWEEN = 24.0  # px between cards of one row
_GAP = 40.0  # px between rows, where the arrows run
_TITLE = 26.0
_LINE = 22.0
_PASSING = 16.0  # the width an arrow takes that passes a row
_FILLS = {"result": fill(2), "operation": fill(3), "leaf": fill(0), "nothing": REST}


# --- cards --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Card:
    """A node's box: a title on its colour, and lines below it."""

    kind: str
    title: str
    lines: tuple[tuple[str, str], ...] = ()  # text and what it is: "plain", "kept", "stale"

    @property
    def width(self) -> float:
        """Wide enough for every line of it."""
        widths = [
            text_width(self.title, TEXT),
            *(text_width(t, SMALL, True) for t, _ in self.lines),
        ]
        return max(52.0, *(w + 18 for w in widths)) if self.title else _PASSING

    @property
    def height(self) -> float:
        """The title's height and that of the lines."""
        return _TITLE + _LINE * len(self.lines)

    def items(self, x: float, y: float) -> Iterator[Item]:
        """The card's boxes and labels with its upper left corner at this point."""
        if not self.title:
            return
        dashed = self.kind == "nothing"
        edge, ink = (RULE, MUTED) if dashed else (INK, INK)
        yield Box(x, y, self.width, _TITLE, self.title, (_FILLS[self.kind],), edge, ink, dashed)
        for number, (text, what) in enumerate(self.lines):
            top, stale = y + _TITLE + number * _LINE, what == "stale"
            yield Box(x, top, self.width, _LINE, "", (CARD,), FAULT if stale else INK, dashed=stale)
            ink = {"stale": FAULT, "kept": INK}.get(what, MUTED)
            yield Label(x + 8, top + _LINE / 2, text, ink=ink, size=SMALL, bold=stale)


_NOTHING = _Card("nothing", "None")
_PASS = _Card("pass", "")


def _card(node: Node) -> _Card:
    title = f"{node.title} → {node.made}" if node.made else node.title
    lines = [(line, "plain") for line in _plain_lines(node)]
    lines += [(_kept_words(kept), "stale" if kept.stale else "kept") for kept in node.kept]
    return _Card(node.kind, title, tuple(lines))


def _plain_lines(node: Node) -> list[str]:
    if node.facts is None:
        return []
    seen = node.facts
    version = "" if seen.version is None else f" · version {seen.version}"
    kind = "leaf, " if node.kind == "leaf" else ""
    about = [f"{kind}shape {seen.shape}{version}"]
    if node.kind == "leaf" and not seen.requires_grad:
        about.append("requires no grad")
    elif node.kind == "leaf":
        about.append(f".grad: {'None' if seen.grad is None else f'shape {seen.grad.shape}'}")
    return about


def _kept_words(kept: Kept) -> str:
    if kept.stale:
        return f"✗ kept {kept.name} at version {kept.version}, now {kept.now}"
    if kept.freed:
        return f"{kept.name}: freed"
    version = "" if kept.version is None else f" · version {kept.version}"
    return f"keeps {kept_name(kept)} {kept.shape}{version}"


def kept_name(kept: Kept) -> str:
    """The node's own name for a saved tensor, with the reader's where there is one."""
    return f"{kept.name} = {kept.of}" if kept.of else kept.name


# --- rows ---------------------------------------------------------------------------------------


@dataclass
class _Plan:
    """The cards in rows, and the edges between neighbouring rows, as card numbers."""

    cards: list[_Card]
    rows: list[list[int]]
    edges: list[tuple[int, int]]


def _plan(history: History) -> _Plan:
    """Every edge leads downwards; where it passes a row, it gets a place of its own there."""
    cards = [_card(node) for node in history.nodes]
    level = _levels(history.nodes, cards)
    plan = _Plan(cards, [[] for _ in range(max(level.values()) + 2)], [])
    for number in level:
        plan.rows[level[number]].append(number)
    for number, node in enumerate(history.nodes):
        for following in node.leads_to:
            _lead(plan, number, following, level)
    plan.rows = [row for row in plan.rows if row]
    _sort_rows(plan)
    return plan


def _levels(nodes: Sequence[Node], cards: Sequence[_Card]) -> dict[int, int]:
    """The row of each node: below all that lead to it, and where the row still has room."""
    waiting = dict.fromkeys(range(len(nodes)), 0)
    for node in nodes:
        for following in node.leads_to:
            if following is not None:
                waiting[following] += 1
    level, used, ready = dict.fromkeys(waiting, 0), dict[int, float](), [0]
    for number in ready:
        width = cards[number].width + _BETWEEN
        while used.get(level[number], 0) and used[level[number]] + width > WIDTH:
            level[number] += 1
        used[level[number]] = used.get(level[number], 0) + width
        for following in nodes[number].leads_to:
            if following is not None:
                level[following] = max(level[following], level[number] + 1)
                waiting[following] -= 1
                if not waiting[following]:
                    ready.append(following)
    return level


def _lead(plan: _Plan, start: int, end: int | None, level: Mapping[int, int]) -> None:
    """Add an edge, cut into pieces from row to row; None gets a small box of its own."""
    row, at = level[start], start
    if end is None:
        plan.rows[row + 1].append(_added(plan, _NOTHING))
        plan.edges.append((start, len(plan.cards) - 1))
        return
    for between in range(row + 1, level[end]):
        plan.rows[between].append(_added(plan, _PASS))
        plan.edges.append((at, len(plan.cards) - 1))
        at = len(plan.cards) - 1
    plan.edges.append((at, end))


def _added(plan: _Plan, card: _Card) -> int:
    plan.cards.append(card)
    return len(plan.cards) - 1


def _sort_rows(plan: _Plan) -> None:
    """Put each card below the middle of those that lead to it, so that few arrows cross."""
    place: dict[int, float] = {}
    for row in plan.rows:
        wanted = {n: [place[s] for s, e in plan.edges if e == n and s in place] for n in row}
        row.sort(key=lambda n: sum(wanted[n]) / len(wanted[n]) if wanted[n] else 0.5)
        place |= {n: (i + 0.5) / len(row) for i, n in enumerate(row)}


# --- the scene ----------------------------------------------------------------------------------


def graph_scene(history: History) -> Scene:
    """The cards of a graph below each other, its leaves at the ends of the arrows."""
    plan = _plan(history)
    widths = [sum(plan.cards[n].width + _BETWEEN for n in row) - _BETWEEN for row in plan.rows]
    total = max(widths)
    heights = [max(plan.cards[n].height for n in row) for row in plan.rows]
    corner: dict[int, tuple[float, float]] = {}
    bottom: dict[int, float] = {}
    y = 0.0
    for row, width, height in zip(plan.rows, widths, heights, strict=True):
        x = (total - width) / 2
        for n in row:
            corner[n], bottom[n] = (x, y), y + height
            x += plan.cards[n].width + _BETWEEN
        y += height + _GAP
    items: list[Item] = [item for n, at in corner.items() for item in plan.cards[n].items(*at)]
    items += _arrows(plan, corner, bottom)
    notes = _notes(history, y - _GAP + 14)
    end = y - _GAP + (28 if notes else 0)
    return Scene(max(total, *(n.x + text_width(n.text) for n in notes), 0), end, (*items, *notes))


def _arrows(
    plan: _Plan, corner: Mapping[int, tuple[float, float]], bottom: Mapping[int, float]
) -> Iterator[Arrow]:
    """One arrow an edge of the graph; pieces that pass rows are joined into one line."""
    ahead: dict[int, list[int]] = {}
    for number, (start, _) in enumerate(plan.edges):
        ahead.setdefault(start, []).append(number)
    ports = _ports(plan, corner)
    for number, (start, _) in enumerate(plan.edges):
        if plan.cards[start] is _PASS:
            continue
        points: list[tuple[float, float]] = []
        piece: int | None = number
        while piece is not None:
            first, last = plan.edges[piece]
            out, into = ports[piece]
            points += [(out, corner[first][1] + plan.cards[first].height), (out, bottom[first])]
            points.append((into, corner[last][1]))
            piece = ahead[last][0] if plan.cards[last] is _PASS else None
        yield Arrow(tuple(dict.fromkeys(points)))


def _ports(plan: _Plan, corner: Mapping[int, tuple[float, float]]) -> list[tuple[float, float]]:
    """Where each edge leaves its card and enters the next, spread along their edges."""
    centre = {n: x + plan.cards[n].width / 2 for n, (x, _) in corner.items()}
    leaving: dict[int, float] = {}
    entering: dict[int, float] = {}
    for n in centre:
        out = sorted(
            (i for i, e in enumerate(plan.edges) if e[0] == n),
            key=lambda i: centre[plan.edges[i][1]],
        )
        into = sorted(
            (i for i, e in enumerate(plan.edges) if e[1] == n),
            key=lambda i: centre[plan.edges[i][0]],
        )
        for spread, at in ((out, leaving), (into, entering)):
            for k, i in enumerate(spread, 1):
                at[i] = corner[n][0] + plan.cards[n].width * k / (len(spread) + 1)
    return [(leaving[i], entering[i]) for i in range(len(plan.edges))]


def _notes(history: History, y: float) -> list[Label]:
    if not history.left_out:
        return []
    return [Label(0, y, f"{history.left_out} further nodes are not drawn.", ink=MUTED)]
