"""The map of the lessons in words: for those who cannot see it, and as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from course.guide.lesson_cards import PATHS, Card, on_path

__all__ = ["ABOUT", "described", "hours", "in_markdown", "needs_in_words", "summary", "table"]

ABOUT = "What builds on what"


def hours(lessons: Iterable[Card]) -> str:
    """How many lessons these are and how long their cores take.

    >>> hours([Card("01-a", "A", 85, (), "", (), ()), Card("02-b", "B", 90, (), "", (), ())])
    '2 lessons, about 3 hours'
    """
    found = list(lessons)
    count = "1 lesson" if len(found) == 1 else f"{len(found)} lessons"
    minutes = sum(card.minutes for card in found)
    return f"{count}, about {_halves(minutes)}" if minutes else count


def needs_in_words(card: Card) -> str:
    """What a lesson builds on, in three words or so.

    >>> needs_in_words(Card("06-a", "A", 90, ("04", "05"), "", (), ()))
    'builds on 04 and 05'
    """
    if not card.needs:
        return "needs no other lesson"
    *rest, last = _runs(card.needs)
    return f"builds on {', '.join(rest)} and {last}" if rest else f"builds on {last}"


def _runs(numbers: Sequence[str]) -> list[str]:
    """Numbers as words, four or more in a row as one.

    >>> _runs(["01", "02", "03", "04", "07", "08"])
    ['01 to 04', '07', '08']
    """
    runs: list[list[str]] = []
    for number in numbers:
        if runs and int(number) == int(runs[-1][-1]) + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    told = [[f"{run[0]} to {run[-1]}"] if len(run) > 3 else run for run in runs]
    return [word for words in told for word in words]


def summary(lessons: Sequence[Card]) -> str:
    """The map in a few sentences: a picture's alt text.

    Args:
        lessons: The cards in their order.
    """
    paths = "; ".join(
        f"“{name}”: lessons {', '.join(card.number for card in on_path(lessons, path))}"
        for path, name in PATHS.items()
        if on_path(lessons, path)
    )
    ways = f" The paths: {paths}." if paths else ""
    return f"A map of the {hours(lessons)}: which lesson builds on which.{ways}"


def described(lessons: Sequence[Card], states: Mapping[str, str] | None = None) -> str:
    """The whole map as plain text: a line a lesson, with what was done in it, then the paths."""
    told = states or {}
    lines = [_line(card, told.get(card.number, "")) for card in lessons]
    lines += [f"Path “{name}” ({hours(way)}): {told}." for name, way, told in _paths(lessons)]
    return "\n".join(lines)


def in_markdown(lessons: Sequence[Card], *, wide: str, narrow: str) -> str:
    """The map as a page: both pictures by their names, the paths, and what the pictures show.

    Args:
        lessons: The cards in their order.
        wide: The address of the picture for wide pages, seen from this page.
        narrow: The address of the one for phones.
    """
    ways = "\n".join(
        f"- **{name}** ({hours(way)}): {told}" for name, way, told in _paths(lessons, bold=True)
    )
    return (
        "<!-- Written by `autograder release` from the lessons themselves. Do not edit. -->\n"
        "# The lessons as a map\n\n"
        f"{picture(lessons, wide=wide, narrow=narrow)}\n\n"
        "The minutes are those of a lesson's core; deep dives are for another day. You needn't "
        f"take all lessons:\n\n{ways}\n\nA path leads to the lessons in bold; the others are what "
        "those build on. The start page asks twelve questions and tells you which lessons to skim."
        f"\n\n## The same in words\n\n{table(lessons)}"
    )


def picture(lessons: Sequence[Card], *, wide: str, narrow: str) -> str:
    """Both forms as HTML that GitHub and the site show: the narrow one on a phone.

    Args:
        lessons: The cards, which the alt text tells of.
        wide: The address of the picture for wide pages.
        narrow: The address of the one for pages of up to 600 px.
    """
    return (
        "<picture>\n"
        f'<source media="(max-width: 600px)" srcset="{narrow}">\n'
        f'<img src="{wide}" alt="{summary(lessons)}">\n'
        "</picture>"
    )


def table(
    lessons: Sequence[Card], *, links: str = "", open_in: Mapping[str, str] | None = None
) -> str:
    """The lessons as a table in Markdown.

    Args:
        lessons: The cards, one row each.
        links: Where the lessons lie, with `{}` for the slug; without it names are no links.
        open_in: A program on the web to where it opens a lesson, with `{}` for the slug; without
            one there is no such column.
    """
    ways = open_in or {}
    more, rule = (" open in |", "---|") if ways else ("", "")
    rows = [
        f"| lesson | minutes | builds on | afterwards you can |{more}",
        f"|---|---|---|---|{rule}",
    ]
    for card in lessons:
        name = f"{card.number} {card.name}"
        told = f"[{name}]({links.format(card.slug)})" if links else name
        minutes = str(card.minutes) if card.minutes else "–"
        opens = [f"[{program}]({address.format(card.slug)})" for program, address in ways.items()]
        row = [told, minutes, ", ".join(_runs(card.needs)) or "–", card.can]
        rows.append(f"| {' | '.join([*row, *([' · '.join(opens)] if opens else [])])} |")
    return "\n".join(rows) + "\n"


def _paths(
    lessons: Sequence[Card], *, bold: bool = False
) -> Iterator[tuple[str, tuple[Card, ...], str]]:
    for path, name in PATHS.items():
        way = on_path(lessons, path)
        told = [f"**{one.number}**" if bold and path in one.paths else one.number for one in way]
        if way:
            yield name, way, ", ".join(told)


def _line(card: Card, state: str) -> str:
    minutes = f", {card.minutes} minutes" if card.minutes else ""
    done = f" You: {state}." if state else ""
    can = f" Afterwards you can {card.can}." if card.can else ""
    return f"{card.number} {card.name}{minutes}, {needs_in_words(card)}.{can}{done}"


def _halves(minutes: int) -> str:
    """Minutes as hours, rounded to halves.

    >>> _halves(30), _halves(60), _halves(85), _halves(1150)
    ('half an hour', '1 hour', '1½ hours', '19 hours')
    """
    whole, half = divmod(max(round(minutes / 30), 1), 2)
    if whole == 0:
        return "half an hour"
    if whole == 1 and not half:
        return "1 hour"
    return f"{whole}{'½' if half else ''} hours"
