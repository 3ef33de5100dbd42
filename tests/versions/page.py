"""The tables of what was measured: on the terminal, and in docs/versions.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tests.colab.runtime import ROOT
from tests.versions.measure import Row

RESULTS = Path(__file__).with_name("results.json")
PAGE = ROOT / "docs" / "versions.md"
BEGIN = "<!-- `make versions` writes what follows -->"
END = "<!-- `make versions` wrote what stands above -->"


@dataclass(frozen=True)
class Result:
    """What was measured in one environment."""

    torch: str  # with its build: "2.13.0+cpu"
    python: str
    others: str  # where the versions of everything else come from
    date: str
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Result:
        """A result as it stands in results.json."""
        rows = (Row(**{**row, "names": tuple(row.get("names", ()))}) for row in plain["rows"])
        return cls(**{**plain, "rows": tuple(rows)})

    @property
    def name(self) -> str:
        """What a person calls the environment."""
        return f"torch {self.torch}, Python {self.python}"


def read_results() -> dict[str, Result]:
    """All results by their environment's folder and the last number of its Python, in order."""
    if not RESULTS.exists():
        return {}
    plain = json.loads(RESULTS.read_text(encoding="utf-8"))
    return {name: Result.of(plain[name]) for name in sorted(plain)}


def keep(environment: str, result: Result, lessons: Sequence[str] | None = None) -> None:
    """Put a result in the place of the one before, in results.json and in docs/versions.md.

    Rows that were not measured again stay, where torch and Python are the same; so do, within a
    row of notebooks, all lessons but these. What another Python gave (3.11.2 and 3.11.7) stays too.
    """
    found = read_results()
    environment += f".{result.python.rpartition('.')[2]}"
    before = found.get(environment)
    if before and before.torch == result.torch:
        rows = {row.what: row for row in before.rows}
        for row in result.rows:
            part = lessons is not None and row.what in rows and "notebooks" in row.what
            rows[row.what] = rows[row.what].again(row, lessons or ()) if part else row
        result = replace(result, rows=tuple(rows.values()))
    found[environment] = result
    plain = {name: asdict(found[name]) for name in sorted(found)}
    RESULTS.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(page: str) -> str:
    """The page with the tables of all results between its two marks."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{tables(read_results().values())}\n\n{END}{after}"


def tables(results: Iterable[Result]) -> str:
    """A line an environment, and below what failed."""
    results = list(results)
    whats = list(dict.fromkeys(row.what for one in results for row in one.rows))
    head = ["torch", "Python", "everything else", *whats, "measured"]
    lines = [_line(head), _line(["---"] * len(head))]
    for one in results:
        cells = {row.what: f"{row.passed} of {row.passed + len(row.failed)}" for row in one.rows}
        found = [cells.get(what, "not run") for what in whats]
        lines.append(_line([one.torch, one.python, one.others, *found, one.date]))
    failed = [
        f"- {one.name}, {row.what}: `{name}`: {_one_line(why)}"
        for one in results
        for row in one.rows
        for name, why in row.failed.items()
    ]
    return "\n".join([*lines, "", *(failed or ["Nothing fails."])])


def terminal_table(rows: Iterable[Row]) -> str:
    """What, passed, failed, which: the table that `make versions` prints."""
    lines = [f"{'':20} {'passed':>7} {'failed':>7} {'skipped':>8}  which failed"]
    for row in rows:
        names = ", ".join(row.failed)
        numbers = f"{row.passed:7} {len(row.failed):7} {row.skipped:8}"
        lines.append(f"{row.what:20} {numbers}  {names}")
        lines += [f"    {name}: {_one_line(why)}" for name, why in row.failed.items()]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _one_line(text: str) -> str:
    return " ".join(text.split())
