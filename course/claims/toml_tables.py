"""The form that a lesson's TOML files have in common: lists of tables with known keys."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from course.claims.errors import MalformedClaims

__all__ = ["check_choice", "check_keys", "entries_of", "nearest", "only_entries", "tables_of"]

_FORMS = {str: "a string", bool: "true or false", list: "a list", dict: "a table"}


def tables_of(text: str, file: str) -> dict[str, Any]:
    """What stands in a file.

    Args:
        text: Its text.
        file: What an error calls it.

    Raises:
        MalformedClaims: It is no TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MalformedClaims(f"{file}: not valid TOML: {error}. Mend that place.") from None


def entries_of(tables: Mapping[str, Any], kind: str, file: str) -> list[tuple[dict[str, Any], str]]:
    """The tables of one kind, each with the words that name its place."""
    found = tables.get(kind, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise MalformedClaims(f"{file}: {kind!r} is not a list of tables. Write [[{kind}]].")
    return [
        (
            entry,
            f"{file}: {kind} {entry['id']!r}" if "id" in entry else f"{file}: {kind} number {n}",
        )
        for n, entry in enumerate(found, start=1)
    ]


def only_entries(text: str, kind: str, file: str) -> list[tuple[dict[str, Any], str]]:
    """The tables of a file that holds one kind alone, each with the words that name its place.

    Args:
        text: Its text.
        kind: What the tables are called.
        file: What an error calls it.

    Raises:
        MalformedClaims: It is no TOML, holds something else, or gives an id twice.
    """
    tables = tables_of(text, file)
    for key in tables:
        if key != kind:
            raise MalformedClaims(f"{file}: unknown table {key!r}. Write [[{kind}]].")
    found = entries_of(tables, kind, file)
    seen = set()
    for entry, where in found:
        if (id_ := str(entry.get("id"))) in seen:
            raise MalformedClaims(f"{where} stands twice. Rename one of them.")
        seen.add(id_)
    return found


def check_keys(
    entry: Mapping[str, Any],
    required: Sequence[str],
    optional: Sequence[str],
    where: str,
    forms: Mapping[str, type] | None = None,
) -> None:
    """Nothing, unless a key is missing, unknown, empty or of another form.

    Args:
        entry: The table.
        required: The keys that it has to have.
        optional: Those that it may have besides.
        where: What an error calls it.
        forms: The types of keys that hold no text.
    """
    for key in required:
        if key not in entry:
            raise MalformedClaims(f'{where}: the key {key!r} is missing. Add {key} = "…".')
    for key, value in entry.items():
        if key not in (*required, *optional):
            remedy = nearest(key, (*required, *optional))
            raise MalformedClaims(f"{where}: unknown key {key!r}. {remedy}")
        wanted = (forms or {}).get(key, str)
        if not isinstance(value, wanted):
            raise MalformedClaims(f"{where}: {key} must be {_FORMS[wanted]}, not {value!r}.")
        if value in ("", [], {}):
            raise MalformedClaims(f"{where}: {key} is empty. Write it, or remove the line.")


def nearest(key: str, known: Sequence[str]) -> str:
    """The known key that is meant, or all that are known."""
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    return f"Did you mean {near[0]!r}?" if near else f"Known keys: {', '.join(known)}."


def check_choice(entry: Mapping[str, Any], key: str, allowed: Sequence[str], where: str) -> None:
    """Nothing, unless the entry has this key with another value than those allowed."""
    if key in entry and entry[key] not in allowed:
        raise MalformedClaims(
            f"{where}: {key} is {entry[key]!r}. Write one of {', '.join(allowed)}."
        )
