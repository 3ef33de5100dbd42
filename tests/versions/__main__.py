"""`make versions TORCH=2.11.0 PYTHON=python3.12`: what holds with another PyTorch or Python."""

from __future__ import annotations

import argparse
import datetime
import shutil
import sys
from collections.abc import Callable, Sequence

from autograder.lessons.model import Lesson, all_lessons
from tests.colab.runtime import ROOT, PipError, Runtime
from tests.versions.environment import COLABS_TORCH, make_environment, renew_tree, versions_of
from tests.versions.measure import (
    Row,
    proofs,
    solved_notebooks,
    tests_of_course,
    untouched_notebooks,
)
from tests.versions.page import Result, keep, terminal_table


def main() -> int:
    """Measure, print the table, write docs/versions.md; 0 where all holds."""
    asked = _arguments()
    try:
        runtime = make_environment(asked.torch, asked.python)
    except (PipError, OSError, ValueError) as error:
        print(f"make versions: no environment with torch {asked.torch}: {error}", file=sys.stderr)
        return 2
    renew_tree(runtime)
    torch, python = versions_of(runtime)
    print(f"torch {torch}, Python {python}, in {runtime.root}", flush=True)
    lessons = [one for one in all_lessons(ROOT) if _meant(one.slug, asked.lessons)]
    rows = [_told(MEASURES[name](runtime, lessons, asked.jobs)) for name in asked.only]
    print(terminal_table(rows))
    others = "Colab's" if asked.torch == COLABS_TORCH else "constraints.txt"
    today = datetime.date.today().isoformat()
    result = Result(torch, python, others, today, tuple(rows))
    keep(runtime.root.name, result, [one.slug for one in lessons] if asked.lessons else None)
    if asked.remove:
        shutil.rmtree(runtime.root)
    return int(any(row.failed for row in rows))


MEASURES: dict[str, Callable[[Runtime, Sequence[Lesson], int], Row]] = {
    "solved": solved_notebooks,
    "untouched": untouched_notebooks,
    "proofs": lambda runtime, lessons, jobs: proofs(runtime),
    "tests": lambda runtime, lessons, jobs: tests_of_course(runtime),
}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make versions", description=__doc__)
    parser.add_argument("--torch", required=True, help="a version of PyTorch, 2.11.0")
    parser.add_argument("--python", default=sys.executable, help="the Python to make it from")
    parser.add_argument("--jobs", type=int, default=2, help="notebooks that run at once")
    parser.add_argument(
        "--only", nargs="+", choices=[*MEASURES], default=[*MEASURES], help="other rows stay"
    )
    parser.add_argument("--lessons", nargs="+", help="01 04: others' notebooks stay as they were")
    parser.add_argument("--remove", action="store_true", help="the environment afterwards")
    return parser.parse_args()


def _meant(slug: str, named: list[str] | None) -> bool:
    return named is None or any(slug.startswith(name) for name in named)


def _told(row: Row) -> Row:
    """The row, printed at once: all of them take long."""
    print(terminal_table([row]), flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
